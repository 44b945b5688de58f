"""Commands that read chunks answer for a day (S5)."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from tests.support.corpora import Corpus
from tests.support.stores import Store, delivered

if TYPE_CHECKING:
    from pathlib import Path

    from typer.testing import Result

FEES = """\
# Fees

## Old {effective_to=2025-12-31}

Ten.

## New {effective_from=2026-01-01}

Twelve.
"""


def situate(*arguments: object) -> Result:
    """Run the command line."""
    from typer.testing import CliRunner

    from situate.cli import app

    return CliRunner().invoke(app, [str(each) for each in arguments])


@pytest.fixture
def fees(tmp_path: Path) -> Path:
    """A chunks file of which half is in force at a time."""
    corpus = Corpus(folder=tmp_path).configure(chunking={"min_tokens": 0})
    corpus.document("fees.md", FEES)
    corpus.run()
    return corpus.chunks


@pytest.fixture
def index(tmp_path: Path) -> Corpus:
    """An index with two wordings of a policy."""
    corpus = Corpus(folder=tmp_path).configure(versions={"keep": "all"})
    store = Store()
    for year, text in (("2024", "It was so."), ("2025", "It is otherwise.")):
        said = f"---\nversion: '{year}'\neffective_from: {year}-01-01\n---\n"
        corpus.document("rule.md", f"{said}# Rule\n\n{text}\n")
        delivered(corpus, store)
    return corpus


@pytest.mark.parametrize(
    ("day", "expected"),
    [("2024-12-31", "It was so."), ("2025-01-01", "It is otherwise.")],
)
def test_an_index_shows_the_wording_of_each_day(
    index: Corpus, day: str, expected: str
) -> None:
    """By the chunk's one id."""
    done = situate("show", "rule.md:rule", "--config", index.config, "--as-of", day)

    assert done.exit_code == 0, done.stderr
    assert expected in done.stdout


def test_an_index_shows_the_last_wording_or_the_one_that_is_named(
    index: Corpus,
) -> None:
    """Without a day the clock does not decide."""
    last = situate("show", "rule.md:rule", "--config", index.config)
    named = situate("show", "rule.md:rule@2024", "--config", index.config, "--json")

    assert "It is otherwise." in last.stdout
    assert json.loads(named.stdout)["metadata"]["effective_to"] == "2024-12-31"


def test_an_index_explains_the_wording_of_a_day(index: Corpus) -> None:
    """As `why` does of a chunks file."""
    done = situate(
        *("why", "rule.md:rule", "--config", index.config, "--as-of", "2024-06-01"),
    )

    assert done.exit_code == 0, done.stderr
    assert "rule.md, version 2024" in done.stdout


@pytest.mark.parametrize("command", ["show", "why"])
def test_a_chunk_that_is_not_in_force_is_told_with_its_days(
    fees: Path, command: str
) -> None:
    """Nobody takes it for what holds."""
    done = situate(
        *(command, "fees.md:fees/old", "--chunks", fees, "--as-of", "2026-01-01"),
    )

    assert done.exit_code == 2
    assert "not in force on 2026-01-01: in force to 2025-12-31" in done.stderr


def test_what_an_index_does_not_have_is_told(index: Corpus) -> None:
    """Be it a day before all wordings, another version or another chunk."""
    early = situate(
        *("show", "rule.md:rule", "--config", index.config, "--as-of", "2023-01-01"),
    )
    other = situate("show", "rule.md:rule@1999", "--config", index.config)

    assert early.exit_code == other.exit_code == 2
    assert "in force from 2024-01-01 to 2024-12-31; in force from" in early.stderr
    assert "no record 'rule.md:rule@1999'" in other.stderr


def test_where_a_chunk_is_looked_for_is_said_once(index: Corpus, fees: Path) -> None:
    """In a file or in an index."""
    neither = situate("show", "rule.md:rule")
    both = situate("show", "rule.md:rule", "--config", index.config, "--chunks", fees)

    assert neither.exit_code == both.exit_code == 2
    assert "--chunks or --config" in neither.stderr


def test_two_outputs_are_compared_as_of_a_day(fees: Path, tmp_path: Path) -> None:
    """What is not in force is in neither."""
    later = tmp_path / "later.jsonl"
    lines = fees.read_bytes().splitlines(keepends=True)
    later.write_bytes(b"".join(line for line in lines if b"Twelve." not in line))

    then = situate("diff", fees, later, "--as-of", "2025-06-01", "--json")
    now = situate("diff", fees, later, "--as-of", "2026-06-01", "--json")

    assert json.loads(then.stdout)["removed"] == []
    assert json.loads(now.stdout)["removed"] == ["fees.md:fees/new"]


def test_a_page_shows_what_is_in_force(fees: Path) -> None:
    """The rest is neither shown nor said to be missing."""
    page = situate("inspect", fees, "--as-of", "2026-06-01")

    assert page.exit_code == 0, page.stderr
    assert "Twelve." in page.stdout
    assert "fees/old" not in page.stdout


@pytest.mark.parametrize("day", ["tomorrow", "2026-02-30", "20260131", "2026-W05-6"])
@pytest.mark.parametrize("command", ["show", "why", "inspect", "diff"])
def test_a_day_that_is_none_is_refused(fees: Path, command: str, day: str) -> None:
    """In one line, with exit code 2, before anything is read."""
    arguments = {
        "show": ("fees.md:fees/old", "--chunks", fees),
        "why": ("fees.md:fees/old", "--chunks", fees),
        "inspect": (fees,),
        "diff": (fees, fees),
    }

    done = situate(command, *arguments[command], "--as-of", day)

    assert done.exit_code == 2
    assert done.stderr.count("\n") == 1
    assert day in done.stderr
