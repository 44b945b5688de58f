"""Upkeep: what a cache holds is counted, checked, carried over and thinned out."""

from __future__ import annotations

import json
import pickle
import sqlite3
import subprocess
import sys
from contextlib import closing
from datetime import UTC, date, datetime
from decimal import Decimal
from typing import TYPE_CHECKING

import pytest

from situate.enrichment.cache import Cache, Located
from situate.errors import CacheBroken, ConfigError
from situate.pipeline import upkeep
from tests.support.memory_disk import memory_disk

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

RAW = '{"text": "A sentence."}'
TODAY = "2026-12-10"


@pytest.fixture
def tmp_path(tmp_path: Path) -> Iterator[Path]:
    """Use a disk that nobody waits for."""
    with memory_disk(tmp_path) as folder:
        yield folder


def _on(day: str) -> Callable[[], datetime]:
    return lambda: datetime.fromisoformat(f"{day}T12:00+00:00")


def _fill(directory: Path, day: str, *names: str) -> None:
    """Store a reply and what stands in it, on a day."""
    with Cache(directory, now=_on(day)) as cache, cache.at_once():
        for name in names:
            cache.store_reply(name, RAW)
            cache.store_answers(f"about-{name}", (Located(name),))


def _change(directory: Path, statement: str, *values: object) -> None:
    with closing(sqlite3.connect(directory / "cache.db")) as database, database:
        database.execute(statement, values)


def _prune(directory: Path, since: str, *, rehearsal: bool = False) -> tuple[int, int]:
    gone = upkeep.prune(directory, since, rehearsal=rehearsal, now=_on(TODAY))
    return gone.replies, gone.answers


# ---------------------------------------------------------------- counted


def test_a_cache_says_what_it_holds(tmp_path: Path) -> None:
    """What no answer stands in is counted apart, spending by month."""
    _fill(tmp_path, "2026-10-01", "a", "b")
    with Cache(tmp_path, now=_on("2026-11-05")) as cache:
        cache.store_reply("alone", RAW)
        cache.store_answers("about-both", (Located("a", "1"), Located("b")))
        cache.months().reserve(Decimal("1.50"), most=None)

    found = upkeep.statistics(tmp_path)

    assert (found.answers, found.replies, found.unreferenced_replies) == (3, 3, 1)
    assert (found.oldest_use, found.newest_use) == ("2026-10-01", "2026-11-05")
    assert found.spent_usd == {"2026-11": Decimal("1.50")}
    assert found.bytes >= (tmp_path / "cache.db").stat().st_size > 0
    assert found.foreign_rows == 0


@pytest.mark.parametrize("look", [upkeep.statistics, upkeep.verify])
def test_looking_makes_no_cache_where_there_is_none(
    tmp_path: Path, look: Callable[[Path], object]
) -> None:
    """A slip in the name is an error and leaves nothing behind."""
    with pytest.raises(ConfigError, match="there is none"):
        look(tmp_path / "cache")

    assert list(tmp_path.iterdir()) == []


# ---------------------------------------------------------------- checked


def test_a_cache_that_is_whole_has_nothing_to_say(tmp_path: Path) -> None:
    """Every row is looked at."""
    _fill(tmp_path, TODAY, "a", "b")
    with Cache(tmp_path) as cache:
        cache.months().reserve(Decimal(1), most=None)

    verdict = upkeep.verify(tmp_path)

    assert (verdict.rows, verdict.findings) == (5, ())


@pytest.mark.parametrize(
    ("change", "values", "word"),
    [
        pytest.param("mode = 4, value = ?", [pickle.dumps(1)], "pickled", id="pickle"),
        pytest.param("filename = ?", ["../x.val"], "'../x.val'", id="file"),
        pytest.param("value = ?", ["{"], "no JSON", id="cut"),
        pytest.param("value = ?", ["7"], "no object", id="number"),
        pytest.param("value = ?", ['{"schema": 2}'], "of version 1", id="version"),
        pytest.param("value = ?", ['{"schema": 1}'], "form of its kind", id="form"),
        pytest.param(
            "value = ?", ['{"schema": 1, "raw": "<html>"}'], "no JSON object", id="raw"
        ),
        pytest.param("key = ?", ["other:k"], "no kind", id="kind"),
        pytest.param("key = ?, raw = 0", [b"\x80k"], "no text", id="key"),
    ],
)
def test_a_row_that_is_not_ours_is_named(
    tmp_path: Path, change: str, values: list[object], word: str
) -> None:
    """By its key, and with what is wrong; it is neither run nor opened."""
    with Cache(tmp_path) as cache:
        cache.store_reply("k", RAW)
    _change(tmp_path, f"UPDATE Cache SET {change}", *values)  # noqa: S608 - the test's own

    (finding,) = upkeep.verify(tmp_path).findings

    assert word in finding.message
    assert "k" in finding.subject


