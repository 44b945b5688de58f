"""The quality floor: what chunks with breadcrumbs find on the demo corpus.

Lowering a number here is an explicit act: it goes into the changelog with the reason
why readers of the corpus now find less. Raise them when more is found.
"""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Final

import pytest
from typer.testing import CliRunner

from situate.cli import app
from tests.support.corpora import Corpus

CORPORA: Final = Path(__file__).parents[1] / "corpora"

FLOORS: Final = {
    "bm25": {"rec@2000r": 0.884, "rec@5": 0.661, "ndcg@10": 0.595},
    "dense": {"rec@2000r": 0.953, "rec@5": 0.707, "ndcg@10": 0.613},
    "hybrid": {"rec@2000r": 0.938, "rec@5": 0.757, "ndcg@10": 0.652},
}
"""One of the 130 questions below what was measured in 2026-11, default sizes."""


@pytest.fixture(scope="module")
def measured(tmp_path_factory: pytest.TempPathFactory) -> dict[tuple[str, str], float]:
    """Compare on the demo corpus once; gives means by retriever and measure."""
    folder = tmp_path_factory.mktemp("floor")
    documents = Path(os.path.relpath(CORPORA / "handbook", folder)).as_posix()
    corpus = Corpus(folder=folder).configure(
        corpus={"documents": [f"{documents}/**/*.md"], "doc_type": "handbook"}
    )
    result = CliRunner().invoke(
        app,
        [
            *("compare", str(corpus.config), "--json", "--arms", "breadcrumb"),
            *("--queries", str(CORPORA / "handbook-questions.jsonl")),
        ],
    )
    assert result.exit_code == 0, result.output
    comparison = json.loads(result.stdout)
    assert comparison["questions"] == 130
    return {
        (standing["retriever"], standing["measure"]): standing["mean"]
        for standing in comparison["standings"]
    }


@pytest.mark.parametrize("retriever", FLOORS)
def test_breadcrumbs_find_no_less_than_they_did(
    retriever: str, measured: dict[tuple[str, str], float]
) -> None:
    """A change of readers, chunking, readings or retrievers may not lose answers."""
    below = {
        measure: measured[retriever, measure]
        for measure, floor in FLOORS[retriever].items()
        if measured[retriever, measure] < floor
    }

    assert not below, f"below {FLOORS[retriever]}: {below}"
