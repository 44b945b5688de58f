"""Drafts questions from cross-references: a sentence asks, what it points to answers.

The question is the sentence without what points: "(see section 4.2)" and the like
are taken out, marks are removed. Its document is left out of the ranking where the
answer is in another. Inside one document nothing can be left out of a ranking, so a
reference is used only where no chunk can hold the sentence and its answer both:
when one section is neither above the other nor next to it. The sentence's own chunk
is then found first and answers nothing, in every arm alike.
"""

from __future__ import annotations

import re
from collections import deque
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from situate.compare.drafting import answers
from situate.compare.drafting.places import NUMBER, WORDS, runs
from situate.compare.drafting.speech import hangs, leans
from situate.compare.drafting.values import Draft
from situate.compare.drafting.wording import sentences, words

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from situate.compare.drafting.places import Corpus, Place, Run, Survey
    from situate.compare.drafting.wording import Link
    from situate.model import Span

_FEWEST, _MOST = 6, 40
"""Words of a question, as in the public sets (bench of this project, 2026-11)."""

_NUMBERED = re.compile(
    rf"(?<!\w)(?:(?P<word>{WORDS})\s*(?P<number>{NUMBER}|[A-Z]|[IVX]{{1,6}})"
    r"|(?P<bare>[0-9]{1,3}(?:\.[0-9]{1,3})+))(?![\w%]|[.,][0-9])",
    re.IGNORECASE,
)
_SEVERAL = re.compile(
    r"\s*(?:,|to|and|or|bis|und|oder|et|ou|à|y|o|e|a|en|–|-)\s*§?\s*[0-9]",
    re.IGNORECASE,
)
_ELSEWHERE = re.compile(
    r"\s*(?:\([^()]{0,20}\)\s*)?(?:of|to|der|des|du|de|del|della|do|da|van)\s+"
    r"(?!this\b|dieser\b|dieses\b|cette\b|la présente|este\b|esta\b|questo\b|dit\b)",
    re.IGNORECASE,
)

_PARTICIPLES: Final = (
    "defined|described|explained|discussed|set out|set forth|documented|listed|"
    "specified|outlined|detailed|mentioned|covered|given|laid down|provided for|"
    "shown|noted|stated|demonstrated"
)
_POINTING: Final = (
    r"(?:please\s+)?(?:also\s+)?(?:see|refer to|consult|read|check out|visit|cf\.|"
    r"have a look at|take a look at|follow|go to|"
    r"siehe|vergleiche|vgl\.|s\.|voir|consultez|véase|vea|ver|consulte|vedi|veja|zie)"
    r"(?:\s+(?:also|auch|aussi|también|anche|também|ook))?"
    rf"|(?:(?:as|which (?:is|are)|that (?:is|are))\s+)?(?:{_PARTICIPLES})"
    r"(?:\s+(?:further|in (?:more )?detail))?\s+(?:in|under|by|at|on)"
    r"|(?:tel(?:le)?s? que\s+)?(?:définie?s?|décrite?s?|visée?s?|prévue?s?)"
    r"\s+(?:à|au|aux|dans|par)"
    r"|(?:definid|descrit|previst|establecid|indicad)[oa]s?\s+(?:en|por)"
)
"""What leads to a reference and goes with it."""

_PREPOSITIONS: Final = (
    r"(?:wie\s+)?(?:in|under|within|according to|pursuant to|in accordance with|"
    r"subject to|im|nach|gemäß|laut|unter|dans|selon|conformément à|en|según|"
    r"conforme a|nell[ao]|secondo|na|no|volgens)"
)
"""What goes with a number, and would leave a hole where a link's words stay out."""


def _leading(words_before: str) -> re.Pattern[str]:
    return re.compile(
        r"(?:^|(?<=[\s(,;:–—-]))(?:[,;:–—-]\s+)?(?:and\s+|or\s+)?"
        rf"(?:{words_before})\s+"
        r"(?:the\s+(?:section\s+(?:on\s+)?)?|section\s+|"
        r"(?:der|die|dem|den|la|le|el|il|o|a)\s+|l['’])?[\"“„«]?\Z",
        re.IGNORECASE,
    )


_TO_LINK = _leading(_POINTING)
_TO_NUMBER = _leading(f"{_POINTING}|{_PREPOSITIONS}")
_ENDING = re.compile(
    r"[\"”“»]?(?:\s+(?:section|page|guide|documentation|docs?|chapter|topic|below|above|"
    r"unten|oben|beschrieben|definiert|genannt(?:e[nrs]?)?|ci-dessous|ci-dessus))?"
    r"(?=\s*(?:[.;:!?)]|\Z)|,\s|\s+(?:for|on how|to|if|when|where)\s)",
    re.IGNORECASE,
)
_MORE = re.compile(
    r"(?:(?:for|to learn|to get|to find|to find out|to read)\s+|"
    r"(?=more\s|further\s|information\s|details\s))"
    r"(?:(?:a|an|the|some|more|further|additional|detailed|full|complete)\s+)*"
    r"(?:(?:information|info|details?|instructions|examples?|discussion|explanation|"
    r"description|reading|list)\s+)?(?:(?:on how to|how to|about|regarding|concerning|"
    r"on|of|for|to)\s+)?",
    re.IGNORECASE,
)
_EMPTY = re.compile(
    r"[(\[]\s*(?:(?:for )?(?:more |further )?(?:details?|information|examples?))?"
    r"\s*[)\]]",
    re.IGNORECASE,
)
_MARKER = re.compile(r"\s*(?:[-*+•]|[0-9]{1,3}[.)])\s+(?:\[[ xX]\]\s+)?")
_STOPS = re.compile(r"[,;:]+\s*([.!?]|\Z)")
_SPACES = re.compile(r"\s+([,.;:!?)])(?=\s|\Z)")
_BLANK = re.compile(r"\s+")
_LISTED = re.compile(r"[\"”“»]?\s*(?:[:–—-]|\Z)")
_STILL_POINTS = re.compile(
    r"\b(?:see|refer(?:s|red)? to|read more|learn more|more (?:details?|information)|"
    r"can be found|check out|for details|above|below|(?:this|first|following) example|"
    r"here|oben|unten|"
    r"this (?:page|section|document|guide|topic|chapter)|"
    r"siehe|vgl|nähere|voir|ci-dessous|ci-dessus|véase)\b",
    re.IGNORECASE,
)
_LEFT_OVER = re.compile(r"\{[{%<]|[%>}]\}|://|\]\(|[|<>{}]|\[[^\]]*\]|(?:^|\s)[$#/]")
_WINDOW: Final = 80
"""Characters in front of a reference that may lead to it."""


