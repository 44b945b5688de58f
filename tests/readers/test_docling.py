"""DoclingDocument JSON: what its parts become.

The documents in `fixtures/docling` were built with docling-core 2.104 and hold our
own text; the tree each must give stands beside it. `SITUATE_REGENERATE=1` rewrites
the trees.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from situate.model import Box, Table
from situate.readers import ReaderOptions, passages, read
from tests.readers.trees import blocks, show
from tests.support.fixtures import regenerating

if TYPE_CHECKING:
    from situate.readers import Read

FIXTURES = Path(__file__).parent.parent / "fixtures" / "docling"
NAMES = ["handbook", "slides", "sheets", "form"]


def load(name: str) -> bytes:
    """Give a committed document."""
    return (FIXTURES / f"{name}.json").read_bytes()


def refs(*targets: str) -> list[dict[str, str]]:
    """Refer to parts of a document."""
    return [{"$ref": f"#/{target}"} for target in targets]


def export(*body: str, **parts: Any) -> bytes:
    """Write a document whose body refers to `body`."""
    values = {"schema_name": "DoclingDocument", "version": "1.10.0", "name": "doc"}
    return json.dumps(values | {"body": {"children": refs(*body)}} | parts).encode()


def text(said: str, label: str = "text", **more: Any) -> dict[str, Any]:
    """Give an entry of `texts`."""
    return {"label": label, "text": said, "orig": said, **more}


def read_parts(*body: str, **parts: Any) -> Read:
    """Read a document whose body refers to `body`."""
    return read(export(*body, **parts), "doc.json")


def texts_of(found: Read) -> list[str]:
    """Give the texts of a document's blocks."""
    return [block.text for block in blocks(found.document)]


@pytest.mark.parametrize("name", NAMES)
def test_a_document_gives_the_tree_beside_it(name: str) -> None:
    """Sections, lists, tables, code, formulas, notes and forms, in order."""
    path = FIXTURES / f"{name}.tree.txt"

    tree = show(read(load(name), f"{name}.json").document) + "\n"

    if regenerating():
        path.write_text(tree, encoding="utf-8")
    assert tree == path.read_text(encoding="utf-8")


@pytest.mark.parametrize("name", NAMES)
def test_every_word_of_the_passages_reaches_the_tree(name: str) -> None:
    """The lists of the file, read one by one, hold nothing the tree lacks."""
    data = load(name)

    said = Counter(re.findall(r"\w+", "\n".join(passages(data, f"{name}.json"))))
    tree = " ".join(texts_of(read(data, f"{name}.json")))

    assert said
    assert not said - Counter(re.findall(r"\w+", tree))


def test_what_runs_along_the_pages_is_metadata() -> None:
    """Headers and footers are offered once each; page numbers are not."""
    found = read(load("handbook"), "handbook.json")

    assert found.document.metadata.custom == {
        "page_headers": ["Pump handbook, revision 7"],
        "page_footers": ["Page 1"],
    }
    assert not any("revision 7" in said for said in texts_of(found))


def test_texts_that_count_the_pages_are_no_footers() -> None:
    """A footer that differs on every page runs along none."""
    footers = [text(f"Page {page} of 9", "page_footer") for page in range(1, 10)]
    footers += [text("May 2025", "page_footer"), text("12", "page_footer")]

    found = read_parts(*(f"texts/{n}" for n in range(11)), texts=footers)

    assert found.document.metadata.custom == {"page_footers": ["May 2025"]}


def test_word_headers_are_found_by_the_group_around_them() -> None:
    """There they are plain texts of the furniture layer."""
    found = read_parts(
        "groups/0",
        groups=[
            {
                "label": "section",
                "name": "page header",
                "content_layer": "furniture",
                "children": refs("texts/0"),
            }
        ],
        texts=[
            text(
                "Version 3",
                content_layer="furniture",
                parent={"$ref": "#/groups/0"},
            )
        ],
    )

    assert found.document.metadata.custom == {"page_headers": ["Version 3"]}
    assert found.warnings == ()


