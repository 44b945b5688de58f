"""Find the text of a DoclingDocument without its tree, to see what a tree lost."""

from __future__ import annotations

from typing import TYPE_CHECKING

from situate.readers.docling.values import mapping, reference, sequence, whole, words

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from situate.model import JsonValue

_LEFT_OUT = frozenset({"furniture", "background", "invisible"})
_RUNNING = frozenset({"page_header", "page_footer"})
_FORMS = ("key_value_items", "form_items")


def passages_of(values: Mapping[str, JsonValue]) -> Iterator[str]:
    """Yield what every list of a document says, list by list."""
    groups = [mapping(group) for group in sequence(values.get("groups"))]
    comments = {
        f"#/groups/{index}"
        for index, group in enumerate(groups)
        if group.get("label") == "comment_section"
    }
    for group in groups:
        if group.get("label") == "sheet" and _is_shown(group, comments):
            yield words(group.get("name"))
    for text in map(mapping, sequence(values.get("texts"))):
        if _is_shown(text, comments):
            said = words(text.get("text"))
            yield said if said or text.get("children") else words(text.get("orig"))
    for array in ("tables", "pictures", *_FORMS):
        for entry in map(mapping, sequence(values.get(array))):
            if _is_shown(entry, comments):
                yield from _parts(entry)


def _is_shown(entry: Mapping[str, JsonValue], comments: set[str]) -> bool:
    return (
        words(entry.get("content_layer")) not in _LEFT_OUT
        and words(entry.get("label")) not in _RUNNING
        and reference(entry.get("parent")) not in comments | {"#/furniture"}
    )


def _parts(entry: Mapping[str, JsonValue]) -> Iterator[str]:
    """Yield the cells and the description of a table, picture or form."""
    yield from _cells(mapping(entry.get("data")))
    meta = mapping(entry.get("meta"))
    said = [words(mapping(meta.get("description")).get("text"))]
    said.append(words(mapping(meta.get("molecule")).get("smi")))
    chart = mapping(meta.get("tabular_chart"))
    for annotation in map(mapping, sequence(entry.get("annotations"))):
        said += (words(annotation.get("text")), words(annotation.get("smi")))
        chart = chart or (annotation if annotation.get("chart_data") else chart)
    yield from dict.fromkeys(said)
    yield words(chart.get("title"))
    yield from _cells(mapping(chart.get("chart_data")))
    graph = mapping(entry.get("graph"))
    for cell in map(mapping, sequence(graph.get("cells"))):
        if not reference(cell.get("item_ref")):
            yield words(cell.get("text")) or words(cell.get("orig"))


def _cells(data: Mapping[str, JsonValue]) -> Iterator[str]:
    """Yield the text of cells that do not refer to a text of their own."""
    listed = sequence(data.get("table_cells"))
    if not listed:
        unique = {
            _start(cell, row, column): cell
            for row, line in enumerate(sequence(data.get("grid")))
            for column, cell in enumerate(sequence(line))
        }
        listed = tuple(unique.values())
    for cell in map(mapping, listed):
        if not reference(cell.get("ref")):
            yield words(cell.get("text"))


def _start(cell: JsonValue, row: int, column: int) -> tuple[int | None, int | None]:
    offsets = mapping(cell)
    return (
        whole(offsets.get("start_row_offset_idx", row)),
        whole(offsets.get("start_col_offset_idx", column)),
    )