@dataclass(frozen=True, slots=True)
class _Reference:
    """Words that point to a section, as characters of the words around them."""

    span: Span
    target: Place
    survey: Survey
    """The document that the section is in."""
    is_link: bool
    """A link may be left where it stands: its words belong to the sentence."""


def draft(corpus: Corpus, survey: Survey) -> Iterator[Draft]:
    """Yield the questions that a document's references ask."""
    for place in survey.places:
        for run in runs(place):
            if "]" in run.text or _NUMBERED.search(run.text):
                yield from _drafts(corpus, survey, place, run)


def _drafts(corpus: Corpus, survey: Survey, place: Place, run: Run) -> Iterator[Draft]:
    said = survey.said(run.text)
    links = deque(said.links)
    for span in sentences(said.text, survey.language):
        here = []
        while links and links[0].span[0] < span[1]:
            here.append(links.popleft())
        found = _one(corpus, survey, said.text, span, here)
        if found is None or found.target.is_beside(place):
            continue
        query = _query(said.text[slice(*span)], span[0], found)
        gold = answers.of_section(found.survey, found.target) if query else None
        if query and gold:
            is_here = found.survey.doc_id == survey.doc_id
            yield Draft(
                query=query,
                kind="reference",
                gold=(gold,),
                section_id=found.target.section.section_id,
                exclude_docs=() if is_here else (survey.doc_id,),
            )


def _one(
    corpus: Corpus, survey: Survey, text: str, span: Span, links: Sequence[Link]
) -> _Reference | None:
    """Give the reference of a sentence; None where it has none or several.

    Of several nobody knows which one answers.
    """
    anchored = [
        _Reference(link.span, place, other, is_link=True)
        for link in links
        if (found := corpus.resolved(survey, link.target))
        for other, place in [found]
    ]
    linked = sum(link.span[1] - link.span[0] for link in links)
    if 2 * linked > span[1] - span[0]:
        return None  # a list of links
    if links:
        return anchored[0] if len(anchored) == 1 else None
    numbered = list(_NUMBERED.finditer(text, *span))
    if len(numbered) != 1:
        return None
    number = numbered[0]
    after = text[number.end() : number.end() + _WINDOW]
    if _SEVERAL.match(after) or _ELSEWHERE.match(after):
        return None
    named = survey.numbered(
        number["word"] or "section", (number["number"] or number["bare"]).upper()
    )
    if named is None:
        return None
    return _Reference(number.span(), named, survey, is_link=False)


def _query(sentence: str, start: int, reference: _Reference) -> str | None:
    """Take what points out of a sentence; None where no question is left."""
    first, end = (at - start for at in reference.span)
    before = _BLANK.sub(" ", sentence[:first])
    before = before[_marker(before) :]
    named = _BLANK.sub(" ", sentence[first:end])
    after = _BLANK.sub(" ", sentence[end:])
    if before.endswith("(") and after.startswith(")"):
        return _tidy(_without_more(before + after))
    leading = (_TO_LINK if reference.is_link else _TO_NUMBER).search(before[-_WINDOW:])
    if leading is None:
        return (
            _tidy(before + named + after) if _holds(reference, before, after) else None
        )
    ending = _ENDING.match(after)
    rest = after[ending.end() :] if ending else after
    kept = before[: len(before) - len(leading.group())]
    if hangs(kept) or (reference.is_link and not ending):
        return None
    return _tidy(_without_more(f"{kept} {rest}"))


def _holds(reference: _Reference, before: str, after: str) -> bool:
    """Tell whether a sentence can keep the words of its reference and ask by them.

    One that begins with them and goes on with a dash is an entry of a list.
    """
    if not reference.is_link or (not before.strip() and _LISTED.match(after)):
        return False
    return len(f"{before} {after}".split()) >= _FEWEST - 2


def _marker(text: str) -> int:
    """Give how long the marker is that an item begins with."""
    found = _MARKER.match(text)
    return found.end() if found else 0


def _without_more(said: str) -> str:
    """Leave out "for more information on", which no longer leads anywhere."""
    said = _EMPTY.sub("", said).strip(" ,;:–—-")
    more = _MORE.match(said)
    if more is None:
        return said
    rest = said[more.end() :]
    return rest[:1].upper() + rest[1:]


def _tidy(said: str) -> str | None:
    """Give a question that reads well on its own, or None."""
    query = _SPACES.sub(r"\1", _BLANK.sub(" ", said))
    query = _STOPS.sub(r"\1", query).strip()
    if len(query.split()) < _FEWEST and len(words(query)) < 2 * _FEWEST:
        return None
    if len(words(query)) > _MOST or leans(query):
        return None
    if _LEFT_OVER.search(query) or _STILL_POINTS.search(query):
        return None
    if not (query[0].isalnum() or query[0] in "\"“„«¿¡‘'"):
        return None
    return query
