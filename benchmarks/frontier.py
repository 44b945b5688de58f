"""Which chunks to spend on: `python -m benchmarks.frontier FOLDER...`.

A folder has `docs.jsonl`, `queries.jsonl` and `chunks.jsonl`: chunks with a
`context_prefix` and a sentence under the name of each prompt. Where it has no
chunks the documents are cut here and the breadcrumb line stands in for a sentence,
which costs nothing and yet shows whether a score tells where a prefix helps.

Every score is held against random choices of the same share; `luck` is the share of
these that find as much. Three more than `compare` shows are measured: rare words,
words that point elsewhere, and a query log, which is the other half of the questions.
The last line of a table is no score: it buys for the chunks that hold the answers.
If that did not beat random, nothing could.
"""

from __future__ import annotations

import argparse
import json
import math
import re
from collections import Counter
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Final

import numpy as np

from benchmarks.corpora import leaves_of
from benchmarks.measuring import markdown_table
from situate.compare.arms import Arm, Entry, above, bare
from situate.compare.embedders import open_embedder
from situate.compare.frontier import Frontier, Outcomes, beating, outcomes, weighed
from situate.compare.grounds import Ground, clip
from situate.compare.lexical import analyzer
from situate.compare.mixing import Pair, pair
from situate.compare.needs import asked_about, needs
from situate.compare.questions import load
from situate.compare.trial import Setting
from situate.tokens import load_counter

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from numpy.typing import NDArray

    from situate.compare.embedders.contract import Embedder
    from situate.compare.frontier import Advantage

    Floats = NDArray[np.float64]
    from situate.compare.questions import Question

SEED: Final = 20_261_130
MAX_TOKENS: Final = 256
CONTROL: Final = "holds an answer"

_POINTING: Final = re.compile(
    r"\b(it|its|this|that|these|those|they|them|their|such|above|below|here|there)\b",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Corpus:
    """Questions, and arms without and with sentences by the name of the prompt."""

    questions: tuple[Question, ...]
    arms: Mapping[str, tuple[Arm, Arm]]


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path, nargs="+")
    parser.add_argument("--embedder", default="static", help="as compare names it")
    arguments = parser.parse_args()
    embedder, words = open_embedder(arguments.embedder), analyzer("en")
    setting = Setting(retrievers=("dense", "hybrid"), words=words, embedder=embedder)
    for folder in arguments.folder:
        corpus = read(folder)
        for prompt, (free, stated) in corpus.arms.items():
            both = pair(free, stated, embedder)
            found = measured(both, corpus.questions, setting)
            report(f"{folder.name}, {prompt}, {embedder.name} vectors", found)


def read(folder: Path) -> Corpus:
    """Read a corpus and make its arms."""
    if (folder / "chunks.jsonl").exists():
        rows = _rows(folder / "chunks.jsonl")
        grounds = {
            row["doc_id"]: Ground(row["doc_id"], row["text"], {})
            for row in _rows(folder / "docs.jsonl")
        }
        prompts: list[str] = [
            name for name in ("situating", "findable") if name in rows[0]
        ]
        free = tuple(_entries(rows, grounds))
        arms = {
            prompt: _arms(
                free,
                [row[prompt] for row in rows],
                [f"{row['context_prefix']}\n{row[prompt]}".strip() for row in rows],
                prompt,
            )
            for prompt in prompts
        }
    else:
        leaves, grounds = leaves_of(folder / "docs.jsonl", MAX_TOKENS)
        lines = [chunk.breadcrumb_line for chunk in leaves.chunks]
        bared = bare(leaves, "none", load_counter("cl100k_base")).entries
        # Scores are to see the line, whether or not the index has it.
        free = tuple(
            replace(entry, breadcrumb=line)
            for entry, line in zip(bared, lines, strict=True)
        )
        arms = {"breadcrumb for a sentence": _arms(free, lines, lines, "breadcrumb")}
    return Corpus(questions=load(folder / "queries.jsonl", grounds), arms=arms)


