"""Drafts questions from definitions: what does a term mean?

A definition is told by its form: a verb that defines, or a term set apart (bold,
in code, in quotation marks) with a colon, a dash or "is a" behind it. A term that
is defined in two places is left out later, with all that is asked twice.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from situate.compare.drafting import answers
from situate.compare.drafting.places import runs
from situate.compare.drafting.speech import LABELS, hangs, has_pointers
from situate.compare.drafting.values import Draft
from situate.compare.drafting.wording import sentences, words

if TYPE_CHECKING:
    from collections.abc import Iterator

    from situate.compare.drafting.places import Corpus, Run, Survey
    from situate.compare.drafting.values import Passage
    from situate.model import Span

_QUESTIONS: Final = {
    "en": "What does {} mean?",
    "de": "Was bedeutet {}?",
    "fr": "Que signifie {}\u00a0?",
    "es": "¿Qué significa {}?",
    "it": "Che cosa significa {}?",
    "pt": "O que significa {}?",
    "nl": "Wat betekent {}?",
    "zh": "{}是什么意思？",
}
"""How the question is asked, by language; in others nothing is."""

_VERBS: Final = (
    "means|refers to|denotes?|stands? for|(?:is|are) defined as|"
    "bedeute[nt]|bezeichne(?:t|n)|steht für|stehen für|"
    "désigne|désignent|signifie|signifient|s['’]entend de|"
    "significan?|designan?|se refieren? a|se entiende por|se define como|"
    "si intende|si riferisce a|refere-se a|betekent"
)
"""What stands between a term and its meaning."""

_COPULAS: Final = (
    r"(?:is|are) (?:an?|the|any|all)|indicates?|specifies|specify|"
    r"(?:ist|sind) (?:eine?|einer|der|die|das|jede[rs]?|alle)|"
    r"(?:est|sont) (?:une?|les?|la|tout)|(?:es|son) (?:una?|el|las?|los|tod[oa])|"
    r"è (?:una?|il|la)|é (?:uma?|o|a)|is een"
)
"""What may stand there where the term is set apart, and means little elsewhere."""

_ARTICLE: Final = (
    r"(?:(?:The term|The|An?|Der Begriff|Der|Die|Das|Eine?|Le terme|Les?|La|Une?|"
    r"El término|El|Los|Las|Un[ao]|Il|Lo|Os?|As?|De|Het|Een)\s+|L['’])?"
)
_START: Final = r"\s*(?:(?:[-*+•]|[0-9]{1,3}[.)]|\([a-z0-9]{1,3}\))\s+)?"

_SET_APART = re.compile(
    rf"{_START}(?P<start>{_ARTICLE})"
    r"(?:[\"“„«‘]\s?)?(?:(?P<mark>\*\*|__|\*|_|`)(?P<term>[^*`\n]{1,60}?)(?P=mark)"
    r"(?:\s?[\"”“»’])?|[\"“„«]\s?(?P<quoted>[^\"“”„«»\n]{1,60}?)\s?[\"”“»])"
    r"(?:\s(?:\([^()]{1,40}\)|im Sinne [^.,:]{1,40}),?)?"
    rf"(?:(?P<sign>\s?[:：]\s|\s[–—-]\s)|\s(?:{_VERBS}|{_COPULAS})\s|\s?，?是?指)"
    r"|(?:[-*+]\s+)?(?P<inside>\*\*[^*\n]{1,60}?\s?[:：]\*\*)\s",
    re.IGNORECASE,
)
_LISTED = re.compile(r"^(?P<listed>[^\n:]{1,60})\n:\s+(?=\S)", re.MULTILINE)
_IN_WORDS = re.compile(
    rf"(?P<article>{_ARTICLE})(?P<term>\w[^.,:;!?()\n]{{0,50}}?)\s"
    rf"(?:{_VERBS})\s(?!that\b|dass\b|que\b|che\b|dat\b|to\b)"
)
_ENCLOSED = re.compile(
    r"(?:Unter|Onder)\s(?P<of>[^.,:;\n]{1,50}?)\s"
    r"(?:versteht man|wird|werden|ist|sind|wordt|verstaat men)\s"
    r"|(?:On entend par|Se entiende por|Entende-se por)\s(?P<par>[^.,:;\n]{1,50}?)"
    r"(?:,\s|\s(?=(?:une?|les?|la|el|los|las|tod[oa]s?|uma?|os?|as?|toute?)\s))"
    r"|(?:Par|Por|Per)\s(?P<por>[^.,:;\n]{1,50}?),?\s"
    r"(?:on entend|se entiende|si intende|entende-se)\s"
)
_UNDERSTOOD = re.compile(r"versteh|verstanden|verstaan|verstaat|nten[dt]|ntiend")
_MAY_DEFINE = re.compile(rf"\b(?:{_VERBS})\s|{_UNDERSTOOD.pattern}")

_QUOTES: Final = "\"'“”„«»‘’*_` \u00a0"
_MOST_WORDS: Final = 6
_SHORTEST: Final = 30
"""Characters of a definition below which it is a value in a list."""


def draft(corpus: Corpus, survey: Survey) -> Iterator[Draft]:
    """Yield a question for every term that a document defines."""
    question = _QUESTIONS.get(survey.language or "")
    if question is None:
        return
    for place in survey.places:
        for run in runs(place):
            for term, stretch in _defined(corpus, survey, run):
                name = _name(survey, term)
                gold = _gold(survey, run, stretch) if name else None
                if name and gold:
                    yield Draft(
                        query=question.format(name),
                        kind="definition",
                        gold=(gold,),
                        section_id=place.section.section_id,
                    )


def _defined(corpus: Corpus, survey: Survey, run: Run) -> Iterator[tuple[str, Span]]:
    """Yield the terms that a run of text defines, and from where to where at most."""
    listed = list(_LISTED.finditer(run.text))
    for number, found in enumerate(listed):
        last = number + 1 == len(listed)
        end = len(run.text) if last else listed[number + 1].start()
        yield found["listed"], (found.start(), end)
    if listed:
        return
    if apart := _SET_APART.match(run.text):
        term = apart["term"] or apart["quoted"] or apart["inside"]
        inside = apart["inside"] is not None
        start = apart.start("inside" if inside else "start")
        by_sign = inside or apart["sign"] is not None
        if not by_sign or _is_entry(corpus, run, term):
            yield term, (start, len(run.text))
    elif _MAY_DEFINE.search(run.text):
        yield from _in_sentences(survey, run)


def _is_entry(corpus: Corpus, run: Run, term: str) -> bool:
    """Tell whether a term with a colon behind it is one, and no label or value.

    Above a paragraph it is a heading set as text; a single word that many sections
    use (`name`, "Push") means something only where it stands.
    """
    if run.block.kind not in {"list", "quote"}:
        return False
    said = words(term)
    if len(said) != 1 or not term.strip(_QUOTES).isalpha():
        return True
    is_mixed = any(map(str.isupper, term.strip(_QUOTES)[1:]))
    return is_mixed or corpus.is_rarer(said[0])


def _in_sentences(survey: Survey, run: Run) -> Iterator[tuple[str, Span]]:
    said = survey.said(run.text)
    for start, end in sentences(said.text, survey.language):
        sentence = said.text[start:end]
        term = None
        if found := _ENCLOSED.match(sentence):
            if _UNDERSTOOD.search(sentence):
                term = found["of"] or found["par"] or found["por"]
        elif (found := _IN_WORDS.match(sentence)) and (
            found["article"] or found["term"][0].isupper()
        ):
            term = found["term"]
        if term:
            first = said.origin((start, end))[0]
            yield term, (first, len(run.text))


def _gold(survey: Survey, run: Run, stretch: Span) -> Passage | None:
    """Give the sentence that a stretch begins with, and the next where it is short."""
    start = stretch[0]
    near = run.text[start : min(stretch[1], start + answers.MOST)]
    end = 0
    for _, end in sentences(near, survey.language):
        if end >= answers.FEWEST:
            break
    if end < _SHORTEST or near[:end].endswith(":"):
        return None
    return answers.of_run(survey, run, (start, start + end))


def _name(survey: Survey, term: str) -> str | None:
    """Give a term as it is asked for; None where it is none."""
    name = " ".join(survey.said(term).text.split()).strip(_QUOTES).rstrip(" :：")
    said = words(name)
    if not said or len(said) > _MOST_WORDS or not any(map(str.isalpha, name)):
        return None
    if hangs(name) or (name.isascii() and len(name) < 3):
        return None
    if LABELS.issuperset(said[:1]) or has_pointers(name):
        return None
    return None if set(name) & set("{}<>|=[]?!,;") else name