def test_an_answer_whose_reply_is_gone_is_named(tmp_path: Path) -> None:
    """It would be taken for paid, and is asked for again."""
    _fill(tmp_path, TODAY, "a", "b")
    _change(tmp_path, "DELETE FROM Cache WHERE key = 'reply:a'")

    (finding,) = upkeep.verify(tmp_path).findings

    assert finding.subject == "chunk:about-a"
    assert "'a', which is not here" in finding.message


def test_a_marker_that_is_no_number_is_named(tmp_path: Path) -> None:
    """Nothing stands behind it, and the chunk is asked about again."""
    with Cache(tmp_path) as cache:
        cache.store_reply("k", RAW)
        cache.store_answers("c", (Located("k", "\N{SUPERSCRIPT TWO}"),))

    (finding,) = upkeep.verify(tmp_path).findings

    assert finding.subject == "chunk:c"
    assert "no number" in finding.message


@pytest.mark.parametrize(
    "usd", ["much", "-5", "NaN", "1e999999999", "1e-999999999", "1e30", "0" * 5_000]
)
def test_a_month_that_says_no_amount_is_named_and_nothing_is_spent_on_it(
    tmp_path: Path, usd: str
) -> None:
    """An exponent may stand for more digits than there is memory (E2)."""
    with Cache(tmp_path, now=_on(TODAY)) as cache:
        cache.months().reserve(Decimal(1), most=None)
    value = json.dumps({"schema": 1, "usd": usd})
    _change(tmp_path, "UPDATE Cache SET value = ?", value)

    (finding,) = upkeep.verify(tmp_path).findings

    assert finding.subject == "month:2026-12"
    assert upkeep.statistics(tmp_path).spent_usd == {}
    with (
        Cache(tmp_path, now=_on(TODAY)) as cache,
        pytest.raises(CacheBroken, match="what was spent in 2026-12"),
    ):
        cache.months().reserve(Decimal(1), most=None)


def test_a_month_whose_row_is_removed_begins_at_nothing(tmp_path: Path) -> None:
    """What is taken off a row that is gone would make it less than that."""
    with Cache(tmp_path, now=_on(TODAY)) as cache:
        months = cache.months()
        held = months.reserve(Decimal(2), most=None)
        assert held is not None
        _change(tmp_path, "DELETE FROM Cache")
        months.settle(held.name, reserved=Decimal(2), cost=Decimal(1))

        assert months.current().usd == 0


def test_a_setting_with_two_values_is_named(tmp_path: Path) -> None:
    """Such a database is not opened to work with."""
    with closing(sqlite3.connect(tmp_path / "cache.db")) as database, database:
        database.execute("CREATE TABLE Cache (key, raw, mode, filename, value, tag)")
        database.execute("ALTER TABLE Cache ADD COLUMN access_time")
        database.execute("CREATE TABLE Settings (key, value)")
        database.execute("INSERT INTO Settings VALUES ('count', 1), ('count', 2)")

    (finding,) = upkeep.verify(tmp_path).findings

    assert "more than once: count" in finding.message


def test_a_setting_that_is_not_known_is_named(tmp_path: Path) -> None:
    """Such a cache is not opened to work with."""
    Cache(tmp_path).close()
    _change(tmp_path, "INSERT INTO Settings VALUES ('_directory', '/elsewhere')")

    (finding,) = upkeep.verify(tmp_path).findings

    assert "_directory" in finding.message


@pytest.mark.parametrize("where", ["start", "middle"])
def test_a_damaged_database_is_a_finding_and_no_crash(
    tmp_path: Path, where: str
) -> None:
    """Also where there is nothing left to open."""
    _fill(tmp_path, TODAY, *(f"{number}" for number in range(300)))
    path = tmp_path / "cache.db"
    content = bytearray(path.read_bytes())
    start = 0 if where == "start" else len(content) // 3
    content[start : start + 30_000] = b"\xff" * 30_000
    path.write_bytes(content)

    findings = upkeep.verify(tmp_path).findings

    assert findings[0].subject == "database"
    with pytest.raises(CacheBroken, match=r"cache .* cannot be read"):
        upkeep.statistics(tmp_path)


