"""EPUB: the pages of a book become one document."""

from __future__ import annotations

import zipfile
from io import BytesIO
from typing import TYPE_CHECKING

import pytest

from situate.errors import ReadError
from situate.readers import Limits, ReaderOptions, passages, read
from tests.readers.trees import blocks, show

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

CONTAINER = """<?xml version="1.0"?><container version="1.0"
  xmlns="urn:oasis:names:tc:opendocument:xmlns:container"><rootfiles>
  <rootfile full-path="OEBPS/content.opf" media-type="application/oebps-package+xml"/>
  </rootfiles></container>"""

METADATA = """<dc:title> The
  Sea </dc:title><dc:language>en-GB</dc:language><dc:creator>A. Author</dc:creator>
  <dc:subject>Ships</dc:subject><meta property="effective_from">2025-01-01</meta>
  <meta name="doc_type" content="novel"/>"""

NAVIGATION = """<html xmlns="http://www.w3.org/1999/xhtml"><body><nav>
  <h2>Contents</h2><ol><li><a href="one.xhtml">Chapter <b>one</b></a></li>
  <li><a href="two%20b.xhtml#x">Chapter two</a></li></ol></nav></body></html>"""

NCX = """<!DOCTYPE ncx PUBLIC "-//NISO//DTD ncx 2005-1//EN" "ncx.dtd">
  <ncx xmlns="http://www.daisy.org/z3986/2005/ncx/"><docTitle><text>Book</text></docTitle>
  <navMap><navPoint><navLabel><text>Chapter one</text></navLabel>
  <content src="one.xhtml#a"/></navPoint></navMap></ncx>"""


def page(body: str) -> str:
    """Write a page of a book."""
    return f"""<?xml version="1.0" encoding="utf-8"?>
      <html xmlns="http://www.w3.org/1999/xhtml"><head><title/></head>
      <body>{body}</body></html>"""


def book(
    pages: Mapping[str, str],
    *,
    spine: Sequence[str] | None = None,
    metadata: str = "",
    others: Mapping[str, str] | None = None,
) -> bytes:
    """Pack a book; without a `spine` its pages come in their order."""
    order = list(pages) if spine is None else spine
    items = "".join(
        f'<item id="i{number}" href="{name}" media-type="{_type(name)}" '
        f'properties="{name.removesuffix(".xhtml")}"/>'
        for number, name in enumerate(pages)
    )
    ids = {name: f"i{number}" for number, name in enumerate(pages)}
    refs = "".join(f'<itemref idref="{ids.get(name, name)}"/>' for name in order)
    package = f"""<?xml version="1.0"?><package xmlns="http://www.idpf.org/2007/opf"
      xmlns:dc="http://purl.org/dc/elements/1.1/" version="3.0"><metadata>{metadata}
      </metadata><manifest>{items}</manifest><spine>{refs}</spine></package>"""
    files = {
        "mimetype": "application/epub+zip",
        "META-INF/container.xml": CONTAINER,
        "OEBPS/content.opf": package,
        **{f"OEBPS/{name.replace('%20', ' ')}": text for name, text in pages.items()},
        **(others or {}),
    }
    packed = BytesIO()
    with zipfile.ZipFile(packed, "w") as archive:
        for name, text in files.items():
            archive.writestr(name, text)
    return packed.getvalue()


def _type(name: str) -> str:
    types = {"ncx": "application/x-dtbncx+xml", "png": "image/png"}
    return types.get(name.rpartition(".")[2], "application/xhtml+xml")


def tree(data: bytes) -> list[str]:
    """Read a book and write its tree."""
    return show(read(data, "book.epub").document).split("\n")


def test_pages_are_read_in_the_order_of_the_spine() -> None:
    """Whatever their order in the archive or the manifest."""
    data = book(
        {"b.xhtml": page("<h1>B</h1><p>two</p>"), "a.xhtml": page("<h1>A</h1>one")},
        spine=["a.xhtml", "b.xhtml"],
    )

    assert tree(data) == [
        "a A",
        "  heading '# A'",
        "  paragraph 'one'",
        "b B",
        "  heading '# B'",
        "  paragraph 'two'",
    ]
    assert list(passages(data, "book.epub")) == ["A", "one", "B", "two"]


