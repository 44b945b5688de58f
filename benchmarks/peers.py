"""Speed side by side with other chunkers: `python -m benchmarks.peers FOLDER ...`.

Everything runs in turns in one process, over the same Markdown, with the same
tokenizer and limit, and is compared with that tokenizer alone. This product takes
bytes and gives chunks, and JSON lines beside it; the others take text and give their
own values, which spares them decoding. Each is set up anew for every copy of the
corpus, so that what one remembers of a text is never asked for the same text again.
What is not installed is listed with the command that installs it. Exceeding a budget is
for people to judge, so the exit code does not depend on it.
"""

from __future__ import annotations

import argparse
import logging
import platform
import warnings
from dataclasses import dataclass
from importlib import metadata
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias

from benchmarks.chunking import (
    ALONE,
    CHUNKS,
    LEAST_OVER_PEER,
    MOST_OVER_TOKENIZER,
    RULES,
    TOKENIZER,
    check_corpus,
    each,
    encoding,
    stages,
)
from benchmarks.documents import Source, from_folder
from benchmarks.measuring import Taken, in_turns, markdown_table
from benchmarks.splitters import PEERS, Peer
from situate.tokens import TokenCounter, load_counter

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from benchmarks.chunking import Stage

    Prepared: TypeAlias = Callable[[], Callable[[], object]]

_MARKDOWN = (".md", ".markdown", ".mdown", ".mkd")
_REQUIREMENTS = "benchmarks/requirements-peers.txt"
_OURS = "situate: "