# ---------------------------------------------------------------- carried over


def test_what_is_carried_over_answers_there(tmp_path: Path) -> None:
    """Replies, answers and markers; the same lines whatever the day."""
    source, target = tmp_path / "source", tmp_path / "target"
    _fill(source, "2026-10-01", "b", "a")
    with Cache(source) as cache:
        cache.store_answers("group", (Located("a", "1"), Located("b")))
        cache.months().reserve(Decimal(1), most=None)
    first, second = tmp_path / "first.jsonl", tmp_path / "second.jsonl"

    exported = upkeep.export(source, first)
    imported = upkeep.take_in(target, first)
    upkeep.export(target, second)

    assert (exported.replies, exported.answers, exported.left_out) == (2, 3, 0)
    assert (imported.replies, imported.answers, imported.known) == (2, 3, 0)
    assert first.read_bytes() == second.read_bytes()
    with Cache(target) as cache:
        assert cache.reply("a") == RAW
        assert cache.answers("group") == (Located("a", "1"), Located("b"))
        assert cache.months().current().usd == 0


def test_what_is_not_ours_is_not_carried_out(tmp_path: Path) -> None:
    """A broken row does not travel, and does not stop the others."""
    _fill(tmp_path / "cache", TODAY, "a", "b")
    _change(
        tmp_path / "cache", "UPDATE Cache SET value = 'x' WHERE key = 'chunk:about-a'"
    )

    exported = upkeep.export(tmp_path / "cache", tmp_path / "out.jsonl")

    assert (exported.replies, exported.answers, exported.left_out) == (2, 1, 1)
    assert "about-a" not in (tmp_path / "out.jsonl").read_text()


def _line(key: str, **value: object) -> str:
    return json.dumps({"schema": 1, "key": key, **value})


def test_what_is_here_is_never_replaced(tmp_path: Path) -> None:
    """Something else under the same key is told; a repair completes an answer."""
    with Cache(tmp_path / "cache") as cache:
        cache.store_reply("same", RAW)
        cache.store_reply("other", RAW)
        cache.store_answers("repaired", (Located("same"),))
        cache.store_answers("longer", (Located("same"), Located("other")))
        cache.store_answers("other", (Located("same"),))
    first, second = {"reply": "same"}, {"reply": "other"}
    (tmp_path / "in.jsonl").write_text(
        "\n".join(
            (
                _line("reply:same", raw=RAW),
                _line("reply:other", raw='{"text": "B"}'),
                _line("chunk:repaired", answers=[first, second]),
                _line("chunk:longer", answers=[first]),
                _line("chunk:other", answers=[second]),
            )
        )
    )

    imported = upkeep.take_in(tmp_path / "cache", tmp_path / "in.jsonl")

    assert (imported.replies, imported.answers, imported.known) == (0, 1, 2)
    assert imported.conflicts == ("reply:other", "chunk:other")
    with Cache(tmp_path / "cache") as cache:
        assert cache.reply("other") == RAW
        assert cache.answers("repaired") == (Located("same"), Located("other"))
        assert cache.answers("longer") == (Located("same"), Located("other"))
        assert cache.answers("other") == (Located("same"),)


@pytest.mark.parametrize(
    "line",
    [
        pytest.param("{", id="cut"),
        pytest.param("[]", id="list"),
        pytest.param('{"chunk_id": "a", "schema": 1}', id="chunk"),
        pytest.param('{"schema": 2, "key": "reply:x", "raw": "{}"}', id="version"),
        pytest.param(_line("reply:x", raw="<html>"), id="no-json"),
        pytest.param(_line("reply:x", answers=[]), id="other-kind"),
        pytest.param(_line("month:2026-12", usd="0"), id="spending"),
        pytest.param(_line("chunk:x", answers=[{"reply": "none"}]), id="no-reply"),
        pytest.param(_line("reply:\ud800", raw="{}"), id="half-a-letter"),
        pytest.param(_line("reply:x", raw='{"a": "\ud800"}'), id="in-the-reply"),
        pytest.param(_line("chunk:x", answers=[{"reply": "\ud800"}]), id="in-a-key"),
    ],
)
def test_a_line_that_is_not_ours_is_refused_by_number(
    tmp_path: Path, line: str
) -> None:
    """The others are taken in."""
    path = tmp_path / "in.jsonl"
    path.write_text(f"{_line('reply:a', raw=RAW)}\n\n{line}\n")

    imported = upkeep.take_in(tmp_path / "cache", path)

    assert imported.replies == 1
    (refused,) = imported.refused
    assert refused.startswith(f"{path}:3: ")


