"""C11: no text is tokenized more than four times, whatever holds it."""

from __future__ import annotations

import pytest

from situate.chunking import ReadingForm, Rules, chunk
from situate.model import walk
from situate.readers import read
from situate.tokens import load_counter

COUNTER = load_counter("cl100k_base")
SENTENCES = "The pump ran for a day, then it stopped and was looked at. "
NESTED = (
    "- an item\n\n  More of it. " + SENTENCES * 12 + "\n\n  - below " + SENTENCES * 12
)

SHAPES = {
    "a paragraph": SENTENCES * 400,
    "a paragraph without spaces": "本办法适用于公司全部仓库的出入库管理，" * 400,
    "a word": "QUJDabc1" * 2000,
    "sections": "".join(f"## S {n}\n\nText {n} of it.\n\n" for n in range(400)),
    "a table": "| a | b |\n|---|---|\n" + "| row | some value |\n" * 800,
    "long rows": "| a | b |\n|---|---|\n" + f"| row | {SENTENCES * 20} |\n" * 20,
    "a table of marks alone": ("|" + " |" * 999 + "\n")
    + ("|" + "-|" * 999 + "\n")
    + ("|" + " |" * 999 + "\n") * 2,
    "a list": "Intro:\n\n" + "- one of many items\n" * 800,
    "long nested items": f"{NESTED}\n\n" * 20,
    "a list nested in lists": "".join(
        f"{'  ' * level}- Step {level} of those above.\n" for level in range(20)
    ),
    "code": "```\n" + "    line of code = 1\n" * 800 + "```\n",
    "nested quotations": ">" * 30 + " " + SENTENCES * 300,
    "a long heading": "# " + SENTENCES * 200 + "\n\nText.\n",
    "a long heading over many sections": f"# {SENTENCES * 40}\n\n"
    + "".join(f"## S {n}\n\nText {n} of it.\n\n" for n in range(400)),
    "marks piled on a heading": "# e" + "\u0301" * 4000 + "\n\nText.\n",
    "marks piled on an item": "- e" + "\u0301" * 9000 + "\n",
    "headings without text": "# T\n\n" + "## Reserved\n\n" * 600 + "Text.\n",
    "a long fence": "```py " + "word " * 600 + "\n" + "x = 1\n" * 200 + "```\n",
    "one long line after another": "\n".join("`" * n for n in range(1, 160)),
}


class Tally:
    """A counter that adds up what it is given."""

    name = "cl100k_base"
    characters = 0

    def __init__(self, *, splits_at_lines: bool = True) -> None:
        self.splits_at_lines = splits_at_lines

    def count(self, text: str) -> int:
        """Count, and remember how much."""
        self.characters += len(text)
        return COUNTER.count(text)


@pytest.mark.parametrize("text", SHAPES.values(), ids=SHAPES.keys())
@pytest.mark.parametrize("granularity", ["leaves", "tree", "multi"])
@pytest.mark.parametrize("form", ["text", "reading"])
def test_work_grows_with_the_text_alone(
    text: str, granularity: str, form: ReadingForm
) -> None:
    """Large or deep, every shape stays under the same bound."""
    tally = Tally()
    document = read(text.encode(), "doc.md").document
    rules = Rules(max_tokens=128, granularity=granularity, reading=form)  # type: ignore[arg-type] # parametrize gives plain strings

    chunks = chunk(document, rules, tally)

    leaves = [leaf for leaf in chunks if leaf.embed]
    held = {block_id for leaf in leaves for block_id in leaf.block_ids}
    assert held == {
        block.block_id for part, _ in walk(document.root) for block in part.blocks
    }
    assert all(leaf.text.strip() and leaf.token_count <= 128 for leaf in leaves)
    # A table says its labels with every value when it is read: a text of its own.
    read_out = sum(
        len(leaf.reading)
        for leaf in leaves
        if form == "reading" and text.startswith("| a |")
    )
    assert tally.characters <= 4 * len(text) + read_out


@pytest.mark.parametrize("max_tokens", [128, 512])
def test_headings_are_not_counted_anew_with_every_one_that_moves(
    max_tokens: int,
) -> None:
    """A chunk that takes heading after heading adds them up, with any counter."""
    tally = Tally(splits_at_lines=False)
    text = SHAPES["headings without text"]
    document = read(text.encode(), "doc.md").document

    chunks = chunk(document, Rules(max_tokens=max_tokens), tally)

    assert all(leaf.token_count <= max_tokens for leaf in chunks)
    assert tally.characters <= 4 * len(text)
