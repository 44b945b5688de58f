"""What stands in a Word file, as sections and blocks."""

from __future__ import annotations

import pytest

from situate.readers import read
from tests.readers.docx_files import (
    CLAUSES,
    field,
    heading,
    p,
    table,
    tc,
    texts,
    tr,
    tree,
    word,
)
from tests.readers.trees import blocks


class TestTables:
    """Tables keep their grid; what is only laid out in cells does not."""

    def test_marked_rows_are_the_header(self) -> None:
        """A title across the table above them is its caption."""
        data = word(
            table(
                tr(tc("Plan", span=2)),
                tr("Post", "Person", properties="<w:tblHeader/>"),
                tr(tc("One", merge="restart"), "Ada"),
                tr(tc(merge="continue"), "Bob"),
            )
        )

        assert texts(data) == [
            "Plan\n\n| Post | Person |\n| --- | --- |\n| One | Ada |\n| One | Bob |"
        ]

    def test_without_marks_the_first_row_is_the_header(self) -> None:
        """Hardly anybody marks it; groups of columns above names belong to it."""
        data = word(
            table(
                tr(tc("Site", merge="restart"), tc("Fee", span=2)),
                tr(tc(merge="continue"), "May", "June"),
                tr("North", "1", "2"),
            )
        )

        assert texts(data) == [
            "| Site | Fee / May | Fee / June |\n| --- | --- | --- |\n| North | 1 | 2 |"
        ]

    def test_a_table_that_names_its_rows_has_no_header(self) -> None:
        """The author switched the first row off and the first column on."""
        look = '<w:tblLook w:val="0080" w:firstRow="0" w:firstColumn="1"/>'
        data = word(table(tr("Name", "Ada"), tr("Site", "North"), properties=look))

        assert texts(data) == [
            "|  |  |\n| --- | --- |\n| Name | Ada |\n| Site | North |"
        ]

    def test_a_table_marked_as_header_all_over_has_one_header_row(self) -> None:
        """Nothing would be left to repeat it for."""
        mark = "<w:tblHeader/>"
        data = word(table(tr("A", "B", properties=mark), tr("1", "2", properties=mark)))

        assert texts(data) == ["| A | B |\n| --- | --- |\n| 1 | 2 |"]

    def test_labels_that_reach_below_the_header_begin_again_there(self) -> None:
        """Else the cells beside them would move to the left."""
        data = word(
            table(
                tr(tc("A", merge="restart"), "B", properties="<w:tblHeader/>"),
                tr(tc(merge="continue"), "1"),
            )
        )

        assert texts(data) == ["| A | B |\n| --- | --- |\n| A | 1 |"]

    def test_rows_that_begin_late_keep_their_columns(self) -> None:
        """Word leaves cells out at the ends of rows."""
        data = word(
            table(
                tr("A", "B", "C"),
                tr("1", "2", properties='<w:gridBefore w:val="1"/>'),
            )
        )

        assert texts(data) == ["| A | B | C |\n| --- | --- | --- |\n|  | 1 | 2 |"]

    def test_names_with_their_values_have_no_header(self) -> None:
        """The first line of a document's control table is no name of columns."""
        data = word(table(tr("Owner", "Head of HR"), tr("Version", "2.1")))

        assert texts(data) == [
            "|  |  |\n| --- | --- |\n| Owner | Head of HR |\n| Version | 2.1 |"
        ]

    def test_a_first_row_that_looks_like_a_header_is_one(self) -> None:
        """Bold names above two columns say what the values are."""
        bold = "<w:tc><w:p><w:r><w:rPr><w:b/></w:rPr><w:t>{}</w:t></w:r></w:p></w:tc>"
        header = f"<w:tr>{bold.format('Item')}{bold.format('Fee')}</w:tr>"
        data = word(table(header, tr("Copy", "5")))

        assert texts(data) == ["| Item | Fee |\n| --- | --- |\n| Copy | 5 |"]

    def test_a_long_table_of_two_columns_has_a_header(self) -> None:
        """It will be cut, and every piece should say what its columns are."""
        rows = [tr("Item", "Fee"), *(tr(f"Copy {n}", str(n)) for n in range(20))]

        (text,) = texts(word(table(*rows)))

        assert text.startswith("| Item | Fee |\n| --- | --- |\n| Copy 0 | 0 |")

    def test_cells_merged_the_old_way_are_one(self) -> None:
        """`hMerge` stands in files of older programs; no text of it is lost."""
        data = word(
            table(
                tr("A", "B"),
                tr(
                    tc("one", properties='<w:hMerge w:val="restart"/>'),
                    tc("two", properties="<w:hMerge/>"),
                ),
            )
        )

        assert texts(data) == ["|  |  |\n| --- | --- |\n| A | B |\n| one two |  |"]

    def test_a_continued_cell_without_a_beginning_stands_for_itself(self) -> None:
        """A broken merge costs no text."""
        data = word(table(tr("A", "B"), tr(tc("1", merge="continue"), "2")))

        assert texts(data) == ["|  |  |\n| --- | --- |\n| A | B |\n| 1 | 2 |"]

    def test_a_cell_says_its_paragraphs_lists_and_tables_in_order(self) -> None:
        """They are joined by spaces, numbers in front."""
        inner = table(tr("x", "y"), tr("1", "2"))
        data = word(
            table(
                tr("A", "B"),
                tr(tc("Do", p("this", num="1/0"), p("that", num="1/0")), tc(inner)),
            ),
            parts={"numbering.xml": CLAUSES},
        )

        assert texts(data) == [
            "|  |  |\n| --- | --- |\n| A | B |\n| Do 1. this 2. that | x y 1 2 |"
        ]

    def test_numbers_in_empty_cells_are_shown(self) -> None:
        """A column of row numbers holds nothing else."""
        data = word(
            table(tr("No", "Name"), tr(tc(p(num="1/0")), "Ada")),
            parts={"numbering.xml": CLAUSES},
        )

        assert texts(data) == ["|  |  |\n| --- | --- |\n| No | Name |\n| 1. | Ada |"]

    @pytest.mark.parametrize(
        "laid_out",
        [
            pytest.param(table(tr(tc("One.", "Two."))), id="one-cell"),
            pytest.param(
                table(tr(tc("One.", "Two."), tc(""))), id="one-cell-with-text"
            ),
            pytest.param(table(tr(tc("One."), tc("Two.", "Three."))), id="columns"),
            pytest.param(
                table(tr(tc("One.")), tr(tc(*(f"{n}." for n in range(12))))),
                id="pages",
            ),
        ],
    )
    def test_cells_that_only_lay_out_text_are_no_table(self, laid_out: str) -> None:
        """Frames and columns are drawn with tables."""
        found = blocks(read(word(laid_out), "doc.docx").document)

        assert {block.kind for block in found} == {"paragraph"}
        assert found[0].text == "One."

    def test_sections_in_a_laid_out_table_are_sections(self) -> None:
        """A heading with text below it in a cell is a page in a frame."""
        data = word(
            table(
                tr(tc(heading("Left"), "One."), tc(heading("Right"), "Two.")),
                tr(tc("Three."), tc("Four.")),
            )
        )

        assert texts(data) == ["# Left", "One.", "# Right", "Two.", "Three.", "Four."]

    def test_a_caption_above_goes_with_its_table(self) -> None:
        """It is told by its style or by what numbers it, in any language."""
        rows = tr("A", "B"), tr("1", "2")
        data = word(
            p("Tabela ", field("SEQ Tabela \\* ARABIC", "1"), ": Taxas"),
            table(*rows),
            p("Resumo", style="Beschriftung"),
            table(*rows),
        )

        shown = "|  |  |\n| --- | --- |\n| A | B |\n| 1 | 2 |"
        assert texts(data) == [f"Tabela 1: Taxas\n\n{shown}", f"Resumo\n\n{shown}"]

    def test_the_caption_of_a_figure_stays_a_paragraph(self) -> None:
        """It stands above a table by chance."""
        caption = p("Figure ", field("SEQ Figure \\* ARABIC", "1"), ": A duck")
        data = word(caption, table(tr("A", "B"), tr("1", "2")))

        assert texts(data)[0] == "Figure 1: A duck"

    def test_tables_without_text_are_nothing(self) -> None:
        """They are lines on a page."""
        assert texts(word(table(tr("", ""), tr("", "")), p("One."))) == ["One."]


