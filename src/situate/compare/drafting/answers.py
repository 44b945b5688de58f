"""Cuts the passage that answers a question out of a section or a run of text.

A section answers with its first paragraphs, up to 600 characters; where it says
less than 80, with what stands below it as well. These are the bounds that the
public question sets of this project's bench were made with (2026-11), so that
drafted and given questions have answers of one size.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from situate.compare.drafting.values import Passage
from situate.compare.drafting.wording import sentences
from situate.model import Code, Items, Quote, Table

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from situate.compare.drafting.places import Place, Run, Survey
    from situate.model import Block, Span

MOST: Final = 600
"""Characters of an answer; longer ones end at a paragraph, item or sentence."""
FEWEST: Final = 80
"""Characters below which an answer goes on where it can."""
_DIRECTIVE = re.compile(r"\{\{[^{}]*\}\}|\{%[^{}%]*%\}|<[^<>]*>")
_NOTHING = 30
"""Characters below which a section says nothing to ask about."""


def of_section(survey: Survey, place: Place) -> Passage | None:
    """Give what a section says first, its heading left out; None where it is bare."""
    blocks, length = _gathered(_leading(place.body))
    if length < FEWEST:
        below = (
            block for each in survey.follows(place) for block in each.section.blocks
        )
        blocks, length = _gathered(_leading([*blocks, *_some(below)]))
    if not _says_something(blocks):
        return None
    if length <= MOST:
        return _passage(survey, blocks, len(blocks[-1].text))
    whole = sum(len(block.text) + 2 for block in blocks[:-1])
    if whole >= FEWEST:
        return _passage(survey, blocks[:-1], len(blocks[-2].text))
    # A caption, or a sentence that introduces what is too long to go with it whole.
    ends = [end for _, end in _parts(survey, blocks[-1]) if end <= MOST - whole]
    if ends:
        return _passage(survey, blocks, ends[-1])
    return None


def of_run(survey: Survey, run: Run, span: Span) -> Passage | None:
    """Give part of a run's text; None where nobody knows where it stands."""
    if run.span is None:
        return _in_words(survey, run.text[slice(*span)])
    start, end = run.span
    if end - start == len(run.text):
        start, end = start + span[0], start + span[1]
    return _placed(survey, (start, end))


def _passage(survey: Survey, blocks: Sequence[Block], of_last: int) -> Passage | None:
    """Give blocks that follow each other, the last with so many characters."""
    first, last = blocks[0].span, blocks[-1].span
    if first is None or last is None:
        said = [*(block.text for block in blocks[:-1]), blocks[-1].text[:of_last]]
        return _in_words(survey, "\n\n".join(said))
    if of_last < len(blocks[-1].text) == last[1] - last[0]:
        last = (last[0], last[0] + of_last)
    return _placed(survey, (first[0], last[1]))


def _placed(survey: Survey, span: Span) -> Passage | None:
    """Give characters of the source, where something left out does not swell them."""
    if span[1] - span[0] > 2 * MOST:
        return None
    return Passage(doc_id=survey.doc_id, span=span, text=None)


def _in_words(survey: Survey, text: str) -> Passage | None:
    """Give words, which are looked for only where a format counts no characters."""
    if survey.counts_characters:
        return None
    return Passage(doc_id=survey.doc_id, span=None, text=text)


def _says_something(blocks: Sequence[Block]) -> bool:
    """Tell whether blocks say more than what a template puts in their place."""
    text = "".join(block.text[:MOST] for block in blocks)
    return len(_DIRECTIVE.sub("", text).strip()) >= _NOTHING


def _leading(blocks: Sequence[Block]) -> Iterator[Block]:
    """Yield the blocks up to where links are defined, which say nothing."""
    for block in blocks:
        if block.kind == "reference":
            return
        yield block


def _some(blocks: Iterator[Block]) -> Iterator[Block]:
    """Yield blocks until there are more than enough."""
    length = 0
    for block in blocks:
        yield block
        length += max(1, len(block.text))
        if length > MOST:
            return


def _gathered(blocks: Iterator[Block]) -> tuple[list[Block], int]:
    """Gather blocks until they are too long together; the last may be too much."""
    gathered: list[Block] = []
    length = 0
    for block in blocks:
        gathered.append(block)
        length += len(block.text) + 2
        if length > MOST:
            break
    return gathered, length


def _parts(survey: Survey, block: Block) -> Iterator[Span]:
    """Yield where the first parts of a block stand in its text."""
    text = block.text[: MOST + 1]
    match block.content:
        case None:
            near = block.text[: 2 * MOST]
            yield from sentences(near, survey.language)
        case Items(items=items):
            yield from _found(block, [item.text for item in items[:MOST]])
        case Quote(blocks=blocks):
            yield from _found(block, [part.text for part in blocks[:MOST]])
        case Table() | Code():
            start = 0
            for line in text.split("\n")[:-1]:
                yield start, start + len(line)
                start += len(line) + 1


def _found(block: Block, texts: Sequence[str]) -> Iterator[Span]:
    start = 0
    for text in texts:
        place = block.text.find(text, start, start + MOST + len(text))
        if place < 0 or place > MOST:
            return
        start = place + len(text)
        yield place, start