def test_the_furniture_root_of_schema_1_0_is_furniture() -> None:
    """Layers came later; until then it was a tree of its own."""
    found = read_parts(
        "texts/1",
        furniture={"children": refs("texts/0")},
        texts=[text("Navigation"), text("Content")],
        version="1.0.0",
    )

    assert texts_of(found) == ["Content"]
    assert found.warnings == (
        "parts in the furniture layer that are no page header or footer "
        "were left out (1)",
    )


@pytest.mark.parametrize("layer", ["background", "invisible"])
def test_hidden_layers_are_left_out_with_a_warning(layer: str) -> None:
    """Watermarks and hidden sheets are not what a reader sees."""
    found = read_parts("texts/0", texts=[text("DRAFT", content_layer=layer)])

    assert texts_of(found) == []
    assert found.warnings == (
        "parts in the background and invisible layers were left out (1)",
    )


def test_comments_are_left_out_and_speaker_notes_are_kept() -> None:
    """Both stand in the notes layer; only notes belong to the document."""
    found = read(load("slides"), "slides.json")

    assert "Say that costs fell. Smile." in texts_of(found)
    assert not any("too long" in said for said in texts_of(found))
    assert found.warnings == ("comments were left out (1)",)


def test_the_title_stands_above_the_first_section_headers() -> None:
    """Docling counts section headers from 1 below the title."""
    parts = [text("Guide", "title"), text("Part", "section_header", level=1)]

    with_title = read_parts("texts/0", "texts/1", texts=parts).document
    without = read_parts("texts/1", texts=parts[1:] * 2).document

    assert with_title.metadata.title == "Guide"
    assert [s.level for s in with_title.root.children] == [1]
    assert with_title.root.children[0].children[0].level == 2
    assert without.metadata.title is None
    assert without.root.children[0].level == 1


def test_properties_travel_by_name() -> None:
    """`keep` is an allow-list; the name is the file's and never the title."""
    options = ReaderOptions(keep=("filename", "name", "uri"))

    document = read(load("slides"), "slides.json", options=options).document

    assert document.metadata.custom == {"filename": "review.pptx", "name": "review"}
    assert read(load("sheets"), "sheets.json").document.metadata.title is None


@pytest.mark.parametrize(
    ("pieces", "line"),
    [
        pytest.param(["Call", "now", "!"], "Call now!", id="end of a sentence"),
        pytest.param(
            ["See", "(", "chapter 2", ")."], "See (chapter 2).", id="brackets"
        ),
        pytest.param(["runs on", ".NET", "only"], "runs on .NET only", id="a name"),
        pytest.param(["水泵", "每月", "检查"], "水泵每月检查", id="Chinese"),
        pytest.param(["a ", " b"], "a b", id="own spaces"),
        pytest.param(["It", "’s done"], "It’s done", id="apostrophe"),
    ],
)
def test_pieces_of_a_line_are_joined_as_they_are_read(
    pieces: list[str], line: str
) -> None:
    """Docling strips the white space between differently formatted pieces."""
    found = read_parts(
        "groups/0",
        groups=[
            {
                "label": "inline",
                "children": refs(*(f"texts/{n}" for n in range(len(pieces)))),
            }
        ],
        texts=[text(piece) for piece in pieces],
    )

    assert texts_of(found) == [line]


def test_a_caption_is_written_once_beside_its_table() -> None:
    """Wherever the body refers to it."""
    found = read_parts(
        "texts/0",
        "tables/0",
        "texts/1",
        texts=[text("Table 1: Fees", "caption"), text("After.")],
        tables=[
            {
                "label": "table",
                "captions": refs("texts/0"),
                "children": refs("texts/0"),
                "data": {"table_cells": [{"text": "5"}]},
            }
        ],
    )

    table, after = blocks(found.document)
    assert isinstance(table.content, Table)
    assert table.content.caption == "Table 1: Fees"
    assert after.text == "After."
    assert found.warnings == ()


