"""What the breadcrumb gains over none: `python -m benchmarks.breadcrumb DATA...`.

DATA are folders with `docs.jsonl` and `queries.jsonl`. Documents are chunked once;
both arms index the same leaves. Differences are paired by question and clustered by
document; * marks an interval that excludes zero, nothing is corrected for the number
of comparisons.

`--embedder benchmarks.minilm:embed --cache FOLDER` asks a small transformer.
"""

from __future__ import annotations

import argparse
from pathlib import Path

from benchmarks.corpora import leaves_of
from benchmarks.measuring import markdown_table
from situate.compare.arms import FREE, bare
from situate.compare.embedders import open_embedder
from situate.compare.lexical import analyzer
from situate.compare.measures import Cuts
from situate.compare.questions import load
from situate.compare.ranking import RETRIEVERS
from situate.compare.statistics import difference, resample
from situate.compare.trial import Setting, try_arm
from situate.compare.vectors import Vectors
from situate.tokens import load_counter

MEASURES = ("rec@2000r", "rec@5", "ndcg@10")


def main() -> None:
    """Print one row for each corpus and retriever."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("data", type=Path, nargs="+")
    parser.add_argument("--max-tokens", type=int, default=512)
    parser.add_argument("--embedder", default="static")
    parser.add_argument("--cache", type=Path)
    arguments = parser.parse_args()
    rows = []
    with Vectors(open_embedder(arguments.embedder), arguments.cache) as vectors:
        setting = Setting(
            retrievers=RETRIEVERS,
            words=analyzer("en"),
            embedder=vectors,
            cuts=Cuts(ks=(1, 5, 10, 20), budgets=(2000, 5000)),
        )
        for folder in arguments.data:
            rows.extend(_rows(folder, arguments.max_tokens, setting))
    header = ("corpus", "questions", "retriever", "none", *MEASURES)
    markdown_table(header, rows)


def _rows(folder: Path, max_tokens: int, setting: Setting) -> list[tuple[str, ...]]:
    counter = load_counter("cl100k_base")
    leaves, grounds = leaves_of(folder / "docs.jsonl", max_tokens)
    questions = load(folder / "queries.jsonl", grounds)
    clusters = [question.cluster for question in questions]
    resamples = resample(clusters, seed=0)
    none, breadcrumb = (
        try_arm(bare(leaves, kind, counter), questions, setting) for kind in FREE
    )
    rows = []
    for without, with_ in zip(none, breadcrumb, strict=True):
        found = [
            difference(with_.measures[name], without.measures[name], resamples)
            for name in MEASURES
        ]
        rows.append(
            (
                folder.name,
                f"{len(questions)} / {len(set(clusters))}",
                with_.retriever,
                f"{sum(without.measures[MEASURES[0]]) / len(questions):.3f}",
                *(
                    f"{one.mean:+.3f} [{one.low:+.3f}, {one.high:+.3f}]"
                    + ("*" if one.low > 0 or one.high < 0 else "")
                    for one in found
                ),
            )
        )
    return rows


if __name__ == "__main__":
    main()
