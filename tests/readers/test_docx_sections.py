"""The sections, numbers and lists of a Word file."""

from __future__ import annotations

import pytest

from situate.readers import read
from tests.readers.docx_files import (
    CLAUSES,
    STYLES,
    box,
    heading,
    levels,
    p,
    table,
    tc,
    texts,
    tr,
    tree,
    word,
)
from tests.readers.trees import blocks


def numbered(*levels_used: int, numbering: str) -> list[str]:
    """Give the first words of the items that paragraphs at these levels make."""
    data = word(
        *(p("x", num=f"1/{level}") for level in levels_used),
        parts={"numbering.xml": numbering},
    )
    lines = "\n".join(texts(data)).split("\n")
    return [line.split()[0] for line in lines]


def style(style_id: str, name: str, inside: str = "") -> str:
    """Write a paragraph style."""
    return (
        f'<w:style w:type="paragraph" w:styleId="{style_id}">'
        f'<w:name w:val="{name}"/>{inside}</w:style>'
    )


class TestHeadings:
    """Outline levels and styles make sections."""

    def test_localized_styles_are_known_by_their_english_names(self) -> None:
        """The id is in the language of the program, the name is not."""
        data = word(heading("Rules"), p("One."), heading("Noise", 2), p("Two."))

        shown = tree(data)

        assert shown == (
            "rules Rules\n"
            "  heading '# Rules'\n"
            "  paragraph 'One.'\n"
            "rules/noise Rules > Noise\n"
            "  heading '## Noise'\n"
            "  paragraph 'Two.'"
        )

    @pytest.mark.parametrize(
        ("defined", "is_heading"),
        [
            pytest.param(
                style("X", "Clause", '<w:basedOn w:val="berschrift1"/>'),
                True,
                id="based-on-heading",
            ),
            pytest.param(
                style("X", "Clause", '<w:pPr><w:outlineLvl w:val="3"/></w:pPr>'),
                True,
                id="outline-level",
            ),
            pytest.param(style("X", "Nadpis [2]"), True, id="localized-name"),
            pytest.param(
                style(
                    "X",
                    "TOC Heading",
                    '<w:basedOn w:val="berschrift1"/>'
                    '<w:pPr><w:outlineLvl w:val="9"/></w:pPr>',
                ),
                False,
                id="body-text-level",
            ),
            pytest.param(style("X", "Heading style notes"), False, id="other-name"),
            pytest.param(
                style("X", "A", '<w:basedOn w:val="Y"/>')
                + style("Y", "B", '<w:basedOn w:val="X"/>'),
                False,
                id="circle",
            ),
        ],
    )
    def test_a_style_makes_a_heading_by_ancestry(
        self, defined: str, is_heading: bool
    ) -> None:
        """What a style does not say it inherits; body text is no heading."""
        data = word(p("Head", style="X"), parts={"styles.xml": STYLES + defined})

        (block,) = blocks(read(data, "doc.docx").document)

        assert (block.kind == "heading") is is_heading

    def test_a_paragraph_overrules_its_style(self) -> None:
        """An outline level of its own makes or unmakes a heading."""
        data = word(
            p("Head", properties='<w:outlineLvl w:val="1"/>'),
            p("None", style="berschrift1", properties='<w:outlineLvl w:val="9"/>'),
        )

        kinds = [block.kind for block in blocks(read(data, "doc.docx").document)]

        assert kinds == ["heading", "paragraph"]

    def test_styles_that_the_file_does_not_define_count_by_their_ids(self) -> None:
        """Programs that write little leave the style part out."""
        data = word(p("Head", style="Heading2"), parts={"styles.xml": ""})

        assert blocks(read(data, "doc.docx").document)[0].kind == "heading"

    def test_the_title_stands_above_all_headings(self) -> None:
        """Its lines are one heading, and Heading 1 is one level below."""
        data = word(
            p("House", style="Titel"),
            p("Rules", style="Titel"),
            heading("Noise"),
            p("None."),
        )

        read_ = read(data, "doc.docx")

        assert read_.document.metadata.title == "House"
        assert "House Rules > Noise" in tree(data)

    def test_what_only_looks_like_a_title_is_none(self) -> None:
        """Authors and subtitles are often based on Title for its looks."""
        author = style("Autor", "Author", '<w:basedOn w:val="Titel"/>')
        data = word(
            p("A. Person", style="Autor"), parts={"styles.xml": STYLES + author}
        )

        assert blocks(read(data, "doc.docx").document)[0].kind == "paragraph"

    def test_empty_headings_make_no_section(self) -> None:
        """They space a page; a break inside does not make them say more."""
        data = word(
            heading(""), p("<w:r><w:br/></w:r>", style="berschrift1"), p("One.")
        )

        assert tree(data) == "_top\n  paragraph 'One.'"

    def test_headings_in_tables_and_boxes_are_content(self) -> None:
        """A section begins in the text, not beside it."""
        data = word(
            p("Text.", box(heading("Aside"))),
            table(tr(tc(heading("Name")), tc(heading("Fee"))), tr("Key", "5")),
        )

        kinds = [block.kind for block in blocks(read(data, "doc.docx").document)]

        assert kinds == ["paragraph", "paragraph", "table"]


