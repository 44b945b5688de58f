"""Drafts questions from headings: the heading asks, what stands below it answers.

A heading is a searcher's words as the author guessed them. It is also what a
breadcrumb says. Such a question can therefore tell two arms apart that both have
the breadcrumb, while between an arm with breadcrumbs and one without it only
repeats how it was made: whoever reports that difference leaves the kind `heading`
out of it. To count the question and discount the heading's words would not mend
it, since without them there is no question.

A heading is asked only when it says something, which is told without a list of
headings in any language: it has a word that few sections of the corpus use and
that its own text takes up again. "Introduction" and "Overview" name a place in a
document, and the text below does not speak of introductions.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from situate.compare.drafting import answers
from situate.compare.drafting.places import plain_title, without_number
from situate.compare.drafting.values import Draft
from situate.compare.drafting.wording import words

if TYPE_CHECKING:
    from collections.abc import Iterator

    from situate.compare.drafting.places import Corpus, Place, Survey

_SHARED: Final = 5
"""Sections that may have one heading; one in more is a form to be filled in."""

_LONGEST: Final = 25
"""Words of a heading above which it is a sentence set as one."""


def draft(corpus: Corpus, survey: Survey) -> Iterator[Draft]:
    """Yield the questions that a document's headings ask."""
    for place in survey.places:
        if survey.is_title(place) or not _says_something(corpus, place):
            continue
        query = _query(corpus, survey, place)
        gold = answers.of_section(survey, place) if query else None
        if query and gold:
            yield Draft(
                query=query,
                kind="heading",
                gold=(gold,),
                section_id=place.section.section_id,
            )


def _says_something(corpus: Corpus, place: Place) -> bool:
    """Tell whether a heading has words of its own that its text takes up."""
    said = [word for word in words(without_number(place.section.title)) if word]
    telling = [word for word in said if not word.isdigit() and corpus.is_rare(word)]
    if not telling or len(said) > _LONGEST:
        return False
    body = "\n".join(block.text for block in place.body).casefold()
    return any(_stem(word) in body for word in telling)


def _stem(word: str) -> str:
    """Cut the end off a word, which changes with its place in a sentence."""
    return word[: max(4, len(word) * 7 // 10)]


def _query(corpus: Corpus, survey: Survey, place: Place) -> str | None:
    """Give the heading, with what tells it from others; None where nothing does.

    A single word asks little, so it has what stands above it in front in any case.
    """
    title = without_number(place.section.title)
    named = corpus.sections_named(title)
    if named == 1 and len(words(title)) > 1:
        return title
    if named > _SHARED:
        return None
    outer = [section.title for section in reversed(place.above[1:])]
    outer.append(survey.document.metadata.title or "")
    for above in outer:
        if above and plain_title(above) != plain_title(title):
            return f"{without_number(above)}: {title}"
    return None
