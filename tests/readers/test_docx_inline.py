"""What stands inside the paragraphs of a Word file, each word once."""

from __future__ import annotations

import pytest

from situate.errors import ReadError
from situate.readers import ReaderOptions, passages, read
from tests.readers.docx_files import (
    box,
    field,
    p,
    picture,
    r,
    table,
    tc,
    texts,
    tr,
    word,
)
from tests.readers.trees import blocks

ORIGINAL = ReaderOptions(tracked_changes="original")


def changed(kind: str, *inside: str) -> str:
    """Write a tracked change."""
    said = "".join(part if part.startswith("<") else r(part) for part in inside)
    if kind == "del":
        said = said.replace("<w:t ", "<w:delText ").replace("</w:t>", "</w:delText>")
    return f'<w:{kind} w:id="1" w:author="A">{said}</w:{kind}>'


def math(*inside: str) -> str:
    """Write a formula."""
    return f"<m:oMath>{''.join(inside)}</m:oMath>"


def m(text: str) -> str:
    """Write a run of a formula."""
    return f"<m:r><m:t>{text}</m:t></m:r>"


def part(name: str, *inside: str) -> str:
    """Write a part of a formula; what is no XML becomes a run."""
    each = (each if each.startswith("<") else m(each) for each in inside)
    return f"<m:{name}>{''.join(each)}</m:{name}>"


class TestRuns:
    """Text is read wherever Word puts it."""

    @pytest.mark.parametrize(
        ("inside", "expected"),
        [
            pytest.param(
                ("See ", f'<w:hyperlink r:id="x">{r("the list")}</w:hyperlink>', "."),
                "See the list.",
                id="link",
            ),
            pytest.param(
                (
                    "For ",
                    '<w:sdt><w:sdtPr><w:alias w:val="Client"/></w:sdtPr>'
                    f"<w:sdtContent>{r('Harbour')}</w:sdtContent></w:sdt>",
                    ".",
                ),
                "For Harbour.",
                id="content-control",
            ),
            pytest.param(
                (f"<w:smartTag><w:customXml>{r('May')}</w:customXml></w:smartTag>",),
                "May",
                id="smart-tag",
            ),
            pytest.param(
                (
                    f"<w:ruby><w:rt>{r('kan')}</w:rt>"
                    f"<w:rubyBase>{r('漢')}</w:rubyBase></w:ruby>",
                ),
                "漢(kan)",
                id="ruby",
            ),
            pytest.param(("a", "<w:r><w:tab/></w:r>", "b"), "a b", id="tab"),
            pytest.param(("a", "<w:r><w:br/></w:r>", "b"), "a\nb", id="line-break"),
            pytest.param(
                ("e", "<w:r><w:noBreakHyphen/></w:r>", "mail"), "e-mail", id="hyphen"
            ),
            pytest.param(
                ("mo", "<w:r><w:softHyphen/></w:r>", "re"), "more", id="soft-hyphen"
            ),
            pytest.param(
                ('<w:r><w:sym w:font="Wingdings" w:char="F0FC"/></w:r>',),
                "✓",
                id="symbol",
            ),
            pytest.param(
                (r("\uf062", '<w:rFonts w:ascii="Symbol"/>'),),
                "β",
                id="text-in-a-symbol-font",
            ),
            pytest.param(("a \u0085 b",), "a b", id="controls"),
            pytest.param(
                (
                    '<w:r><w:fldChar w:fldCharType="begin"><w:ffData><w:checkBox>'
                    '<w:default w:val="0"/><w:checked/></w:checkBox></w:ffData>'
                    '</w:fldChar><w:fldChar w:fldCharType="end"/></w:r>',
                    " yes",
                ),
                "☒ yes",
                id="check-box",
            ),
            pytest.param(
                (
                    '<w:r><w:fldChar w:fldCharType="begin"><w:ffData><w:ddList>'
                    '<w:result w:val="1"/><w:listEntry w:val="tea"/>'
                    '<w:listEntry w:val="milk"/></w:ddList></w:ffData></w:fldChar>'
                    '<w:fldChar w:fldCharType="end"/></w:r>',
                ),
                "milk",
                id="drop-down",
            ),
        ],
    )
    def test_every_kind_of_run_is_read(
        self, inside: tuple[str, ...], expected: str
    ) -> None:
        """Links without targets, breaks, hyphens, symbols, form fields."""
        assert texts(word(p(*inside))) == [expected]

    def test_symbols_nobody_knows_are_said(self) -> None:
        """A private code of an unknown font stands for nothing."""
        unknown = '<w:r><w:sym w:font="Wingdings 9" w:char="F0FC"/></w:r>'

        found = read(word(p("a", unknown, unknown)), "doc.docx")

        assert found.warnings == (
            "2 symbols of fonts without Unicode names were left out",
        )

    def test_hidden_text_is_kept_and_said(self) -> None:
        """It is text of the file, and nobody sees it on the page."""
        found = read(word(p("a", r("b", "<w:vanish/>"))), "doc.docx")

        assert blocks(found.document)[0].text == "ab"
        assert found.warnings == ("1 run of hidden text was kept",)

    def test_a_dropped_letter_begins_the_paragraph_below_it(self) -> None:
        """Word sets it in a paragraph of its own."""
        frame = '<w:framePr w:dropCap="drop" w:lines="3"/>'

        assert texts(word(p("O", properties=frame), p("nce."))) == ["Once."]

    def test_text_outside_of_paragraphs_is_read(self) -> None:
        """Formulas may stand there, and broken files put runs there."""
        data = word(p("One."), math(m("x=1")), r("Loose."), p("Two."))

        assert texts(data) == ["One.", "x=1 Loose.", "Two."]
        assert list(passages(data, "doc.docx")) == ["One.", "x=1", "Loose.", "Two."]


