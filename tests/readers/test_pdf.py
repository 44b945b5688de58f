"""PDF: what is read of a page, in which order, and what is said about the rest."""

from __future__ import annotations

import pytest

from situate.errors import ReadError
from situate.readers import ReaderOptions, passages, read
from tests.readers.pdf_files import Sheet, Text, column, pdf, prose
from tests.readers.trees import blocks, show

SENTENCE = "The pump of the plant runs by night and rests by day."


def texts(data: bytes) -> list[str]:
    """Give the texts of a document's blocks."""
    return [block.text for block in blocks(read(data, "doc.pdf").document)]


def test_lines_become_paragraphs() -> None:
    """A paragraph ends where the next line stands off or the last one ends early."""
    data = pdf(
        [
            *column(
                ["The fee is due on the first day of the month, and", "not later."]
            ),
            *column(["A second paragraph stands off from the first one."], y=150),
        ]
    )

    assert texts(data) == [
        "The fee is due on the first day of the month, and not later.",
        "A second paragraph stands off from the first one.",
    ]


def test_an_indentation_begins_a_paragraph() -> None:
    """Books set paragraphs back instead of apart."""
    lines = ["A line that fills the whole column is long enough here.", "It ends."]
    data = pdf([*column(lines, y=100), *column(["Indented."], x=65, y=124)])

    assert texts(data) == [" ".join(lines), "Indented."]


def test_lines_that_end_on_purpose_stay_lines() -> None:
    """An address is no sentence."""
    lines = ["Plant Seven Limited", "12 Harbour Road", "Port of Leith"]
    data = pdf([*column(lines), *prose(SENTENCE, y=300)])

    assert texts(data)[0] == "\n".join(lines)


@pytest.mark.parametrize(
    ("before", "after", "joined"),
    [
        pytest.param("the regu-", "lation of fees", "the regulation of fees", id="cut"),
        pytest.param("the Anti-", "American", "the Anti-American", id="capital"),
        pytest.param("section 4-", "12 says", "section 4-12 says", id="number"),
        pytest.param("Vor-", "und Nachteile", "Vor- und Nachteile", id="suspended"),
        pytest.param("the part-", "time work", "the part-time work", id="known"),
        pytest.param("the regu\xad", "lation", "the regulation", id="soft"),
    ],
)
def test_words_cut_at_line_ends_become_whole(
    before: str, after: str, joined: str
) -> None:
    """A hyphen goes where nothing says that it belongs to the word."""
    data = pdf([*column([before, after]), *column(["No part-time here."], y=300)])

    assert texts(data)[0] == joined


def test_columns_drawn_line_by_line_are_read_one_after_the_other() -> None:
    """Some programs draw a page from left to right, whatever stands on it."""
    left = [f"the left column says in line number {n} this" for n in range(8)]
    right = [f"the right column says in line number {n} that" for n in range(8)]
    woven = [
        Text(text=text, x=x, y=100 + 12 * n)
        for n in range(8)
        for x, text in ((50, left[n]), (330, right[n]))
    ]

    (said,) = texts(pdf(woven))

    assert said == " ".join(left + right)


def test_a_title_drawn_last_is_read_first() -> None:
    """Where drawing order contradicts what stands above, it is not reading order."""
    title = Text(text="Rules for pumps", y=60, size=18)

    assert texts(pdf([*prose(SENTENCE), title]))[0] == "# Rules for pumps"


def test_lam_alef_of_one_glyph_is_read_in_order() -> None:
    """Drawn from left to right the letters of a word come last first."""
    # A lam-alef glyph, then meem on its left; and alef before lam as two glyphs.
    drawn = [
        Text(text="M", x=50, font="arabic"),
        Text(text="X", x=58, font="arabic"),
        Text(text="L", x=120, font="arabic"),
        Text(text="A", x=126, font="arabic"),
    ]
    data = pdf(drawn)

    (block,) = blocks(read(data, "doc.pdf").document)
    said = " ".join(passages(data, "doc.pdf"))

    assert "\u0644\u0627\u0645" in block.text
    assert "\u0627\u0644\u0645" not in block.text.replace(" ", "\n")
    assert "\u0627\u0644" in block.text
    assert sorted(said.split()) == sorted(block.text.split())


