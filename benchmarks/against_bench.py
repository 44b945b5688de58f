"""Holds the measures to a stand-alone bench, question by question.

    python -m benchmarks.against_bench BENCH.py DATA... [--max-tokens 256]

`BENCH.py` is a program with `load_arm`, `BM25`, `Static`, `top` and `score`; `DATA`
are folders with `docs.jsonl` and `queries.jsonl`. The documents are chunked once, the
arms `none` and `breadcrumb` are ranked by BM25, static vectors and their fusion, and
every measure both know is compared: first on the bench's own rankings, then from end
to end. There one choice differs: an entry without a word of the question is in no
BM25 ranking here, as in engines, and stands at the end of the bench's. So questions
are told apart by whether the bench's ranking had such entries.
"""

from __future__ import annotations

import argparse
import importlib.util
import json
import sys
import tempfile
from collections import defaultdict
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.corpora import leaves_of
from situate.compare.arms import Entry, bare
from situate.compare.embedders import open_embedder
from situate.compare.lexical import analyzer
from situate.compare.measures import Cuts, score
from situate.compare.questions import load
from situate.compare.ranking import Index
from situate.tokens import load_counter

CUTS = Cuts(ks=(1, 5, 10, 20), budgets=(1000, 2000, 5000))
TOLERANCE = 1e-6


def main() -> None:
    """Compare and print; exit 1 where a measure differs without the stated reason."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("bench", type=Path)
    parser.add_argument("data", type=Path, nargs="+")
    parser.add_argument("--max-tokens", type=int, default=256)
    arguments = parser.parse_args()
    bench = _module(arguments.bench)
    failed = False
    for folder in arguments.data:
        failed |= _corpus(bench, folder, arguments.max_tokens)
    sys.exit(failed)


def _module(path: Path) -> Any:
    spec = importlib.util.spec_from_file_location("bench", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def _corpus(bench: Any, folder: Path, max_tokens: int) -> bool:
    counter = load_counter("cl100k_base")
    leaves, grounds = leaves_of(folder / "docs.jsonl", max_tokens)
    questions = load(folder / "queries.jsonl", grounds)
    documents = {row["doc_id"]: row for row in bench.jl(folder / "docs.jsonl")}
    queries = bench.jl(folder / "queries.jsonl")
    failed = False
    for kind in ("none", "breadcrumb"):
        arm = bare(leaves, kind, counter)  # type: ignore[arg-type]  # a loop's literals
        chunks = _as_bench_has_them(bench, arm.entries, documents)
        worst = _compare(bench, (arm.entries, questions), (chunks, queries), documents)
        for (retriever, way), (gap, cases, other) in sorted(worst.items()):
            bad = gap > TOLERANCE
            failed |= bad
            print(
                f"{folder.name:10} {kind:10} {retriever:6} {way:24} "
                f"{cases:5} questions, largest difference {gap:.1e}"
                + (f"; {other} with entries of no shared word" if other else "")
                + ("  <-- DIFFERS" if bad else "")
            )
    return failed


def _as_bench_has_them(
    bench: Any, entries: tuple[Entry, ...], documents: dict[str, Any]
) -> list[Any]:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "arm.jsonl"
        path.write_text(
            "".join(
                json.dumps(
                    {
                        "doc_id": entry.doc_id,
                        "text": entry.text,
                        "embed_text": entry.dense,
                        "spans": entry.spans,
                    }
                )
                + "\n"
                for entry in entries
            ),
            "utf-8",
        )
        chunks: list[Any] = bench.load_arm(str(path), documents)[0]
    return chunks


def _compare(
    bench: Any,
    ours: tuple[Any, Any],
    theirs: tuple[list[Any], list[Any]],
    documents: dict[str, Any],
) -> dict[tuple[str, str], tuple[float, int, int]]:
    entries, questions = ours
    chunks, queries = theirs
    embedder = open_embedder("static")
    vectors = embedder.embed([entry.dense for entry in entries], "document")
    asked = embedder.embed([question.query for question in questions], "query")
    index = Index(
        entries, ("bm25", "dense", "hybrid"), analyzer("en"), np.asarray(vectors)
    )
    lexical, static = bench.BM25([c["emb"] for c in chunks]), bench.Static()
    rows, queried = (
        static([c["emb"] for c in chunks]),
        static([q["query"] for q in queries]),
    )
    places = defaultdict(list)
    for place, chunk in enumerate(chunks):
        places[chunk["doc"]].append(place)
    found: dict[tuple[str, str], list[tuple[float, bool]]] = defaultdict(list)
    for number, (question, query) in enumerate(zip(questions, queries, strict=True)):
        banned = [p for d in query.get("exclude_docs", []) for p in places.get(d, [])]
        one = np.array(lexical.scores(query["query"]), np.float32)
        empty = one <= 0
        two = rows @ queried[number]
        one[banned] = two[banned] = -np.inf
        ranks = {
            "bm25": bench.top(one, bench.DEPTH),
            "dense": bench.top(two, bench.DEPTH),
        }
        fused: dict[int, float] = defaultdict(float)
        for name in ("bm25", "dense"):
            for rank, place in enumerate(ranks[name][:150], 1):
                fused[int(place)] += 1 / (60 + rank)
        ranks["hybrid"] = sorted(fused, key=lambda p: (-fused[p], p))
        scores = index.scores(question.query, asked[number])
        for name, rank in ranks.items():
            wanted = _theirs(bench, rank, chunks, query, documents)
            same = score((entries[p] for p in rank), question.gold, CUTS)
            found[name, "same ranking"].append((_gap(wanted, same), False))
            own = score(
                (
                    entries[p]
                    for p in index.ranking(name, scores, excluded=question.excluded)  # type: ignore[arg-type]  # a loop's literals
                ),
                question.gold,
                CUTS,
            )
            has_empty = name != "dense" and bool(
                empty[
                    np.array(ranks["bm25"][: 150 if name == "hybrid" else None])
                ].any()
            )
            found[name, "end to end"].append((_gap(wanted, own), has_empty))
    return {
        key: (
            max((gap for gap, other in gaps if not other), default=0.0),
            sum(not other for _, other in gaps),
            sum(other for _, other in gaps),
        )
        for key, gaps in found.items()
    }


def _theirs(
    bench: Any, rank: Any, chunks: list[Any], query: Any, documents: dict[str, Any]
) -> dict[str, float]:
    gold = query["gold"]
    words = [
        bench.collections.Counter(
            word.lower()
            for word in bench.WORD.findall(
                documents[g["doc_id"]]["text"][g["start"] : g["end"]]
            )
        )
        or None
        if g.get("match") == "tokens"
        else None
        for g in gold
    ]
    of = {g["doc_id"] for g in gold}
    found: dict[str, float] = bench.score(rank, chunks, gold, words, of)
    read = bench.score(rank, chunks, gold, words, of, tokens="rtok")
    found.update({f"rec@{budget}r": read[f"rec@{budget}t"] for budget in CUTS.budgets})
    return found


def _gap(theirs: dict[str, float], ours: dict[str, float]) -> float:
    return max(abs(theirs[name] - ours[name]) for name in CUTS.measures)


if __name__ == "__main__":
    main()