class TestOnce:
    """What a file holds twice is read once."""

    def test_a_text_box_stands_behind_the_paragraph_that_holds_it(self) -> None:
        """Word writes every box in two forms, and boxes into boxes."""
        inner = box(p("Inner."))
        data = word(p("Before ", box(p("Box.", inner)), "and after."), p("Next."))

        assert texts(data) == ["Before and after.", "Box.", "Inner.", "Next."]

    def test_the_older_form_is_read_where_there_is_no_other(self) -> None:
        """Some programs write only that."""
        only = f"<mc:AlternateContent><mc:Fallback>{r('Old.')}</mc:Fallback>"

        assert texts(word(p(f"{only}</mc:AlternateContent>"))) == ["Old."]

    def test_of_two_choices_the_first_is_read(self) -> None:
        """They are forms of the same content."""
        choices = "".join(f"<mc:Choice>{r(text)}</mc:Choice>" for text in "ab")
        data = word(p(f"<mc:AlternateContent>{choices}</mc:AlternateContent>"))

        assert texts(data) == ["a"]

    def test_shapes_and_diagrams_say_their_texts(self) -> None:
        """Those of a diagram lie in a part of its own."""
        said = "<a:p><a:r><a:t>Shape.</a:t></a:r></a:p>"
        shape = f"<w:r><w:drawing><a:txBody>{said}</a:txBody></w:drawing></w:r>"
        diagram = '<w:r><w:drawing><dgm:relIds r:dm="data1"/></w:drawing></w:r>'
        data = word(
            p("One.", shape),
            p(diagram),
            parts={"data1.xml": "<dgm:t><a:t>top</a:t></dgm:t><a:t>bottom</a:t>"},
        )

        assert texts(data) == ["One.", "Shape.", "top bottom"]


class TestFields:
    """A field shows its result; its code is no text."""

    def test_codes_are_left_out_and_results_kept(self) -> None:
        """Whether the field is written in one element or in several."""
        simple = f'<w:fldSimple w:instr=" PAGE ">{r("4")}</w:fldSimple>'
        data = word(p("Page ", field(" PAGEREF _Toc1 ", "12"), " or ", simple))

        assert texts(data) == ["Page 12 or 4"]

    def test_fields_in_codes_are_code(self) -> None:
        """A condition holds the value that it looks at."""
        inner = field(" MERGEFIELD Who ", "M")
        begin = '<w:r><w:fldChar w:fldCharType="begin"/></w:r>'
        separate = '<w:r><w:fldChar w:fldCharType="separate"/></w:r>'
        end = '<w:r><w:fldChar w:fldCharType="end"/></w:r>'
        data = word(p(begin, inner, separate, "Dear Sir", end, ", hello"))

        assert texts(data) == ["Dear Sir, hello"]
        assert list(passages(data, "doc.docx")) == ["Dear Sir, hello"]

    def test_a_field_may_reach_over_paragraphs(self) -> None:
        """A table of contents does."""
        begin = '<w:r><w:fldChar w:fldCharType="begin"/></w:r>'
        code = "<w:r><w:instrText>TOC</w:instrText></w:r>"
        separate = '<w:r><w:fldChar w:fldCharType="separate"/></w:r>'
        end = '<w:r><w:fldChar w:fldCharType="end"/></w:r>'
        data = word(p(begin, code), p(code, separate, "One"), p("Two", end))

        assert texts(data) == ["One", "Two"]

    def test_a_field_that_never_ends_hides_nothing(self) -> None:
        """A broken file costs no text."""
        begin = '<w:r><w:fldChar w:fldCharType="begin"/></w:r>'
        data = word(p(begin, "One."), p("Two."))

        assert texts(data) == ["One.", "Two."]
        assert list(passages(data, "doc.docx")) == ["One.", "Two."]


