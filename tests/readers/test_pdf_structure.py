"""PDF: where structure comes from, best source first."""

from __future__ import annotations

import pytest

from situate.readers import read
from tests.readers.pdf_files import Entry, Sheet, Tag, Text, column, pdf, prose
from tests.readers.trees import blocks, show

SENTENCE = "The pump of the plant runs by night and rests by day."


def marked(*texts: str) -> list[Text]:
    """Draw texts below each other, each as marked content of its own."""
    return [
        Text(text=text, y=100 + 30 * mark, mark=mark) for mark, text in enumerate(texts)
    ]


def tagged(*texts: str, tags: list[Tag]) -> str:
    """Show what a page of marked texts becomes under some tags."""
    data = pdf(marked(*texts), tags=[Tag(kind="Document", inside=tags)])
    return show(read(data, "doc.pdf").document)


def mark(number: int) -> tuple[int, int]:
    """Name a mark on the first page."""
    return 0, number


def outline(data: bytes) -> list[tuple[int, str]]:
    """Give the levels and titles of a document's sections."""
    found = []
    stack = [*read(data, "doc.pdf").document.root.children]
    while stack:
        section = stack.pop(0)
        if section.title:
            found.append((section.level, section.title))
        stack = [*section.children, *stack]
    return found


def test_tags_name_headings_and_paragraphs() -> None:
    """Levels are the author's, whatever the text looks like."""
    shown = tagged(
        "Fees",
        "What is due.",
        "Late fees",
        "What is due later.",
        tags=[
            Tag(kind="H1", inside=[mark(0)]),
            Tag(kind="P", inside=[mark(1)]),
            Tag(
                kind="Sect",
                inside=[
                    Tag(kind="H2", inside=[mark(2)]),
                    Tag(kind="P", inside=[mark(3)]),
                ],
            ),
        ],
    )

    assert shown == (
        "fees Fees\n  heading '# Fees'\n  paragraph 'What is due.'\n"
        "fees/late-fees Fees > Late fees\n  heading '## Late fees'\n"
        "  paragraph 'What is due later.'"
    )


def test_reading_order_is_that_of_the_tags() -> None:
    """Not that in which the page is drawn."""
    tags = [Tag(kind="P", inside=[mark(1)]), Tag(kind="P", inside=[mark(0)])]

    shown = tagged("drawn first", "read first", tags=tags)

    assert shown.split("\n") == [
        "_top",
        "  paragraph 'read first'",
        "  paragraph 'drawn first'",
    ]


def test_tagged_tables_keep_rows_cells_and_spans() -> None:
    """The caption stands above, header cells name the columns."""
    row = [
        Tag(kind="TH", inside=[mark(1)]),
        Tag(kind="TH", inside=[mark(2)], attributes="/O /Table /ColSpan 2"),
    ]
    body = [Tag(kind="TD", inside=[mark(number)]) for number in (3, 4, 5)]
    tags = [
        Tag(
            kind="Table",
            inside=[
                Tag(kind="Caption", inside=[mark(0)]),
                Tag(kind="THead", inside=[Tag(kind="TR", inside=row)]),
                Tag(kind="TBody", inside=[Tag(kind="TR", inside=body)]),
            ],
        )
    ]

    shown = tagged("Fees", "Item", "Price", "Diesel", "1", "2", tags=tags)

    assert shown.split("\n")[2:] == [
        "    header ['Item', 'Price', 'Price']",
        "    delimiter '| --- | --- | --- |'",
        "    row ['Diesel', '1', '2']",
    ]
    assert "table 'Fees\\n\\n| Item | Price | Price |" in shown


def test_tagged_lists_keep_labels_and_nesting() -> None:
    """A bullet is a dash, a number is the author's."""

    def item(label: int, body: int, *below: Tag) -> Tag:
        labels = Tag(kind="Lbl", inside=[mark(label)])
        inside = [Tag(kind="P", inside=[mark(body)]), *below]
        return Tag(kind="LI", inside=[labels, Tag(kind="LBody", inside=inside)])

    nested = Tag(kind="L", inside=[item(4, 5)])
    tags = [Tag(kind="L", inside=[item(0, 1), item(2, 3, nested)])]

    shown = tagged("1.", "one", "2.", "two", "•", "below", tags=tags)

    assert shown.split("\n")[1:4] == [
        "  list '1. one\\n2. two\\n   - below'",
        "    item '1. one'",
        "    item '2. two\\n   - below'",
    ]


