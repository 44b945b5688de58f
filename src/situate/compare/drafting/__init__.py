"""Drafts questions from a corpus's own documents, mechanically and marked as such.

Headings, cross-references and definitions each say what one place in a document is
about, in words that stand in another place or in none. They show how arms differ
before anybody has asked anything; that a sentence is worth its price only
questions of readers can say. A model may draft as well, outside of here: which
chunks it is asked about and which of its answers pass is said by `drawing` and
`fitness`.
"""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING

from situate.compare.drafting import definitions, headings, references
from situate.compare.drafting.choosing import asked_once, spread
from situate.compare.drafting.drawing import Drawn, Limits, draw
from situate.compare.drafting.fitness import QUESTIONS
from situate.compare.drafting.places import Corpus
from situate.compare.drafting.values import MODEL, SOURCES, Draft, Passage, Source

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Sequence

    from situate.compare.drafting.places import Survey
    from situate.model import Document

__all__ = [
    "MODEL",
    "QUESTIONS",
    "SOURCES",
    "Corpus",
    "Draft",
    "Drawn",
    "Limits",
    "Passage",
    "Source",
    "asked_once",
    "draft",
    "draft_corpus",
    "draw",
]


def draft(
    corpus: Corpus, survey: Survey, *, kinds: Collection[Source] = SOURCES
) -> Iterator[Draft]:
    """Yield every question that one document of a corpus gives, kind by kind."""
    if "references" in kinds:
        yield from references.draft(corpus, survey)
    if "definitions" in kinds:
        yield from definitions.draft(corpus, survey)
    if "headings" in kinds:
        yield from headings.draft(corpus, survey)


def draft_corpus(
    documents: Sequence[Document],
    *,
    kinds: Collection[Source] = SOURCES,
    seed: int = 0,
    most_per_document: int = 8,
    most_per_section: int = 2,
) -> tuple[Draft, ...]:
    """Draft questions from a corpus: the same for the same documents and seed.

    They are counted where their answers stand, and given in the order of the
    documents, then of the sections that answer. A question that two places would
    answer is left out. Time grows with the length of the documents.
    """
    corpus = Corpus(documents)
    every = asked_once(
        one for survey in corpus.surveys for one in draft(corpus, survey, kinds=kinds)
    )
    answered: dict[str, list[Draft]] = defaultdict(list)
    for one in every:
        answered[one.gold[0].doc_id].append(one)
    chosen: list[Draft] = []
    for survey in corpus.surveys:
        order = {place.section.section_id: place.order for place in survey.places}
        here = sorted(answered[survey.doc_id], key=lambda one: order[one.section_id])
        chosen += spread(
            here, seed=seed, most=most_per_document, most_per_section=most_per_section
        )
    return tuple(chosen)
