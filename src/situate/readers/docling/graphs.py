"""Read forms that came as a graph of keys and values."""

from __future__ import annotations

from typing import TYPE_CHECKING

from situate.readers.docling.values import mapping, reference, sequence, whole, words

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from situate.model import JsonValue
    from situate.readers.docling.export import Node

_DOWN = frozenset({"to_value", "to_child"})
_UP = frozenset({"to_key", "to_parent"})


def lines(node: Node, nodes: Mapping[str, Node]) -> Iterator[str]:
    """Yield `key: value` for each key; what stands in `nodes` is said there."""
    cells = _cells(node)
    below = _below(node, cells)
    values = {target for targets in below.values() for target in targets}
    said: set[int] = set()
    for number, cell in cells.items():
        in_text = reference(cell.get("item_ref")) in nodes
        if number not in below:
            if number not in values and not in_text:
                yield _text(cell)
            continue
        parts = []
        for target in below[number]:
            value = cells[target]
            if target in below or target in said:
                continue
            said.add(target)
            if reference(value.get("item_ref")) not in nodes:
                parts.append(_text(value))
        if parts:
            yield f"{_text(cell).rstrip(' :')}: {', '.join(filter(None, parts))}"
        elif not in_text:
            yield _text(cell)


def pairs(node: Node) -> Iterator[tuple[str, str]]:
    """Yield keys and their values that are parts of the text, as references."""
    cells = _cells(node)
    for number, targets in _below(node, cells).items():
        key = reference(cells[number].get("item_ref"))
        for target in targets:
            value = reference(cells[target].get("item_ref"))
            if key and value and key != value:
                yield key, value


def _cells(node: Node) -> dict[int, Mapping[str, JsonValue]]:
    graph = mapping(node.values.get("graph"))
    found: dict[int, Mapping[str, JsonValue]] = {}
    for position, each in enumerate(sequence(graph.get("cells"))):
        cell = mapping(each)
        number = whole(cell.get("cell_id"))
        # Ids that are missing or used twice still must not cost a cell.
        if number is None or number in found:
            number = -1 - position
        found[number] = cell
    return found


def _below(
    node: Node, cells: Mapping[int, Mapping[str, JsonValue]]
) -> dict[int, list[int]]:
    """Give the values and children of each key."""
    found: dict[int, list[int]] = {}
    graph = mapping(node.values.get("graph"))
    for link in map(mapping, sequence(graph.get("links"))):
        label = words(link.get("label"))
        key = whole(link.get("source_cell_id"))
        value = whole(link.get("target_cell_id"))
        if label in _UP:
            key, value = value, key
        elif label not in _DOWN:
            continue
        if key is None or value is None or key == value:
            continue
        if key in cells and value in cells:
            found.setdefault(key, []).append(value)
    return found


def _text(cell: Mapping[str, JsonValue]) -> str:
    return words(cell.get("text")) or words(cell.get("orig"))