def test_an_export_replaces_an_export_and_nothing_else(tmp_path: Path) -> None:
    """A slip of the hand costs no document."""
    _fill(tmp_path / "cache", TODAY, "a")
    path, document = tmp_path / "out.jsonl", tmp_path / "document.md"
    document.write_text("# Ours\n")

    upkeep.export(tmp_path / "cache", path)
    upkeep.export(tmp_path / "cache", path)
    for place in (document, tmp_path / "cache" / "cache.db"):
        with pytest.raises(ConfigError, match="not to be replaced"):
            upkeep.export(tmp_path / "cache", place)

    assert document.read_text() == "# Ours\n"


# ---------------------------------------------------------------- thinned out


def test_what_was_not_used_since_a_day_is_removed(tmp_path: Path) -> None:
    """What was used on that day stays, and so does what was spent."""
    _fill(tmp_path, "2026-10-31", "old")
    _fill(tmp_path, "2026-11-01", "young")
    with Cache(tmp_path, now=_on("2026-10-31")) as cache:
        cache.store_reply("alone", RAW)
        cache.months().reserve(Decimal(1), most=None)

    assert _prune(tmp_path, "2026-11-01", rehearsal=True) == (2, 1)
    assert _prune(tmp_path, "2026-11-01") == (2, 1)
    assert _prune(tmp_path, "2026-11-01") == (0, 0)

    with Cache(tmp_path, now=_on("2026-10-31")) as cache:
        assert cache.reply("old") is None
        assert cache.answers("about-old") == ()
        assert cache.reply("young") == RAW
        assert cache.answers("about-young") == (Located("young"),)
        assert cache.months().current().usd == 1


@pytest.mark.parametrize("use", ["reply", "answers"])
def test_reading_is_use(tmp_path: Path, use: str) -> None:
    """Who looks an answer up will want the reply it stands in."""
    _fill(tmp_path, "2026-10-01", "a")
    with Cache(tmp_path, now=_on("2026-11-20")) as cache:
        assert cache.reply("a") if use == "reply" else cache.answers("about-a")

    gone = _prune(tmp_path, "2026-11-20")

    assert gone == ((0, 1) if use == "reply" else (0, 0))


def test_a_new_answer_keeps_an_old_reply(tmp_path: Path) -> None:
    """No reply is older than what refers to it."""
    _fill(tmp_path, "2026-10-01", "a")
    with Cache(tmp_path, now=_on("2026-11-20")) as cache:
        cache.store_answers("elsewhere", (Located("a"),))

    assert _prune(tmp_path, "2026-11-20") == (0, 1)
    assert upkeep.verify(tmp_path).findings == ()


def test_use_is_written_once_a_day_and_not_with_every_reading(tmp_path: Path) -> None:
    """A cached run reads, and the disk hears of it at the end."""
    names = [f"{number}" for number in range(50)]
    _fill(tmp_path, "2026-10-01", *names)

    def changes(cache: Cache) -> int:
        ((written,),) = cache._store._sql("SELECT total_changes()")
        return int(written)

    def read_all(day: str) -> int:
        with Cache(tmp_path, now=_on(day)) as cache:
            before = changes(cache)
            for name in names * 3:
                assert cache.answers(f"about-{name}")
                assert cache.reply(name)
            assert changes(cache) == before
            cache._note()
            return changes(cache) - before

    # Beside each row, diskcache's trigger changes its count of bytes.
    assert read_all("2026-11-20") == 2 * 2 * len(names)
    assert read_all("2026-11-20") == 0
    assert read_all("2026-11-21") == 2 * 2 * len(names)


