"""Cut running text that alone exceeds a limit (C1).

Cuts fall at sentence ends, then at clauses and line ends, then between words,
and inside a word only between graphemes. Every stretch between two possible
cuts is counted once; longer stretches are sums.
"""

from __future__ import annotations

from bisect import bisect_left
from dataclasses import dataclass
from itertools import accumulate, pairwise
from typing import TYPE_CHECKING

import regex

if TYPE_CHECKING:
    from situate.chunking.measure import Measure
    from situate.model import Span

# Scripts written without spaces: any character may begin a word.
_UNSPACED = r"\p{Han}\p{Hiragana}\p{Katakana}"
_WORD_START = regex.compile(
    rf"(?<=\S)(?=\s)|(?<=[{_UNSPACED}]\p{{P}}?)(?=[{_UNSPACED}])", regex.V1
)
_CLAUSE_END = regex.compile(
    r"(?<=[,;:)])(?=\s)|(?<=[，；：、）])|(?<=\s[-–—])(?=\s)|(?=\n)"
)
_RUN = 16
"""Graphemes counted together inside a word; one by one they count too high."""
_GRAPHEME = regex.compile(r"\X")
_CHARACTER = regex.compile(r".", regex.DOTALL)
_CLOSING = "\"'’”»」』）)]"
_BLANK = regex.compile(r"\s*")


@dataclass(frozen=True, slots=True)
class Stretch:
    """A stretch of a text, without white space at its ends."""

    span: Span
    text: str
    tokens: int
    """A sum over its words, which may differ a little from its count."""


def sentence_spans(text: str, language: str | None) -> list[Span]:
    """Give the sentences of a text as spans that cover it.

    White space between two sentences belongs to the second.
    """
    import sentencex  # noqa: PLC0415 - needed for few documents, slow to load

    starts = [0]
    position = 0
    for segment in sentencex.segment(language or "en", text):
        position += len(segment)
        end = position - (len(segment) - len(segment.rstrip()))
        # The splitter cuts in front of a closing quotation mark.
        while end < len(text) and text[end] in _CLOSING:
            end += 1
        if starts[-1] < end < len(text):
            starts.append(end)
    return list(pairwise([*starts, len(text)]))


def last_sentence(text: str, language: str | None) -> str:
    """Give the last sentence of a text."""
    spans = [span for span in sentence_spans(text, language) if _has_text(text, span)]
    return text[spans[-1][0] :].strip() if spans else text.strip()


def count_sentences(text: str, language: str | None) -> int:
    """Give the number of sentences of a text."""
    return sum(_has_text(text, span) for span in sentence_spans(text, language))


def split(
    text: str,
    measure: Measure,
    *,
    limit: int,
    first: int | None = None,
    language: str | None = None,
) -> list[Stretch]:
    """Cut a text into stretches of about `limit` tokens, the first of `first`.

    Sizes are sums over words; who needs a bound counts what comes out. Stretches
    are as long as they can be without cutting a sentence that fits one; together
    they hold every character but white space at the cuts. Only a single grapheme
    above the limit is cut inside.
    """
    ladder = _Ladder(text, measure, language)
    cut: list[Stretch] = []
    start, end, used = 0, 0, 0
    room = limit if first is None else first

    def close() -> None:
        nonlocal start, used, room
        stripped = text[start:end].strip()
        if stripped:
            at = text.index(stripped[0], start)
            span = (at, at + len(stripped))
            cut.append(Stretch(span, stripped, used))
        room = limit
        start, used = end, 0

    pending = list(reversed(ladder.cut((0, len(text)), 0)))
    while pending:
        span, rung = pending.pop()
        tokens = ladder.tokens(span)
        if used + tokens > room:
            if tokens > limit and (below := ladder.cut(span, rung + 1)):
                pending.extend(reversed(below))
                continue
            if used or room < limit:
                close()
                room = limit
        end = span[1]
        used += tokens
    close()
    return cut


def shorten(text: str, measure: Measure, *, limit: int) -> str:
    """Cut a text to `limit` tokens at a word and mark the cut."""
    if len(split(text, measure, limit=limit)) <= 1 and measure.count(text) <= limit:
        return text
    room = limit - 1
    while True:
        short = split(text, measure, limit=max(1, room))[0].text + " …"
        if room <= 1 or measure.count(short) <= limit:
            return short
        room -= 1 + room // 16


class _Ladder:
    """The possible cuts of a text, from sentences down to graphemes."""

    def __init__(self, text: str, measure: Measure, language: str | None) -> None:
        self._text = text
        self._measure = measure
        sentences = {start for start, _ in sentence_spans(text, language)}
        clauses = {match.start() for match in _CLAUSE_END.finditer(text)}
        words = {match.start() for match in _WORD_START.finditer(text)}
        ends = {0, len(text)}
        self._rungs: list[list[int]] = []
        for rung in (sentences, sentences | clauses, sentences | clauses | words):
            self._rungs.append(sorted(rung | ends))
        self._points = self._rungs[-1]
        counts = (measure.word(text[a:b]) for a, b in pairwise(self._points))
        self._sums = [0, *accumulate(counts)]

    def tokens(self, span: Span) -> int:
        """Give the tokens of a span that `cut` gave."""
        start = bisect_left(self._points, span[0])
        end = bisect_left(self._points, span[1])
        if self._points[start] == span[0] and self._points[end] == span[1]:
            return self._sums[end] - self._sums[start]
        return self._measure.word(self._text[slice(*span)])

    def cut(self, span: Span, rung: int) -> list[tuple[Span, int]]:
        """Cut a span at a rung or at the first below that cuts it; empty at the end."""
        for lower in range(rung, len(self._rungs)):
            points = self._rungs[lower]
            starts = points[bisect_left(points, span[0]) : bisect_left(points, span[1])]
            if len(starts) > 1 or lower == 0:
                return [(part, lower) for part in pairwise([*starts, span[1]])]
        starts = [match.start() for match in _GRAPHEME.finditer(self._text, *span)]
        if len(starts) > _RUN:
            starts = starts[::_RUN]
        if len(starts) == 1:
            starts = list(range(*span))  # marks piled on one letter: the limit wins
        if len(starts) == 1:
            return []
        below = len(self._rungs)
        return [(part, below) for part in pairwise([*starts, span[1]])]


def _has_text(text: str, span: Span) -> bool:
    return not text[slice(*span)].isspace() and span[0] < span[1]