def test_cells_of_a_row_stay_on_its_line() -> None:
    """Without tags a table is not invented, but its rows are kept."""
    rows = [("Item", "Fee"), ("Diesel", "12 EUR"), ("Petrol", "14 EUR")]
    drawn = [
        Text(text=text, x=50 + 150 * column, y=100 + 14 * n)
        for n, row in enumerate(rows)
        for column, text in enumerate(row)
    ]

    (block,) = blocks(read(pdf(drawn), "doc.pdf").document)

    assert (block.kind, block.text) == (
        "paragraph",
        "Item Fee\nDiesel 12 EUR\nPetrol 14 EUR",
    )


def test_items_become_lists() -> None:
    """Bullets and numbers that count on begin items; further in is further below."""
    drawn = [
        *column(["• first", "• second"], x=60),
        *column(["• below it"], x=80, y=124),
        *column(["1. one", "2. two"], y=200),
    ]

    shown = show(read(pdf(drawn), "doc.pdf").document)

    assert shown == "\n".join(
        [
            "_top",
            "  list '- first\\n- second\\n  - below it'",
            "    item '- first'",
            "    item '- second\\n  - below it'",
            "      paragraph 'second'",
            "      list '- below it'",
            "        item '- below it'",
            "  list '1. one\\n2. two'",
            "    item '1. one'",
            "    item '2. two'",
        ]
    )


def test_a_number_at_the_start_of_a_line_is_no_item() -> None:
    """A year that ends a sentence stays in it."""
    lines = ["The rules that hold today were made in the spring of", "2019. They hold."]

    assert texts(pdf(column(lines))) == [" ".join(lines)]


def test_typewritten_lines_in_a_text_are_code() -> None:
    """Their line breaks and indentation are kept."""
    code = [
        Text(text="if full:", y=300, font="mono"),
        Text(text="stop()", x=74, y=312, font="mono"),
    ]

    block = blocks(read(pdf([*prose(SENTENCE), *code]), "doc.pdf").document)[-1]

    assert block.text == "```\nif full:\n    stop()\n```"


def test_a_paragraph_goes_on_over_the_page() -> None:
    """It has a box on both pages."""
    first = ["The fee is due on the first day of each and every month,"]
    data = pdf(column(first, y=700), column(["and not later than that."], y=100))

    (block,) = blocks(read(data, "doc.pdf").document)

    assert block.text == "The fee is due on the first day of each and every month, " + (
        "and not later than that."
    )
    assert block.pages == (1, 2)


def test_a_sentence_that_ends_with_the_page_ends_the_paragraph() -> None:
    """What begins in capitals begins anew."""
    data = pdf(column(["It ends here."], y=700), column(["Another begins."]))

    assert texts(data) == ["It ends here.", "Another begins."]


@pytest.mark.parametrize(
    ("rotate", "box"),
    [
        pytest.param(0, (50, 93, 68.5, 100), id="upright"),
        pytest.param(90, (700, 50, 707, 68.5), id="clockwise"),
        pytest.param(180, (531.5, 700, 550, 707), id="upside-down"),
        pytest.param(270, (93, 531.5, 100, 550), id="counter-clockwise"),
    ],
)
def test_boxes_are_those_of_the_page_as_shown(
    rotate: int, box: tuple[float, ...]
) -> None:
    """They count from its upper left corner, whatever way it is turned."""
    data = pdf(Sheet(texts=[Text(text="Title")], rotate=rotate))

    (block,) = blocks(read(data, "doc.pdf").document)
    (found,) = block.boxes

    edges = (found.left, found.top, found.right, found.bottom)
    assert edges == pytest.approx(box, abs=1.5)


def test_boxes_count_from_the_visible_part() -> None:
    """What is cropped away is no part of the page, and said to be left out."""
    drawn = [Text(text="Shown", x=150), Text(text="cut off", x=10, y=400)]
    data = pdf(Sheet(texts=drawn, crop="100 0 600 750"))

    found = read(data, "doc.pdf")
    (block,) = blocks(found.document)

    assert (block.boxes[0].left, block.boxes[0].bottom) == pytest.approx(
        (50, 50), abs=1.5
    )
    assert found.warnings == ("6 characters outside the visible pages were left out",)


def test_text_that_runs_upwards_is_read_after_the_rest() -> None:
    """A note in the margin cuts no paragraph."""
    content = "BT /plain 10 Tf 0 1 -1 0 30 300 Tm (Draft of May) Tj ET"
    data = pdf(Sheet(texts=prose(SENTENCE, lines=2), content=content))

    assert texts(data)[-1] == "Draft of May"
    assert len(texts(data)) == 2


