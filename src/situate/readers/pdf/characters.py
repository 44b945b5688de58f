"""Take the characters of a page from pdfium, with their place and look.

pdfium decodes fonts, gives characters in the order in which the page draws them
(right-to-left scripts in the order in which they are read) and infers spaces and
line breaks. All else is decided elsewhere, on plain values.
"""

from __future__ import annotations

import ctypes
import math
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

from situate.readers.pdf.places import ASKEW

if TYPE_CHECKING:
    from situate.readers.pdf.places import Sheet

HYPHEN = "\x02"
"""pdfium's sign for a hyphen at the end of a line."""

# A page of newsprint has 30,000 characters; a million take pdfium a second.
MAX_CHARACTERS = 1_000_000

# Justified words stand up to an em apart; columns and cells begin further away.
WIDE_GAP = 1.0

# Points; posters are set in hundreds, a matrix of garbage in millions.
# pdfium turns right-to-left lines around letter by letter, and with them the two
# letters that one glyph stands for: lam-alef comes out as alef-lam in one place.
_LAM = 0x644
_ALEFS = frozenset("\u0627\u0622\u0623\u0625")

_LARGEST_SIZE = 10_000
_FAR = 1e7

# pdfium's weights come from the width of stems, 400 for a book face, 700 for bold.
_BOLD_WEIGHT = 600
_BOLD_NAME = re.compile(r"bold|black|heavy|demi|-medi\b|bx\d*$", re.IGNORECASE)

# The first flag of a font descriptor (ISO 32000-1, table 123).
_FIXED_PITCH = 1
_MONO_NAME = re.compile(r"mono|courier|consol|typewriter|cmtt|sftt", re.IGNORECASE)

# Where Symbol and Wingdings keep what Word puts before items.
_PRIVATE_BULLETS = dict.fromkeys(
    map(ord, "\uf0b7\uf0a7\uf0d8\uf076\uf0fc\uf0a8\uf0a1"), "•"
)

# What symbol fonts without names for their letters leave of a bullet.
_UNNAMED_BULLET = re.compile("^[\x80-\x9f](?= |$)")

# C1 controls and marks of byte order.
_NO_TEXT = re.compile("[\x7f-\x9f\ufeff]")

