"""PDF: broken and hostile files cost one clear line, and no more than a limit."""

from __future__ import annotations

import re
import sys
import zlib

import pytest

from situate.errors import ReadError
from situate.readers import Limits, ReaderOptions, passages, read
from tests.readers.pdf_files import HEIGHT, Sheet, Tag, Text, pdf, prose
from tests.readers.trees import blocks

SENTENCE = "The pump of the plant runs by night and rests by day."


def with_outline(links: list[str]) -> bytes:
    """Write a page with bookmarks; `{n}` in a link is the number of the nth."""
    data = pdf(prose(SENTENCE), catalog="/Outlines 900 0 R")
    numbers = {f"n{index}": 901 + index for index in range(len(links))}
    objects = [f"900 0 obj << /First {numbers['n0']} 0 R >> endobj"]
    objects += [
        f"{901 + index} 0 obj << /Title (t{index}) {link.format(**numbers)} >> endobj"
        for index, link in enumerate(links)
    ]
    # Without a table of its objects a file is searched for them.
    body = data[: data.rindex(b"xref")].rpartition(b"xref")[0] or data
    return body + "\n".join(objects).encode() + b"\ntrailer << /Root 1 0 R >>\n"


@pytest.mark.parametrize(
    ("data", "message"),
    [
        pytest.param(b"", "is no PDF", id="empty"),
        pytest.param(b"PK\x03\x04 a Word file", "is no PDF", id="other-file"),
        pytest.param(b"%PDF-1.7", "is a broken PDF", id="signature-alone"),
        pytest.param(b"%PDF-1.7\n" + bytes(range(256)) * 40, "is a broken", id="noise"),
        pytest.param(pdf(prose(SENTENCE))[:300], "is a broken PDF", id="cut-off"),
    ],
)
def test_what_is_no_pdf_is_one_clear_line(data: bytes, message: str) -> None:
    """Both readings say the same."""
    with pytest.raises(ReadError, match=rf"^doc\.pdf: {message}"):
        read(data, "doc.pdf")
    with pytest.raises(ReadError, match=rf"^doc\.pdf: {message}"):
        list(passages(data, "doc.pdf"))


def test_an_encrypted_file_asks_for_one_without_a_password() -> None:
    """There is no way to give one."""
    key = "<" + "28" * 32 + ">"
    encrypt = f"/Filter /Standard /V 1 /R 2 /O {key} /U {key} /P -1"
    data = pdf(prose(SENTENCE)).replace(
        b"/Root 1 0 R", f"/Root 1 0 R /Encrypt << {encrypt} >> /ID [<00> <00>]".encode()
    )

    with pytest.raises(
        ReadError, match=r"^doc\.pdf: is encrypted; save it without"
    ) as caught:
        read(data, "doc.pdf")

    assert caught.value.refusal == "encrypted"


def test_a_missing_library_names_the_command(monkeypatch: pytest.MonkeyPatch) -> None:
    """The extra is not part of the core install."""
    monkeypatch.setitem(sys.modules, "pypdfium2", None)

    with pytest.raises(ReadError, match=r"pip install 'situate\[pdf\]'$"):
        read(pdf(prose(SENTENCE)), "doc.pdf")


def test_more_pages_than_the_limit_are_refused() -> None:
    """Before any of them is read."""
    data = pdf(*[prose(SENTENCE)] * 3)

    with pytest.raises(ReadError, match=r"^doc\.pdf: has 3 pages, the limit is 2"):
        read(data, "doc.pdf", options=ReaderOptions(limits=Limits(max_pages=2)))


def test_a_page_that_cannot_be_read_costs_itself_alone() -> None:
    """The others are read, and it is named."""
    data = pdf(prose(SENTENCE)).replace(b"/Count 1", b"/Count 3")

    found = read(data, "doc.pdf")

    assert len(blocks(found.document)) == 1
    assert found.warnings == ("pages 2-3 cannot be read and were left out",)


