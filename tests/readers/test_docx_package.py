"""The package of a Word file: what it says about itself, and what is refused."""

from __future__ import annotations

import builtins
import tracemalloc
from typing import TYPE_CHECKING

import pytest

from situate.errors import ReadError
from situate.model import Metadata
from situate.readers import Limits, ReaderOptions, read
from situate.readers.options import MEGABYTE
from tests.readers.docx_files import (
    MAIN,
    NAMESPACES,
    STYLES,
    document,
    heading,
    levels,
    p,
    r,
    relationships,
    table,
    tc,
    tr,
    word,
    xml,
    zipped,
)
from tests.readers.trees import blocks

if TYPE_CHECKING:
    from types import ModuleType

_CORE = (
    'xmlns:cp="http://schemas.openxmlformats.org/package/2006/metadata/core-properties"'
    ' xmlns:dc="http://purl.org/dc/elements/1.1/"'
)
_TYPES = "http://schemas.openxmlformats.org/officeDocument/2006"


MARGINS = {
    "header1.xml": p("Version 3"),
    "header2.xml": p("Version 3"),
    "footer1.xml": p("4"),
}


def core(**properties: str) -> str:
    """Write the core properties, those of Dublin Core under its prefix."""
    own = {"category", "keywords", "lastModifiedBy"}
    each = "".join(
        f"<{prefix}:{name}>{value}</{prefix}:{name}>"
        for name, value in properties.items()
        for prefix in ["cp" if name in own else "dc"]
    )
    return xml(f"<cp:coreProperties {_CORE}>{each}</cp:coreProperties>")


def custom(**properties: tuple[str, str]) -> str:
    """Write custom properties, each a type and a value."""
    each = "".join(
        f'<property pid="2" name="{name.replace("_", " ").title()}">'
        f"<vt:{kind}>{value}</vt:{kind}></property>"
        for name, (kind, value) in properties.items()
    )
    return xml(
        f'<Properties xmlns="{_TYPES}/custom-properties" '
        f'xmlns:vt="{_TYPES}/docPropsVTypes">{each}</Properties>'
    )


def metadata(data: bytes, options: ReaderOptions | None = None) -> Metadata:
    """Read a file's metadata."""
    options = options or ReaderOptions()
    return read(data, "doc.docx", doc_type="memo", options=options).document.metadata


def refusal(data: bytes, options: ReaderOptions | None = None) -> str:
    """Give the one line that a refused file gets."""
    with pytest.raises(ReadError) as caught:
        read(data, "doc.docx", options=options or ReaderOptions())
    message = str(caught.value)
    assert message.startswith("doc.docx: ")
    assert "\n" not in message
    return message