def test_figures_notes_and_quotations() -> None:
    """Alternative text is kept; a note waits for the end of its paragraph."""
    note = Tag(kind="Note", inside=[mark(1)])
    tags = [
        Tag(kind="P", inside=[mark(0), note, mark(2)]),
        Tag(kind="Figure", inside=[mark(5)], alt="A pump"),
        Tag(kind="BlockQuote", inside=[Tag(kind="P", inside=[mark(3)])]),
        Tag(kind="Code", inside=[mark(4)]),
    ]

    drawn = ("See", "The note.", "there.", "Quoted.", "stop()", "")
    shown = tagged(*drawn, tags=tags)

    assert shown.split("\n")[1:5] == [
        "  paragraph 'See there.'",
        "  footnote 'The note.'",
        "  paragraph '![A pump]()'",
        "  quote 'Quoted.'",
    ]
    assert "code '```\\nstop()\\n```'" in shown


def test_actual_text_replaces_what_is_drawn() -> None:
    """A letter drawn as an ornament is read as the letter."""
    tags = [
        Tag(kind="P", inside=[Tag(kind="Span", inside=[mark(0)], actual="T"), mark(1)])
    ]
    drawn = [Text(text="@", mark=0), Text(text="hus", x=60, mark=1)]
    data = pdf(drawn, tags=tags)

    (block,) = blocks(read(data, "doc.pdf").document)

    assert block.text == "Thus"


def test_an_element_on_two_pages_is_one() -> None:
    """Pdfium shows the tree page by page; a paragraph is still one paragraph."""
    tags = [Tag(kind="P", inside=[(0, 0), (1, 0)])]
    data = pdf(
        [Text(text="begins", mark=0)], [Text(text="and ends", mark=0)], tags=tags
    )

    (block,) = blocks(read(data, "doc.pdf").document)

    assert (block.text, block.pages) == ("begins and ends", (1, 2))


def test_artifacts_are_no_text() -> None:
    """Headers that are marked as such are offered even when they stand once."""
    drawn = [Text(text="Fee rules", y=40, artifact=True), Text(text=SENTENCE, mark=0)]
    data = pdf(drawn, tags=[Tag(kind="P", inside=[(0, 0)])])

    document = read(data, "doc.pdf").document

    assert [block.text for block in blocks(document)] == [SENTENCE]
    assert document.metadata.custom["page_headers"] == ["Fee rules"]


def test_text_outside_of_the_tags_is_not_lost() -> None:
    """A little of it ends its page, with a warning."""
    long = "A paragraph that the author has tagged, as it should be done by all."
    drawn = [Text(text=long, mark=0), Text(text="left", y=400)]
    data = pdf(drawn, tags=[Tag(kind="P", inside=[(0, 0)])])

    found = read(data, "doc.pdf")

    assert [block.text for block in blocks(found.document)] == [long, "left"]
    assert found.document.metadata.custom["structure"] == "tags"
    assert found.warnings == (
        "4 characters stand outside the tags and were put at the end of their pages",
    )


def test_tags_that_reach_little_are_not_followed() -> None:
    """Half a tree is worse than none."""
    drawn = [Text(text="tagged", mark=0), Text(text="a longer line without", y=120)]
    data = pdf(drawn, tags=[Tag(kind="H1", inside=[(0, 0)])])

    found = read(data, "doc.pdf").document

    assert found.metadata.custom["structure"] == "none"
    assert [block.kind for block in blocks(found)] == ["paragraph", "paragraph"]


def test_a_document_without_tagged_headings_is_asked_for_others() -> None:
    """Paragraphs and tables are the author's, headings come from the next source."""
    drawn = [
        Text(text="Scope", size=16, mark=0),
        *(Text(text=SENTENCE, y=130 + 12 * number, mark=1) for number in range(4)),
    ]
    data = pdf(drawn, tags=[Tag(kind="P", inside=[(0, n)]) for n in range(2)])

    document = read(data, "doc.pdf").document

    assert [block.kind for block in blocks(document)] == ["heading", "paragraph"]
    assert document.metadata.custom["structure"] == "fonts"


def test_bookmarks_name_the_headings_that_pages_show() -> None:
    """Numbers may stand on either side, and a title may run over two lines."""
    first = [
        Text(text="1 Scope of the", y=80),
        Text(text="rules", y=92),
        *prose(SENTENCE, y=130),
    ]
    second = [Text(text="Fees", y=80), *prose(SENTENCE, y=130)]
    entries = [
        Entry(title="Scope of the rules", page=0),
        Entry(title="1.1 Fees", page=1, level=1),
    ]
    data = pdf(first, second, outline=entries)

    assert outline(data) == [(1, "1 Scope of the rules"), (2, "Fees")]
    custom = read(data, "doc.pdf").document.metadata.custom
    assert (custom["structure"], custom["structure_confidence"]) == ("outline", 1.0)