class TestNumbering:
    """Numbers that Word computes are read as it shows them."""

    def test_headings_carry_their_numbers(self) -> None:
        """A style may bring the numbering, its level tied to the style."""
        numbering = CLAUSES.replace(
            '<w:lvlText w:val="%1.%2"/>',
            '<w:pStyle w:val="berschrift2"/><w:lvlText w:val="%1.%2"/>',
        )
        styles = STYLES.replace(
            '<w:pPr><w:outlineLvl w:val="0"/>',
            '<w:pPr><w:numPr><w:numId w:val="1"/></w:numPr><w:outlineLvl w:val="0"/>',
        )
        data = word(
            heading("Terms"),
            heading("Liability"),
            heading("Cap", 2),
            heading(""),
            heading("End"),
            parts={"styles.xml": styles, "numbering.xml": numbering},
        )

        # The empty heading takes number 3, as it does on the page.
        assert texts(data) == ["# 1. Terms", "# 2. Liability", "## 2.1 Cap", "# 4. End"]

    @pytest.mark.parametrize(
        ("used", "numbering", "expected"),
        [
            pytest.param(
                (0, 1, 1, 0, 1),
                CLAUSES,
                ["1.", "1.1", "1.2", "2.", "2.1"],
                id="lower-levels-restart",
            ),
            pytest.param((1, 0), CLAUSES, ["1.1", "1."], id="upper-level-never-used"),
            pytest.param(
                (0, 1, 0, 1),
                CLAUSES.replace(
                    '<w:lvlText w:val="%1.%2"/>',
                    '<w:lvlRestart w:val="0"/><w:lvlText w:val="%1.%2"/>',
                ),
                ["1.", "1.1", "2.", "2.2"],
                id="never-restarts",
            ),
            pytest.param(
                (0, 1),
                levels("upperRoman %1.", "decimal %1.%2").replace(
                    '<w:lvlText w:val="%1.%2"/>',
                    '<w:isLgl/><w:lvlText w:val="%1.%2"/>',
                ),
                ["I.", "1.1"],
                id="legal-form",
            ),
            pytest.param(
                (0, 0),
                CLAUSES.replace(
                    "</w:num>",
                    '<w:lvlOverride w:ilvl="0"><w:startOverride w:val="5"/>'
                    "</w:lvlOverride></w:num>",
                ),
                ["5.", "6."],
                id="start-override",
            ),
            pytest.param((0, 999), CLAUSES, ["1.", "-"], id="level-beyond-the-ninth"),
            pytest.param((0,), "", ["-"], id="definition-lost"),
            pytest.param((0,), levels("bullet o"), ["-"], id="bullet"),
        ],
    )
    def test_levels_count_as_word_counts(
        self, used: tuple[int, ...], numbering: str, expected: list[str]
    ) -> None:
        """Starts, restarts, overrides and forms come from the definition."""
        assert numbered(*used, numbering=numbering) == expected

    def test_a_numbering_style_lends_its_definition(self) -> None:
        """An abstract numbering may point to another through a style."""
        numbering = levels(
            "upperLetter %1)",
            abstract="7",
            extra=(
                '<w:abstractNum w:abstractNumId="8"><w:numStyleLink w:val="L"/>'
                '</w:abstractNum><w:num w:numId="2"><w:abstractNumId w:val="8"/>'
                "</w:num>"
            ),
        )
        linked = (
            '<w:style w:type="numbering" w:styleId="L"><w:pPr><w:numPr>'
            '<w:numId w:val="1"/></w:numPr></w:pPr></w:style>'
        )
        data = word(
            p("x", num="2/0"),
            parts={"numbering.xml": numbering, "styles.xml": STYLES + linked},
        )

        assert texts(data) == ["A) x"]

    def test_a_numbering_style_that_points_to_itself_ends(self) -> None:
        """What leads nowhere numbers nothing, and is read."""
        numbering = (
            '<w:abstractNum w:abstractNumId="7"><w:numStyleLink w:val="L"/>'
            '</w:abstractNum><w:num w:numId="1"><w:abstractNumId w:val="7"/></w:num>'
        )
        linked = (
            '<w:style w:type="numbering" w:styleId="L"><w:pPr><w:numPr>'
            '<w:numId w:val="1"/></w:numPr></w:pPr></w:style>'
        )
        data = word(
            p("x", num="1/0"),
            parts={"numbering.xml": numbering, "styles.xml": STYLES + linked},
        )

        assert texts(data) == ["- x"]

    def test_numbering_zero_takes_a_number_off(self) -> None:
        """A paragraph says so where its style is numbered."""
        styles = STYLES.replace(
            '<w:pPr><w:outlineLvl w:val="0"/>',
            '<w:pPr><w:numPr><w:numId w:val="1"/></w:numPr><w:outlineLvl w:val="0"/>',
        )
        data = word(
            p("Annex", style="berschrift1", num="0/0"),
            parts={"styles.xml": styles, "numbering.xml": CLAUSES},
        )

        assert texts(data) == ["# Annex"]


