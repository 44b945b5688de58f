"""Words by which sentences lean on others, in the languages questions are drafted in.

A sentence that points back, or that ends where a reference was taken out of it, is
no question anybody could answer on its own.
"""

from __future__ import annotations

from typing import Final

from situate.compare.drafting.wording import words

_LABELS_TEXT: Final = """
note notes warning caution important tip tips hint example examples remark info
danger attention todo default type types usage syntax summary question answer
returns parameters arguments optional required result step goal objective
hinweis hinweise achtung warnung wichtig tipp beispiel beispiele anmerkung
bemerkung vorsicht gefahr standard typ frage antwort ergebnis ziel schritt
remarque avertissement conseil exemple exemples astuce résultat étape
nota aviso advertencia ejemplo ejemplos importante atención consejo resultado
paso
attenzione avviso suggerimento esempio esempi risultato
atenção advertência exemplo exemplos dica passo
opmerking waarschuwing voorbeeld belangrijk
注意 提示 说明 警告 示例 备注
"""
LABELS: Final = frozenset(_LABELS_TEXT.split())
"""What stands in front of a remark and is no term."""

_POINTING_TEXT: Final = """
this these that those it its they them their he she his her such here there both
he we you i which what who if when however therefore otherwise then thus also
same another either neither one each following above below previous
dies diese dieser dieses diesem diesen das es sie er ihr ihre sein seine hier
dort
dabei dazu damit daher dadurch darin davon solche beide wir jene jener dessen
deren andernfalls sonst außerdem folgende wenn
ce cet cette ces cela ceci il elle ils elles celui celle ceux on y en leur leurs
ici ainsi sinon dont
este esta estos estas esto ese esa eso ello ellos ellas aquí así su sus
questo questa questi queste ciò esso essa essi qui così
isto esse essa esses essas ele ela eles aqui assim
dit deze dat hij zij ze hun hier daar
"""
_POINTING: Final = frozenset(_POINTING_TEXT.split())

_HANGING_TEXT: Final = """
a an the and or but in of to for on under by at with from as see is are be that
which per than via between about into except when where while if
not can may might should must will need needs could would nicht kann darf muss pas
peut doit non puede debe niet kan
und oder in im nach gemäß laut unter zu zum zur der die das den dem des mit von
für auf bei als ist sind siehe wie
et ou à au aux de du des la le les dans par pour sur selon avec voir que est
y o a al del el los las en por para según con ver que es
e di da nel del della con per il lo gli ed secondo
no na nos nas do da dos das ao ou como
het een van op voor met te
"""
_HANGING: Final = frozenset(_HANGING_TEXT.split())

_ARTICLES: Final = frozenset({"a", "an", "the", "der", "die", "das", "le", "la", "el"})
_DEMONSTRATIVES: Final = frozenset(
    {
        "this", "these", "such", "so", "dies", "diese", "dieser", "dieses", "diesem",
        "diesen", "cela", "ce", "cette", "ces", "esto", "este", "esta", "estos",
        "estas", "questo", "questa", "isto", "dit", "deze",
    }
)  # fmt: skip


def leans(text: str) -> bool:
    """Tell whether a sentence needs another one before it, or more behind it."""
    opening, closing = words(text[:60])[:3], words(text[-60:])[-1:]
    if not opening or text.endswith(":") or hangs(text):
        return True
    if text[0].islower() and opening[0] in _HANGING - _ARTICLES:
        return True
    if opening[0] in _POINTING or closing[0] in _POINTING:
        return True
    return not _DEMONSTRATIVES.isdisjoint(opening)


def has_pointers(text: str) -> bool:
    """Tell whether any word of a short text stands for something else."""
    return not _POINTING.isdisjoint(words(text))


def hangs(text: str) -> bool:
    """Tell whether a text ends in a word that another has to follow."""
    closing = words(text[-60:])[-1:]
    return bool(closing) and closing[0] in _HANGING