def test_running_headers_and_footers_are_offered_as_metadata() -> None:
    """Numbers that count pages are `#`, others stay: a version stands there."""
    pages = [
        [
            Text(text="Fee rules v1.2", y=40),
            *prose(SENTENCE + f" Page {number} differs.", y=200),
            Text(text=f"Page {number} of 4", y=780),
        ]
        for number in range(1, 5)
    ]

    found = read(pdf(*pages), "doc.pdf")
    custom = found.document.metadata.custom

    assert custom["page_headers"] == ["Fee rules v1.2"]
    assert custom["page_footers"] == ["Page # of 4"]
    assert not any("v1.2" in block.text for block in blocks(found.document))
    assert found.warnings == (
        "8 lines of running headers, footers and page numbers were kept out of the "
        "text; custom.page_headers and custom.page_footers tell them",
    )


def test_pages_that_say_one_line_keep_it() -> None:
    """A page without a text has no edge."""
    data = pdf([Text(text="Page 1")], [Text(text="Page 2")], [Text(text="Page 3")])

    assert texts(data) == ["Page 1", "Page 2", "Page 3"]


def test_text_below_a_scan_is_text() -> None:
    """OCR writes it invisibly."""
    data = pdf(
        Sheet(texts=[Text(text="Read by a machine, not drawn", render=3)], picture=True)
    )

    assert texts(data) == ["Read by a machine, not drawn"]


@pytest.mark.parametrize(
    "stamp", [pytest.param((), id="bare"), pytest.param(("7",), id="stamped")]
)
def test_a_scan_without_text_is_an_error_that_names_the_way(
    stamp: tuple[str, ...],
) -> None:
    """An empty list of chunks would hide that nothing was read."""
    data = pdf(Sheet(texts=column(stamp), picture=True))

    with pytest.raises(ReadError, match=r"^doc\.pdf: has no text layer.*Docling"):
        read(data, "doc.pdf")


def test_pages_without_text_among_others_are_named() -> None:
    """A half-scanned file is read, and says what is missing."""
    scan = Sheet(picture=True)
    data = pdf(prose(SENTENCE), scan, scan, prose(SENTENCE), scan)

    (warning,) = read(data, "doc.pdf").warnings

    assert warning.startswith("pages 2-3, 5 show pictures without text")


def test_an_empty_page_is_an_empty_document() -> None:
    """Nothing on it is no error."""
    assert texts(pdf([])) == []


def test_fonts_that_name_no_letters_are_said() -> None:
    """What would be embedded is noise."""
    garbage = [Text(text="Nobody can read this line at all", font="private")]
    data = pdf(prose(SENTENCE), garbage)

    (warning,) = read(data, "doc.pdf").warnings

    assert warning.startswith("the fonts of page 2 do not say which letters")


def test_what_the_author_says_becomes_metadata() -> None:
    """Validity and type by their names, others only when they are to be kept."""
    info = {
        "Title": "Fee rules",
        "effective_from": "2025-01-01",
        "doc_type": "policy",
        "version": "1.10",
        "Department": "Energy",
        "Secret": "x",
    }
    data = pdf(prose(SENTENCE), info=info, catalog="/Lang (en-GB)")

    document = read(
        data, "doc.pdf", options=ReaderOptions(keep=("Department",))
    ).document
    metadata = document.metadata

    assert (metadata.title, metadata.language) == ("Fee rules", "en-GB")
    assert (metadata.doc_type, document.version) == ("policy", "1.10")
    assert metadata.effective_from == "2025-01-01"
    assert metadata.custom == {
        "Department": "Energy",
        "structure": "none",
        "structure_confidence": 0.0,
    }


@pytest.mark.parametrize(
    "title",
    ["Microsoft Word - fees.doc", "untitled", "fees_final", "fees.docx", "doc", "12"],
)
def test_a_title_that_a_program_made_up_is_none(title: str) -> None:
    """A file name in the breadcrumb of every chunk says nothing."""
    data = pdf(prose(SENTENCE), info={"Title": title})

    assert read(data, "doc.pdf").document.metadata.title is None


def test_passages_are_the_words_of_the_pages() -> None:
    """They measure what reached the tree, so nothing is left out of them."""
    data = pdf(
        [Text(text="Header", y=30), *column(["the regu-", "lation"])],
        [Text(text="Header", y=30), *column(["goes on"])],
    )

    said = " ".join(passages(data, "doc.pdf")).split()

    assert said == ["Header", "the", "regulation", "Header", "goes", "on"]