class TestLists:
    """Neighbours with numbers or bullets are lists."""

    def test_lists_nest_by_level(self) -> None:
        """An item holds the list below it; empty paragraphs do not end one."""
        data = word(
            p("The desk answers:"),
            p("calls;", num="1/0"),
            p("letters", num="1/1"),
            p(""),
            p("mail.", num="1/0"),
            p("Done."),
            parts={"numbering.xml": levels("decimal %1.", "lowerLetter (%2)")},
        )

        assert tree(data) == (
            "_top\n"
            "  paragraph 'The desk answers:'\n"
            "  list '1. calls;\\n   (a) letters\\n2. mail.'\n"
            "    item '1. calls;\\n   (a) letters'\n"
            "      paragraph 'calls;'\n"
            "      list '(a) letters'\n"
            "        item '(a) letters'\n"
            "    item '2. mail.'\n"
            "  paragraph 'Done.'"
        )

    def test_numbers_go_on_after_an_interruption(self) -> None:
        """A list between two paragraphs is a block, its count is the numbering's."""
        data = word(
            p("one", num="1/0"),
            p("Between."),
            p("two", num="1/0"),
            parts={"numbering.xml": CLAUSES},
        )

        assert texts(data) == ["1. one", "Between.", "2. two"]

    def test_a_numbering_of_its_own_nests_by_indent(self) -> None:
        """Bullets below a number often come from another definition."""
        second = levels("bullet o", abstract="8").replace('w:numId="1"', 'w:numId="2"')
        numbering = CLAUSES + second.replace('w:left="720"', 'w:left="1440"')
        data = word(
            p("one", num="1/0"),
            p("dot", num="2/0"),
            p("two", num="1/0"),
            parts={"numbering.xml": numbering},
        )

        assert texts(data) == ["1. one\n   - dot\n2. two"]

    def test_lists_of_two_numberings_are_two_blocks(self) -> None:
        """Where both stand at the margin, neither holds the other."""
        second = levels("lowerLetter %1)", abstract="8").replace(
            'w:numId="1"', 'w:numId="2"'
        )
        data = word(
            p("one", num="1/0"),
            p("a", num="2/0"),
            parts={"numbering.xml": CLAUSES + second},
        )

        assert texts(data) == ["1. one", "a) a"]

    def test_indented_list_paragraphs_go_on_in_the_item(self) -> None:
        """Word calls them List Paragraph and gives them no number."""
        data = word(
            p("one", num="1/0"),
            p("More of it.", style="Listenabsatz"),
            p("two", num="1/0"),
            p("Not of it."),
            parts={"numbering.xml": CLAUSES},
        )

        assert texts(data) == ["1. one\n\n   More of it.\n2. two", "Not of it."]

    def test_text_below_a_blank_bullet_goes_on_in_the_item(self) -> None:
        """Some writers mark continued items with a bullet nobody sees."""
        blank = levels("bullet  ", abstract="8").replace('w:numId="1"', 'w:numId="2"')
        data = word(
            p("one", num="1/0"),
            p("More of it.", num="2/0"),
            parts={"numbering.xml": CLAUSES + blank},
        )

        assert texts(data) == ["1. one\n\n   More of it."]

    def test_styles_named_for_lists_make_lists(self) -> None:
        """The numbering part may be missing; the style's name says enough."""
        data = word(
            p("one", style="ListBullet"),
            p("in it", style="ListBullet2"),
            parts={"styles.xml": ""},
        )

        assert texts(data) == ["- one\n  - in it"]
