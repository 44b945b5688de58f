"""Tell the title of a clause from its text.

The heading of a clause is a stretch of the source: its number, and its title when
that can be told; else the number alone.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from situate.readers.clauses.marks import Mark

_MOST_WORDS = 12
_MOST_CHARACTERS = 90
_MOST_IDEOGRAPHS = 25

# Where a title runs into text on its line it is shorter, or cannot be told.
_MOST_INLINE_WORDS = 6
_MOST_CLOSED_WORDS = 10
_MOST_INTRODUCING_WORDS = 3

_IDEOGRAPH = re.compile("[\u3400-\u9fff\u3040-\u30ff]")
_INLINE = re.compile(r"(?P<title>[^.:;\n]{2,60}?)(?:\.?[ ]?[–—]|[.:])(?=\s+\S|[–—])")

# What makes a sentence of a line; names of clauses have no verb like these.
_VERBS = re.compile(
    r"\b(?:shall|must|may|will|is|are|was|were|has|have|agrees?|pays?|means?|"
    r"ist|sind|wird|werden|hat|haben|muss|müssen|kann|können|darf|dürfen|gilt|gelten|bedeutet|bezeichnet|"
    r"est|sont|doit|doivent|peut|peuvent|ont|désigne|es|son|debe|deben|puede|pueden)\b"
)
# A line that ends like this was broken where the next word did not fit.
_HANGING = re.compile(
    r"\s(?:of|the|a|an|to|in|on|by|for|with|from|and|or|as|at|that|which|any|"
    r"der|die|das|den|dem|des|ein|eine|und|oder|von|zu|mit|für|im|am|"
    r"de|la|le|les|des|du|un|une|et|ou|à|au|aux|el|los|y|o|en)$"
)
_SENTENCE_END = (".", "!", "\u3002", "\uff01", "\uff1b", "\uff0c", ";", ",")


def heading_end(
    text: str, mark: Mark, end: int, *, closed: bool, introduces: bool
) -> int:
    """Give where the heading of a clause ends whose text begins on its line.

    `end` is where its first stretch of text ends. A line that `introduces` points
    and ends in a colon is no title, and one with a full stop is one only where text
    stands below it: `closed`.
    """
    rest = mark.rest(text)
    if not rest:
        return mark.end
    start = mark.end + text[mark.end : mark.line_end].index(rest)
    stop = start + len(rest)
    below = text[mark.line_end : end].strip()
    leads_in = introduces and rest.endswith((":", "\uff1a")) and not below
    line = text[mark.start : stop]
    if is_title(rest, closed=closed) and not leads_in and not _runs_on(line, below):
        return stop
    found = _INLINE.match(text, start, mark.line_end)
    if found is not None and _is_inline(found["title"], found[0]):
        return found.end()
    return mark.end


def is_title(line: str, *, closed: bool = False) -> bool:
    """Say whether a line is the name of something rather than a sentence."""
    first = line.lstrip("\"'“„«(")[:1]
    if not first or first.islower() or len(line) > _MOST_CHARACTERS:
        return False
    if _IDEOGRAPH.search(line):
        return len(line) <= _MOST_IDEOGRAPHS and not line.endswith(_SENTENCE_END)
    count = len(line.split())
    if count > _MOST_WORDS or not any(map(str.isalpha, line)):
        return False
    if line.endswith("?") or (line.isupper() and not line.endswith((";", ","))):
        return True
    if line.endswith(":"):
        return count <= _MOST_INTRODUCING_WORDS
    if line.endswith(_SENTENCE_END):
        closed = closed and line.endswith(".") and count <= _MOST_CLOSED_WORDS
    else:
        closed = True
    return closed and not _VERBS.search(line) and not _HANGING.search(line)


def _runs_on(line: str, below: str) -> bool:
    """Say whether a line was broken because the next word did not fit."""
    if not below:
        return False
    lines = below.split("\n")
    if lines[0].lstrip()[:1].islower():
        return True
    if not any(map(str.isalnum, lines[0])):
        return False  # An underline.
    width = max(map(len, lines))
    word = lines[0].split()[0]
    return len(line) + 1 + len(word) > width and len(lines) > 1


def _is_inline(title: str, whole: str) -> bool:
    words = title.split()
    few = _MOST_INTRODUCING_WORDS if whole.endswith(":") else _MOST_INLINE_WORDS
    if not words or len(words) > few or _VERBS.search(title):
        return False
    if title.isupper():
        return True
    # A name, not the start of a sentence: its long words are capitalised.
    return words[0][:1].isupper() and all(
        word[:1].isupper() for word in words if len(word) > 4
    )
