"""`situate cache ...`: what people and machines are told of a cache."""

from __future__ import annotations

import json
import sqlite3
from contextlib import closing
from datetime import UTC, datetime
from decimal import Decimal
from typing import TYPE_CHECKING, Any

import pytest
from typer.testing import CliRunner

from situate.cli import app
from situate.enrichment.cache import Cache, Located
from tests.support.corpora import Corpus
from tests.support.memory_disk import memory_disk

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from typer.testing import Result

COMMANDS = {
    "stats": [],
    "verify": [],
    "export": ["--output", "out.jsonl"],
    "import": ["--input", "in.jsonl"],
    "prune": ["--not-used-since", "2020-01-01"],
}


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """Work beside a cache with a reply, an answer and some spending."""
    with memory_disk(tmp_path) as folder:
        monkeypatch.chdir(folder)
        with Cache(folder / "cache", now=lambda: datetime(2026, 6, 1, tzinfo=UTC)) as c:
            c.store_reply("a", '{"text": "A sentence."}')
            c.store_answers("about-a", (Located("a", "1"),))
            c.months().reserve(Decimal("1.25"), most=None)
        yield folder


def _cache(command: str, *arguments: object, directory: str = "cache") -> Result:
    given = ["cache", command, "--directory", directory, *map(str, arguments)]
    return CliRunner().invoke(app, given)


def _json(command: str, *arguments: object, **where: str) -> Any:
    return json.loads(_cache(command, *arguments, "--json", **where).stdout)


def test_stats_tell_people_and_machines_the_same(here: Path) -> None:
    """Data goes to stdout."""
    told = _cache("stats")
    found = _json("stats")

    assert told.exit_code == 0
    assert told.stdout.splitlines() == [
        "cache",
        "answers    1",
        "replies    1, 0 with no answer in use",
        "documents  0, 1 replies do not say for which",
        f"bytes      {found['bytes']:,}",
        "used       from 2026-06-01 to 2026-06-01",
        "spent      $1.25 in 2026-06",
    ]
    assert found == {
        "answers": 1,
        "replies": 1,
        "unreferenced_replies": 0,
        "unattributed_replies": 1,
        "documents": 0,
        "foreign_rows": 0,
        "bytes": found["bytes"],
        "oldest_use": "2026-06-01",
        "newest_use": "2026-06-01",
        "spent_usd": {"2026-06": "1.25"},
    }


def test_a_config_names_its_cache(here: Path) -> None:
    """As for every other command."""
    corpus = Corpus(folder=here)
    corpus.document("a.md", "# A\n")
    corpus.configure(cache={"directory": "cache"})

    result = CliRunner().invoke(app, ["cache", "stats", str(corpus.config), "--json"])

    assert json.loads(result.stdout)["replies"] == 1


def test_verify_ends_well_where_all_is_well(here: Path) -> None:
    """Exit code 0."""
    result = _cache("verify")

    assert (result.exit_code, result.stdout) == (0, "")
    assert "3 rows: all is well" in result.stderr


def test_verify_names_what_is_wrong(here: Path) -> None:
    """Exit code 1; a line for each finding, that steers no terminal."""
    with closing(sqlite3.connect(here / "cache" / "cache.db")) as database, database:
        database.execute(
            "UPDATE Cache SET key = ?, mode = 4 WHERE key = 'reply:a'",
            ("reply:\x1b[31ma",),
        )

    result = _cache("verify")

    assert result.exit_code == 1
    assert result.stdout.splitlines() == [
        "reply:?[31ma: it is pickled or no text; it is never read",
        "chunk:about-a: it refers to 'a', which is not here",
    ]
    assert "3 rows: 2 wrong" in result.stderr
    assert len(_json("verify")["findings"]) == 2