_HEADER = (
    "chunker",
    "MB per CPU second",
    "MB per second",
    "time over the tokenizer's",
    "time over situate's",
    "reads Markdown",
    "counts",
    "headings above",
    "chunks",
    f"above {RULES.max_tokens} tokens",
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Corpus:
    """What a chunker is given: documents, and how often."""

    sources: Sequence[Source]
    copies: int = 1

    @property
    def megabytes(self) -> float:
        """The size of all copies."""
        return self.copies * sum(len(source.data) for source in self.sources) / 1e6

    def sized(self, megabytes: float) -> Corpus:
        """Repeat it up to a size, or take documents from all over it for less."""
        times = megabytes / self.megabytes
        if times >= 1:
            return Corpus(sources=self.sources, copies=round(times))
        return Corpus(sources=self.sources[:: round(1 / times)])

    def __str__(self) -> str:
        """Say how much it is."""
        often = f", {self.copies} times" if self.copies > 1 else ""
        return f"{len(self.sources)} documents{often}: {self.megabytes:.2f} MB"


@dataclass(frozen=True, slots=True, kw_only=True)
class Contender:
    """What takes its turn, and what it did with one copy of the corpus."""

    corpus: Corpus
    prepared: Prepared
    notes: tuple[str, str, str] = ("", "", "")
    """What it reads of Markdown, what it counts, where headings stand."""
    sizes: tuple[int, ...] | None = None
    """The tokens of its chunks."""


def of_tokenizer(corpus: Corpus) -> Contender:
    """Give the tokenizer alone."""
    count = encoding().encode_ordinary
    texts = [source.text for source in corpus.sources] * corpus.copies
    return Contender(corpus=corpus, prepared=lambda: each(count, texts))


def of_situate(stage: Stage, corpus: Corpus) -> Contender:
    """Give a stage of this product, with a counter of its own for each copy."""

    def prepared() -> Callable[[], None]:
        return each(stage.all, [_new_counter() for _ in range(corpus.copies)])

    return Contender(corpus=corpus, prepared=prepared)


def of_peer(peer: Peer, corpus: Corpus) -> Contender:
    """Give a peer, set up anew for each copy, and the sizes of its chunks."""
    tokenizer, limit = encoding(), RULES.max_tokens
    splitter = peer.make(tokenizer, limit)
    values = [splitter.prepare(source.text) for source in corpus.sources]
    texts = [
        splitter.text_of(found) for value in values for found in splitter.split(value)
    ]
    assert texts, f"{peer.name}: made no chunk, so there is nothing to measure"

    def prepared() -> Callable[[], None]:
        made = [peer.make(tokenizer, limit) for _ in range(corpus.copies)]
        runs = [each(one.split, values) for one in made]
        return each(lambda run: run(), runs)

    return Contender(
        corpus=corpus,
        prepared=prepared,
        notes=(peer.reads, peer.counts, peer.context),
        sizes=tuple(len(tokenizer.encode_ordinary(text)) for text in texts),
    )


def measure(corpus: Corpus, sample: Corpus, *, rounds: int) -> None:
    """Let everything that is installed take its turns, and print what it took."""
    contenders = {ALONE: of_tokenizer(corpus)}
    for name, stage in stages(corpus.sources).items():
        contenders[_OURS + name] = of_situate(stage, corpus)
    for peer in PEERS:
        if not peer.missing:
            given = sample if peer.speed == "sample" else corpus
            contenders[f"{peer.name} {peer.version}"] = of_peer(peer, given)
    chunks = check_corpus(corpus.sources)
    taken = in_turns(
        {name: contender.prepared for name, contender in contenders.items()},
        rounds=rounds,
    )
    _say_what(corpus, sample, rounds=rounds)
    seconds = {
        name: each_taken.cpu_seconds / contenders[name].corpus.megabytes
        for name, each_taken in taken.items()
    }
    rows = []
    for name, contender in contenders.items():
        notes, made = contender.notes, _made(contender.sizes)
        if name == _OURS + CHUNKS:
            notes = ("CommonMark parser", "tokens", "in front of the text")
            made = [f"{chunks:,}", "0.0 %"]
        speed = _speed(name, seconds, taken[name], contender.corpus)
        rows.append([name, *speed, *notes, *made])
    markdown_table(_HEADER, rows)
    _conclude(seconds)
    _say_what_is_missing()


def _speed(
    name: str, seconds: Mapping[str, float], taken: Taken, corpus: Corpus
) -> list[str]:
    return [
        f"{1 / seconds[name]:.2f}",
        f"{corpus.megabytes / taken.wall_seconds:.2f}",
        f"{seconds[name] / seconds[ALONE]:.2f}",
        f"{seconds[name] / seconds[_OURS + CHUNKS]:.2f}",
    ]


def _made(sizes: Sequence[int] | None) -> list[str]:
    if sizes is None:
        return ["", ""]
    above = sum(size > RULES.max_tokens for size in sizes)
    return [f"{len(sizes):,}", f"{100 * above / len(sizes):.1f} %"]


def _say_what(corpus: Corpus, sample: Corpus, *, rounds: int) -> None:
    print(
        f"{corpus}; {sample} for those named docling. {RULES.max_tokens} tokens of "
        f"{TOKENIZER}, no overlap. Medians of {rounds} rounds in turns, one process, "
        f"{platform.python_implementation()} {platform.python_version()}, "
        f"tiktoken {metadata.version('tiktoken')}, "
        f"situate {metadata.version('situate')}. Chunks are those of one copy.\n"
    )


def _conclude(seconds: Mapping[str, float]) -> None:
    ours = seconds[_OURS + CHUNKS]
    print(
        f"over the tokenizer alone: {ours / seconds[ALONE]:.2f} times its time "
        f"(budget {MOST_OVER_TOKENIZER})"
    )
    rivals = {
        name: seconds[name]
        for name in (f"{peer.name} {peer.version}" for peer in PEERS if peer.does_it)
        if name in seconds
    }
    if rivals:
        name = min(rivals, key=rivals.__getitem__)
        print(
            f"over the fastest that reads Markdown and counts tokens, {name}: "
            f"{rivals[name] / ours:.2f} times as fast (budget {LEAST_OVER_PEER})"
        )


def _say_what_is_missing() -> None:
    for peer in PEERS:
        if peer.missing:
            packages = " ".join(f"'{package}'" for package in peer.packages)
            print(f"not installed: {peer.name}: pip install {packages}")
    if any(peer.missing for peer in PEERS):
        print(f"all of them: pip install -r {_REQUIREMENTS}")


def _new_counter() -> TokenCounter:
    load_counter.cache_clear()
    return load_counter(TOKENIZER)


def main() -> None:
    """Measure what the command line asks for."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folders", nargs="+", type=Path, help="of Markdown files")
    parser.add_argument("--megabytes", type=float, default=20.0, help="default: 20")
    parser.add_argument(
        "--sample", type=float, default=0.3, help="megabytes for docling: 0.3"
    )
    parser.add_argument("--rounds", type=int, default=5, help="default: 5")
    asked = parser.parse_args()
    # What peers say about documents, on the log or as warnings, is no figure.
    logging.disable(logging.WARNING)
    warnings.simplefilter("ignore")
    found = [source for folder in asked.folders for source in from_folder(folder)]
    corpus = Corpus(
        sources=[source for source in found if source.name.endswith(_MARKDOWN)]
    )
    measure(
        corpus.sized(asked.megabytes), corpus.sized(asked.sample), rounds=asked.rounds
    )


if __name__ == "__main__":
    main()