def test_bookmarks_that_pages_do_not_show_are_no_headings() -> None:
    """Nothing is written that the document does not say."""
    entries = [Entry(title="Slide 1", page=0), Entry(title="Slide 2", page=0)]

    data = pdf(prose(SENTENCE), outline=entries)

    assert outline(data) == []


def test_sizes_rank_headings() -> None:
    """The larger stands above; bold at the size of the text is the lowest."""
    drawn = [
        Text(text="Rules for pumps", y=60, size=20),
        Text(text="Fees", y=100, size=14),
        *prose(SENTENCE, y=130),
        Text(text="Late fees", y=220, font="bold"),
        *prose(SENTENCE, y=250),
        Text(text="Duties", y=350, size=14),
        *prose(SENTENCE, y=380),
    ]

    assert outline(pdf(drawn)) == [
        (1, "Rules for pumps"),
        (2, "Fees"),
        (3, "Late fees"),
        (2, "Duties"),
    ]


def test_numbers_place_headings_that_look_alike() -> None:
    """`1.1` stands below `1` even when both are bold."""
    drawn: list[Text] = []
    for number, title in enumerate(["1 Scope", "1.1 Terms", "1.1.1 Pump", "2 Fees"]):
        drawn.append(Text(text=title, y=60 + 120 * number, font="bold"))
        drawn += prose(SENTENCE, y=90 + 120 * number)

    assert outline(pdf(drawn)) == [
        (1, "1 Scope"),
        (2, "1.1 Terms"),
        (3, "1.1.1 Pump"),
        (1, "2 Fees"),
    ]


@pytest.mark.parametrize(
    "drawn",
    [
        pytest.param([Text(text="It is said in bold.", font="bold")], id="sentence"),
        pytest.param(
            [
                Text(text="Item", font="bold"),
                Text(text="Fee in euros", x=300, font="bold"),
            ],
            id="row",
        ),
        pytest.param(
            [
                Text(text="1. first", font="bold"),
                Text(text="2. then", y=125, font="bold"),
            ],
            id="items",
        ),
        pytest.param([Text(text="12,50", size=16)], id="number"),
        pytest.param([Text(text="and so on it goes", size=12)], id="small-letter"),
    ],
)
def test_not_all_that_stands_out_is_a_heading(drawn: list[Text]) -> None:
    """A false heading names what it does not stand above."""
    assert outline(pdf([*drawn, *prose(SENTENCE, y=200)])) == []


def test_labels_of_a_drawing_are_no_headings() -> None:
    """Where there is no text, nothing stands out from it."""
    drawn = [
        Text(text="Main Boiler", x=100, y=100, size=16),
        Text(text="12", x=120, y=150),
        Text(text="Feed Pump", x=300, y=400, size=16),
        Text(text="7", x=320, y=450),
    ]

    assert outline(pdf(drawn)) == []


def test_without_any_structure_there_are_paragraphs() -> None:
    """The document says so."""
    document = read(pdf(prose(SENTENCE)), "doc.pdf").document

    assert document.metadata.custom == {
        "structure": "none",
        "structure_confidence": 0.0,
    }


def test_form_fields_and_text_boxes_end_their_page() -> None:
    """What was filled in is what a reader of the form sees."""
    field = (
        "<< /Type /Annot /Subtype /Widget /FT /Tx /T (Name) /V (A. Baker) "
        "/Rect [100 600 200 620] >>"
    )
    box = "<< /Type /Annot /Subtype /FreeText /Contents (Approved) /Rect [9 9 99 29] >>"
    note = "<< /Type /Annot /Subtype /Text /Contents (why?) /Rect [9 9 29 29] >>"
    page = Sheet(texts=column(["Form"]), entries=f"/Annots [{field} {box} {note}]")

    found = read(
        pdf(page, [Text(text="Next")], catalog=f"/AcroForm << /Fields [{field}] >>"),
        "doc.pdf",
    )

    assert [block.text for block in blocks(found.document)] == [
        "Form",
        "Name: A. Baker",
        "Approved",
        "Next",
    ]
    assert found.warnings == (
        "2 values of form fields and text boxes were put at the end of their pages",
        "1 comment or mark was left out",
    )
