"""Speed of reading and chunking: `python -m benchmarks.chunking [FOLDER]`.

Everything is a ratio to tokenizing the same text once, which nothing that
counts exactly can avoid. Budgets stand beside the figures; exceeding one is for
people to judge, so the exit code does not depend on it.
"""

from __future__ import annotations

import argparse
import functools
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from benchmarks.documents import HANDBOOK, SHAPES, Source, from_folder, handbook
from benchmarks.measuring import cpu_seconds, table
from situate.chunking import Rules, chunk
from situate.readers import read
from situate.records import to_line, to_record
from situate.tokens import TokenCounter, load_counter

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from situate.model import Chunk

    Splitter = Callable[[str], Sequence[object]]

Value = TypeVar("Value")

RULES = Rules()

# The budgets of the design: time over the tokenizer's, time of ten times the
# document, and how often a text may be tokenized.
MOST_OVER_TOKENIZER = 2.6
MOST_AT_TEN_TIMES = 11.0
MOST_TOKENIZED = 4.0
LEAST_OVER_PEER = 1.8


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


def cut(source: Source, counter: TokenCounter) -> tuple[Chunk, ...]:
    """Read and chunk one document."""
    return chunk(read(source.data, source.name).document, RULES, counter)


def peers(counter: TokenCounter) -> dict[str, Splitter | None]:
    """Give what else splits Markdown by tokens here; None is not installed."""
    langchain = semantic = None
    if find_spec("langchain_text_splitters"):
        langchain = _langchain(counter)
    if find_spec("semantic_text_splitter"):
        semantic = _semantic()
    return {
        "langchain-text-splitters, headers then recursive": langchain,
        "semantic-text-splitter, MarkdownSplitter": semantic,
    }


def _langchain(counter: TokenCounter) -> Splitter:
    from langchain_text_splitters import (
        MarkdownHeaderTextSplitter,
        RecursiveCharacterTextSplitter,
    )

    headings = [("#" * level, f"h{level}") for level in range(1, 7)]
    by_heading = MarkdownHeaderTextSplitter(headings, strip_headers=False)
    by_size = RecursiveCharacterTextSplitter(
        chunk_size=RULES.max_tokens, chunk_overlap=0, length_function=counter.count
    )
    return lambda text: by_size.split_documents(by_heading.split_text(text))


def _semantic() -> Splitter:
    from semantic_text_splitter import (
        MarkdownSplitter,
    )

    # It carries the vocabulary of this model, which is cl100k; a counter of
    # Python would slow it down.
    splitter = MarkdownSplitter.from_tiktoken_model("gpt-3.5-turbo", RULES.max_tokens)
    return lambda text: list(splitter.chunks(text))


def each(
    work: Callable[[Value], object], values: Sequence[Value]
) -> Callable[[], None]:
    """Give what does this to every value and keeps nothing, as a run does."""

    def run() -> None:
        for value in values:
            work(value)

    return run


def check_corpus(sources: list[Source], counter: TokenCounter) -> int:
    """Make sure that what is timed is the real thing; gives the chunks."""
    chunks = [one for source in sources for one in cut(source, counter)]
    assert chunks, "there is nothing to measure: no document has a chunk"
    wrong = [one for one in chunks if one.token_count != counter.count(one.text)]
    assert not wrong, f"{wrong[0].chunk_id} has a wrong token count"
    large = [one for one in chunks if one.token_count > RULES.max_tokens]
    assert not large, f"{large[0].chunk_id} is above the limit"
    return len(chunks)


def steps(sources: list[Source], *, rounds: int) -> None:
    """Time each step over a corpus against the tokenizer alone."""
    counter = load_counter("cl100k_base")
    texts = [source.text for source in sources]
    count = check_corpus(sources, counter)
    documents = [read(source.data, source.name).document for source in sources]
    cut_already = [chunk(document, RULES, counter) for document in documents]
    others = peers(counter)
    running = {
        "tokenizer alone": each(counter.count, texts),
        "read": each(lambda source: read(source.data, source.name), sources),
        "chunk": each(lambda document: chunk(document, RULES, counter), documents),
        "JSON lines": each(
            lambda chunks: [to_line(to_record(one)) for one in chunks], cut_already
        ),
        "read and chunk": each(functools.partial(cut, counter=counter), sources),
    }
    for name, splitter in others.items():
        if splitter is not None:
            running[name] = each(splitter, texts)
    seconds = cpu_seconds(running, rounds=rounds)
    alone, ours = seconds["tokenizer alone"], seconds["read and chunk"]
    megabytes = sum(len(source.data) for source in sources) / 1e6
    print(f"{len(sources)} documents, {megabytes:.2f} MB, {count} chunks")
    rows = [
        [name, f"{megabytes / taken:.2f}", f"{taken / alone:.2f}", _budget(name)]
        for name, taken in seconds.items()
    ]
    rows += [[name, "not installed", "", ""] for name in others if name not in seconds]
    table(["step", "MB/s", "x tokenizer", "budget"], rows)
    if timed := [seconds[name] for name in others if name in seconds]:
        print(
            f"faster than the fastest peer: {min(timed) / ours:.2f} times "
            f"(budget {LEAST_OVER_PEER})\n"
        )


def _budget(name: str) -> str:
    return f"{MOST_OVER_TOKENIZER}" if name == "read and chunk" else ""


def shapes(*, size: int, rounds: int) -> None:
    """Show that ten times the document takes ten times the time, for every shape."""
    counter = load_counter("cl100k_base")
    rows = []
    for name, write in SHAPES.items():
        small, large = (
            Source(name="shape.md", data=write(each).encode())
            for each in (size, 10 * size)
        )
        check_corpus([small], counter)
        longer = len(large.data) / len(small.data)
        assert 9 < longer < 11, f"{name}: the long document is {longer:.1f} times"
        seconds = cpu_seconds(
            {
                "ten short": each(
                    functools.partial(cut, counter=counter), [small] * 10
                ),
                "one long": each(functools.partial(cut, counter=counter), [large]),
            },
            rounds=rounds,
        )
        # Ten of the short one in place of one: a clock ticks too slowly for it.
        ratio = 10 * seconds["one long"] / seconds["ten short"]
        rows.append(
            [
                name,
                f"{len(large.data) / 1e3:.0f} kB",
                f"{ratio:.2f}",
                f"{tokenized([large]):.2f}",
            ]
        )
    print(f"budgets: {MOST_AT_TEN_TIMES:g} and {MOST_TOKENIZED:g}")
    table(["ten times as long", "size", "x time", "tokenized per character"], rows)


def tokenized(sources: list[Source]) -> float:
    """Give how many characters were tokenized for each character of text."""
    counting = Counting(load_counter("cl100k_base"))
    for source in sources:
        cut(source, counting)
    return counting.characters / sum(len(source.text) for source in sources)


def main() -> None:
    """Measure what the command line asks for."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument(
        "folder", nargs="?", type=Path, help=f"default: {HANDBOOK.name}, repeated"
    )
    parser.add_argument("--copies", type=int, default=20, help="of the handbook: 20")
    parser.add_argument("--size", type=int, default=120, help="of made documents: 120")
    parser.add_argument("--rounds", type=int, default=5, help="default: 5")
    asked = parser.parse_args()
    sources = from_folder(asked.folder) if asked.folder else handbook(asked.copies)
    steps(sources, rounds=asked.rounds)
    print(f"tokenized per character of this corpus: {tokenized(sources):.2f}\n")
    shapes(size=asked.size, rounds=asked.rounds)


if __name__ == "__main__":
    main()