class TestTrackedChanges:
    """Changes are taken as accepted, as rejected, or refused."""

    BODY = (
        p("The fee is ", changed("del", "900"), changed("ins", "1,200"), " euro."),
        p(changed("moveFrom", "In May.")),
        p("Due in June."),
        p(changed("moveTo", "In May.")),
    )

    def test_accepted_changes_are_read_and_said(self) -> None:
        """Insertions are there, deletions are not, what moved stands once."""
        found = read(word(*self.BODY), "doc.docx")

        shown = [block.text for block in blocks(found.document)]
        assert shown == ["The fee is 1,200 euro.", "Due in June.", "In May."]
        assert found.warnings == (
            "has tracked changes (1 insertion, 1 deletion and 1 move), "
            "read as if all were accepted",
        )

    def test_the_original_is_read_as_if_nothing_had_changed(self) -> None:
        """The other way round."""
        found = texts(word(*self.BODY), ORIGINAL)

        assert found == ["The fee is 900 euro.", "In May.", "Due in June."]

    def test_changes_can_be_refused(self) -> None:
        """A text that is being discussed is not to be indexed."""
        options = ReaderOptions(tracked_changes="refuse")

        with pytest.raises(ReadError) as caught:
            read(word(*self.BODY), "doc.docx", options=options)

        assert str(caught.value).startswith(
            "doc.docx: has tracked changes (1 insertion, 1 deletion and 1 move); "
        )
        assert read(word(p("Same.")), "doc.docx", options=options).warnings == ()

    @pytest.mark.parametrize(
        ("mark", "options", "expected"),
        [
            pytest.param("del", None, ["One two."], id="deleted"),
            pytest.param("del", ORIGINAL, ["One", "two."], id="deletion-rejected"),
            pytest.param("ins", None, ["One", "two."], id="inserted"),
            pytest.param("ins", ORIGINAL, ["One two."], id="insertion-rejected"),
        ],
    )
    def test_paragraphs_join_where_their_border_is_out(
        self, mark: str, options: ReaderOptions | None, expected: list[str]
    ) -> None:
        """Word tracks the ends of paragraphs like letters."""
        border = f'<w:rPr><w:{mark} w:id="1"/></w:rPr>'
        data = word(p("One ", properties=border), p("two."))

        assert texts(data, options) == expected

    def test_a_paragraph_without_an_end_before_a_table_is_kept(self) -> None:
        """There is nothing it could go on in."""
        border = '<w:rPr><w:del w:id="1"/></w:rPr>'
        data = word(p("One.", properties=border), table(tr("A", "B"), tr("1", "2")))

        assert texts(data)[0] == "One."

    def test_deleted_rows_and_cells_are_out(self) -> None:
        """Rows are tracked in their properties, cells too."""
        data = word(
            table(
                tr("A", "B"),
                tr("1", "2", properties='<w:del w:id="1"/>'),
                tr("3", tc("x", properties='<w:cellDel w:id="2"/>'), "4"),
            )
        )

        assert texts(data) == ["|  |  |\n| --- | --- |\n| A | B |\n| 3 | 4 |"]

    def test_what_a_format_was_before_is_not_looked_at(self) -> None:
        """A paragraph that became text is no heading any more."""
        before = '<w:pPrChange w:id="1"><w:pPr><w:pStyle w:val="berschrift1"/></w:pPr>'
        data = word(p("Text.", properties=f"{before}</w:pPrChange>"))

        (block,) = blocks(read(data, "doc.docx").document)

        assert block.kind == "paragraph"