def test_a_cache_travels_as_a_file(here: Path) -> None:
    """Export, import, and import once more."""
    exported = _json("export", "-o", "out.jsonl")
    first = _json("import", "-i", "out.jsonl", directory="new")
    second = _cache("import", "-i", "out.jsonl", directory="new")

    assert exported == {"replies": 1, "answers": 1, "left_out": 0}
    assert (first["replies"], first["answers"], first["known"]) == (1, 1, 0)
    assert second.exit_code == 0
    assert "0 replies and 0 answers taken in, 2 were here already" in second.stderr


def test_import_ends_with_three_where_something_stayed_outside(here: Path) -> None:
    """The line and the key are told."""
    (here / "in.jsonl").write_text(
        '{"schema": 1, "key": "reply:a", "raw": "{}"}\nno line of ours\n'
    )

    result = _cache("import", "-i", "in.jsonl")

    assert result.exit_code == 3
    assert "in.jsonl:2: not a line of JSON" in result.stderr
    assert "reply:a: something else is here; it stays" in result.stderr


def test_a_file_that_is_not_there_makes_no_cache(here: Path) -> None:
    """Exit code 2."""
    result = _cache("import", "-i", "none.jsonl", directory="new")

    assert result.exit_code == 2
    assert "none.jsonl: cannot be read" in result.stderr
    assert not (here / "new").exists()


def test_a_rehearsal_says_what_a_pruning_does(here: Path) -> None:
    """And removes nothing."""
    rehearsal = _cache("prune", "--not-used-since", "2026-06-02", "--dry-run")
    before = _json("stats")
    result = _cache("prune", "--not-used-since", "2026-06-02")

    assert "1 reply and 1 answer would be removed" in rehearsal.stderr
    assert before["replies"] == 1
    assert "1 reply and 1 answer removed" in result.stderr
    assert _json("stats") | {"bytes": 0} == before | {
        "answers": 0,
        "replies": 0,
        "unattributed_replies": 0,
        "bytes": 0,
        "oldest_use": None,
        "newest_use": None,
    }


@pytest.mark.parametrize("day", ["2999-01-01", "june"])
def test_a_day_that_is_none_is_refused(here: Path, day: str) -> None:
    """Exit code 2, with the day in words."""
    result = _cache("prune", "--not-used-since", day)

    assert result.exit_code == 2
    assert f"--not-used-since '{day}'" in result.stderr
    assert _json("stats")["replies"] == 1


@pytest.mark.parametrize("command", sorted(COMMANDS))
@pytest.mark.parametrize("named", ["none", "both", "missing"])
def test_one_cache_has_to_be_named(here: Path, command: str, named: str) -> None:
    """By a config or by its folder; nothing is made where none is."""
    where = {
        "none": [],
        "both": ["a.toml", "--directory", "cache"],
        "missing": ["missing.toml"],
    }
    before = sorted(here.iterdir())

    result = CliRunner().invoke(
        app, ["cache", command, *where[named], *COMMANDS[command]]
    )

    assert result.exit_code == 2
    assert result.stderr.startswith("situate: ")
    assert sorted(here.iterdir()) == before


@pytest.mark.parametrize("command", sorted(set(COMMANDS) - {"import"}))
def test_a_folder_without_a_cache_stays_as_it_is(here: Path, command: str) -> None:
    """A slip in its name makes no empty cache, and no empty file."""
    result = _cache(command, *COMMANDS[command], directory="cahce")

    assert result.exit_code == 2
    assert "cache 'cahce': there is none" in result.stderr
    assert not (here / "cahce").exists()
    assert not (here / "out.jsonl").exists()


def test_a_cache_that_cannot_be_read_is_one_line(here: Path) -> None:
    """Exit code 1, and no half file."""
    (here / "cache" / "cache.db").write_bytes(b"no database" * 1000)

    results = [_cache(name, *COMMANDS[name]) for name in ("stats", "export")]

    for result in results:
        assert result.exit_code == 1
        assert "cache 'cache' cannot be read" in result.stderr
    assert not (here / "out.jsonl").exists()
