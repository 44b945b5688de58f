"""Judges whether a model's answer is a question to compare on, and asks for a better.

It has to pass what a statement passes: one sentence within its cap, in the language
of the document, without link, instruction or invention. It has to be a question as
well, and one that a reader could ask who has never seen the passage: one that points
to it, copies it or asks in the words of its headings would find it by them alone.
"""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING, Final

from situate.compare.drafting.asking import (
    copies,
    is_question,
    points,
    shares,
    telling,
)
from situate.compare.drafting.wording import words
from situate.enrichment import gate
from situate.enrichment import language as languages
from situate.enrichment.gate import Gate, Verdict
from situate.enrichment.statement import clean, first_sentence, is_overlong

if TYPE_CHECKING:
    from collections.abc import Mapping

    from situate.enrichment.exchange import Rendered
    from situate.enrichment.gate import Context
    from situate.enrichment.reasons import GateReason, QuestionReason
    from situate.model import Chunk

RULES: Final = 1
"""Raised with every change of what passes; a test holds it to the code."""

_LABEL = re.compile(
    r"^(?:question|frage|pregunta|domanda|pergunta|vraag|вопрос|问题|質問)\s*[:：]\s*",
    re.IGNORECASE,
)
_NONE: Final = "none"
"""What the prompt has a model say of a passage that nobody would ask for."""

_FAULTS: Final[Mapping[str, str]] = {
    "redacted": "it holds something that was hidden from you; leave it out",
    "no_question": "it is no question; end it with a question mark",
    "pointer": "it points to the passage or the document, which nobody who asks has "
    "seen; name what it is about",
    "verbatim": "it takes more than five words in a row from the passage",
    "headings": "it asks in the words of the headings alone; use those of a person "
    "who does not know them",
    "unrelated": "it has no word that stands in the passage; keep one that people "
    "who ask would know",
    "too_short": "it is no complete question",
    "too_long": "it is too long; 25 words are the most",
    "language": "it is not in the language of the document",
    "url": "it holds a link or an e-mail address",
    "instruction": "it gives instructions instead of asking",
    "markup": "it is not plain text",
    "copy": "it repeats the document or its headings",
    "number": "it holds a number that does not stand in what you were shown",
    "date": "it holds a date or time that does not stand in what you were shown",
    "unit": "it gives a number a unit it does not have in what you were shown",
    "quotation": "it quotes words that do not stand in what you were shown",
    "name": "it holds a name that does not stand in what you were shown",
}


def judge(answer: str, chunk: Chunk, context: Context) -> Verdict:
    """Clean an answer and say whether its first sentence may be asked."""
    if is_overlong(answer):
        return Verdict(reasons=("too_long",))
    cleaned = _LABEL.sub("", clean(answer))
    if cleaned.casefold().strip(" .") == _NONE:
        return Verdict(refused=True)
    verdict = gate.judge(cleaned, chunk, context)
    if verdict.refused:
        return verdict
    text = first_sentence(clean(cleaned), context.language).text
    faults = [*_faults(text, chunk), *_foreign(text, chunk, context)]
    if not faults:
        return verdict
    return replace(verdict, statement=None, reasons=(*faults, *verdict.reasons))


def repair(rendered: Rendered, answer: str, verdict: Verdict) -> Rendered:
    """Ask for a question once more, naming what was wrong with the first."""
    task = (
        "Write the one question again without these faults. Answer with the "
        "question alone."
    )
    return gate.once_more(rendered, answer, verdict, faults=_FAULTS, task=task)


QUESTIONS: Final = Gate(
    rules=["question", RULES, gate.RULES], judge=judge, repair=repair
)
"""That of questions that a model drafts."""


def _faults(text: str, chunk: Chunk) -> tuple[QuestionReason, ...]:
    asked = telling(text)
    checks: tuple[tuple[QuestionReason, bool], ...] = (
        ("no_question", not is_question(text)),
        ("pointer", points(text)),
        ("verbatim", copies(text, chunk.text)),
        ("headings", _all_shared(asked, "\n".join(chunk.breadcrumb))),
        ("unrelated", not _any_shared(asked, chunk.text)),
    )
    return tuple(reason for reason, found in checks if found)


def _foreign(text: str, chunk: Chunk, context: Context) -> tuple[GateReason, ...]:
    """Judge the language by that of the passage, where the document names none."""
    if context.language is not None:
        return ()
    told = languages.spoken(words(chunk.text))
    return ("language",) if languages.speaks_another(text, told) else ()


def _any_shared(asked: list[str], text: str) -> bool:
    folded, known = text.casefold(), frozenset(words(text))
    return any(shares(word, folded, known) for word in asked)


def _all_shared(asked: list[str], text: str) -> bool:
    folded, known = text.casefold(), frozenset(words(text))
    return bool(asked) and all(shares(word, folded, known) for word in asked)