@pytest.mark.parametrize(
    "layers", [pytest.param(1, id="packed"), pytest.param(2, id="packed-twice")]
)
def test_content_that_unpacks_beyond_the_limit_is_refused(layers: int) -> None:
    """Pdfium would unpack all of it at once."""
    packed = b" " * 3_000_000
    for _ in range(layers):
        packed = zlib.compress(packed)
    filters = "/FlateDecode " * layers
    head = f"<< /Length {len(packed)} /Filter [{filters}] >>\nstream\n".encode()
    bomb = b"990 0 obj\n" + head + packed + b"\nendstream\nendobj\n"
    data = pdf(prose(SENTENCE)) + bomb

    limits = Limits(max_unpacked_bytes=1_000_000)

    with pytest.raises(ReadError, match=r"^doc\.pdf: unpacks to more than 1,000,000"):
        read(data, "doc.pdf", options=ReaderOptions(limits=limits))


def test_a_page_of_more_characters_than_paper_holds_is_refused() -> None:
    """It would take gigabytes as a tree."""
    content = "BT /plain 1 Tf 50 700 Td " + f"({'ab' * 15_000}) Tj " * 17 + "ET"

    with pytest.raises(ReadError, match=r"^doc\.pdf: has 510,000 characters on page 1"):
        read(pdf(Sheet(content=content)), "doc.pdf")


@pytest.mark.parametrize(
    "links",
    [
        pytest.param(["/First {n0} 0 R"], id="below-itself"),
        pytest.param(["/Next {n1} 0 R", "/Next {n0} 0 R"], id="circle"),
    ],
)
def test_bookmarks_in_circles_come_to_an_end(links: list[str]) -> None:
    """Each is read once."""
    assert len(blocks(read(with_outline(links), "doc.pdf").document)) == 1


def test_tags_in_circles_come_to_an_end() -> None:
    """An element below itself says nothing more."""
    text = Text(text=SENTENCE, mark=0)
    data = pdf([text], tags=[Tag(kind="P", inside=[(0, 0)])])
    number = re.search(rb"(\d+) 0 obj\n<< /Type /StructElem", data)
    assert number is not None

    circle = data.replace(b"/K [<< /Type", b"/K [%b 0 R << /Type" % number[1])

    assert [b.text for b in blocks(read(circle, "doc.pdf").document)] == [SENTENCE]


def test_tags_that_nest_without_end_are_read_to_a_depth() -> None:
    """What lies deeper is text without tags, not lost."""
    tag = Tag(kind="P", inside=[(0, 0)])
    for _ in range(3_000):
        tag = Tag(kind="Sect", inside=[tag])
    data = pdf([Text(text=SENTENCE, mark=0)], tags=[tag])

    assert [b.text for b in blocks(read(data, "doc.pdf").document)] == [SENTENCE]


@pytest.mark.parametrize(
    "matrix",
    ["1e38 1e38 -1e38 1e38 1e38 1e38", "0 0 0 0 50 700", "1e-38 0 0 1e-38 50 700"],
)
def test_text_of_impossible_size_stops_nothing(matrix: str) -> None:
    """Infinite edges are outside of every page."""
    content = f"BT /plain 1e20 Tf {matrix} Tm (boom) Tj ET"

    found = read(pdf(Sheet(texts=prose(SENTENCE), content=content)), "doc.pdf")

    assert SENTENCE in blocks(found.document)[-1].text


def test_a_page_of_no_size_is_read() -> None:
    """Pdfium shows such a page as a letter, and so do boxes."""
    data = pdf(prose(SENTENCE)).replace(
        b"[0 0 600 %d]" % HEIGHT, b"[0 0 0 0]".ljust(len(b"[0 0 600 800]"))
    )

    assert len(blocks(read(data, "doc.pdf").document)) == 1


def test_thousands_of_scattered_words_take_no_square_of_time() -> None:
    """A drawing is read as it is drawn."""
    words = "\n".join(
        f"BT /plain 4 Tf {number * 37 % 590} {number * 91 % 790} Td (w{number}) Tj ET"
        for number in range(4_000)
    )

    found = read(pdf(Sheet(content=words)), "doc.pdf")

    said = " ".join(block.text for block in blocks(found.document)).split()
    assert len(said) == 4_000