def test_a_page_without_a_heading_goes_on_where_the_one_before_ended() -> None:
    """Converters cut long chapters into files."""
    data = book({"a.xhtml": page("<h1>A</h1>one"), "b.xhtml": page("<p>two</p>")})

    assert tree(data)[-1] == "  paragraph 'two'"
    assert tree(data)[0] == "a A"


@pytest.mark.parametrize(
    "contents", [{"nav.xhtml": NAVIGATION}, {"toc.ncx": NCX}], ids=["EPUB 3", "EPUB 2"]
)
def test_the_contents_name_pages_without_a_heading(contents: dict[str, str]) -> None:
    """At the level of the headings that other pages begin with."""
    pages = {
        "start.xhtml": page("<h2>Start</h2>zero"),
        "one.xhtml": page("<p>one</p>"),
        **contents,
    }

    found = tree(book(pages, spine=["start.xhtml", "one.xhtml"]))

    assert found == [
        "start Start",
        "  heading '## Start'",
        "  paragraph 'zero'",
        "chapter-one Chapter one",
        "  heading '## Chapter one'",
        "  paragraph 'one'",
    ]


def test_references_may_be_percent_encoded() -> None:
    """Spaces in file names are written as %20."""
    pages = {"two%20b.xhtml": page("<p>two</p>"), "nav.xhtml": NAVIGATION}

    assert tree(book(pages, spine=["two%20b.xhtml"])) == [
        "chapter-two Chapter two",
        "  heading '# Chapter two'",
        "  paragraph 'two'",
    ]


def test_the_table_of_contents_is_no_content() -> None:
    """In the spine it is left out and counted."""
    pages = {"nav.xhtml": NAVIGATION, "one.xhtml": page("<h1>One</h1>")}

    result = read(book(pages), "book.epub")

    assert [block.text for block in blocks(result.document)] == ["# One"]
    assert result.warnings == (
        "left out 5 words of navigation, page footers and controls",
    )
    assert list(passages(book(pages), "book.epub")) == ["One"]


def test_a_book_of_nothing_but_contents_is_read() -> None:
    """Better than an empty document."""
    data = book({"nav.xhtml": NAVIGATION})

    result = read(data, "book.epub")

    assert [block.text for block in blocks(result.document)] == [
        "## Contents",
        "1. Chapter one\n2. Chapter two",
    ]
    assert result.warnings == (
        "all text stands in menus or hidden elements and was read",
    )
    assert next(iter(passages(data, "book.epub"))) == "Contents"


def test_the_package_says_what_the_book_is() -> None:
    """Title and language always, other properties when they are asked for."""
    data = book({"a.xhtml": page("<p>one</p>")}, metadata=METADATA)
    options = ReaderOptions(keep=("creator",))

    metadata = read(data, "book.epub", options=options).document.metadata

    assert (metadata.title, metadata.language) == ("The Sea", "en-GB")
    assert (metadata.doc_type, metadata.effective_from) == ("novel", "2025-01-01")
    assert metadata.custom == {"creator": "A. Author"}


def test_missing_pages_are_warned_of() -> None:
    """In the manifest or in the archive."""
    data = book({"a.xhtml": page("<p>one</p>")}, spine=["a.xhtml", "lost", "gone"])

    result = read(data, "book.epub")

    assert result.warnings == ("2 documents that its spine names are missing",)


def test_without_a_spine_pages_are_read_as_they_are_listed() -> None:
    """Nothing of a book is lost because nobody said in which order it is read."""
    data = book({"a.xhtml": page("<p>one</p>"), "b.xhtml": page("two")}, spine=[])

    result = read(data, "book.epub")

    assert [block.text for block in blocks(result.document)] == ["one", "two"]
    assert result.warnings == (
        "has no reading order; its pages were read as they are listed",
    )