def measured(
    both: Pair, questions: Sequence[Question], setting: Setting
) -> Mapping[str, Frontier]:
    """Measure all scores; those that saw questions on the other half of these."""
    entries, words = both.free.entries, setting.words
    known = needs(both, words)
    learnt = expected_shift(both, np.array(list(known.values())).T)
    scores = known | {
        "expected shift": tuple(learnt.tolist()) if learnt is not None else (),
        "rare words": _rare_words(entries, words),
        "pointing words": _pointing_words(entries, words),
    }
    scores = {name: values for name, values in scores.items() if values}
    told = outcomes(both, questions, setting, scores, seed=SEED)
    halves = (questions[::2], questions[1::2])
    parts = [
        outcomes(both, asked, setting, _asked(both, asked, log, setting), seed=SEED)
        for asked, log in (halves, halves[::-1])
    ]
    return {
        "scores": weighed(told, seed=SEED),
        "questions seen": weighed(_joined(parts), seed=SEED),
    }


_FOLDS: Final = 5

_RIDGE: Final = 100.0
"""The penalty on weights of features that vary by about 1; not tuned."""


def expected_shift(pair: Pair, features: Floats) -> Floats | None:
    """Give how far a sentence will move an entry's vector, learnt on other documents.

    Ridge regression on `features` and the vector without a sentence; what is learnt
    is one less the cosine of both vectors. Documents are dealt to five folds and each
    is told by the others, so that no entry's own sentence has a say: what could be
    known with the sentences of some documents before those of the rest are bought.
    It tells the shift itself well (correlations of 0.57 to 0.80) and not what the
    shift is worth. None where all sentences are of one document.
    """
    places = pair.places
    documents = [pair.free.entries[place].doc_id for place in places]
    turns = {name: turn for turn, name in enumerate(dict.fromkeys(documents))}
    if len(turns) < 2:
        return None
    folds = np.array([turns[name] % _FOLDS for name in documents])
    free, stated = (
        one.astype(np.float64) for one in (pair.free_rows, pair.stated_rows)
    )
    spread = features.std(axis=0)
    scaled = (features - features.mean(axis=0)) / np.where(spread > 0, spread, 1)
    table = np.hstack((scaled, free * math.sqrt(free.shape[1])))[places]
    shifts = 1 - (free[places] * stated[places]).sum(axis=1)
    found = np.zeros(len(pair.free.entries))
    for fold in range(min(_FOLDS, len(turns))):
        known = folds != fold
        found[places[~known]] = _ridge(table[known], shifts[known], table[~known])
    return found


def _ridge(features: Floats, wanted: Floats, others: Floats) -> Floats:
    middle, mean = features.mean(axis=0), wanted.mean()
    centred = features - middle
    penalty = _RIDGE * np.eye(features.shape[1])
    weights = np.linalg.solve(
        centred.T @ centred + penalty, centred.T @ (wanted - mean)
    )
    predicted: Floats = mean + (others - middle) @ weights
    return predicted


def report(title: str, found: Mapping[str, Frontier]) -> None:
    """Print a table for each retriever, and what beats random."""
    print(f"## {title}\n")
    advantages = [one for each in found.values() for one in each.advantages]
    for retriever in dict.fromkeys(one.retriever for one in advantages):
        points = [
            point
            for each in found.values()
            for point in each.points
            if point.retriever == retriever
        ]
        ends = [next(p.mean for p in points if p.share == share) for share in (0, 1)]
        print(f"{retriever}: recall {ends[0]:.3f} with none, {ends[1]:.3f} with all\n")
        mine = [one for one in advantages if one.retriever == retriever]
        markdown_table(
            ["bought by", "at 25 %", "luck", "at 50 %", "luck", "all shares", "luck"],
            [
                [score, *(cell for share in (0.25, 0.5, None) for cell in
                          _cells(mine, score, share))]
                for score in dict.fromkeys(one.score for one in mine)
            ],
        )  # fmt: skip
    winners = beating(tuple(found.values()))
    names = [f"{one.score} ({one.retriever})" for one in winners]
    print(f"Beats random: {', '.join(names) or 'none'}\n")


