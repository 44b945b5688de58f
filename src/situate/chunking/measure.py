"""Count each text once, and add the counts up.

Blocks stand in a chunk with a blank line between them, so a block is measured
together with the blank line after it; only the last block of a chunk needs the
count of its text alone. Where the tokenizer splits at line starts that differs
in the last few characters only, and nothing is tokenized a second time.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from situate.model import Items, Quote, Table

if TYPE_CHECKING:
    from collections.abc import Iterable

    from situate.chunking.reading import Reading, TableReading
    from situate.model import Block, Item, Span
    from situate.tokens import TokenCounter

GAP = "\n\n"
"""What stands between two blocks of a chunk."""

# A blank line is one or two tokens in every tokenizer measured; a text without
# it is at most this much smaller than with it.
_GAP_TOKENS = 2
_MARKER_TOKENS = 2

_LONGEST_TAIL = 64

_HOLDING = frozenset({"list", "quote"})


class Measure:
    """Counts of texts as they stand in a chunk; one for each document."""

    def __init__(
        self,
        counter: TokenCounter,
        *,
        reading: Reading | None = None,
        reading_limit: int | None = None,
    ) -> None:
        self.counter = counter
        self.reading = reading
        """How blocks are read; None where texts are indexed as they are."""
        self.reading_limit = reading_limit
        """Most tokens of a reading."""
        self.exact_sums = counter.splits_at_lines
        self._words: dict[str, int] = {}
        self._gaps: dict[str, int] = {}
        """Tokens that a blank line adds to the end of a text."""
        self._sizes: dict[int, int] = {}
        self._counted: set[int] = set()
        """Items inside of one that was counted."""

    def count(self, text: str) -> int:
        """Give the tokens of a text on its own."""
        return self.counter.count(text)

    def joined(self, text: str) -> int:
        """Give the tokens of a text and the blank line after it."""
        return self.counter.count(text + GAP)

    def alone(self, text: str, joined: int) -> int:
        """Give the tokens of a text from its count with the blank line."""
        tail = _tail(text) if self.exact_sums else ""
        if not tail:
            return self.word(text)
        gap = self._gaps.get(tail)
        if gap is None:
            gap = self._gaps[tail] = self.count(tail + GAP) - self.count(tail)
        return joined - gap

    def with_gap(self, line: str, used: int) -> int | None:
        """Turn a sum over lines, up to this one, into what `joined` would give.

        None where that would need another look at the line.
        """
        tail = _tail(line)
        if not tail:
            return None
        return used - self.word(tail + "\n") + self.word(tail + GAP)

    def fits(self, text: str, joined: int, room: int) -> bool:
        """Tell whether a text fits as the last one into `room` tokens.

        With a blank line behind it a text can have a token less, too: `*;` is two
        and, with the line break that ends it, one.
        """
        if joined + _GAP_TOKENS <= room:
            return True
        return joined - _GAP_TOKENS <= room and self.alone(text, joined) <= room

    def word(self, text: str) -> int:
        """Give the tokens of a text that is likely to be asked about again."""
        found = self._words.get(text)
        if found is None:
            found = self._words[text] = self.counter.count(text)
        return found

    def excess(self, block: Block, joined: int, rows: Span | None = None) -> int:
        """Give how many tokens a reading has above its text: tables grow when read.

        Nothing is said of a block whose text is beyond the bound already: its
        pieces will be asked about. `rows` are those of a piece of a table.
        """
        reading, limit = self.reading, self.reading_limit
        if reading is None or limit is None or joined > limit:
            return 0
        if isinstance(block.content, Table):
            table = reading.table(block, block.content)
            first, end = rows or (0, len(block.content.rows))
            tokens = sum(self.row(table, index) for index in range(first, end))
            return max(0, self.word(table.above + "\n") + tokens - joined)
        if rows is None and block.kind in _HOLDING:
            return max(0, self.count(reading.block(block)) - joined)
        return 0

    def row(self, table: TableReading, index: int) -> int:
        """Give the tokens of a row as it is read, its line break included."""
        found = table.tokens.get(index)
        if found is None:
            said = table.row(index)
            found = self.counter.count(said + "\n") if said else 0
            table.tokens[index] = found
        return found

    def size(self, block: Block) -> int:
        """Estimate a block with the blank line after it from the texts inside.

        However deep they are nested, those are counted once.
        """
        found = self._sizes.get(id(block))
        if found is None:
            match block.content:
                case Items(items=items):
                    found = sum(self.item_size(item) for item in items)
                case Quote(blocks=blocks):
                    found = sum(self.size(inner) for inner in blocks)
                case _:
                    found = self.joined(block.text)
            self._sizes[id(block)] = found
        return found

    def item_size(self, item: Item) -> int:
        """Estimate an item of a list; exact where it is plain text."""
        if item.blocks:
            return _MARKER_TOKENS + sum(self.size(block) for block in item.blocks)
        found = self._sizes.get(id(item))
        if found is None:
            found = self._sizes[id(item)] = self.counter.count(item.text + "\n")
        return found

    def count_item(self, item: Item, gap: str, known: int | None) -> int | None:
        """Count an item with blocks, unless its count is known from elsewhere.

        None inside of one that was counted: estimates have to do there, or texts
        nested deep would be counted at every level.
        """
        if id(item) in self._counted:
            return None
        pending = list(item.blocks)
        while pending:
            content = pending.pop().content
            if isinstance(content, Items):
                self._counted.update(map(id, content.items))
                pending += [block for inner in content.items for block in inner.blocks]
            elif isinstance(content, Quote):
                pending += content.blocks
        return self.count(item.text + gap) if known is None else known


def may_grow(blocks: Iterable[Block]) -> bool:
    """Tell whether a block may hold a table, which grows when it is read."""
    for block in blocks:
        kind = block.kind
        if kind == "table" or (kind in _HOLDING and "|" in block.text):
            return True
    return False


def _tail(text: str) -> str:
    """Give the end of a text that a line break after it may change the count of.

    That is the punctuation it ends in, which a line break joins; a letter or
    digit it never does. Empty when there is more of it than is worth a look.
    """
    if not text or text[-1].isspace():
        return ""
    if text[-1].isalnum():
        return text[-1]
    start = len(text)
    least = max(0, start - _LONGEST_TAIL)
    while start > least and not (
        text[start - 1].isalnum() or text[start - 1].isspace()
    ):
        start -= 1
    if start == least and least > 0:
        return ""
    if start > 0 and text[start - 1] == " ":
        start -= 1
    return text[start:]
