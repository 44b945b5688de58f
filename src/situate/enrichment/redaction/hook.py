"""Asks whoever knows what of a text a model may not see: expressions or a function."""

from __future__ import annotations

import re
from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING

from situate.enrichment.redaction.plain import Plain
from situate.errors import ConfigError
from situate.functions import find_function

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence
    from typing import TypeAlias

    from situate.model import Span

    Find: TypeAlias = Callable[[str], Iterable[tuple[int, int]]]

MARK = "[redacted]"
"""What a model is shown in place of something hidden."""

_BLANKS = re.compile(
    r"\\[NpP]\{[^}]*\}|\\[^ ]|\[\^?\]?(?:\[:[^\]]*:\]|\\.|[^\]\\])*+\]"
    r"|(?P<blanks>(?:\\? )++)(?P<counted>[*+?{])?",
    re.DOTALL,
)
"""Blanks of an expression, and what holds blanks that are to be passed over."""

_WHITE = r"(?:(?!\n\s*\n)\s)"
"""One sign of white space within a paragraph: an empty line parts words."""

_SECONDS = 5.0
"""For one expression to go through one text; beyond it the document is not asked
about."""


class RedactionFailed(Exception):
    """Nobody knows what of a document to hide; the message holds no word of it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Redaction:
    """Says what of a text a model may not see."""

    find: Find
    """Gives half-open stretches of characters, in any order; they may overlap."""
    source: str | None = None
    """Hash of the file it was found in; None for expressions, which say it all."""

    @classmethod
    def of(cls, wanted: str | Sequence[str]) -> Redaction:
        """Take `module:function`, or a list of regular expressions.

        Raises:
            ConfigError: there is no such function, or one is no expression.
        """
        if isinstance(wanted, str):
            found = find_function(wanted, "enrichment.redact")
            return cls(find=found.call, source=found.source)
        return cls(find=_matching(wanted))

    def spans(self, text: str) -> list[Span]:
        """Give what to hide of a text; stretches of blanks alone are left out.

        Raises:
            RedactionFailed: nobody could say, or said what cannot be.
        """
        try:
            found = [(start, end) for start, end in self.find(text)]
        # Code of the user's may raise anything, or end the program without meaning to,
        # and nothing may be sent then. Ctrl-C passes.
        except (Exception, SystemExit) as error:
            message = f"enrichment.redact failed with {type(error).__name__}"
            raise RedactionFailed(message) from error
        for start, end in found:
            if type(start) is not int or type(end) is not int:
                message = "enrichment.redact gave places that are no whole numbers"
                raise RedactionFailed(message)
            if not 0 <= start <= end <= len(text):
                message = "enrichment.redact gave places outside of the text"
                raise RedactionFailed(message)
        return [span for span in found if text[slice(*span)].strip()]

    def all_spans(self, text: str, *, on_one_line: bool) -> list[Span]:
        """Give what to hide of a text, found in it or in the words of it alone.

        These are read line by line, and once more `on_one_line`. What an expression
        finds there is left out where it found something that begins at the same place
        before: `key: .*` means the rest of a line, whose end shows no more.

        Raises:
            RedactionFailed: nobody could say, or said what cannot be.
        """
        found = self.spans(text)
        plain = Plain(text)
        if plain.text != text:
            found += map(plain.back, self.spans(plain.text))
        if on_one_line and "\n" in plain.text:
            begun = set() if self.source else {start for start, _ in found}
            joined = map(plain.back, self.spans(plain.line))
            found += [span for span in joined if span[0] not in begun]
        return found


def quotable(answer: str, redaction: Redaction | None) -> str:
    """Give a model's own words as they may be shown to it again.

    What it guessed, or had learned elsewhere, is hidden as in a document.
    """
    if redaction is None:
        return answer
    parts, at = [], 0
    try:
        for start, end in sorted(redaction.all_spans(answer, on_one_line=True)):
            parts += [answer[at:start], MARK] if start >= at else []
            at = max(at, end)
    except RedactionFailed:
        return MARK
    return "".join([*parts, answer[at:]])


def _matching(patterns: Sequence[str]) -> Find:
    """Give what finds expressions in a text, and again with blanks of any kind.

    Raises:
        ConfigError: one is none.
    """
    import regex

    compiled = []
    for pattern in patterns:
        try:
            strict = regex.compile(pattern)
        except regex.error as error:
            message = f"enrichment.redact: {pattern!r} is no expression: {error}"
            raise ConfigError(message) from error
        compiled.append(strict)
        if " " in pattern and not strict.flags & regex.VERBOSE:
            # Rewriting may break what is rare; the expression itself counts then.
            with suppress(regex.error):
                compiled.append(regex.compile(_BLANKS.sub(_any_blank, pattern)))

    def find(text: str) -> Iterator[tuple[int, int]]:
        for each in compiled:
            for match in each.finditer(text, timeout=_SECONDS):
                yield match.span()

    return find


def _any_blank(found: re.Match[str]) -> str:
    """Write blanks of an expression so that they match white space of any kind.

    What counts a blank counts one sign of white space, and a class of signs that holds
    one holds all. Nothing is matched in two ways, which would take for ever to try.
    """
    if found["blanks"] is None:
        is_class = found[0].startswith("[") and not found[0].startswith("[^")
        return f"(?>{found[0]}|{_WHITE})" if is_class and " " in found[0] else found[0]
    if not found["counted"]:
        return f"{_WHITE}++"
    return found["blanks"].count(" ") * _WHITE + found["counted"]