def test_many_uses_are_noted_before_the_end(tmp_path: Path) -> None:
    """Somebody who prunes during a long run hears of them."""
    _fill(tmp_path, "2026-10-01", *(f"{number}" for number in range(1_001)))

    with Cache(tmp_path, now=_on("2026-11-20")) as cache:
        for number in range(1_001):
            cache.answers(f"about-{number}")
        replies, answers = _prune(tmp_path, "2026-11-20")

    assert replies == answers == 1


def test_a_use_is_noted_within_minutes(tmp_path: Path) -> None:
    """Also by a run that reads little."""
    _fill(tmp_path, "2026-10-01", "a", "b")
    time = "2026-11-20T12:00"

    with Cache(
        tmp_path, now=lambda: datetime.fromisoformat(time).replace(tzinfo=UTC)
    ) as cache:
        cache.answers("about-a")
        time = "2026-11-20T12:02"
        cache.answers("about-b")

        assert _prune(tmp_path, "2026-11-20") == (0, 0)


def test_rows_of_an_earlier_version_count_as_used_today(tmp_path: Path) -> None:
    """It noted no days; from the first pruning on they grow old."""
    _fill(tmp_path, "2026-10-01", "a")
    _change(tmp_path, "UPDATE Cache SET tag = NULL")

    assert _prune(tmp_path, TODAY) == (0, 0)

    later = _on("2026-12-20")
    gone = upkeep.prune(tmp_path, "2026-12-11", rehearsal=False, now=later)
    assert (gone.replies, gone.answers) == (1, 1)


def test_the_disk_gets_back_what_was_removed(tmp_path: Path) -> None:
    """The file shrinks; nobody has to copy it."""
    with Cache(tmp_path, now=_on("2026-10-01")) as cache, cache.at_once():
        for number in range(1_000):
            cache.store_reply(f"{number}", json.dumps({"text": "x" * 3_000}))
    before = upkeep.statistics(tmp_path).bytes

    gone = upkeep.prune(tmp_path, TODAY, rehearsal=False, now=_on(TODAY))

    after = upkeep.statistics(tmp_path).bytes
    assert gone.bytes > 0.9 * before > 2_700_000
    assert after < 0.1 * before


@pytest.mark.parametrize(
    ("day", "words"),
    [
        ("2026-12-11", "still to come"),
        ("2026-13-01", "is no date like 2026-12-10"),
        ("20261201", "is no date"),
        ("2026-W01-1", "is no date"),
        ("yesterday", "is no date"),
        ("", "is no date"),
    ],
)
def test_a_day_that_is_none_or_still_to_come_removes_nothing(
    tmp_path: Path, day: str, words: str
) -> None:
    """Everything would be older than that."""
    with pytest.raises(ConfigError, match=words):
        _prune(tmp_path, day)


def test_one_process_writes_while_another_prunes(tmp_path: Path) -> None:
    """Neither fails, nothing new goes, and nothing refers to what is gone."""
    _fill(tmp_path, "2026-10-01", *(f"old-{number}" for number in range(3_000)))
    program = (
        "import pathlib, sys\n"
        "from situate.enrichment.cache import Cache, Located\n"
        "with Cache(pathlib.Path(sys.argv[1])) as cache:\n"
        "    print('ready', flush=True)\n"
        "    for n in range(60):\n"
        "        cache.store_reply(f'new-{n}', '{}')\n"
        "        cache.store_answers(f'of-{n}', (Located(f'new-{n}'),))\n"
        "        cache.store_answers(f'again-{n}', (Located(f'kept-{n}'),))\n"
    )
    with Cache(tmp_path, now=_on("2026-10-01")) as cache, cache.at_once():
        for number in range(60):
            cache.store_reply(f"kept-{number}", RAW)
    with Cache(tmp_path) as cache:
        assert all(cache.reply(f"kept-{number}") for number in range(60))

    with subprocess.Popen(
        [sys.executable, "-c", program, tmp_path], stdout=subprocess.PIPE, text=True
    ) as writer:
        assert writer.stdout is not None
        assert writer.stdout.readline() == "ready\n"
        today = date.today().isoformat()  # noqa: DTZ011 - as the process does, near enough
        gone = upkeep.prune(tmp_path, today, rehearsal=False)

    assert writer.returncode == 0
    assert (gone.replies, gone.answers) == (3_000, 3_000)
    verdict = upkeep.verify(tmp_path)
    assert (verdict.rows, verdict.findings) == (60 * 4, ())