class TestFormulas:
    """Formulas are written in one line, every part of them once."""

    @pytest.mark.parametrize(
        ("formula", "expected"),
        [
            pytest.param(
                part("f", part("num", "a+b"), part("den", "c")),
                "(a+b)/c",
                id="fraction",
            ),
            pytest.param(
                part("sSup", part("e", "x"), part("sup", "2")), "x^2", id="sup"
            ),
            pytest.param(
                part("sSub", part("e", "x"), part("sub", "i+1")), "x_(i+1)", id="sub"
            ),
            pytest.param(part("rad", part("deg"), part("e", "y")), "√(y)", id="root"),
            pytest.param(
                part("rad", part("deg", "3"), part("e", "y")), "√(3&y)", id="cube-root"
            ),
            pytest.param(
                part(
                    "nary",
                    '<m:naryPr><m:chr m:val="∑"/></m:naryPr>',
                    part("sub", "i=1"),
                    part("sup", "n"),
                    part("e", "i"),
                ),
                "∑_(i=1)^n i",
                id="sum",
            ),
            pytest.param(
                part("func", part("fName", "sin"), part("e", "x")),
                "sin x",
                id="function",
            ),
            pytest.param(
                part(
                    "d",
                    '<m:dPr><m:begChr m:val="["/><m:endChr m:val=""/></m:dPr>',
                    part("e", "a"),
                    part("e", "b"),
                ),
                "[a|b",
                id="brackets",
            ),
            pytest.param(
                part(
                    "m",
                    part("mr", part("e", "1"), part("e", "0")),
                    part("mr", part("e", "0"), part("e", "1")),
                ),
                "[1, 0; 0, 1]",
                id="matrix",
            ),
            pytest.param(
                part("limLow", part("e", "lim"), part("lim", "n")), "lim_n", id="limit"
            ),
            pytest.param(part("acc", part("e", "v")), "v\u0302", id="accent"),
            pytest.param(
                part("f", part("num", "a"), part("num", "b")), "ab", id="broken"
            ),
        ],
    )
    def test_a_formula_is_one_line(self, formula: str, expected: str) -> None:
        """A paragraph of formulas alone is a formula."""
        (block,) = blocks(read(word(p(math(formula))), "doc.docx").document)

        assert (block.kind, block.text) == ("math", expected)

    def test_formulas_stand_in_their_sentence(self) -> None:
        """Neighbouring formulas stay apart."""
        data = word(p("With ", math(m("a=b")), math(m("c=d")), "."))

        assert texts(data) == ["With a=b c=d."]


class TestPictures:
    """Pictures are read by their alternative texts."""

    def test_a_picture_alone_is_an_image(self) -> None:
        """Its name is the file's."""
        alone = word(p(picture('descr="A  duck"')))
        beside = word(p("Press ", picture('descr="Save"'), "!"))

        assert texts(alone) == ["![A duck](duck.png)"]
        assert texts(beside) == ["Press Save !"]

    def test_pictures_without_a_text_are_said(self) -> None:
        """Decorative ones are no loss."""
        inside = '<a:ext><adec:decorative val="1"/></a:ext>'
        decorative = picture("").replace("/><a:graphic>", f"/>{inside}<a:graphic>")

        found = read(word(p("One.", picture(""), decorative)), "doc.docx")

        assert found.warnings == ("1 picture without alternative text was left out",)

    def test_pictures_of_older_versions_count_too(self) -> None:
        """Their text stands on the shape around them."""
        old = (
            '<w:r><w:pict><v:shape alt="A goose"><v:imagedata r:id="duck"/></v:shape>'
            "</w:pict></w:r>"
        )

        assert texts(word(p(old))) == ["![A goose](duck.png)"]

    def test_what_is_not_read_is_said(self) -> None:
        """Charts, objects, embedded and linked documents, comments."""
        data = word(
            p(
                "One.",
                "<w:r><w:drawing><c:chart/></w:drawing></w:r>",
                "<w:r><w:object><o:OLEObject/></w:object></w:r>",
                '<w:r><w:commentReference w:id="1"/></w:r>',
            ),
            '<w:altChunk r:id="x"/>',
            '<w:subDoc r:id="x"/>',
        )

        assert read(data, "doc.docx").warnings == (
            "1 chart was not read",
            "1 comment was left out",
            "1 part of the document that lies in another file was not read",
            "1 embedded document (altChunk) was not read; save the file anew in Word",
            "1 embedded object was not read",
        )