class TestProperties:
    """Title, type, dates and language come from the package."""

    def test_custom_properties_are_fields(self) -> None:
        """However their names are spelled; a date may be a time."""
        data = word(
            p("One."),
            properties={
                "core.xml": core(title="Key policy", category="Rules"),
                "custom.xml": custom(
                    doc_type=("lpwstr", "policy"),
                    effective_from=("filetime", "2025-07-01T00:00:00Z"),
                    effective_to=("lpwstr", "2027-06-30"),
                    doc_id=("lpwstr", "keys"),
                    version=("lpwstr", "1.10"),
                ),
            },
        )

        found = read(data, "doc.docx").document

        assert (found.doc_id, found.version) == ("keys", "1.10")
        assert found.metadata == Metadata(
            title="Key policy",
            doc_type="policy",
            effective_from="2025-07-01",
            effective_to="2027-06-30",
            source="doc.docx",
        )

    def test_the_category_is_a_type_where_none_is_named(self) -> None:
        """What the document says goes before what it is called with."""
        data = word(p("One."), properties={"core.xml": core(category="Rules")})

        assert metadata(data).doc_type == "Rules"
        assert metadata(word(p("One."))).doc_type == "memo"

    @pytest.mark.parametrize(
        "nothing",
        ["Microsoft Word - fees.docx", "Dokument1", "untitled", "fees_v2.doc", " "],
    )
    def test_what_programs_put_for_a_title_is_none(self, nothing: str) -> None:
        """Then the document's own title counts."""
        properties = {"core.xml": core(title=nothing)}

        assert metadata(word(p("x"), properties=properties)).title is None
        titled = word(p("Fees", style="Titel"), properties=properties)
        assert metadata(titled).title == "Fees"

    def test_a_date_that_is_none_is_said_and_kept(self) -> None:
        """Nobody guesses which number is the month."""
        properties = {"custom.xml": custom(effective_from=("lpwstr", "1/7/2025"))}

        found = read(word(p("One."), properties=properties), "doc.docx")

        assert found.document.metadata.custom == {"effective_from": "1/7/2025"}
        assert found.warnings[0].startswith("document properties: effective_from")

    def test_other_properties_travel_only_where_they_are_asked_for(self) -> None:
        """Names of people do not slip into an index."""
        data = word(
            p("One."),
            properties={
                "core.xml": core(creator="Ada", subject="Keys"),
                "custom.xml": custom(owner=("lpwstr", "North"), pages=("i4", "7")),
            },
        )

        kept = metadata(data, ReaderOptions(keep=("subject", "Owner", "Pages", "None")))

        assert metadata(data).custom == {}
        assert kept.custom == {"subject": "Keys", "Owner": "North", "Pages": 7}

    def test_broken_properties_cost_no_text(self) -> None:
        """They are said to be broken."""
        found = read(word(p("One."), properties={"core.xml": "<x"}), "doc.docx")

        assert blocks(found.document)[0].text == "One."
        assert found.warnings == ("its properties are broken and were not read",)

    @pytest.mark.parametrize(
        ("named", "usual", "runs", "language"),
        [
            pytest.param("de-AT", "en-US", "", "de-AT", id="named"),
            pytest.param("German text", "en-US", "", "en-US", id="not-a-tag"),
            pytest.param("", "en-US", '<w:lang w:val="de-DE"/>', "de-DE", id="of-runs"),
            pytest.param("", "", "", None, id="unknown"),
        ],
    )
    def test_the_language_is_that_of_most_of_the_text(
        self, named: str, usual: str, runs: str, language: str | None
    ) -> None:
        """Unless the author names one; the default is only that of the program."""
        defaults = (
            f'<w:docDefaults><w:rPrDefault><w:rPr><w:lang w:val="{usual}"/></w:rPr>'
            "</w:rPrDefault></w:docDefaults>"
        )
        data = word(
            p(r("Ein langer Satz.", runs), "Short."),
            parts={"styles.xml": defaults + STYLES},
            properties={"core.xml": core(language=named)},
        )

        assert metadata(data).language == language

    def test_a_script_tells_which_of_the_languages_counts(self) -> None:
        """Word names one for East Asian text beside the usual one."""
        both = '<w:lang w:val="en-US" w:eastAsia="ja-JP"/>'

        assert metadata(word(p(r("利用規約", both)))).language == "ja-JP"


class TestMargins:
    """Headers and footers of pages are no text."""

    def test_they_are_left_out_and_said(self) -> None:
        """A page number is no loss."""
        found = read(word(p("One."), parts=MARGINS), "doc.docx")

        assert [block.text for block in blocks(found.document)] == ["One."]
        assert found.warnings == (
            "1 page header or footer was left out; keep page_headers and "
            "page_footers to have it as metadata",
        )

    def test_they_are_metadata_where_they_are_asked_for(self) -> None:
        """A version or a date often stands there; equal ones once."""
        options = ReaderOptions(keep=("page_headers", "page_footers"))

        found = metadata(word(p("One."), parts=MARGINS), options)

        assert found.custom == {"page_headers": ["Version 3"], "page_footers": ["4"]}


