"""Cut running text that alone exceeds a limit (C1).

Cuts fall at sentence ends, then at clauses and line ends, then between words,
and inside a word only between graphemes. Every stretch between two possible
cuts is counted once; longer stretches are sums.
"""

from __future__ import annotations

from bisect import bisect_left
from dataclasses import dataclass, field
from itertools import accumulate, pairwise
from typing import TYPE_CHECKING

import regex

if TYPE_CHECKING:
    from collections.abc import Iterator

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
# sentencex 1.0.32 stops the process at `A.` with one of these before the stop: it
# takes every blank for one byte. Delete this when it no longer does.
_WIDE_BLANKS = dict.fromkeys(
    (code for code in range(0x80, 0x3001) if chr(code).isspace()), " "
)

_WINDOW = 4_096
"""Characters given to the sentence splitter at once; most paragraphs are shorter."""
LONGEST_TOKEN = 16
"""Characters of running text that are surely more than one token."""
_LONG_TOKEN = 8
"""Characters of running text that are nearly always more than one token."""
_LONG_WORD = 64
_RUN = 16
"""Characters counted together inside a long word; one by one they count too high."""
_GRAPHEME = regex.compile(r"\X")
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
    starts = [0]
    position = 0
    for segment in _segments(text, language or "en"):
        position += len(segment)
        end = position - (len(segment) - len(segment.rstrip()))
        # The splitter cuts in front of a closing quotation mark.
        while end < len(text) and text[end] in _CLOSING:
            end += 1
        if starts[-1] < end < len(text):
            starts.append(end)
    return list(pairwise([*starts, len(text)]))


def _segments(text: str, language: str) -> Iterator[str]:
    """Give the splitter's segments, reading a window of the text at a time.

    Its time grows with the square of a text that has no spaces. The last segment
    of a window may go on behind it and is read again with the next one.
    """
    import sentencex

    text = text.translate(_WIDE_BLANKS)
    position, window = 0, _WINDOW
    while position < len(text):
        segments = list(sentencex.segment(language, text[position : position + window]))
        at_end = position + window >= len(text)
        if not at_end and len(segments) < 2:
            window *= 2
            continue
        if not at_end:
            segments.pop()
        yield from segments
        position += sum(map(len, segments))
        window = _WINDOW


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

    Sizes are sums over sentences, or over words where a sentence is too long; who
    needs a bound counts what comes out. Stretches are as long as they can be
    without cutting a sentence that fits one; together they hold every character
    but white space at the cuts. Only a single grapheme above the limit is cut
    inside.
    """
    filling = _Filling(text, limit, limit if first is None else first)
    for sentence in sentence_spans(text, language):
        ladder = None
        if sentence[1] - sentence[0] <= limit * _LONG_TOKEN:
            tokens = measure.word(text[slice(*sentence)])
        else:
            # Too long to be worth a count of its own.
            ladder = _Ladder(text, sentence, measure)
            tokens = ladder.tokens(sentence)
        if tokens <= limit:
            filling.place(sentence, tokens)
            continue
        ladder = ladder or _Ladder(text, sentence, measure)
        pending = ladder.cut(sentence, 0)[::-1]
        while pending:
            span, rung = pending.pop()
            tokens = ladder.tokens(span)
            if limit < tokens <= limit + limit // 8:
                tokens = measure.word(text[slice(*span)])
            below = ladder.cut(span, rung + 1) if tokens > limit else []
            if below:
                pending.extend(below[::-1])
            else:
                filling.place(span, tokens)
    return filling.finish()


def shorten(text: str, measure: Measure, *, limit: int) -> str:
    """Cut a text to `limit` tokens at a word and mark the cut.

    Gives nothing where not even a word and the mark fit.
    """
    near = text[: limit * LONGEST_TOKEN]
    if len(near) == len(text) and measure.count(text) <= limit:
        return text
    room = limit - 1
    while room > 0:
        stretches = split(near, measure, limit=room)
        short = stretches[0].text + " …" if stretches else ""
        if measure.count(short) <= limit:
            return short
        room -= 1 + room // 16
    return ""


@dataclass(slots=True)
class _Filling:
    """Stretches of a text while they fill up."""

    text: str
    limit: int
    room: int
    start: int = 0
    end: int = 0
    used: int = 0
    done: list[Stretch] = field(default_factory=list)

    def place(self, span: Span, tokens: int) -> None:
        """Add a span to the open stretch, or begin another with it."""
        if self.used + tokens > self.room and (self.used or self.room < self.limit):
            self._close()
        self.end = span[1]
        self.used += tokens

    def finish(self) -> list[Stretch]:
        """Close the last stretch and give them all."""
        self._close()
        return self.done

    def _close(self) -> None:
        said = self.text[self.start : self.end]
        stripped = said.strip()
        if stripped:
            at = self.start + len(said) - len(said.lstrip())
            span = (at, at + len(stripped))
            self.done.append(Stretch(span, stripped, self.used))
        self.start, self.used, self.room = self.end, 0, self.limit


class _Ladder:
    """The possible cuts of a sentence, from clauses down to graphemes."""

    def __init__(self, text: str, span: Span, measure: Measure) -> None:
        self._text = text
        self._measure = measure
        ends = set(span)
        clauses = {match.start() for match in _CLAUSE_END.finditer(text, *span)} | ends
        words = {match.start() for match in _WORD_START.finditer(text, *span)}
        rungs = [sorted(clauses), sorted(clauses | words)]
        # A long word is counted in runs at once, not whole and then again.
        runs = [run for word in pairwise(rungs[-1]) for run in self._runs(word)]
        if runs:
            rungs.append(sorted({*rungs[-1], *runs}))
        self._rungs = rungs
        self._points = rungs[-1]
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
        if len(starts) == 1:
            starts = list(range(*span))  # marks piled on one letter: the limit wins
        if len(starts) == 1:
            return []
        below = len(self._rungs)
        return [(part, below) for part in pairwise([*starts, span[1]])]

    def _runs(self, word: Span) -> list[int]:
        """Give where the runs of a long word begin."""
        if word[1] - word[0] <= _LONG_WORD:
            return []
        starts: list[int] = []
        for match in _GRAPHEME.finditer(self._text, *word):
            start, end = match.span()
            if end - start > _LONG_WORD:
                starts.extend(range(start, end, _RUN))  # the limit wins over marks
            elif not starts or start - starts[-1] >= _RUN:
                starts.append(start)
        return starts


def _has_text(text: str, span: Span) -> bool:
    return not text[slice(*span)].isspace() and span[0] < span[1]
