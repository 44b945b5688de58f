"""Legal plain text: numbered clauses are sections where they are consistent."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from situate.model import Items, walk
from situate.readers import ReaderOptions, clauses, read
from tests.readers.trees import blocks, load, show
from tests.support.fixtures import regenerating

if TYPE_CHECKING:
    from situate.model import Block, Document
    from tests.readers.trees import Case

FIXTURE = Path(__file__).with_name("fixtures") / "legal.txt"
OFF = ReaderOptions(legal_numbering=False)


def document(text: str, options: ReaderOptions | None = None) -> Document:
    """Read a text file."""
    return read(text.encode(), "doc.txt", options=options or ReaderOptions()).document


def headings(text: str) -> list[tuple[int, str]]:
    """Give the level and title of every section that has a heading."""
    return [
        (section.level, section.title)
        for section, _ in walk(document(text).root)
        if section.title
    ]


if regenerating():
    FIXTURE.write_text(
        "\n".join(
            f"{case.name}\n.\n{case.source}\n.\n{show(document(case.source))}\n.\n"
            for case in load(FIXTURE)
        ),
        encoding="utf-8",
    )

CASES = [pytest.param(case, id=case.name) for case in load(FIXTURE)]


@pytest.mark.parametrize("case", CASES)
def test_a_legal_text_gives_the_tree_written_beside_it(case: Case) -> None:
    """Clauses nest as they are numbered, points are lists with their lead-in."""
    tree = show(document(case.source))

    assert tree == case.expected


def test_clauses_are_on_for_text_and_can_be_turned_off() -> None:
    """None means on here; off, a text is what it was before."""
    text = "1. Term\n\nOne year.\n\n2. Fees\n\nNone.\n"

    assert headings(text) == [(1, "1. Term"), (1, "2. Fees")]
    assert [block.kind for block in blocks(document(text, OFF))] == ["paragraph"] * 4


PROSE = {
    "a number is missing": "1. Term\n\nA year.\n\n2. Fees\n\nNone.\n\n4. End\n\nNever.",
    "a number comes twice": "1. Term\n\nA year.\n\n2. Fees\n\nX.\n\n2. End\n\nNever.",
    "numbers begin again": "1. Term\n\nA.\n\n2. Fees\n\nB.\n\n1. Term\n\n2. End\n\nC.",
    "numbers begin late": "3. Term\n\nA year.\n\n4. Fees\n\nNone.",
    "one clause alone": "Terms.\n\n1. Term\n\nA year.",
    "a list in prose": "Do this:\n\n1. Open it.\n2. Close it.\n\nThen wait.",
    "a list of names": "We sell:\n\n1. Pumps\n\n2. Valves\n\n3. Seals\n\nAsk us.",
    "numbered sentences": "1. The chair opened.\n\n2. All agreed.\n\n3. It closed.",
    "dates": "Dates:\n\n1. January 2025\n\nwe met.\n\n2. February 2025\n\nwe ate.",
    "years": "2024. We grew.\n\nA lot.\n\n2025. We shrank.\n\nA little.",
    "decimals": "It fell\n1.1 percent in May and\n1.2 percent in June.",
    "an address": "Harbor Works\n1 Main Street\n2 North Road\nNorthtown",
    "contents alone": "1. Term ..... 2\n2. Fees ..... 3\n3. End ..... 9\n\nSee below.",
    "a table of numbers": "1 20 300\n2 21 310\n3 22 320\n\n4 23 330",
    "references": "It says so in\nSection 1 of the law and in\nSection 2 of the law.",
    "references that open": "Section 1 of it is old.\n\nSection 2 of it is new.",
    "initials": "I. Newton\n\nwrote this.\n\nV. Woolf\n\nwrote that.",
    "points without a clause": "Bring:\n\n(a) a pen\n\n(b) a pad",
}


@pytest.mark.parametrize("name", PROSE)
def test_what_is_not_consistent_stays_as_it_was(name: str) -> None:
    """Not one block differs from what it is with the option off."""
    text = PROSE[name]

    assert blocks(document(text)) == blocks(document(text, OFF))


@pytest.mark.parametrize(
    ("line", "heading"),
    [
        pytest.param("Fees", "1.1 Fees", id="a title alone"),
        pytest.param("Fees. The price is fixed.", "1.1 Fees.", id="before a stop"),
        pytest.param("Fees: the price is fixed.", "1.1 Fees:", id="before a colon"),
        pytest.param("Fees – the price is fixed.", "1.1 Fees –", id="before a dash"),
        pytest.param("FEES AND COSTS OF ALL KINDS", "1.1 FEES AND COSTS OF ALL KINDS"),
        pytest.param("The price shall be fixed", "1.1", id="a sentence without a stop"),
        pytest.param("The price\nis fixed.", "1.1", id="a sentence on two lines"),
        pytest.param("It is due. Pay it.", "1.1", id="a sentence before another"),
        pytest.param("Who pays?", "1.1 Who pays?", id="a question"),
        pytest.param("收费标准", "1.1 收费标准", id="Chinese"),
    ],
)
def test_a_heading_is_the_number_and_what_is_surely_a_title(
    line: str, heading: str
) -> None:
    """The rest of the line is text of its own; nothing is said twice."""
    text = f"1. Supply\n\n1.1 {line}\n\nBelow.\n\n1.2 Term\n\nA year.\n\n2. End\n\nNo."

    found = [title for _, title in headings(text)]

    assert found[1] == heading
    said = "".join("".join(block.text.split()) for block in blocks(document(text)))
    assert said == "".join(text.split())


def test_letters_and_roman_numerals_are_told_by_their_order() -> None:
    """After (h), (i) is a letter; after a colon inside (b) it is a number."""
    letters = "\n".join(f"({letter}) this;" for letter in "abcdefghij")
    inner = "(a) one;\n(b) two, namely:\n(i) red;\n(ii) blue;\n(c) three."
    text = f"1. Goods\n\nThese:\n{letters}\n\n2. Parts\n\nThose:\n{inner}\n"

    lists = [block for block in blocks(document(text)) if block.kind == "list"]

    assert [block.part_count for block in lists] == [10, 3]
    assert isinstance(lists[1].content, Items)
    (own, below) = lists[1].content.items[1].blocks
    assert own.text == "two, namely:"
    assert below.part_count == 2


def test_a_lead_in_stands_directly_before_its_points() -> None:
    """So the chunker keeps them together (C5)."""
    text = "1. Fees\n\n1.1 The Customer pays:\n(a) a fee;\n(b) a tax.\n\n1.2 No more.\n"

    kinds = [(block.kind, block.text) for block in blocks(document(text))]

    assert ("paragraph", "The Customer pays:") in kinds
    place = kinds.index(("paragraph", "The Customer pays:"))
    assert kinds[place + 1] == ("list", "(a) a fee;\n(b) a tax.")


def test_a_paragraph_indented_below_a_point_belongs_to_it() -> None:
    """One that stands further left ends the list."""
    text = (
        "1. Fees\n\nDue are:\n\n(a) a fee;\n\n    which may rise;\n\n(b) a tax.\n\n"
        "No more is due.\n\n2. Term\n\nA year.\n"
    )

    _, _, points, after, *_ = blocks(document(text))

    assert isinstance(points.content, Items)
    assert len(points.content.items[0].blocks) == 2
    assert points.text.endswith("(b) a tax.")
    assert after.text == "No more is due."


def test_articles_number_on_through_chapters() -> None:
    """A chapter closes the articles before it, not their numbers."""
    text = "".join(
        f"Chapter {chapter}\n\n"
        + "".join(f"Article {number}\n\nSome rule.\n\n" for number in numbers)
        for chapter, numbers in (("I", (1, 2)), ("II", (3, 4)))
    )

    assert headings(text) == [
        (1, "Chapter I"),
        (2, "Article 1"),
        (2, "Article 2"),
        (1, "Chapter II"),
        (2, "Article 3"),
        (2, "Article 4"),
    ]


def test_numbers_inside_paragraphs_do_not_spoil_those_that_open_them() -> None:
    """A list of the same form in one clause is part of its text."""
    text = "1. Use\n\nYou must:\n1. be 18,\n2. pay.\n\n2. End\n\nLeave at any time.\n"

    assert headings(text) == [(1, "1. Use"), (1, "2. End")]


@pytest.mark.parametrize(
    "contents",
    [
        pytest.param("Chapter 1\nChapter 2\nChapter 3\n", id="bare"),
        pytest.param(
            "Chapter 1    3\n\nChapter 2    9\n\nChapter 3    12\n", id="pages"
        ),
    ],
)
def test_a_list_of_contents_is_no_clause(contents: str) -> None:
    """What it names is."""
    body = "".join(f"Chapter {number}\n\nOnce.\n\n" for number in (1, 2, 3))

    found = document(f"Contents\n\n{contents}\n{body}")

    assert len(found.root.children) == 4
    assert found.root.children[0].section_id == "_top"
    assert "Chapter 3" in found.root.children[0].blocks[-1].text


def test_clauses_that_begin_together_are_no_list_of_contents() -> None:
    """Part, chapter and article may follow each other without text between."""
    text = "".join(
        f"Part {part}\n\n"
        + "".join(
            f"Chapter {chapter}\n\nArticle 1\n\nA rule.\n\nArticle 2\n\nAnother.\n\n"
            for chapter in (1, 2)
        )
        for part in (1, 2)
    )

    assert len(headings(text)) == 2 + 4 + 8


def test_only_the_given_paragraphs_are_looked_at() -> None:
    """Other formats hand over theirs; a heading or list never spans what is between."""
    text = "Article 1\n\n- no\n\nScope\n\nAll of it.\n\nArticle 2\n\nTerm\n\nA year.\n"
    spans = [
        (text.index(line), text.index(line) + len(line))
        for line in ("Article 1", "Scope", "All of it.", "Article 2", "Term", "A year.")
    ]

    pieces = clauses.find(text, spans)

    assert [text[slice(*piece.span)] for piece in pieces] == [
        "Article 1",
        "Scope",
        "All of it.",
        "Article 2\n\nTerm",
        "A year.",
    ]
    assert [piece.paragraph for piece in pieces] == [0, 1, 2, 3, 5]


LINES = st.sampled_from(
    [
        "1. Term",
        "2. Fees",
        "3. End of it all.",
        "1.1 The Supplier shall deliver.",
        "1.2 Scope. It is wide.",
        "2.1 Fees",
        "Article 1",
        "Article 2 – Scope",
        "§ 3 Geltung",
        "第一条 总则",
        "(a) first;",
        "  (b) second, namely:",
        "(i) red",
        "(ii) blue",
        "a) links",
        "Schedule 1",
        "\tSome text that goes on",
        "and on.",
        "",
        "",
        "\f1. Page",
    ]
)


@settings(max_examples=300, deadline=None)
@given(st.lists(LINES, max_size=25))
def test_every_character_stays_in_order_and_in_its_span(lines: list[str]) -> None:
    """Whatever the structure, blocks are slices that cover what they did before."""
    text = "\n".join(lines)

    found = document(text)

    position = 0
    for block in blocks(found):
        assert block.span is not None
        assert not text[position : block.span[0]].strip()
        position = block.span[1]
        for part in _parts(block):
            assert part.span is not None
            assert block.span[0] <= part.span[0] <= part.span[1] <= block.span[1]
            assert part.text == text[slice(*part.span)].replace("\f", " ")
    assert not text[position:].strip()
    assert _said(found) == _said(document(text, OFF))


def _parts(block: Block) -> list[Block]:
    """Give a block and the blocks of its items, all levels down."""
    found = [block]
    for each in found:
        if isinstance(each.content, Items):
            found += (below for item in each.content.items for below in item.blocks)
    return found


def _said(found: Document) -> str:
    return "".join("".join(block.text.split()) for block in blocks(found))
