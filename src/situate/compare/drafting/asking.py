"""How questions are asked, and by what they point, in the languages drafted in.

Told by short lists of words: in a language without them a question is known by its
mark alone, and nothing is taken for a pointer.
"""

from __future__ import annotations

import re
from typing import Final

from situate.compare.drafting.wording import words

_MARKS: Final = ("?", "？", "\u061f", "\u037e", "\u055e")
"""What a question ends with; Arabic, Greek and Armenian have signs of their own."""

_CLOSING: Final = " \"'”“’»)]」』"
_STOPS: Final = (".", "!", "。", "！", "…", ":", "：")

_ASKING_TEXT: Final = """
what who whom whose which how why
was wer wem wen wessen welche welcher welches welchen welchem wie warum weshalb
wieso wohin woher womit wofür wozu wieviel
qui quoi quel quelle quels quelles comment pourquoi combien qu
qué quién quiénes cuál cuáles cómo cuánto cuánta cuántos cuántas cuándo dónde
che chi cosa quale quali come perché quanto quanta quanti quante
quem qual quais quantos quantas
wat wie welke hoe waarom hoeveel
"""
_ASKING: Final = frozenset(_ASKING_TEXT.split())
"""Words that ask and seldom begin a statement, as "when" does: it needs a mark."""

_OPENING_TEXT: Final = """
can could do does did is are am was were will would should must may have has
kann können könnte darf dürfen muss müssen ist sind hat haben wird werden soll
est peut puis puede puedo può posso pode kan mag moet
"""
_OPENING: Final = frozenset(_OPENING_TEXT.split())
"""Verbs that open a question and no statement."""

_IDEOGRAPHIC = re.compile(
    r"什么|怎么|怎样|如何|哪|谁|为何|多少|几|是否|能否|吗|呢|何時|いつ|どこ|どの|どう|"
    r"なぜ|誰|ですか|ますか|か$"
)

_NOUNS: Final = (
    "section|sections|passage|passages|document|documents|text|page|chapter|article|"
    "excerpt|paragraph|table|list|policy|guide|manual|handbook|contract|"
    "textes?|articles?|chapitre|paragraphe|tableau|liste|politique|contrat|extrait|"
    "sección|pasaje|documento|texto|página|capítulo|artículo|párrafo|tabla|lista|"
    "política|guía|contrato|sezione|passaggio|testo|pagina|capitolo|articolo|"
    "paragrafo|tabella|elenco|contratto|seção|secção|passagem|capítulo|artigo|"
    "parágrafo|tabela|trecho|sectie|passage|tekst|hoofdstuk|artikel|alinea|tabel|lijst"
)
_POINTER = re.compile(
    # In English and German these words point wherever they stand, but in time.
    r"\b(?:this|these)\b(?! (?:year|month|week|quarter|time|morning|evening)s?\b)"
    r"|\bdies(?:e[rsmn]?)?\b(?! (?:jahre?s?|monate?s?|woche|mal)\b)"
    rf"|\b(?:ce|cet|cette|ces|este|esta|estos|estas|ese|esa|questo|questa|questi|"
    rf"queste|nesta|neste|desta|deste|esse|essa|dit|deze) (?:{_NOUNS})\b"
    # The place where the answer stands, which only its writer has seen.
    rf"|\b(?:according to|described in|mentioned in|stated in|listed in|given in|"
    rf"shown in) the (?:{_NOUNS})\b"
    r"|\b(?:the|in) (?:passage|excerpt)\b|\bthe (?:above|following)\b|\bin the text\b"
    r"|\b(?:mentioned|described|listed|given|shown|stated|defined) "
    r"(?:above|below|here|earlier)\b|\b(?:aforementioned|above-mentioned)\b"
    r"|\b(?:laut|gemäß|nach|in|im|aus) (?:de[mr] )?"
    r"(?:text|abschnitt|dokument|passage|textstelle|auszug)\b"
    r"|\b(?:oben|unten|hier|vorstehend|nachstehend) "
    r"(?:genannt|beschrieben|erwähnt|aufgeführt)\w*\b|\b(?:obige|folgende)[rsnm]?\b"
    rf"|\b(?:selon|dans|según|secondo|segundo|volgens) (?:le|la|el|il|o|a|de|het) "
    rf"(?:{_NOUNS})\b"
    r"|\bci-(?:dessus|dessous|après|avant)\b|\b(?:suddett|sopraindicat)[oaei]\b"
    r"|\b(?:bovenstaande?|onderstaande?|hierboven|hieronder)\b"
    r"|本节|本文|本章|本段|本条|该段|该文|该节|这[一]?[段节章篇份]|上文|下文|上述|以下|此处"
    r"|本書|この[文章節表]|上記|下記",
)

