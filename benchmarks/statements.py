"""What a capable model's sentences gained: `python -m benchmarks.statements FOLDER`.

FOLDER holds `docs.jsonl`, `queries.jsonl` and `chunks.jsonl`, whose chunks carry two
sentences of a capable model, `situating` and `findable`, beside their
`context_prefix`. Every arm indexes the same chunks; a sentence stands in both indexes
or in the dense one alone. Differences are from the breadcrumb, clustered by document.

`--embedder benchmarks.minilm:embed` asks a small transformer in place of static
vectors; its packages are named there.
"""

from __future__ import annotations

import argparse
import json
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from benchmarks.measuring import table
from situate.compare.arms import Arm, Entry, above
from situate.compare.embedders import open_embedder
from situate.compare.grounds import Ground
from situate.compare.lexical import analyzer
from situate.compare.measures import Cuts
from situate.compare.questions import load
from situate.compare.statistics import difference, resample
from situate.compare.trial import Setting, try_arm
from situate.compare.vectors import Vectors
from situate.compare.verdicts import Candidate, verdicts
from situate.tokens import load_counter

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from situate.compare.arms import Placing
    from situate.compare.statistics import Resamples
    from situate.compare.trial import Result

PROMPTS = ("situating", "findable")
MEASURES = ("rec@2000r", "rec@2000t", "rec@5", "rec@20", "ndcg@10")


def main() -> None:
    """Print one table for each retriever."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--embedder", default="static")
    parser.add_argument("--cache", type=Path, help="where vectors are kept")
    arguments = parser.parse_args()
    grounds = _grounds(arguments.folder / "docs.jsonl")
    questions = load(arguments.folder / "queries.jsonl", grounds)
    arms = list(arms_of(arguments.folder / "chunks.jsonl", grounds))
    resamples = resample([question.cluster for question in questions], seed=0)
    with Vectors(open_embedder(arguments.embedder), arguments.cache) as vectors:
        setting = Setting(
            retrievers=("bm25", "dense", "hybrid"),
            words=analyzer("en"),
            embedder=vectors,
            cuts=Cuts(ks=(1, 5, 10, 20), budgets=(2000, 5000)),
        )
        results = [
            result for arm in arms for result in try_arm(arm, questions, setting)
        ]
    free = {each.retriever: each for each in results if each.arm == "breadcrumb"}
    for retriever in setting.retrievers:
        print(f"\n{retriever}, {arguments.embedder}: {len(questions)} questions")
        rows = []
        for result in results:
            if result.retriever != retriever:
                continue
            row = [result.arm]
            for measure in MEASURES:
                found = difference(
                    result.measures[measure],
                    free[retriever].measures[measure],
                    resamples,
                )
                mean = sum(result.measures[measure]) / len(questions)
                row.append(
                    f"{mean:.3f}"
                    if result.arm == "breadcrumb"
                    else f"{found.mean:+.3f} [{found.low:+.3f}, {found.high:+.3f}]"
                )
            rows.append(row)
        table(("arm", *MEASURES), rows)
    _print_verdicts(results, free, resamples)


def _print_verdicts(
    results: Sequence[Result],
    free: Mapping[str, Result],
    resamples: Resamples,
) -> None:
    """Decide as `compare` would, on what `run` would index."""
    primary = MEASURES[0]
    decided = verdicts(
        [
            Candidate(
                retriever=each.retriever,
                arm=each.arm,
                against="breadcrumb",
                measure=primary,
                difference=difference(
                    each.measures[primary],
                    free[each.retriever].measures[primary],
                    resamples,
                ),
                drafted=False,
                usd=None,
            )
            for each in results
            if each.arm.startswith("breadcrumb +")
        ]
    )
    for one in decided:
        print(f"{one.choice:9} {one.retriever}: {one.arm}: {one.reason}")


def _grounds(path: Path) -> dict[str, Ground]:
    rows = map(json.loads, path.read_text("utf-8").splitlines())
    return {row["doc_id"]: Ground(row["doc_id"], row["text"], {}) for row in rows}


def arms_of(path: Path, grounds: Mapping[str, Ground]) -> Iterator[Arm]:
    """Yield every arm that the sentences of a file make."""
    counter = load_counter("cl100k_base")
    rows = [json.loads(line) for line in path.read_text("utf-8").splitlines()]
    last: dict[str, int] = {}
    bare = []
    for row in rows:
        doc_id = row["doc_id"]
        spans = grounds[doc_id].search(row["text"], after=last.get(doc_id, 0))
        last[doc_id] = spans[0][0] if spans else last.get(doc_id, 0)
        bare.append(
            Entry(
                entry_id=row["chunk_id"],
                doc_id=doc_id,
                text=row["text"],
                breadcrumb=row["context_prefix"],
                statement=None,
                dense=row["text"],
                lexical=("", row["text"]),
                spans=spans,
                text_tokens=counter.count(row["text"]),
                embed_tokens=0,
            )
        )

    def arm(name: str, prompt: str | None, *, line: bool, placing: Placing) -> Arm:
        entries = []
        for entry, row in zip(bare, rows, strict=True):
            crumb = entry.breadcrumb if line else ""
            said = row[prompt] if prompt else None
            prefix = "\n".join(filter(None, (crumb, said)))
            dense = above(prefix, entry.text)
            entries.append(
                replace(
                    entry,
                    statement=said,
                    dense=dense,
                    lexical=(prefix if placing == "both" else crumb, entry.text),
                    embed_tokens=counter.count(dense),
                )
            )
        return Arm(
            name=name,
            kind="file",
            entries=tuple(entries),
            placing=placing if prompt else None,
        )

    yield arm("breadcrumb", None, line=True, placing="dense")
    yield arm("none", None, line=False, placing="dense")
    for prompt in PROMPTS:
        yield arm(f"{prompt} alone", prompt, line=False, placing="both")
        yield arm(f"breadcrumb + {prompt}", prompt, line=True, placing="both")
        yield arm(
            f"breadcrumb + {prompt}, dense alone", prompt, line=True, placing="dense"
        )


if __name__ == "__main__":
    main()
