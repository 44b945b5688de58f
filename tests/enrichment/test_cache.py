"""The cache: paid answers survive, and nothing planted in it is believed."""

from __future__ import annotations

import os
import pickle
import sqlite3
import subprocess
import sys
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING

import diskcache
import pytest

from situate.enrichment.cache import Cache, Located
from situate.errors import CacheBroken, ConfigError
from tests.support.memory_disk import memory_disk

if TYPE_CHECKING:
    from collections.abc import Iterator


@pytest.fixture
def tmp_path(tmp_path: Path) -> Iterator[Path]:
    """Use a disk that nobody waits for."""
    with memory_disk(tmp_path) as folder:
        yield folder


class Planted:
    """Runs code wherever it is unpickled."""

    def __init__(self, path: Path) -> None:
        self._path = path

    def __reduce__(self) -> tuple[object, tuple[object, ...]]:
        return Path.touch, (self._path,)


def _change(directory: Path, statement: str, *values: object) -> None:
    with closing(sqlite3.connect(directory / "cache.db")) as database, database:
        database.execute(statement, values)


def test_what_was_stored_is_there_in_the_next_run(tmp_path: Path) -> None:
    """Any text comes back as it was, under its own key."""
    raw = '{"text": "ß \\ud800 \u2028", "n": 1}\n'
    with Cache(tmp_path / "cache") as cache:
        cache.store_reply("k", raw)
        cache.store_answers("c", (Located("k"), Located("k2", "m7")))

    with Cache(tmp_path / "cache") as cache:
        assert cache.reply("k") == raw
        assert cache.answers("c") == (Located("k"), Located("k2", "m7"))
        assert cache.reply("c") is None
        assert cache.answers("k") == ()


def test_answers_of_an_earlier_version_are_still_answers(tmp_path: Path) -> None:
    """It listed keys of replies, each of which answered for one chunk."""
    with Cache(tmp_path) as cache:
        cache.store_answers("c", ())
    _change(tmp_path, "UPDATE Cache SET value = ?", '{"schema":1,"replies":["k","k2"]}')

    with Cache(tmp_path) as cache:
        assert cache.answers("c") == (Located("k"), Located("k2"))


def test_values_are_json_text_in_their_rows(tmp_path: Path) -> None:
    """Nothing is pickled, and nothing lies in files that are not synced."""
    with Cache(tmp_path) as cache:
        cache.store_reply("k", "x" * 200_000)

    with closing(sqlite3.connect(tmp_path / "cache.db")) as database:
        rows = database.execute("SELECT mode, filename, typeof(value) FROM Cache")
        assert rows.fetchall() == [(diskcache.core.MODE_RAW, None, "text")]
    assert not [path for path in tmp_path.rglob("*") if path.suffix == ".val"]


def test_a_new_directory_belongs_to_its_owner_alone(tmp_path: Path) -> None:
    """Replies tell of documents."""
    Cache(tmp_path / "deep" / "cache").close()

    assert (tmp_path / "deep" / "cache").stat().st_mode & 0o777 == 0o700


def test_an_open_directory_is_closed_to_others(tmp_path: Path) -> None:
    """A directory made by hand is no wider than one of ours."""
    directory = tmp_path / "cache"
    directory.mkdir(mode=0o755)
    directory.chmod(0o755)

    with Cache(directory) as cache:
        assert cache.warnings == ()

    assert directory.stat().st_mode & 0o777 == 0o700


def test_a_directory_that_holds_other_things_is_left_as_it_is(tmp_path: Path) -> None:
    """It is said that others can read along."""
    tmp_path.chmod(0o755)
    (tmp_path / "notes.txt").touch()

    with Cache(tmp_path) as cache:
        assert "open to others (mode 0755)" in cache.warnings[0]

    assert tmp_path.stat().st_mode & 0o777 == 0o755


@pytest.mark.parametrize("where", ["row", "file"])
def test_a_planted_pickle_is_not_run(tmp_path: Path, where: str) -> None:
    """A row that says it is pickled is as good as missing."""
    directory, ran = tmp_path / "cache", tmp_path / "ran"
    code = pickle.dumps(Planted(ran))
    with Cache(directory) as cache:
        cache.store_reply("k", "paid")
    if where == "row":
        _change(directory, "UPDATE Cache SET mode = 4, value = ?", code)
    else:
        (directory / "x.val").write_bytes(code)
        _change(
            directory, "UPDATE Cache SET mode = 4, value = NULL, filename = 'x.val'"
        )

    with Cache(directory) as cache:
        assert cache.reply("k") is None
        cache.store_reply("k", "paid again")
        assert cache.reply("k") == "paid again"

    assert not ran.exists()


@pytest.mark.parametrize("name", ["../secret", "/etc/hostname", "..", "ab/cd/e.val"])
def test_a_planted_file_name_is_neither_read_nor_deleted(
    tmp_path: Path, name: str
) -> None:
    """No file belongs to the cache, whatever a row says."""
    directory, secret = tmp_path / "cache", tmp_path / "secret"
    secret.write_text('{"schema": 1, "raw": "secret"}')
    with Cache(directory) as cache:
        cache.store_reply("k", "paid")
    _change(directory, "UPDATE Cache SET mode = 3, value = NULL, filename = ?", name)

    with Cache(directory) as cache:
        assert cache.reply("k") is None
        cache.store_reply("k", "paid again")

    assert secret.exists()


