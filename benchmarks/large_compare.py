"""A large comparison: `python -m benchmarks.large_compare`.

Makes a corpus of 20,000 chunks and 1,000 questions out of random words, and runs the
command on it: `none`, `breadcrumb`, token windows and a file of chunks with a
statement each, by BM25, dense and hybrid retrieval. Prints the wall time and the
largest memory of the process; the budget is ten minutes and 2 GB on two cores.
"""

from __future__ import annotations

import argparse
import json
import random
import resource
import subprocess
import sys
import tempfile
import time
from itertools import accumulate
from pathlib import Path
from typing import TYPE_CHECKING

from situate.records import read_chunks

if TYPE_CHECKING:
    from collections.abc import Sequence

MOST_MINUTES, MOST_GB = 10, 2
"""The budget."""

SECTIONS = 50
CONFIG = """\
[corpus]
name = "large"
documents = ["documents/*.md"]

[output]
path = "chunks.jsonl"
"""


def main() -> None:
    """Make, compare, and exit 1 where the budget is missed."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--chunks", type=int, default=20_000)
    parser.add_argument("--questions", type=int, default=1_000)
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        here = Path(folder)
        _make(here, arguments.chunks // SECTIONS, arguments.questions)
        situate = [sys.executable, "-m", "situate"]
        subprocess.run([*situate, "run", "large.toml"], cwd=here, check=True)
        chunks = _stated(here)
        begun = time.perf_counter()
        subprocess.run(
            [
                *situate, "compare", "large.toml", "--queries", "questions.jsonl",
                "--baseline", "fixed:400", "--chunks", "stated=stated.jsonl",
            ],
            cwd=here,
            check=True,
        )  # fmt: skip
        minutes = (time.perf_counter() - begun) / 60
    used = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 2**20
    print(
        f"{chunks:,} chunks, {arguments.questions:,} questions, 4 arms, 3 retrievers: "
        f"{minutes:.1f} minutes, {used:.2f} GB"
    )
    sys.exit(minutes > MOST_MINUTES or used > MOST_GB)


def _make(here: Path, documents: int, questions: int) -> None:
    """Write documents and questions of words as frequent as those of a language."""
    draw = random.Random(0)  # noqa: S311 - a corpus, no secret
    words = [f"{''.join(draw.choices('aeiou', k=1))}{n:x}ter" for n in range(20_000)]
    weights = list(accumulate(1 / (rank + 2) for rank in range(len(words))))

    def said(count: int) -> str:
        return " ".join(draw.choices(words, cum_weights=weights, k=count))

    folder = here / "documents"
    folder.mkdir()
    passages: list[tuple[str, str]] = []
    for number in range(documents):
        parts = [f"# {said(3)}"]
        for _ in range(SECTIONS):
            body = f"{said(draw.randint(60, 160))}."
            parts += [f"## {said(3)}", body]
            passages.append((f"{number:04}.md", body))
        (folder / f"{number:04}.md").write_text("\n\n".join(parts) + "\n", "utf-8")
    lines = []
    for number, (doc_id, body) in enumerate(draw.sample(passages, questions)):
        asked = draw.sample(body.rstrip(".").split(), 5) + said(4).split()
        gold = [{"doc_id": doc_id, "text": body}]
        lines.append({"qid": f"q{number}", "query": " ".join(asked), "gold": gold})
    _write(here / "questions.jsonl", lines)
    (here / "large.toml").write_text(CONFIG, "utf-8")


def _stated(here: Path) -> int:
    """Write the chunks of the run again, each with a statement; give their number."""
    rows = []
    for chunk in read_chunks(here / "chunks.jsonl"):
        statement = f"Says of {' '.join(chunk.reading.split()[5:25])}."
        prefix = f"{chunk.breadcrumb_line}\n{statement}"
        rows.append(
            {
                "chunk_id": chunk.chunk_id,
                "doc_id": chunk.doc_id,
                "text": chunk.text,
                "context_prefix": prefix,
                "embed_text": f"{prefix}\n\n{chunk.reading}",
                "statement": statement,
                "spans": chunk.spans,
            }
        )
    _write(here / "stated.jsonl", rows)
    return len(rows)


def _write(path: Path, rows: Sequence[dict[str, object]]) -> None:
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), "utf-8")


if __name__ == "__main__":
    main()