class TestRefusals:
    """What is no Word file, or a hostile one, gets one clear line."""

    @pytest.mark.parametrize(
        ("data", "said"),
        [
            pytest.param(b"", "is empty", id="empty"),
            pytest.param(b"Just text.", "is no Word file", id="text"),
            pytest.param(b"\xef\xbb\xbf<html>", "found markup", id="html"),
            pytest.param(b"{\\rtf1 x}", "found an RTF document", id="rtf"),
            pytest.param(
                b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + bytes(99), "(.doc)", id="old-word"
            ),
            pytest.param(
                b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"
                + "EncryptedPackage".encode("utf-16-le"),
                "is encrypted",
                id="encrypted",
            ),
            pytest.param(
                zipped(
                    {
                        "_rels/.rels": relationships(
                            [("officeDocument", "xl/workbook.xml")]
                        ),
                        "xl/workbook.xml": "<workbook/>",
                    }
                ),
                "is an Excel workbook",
                id="excel",
            ),
            pytest.param(
                zipped({"META-INF/container.xml": "<container/>"}),
                "is an EPUB book",
                id="epub",
            ),
            pytest.param(
                zipped({"mimetype": "application/vnd.oasis.opendocument.text"}),
                "is an OpenDocument file",
                id="open-document",
            ),
            pytest.param(zipped({"a.txt": "x"}), "without a Word document", id="zip"),
            pytest.param(zipped({MAIN: ""}), "is broken XML", id="no-xml"),
            pytest.param(zipped({MAIN: "<w:document"}), "is broken XML", id="broken"),
            pytest.param(zipped({MAIN: "<a/>"}), "is no Word document", id="other-xml"),
        ],
    )
    def test_what_is_no_word_file(self, data: bytes, said: str) -> None:
        """The line says what it is."""
        assert said in refusal(data)

    @pytest.mark.parametrize("encoding", ["utf-8", "utf-16", "utf-7"])
    def test_document_types_are_refused(self, encoding: str) -> None:
        """No entity is ever defined, so none can grow or reach outside."""
        text = (
            f'<?xml version="1.0" encoding="{encoding}"?>'
            '<!DOCTYPE w:document [<!ENTITY a SYSTEM "file:///etc/hostname">]>'
            f"<w:document {NAMESPACES}><w:body><w:p><w:r><w:t>&a;</w:t></w:r></w:p>"
            "</w:body></w:document>"
        )

        assert "document type" in refusal(zipped({MAIN: text.encode(encoding)}))

    def test_deep_nesting_is_refused(self) -> None:
        """libxml2 stops at 256 levels, and so do we."""
        said = refusal(word("<w:sdt>" * 10_000 + "</w:sdt>" * 10_000))

        assert "nests deeper than 256 levels" in said

    def test_a_text_beyond_the_parser_is_refused(self) -> None:
        """Nobody writes ten million characters into one run."""
        assert "more than 10 MB" in refusal(word(p("x" * 11_000_000)))

    @pytest.mark.parametrize(
        "body",
        [
            pytest.param("<w:p/>" * 2_000, id="elements"),
            pytest.param(
                "<w:p {}/>".format(" ".join(f'a{n}=""' for n in range(3_000))),
                id="attributes",
            ),
        ],
    )
    def test_large_trees_are_refused_before_they_are_built(self, body: str) -> None:
        """Elements take a hundred times the memory of their letters."""
        options = ReaderOptions(limits=Limits(max_elements=1_000))

        assert "more than 1,000 elements or 2,000 attributes" in refusal(
            word(body), options
        )

    def test_an_element_of_many_attributes_is_read(self) -> None:
        """Listing them takes lxml the square of their number: a minute for these."""
        many = " ".join(f'a{n}=""' for n in range(100_000))
        data = word(p("One.").replace("<w:p>", f"<w:p {many}>"))

        assert blocks(read(data, "doc.docx").document)[0].text == "One."

    def test_a_missing_library_is_named(self, monkeypatch: pytest.MonkeyPatch) -> None:
        """With the command that installs it."""
        load = builtins.__import__

        def without(name: str, *rest: object) -> ModuleType:
            if name == "lxml":
                raise ImportError(name)
            return load(name, *rest)  # type: ignore[arg-type]  # passed on as they came

        monkeypatch.setattr(builtins, "__import__", without)

        assert refusal(word(p("One."))) == (
            "doc.docx: reading .docx files needs lxml; "
            "install it with: pip install 'situate[docx]'"
        )


