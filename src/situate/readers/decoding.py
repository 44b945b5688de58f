"""Turn the bytes of a text document into characters.

Everything that gives or takes offsets into a source counts in the text made
here: decoded, byte-order mark dropped, line ends made line feeds, nothing
else removed. Control characters leave a document's fields only after offsets are
fixed, with `clean`.
"""

from __future__ import annotations

import codecs
import re
import unicodedata
from dataclasses import dataclass
from typing import TYPE_CHECKING

from situate.errors import ReadError

if TYPE_CHECKING:
    from situate.errors import Refusal

_SIGNATURES = (
    (b"%PDF-", "a PDF"),
    (b"PK\x03\x04", "a ZIP archive (a Word, Excel or EPUB file is one)"),
    (b"\x89PNG\r\n\x1a\n", "a PNG image"),
    (b"\xff\xd8\xff", "a JPEG image"),
    (b"GIF87a", "a GIF image"),
    (b"GIF89a", "a GIF image"),
    (b"\x1f\x8b", "a gzip archive"),
    (b"\xd0\xcf\x11\xe0", "an old Office file"),
    (b"{\\rtf", "an RTF document"),
    (b"\x7fELF", "a program"),
)

_OLD = frozenset({"an old Office file", "an RTF document"})
"""Those of formats that nothing here reads, whatever their files are called."""

# UTF-32 first: its little-endian mark starts with UTF-16's.
_MARKS = (
    (codecs.BOM_UTF32_LE, "utf-32-le"),
    (codecs.BOM_UTF32_BE, "utf-32-be"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)

_CONTROL_BYTES = bytes({*range(32), 127} - {9, 10, 12, 13})

_TAKEN_OUT = bytes({*range(32), 127} - {9, 10})

_ASCII = bytes(range(128))

# Coloured terminal logs stay under 5 % of control characters, random bytes that
# happen to be ASCII have 22 %.
_MAX_CONTROL_SHARE = 0.15

# Western European prose has under 15 % of letters beyond ASCII; a Cyrillic or
# Chinese code page read as Windows-1252 has two thirds and would be gibberish.
_MAX_HIGH_SHARE = 0.4

# Where every tenth character does not fit, the label is for another document.
_MAX_WRONG_SHARE = 0.1

# Too few bytes say nothing about a share.
_MIN_HIGH_BYTES = 16

# Wide encodings show themselves early; a longer look costs and adds nothing.
_SAMPLE_BYTES = 65_536

_REPLACEMENT = "\ufffd"

_SPACE_CONTROLS = re.compile("[\x0b\x0c\x1c-\x1f\x85]")
_CONTROLS = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\ud800-\udfff\ufeff]")


@dataclass(frozen=True, slots=True, kw_only=True)
class Decoded:
    """A document's characters, which spans count."""

    text: str
    controls: bool
    """Whether `clean` has anything to take out of it."""
    warnings: tuple[str, ...] = ()


def decode(data: bytes, source: str, *, declared: str | None = None) -> Decoded:
    """Give the text of `data`, its line ends made line feeds.

    Without a byte-order mark UTF-16 and UTF-32 are recognised by their zero
    bytes, then UTF-8 is tried, then Windows-1252 with a warning. A codec that the
    document says it is in is tried after the zero bytes; where that is wrong, the
    bytes win, with a warning.

    Raises:
        ReadError: it is no text, or in an encoding that cannot be told.
    """
    for signature, name in _SIGNATURES:
        if data.startswith(signature):
            message = f"{source}: found {name}, expected text; name it for what it is"
            refusal: Refusal = "legacy" if name in _OLD else "misnamed"
            raise ReadError(message, refusal=refusal)
    controls = len(data) - len(data.translate(None, _CONTROL_BYTES))
    text, warnings = _characters(data, source, declared, controls)
    if "\r" in text:
        text = text.replace("\r\n", "\n").replace("\r", "\n")
    # The bytes counted leave out form feeds, and say nothing beyond ASCII.
    suspect = controls > 0 or "\f" in text or not text.isascii()
    return Decoded(
        text=text, controls=suspect and has_controls(text), warnings=warnings
    )


def clean(text: str) -> str:
    """Remove control characters, byte-order marks and lone surrogates.

    Those that separate words (form feed, vertical tab, next line, the
    information separators) become a space.
    """
    if not has_controls(text):
        return text
    return _CONTROLS.sub("", _SPACE_CONTROLS.sub(" ", text))


def as_name(text: str) -> str:
    """Give a text as ids and versions are read: cleaned, on one line."""
    return " ".join(clean(text).split())


def has_controls(text: str) -> bool:
    """Say whether `clean` has anything to take out of `text`."""
    if text.isprintable():  # a line is, in most cases
        return False
    # Four times as fast as the pattern, which is left the letters beyond ASCII.
    data = text.encode("utf-8", "surrogatepass")
    if len(data.translate(None, _TAKEN_OUT)) < len(data):
        return True
    if text.isascii():
        return False
    beyond = data.translate(None, _ASCII).decode("utf-8", "surrogatepass")
    return _CONTROLS.search(beyond) is not None


def blank_controls(text: str, blank: str) -> str:
    """Put `blank` in the place of every character that `clean` takes out.

    `blank` is one character, so offsets stay as they are.
    """
    return _CONTROLS.sub(blank, _SPACE_CONTROLS.sub(" ", text))


