"""Count each text once, and add the counts up.

Blocks stand in a chunk with a blank line between them, so a block is measured
together with the blank line after it; only the last block of a chunk needs the
count of its text alone. Where the tokenizer splits at line starts that differs
in the last word only, and nothing is tokenized a second time.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from situate.tokens import TokenCounter

GAP = "\n\n"
"""What stands between two blocks of a chunk."""

# A blank line is one or two tokens in every tokenizer measured; a text without
# it is at most this much smaller than with it.
_GAP_TOKENS = 2


class Measure:
    """Counts of texts as they stand in a chunk."""

    def __init__(self, counter: TokenCounter) -> None:
        self.counter = counter
        self.exact_sums = counter.splits_at_lines
        self._words: dict[str, int] = {}

    def count(self, text: str) -> int:
        """Give the tokens of a text on its own."""
        return self.counter.count(text)

    def joined(self, text: str) -> int:
        """Give the tokens of a text and the blank line after it."""
        return self.counter.count(text + GAP)

    def alone(self, text: str, joined: int) -> int:
        """Give the tokens of a text from its count with the blank line."""
        if not self.exact_sums:
            return self.counter.count(text)
        tail = _last_word(text)
        return joined - self.counter.count(tail + GAP) + self.counter.count(tail)

    def fits(self, text: str, joined: int, room: int) -> bool:
        """Tell whether a text fits as the last one into `room` tokens."""
        if joined <= room:
            return True
        return joined - _GAP_TOKENS <= room and self.alone(text, joined) <= room

    def word(self, text: str) -> int:
        """Give the tokens of a short text that is likely to come again."""
        found = self._words.get(text)
        if found is None:
            found = self._words[text] = self.counter.count(text)
        return found


def _last_word(text: str) -> str:
    """Give the last word with the space before it, where a token begins for sure."""
    at = text.rfind(" ", text.rfind("\n") + 1)
    if 0 < at < len(text) - 1 and not text[at - 1].isspace():
        return text[at:]
    return text[text.rfind("\n") + 1 :]
