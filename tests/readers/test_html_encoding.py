"""HTML says what encoding it is in, and is not always right."""

from __future__ import annotations

import codecs

import pytest

from situate.errors import ReadError
from situate.readers import passages, read
from situate.readers.html.charset import codec
from tests.readers.trees import blocks

GERMAN = "Prüfung für 5 €"
JAPANESE = "規則は四月一日から"


def text(data: bytes) -> str:
    """Read a page of one paragraph."""
    (block,) = blocks(read(data, "doc.html").document)
    assert "".join(passages(data, "doc.html")) == block.text
    return block.text


@pytest.mark.parametrize(
    ("label", "encoding", "said"),
    [
        ("utf-8", "utf-8", GERMAN),
        ("ISO-8859-1", "cp1252", GERMAN),
        ("windows-1252", "cp1252", GERMAN),
        ("iso-8859-15", "iso8859-15", GERMAN),
        ("koi8-r", "koi8-r", "Правила действуют"),
        ("windows-1251", "cp1251", "Правила действуют"),
        ("Shift_JIS", "cp932", JAPANESE),
        ("iso-2022-jp", "iso2022_jp", JAPANESE),
        ("euc-jp", "euc_jp", JAPANESE),
        ("gb2312", "gb18030", "仓库管理办法"),
        ("big5", "big5hkscs", "倉庫管理辦法"),
        ("ks_c_5601-1987", "cp949", "규칙은 사월"),
        ("windows-874", "cp874", "ระเบียบ"),
        ("x-mac-cyrillic", "mac_cyrillic", "Правила"),
    ],
)
@pytest.mark.parametrize(
    "declaration",
    [
        '<meta charset="{}">',
        "<meta name=x content=y><META CharSet={} >",
        '<meta http-equiv="Content-Type" content="text/html; charset={}">',
        '<?xml version="1.0" encoding="{}"?>',
    ],
    ids=["charset", "unquoted", "http-equiv", "XML"],
)
def test_the_label_decides(
    declaration: str, label: str, encoding: str, said: str
) -> None:
    """Labels mean what browsers take them for."""
    page = declaration.format(label) + f"<p>{said}</p>"

    result = read(page.encode(encoding), "doc.html")

    assert [block.text for block in blocks(result.document)] == [said]
    assert result.warnings == ()


@pytest.mark.parametrize(
    ("mark", "encoding"),
    [
        (codecs.BOM_UTF8, "utf-8"),
        (codecs.BOM_UTF16_LE, "utf-16-le"),
        (codecs.BOM_UTF16_BE, "utf-16-be"),
    ],
)
def test_a_byte_order_mark_wins_over_the_label(mark: bytes, encoding: str) -> None:
    """As the HTML standard has it."""
    page = f'<meta charset="windows-1251"><p>{GERMAN}</p>'

    assert text(mark + page.encode(encoding)) == GERMAN


def test_a_label_of_utf_16_that_can_be_read_means_utf_8() -> None:
    """Were it true, the label itself could not be read byte by byte."""
    assert text(f'<meta charset="utf-16"><p>{GERMAN}</p>'.encode()) == GERMAN


def test_letters_that_are_utf_8_are_utf_8_whatever_the_label() -> None:
    """Saved pages keep the label of what they were made from."""
    data = f'<meta charset="windows-1251"><p>{GERMAN}</p>'.encode()

    result = read(data, "doc.html")

    assert [block.text for block in blocks(result.document)] == [GERMAN]
    assert result.warnings == (
        "says that it is cp1251 but is UTF-8, and was read as that",
    )


def test_single_wrong_bytes_do_not_turn_the_rest_into_gibberish() -> None:
    """They become replacement characters, and are counted."""
    data = '<meta charset="utf-8"><p>für '.encode() + b"5 \x80</p>"

    result = read(data, "doc.html")

    assert [block.text for block in blocks(result.document)] == ["für 5 \ufffd"]
    assert result.warnings == (
        "1 bytes do not fit utf-8, which it says it is in, and became replacement "
        "characters",
    )


@pytest.mark.parametrize("head", [b"", b'<meta charset="utf-8">', b"<meta charset=no>"])
def test_without_a_true_label_windows_1252_is_the_last_resort(head: bytes) -> None:
    """With the warning that text files get."""
    data = head + f"<p>{GERMAN}</p>".encode("cp1252")

    result = read(data, "doc.html")

    assert [block.text for block in blocks(result.document)] == [GERMAN]
    assert "Windows-1252" in result.warnings[0]


def test_a_replacement_character_of_the_author_is_no_wrong_byte() -> None:
    """It is a character like any other."""
    result = read('<meta charset="utf-8"><p>\ufffd</p>'.encode(), "doc.html")

    assert result.warnings == ()


def test_labels_in_comments_and_far_below_count_for_nothing() -> None:
    """Only what a browser would find is found."""
    data = b'<!-- <meta charset="koi8-r"> -->' + f"<p>{GERMAN}</p>".encode()

    assert text(data) == GERMAN


@pytest.mark.parametrize(
    "label", ["rot13", "hex", "punycode", "unicode_escape", "idna", "utf-7", "", "no"]
)
def test_python_has_codecs_that_are_no_encodings(label: str) -> None:
    """A document cannot choose them."""
    assert codec(label) is None


@pytest.mark.parametrize(
    ("data", "found"),
    [
        (b"%PDF-1.7 ...", "found a PDF"),
        (b"PK\x03\x04rest", "found a ZIP archive"),
        (bytes(range(256)) * 8, "is neither UTF-8"),
        (b"<meta charset=utf-8>\xc3\xa9" + bytes(range(256)) * 8, "is neither UTF-8"),
        (b"<p>" + bytes(range(32)) * 8, "found binary data"),
    ],
    ids=["PDF", "ZIP", "noise", "noise with a label", "controls"],
)
def test_what_is_no_text_is_refused(data: bytes, found: str) -> None:
    """One line names the file and what it is."""
    with pytest.raises(ReadError, match=rf"^doc\.html: {found}"):
        read(data, "doc.html")