@pytest.mark.parametrize(
    "value",
    [
        "not json",
        "[" * 100_000,
        '"text"',
        '{"schema": 2, "raw": "x"}',
        '{"schema": 1}',
        '{"schema": 1, "raw": ["x"], "answers": "k"}',
        '{"schema": 1, "answers": [{"reply": "k"}, {"marker": "m1"}]}',
        '{"schema": 1, "answers": [{"reply": "k", "marker": 1}]}',
        '{"schema": 1, "answers": [{"reply": "\\ud800"}]}',
        '{"schema": 1, "answers": [{"reply": "k", "marker": "\\ud800"}]}',
        7,
    ],
)
def test_a_value_of_another_kind_is_as_good_as_missing(
    tmp_path: Path, value: object
) -> None:
    """Values are checked when they are read."""
    with Cache(tmp_path) as cache:
        cache.store_reply("k", "paid")
        cache.store_answers("c", (Located("k"),))
    _change(tmp_path, "UPDATE Cache SET value = ?", value)

    with Cache(tmp_path) as cache:
        assert cache.reply("k") is None
        assert cache.answers("c") == ()


def test_a_cache_of_diskcache_s_own_making_is_put_right(tmp_path: Path) -> None:
    """Its defaults pickle and evict; ours hold from the first opening on."""
    diskcache.Cache(str(tmp_path), size_limit=1000).close()

    with Cache(tmp_path) as cache:
        for number in range(50):
            cache.store_reply(str(number), "x" * 1000)
        assert all(cache.reply(str(number)) for number in range(50))

    with closing(sqlite3.connect(tmp_path / "cache.db")) as database:
        stored = dict(database.execute("SELECT key, value FROM Settings"))
    assert stored["eviction_policy"] == "none"
    assert stored["sqlite_synchronous"] == 2


def test_settings_that_are_not_diskcache_s_are_refused(tmp_path: Path) -> None:
    """It would set attributes of itself by them, its directory for one."""
    Cache(tmp_path).close()
    _change(tmp_path, "INSERT INTO Settings VALUES ('_directory', '/elsewhere')")

    with pytest.raises(ConfigError, match="_directory"):
        Cache(tmp_path)


def _broken_database(directory: Path) -> Path:
    (directory / "cache.db").write_bytes(b"no database" * 1000)
    return directory


def _a_file(directory: Path) -> Path:
    (directory / "file").write_text("")
    return directory / "file"


def _below_a_file(directory: Path) -> Path:
    return _a_file(directory) / "cache"


def _with_a_variable(directory: Path) -> Path:
    return directory / "$HOME"


@pytest.mark.parametrize(
    "place", [_broken_database, _a_file, _below_a_file, _with_a_variable]
)
def test_a_cache_that_cannot_be_opened_is_one_clear_error(
    tmp_path: Path,
    place: object,
) -> None:
    """Scene L37: said before anything is asked."""
    assert callable(place)
    directory = place(tmp_path)

    with pytest.raises(ConfigError, match=r"cache .* (cannot be opened|has a)"):
        Cache(directory)


def test_a_cache_that_breaks_while_open_says_so(tmp_path: Path) -> None:
    """Scene L37: reading and writing fail with one error of ours."""
    with Cache(tmp_path) as cache:
        _change(tmp_path, "DROP TABLE Cache")

        with pytest.raises(CacheBroken, match="no such table"):
            cache.reply("k")
        with pytest.raises(CacheBroken, match="no such table"):
            cache.store_reply("k", "paid")


def test_two_processes_share_a_cache(tmp_path: Path) -> None:
    """Scene L37: neither loses an answer of the other."""
    program = (
        "import sys, pathlib\n"
        "from situate.enrichment.cache import Cache\n"
        "with Cache(pathlib.Path(sys.argv[1])) as cache:\n"
        "    for n in range(100): cache.store_reply(f'{sys.argv[2]}-{n}', 'paid')\n"
    )
    running = [
        subprocess.Popen([sys.executable, "-c", program, tmp_path, name])
        for name in ("a", "b")
    ]

    codes = [process.wait(timeout=30) for process in running]

    assert codes == [0, 0]
    with Cache(tmp_path) as cache:
        assert all(cache.reply(f"{name}-{n}") for name in "ab" for n in range(100))


@pytest.mark.skipif(os.name != "posix", reason="POSIX signals")
def test_a_stored_reply_survives_a_kill(tmp_path: Path) -> None:
    """Scene L25: what is stored is stored when the call returns."""
    program = (
        "import os, sys, pathlib, signal\n"
        "from situate.enrichment.cache import Cache\n"
        "cache = Cache(pathlib.Path(sys.argv[1]))\n"
        "cache.store_reply('k', 'paid')\n"
        "os.kill(os.getpid(), signal.SIGKILL)\n"
    )

    subprocess.run([sys.executable, "-c", program, tmp_path], check=False)

    with Cache(tmp_path) as cache:
        assert cache.reply("k") == "paid"
