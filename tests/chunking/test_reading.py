"""What is indexed of a chunk: its words, without the marks that lay them out (C13)."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from situate.chunking import Granularity, Rules, chunk
from situate.model import Table
from situate.readers import read
from situate.tokens import load_counter
from tests.support.documents import document, section
from tests.support.strategies import tables

if TYPE_CHECKING:
    from situate.model import Block

COUNTER = load_counter("cl100k_base")


def readings(source: str, rules: Rules | None = None) -> list[str]:
    """Read the leaves of a Markdown document."""
    found = read(source.encode(), "doc.md").document
    return [leaf.reading for leaf in chunk(found, rules or Rules(), COUNTER)]


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        pytest.param("See the [fees](a.md).", "See the fees.", id="link"),
        pytest.param("A [b](<c d> 'e') f.", "A b f.", id="link with title"),
        pytest.param("A [b](c_(d)) e.", "A b e.", id="parentheses in a target"),
        pytest.param("A [b][C] d.\n\n[c]: /u", "A b d.", id="reference"),
        pytest.param("A [b][] d.\n\n[B]: /u", "A b d.", id="reference to itself"),
        pytest.param("[Buyer][Date] see [1][2]", "[Buyer][Date] see [1][2]", id="none"),
        pytest.param("![A pump](p.png) here", "A pump here", id="image"),
        pytest.param("[![Logo](l.png)](/) x", "Logo x", id="image in a link"),
        pytest.param("Run `make` now", "Run make now", id="code span"),
        pytest.param("`a[1](2)` and `b[0][1]`", "a[1](2) and b[0][1]", id="code kept"),
        pytest.param("[a] (b) [^1]", "[a] (b) [^1]", id="no link"),
        pytest.param("- one\n- two\n  1. three", "one\ntwo\nthree", id="markers"),
        pytest.param("- [x] done\n- [ ] open", "done\nopen", id="tasks"),
        pytest.param("```sh\nls `x`\n\n```", "ls `x`\n", id="fence"),
        pytest.param("- a\n\n  ```\n  - x\n  ```\n", "a\n- x", id="fence in a list"),
        pytest.param("    indented", "    indented", id="indented code"),
        pytest.param("One.\n\nTwo.", "One.\nTwo.", id="blocks"),
        pytest.param("a<!-- b --> c", "a c", id="comment"),
        pytest.param("Text.\n\n[a]: http://x.org", "Text.", id="definition"),
        pytest.param("> - quoted `x`", "quoted x", id="quotation"),
    ],
)
def test_marks_are_left_out_and_words_stay(source: str, expected: str) -> None:
    """Link text, alt text and code are what people search for."""
    assert readings(source) == [expected]


TABLE = """\
| Item | Fee | Note |
| --- | --- | --- |
| Copy | 5 | [per page](x) |
| Search | 20 | |
| Total |  |  |
"""


@pytest.mark.parametrize("name", ["form.txt", "form.html"])
def test_text_without_marks_has_none_to_leave_out(name: str) -> None:
    """Brackets and backticks of a contract are what it says."""
    text = "[Buyer Ltd][Vendor no. 7] pays `x` under [1](2), December 1999.[10][11]"
    found = read(text.encode(), name).document

    (leaf,) = chunk(found, Rules(), COUNTER)

    assert leaf.reading == text


@pytest.mark.parametrize("mark", ["> ", "- "])
def test_a_table_inside_a_block_is_read_cell_by_cell_too(mark: str) -> None:
    """Wherever it stands."""
    rest = "> " if mark == "> " else "  "
    source = f"{mark}| a | b |\n{rest}|---|---|\n{rest}| x | 1 |\n"

    assert readings(source) == ["a\nx b 1."]


def test_attributes_of_a_heading_are_not_indexed() -> None:
    """They are metadata; an anchor is left where it is."""
    found = readings("# A {#x effective_from=2025-01-01}\n\nText.\n")

    assert found == ["# A\nText."]


def test_a_table_is_read_cell_by_cell() -> None:
    """Every value with the labels of its row and its column."""
    assert readings(TABLE) == [
        "Item\nCopy Fee 5. Copy Note per page.\nSearch Fee 20.\nTotal."
    ]


def test_rows_without_a_label_below_the_header_name_columns() -> None:
    """The deepest name is said with the values, those above it once."""
    source = (
        "| | 2024 | 2025 |\n|---|---|---|\n| | Plan | Done |\n"
        "| Sales | 5 | 6 |\n| Costs | 7 | 8 |\n"
    )

    assert readings(source) == [
        "2024 2025\nSales Plan 5. Sales Done 6.\nCosts Plan 7. Costs Done 8."
    ]


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        pytest.param(
            "| Allowed |\n|---|\n| x |\n| y |", "Allowed x.\nAllowed y.", id="one"
        ),
        pytest.param("| a | b |\n|---|---|", "a b", id="a header alone"),
        pytest.param("| a | b | c |\n|-|-|-|\n| x | | 1 |", "a b\nx c 1.", id="empty"),
    ],
)
def test_no_name_of_a_column_is_left_out(source: str, expected: str) -> None:
    """Every word of a table can be searched for."""
    assert readings(source) == [expected]


@given(tables())
def test_every_word_of_a_table_is_read(block: Block) -> None:
    """Whatever its shape, and however it is cut."""
    made = document(section("Head", block))

    chunks = chunk(made, Rules(max_tokens=64), COUNTER)

    read_out = "".join("".join(one.reading.split()) for one in chunks)
    assert isinstance(block.content, Table)
    for row in (*block.content.header, *block.content.rows):
        for word in " ".join(cell.text for cell in row.cells).split():
            # A longer one may be cut.
            assert len(word) > 12 or word in read_out


def test_every_piece_of_a_table_is_read_with_its_names() -> None:
    """A piece is found by what its columns are called."""
    rows = "".join(f"| Service {n} | {n} | yearly |\n" for n in range(60))
    source = f"| Item | Fee | Note |\n|---|---|---|\n{rows}"

    pieces = readings(source, Rules(max_tokens=64))

    assert len(pieces) > 5
    assert all(
        line == "Item" or (line.endswith("yearly.") and " Fee " in line)
        for piece in pieces
        for line in piece.split("\n")
    )
    assert "\n".join(pieces).count("Service 7 Fee 7.") == 1


@pytest.mark.parametrize("most", [64, 100, 160])
def test_a_table_is_cut_so_that_its_reading_fits(most: int) -> None:
    """What a table grows to when it is read has a bound of its own."""
    rows = "".join(
        f"| A rather long label of row {n} | 1 | 2 | 3 |\n" for n in range(9)
    )
    source = f"Text.\n\n| | a | b | c |\n|---|---|---|---|\n{rows}\nText.\n"
    rules = Rules(max_tokens=64, reading_max_tokens=most)

    found = readings(source, rules)

    assert all(COUNTER.count(reading) <= most for reading in found)
    assert all(f"row {n} b 2." in "\n".join(found) for n in range(9))


def test_as_many_rows_share_a_piece_as_fit_written_and_read() -> None:
    """Neither bound makes the other smaller."""
    names = "".join(f"| name {n} " for n in range(20)) + "|\n"
    rows = "".join(f"| row {n} " + "| 1 " * 19 + "|\n" for n in range(30))
    source = names + "|---" * 20 + "|\n" + rows
    rules = Rules(max_tokens=256, reading_max_tokens=520)
    found = read(source.encode(), "doc.md").document

    chunks = chunk(found, rules, COUNTER)

    for one, two in pairwise(chunks):
        row = two.reading.split("\n")[0]
        fuller = one.reading + "\n" + row
        written = one.text + "\n" + two.text.split("\n")[2]
        assert COUNTER.count(fuller) > 520 or COUNTER.count(written) > 256


_LABELS = st.sampled_from(["a", "🧑🏽‍🚒" * 3, "报销上限", "word " * 9, "12.5 %", ""])


@given(
    grids=st.lists(
        st.lists(st.lists(_LABELS, min_size=3, max_size=3), min_size=1, max_size=9),
        min_size=1,
        max_size=6,
    ),
    most=st.sampled_from([256, 300, 640]),
    weight=st.integers(0, 2),
    granularity=st.sampled_from(["leaves", "multi"]),
)
def test_no_reading_is_beyond_its_bound(
    grids: list[list[list[str]]], most: int, weight: int, granularity: Granularity
) -> None:
    """In any script, with any number of tables in a chunk."""
    written = [
        "Lead in:\n\n"
        + "".join(
            f"| {' | '.join(row)} |\n" + ("|---|---|---|\n" if number == 0 else "")
            for number, row in enumerate(rows)
        )
        for rows in grids
    ]
    rules = Rules(
        max_tokens=256,
        reading_max_tokens=most,
        heading_weight=weight,
        granularity=granularity,
    )
    found = read(("# Head\n\n" + "\n".join(written)).encode(), "doc.md").document

    for one in chunk(found, rules, COUNTER):
        assert not one.embed or COUNTER.count(one.reading) <= most
        assert not one.embed or one.token_count <= 256


def test_the_text_itself_is_indexed_where_that_is_asked_for() -> None:
    """`text` changes nothing of what is embedded."""
    found = read(b"Run `make`:\n\n- [a](b)", "doc.md").document

    (leaf,) = chunk(found, Rules(reading="text"), COUNTER)

    assert leaf.reading == leaf.text == "Run `make`:\n\n- [a](b)"
    assert leaf.embed_form == "text"


def test_a_heading_may_be_repeated_at_the_start() -> None:
    """For corpora whose questions reuse the words of headings."""
    source = "# Leave\n\n## *Days*\n\n25 days."

    found = readings(source, Rules(heading_weight=2, min_tokens=0))

    assert found[0].startswith("Days\nDays\n")
    assert readings(source)[0].startswith("#")


def test_text_stays_as_it_was() -> None:
    """What is shown and cited is what the author wrote."""
    found = read(TABLE.encode(), "doc.md").document

    (leaf,) = chunk(found, Rules(), COUNTER)

    assert leaf.text == TABLE.rstrip()
    assert leaf.embed_text == leaf.reading
    assert leaf.embed_form == "reading"


@pytest.mark.parametrize(
    "text",
    ["[" * 20_000, "[a](" * 10_000, "`" * 20_001 + "x](", "![[" * 9_000 + "](" * 9_000],
    ids=["brackets", "open targets", "ticks", "nested"],
)
def test_marks_without_end_are_read_in_one_pass(text: str) -> None:
    """Hostile text is text; nothing of it takes the square of its length."""
    assert "".join(readings(text)).replace("\n", "")


def test_a_reading_of_text_alone_keeps_a_tight_bound() -> None:
    """A line break between two blocks can cost more than a blank line."""
    words = ["word"] * 62
    for cut in range(20, 40):
        source = " ".join(words[:cut]) + ".\n\n" + " ".join(words[cut:]) + "."
        rules = Rules(max_tokens=64, reading_max_tokens=64, min_tokens=0)

        found = readings(source, rules)

        assert all(COUNTER.count(reading) <= 64 for reading in found)


def test_what_introduces_a_table_counts_in_its_reading() -> None:
    """Lead-in, caption and upper header rows are read above every piece."""
    rows = "".join(f"| Net loss per share {n}: | 1 | 2 |\n" for n in range(9))
    source = (
        "Results of the years are these:\n\n| | 2024 | 2025 |\n|---|---|---|\n"
        f"| | Plan | Done |\n{rows}"
    )
    rules = Rules(max_tokens=64, reading_max_tokens=64, min_tokens=0)

    found = readings(source, rules)

    assert all(COUNTER.count(reading) <= 64 for reading in found)
    assert all("Plan" in reading for reading in found[1:])


@pytest.mark.parametrize("mark", ["> ", "- "])
def test_tables_inside_blocks_count_when_they_are_read(mark: str) -> None:
    """A bound holds whatever the table stands in."""
    rest = "> " if mark == "> " else "  "
    rows = "".join(f"{rest}| A long label of row {n} | 1 | 2 | 3 |\n" for n in range(3))
    one = f"{mark}| | a | b | c |\n{rest}|---|---|---|---|\n{rows}\n"
    rules = Rules(max_tokens=256, reading_max_tokens=256)

    found = readings(f"{one}Text.\n\n" * 3, rules)

    assert all(COUNTER.count(reading) <= 256 for reading in found)
    assert all("row 2 b 2." in reading for reading in found)
