"""`situate compare` on a small handbook with three questions."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from typer.testing import CliRunner

from situate.cli import app
from tests.compare.planted import write_questions
from tests.support.corpora import Corpus, handbook

if TYPE_CHECKING:
    from pathlib import Path

    from typer.testing import Result

QUESTIONS: list[dict[str, object]] = [
    {
        "qid": "days",
        "query": "How many days of leave are there after ten years?",
        "gold": [{"doc_id": "leave.md", "text": "| 10 | 30 |"}],
    },
    {
        "qid": "abroad",
        "query": "Whom do I ask before I go on a journey abroad?",
        "gold": [{"doc_id": "travel/abroad.md", "text": "Ask the office in charge"}],
    },
    {
        "qid": "parents",
        "query": "Do parents on leave keep their days?",
        "gold": [{"doc_id": "leave.md", "text": "who keep their days\nuntil they are"}],
    },
]

SMALL = {"max_tokens": 64, "min_tokens": 0}

LEXICAL = ("--retrievers", "bm25")


def situate(*arguments: str | Path) -> Result:
    """Run a command."""
    return CliRunner().invoke(app, [str(argument) for argument in arguments])


def compare(corpus: Corpus, *options: str | Path) -> Result:
    """Compare on the three questions."""
    return situate(
        "compare", corpus.config, "--queries", corpus.folder / "q.jsonl", *options
    )


def compared(corpus: Corpus, *options: str | Path) -> dict[str, Any]:
    """Compare, and give what the report says."""
    result = compare(corpus, *options, "--json")
    assert result.exit_code == 0, result.output
    comparison: dict[str, Any] = json.loads(result.stdout)
    return comparison


def means(comparison: dict[str, Any], arm: str) -> dict[tuple[str, str], float]:
    """Give the figures of an arm by retriever and measure."""
    return {
        (each["retriever"], each["measure"]): each["mean"]
        for each in comparison["standings"]
        if each["arm"] == arm
    }


def arms(comparison: dict[str, Any]) -> list[str]:
    """Name the arms in their order."""
    return [arm["name"] for arm in comparison["arms"]]


def small_handbook(folder: Path, **sections: Any) -> Corpus:
    """Write the handbook, small chunks, and its questions."""
    corpus = handbook(folder, **({"chunking": SMALL} | sections))
    write_questions(folder / "q.jsonl", QUESTIONS)
    return corpus
