"""Collect what stands between two borders: text, images and formulas.

White space is collapsed here, for whole paragraphs at once: whether two pieces
of text touch is decided by the characters between them alone.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias

from situate.readers.decoding import clean

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

BREAK = "\n"
"""A line break that is drawn; those of the source are blanks."""

_TARGET = str.maketrans({" ": "%20", "(": "%28", ")": "%29", "<": "%3C", ">": "%3E"})


@dataclass(frozen=True, slots=True, kw_only=True)
class Image:
    """A picture that has a name."""

    name: str
    target: str
    """Empty where there is none to be written."""

    @property
    def markdown(self) -> str:
        """The image as it stands alone."""
        return f"![{self.name}]({self.target})" if self.target else self.name


@dataclass(frozen=True, slots=True, kw_only=True)
class Formula:
    """A formula, as TeX or as its symbols."""

    text: str
    is_tex: bool
    displayed: bool
    """It asks for a line of its own."""

    @property
    def markdown(self) -> str:
        """The formula as it stands in a line."""
        return f"${self.text}$" if self.is_tex else self.text


Part: TypeAlias = "str | Image | Formula"


def flat(text: str) -> str:
    """Take line ends and soft hyphens, which are not drawn, out of a text."""
    if "\n" in text or "\r" in text:
        text = text.replace("\n", " ").replace("\r", " ")
    return text.replace("\xad", "") if "\xad" in text else text


def target(source: str | None) -> str:
    """Give the target of an image, "" for none and for encoded data."""
    written = "".join(clean(source or "").split("\n")).strip()
    if written[:5].lower() == "data:":
        return ""
    return written.translate(_TARGET)


def line(parts: Sequence[Part]) -> str:
    """Write parts in one line."""
    return " ".join(_joined(parts).split())


def paragraphs(parts: Sequence[Part]) -> Iterator[Part]:
    """Write parts as paragraphs; images and formulas among no text stand alone.

    One drawn line break keeps lines apart, two end the paragraph.
    """
    drawn = [part for part in parts if not isinstance(part, str)]
    if drawn and not any(isinstance(part, str) and part.strip() for part in parts):
        yield from drawn
        return
    lines: list[str] = []
    for written in _joined(parts).split(BREAK):
        said = " ".join(written.split())
        if said:
            lines.append(said)
        elif lines:
            yield BREAK.join(lines)
            lines = []
    if lines:
        yield BREAK.join(lines)


def _joined(parts: Sequence[Part]) -> str:
    written = [
        part
        if isinstance(part, str)
        else part.markdown
        if isinstance(part, Formula)
        else f" {part.name} "
        for part in parts
    ]
    # A drawn break survives: it is the one control character that does.
    return clean("".join(written))
