"""Speed of reading and chunking: `python -m benchmarks.chunking [FOLDER]`.

Everything is a ratio to tokenizing the same text once with the tokenizer's own
library. Budgets stand beside the figures; exceeding one is for people to judge, so
the exit code does not depend on it.
"""

from __future__ import annotations

import argparse
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import tiktoken

from benchmarks.documents import HANDBOOK, Source, from_folder, handbook
from benchmarks.measuring import cpu_seconds, table
from situate.chunking import Rules, chunk
from situate.collector import collector_paused
from situate.lines import Lines
from situate.readers import read
from situate.tokens import TokenCounter, load_counter

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

    from situate.model import Chunk

Value = TypeVar("Value")

RULES = Rules()

# The budgets of the design: time over the tokenizer's, how often a text may be
# tokenized, and speed over the fastest peer's.
MOST_OVER_TOKENIZER = 2.6
MOST_TOKENIZED = 4.0
LEAST_OVER_PEER = 1.8

TOKENIZER = "cl100k_base"
ALONE = f"{TOKENIZER} of tiktoken alone"
CHUNKS = "bytes to chunks"
WHOLE = "bytes to JSON lines"


@dataclass(slots=True)
class Counting:
    """A counter that adds up how much it was given."""

    counter: TokenCounter
    characters: int = 0

    @property
    def name(self) -> str:
        """The name of the counter inside."""
        return self.counter.name

    @property
    def splits_at_lines(self) -> bool:
        """What the counter inside says."""
        return self.counter.splits_at_lines

    def count(self, text: str) -> int:
        """Count, and note the length of what was counted."""
        self.characters += len(text)
        return self.counter.count(text)


@dataclass(frozen=True, slots=True, kw_only=True)
class Stage:
    """A part of the way from bytes to JSON lines, and what it begins with."""

    run: Callable[[Any, TokenCounter], object]
    values: Sequence[Any]

    def all(self, counter: TokenCounter) -> None:
        """Run it on every value and keep nothing, as a run does."""
        for value in self.values:
            self.run(value, counter)


def encoding() -> tiktoken.Encoding:
    """Give the tokenizer itself, from the package that works offline."""
    return tiktoken.get_encoding(f"{TOKENIZER}_offline")


def cut(
    source: Source, counter: TokenCounter, rules: Rules = RULES
) -> tuple[Chunk, ...]:
    """Read and chunk one document."""
    with collector_paused():
        return chunk(read(source.data, source.name).document, rules, counter)


def lines(chunks: Iterable[Chunk]) -> Iterator[bytes]:
    """Yield chunks as a run writes them."""
    return map(Lines().line, chunks)


def _length(found: Iterable[bytes]) -> int:
    return sum(map(len, found))


def stages(sources: Sequence[Source]) -> Mapping[str, Stage]:
    """Give the whole way and its parts, each with what it begins with."""
    counter = load_counter(TOKENIZER)
    documents = [read(source.data, source.name).document for source in sources]
    chunks = [chunk(document, RULES, counter) for document in documents]
    return {
        CHUNKS: Stage(run=cut, values=sources),
        WHOLE: Stage(
            run=lambda source, counter: _length(lines(cut(source, counter))),
            values=sources,
        ),
        "read": Stage(
            run=lambda source, _: read(source.data, source.name), values=sources
        ),
        "chunk": Stage(
            run=lambda document, counter: chunk(document, RULES, counter),
            values=documents,
        ),
        "JSON lines": Stage(run=lambda found, _: _length(lines(found)), values=chunks),
    }


def each(
    work: Callable[[Value], object], values: Sequence[Value]
) -> Callable[[], None]:
    """Give what does this to every value and keeps nothing, as a run does."""

    def run() -> None:
        for value in values:
            work(value)

    return run


def check_corpus(sources: Sequence[Source]) -> int:
    """Make sure that what is timed is the real thing; gives the chunks."""
    count = encoding().encode_ordinary
    counter = load_counter(TOKENIZER)
    chunks = [one for source in sources for one in cut(source, counter)]
    assert chunks, "there is nothing to measure: no document has a chunk"
    wrong = [one for one in chunks if one.token_count != len(count(one.text))]
    assert not wrong, f"{wrong[0].chunk_id} has a wrong token count"
    large = [one for one in chunks if one.token_count > RULES.max_tokens]
    assert not large, f"{large[0].chunk_id} is above the limit"
    return len(chunks)


def steps(sources: Sequence[Source], *, rounds: int) -> None:
    """Time each step over a corpus against the tokenizer alone."""
    count = check_corpus(sources)
    counter = load_counter(TOKENIZER)
    texts = [source.text for source in sources]
    running: dict[str, Callable[[], object]] = {
        ALONE: each(encoding().encode_ordinary, texts)
    }
    for name, stage in stages(sources).items():
        running[name] = each(lambda one: one.all(counter), [stage])
    seconds = cpu_seconds(running, rounds=rounds)
    megabytes = sum(len(source.data) for source in sources) / 1e6
    print(f"{len(sources)} documents, {megabytes:.2f} MB, {count} chunks")
    rows = [
        [
            name,
            f"{megabytes / taken:.2f}",
            f"{taken / seconds[ALONE]:.2f}",
            _budget(name),
        ]
        for name, taken in seconds.items()
    ]
    table(["step", "MB/s", "x tokenizer", "budget"], rows)


def _budget(name: str) -> str:
    return f"{MOST_OVER_TOKENIZER}" if name == CHUNKS else ""


def tokenized(sources: Sequence[Source], rules: Rules = RULES) -> float:
    """Give how many characters were tokenized for each character of text."""
    counting = Counting(load_counter(TOKENIZER))
    for source in sources:
        cut(source, counting, rules)
    return counting.characters / sum(len(source.text) for source in sources)


def main() -> None:
    """Measure what the command line asks for."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument(
        "folder", nargs="?", type=Path, help=f"default: {HANDBOOK.name}, repeated"
    )
    parser.add_argument("--copies", type=int, default=20, help="of the handbook: 20")
    parser.add_argument("--rounds", type=int, default=5, help="default: 5")
    asked = parser.parse_args()
    sources = from_folder(asked.folder) if asked.folder else handbook(asked.copies)
    steps(sources, rounds=asked.rounds)
    print(
        f"tokenized per character of this corpus: {tokenized(sources):.2f} "
        f"(budget {MOST_TOKENIZED:g})"
    )


if __name__ == "__main__":
    main()