def _characters(
    data: bytes, source: str, declared: str | None, controls: int
) -> tuple[str, tuple[str, ...]]:
    for mark, encoding in _MARKS:
        if data.startswith(mark) and len(data) % (4 if "32" in encoding else 2) == 0:
            try:
                return data[len(mark) :].decode(encoding), ()
            except UnicodeDecodeError as error:
                message = (
                    f"{source}: starts as {encoding.upper()} but byte "
                    f"{error.start + len(mark)} does not fit; save it as UTF-8"
                )
                raise ReadError(message) from error
    wide = _wide(data)
    if wide is not None:
        return wide, ()
    if controls > _MAX_CONTROL_SHARE * len(data):
        message = (
            f"{source}: found binary data ({controls} of {len(data)} bytes are "
            "control characters), expected text"
        )
        raise ReadError(message, refusal="binary")
    body = data.removeprefix(codecs.BOM_UTF8)
    if declared is not None and body is data:
        said = _as_declared(data, declared)
        if said is not None:
            return said
    try:
        return body.decode("utf-8"), ()
    except UnicodeDecodeError as error:
        return _windows_1252(body, source, error)


def _as_declared(data: bytes, encoding: str) -> tuple[str, tuple[str, ...]] | None:
    """Decode `data` as it says it is, None where that is surely wrong.

    Saved pages keep the label of what they were made from: letters beyond ASCII
    that are valid UTF-8 are UTF-8, whatever the label.
    """
    text = data.decode("utf-8", "replace")
    wrong = text.count(_REPLACEMENT) - data.count(_REPLACEMENT.encode())
    if encoding == "utf-8":
        if wrong and text.replace(_REPLACEMENT, "").isascii():
            return None
    elif wrong or data.isascii():
        text = data.decode(encoding, "replace")
        wrong = text.count(_REPLACEMENT)
    else:
        return text, (f"says that it is {encoding} but is UTF-8, and was read as that",)
    if not wrong:
        return text, ()
    if wrong > _MAX_WRONG_SHARE * len(text):
        return None
    return text, (
        f"{wrong} bytes do not fit {encoding}, which it says it is in, and became "
        "replacement characters",
    )


def _windows_1252(
    data: bytes, source: str, error: UnicodeDecodeError
) -> tuple[str, tuple[str, ...]]:
    high = len(data) - len(data.translate(None, bytes(range(128, 256))))
    try:
        text = data.decode("cp1252")
    except UnicodeDecodeError:
        text = ""
    if not text or (high > _MIN_HIGH_BYTES and high > _MAX_HIGH_SHARE * len(data)):
        message = (
            f"{source}: is neither UTF-8 (byte {error.start} does not fit) nor "
            "Windows-1252; save it as UTF-8, or it is no text"
        )
        raise ReadError(message, refusal="binary") from error
    warning = (
        f"is not UTF-8 (byte {error.start} does not fit) and was read as "
        "Windows-1252; save it as UTF-8 if letters look wrong"
    )
    return text, (warning,)


def _wide(data: bytes) -> str | None:
    """Decode UTF-16 or UTF-32 that carries no mark, None when it is neither."""
    sample = data[:_SAMPLE_BYTES]
    if 0 not in sample:
        return None
    zeros = [sample[offset::4].count(0) for offset in range(4)]
    quarter = len(sample) / 4
    if len(data) % 4 == 0 and min(zeros[2:]) > 0.9 * quarter and zeros[0] == 0:
        return _plausible(data, "utf-32-le")
    if len(data) % 4 == 0 and min(zeros[:2]) > 0.9 * quarter and zeros[3] == 0:
        return _plausible(data, "utf-32-be")
    even, odd = zeros[0] + zeros[2], zeros[1] + zeros[3]
    if len(data) % 2 == 0 and even == 0:
        return _plausible(data, "utf-16-le")
    if len(data) % 2 == 0 and odd == 0:
        return _plausible(data, "utf-16-be")
    return None


def _plausible(data: bytes, encoding: str) -> str | None:
    """Decode `data`, None unless what comes out reads like text.

    UTF-8 with a stray NUL decodes as UTF-16 too, but into a jumble of scripts:
    text has white space, and few code points without a meaning.
    """
    try:
        text = data.decode(encoding)
    except UnicodeDecodeError:
        return None
    sample = text[:2000]
    odd = sum(
        unicodedata.category(character) in {"Cc", "Cn", "Co", "Cs"}
        for character in sample
        if character not in "\t\n\r\f"
    )
    spaces = sum(character in " \t\n\r\u3000" for character in sample)
    if odd > 0.05 * len(sample) or (spaces == 0 and len(sample) > 40):
        return None
    ascii_share = sum(character < "\x80" for character in sample) / len(sample)
    zeros = data[:_SAMPLE_BYTES].count(0) / min(len(data), _SAMPLE_BYTES)
    # Every ASCII character of UTF-16 brings a zero byte: where there are few of
    # both, a single NUL in UTF-8 must not turn the rest into ideographs.
    if ascii_share < 0.2 and _reads_as_utf8(data):
        return None
    return text if zeros > 0.01 else None


def _reads_as_utf8(data: bytes) -> bool:
    try:
        data.decode("utf-8")
    except UnicodeDecodeError:
        return False
    return True