Gap = Literal["", " ", "\n"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Style:
    """How a text object looks, and whose marked content it is."""

    size: float
    """Height of the font in points, as shown."""
    bold: bool
    turn: int
    """Quarter turns clockwise from upright; `ASKEW` for others."""
    mark: int
    """Id of its marked content; -1 without one."""
    is_artifact: bool
    is_mono: bool
    """Whether all letters are equally wide, as in code."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Run:
    """Characters that follow each other on a line and look the same.

    Its edges are given as if the page were turned so that it stands upright, in
    points from the upper left.
    """

    text: str
    style: Style
    gap: Gap
    """What stands between the run before and this one, as pdfium sees it."""
    left: float
    top: float
    right: float
    bottom: float
    baseline: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Characters:
    """All runs of a page in the order in which they are drawn."""

    runs: tuple[Run, ...]
    unreadable: int
    """Characters whose font does not say which letters they are."""
    outside: int
    """Characters that stand wholly outside the visible page."""


@dataclass(slots=True)
class _Open:
    """A run whose end has not been met yet."""

    style: Style
    gap: Gap
    left: float
    top: float
    right: float
    bottom: float
    baseline: float
    letters: list[str]
    last_left: float
    last_right: float

    def add(self, letters: str, edges: tuple[float, float, float, float]) -> None:
        self.letters.append(letters)
        left, top, right, bottom = edges
        self.left = min(self.left, left)
        self.top = min(self.top, top)
        self.right = max(self.right, right)
        self.bottom = max(self.bottom, bottom)
        self.last_left, self.last_right = left, right

    def close(self) -> Run:
        return Run(
            text=_text("".join(self.letters)),
            style=self.style,
            gap=self.gap,
            left=self.left,
            top=self.top,
            right=self.right,
            bottom=self.bottom,
            baseline=self.baseline,
        )


class Reader:
    """Takes the characters of one page, which stays open meanwhile."""

    def __init__(self, text: Any, sheet: Sheet, *, is_tagged: bool) -> None:
        from pypdfium2 import raw

        self._raw: Any = raw
        self._text = text.raw
        self._sheet = sheet
        self._width, self._height = sheet.width, sheet.height
        self._is_tagged = is_tagged
        self._edges = [ctypes.c_double() for _ in range(4)]
        self._styles: dict[int, tuple[Style, float]] = {}
        self._looks: dict[Style, Style] = {}
        self._runs: list[Run] = []
        self._open: _Open | None = None
        self._unreadable = 0
        self._outside = 0

    def read(self, count: int) -> Characters:
        """Take `count` characters."""
        raw, text = self._raw, self._text
        gap: Gap = ""
        for index in range(count):
            code = raw.FPDFText_GetUnicode(text, index)
            # White space of the file itself has a place, but says no more.
            if code in {10, 13}:
                gap = "\n"
            elif code in {0x20, 0x09, 0xA0}:
                gap = gap or " "
            elif code >= 32 or code == ord(HYPHEN):
                gap = self._take(index, code, gap)
        self._close()
        return Characters(
            runs=tuple(self._runs),
            unreadable=self._unreadable,
            outside=self._outside,
        )

    def _take(self, index: int, code: int, gap: Gap) -> Gap:
        """Add a character, and give the gap that follows it."""
        drawn = self._raw.FPDFText_GetTextObject(self._text, index)
        if not drawn:
            return gap
        key = ctypes.addressof(drawn.contents)
        style, baseline = self._styles.get(key) or self._style(index, drawn, key)
        edges = self._place(index)
        if edges is None:
            self._outside += 1
            return gap
        if style.turn not in {0, ASKEW}:
            edges = self._upright(style.turn, *edges)
        left, top, right, bottom = edges
        if code in {0xFFFD, 0xFFFE, 0xFFFF} or 0xE000 <= code < 0xF000:
            self._unreadable += 1
        current = self._open
        if current is not None:
            away = max(left - current.last_right, current.last_left - right)
            if (
                gap == "\n"
                or style is not current.style
                or abs(baseline - current.baseline) > 0.5 * style.size
                or away > WIDE_GAP * style.size
            ):
                self._close()
                current = None
        if current is None:
            self._open = _Open(
                style, gap, left, top, right, bottom, baseline, [chr(code)], left, right
            )
        elif (
            code == _LAM
            and not gap
            and current.letters[-1] in _ALEFS
            and (left, right) == (current.last_left, current.last_right)
        ):
            current.letters[-1:] = [chr(code), current.letters[-1]]
        else:
            current.add(gap + chr(code), edges)
        return "\n" if code == ord(HYPHEN) else ""

    def _close(self) -> None:
        if self._open is not None:
            self._runs.append(self._open.close())
            self._open = None

    def _place(self, index: int) -> tuple[float, float, float, float] | None:
        """Give the edges of a character as shown, None when it is not.

        They are left, top, right and bottom. A hostile matrix makes them infinite
        or no numbers; no comparison holds then.
        """
        left, right, bottom, top = self._edges
        self._raw.FPDFText_GetCharBox(self._text, index, left, right, bottom, top)
        x, y = self._sheet.shown(left.value, top.value)
        x2, y2 = self._sheet.shown(right.value, bottom.value)
        if x > x2:
            x, x2 = x2, x
        if y > y2:
            y, y2 = y2, y
        across = -_FAR < x <= self._width and 0 <= x2 < _FAR
        if across and -_FAR < y <= self._height and 0 <= y2 < _FAR:
            return x, y, x2, y2
        return None

    def _upright(
        self, turn: int, left: float, top: float, right: float, bottom: float
    ) -> tuple[float, float, float, float]:
        x, y = self._sheet.upright(turn, left, top)
        x2, y2 = self._sheet.upright(turn, right, bottom)
        return min(x, x2), min(y, y2), max(x, x2), max(y, y2)

    def _style(self, index: int, drawn: Any, key: int) -> tuple[Style, float]:
        """Look at a text object; all characters of one share look and baseline."""
        raw = self._raw
        matrix = raw.FS_MATRIX()
        raw.FPDFText_GetMatrix(self._text, index, matrix)
        scale = math.hypot(matrix.c, matrix.d)
        size = abs(raw.FPDFText_GetFontSize(self._text, index) * scale)
        if not 0.1 <= size <= _LARGEST_SIZE:
            size = 1.0
        turn = self._sheet.turn(matrix.a, matrix.b)
        x, y = self._edges[:2]
        raw.FPDFText_GetCharOrigin(self._text, index, x, y)
        shown = self._sheet.shown(x.value, y.value)
        bold, mono = self._face(index, drawn)
        # Sizes that differ by rounding alone are one size.
        style = Style(
            size=round(size, 1),
            bold=bold,
            is_mono=mono,
            turn=turn,
            mark=raw.FPDFPageObj_GetMarkedContentID(drawn) if self._is_tagged else -1,
            is_artifact=self._is_tagged and self._is_artifact(drawn),
        )
        # One object for all that look alike, so that a glance tells them apart.
        style = self._looks.setdefault(style, style)
        baseline = self._sheet.upright(turn, *shown)[1]
        found = style, baseline if math.isfinite(baseline) else 0.0
        self._styles[key] = found
        return found

    def _face(self, index: int, drawn: Any) -> tuple[bool, bool]:
        """Tell whether a text object is bold, and whether it is monospaced."""
        raw = self._raw
        bold = raw.FPDFText_GetFontWeight(self._text, index) >= _BOLD_WEIGHT
        font = raw.FPDFTextObj_GetFont(drawn)
        if not font:
            return bold, False
        buffer = ctypes.create_string_buffer(128)
        written = raw.FPDFFont_GetBaseFontName(font, buffer, len(buffer))
        name = buffer.value.decode("latin-1") if written <= len(buffer) else ""
        flags = max(0, raw.FPDFFont_GetFlags(font))
        mono = bool(flags & _FIXED_PITCH) or _MONO_NAME.search(name) is not None
        return bold or _BOLD_NAME.search(name) is not None, mono

    def _is_artifact(self, drawn: Any) -> bool:
        raw = self._raw
        name = (ctypes.c_ushort * 16)()
        size = ctypes.c_ulong()
        for number in range(raw.FPDFPageObj_CountMarks(drawn)):
            mark = raw.FPDFPageObj_GetMark(drawn, number)
            if raw.FPDFPageObjMark_GetName(mark, name, ctypes.sizeof(name), size):
                said = bytes(name)[: size.value].decode("utf-16-le", errors="replace")
                if said.rstrip("\0") == "Artifact":
                    return True
        return False


def _text(letters: str) -> str:
    """Join halves of characters beyond the basic plane, and name bullets."""
    if letters.isascii():
        return letters
    joined = letters.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
    named = _UNNAMED_BULLET.sub("•", joined).translate(_PRIVATE_BULLETS)
    return _NO_TEXT.sub("", named)


def with_ligatures(page: Any) -> str:
    """Give a page's text as pdfium has it, but for lam-alef turned around."""
    from pypdfium2 import raw

    text: str = page.get_text_range()
    if chr(_LAM) not in text or len(text) != page.count_chars():
        return text
    letters = list(text)
    edges = tuple(ctypes.c_double() for _ in range(4))

    def place(index: int) -> tuple[float, ...]:
        raw.FPDFText_GetCharBox(page, index, *edges)
        return tuple(edge.value for edge in edges)

    for index in range(len(letters) - 1):
        pair = letters[index : index + 2]
        if (
            pair[1] == chr(_LAM)
            and pair[0] in _ALEFS
            and place(index) == place(index + 1)
        ):
            letters[index : index + 2] = reversed(pair)
    return "".join(letters)