class TestOtherBlocks:
    """Styles that mean code or quotations make such blocks."""

    def test_neighbours_in_a_code_style_are_one_block(self) -> None:
        """Indentation and blank lines survive."""
        tab = "<w:r><w:tab/><w:t>return a</w:t></w:r>"
        data = word(
            p("def f(a):", style="SourceCode"),
            p("    b = a", style="SourceCode"),
            p(tab, style="SourceCode"),
        )

        assert texts(data) == ["```\ndef f(a):\n    b = a\n\treturn a\n```"]

    def test_neighbours_in_a_quotation_style_are_one_quotation(self) -> None:
        """Its paragraphs stay apart."""
        data = word(p("One.", style="Quote"), p("Two.", style="Quote"), p("Three."))

        assert texts(data) == ["One.\n\nTwo.", "Three."]


class TestNotes:
    """Notes stand behind the block that refers to them, once each."""

    NOTES = (
        '<w:footnote w:id="-1" w:type="separator">{0}</w:footnote>'
        '<w:footnote w:id="1">{1}</w:footnote><w:footnote w:id="2">{2}</w:footnote>'
    )

    def reference(self, number: int, kind: str = "footnote") -> str:
        """Write a reference to a note."""
        return f'<w:r><w:{kind}Reference w:id="{number}"/></w:r>'

    def test_a_note_follows_the_block_that_refers_to_it(self) -> None:
        """Its label is its place in the order of references."""
        data = word(
            p("See", self.reference(2), "."),
            p("Next."),
            parts={"footnotes.xml": self.NOTES.format(p("-"), p("No."), p("Yes."))},
        )

        assert texts(data) == ["See[^1].", "[^1]: Yes.", "Next."]

    def test_notes_of_a_list_or_table_follow_it_whole(self) -> None:
        """Neither is cut in two by a note."""
        data = word(
            table(tr("A", "B"), tr(tc(p("1", self.reference(1))), "2")),
            p("one", self.reference(2), num="1/0"),
            p("two", num="1/0"),
            parts={
                "footnotes.xml": self.NOTES.format(p("-"), p("In."), p("On.")),
                "numbering.xml": CLAUSES,
            },
        )

        kinds = [block.kind for block in blocks(read(data, "doc.docx").document)]

        assert kinds == ["table", "footnote", "list", "footnote"]

    def test_the_title_of_a_section_has_no_note_in_it(self) -> None:
        """The heading's line keeps the mark."""
        data = word(
            p("Fees", self.reference(1), style="berschrift1"),
            parts={"footnotes.xml": self.NOTES.format(p("-"), p("In."), p("On."))},
        )

        document = read(data, "doc.docx").document

        assert document.root.children[0].title == "Fees"
        assert texts(data) == ["# Fees[^1]", "[^1]: In."]

    def test_notes_that_refer_to_each_other_come_once(self) -> None:
        """A circle ends where it closes."""
        first = p("One", self.reference(2))
        second = p("two", self.reference(1))
        data = word(
            p("See", self.reference(1)),
            parts={"footnotes.xml": self.NOTES.format(p("-"), first, second)},
        )

        assert texts(data) == ["See[^1]", "[^1]: One[^2]", "[^2]: two[^1]"]

    def test_endnotes_beside_footnotes_have_labels_of_their_own(self) -> None:
        """Alone they count like footnotes."""
        endnotes = f'<w:endnote w:id="1">{p("End.")}</w:endnote>'
        reference = self.reference(1, "endnote")
        both = {
            "footnotes.xml": self.NOTES.format(p("-"), p("Foot."), p("")),
            "endnotes.xml": endnotes,
        }

        alone = texts(word(p("A", reference), parts={"endnotes.xml": endnotes}))
        beside = texts(word(p("A", reference, self.reference(1)), parts=both))

        assert alone == ["A[^1]", "[^1]: End."]
        assert beside == ["A[^e1][^1]", "[^e1]: End.", "[^1]: Foot."]

    def test_notes_without_a_reference_and_references_without_a_note(self) -> None:
        """Both are left out, and said."""
        data = word(
            p("A", self.reference(1), self.reference(9)),
            parts={"footnotes.xml": self.NOTES.format(p("-"), p("In."), p("On."))},
        )

        warnings = read(data, "doc.docx").warnings

        assert texts(data) == ["A[^1]", "[^1]: In."]
        assert warnings == (
            "1 reference to a note that the file does not hold was left out",
            "1 note that nothing refers to was left out",
        )


def test_strict_files_are_read_like_others() -> None:
    """Word's strict format differs in its namespaces."""
    body = (
        heading("Rules"),
        p("One.", num="1/0"),
        table(tr("A", "B"), tr("1", "2")),
    )

    usual = tree(word(*body, parts={"numbering.xml": CLAUSES}))
    strict = tree(word(*body, parts={"numbering.xml": CLAUSES}, strict=True))

    assert strict == usual
    assert "list '1. One.'" in strict


def test_the_version_does_not_change_when_a_file_is_saved_anew() -> None:
    """Revision marks of editing sessions are no text."""
    before = word(p("One."))
    after = word(p("One.").replace("<w:p>", '<w:p w:rsidR="00AB12CD">'))

    versions = {read(data, "doc.docx").document.version for data in (before, after)}

    assert len(versions) == 1