_EMPTY_TEXT: Final = """
the and for are can does did has have had was were will would should must may not
with from that this these those there their they them you your our his her its who
whom whose what which when where why how any all get got one out into about than
then been being such some much many more most long often need needs want use used
done just only also mean means happen happens make makes take takes thing things if
after before during still while other another each every both between within without
der die das den dem des und oder ist sind war hat haben wird werden kann können darf
muss soll nicht mit von für auf bei aus nach zum zur ein eine einen einem einer eines
ich wir sie ihr man sich mein meine unser was wer wie wo wann warum welche welcher
welches welchen welchem wenn als auch noch viel viele lange gibt gilt habe hätte diese
dieser dieses diesem diesen werde würde könnte müsste sollte bin bist seid damit wofür
les des une est sont dans pour avec par sur qui que quoi quel quelle quels quelles
comment pourquoi combien quand mon mes ses leur nous vous ils elle elles faut peut cette
los las una uno con por para que qué cuál cómo cuándo cuánto dónde son está mis nos
del gli una uno con per che chi cosa quale come quando quanto dove sono nel alla
dos das uma com por para não que qual como quando quanto onde são
het een van voor met wat wie hoe wanneer waar welke zijn niet kan moet mijn
什么 怎么 如何 哪些 哪个 为什 多少 是否 可以 需要 应该
"""
_EMPTY: Final = frozenset(_EMPTY_TEXT.split())
"""Words that every question has and no passage is about."""

_SHORT: Final = 3
"""Letters of a word that is compared whole; fewer say nothing."""

_WORD = re.compile(r"[\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff]|[^\W_]+")

_MOST_COPIED: Final = 5.0
"""Words in a row that question and passage may share; an ideograph is half a word."""


def is_question(text: str) -> bool:
    """Tell whether a sentence asks: by its mark, else by the word it begins with."""
    ending = text.rstrip(_CLOSING)
    if ending.endswith(_MARKS):
        return True
    if ending.endswith(_STOPS):
        return False
    first = words(text[:60])[:2]
    if not _ASKING.isdisjoint(first) or not _OPENING.isdisjoint(first[:1]):
        return True
    return _IDEOGRAPHIC.search(ending) is not None


def points(text: str) -> bool:
    """Tell whether a question points to what its reader has not seen."""
    return _POINTER.search(" ".join(text.casefold().split())) is not None


def telling(text: str) -> list[str]:
    """Give the words of a question that say what it is about, in small letters."""
    return [
        word
        for word in words(text)
        if word not in _EMPTY
        and (len(word) >= _SHORT or not word.isascii() or word.isdecimal())
    ]


def shares(word: str, text: str, known: frozenset[str]) -> bool:
    """Tell whether a text, in small letters, has a word, whatever its ending.

    `known` are the words of the text.
    """
    if len(word) <= _SHORT:
        return word in known or (not word.isascii() and word in text)
    return word[: max(4, len(word) * 7 // 10)] in text


def copies(question: str, passage: str) -> bool:
    """Tell whether more than five words in a row stand in the passage as well."""
    asked = _WORD.findall(question.casefold())
    known = f" {' '.join(_WORD.findall(passage.casefold()))} "
    for first in range(len(asked)):
        length, last = 0.0, first
        while last < len(asked) and length <= _MOST_COPIED:
            length += 0.5 if _is_ideograph(asked[last]) else 1.0
            last += 1
        if length <= _MOST_COPIED:
            return False
        if f" {' '.join(asked[first:last])} " in known:
            return True
    return False


def _is_ideograph(word: str) -> bool:
    return len(word) == 1 and word >= "\u3040"
