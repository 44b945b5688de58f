"""`queries make`: a corpus drafts its own questions, and `compare` takes them."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest
from typer.testing import CliRunner

from situate.cli import app
from tests.support.corpora import Corpus

if TYPE_CHECKING:
    from pathlib import Path

    from typer.testing import Result

KETTLES = """\
# Kettles

## Descaling a kettle after winter

A kettle is descaled with vinegar before its first use in spring, and rinsed twice.

## Terms

"Boil-over" means that water leaves a kettle through its spout while it is heated.
"""

STOVES = """\
# Stoves

Before a stove is lit for the first time in a year its pipe has to be swept, as is
[said of lime that is left in a spout](kettles.md#descaling-a-kettle-after-winter).

## Lighting a stove in wet weather

Dry kindling is kept in the box beside the door, and the flap stays open until the
flames are steady.
"""


def situate(*arguments: str | Path) -> Result:
    """Run a command."""
    return CliRunner().invoke(app, [str(argument) for argument in arguments])


def drafted(result: Result) -> list[dict[str, Any]]:
    """Read the questions of a run that went well."""
    assert result.exit_code == 0, result.output
    return [json.loads(line) for line in result.stdout.splitlines()]


@pytest.fixture
def corpus(tmp_path: Path) -> Corpus:
    """Write two documents, one of which refers to the other."""
    corpus = Corpus(folder=tmp_path).configure(chunking={"min_tokens": 0})
    corpus.document("kettles.md", KETTLES)
    corpus.document("stoves.md", STOVES)
    return corpus


def test_compare_takes_what_is_drafted(corpus: Corpus, tmp_path: Path) -> None:
    """Gold is found in the documents, and all of it counts as drafted."""
    file = tmp_path / "drafted.jsonl"
    made = situate("queries", "make", corpus.config, "--out", file)

    result = situate(
        *("compare", corpus.config, "--queries", file, "--json"),
        *("--retrievers", "bm25", "--margin", "0.05"),
    )

    assert made.exit_code == 0
    count = len(file.read_text("utf-8").splitlines())
    assert count > 2
    assert result.exit_code == 0, result.output
    comparison = json.loads(result.stdout)
    assert comparison["origins"] == {"drafted": count}
    assert all(shown["gold"] for shown in comparison["shown"])


def test_questions_go_to_stdout_and_messages_to_stderr(corpus: Corpus) -> None:
    """So that a pipe gets nothing but lines of JSON."""
    result = situate("queries", "make", corpus.config)

    rows = drafted(result)
    assert all(row["drafted"] is True for row in rows)
    assert result.stderr == f"situate: {len(rows)} questions drafted\n"


def test_a_file_gets_the_same_bytes(corpus: Corpus, tmp_path: Path) -> None:
    """Where a name is given nothing goes to stdout."""
    file = tmp_path / "deep" / "questions.jsonl"

    printed = situate("queries", "make", corpus.config)
    result = situate("queries", "make", corpus.config, "--out", file)

    assert (result.exit_code, result.stdout) == (0, "")
    assert file.read_bytes() == printed.stdout_bytes
    assert str(file) in result.stderr


@pytest.mark.parametrize(
    ("kinds", "expected"),
    [
        ("headings", {"heading"}),
        ("references", {"reference"}),
        ("definitions", {"definition"}),
        ("headings,definitions", {"heading", "definition"}),
    ],
)
def test_kinds_are_chosen(corpus: Corpus, kinds: str, expected: set[str]) -> None:
    """Each says what in the documents the words were taken from."""
    rows = drafted(situate("queries", "make", corpus.config, "--kinds", kinds))

    assert {row["kind"] for row in rows} == expected


def test_a_document_answers_as_many_as_are_allowed(corpus: Corpus) -> None:
    """Long documents do not outweigh others."""
    rows = drafted(situate("queries", "make", corpus.config, "--per-document", "1"))

    assert len(rows) == len({row["gold"][0]["doc_id"] for row in rows})


def test_the_same_seed_draws_the_same_questions(corpus: Corpus) -> None:
    """On any machine, on any run."""
    first, again = (
        situate("queries", "make", corpus.config, "--seed", "3", "--per-section", "1")
        for _ in range(2)
    )

    assert first.stdout_bytes == again.stdout_bytes
    assert first.exit_code == 0


def test_nothing_to_draft_is_1(tmp_path: Path) -> None:
    """A list of words has no headings, references or definitions."""
    corpus = Corpus(folder=tmp_path).configure()
    corpus.document("words.md", "Kettle, stove.\n")
    file = tmp_path / "questions.jsonl"

    result = situate("queries", "make", corpus.config, "--out", file)

    assert (result.exit_code, result.stdout) == (1, "")
    assert "situate: nothing in 1 document" in result.stderr
    assert not file.exists()


def test_no_readable_document_is_1(tmp_path: Path) -> None:
    """Each is named with what is wrong."""
    corpus = Corpus(folder=tmp_path).configure()
    corpus.document("bad.md", b"%PDF-1.7 ...")

    result = situate("queries", "make", corpus.config)

    assert result.exit_code == 1
    assert "failed: bad.md" in result.stderr
    assert "could be read" in result.stderr


def test_a_bad_document_costs_no_other(corpus: Corpus) -> None:
    """It is named; the rest is drafted from."""
    rows = drafted(situate("queries", "make", corpus.config))
    corpus.document("bad.md", b"%PDF-1.7 ...")

    result = situate("queries", "make", corpus.config)

    assert drafted(result) == rows
    assert "failed: bad.md" in result.stderr


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("--kinds", "titles"), "--kinds: 'titles' is not one of headings"),
        (("--out", "CONFIG"), "is not to be replaced; name another file"),
    ],
    ids=["kinds", "out"],
)
def test_a_mistake_of_usage_is_2(
    corpus: Corpus, options: tuple[str, str], message: str
) -> None:
    """Told in one line, and nothing is written."""
    before = corpus.config.read_bytes()
    given = [str(corpus.config) if each == "CONFIG" else each for each in options]

    result = situate("queries", "make", corpus.config, *given)

    assert (result.exit_code, result.stdout) == (2, "")
    assert message in result.stderr
    assert corpus.config.read_bytes() == before