def test_pictures_in_the_spine_have_no_text() -> None:
    """A cover may be a picture alone."""
    data = book({"cover.png": "\x89PNG", "a.xhtml": page("<p>one</p>")})

    assert tree(data) == ["_top", "  paragraph 'one'"]


def test_contents_that_cannot_be_read_do_not_cost_the_book() -> None:
    """They only name pages."""
    pages = {"a.xhtml": page("<p>one</p>"), "toc.ncx": "<ncx><navMap>"}

    result = read(book(pages, spine=["a.xhtml"]), "book.epub")

    assert [block.text for block in blocks(result.document)] == ["one"]
    assert result.warnings == (
        "the table of contents cannot be read; no names were taken",
    )


def test_a_protected_book_is_refused() -> None:
    """Encrypted pages are noise; encrypted fonts do not matter."""
    encryption = """<encryption xmlns="urn:oasis:names:tc:opendocument:xmlns:container"
      xmlns:enc="http://www.w3.org/2001/04/xmlenc#"><enc:EncryptedData><enc:CipherData>
      <enc:CipherReference URI="OEBPS/{}"/></enc:CipherData></enc:EncryptedData>
      </encryption>"""
    pages = {"a.xhtml": page("<p>one</p>"), "font.otf": ""}

    def protected(name: str) -> bytes:
        others = {"META-INF/encryption.xml": encryption.format(name)}
        return book(pages, spine=["a.xhtml"], others=others)

    assert tree(protected("font.otf"))[-1] == "  paragraph 'one'"
    with pytest.raises(
        ReadError, match=r"^book\.epub: is protected \(DRM\): .*a\.xht"
    ) as caught:
        read(protected("a.xhtml"), "book.epub")
    assert caught.value.refusal == "encrypted"


ENTITIES = '<!DOCTYPE p [<!ENTITY a "aaaaaaaaaa"><!ENTITY b "&a;&a;&a;">]>'


@pytest.mark.parametrize(
    ("others", "message"),
    [
        ({"META-INF/container.xml": ""}, "'META-INF/container.xml' in it is no XML"),
        ({"OEBPS/content.opf": "<package>"}, "'OEBPS/content.opf' in it is no XML"),
        (
            {"OEBPS/content.opf": ENTITIES + "<package>&b;</package>"},
            "'OEBPS/content.opf' in it declares the entity 'a', which no book needs",
        ),
        ({"OEBPS/a.xhtml": "%PDF-1.7"}, "'OEBPS/a.xhtml' in it: found a PDF"),
    ],
    ids=["container", "package", "entities", "page"],
)
def test_a_broken_file_in_a_book_is_named(others: dict[str, str], message: str) -> None:
    """The line begins with the book."""
    data = book({"a.xhtml": page("<p>one</p>")}, others=others)

    with pytest.raises(ReadError) as caught:
        read(data, "book.epub")

    assert str(caught.value).startswith(f"book.epub: {message}")


def test_what_is_no_book_is_refused() -> None:
    """Text by a wrong name, and an archive of something else."""
    packed = BytesIO()
    with zipfile.ZipFile(packed, "w") as archive:
        archive.writestr("word/document.xml", "<document/>")

    with pytest.raises(
        ReadError, match=r"^book\.epub: is no EPUB file, which is a ZIP"
    ):
        read(b"# Markdown", "book.epub")
    with pytest.raises(ReadError, match=r"^book\.epub: is no EPUB file: META-INF"):
        read(packed.getvalue(), "book.epub")
    with pytest.raises(ReadError, match=r"^book\.epub: is a broken ZIP archive"):
        read(b"PK\x03\x04" + b"x" * 100, "book.epub")


def test_the_elements_of_all_pages_count_together() -> None:
    """A bomb is not defused by cutting it into pages."""
    pages = {f"{n}.xhtml": page("<p>x</p>" * 10) for n in range(10)}
    options = ReaderOptions(limits=Limits(max_elements=100))

    with pytest.raises(ReadError, match=r"^book\.epub: has more than 100 elements"):
        read(book(pages), "book.epub", options=options)
