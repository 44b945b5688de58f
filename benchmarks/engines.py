"""The steps of `situate.ray` on other engines: `python -m benchmarks.engines ENGINE`.

Runs what docs/ray.md shows for Daft, Dask or Spark, in an environment with that engine
(`make engines`), over the documents of a corpus, and holds the lines that come out to
those of a run. They are shown, not supported.
"""

from __future__ import annotations

import argparse
import os
import re
import sys
import tempfile
import textwrap
import time
from pathlib import Path
from typing import Any

from situate.config import load
from situate.pipeline.run import run
from situate.ray import chunk_batch, schema
from tests.support.agreements import agreement
from tests.support.corpora import Corpus, Heard
from tests.support.pages import ROOT, prose

PAGE = ROOT / "docs" / "ray.md"
SHOWN = re.compile(r"(?:^    .*\n|^\n(?=    ))+", re.MULTILINE)
WORDS = {"dask": "import dask", "spark": "from pyspark", "daft": "import daft"}


def shown(engine: str) -> str:
    """Give the code that the page has for an engine."""
    (code,) = (
        textwrap.dedent(each)
        for each in SHOWN.findall(prose(PAGE))
        if WORDS[engine] in each
    )
    return code


def rows(engine: str, chunks: Any) -> list[dict[str, Any]]:
    """Give the rows of what a page's code leaves, whatever kind of table that is."""
    if engine == "dask":
        found: list[dict[str, Any]] = chunks.compute().to_dict("records")
        return found
    if engine == "spark":
        return [row.asDict() for row in chunks.collect()]
    return [row["row"] for row in chunks.to_pylist()]


def measure(engine: str, corpus: Corpus) -> None:
    """Run the page's code, compare, and print."""
    configs = load([corpus.config], environment={})
    begins = time.perf_counter()
    (result,) = run(configs, Heard())
    alone = time.perf_counter() - begins
    assert result.exit_code == 0, result
    names: dict[str, Any] = {
        "__name__": "__main__",
        "chunk_batch": chunk_batch,
        "config": configs[0],
        "documents": [
            {"name": path.name, "path": str(path)} for path in Path().glob("docs/*.md")
        ],
        "schema": schema,
    }
    begins = time.perf_counter()
    exec(shown(engine), names)  # noqa: S102 - the page's own words
    found = rows(engine, names["chunks"])
    taken = time.perf_counter() - begins
    lines = [bytes(row["line"]) for row in found if row["status"] == "chunk"]
    published = corpus.chunks.read_bytes().splitlines(keepends=True)
    assert sorted(lines) == sorted(published)
    print(
        f"{engine}: {len(names['documents']):,} documents, the lines of a run,", end=" "
    )
    print(f"in {taken:.1f} s with its start; one process without it {alone:.1f} s")


def main() -> None:
    """Write a corpus and measure."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("engine", choices=sorted(WORDS))
    parser.add_argument("--documents", type=int, default=2_000)
    asked = parser.parse_args()
    # Else workers of Spark are the system's Python, which has no situate.
    os.environ["PYSPARK_PYTHON"] = sys.executable
    with tempfile.TemporaryDirectory() as folder:
        corpus = Corpus(folder=Path(folder)).configure()
        for number in range(asked.documents):
            corpus.document(f"{number:05}.md", agreement(number, 3))
        os.chdir(folder)
        measure(asked.engine, corpus)


if __name__ == "__main__":
    main()
