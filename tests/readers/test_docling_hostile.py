"""DoclingDocument JSON that nobody vouches for: broken, looped, deep or huge."""

from __future__ import annotations

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from situate.errors import ReadError
from situate.readers import Limits, ReaderOptions, passages, read
from tests.readers.test_docling import export, load, read_parts, refs, text, texts_of
from tests.readers.trees import blocks


@pytest.mark.parametrize(
    ("data", "says"),
    [
        pytest.param(b'{"schema_name": "Docl', "is no JSON", id="cut off"),
        pytest.param(b"", "is no JSON", id="empty"),
        pytest.param(bytes(range(256)), "is no JSON", id="binary"),
        pytest.param(b'{"a": "\xff"}', "byte 7 is not UTF-8", id="another encoding"),
        pytest.param(b"[" * 100_000, "nests too deeply", id="nesting"),
        pytest.param(b'{"a": %b}' % (b"9" * 10_000), "is no JSON", id="long number"),
        pytest.param(b'{"name": "demo"}', "no DoclingDocument", id="other JSON"),
        pytest.param(b"[1]", "no DoclingDocument", id="a list"),
        pytest.param(b'{"main-text": []}', "Docling 2", id="Docling 1"),
    ],
)
def test_bad_input_is_one_clear_line(data: bytes, says: str) -> None:
    """It begins with the file's name."""
    for reading in (read, lambda *given: list(passages(*given))):
        with pytest.raises(ReadError) as caught:
            reading(data, "in/export.json")  # type: ignore[operator] # either reading

        assert str(caught.value).startswith("in/export.json: ")
        assert says in str(caught.value)
        assert "\n" not in str(caught.value)


def test_more_objects_than_the_limit_are_refused() -> None:
    """They are counted before they take memory; brackets in text are none."""
    few = ReaderOptions(limits=Limits(max_elements=20))
    data = export("texts/0", texts=[text("[[{{" * 50)])

    assert texts_of(read(data, "a.json", options=few)) == ["[[{{" * 50]
    with pytest.raises(ReadError, match=r"^a\.json: holds .* limit is 20"):
        read(export(texts=[text("a")] * 30), "a.json", options=few)


def test_loops_and_repeated_references_are_read_once() -> None:
    """A part that was said is passed over, and that is said."""
    found = read_parts(
        "groups/0",
        "texts/0",
        "texts/7",
        groups=[{"label": "section", "children": refs("groups/0", "texts/0")}],
        texts=[text("Once.")],
    )

    assert texts_of(found) == ["Once."]
    assert found.warnings == (
        "references to parts that are not there were passed over (1)",
        "further references to a part in the text were passed over (2)",
    )


def test_what_nothing_refers_to_comes_last() -> None:
    """Parts lost by an editor are kept, each below what it stands below."""
    found = read_parts(
        "texts/0",
        texts=[
            text("First."),
            text("b", "list_item"),
            text("a", "list_item"),
            text("Figure 9", "caption"),
        ],
        groups=[{"label": "list", "children": refs("texts/2", "texts/1")}],
        pictures=[{"label": "picture", "captions": refs("texts/3")}],
    )

    assert texts_of(found) == ["First.", "- a\n- b", "Figure 9"]
    assert found.warnings == ("parts that nothing refers to were put at the end (3)",)


def test_a_key_named_twice_is_a_warning() -> None:
    """JSON lets the last one win, which may cost a whole list."""
    data = export("texts/0", texts=[text("kept")])

    found = read(b'{"texts": [1],' + data[1:], "a.json")

    assert texts_of(found) == ["kept"]
    assert found.warnings == (
        "keys that JSON objects name twice count as they are named last (1)",
    )


def test_deep_lists_are_flattened_with_a_warning() -> None:
    """Nine levels nest, as in Word; below them items are paragraphs."""
    depth = 3_000

    found = read_parts(
        "groups/0",
        groups=[
            {"label": "list", "children": refs(f"texts/{n}")} for n in range(depth)
        ],
        texts=[
            text(f"t{n}", "list_item", children=refs(f"groups/{n + 1}"))
            for n in range(depth - 1)
        ]
        + [text("last", "list_item")],
    )

    (block,) = blocks(found.document)
    assert block.text.split()[-1] == "last"
    assert found.warnings == (
        "list items nest too deeply and became paragraphs of the item above (2,991)",
    )


def test_a_table_costs_what_its_cells_cost() -> None:
    """Whatever size it claims."""
    cells = [
        {
            "text": f"c{n}",
            "start_row_offset_idx": n * 10**6,
            "end_row_offset_idx": 10**12,
            "start_col_offset_idx": n * 10**6,
            "end_col_offset_idx": 10**12,
        }
        for n in range(2_000)
    ]

    found = read_parts(
        "tables/0", tables=[{"data": {"num_rows": 10**12, "table_cells": cells}}]
    )

    (block,) = blocks(found.document)
    assert len(block.text) < 100_000
    assert all(f"c{n}" in block.text for n in (0, 1, 1_999))
    assert found.warnings == ("tables are too sparse to keep their columns apart (1)",)


def test_values_of_the_wrong_type_are_passed_over() -> None:
    """What is left is read; entries that hold nothing are counted."""
    found = read_parts(
        "texts/2",
        texts=[1, None, {"label": 5, "text": "ok", "children": 5, "prov": [{}, 1]}],
        groups={"a": 1},
        tables=[{"data": {"table_cells": [5, {"text": "cell", "row_span": "x"}]}}],
        pages=[1],
        origin=3,
        key_value_items=[{"graph": {"cells": [1, {"text": "alone"}], "links": [2]}}],
    )

    said = " ".join(texts_of(found))
    assert said.startswith("ok")
    assert "cell" in said
    assert "alone" in said
    assert any("entries are not what" in warning for warning in found.warnings)


def test_control_characters_and_lone_surrogates_reach_no_field() -> None:
    """JSON can spell what UTF-8 cannot."""
    parts = [text("a\ud800b\x00c", "section_header"), text("f\x1bg", "page_header")]

    document = read_parts("texts/0", "texts/1", texts=parts).document

    assert blocks(document)[0].text == "# abc"
    assert document.metadata.custom == {"page_headers": ["fg"]}


VALUES = json.loads(load("handbook"))
PLACES = sorted(key for key, value in VALUES.items() if isinstance(value, list))


@settings(max_examples=60, deadline=None)
@given(
    place=st.sampled_from(PLACES),
    index=st.integers(0, 40),
    key=st.sampled_from(["children", "label", "text", "captions", "data", "level"]),
    value=st.recursive(
        st.none() | st.integers() | st.text(max_size=5) | st.floats(),
        lambda inner: (
            st.lists(inner, max_size=3)
            | st.dictionaries(st.sampled_from(["$ref", "text"]), inner, max_size=2)
        ),
        max_leaves=5,
    )
    | st.builds(
        lambda array, number: refs(f"{array}/{number}"),
        st.sampled_from(PLACES),
        st.integers(0, 40),
    ),
)
def test_a_document_with_one_odd_value_is_still_read(
    place: str, index: int, key: str, value: object
) -> None:
    """No value, and no reference from anywhere to anywhere, breaks the reader."""
    values = json.loads(load("handbook"))
    if index < len(values[place]):
        values[place][index][key] = value
    data = json.dumps(values).encode()

    found = read(data, "handbook.json")

    assert len(blocks(found.document)) > 15
    assert list(passages(data, "handbook.json"))