def _cells(
    advantages: Sequence[Advantage], score: str, share: float | None
) -> Iterator[str]:
    one = next(a for a in advantages if (a.score, a.share) == (score, share))
    found = one.difference
    yield f"{found.mean:+.3f} [{found.low:+.3f}, {found.high:+.3f}]"
    yield f"{one.luck:.2f}"


def _rows(path: Path) -> list[dict[str, str]]:
    return [json.loads(line) for line in path.read_text("utf-8").splitlines()]


def _entries(
    rows: Sequence[Mapping[str, str]], grounds: Mapping[str, Ground]
) -> Iterator[Entry]:
    counter = load_counter("cl100k_base")
    last: dict[str, int] = {}
    for row in rows:
        doc_id, text, line = row["doc_id"], row["text"], row["context_prefix"]
        spans = grounds[doc_id].search(text, after=last.get(doc_id, 0))
        if spans:
            last[doc_id] = spans[0][0]
        yield Entry(
            entry_id=row["chunk_id"],
            doc_id=doc_id,
            text=text,
            breadcrumb=line,
            statement=None,
            dense=above(line, text),
            lexical=(line, text),
            spans=spans,
            text_tokens=counter.count(text),
            embed_tokens=counter.count(above(line, text)),
        )


def _arms(
    free: tuple[Entry, ...],
    sentences: Sequence[str],
    prefixes: Sequence[str],
    prompt: str,
) -> tuple[Arm, Arm]:
    """Make the arms without and with sentences, these in the dense index alone."""
    stated = tuple(
        replace(
            entry, statement=sentence or None, dense=above(prefix, entry.lexical[1])
        )
        for entry, sentence, prefix in zip(free, sentences, prefixes, strict=True)
    )
    return (
        Arm(name="free", kind="breadcrumb", entries=free),
        Arm(name=prompt, kind="breadcrumb+statement", entries=stated, placing="dense"),
    )


def _rare_words(
    entries: Sequence[Entry], words: Callable[[str], list[str]]
) -> list[float]:
    """Give the mean inverse document frequency of each text's words."""
    texts = [words(entry.text) for entry in entries]
    having = Counter(word for text in texts for word in set(text))
    return [
        sum(math.log(len(texts) / having[word]) for word in text) / max(1, len(text))
        for text in texts
    ]


def _pointing_words(
    entries: Sequence[Entry], words: Callable[[str], list[str]]
) -> list[float]:
    """Give how many words of each text stand for what is named elsewhere."""
    return [
        len(_POINTING.findall(entry.text)) / max(1, len(words(entry.text)))
        for entry in entries
    ]


def _asked(
    both: Pair, asked: Sequence[Question], log: Sequence[Question], setting: Setting
) -> dict[str, list[float]]:
    """Give a score by the log, and by the answers to what will be asked."""
    embedder: Embedder | None = setting.embedder
    assert embedder is not None
    rows = embedder.embed([question.query for question in log], "query")
    holding = [
        any(
            excerpt.doc_id == entry.doc_id
            and clip(entry.spans, excerpt.start, excerpt.end)
            for question in asked
            for excerpt in question.gold
        )
        for entry in both.free.entries
    ]
    return {
        "asked about": asked_about(both.free_rows, rows).tolist(),
        CONTROL: [float(one) for one in holding],
    }


def _joined(parts: Sequence[Outcomes]) -> Outcomes:
    """Put what was found of disjoint questions together."""
    return Outcomes(
        arm=parts[0].arm,
        scores=parts[0].scores,
        recalls={
            retriever: np.concatenate([p.recalls[retriever] for p in parts], axis=2)
            for retriever in parts[0].recalls
        },
        clusters=tuple(name for part in parts for name in part.clusters),
    )


if __name__ == "__main__":
    main()
