"""How bytes become the text that spans count."""

from __future__ import annotations

import codecs
import hashlib

import pytest

from situate.errors import ReadError
from situate.readers.decoding import clean, decode

GERMAN = "Der Zähler steht im Keller.\nPrüfung: jährlich.\n"
CHINESE = "仓库管理办法，自发布之日起施行。\n差异超过百分之二时，应当上报。\n"


@pytest.mark.parametrize("text", [GERMAN, CHINESE], ids=["German", "Chinese"])
@pytest.mark.parametrize(
    ("mark", "encoding"),
    [
        (b"", "utf-8"),
        (codecs.BOM_UTF8, "utf-8"),
        (codecs.BOM_UTF16_LE, "utf-16-le"),
        (codecs.BOM_UTF16_BE, "utf-16-be"),
        (codecs.BOM_UTF32_LE, "utf-32-le"),
        (codecs.BOM_UTF32_BE, "utf-32-be"),
        (b"", "utf-16-le"),
        (b"", "utf-16-be"),
        (b"", "utf-32-le"),
        (b"", "utf-32-be"),
    ],
)
def test_unicode_is_recognised_with_and_without_a_mark(
    mark: bytes, encoding: str, text: str
) -> None:
    """A byte-order mark is dropped; without one zero bytes tell the width."""
    decoded = decode(mark + text.encode(encoding), "doc.txt")

    assert decoded.text == text
    assert decoded.warnings == ()


def test_windows_1252_is_the_last_resort_and_warned_of() -> None:
    """Old Western files keep their dashes, quotes and euro signs."""
    text = "The café – run by Mrs Müller – costs 2 €. “Fresh” bread."

    decoded = decode(text.encode("cp1252"), "doc.txt")

    assert decoded.text == text
    assert "Windows-1252" in decoded.warnings[0]


@pytest.mark.parametrize("ending", ["\r\n", "\r", "\n"], ids=["CRLF", "CR", "LF"])
def test_line_ends_are_made_one(ending: str) -> None:
    """Windows, old Macintosh and Unix files give the same text."""
    assert decode(f"a{ending}b{ending}".encode(), "doc.txt").text == "a\nb\n"


def test_a_stray_zero_byte_does_not_turn_text_into_ideographs() -> None:
    """UTF-8 with a NUL is not UTF-16, wherever the NUL stands."""
    for position in range(8):
        text = "0123456789 the meter shows seventeen units\n"
        text = text[:position] + "\0" + text[position:]
        assert decode(text.encode(), "doc.md").text == text


@pytest.mark.parametrize(
    ("data", "found"),
    [
        (b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR", "a PNG image"),
        (b"%PDF-1.7\n1 0 obj", "a PDF"),
        (b"PK\x03\x04\x14\0", "a ZIP archive"),
        (b"{\\rtf1\\ansi", "an RTF document"),
        (bytes(range(32)) * 20, "binary data"),
        (
            b"".join(hashlib.sha256(bytes([n])).digest() for n in range(99)),
            "neither UTF-8",
        ),
        ("Привет, мир. Как дела?".encode("cp1251") * 9, "neither UTF-8"),
        ("中文测试文档，内容如下。".encode("gbk") * 9, "neither UTF-8"),
        (codecs.BOM_UTF16_LE + b"a\0\x00\xd8b\0", "UTF-16"),
    ],
    ids=[
        "PNG",
        "PDF",
        "ZIP",
        "RTF",
        "controls",
        "noise",
        "Cyrillic code page",
        "Chinese code page",
        "broken UTF-16",
    ],
)
def test_what_is_no_text_is_refused_by_name(data: bytes, found: str) -> None:
    """The message starts with the file and says what was found."""
    with pytest.raises(ReadError, match=r"^notes/photo\.md: ") as caught:
        decode(data, "notes/photo.md")

    assert found in str(caught.value)


@pytest.mark.parametrize(
    ("text", "cleaned"),
    [
        ("a\0b\x1b[0m\x7f\x9f", "ab[0m"),
        ("page\x0cnext\x0bline\x85end", "page next line end"),
        ("\ufeffmark\ud800", "mark"),
        ("a\tb\nc \u200d\u00a0\u2028", "a\tb\nc \u200d\u00a0\u2028"),
    ],
    ids=["removed", "separators become a space", "marks and surrogates", "kept"],
)
def test_control_characters_leave_a_field(text: str, cleaned: str) -> None:
    """Those that part words leave a space; tabs and line breaks are no noise."""
    assert clean(text) == cleaned