def test_the_caption_of_a_table_without_cells_stays() -> None:
    """It may be all that is known of it."""
    found = read_parts(
        "tables/0",
        texts=[text("Table 1: Fees", "caption")],
        tables=[{"captions": refs("texts/0"), "data": {"num_rows": 0}}],
    )

    assert texts_of(found) == ["Table 1: Fees"]


def test_a_grid_is_read_where_cells_are_not_listed() -> None:
    """Old exports repeat a cell wherever it reaches; it is said once."""
    wide = {
        "text": "Both",
        "start_row_offset_idx": 0,
        "end_row_offset_idx": 1,
        "start_col_offset_idx": 0,
        "end_col_offset_idx": 2,
    }
    grid = [[wide, wide], [{"text": "left"}, {"text": "right"}]]

    (table,) = blocks(
        read_parts("tables/0", tables=[{"data": {"grid": grid}}]).document
    )

    assert table.text.split("\n")[2:] == ["| Both |  |", "| left | right |"]


def test_cells_that_lie_on_others_are_joined_to_them() -> None:
    """Models draw such tables; no cell is lost."""
    cells = [
        {"text": said, "start_row_offset_idx": 0, "start_col_offset_idx": 0}
        for said in ("first", "second")
    ]

    found = read_parts("tables/0", tables=[{"data": {"table_cells": cells}}])

    assert texts_of(found)[0].endswith("| first second |")
    assert found.warnings == ("table cells lie on others and were joined to them (1)",)


def test_boxes_count_points_from_the_upper_left() -> None:
    """Whichever corner Docling counted from; several places, several boxes."""
    places = [
        {
            "page_no": 1,
            "bbox": {
                "l": 10,
                "t": 700,
                "r": 90,
                "b": 650,
                "coord_origin": "BOTTOMLEFT",
            },
        },
        {"page_no": 2, "bbox": {"l": 10, "t": 20, "r": 90, "b": 40}},
    ]

    found = read_parts(
        "texts/0",
        texts=[text("Over two pages.", prov=places)],
        pages={"1": {"size": {"width": 600, "height": 800}}},
    )

    (block,) = blocks(found.document)
    assert block.boxes == (
        Box(page=1, left=10, top=100, right=90, bottom=150),
        Box(page=2, left=10, top=20, right=90, bottom=40),
    )


def test_a_box_without_the_height_of_its_page_is_no_guess() -> None:
    """Counted from below it cannot be placed, and that is said."""
    box = {"l": 1, "t": 9, "r": 2, "b": 8, "coord_origin": "BOTTOMLEFT"}
    place = {"page_no": 1, "bbox": box}

    found = read_parts("texts/0", texts=[text("Here.", prov=[place])])

    assert blocks(found.document)[0].boxes == ()
    assert found.warnings == (
        "boxes could not be placed on their page and were left out (1)",
    )


def test_slides_are_measured_in_points_from_the_top() -> None:
    """Their sizes come in EMU, and older exports name the wrong corner."""
    title, north = blocks(read(load("slides"), "slides.json").document)[:2]

    assert [round(box.top, 1) for box in title.boxes] == [21.6]
    assert north.boxes == (Box(page=1, left=0, top=40, right=10, bottom=50),)


def test_sheets_have_no_boxes() -> None:
    """There Docling counts cells, which are no points."""
    document = read(load("sheets"), "sheets.json").document

    assert all(block.boxes == () for block in blocks(document))


def test_an_unknown_major_version_is_read_with_a_warning() -> None:
    """What situate knows of it may still be all there is."""
    found = read_parts("texts/0", texts=[text("Words.")], version="2.1.0")

    assert texts_of(found) == ["Words."]
    assert "'2.1.0'" in found.warnings[0]