class TestPackages:
    """Parts are found as the package says."""

    def test_the_main_part_may_have_any_name(self) -> None:
        """Some writers put it elsewhere; names may differ in their case."""
        data = zipped(
            {
                "_rels/.rels": relationships([("officeDocument", "/Word/doc2.xml")]),
                "word/Doc2.xml": document(p("See", "<w:r><w:t>n</w:t></w:r>")),
                "word/_rels/doc2.xml.rels": relationships([("styles", "../s.xml")]),
                "s.xml": xml(f"<w:styles {NAMESPACES}>{STYLES}</w:styles>"),
            }
        )

        assert blocks(read(data, "doc.docx").document)[0].text == "Seen"

    def test_a_package_without_relationships_is_read_by_usual_names(self) -> None:
        """Little programs leave them out."""
        data = zipped(
            {
                MAIN: document(heading("Head")),
                "word/styles.xml": xml(f"<w:s {NAMESPACES}>{STYLES}</w:s>"),
            }
        )

        assert blocks(read(data, "doc.docx").document)[0].kind == "heading"

    @pytest.mark.parametrize("extension", ["docx", "docm", "dotx", "dotm"])
    def test_variants_of_the_format_are_read_alike(self, extension: str) -> None:
        """Macros and templates change nothing about the text."""
        found = read(word(p("One.")), f"doc.{extension}")

        assert blocks(found.document)[0].text == "One."


class TestGrowth:
    """Small files do not become large trees."""

    @pytest.mark.parametrize(
        "data",
        [
            pytest.param(
                word(table(*(tr(tc("x", span=100_000)) for _ in range(1_000)))),
                id="wide-cells",
            ),
            pytest.param(
                word(
                    *(p("x", num="1/0") for _ in range(1_000)),
                    parts={
                        "numbering.xml": levels(f"upperRoman {'%1' * 50_000}").replace(
                            'w:start w:val="1"', 'w:start w:val="999999999"'
                        )
                    },
                ),
                id="long-numbers",
            ),
            pytest.param(
                word(
                    table(
                        tr("A", "B"),
                        tr(tc("label " * 800, merge="restart"), "1"),
                        *(tr(tc(merge="continue"), "2") for _ in range(1_000)),
                    )
                ),
                id="long-labels",
            ),
            pytest.param(
                word(
                    *(
                        p("x", num=f"{n}/0", properties=f'<w:ind w:left="{n * 200}"/>')
                        for n in range(1, 1_000)
                    )
                ),
                id="deep-lists",
            ),
            pytest.param(
                word(
                    table(
                        *(tr("x", properties="<w:tblHeader/>") for _ in range(1_000)),
                        tr("y"),
                    )
                ),
                id="endless-header",
            ),
        ],
    )
    def test_the_tree_stays_a_few_times_the_file(self, data: bytes) -> None:
        """Spans, numbers, labels and levels have limits."""
        found = read(data, "doc.docx").document

        written = sum(len(block.text) for block in blocks(found))
        assert written < 4 * len(data)

    def test_reading_takes_memory_in_proportion(self) -> None:
        """Python's share of it; libxml2's tree is bounded by its elements."""
        small, large = (
            word(*(p("Some text.") for _ in range(n))) for n in (100, 1_000)
        )

        peaks = []
        for data in (small, large):
            tracemalloc.start()
            read(data, "doc.docx")
            peaks.append(tracemalloc.get_traced_memory()[1])
            tracemalloc.stop()

        assert peaks[1] < 15 * peaks[0]
        assert peaks[1] < 10 * MEGABYTE
