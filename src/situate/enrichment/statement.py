"""Takes off what models wrap around a sentence, and finds where it ends.

Cleaning only removes: it is safe to repeat, never lengthens and leaves one
line. Whether what remains is fit to be indexed is judged elsewhere. Answers may
be hostile: every pattern here looks at a character a bounded number of times.
"""

from __future__ import annotations

import functools
import re
import unicodedata
from dataclasses import dataclass

_LONGEST_ANSWER = 10_000
"""Characters beside thinking. The longest sentence that config allows has about
half as many, and nothing behind a first sentence is ever used."""

_MOST_WRAPPINGS = 12
"""Layers that are taken off; nobody wraps a sentence in more."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Sentence:
    """The first sentence of an answer."""

    text: str
    trimmed: bool
    """True when more sentences followed."""


# Storing, judging and accounting each look at the same answer.
@functools.lru_cache(maxsize=256)
def clean(answer: str) -> str:
    """Remove thinking, preambles, quotes, markup and invisible characters.

    Gives one line; an answer that is nothing but these gives the empty string.
    Of an answer that `is_overlong` only the beginning is looked at.
    """
    text = said(answer)[:_LONGEST_ANSWER]
    # Taking off one wrapping may lay bare another.
    for _ in range(_MOST_WRAPPINGS):
        cleaned = _clean_once(text)
        if cleaned == text:
            return text
        text = cleaned
    return ""


def is_overlong(answer: str) -> bool:
    """Say whether an answer is many times longer than any sentence."""
    return len(said(answer)) > _LONGEST_ANSWER


def first_sentence(text: str, language: str | None) -> Sentence:
    """Give the first sentence; abbreviations and decimals do not end one."""
    import sentencex

    code = re.split(r"[-_]", language)[0].lower() if language else ""
    if not re.fullmatch(r"[a-z]{2,3}", code):
        code = "en"
    pieces: list[str] = sentencex.segment(code, text)
    kept, unclosed = "", 0
    for piece in pieces:
        if kept and unclosed <= 0 and not _goes_on(kept, piece):
            break
        kept += piece
        unclosed += piece.count("(") - piece.count(")")
    return Sentence(text=kept.strip(), trimmed=len(kept.strip()) < len(text.strip()))


# Endings the splitter takes for the end of a sentence when a capital follows.
_ABBREVIATION = re.compile(
    r"(?:^|[\s(\[\"'„“])(?:e\.\s?g|i\.\s?e|z\.\s?B|d\.\s?h|u\.\s?a|o\.\s?ä|p\.\s?ex|"
    r"[Cc]f|vs|approx|incl|excl|bzw|ca|[Vv]gl|evtl|ggf|inkl|zzgl)\.\s*$"
)


def _goes_on(kept: str, following: str) -> bool:
    """Say whether the splitter cut inside a sentence."""
    end = kept[-_LONGEST_ABBREVIATION:]
    return _ABBREVIATION.search(end) is not None or following.lstrip()[:1].islower()


_LONGEST_ABBREVIATION = 16
"""Characters, with the mark before it and the spaces after it."""


def said(answer: str) -> str:
    """Leave out what no reader sees and what a model only thought."""
    return _without_thinking(_visible(answer)).strip()


def _clean_once(text: str) -> str:
    text = _without_outer_lines(_without_thinking(text))
    if "<" in text:
        text = _WRAPPING_TAG.sub("", text)
    text = _without_marks(" ".join(text.split()))
    text = _INTERJECTION.sub("", text, count=1)
    text = _ANNOUNCEMENT.sub("", text, count=1)
    text = _LABEL.sub("", text, count=1)
    return _unquoted(text.strip())


_JOINERS = "\u200c\u200d"  # Persian, Indic scripts and emoji need them.


def _visible(text: str) -> str:
    """Drop what no reader sees: controls, bidi marks, tags, lone surrogates."""
    if text.replace("\n", "").isprintable():
        return text
    return "".join(
        character
        for character in text
        if character in _JOINERS
        or character.isspace()
        or not (
            unicodedata.category(character) in {"Cc", "Cf", "Cs", "Co"}
            or _is_noncharacter(ord(character))
        )
    )


def _is_noncharacter(point: int) -> bool:
    # Spelled out: the category of what is not assigned yet changes with Python.
    return point & 0xFFFE == 0xFFFE or 0xFDD0 <= point <= 0xFDEF


_THINKING_TAG = re.compile(
    r"<(/?)(?:think|thinking|thought|thoughts|reasoning|reflection)\b[^<>]*>",
    re.IGNORECASE,
)


def _without_thinking(text: str) -> str:
    """Drop what stands between the marks of thinking, or after an open one.

    Some servers take the opening mark for a part of the prompt: then everything
    before the closing one is thinking.
    """
    if "<" not in text:
        return text
    kept: list[str] = []
    start, thinking = 0, False
    for tag in _THINKING_TAG.finditer(text):
        if tag[1]:
            if not thinking:
                kept.clear()
            start, thinking = tag.end(), False
        elif not thinking:
            kept.append(text[start : tag.start()])
            thinking = True
    return "".join(kept if thinking else [*kept, text[start:]])


_FENCE = re.compile(r"(?:```|~~~)\s*\w*")
_RULE = re.compile(r"-{3,}|\*{3,}|_{3,}|={3,}")
_SHORT_LINE = 120


def _without_outer_lines(text: str) -> str:
    """Drop fences, rules and a first line that only announces the next."""
    lines = [
        line
        for line in text.splitlines()
        if (bare := line.strip())
        and not _FENCE.fullmatch(bare)
        and not _RULE.fullmatch(bare)
    ]
    if len(lines) > 1:
        first = lines[0].strip().rstrip("*_ ")
        if first.endswith((":", "：")) and len(first) <= _SHORT_LINE:
            lines = lines[1:]
    if any(_SECOND.match(line) for line in lines):
        lines = [_NUMBER.sub("", line) for line in lines]
    return "\n".join(_LINE_MARK.sub("", line) for line in lines)


_LINE_MARK = re.compile(r"^\s*(?:[-*+•‣▪–—]\s+|\d{1,2}\)\s+|#{1,6}\s+|>\s?)+")

# A lone `1.` may be a date in German; a list has a second item.
_SECOND = re.compile(r"\s*2[.)]\s")
_NUMBER = re.compile(r"^\s*\d{1,2}[.)]\s+")

_WRAPPING_TAG = re.compile(
    r"</?(?:statement|context|answer|output|sentence|response|result|passage|"
    r"(?:document|chunk|answer)-[0-9a-f]{8,}|p|b|i|em|strong|span|br)\s*/?>",
    re.IGNORECASE,
)

_STRONG = re.compile(r"\*\*(?=\S)((?:[^*]|\*(?!\*))+?)(?<=\S)\*\*")
_EMPHASIS = re.compile(r"(?<![\w*])\*(?=\S)([^*]+?)(?<=\S)\*(?![\w*])")
_CODE = re.compile(r"`+([^`]*)`+")
_LINK = re.compile(r"!?\[([^\[\]]+)\]\([^()\s]*\)")


def _without_marks(text: str) -> str:
    text = _LINE_MARK.sub("", text)
    if "*" not in text and "`" not in text and "[" not in text:
        return text
    for mark in (_LINK, _STRONG, _EMPHASIS, _CODE):
        text = mark.sub(r"\1", text)
    return text


_INTERJECTION = re.compile(
    r"^(?:sure(?: thing)?|certainly|of course|absolutely|got it|understood|"
    r"ok(?:ay)?(?=\s*[!.]|, here)|"
    r"gerne?|natürlich|selbstverständlich|klar|bien sûr|certainement|d'accord|"
    r"claro(?: que sí)?|por supuesto|certo|certamente|naturalmente|com certeza|"
    r"natuurlijk|zeker|конечно|好的|当然|はい|承知しました)\s*[!,.:;，。！]+\s*",
    re.IGNORECASE,
)

_ANNOUNCEMENT = re.compile(
    r"^(?:here(?: is|'s|’s| are)|below is|hier (?:ist|kommt|folgt)|"
    r"voici|voilà|ecco|aquí (?:está|tienes|tiene)|aqui está|hier is|вот|以下是|以下は)"
    r"[^:：.!?]{0,100}[:：]\s*",
    re.IGNORECASE,
)

_LABEL = re.compile(
    r"^(?:(?:the |one |final |situating |findable )?(?:context|statement|sentence|"
    r"summary|answer|output|response)|"
    r"(?:der )?(?:kontext|satz|antwort|zusammenfassung|aussage)|contexte|phrase|"
    r"réponse|résumé|contexto|oración|frase|respuesta|resumen|contesto|risposta|"
    r"riassunto|resposta|resumo|antwoord|zin|samenvatting|контекст|ответ|предложение|"
    r"上下文|答案|句子|文脈|回答)\s*[:：]\s*",
    re.IGNORECASE,
)

_QUOTES = {
    '"': '"',
    "'": "'",
    "“": "”",
    "„": "“”",
    "”": "”",
    "\u2018": "\u2019",  # single quotes, high
    "\u201a": "\u2018\u2019",  # single quotes, the first one low
    "«": "»",
    "»": "«",
    "\u2039": "\u203a",  # single angle quotes
    "「": "」",
    "『": "』",
    "`": "`",
    "_": "_",
    "*": "*",
}
"""Opening marks with those that close them."""


def _unquoted(text: str) -> str:
    """Take off a pair of quotes that holds the whole text."""
    if len(text) < 2:
        return "" if text in _QUOTES else text
    ending = "." if text.endswith(".") and text[-2] != "." else ""
    core = text.removesuffix(ending) if ending else text
    closing = _QUOTES.get(core[0], "")
    inner = core[1:-1]
    if core[-1] not in closing or core[0] in inner or core[-1] in inner:
        return text
    return inner.strip() + ("" if inner.rstrip().endswith((".", "!", "?")) else ending)
