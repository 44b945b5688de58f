"""Vectors that cost are asked for once, and kept where replies are."""

from __future__ import annotations

import json
import sqlite3
from contextlib import closing
from typing import TYPE_CHECKING

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from situate.compare.embedders import open_embedder
from situate.compare.embedders.contract import gathered, instructed, unit
from situate.compare.vectors import Vectors
from situate.enrichment.cache import Cache
from situate.enrichment.cache.store import VECTORS
from situate.errors import ConfigError, TransientError
from tests.compare.embedding_servers import vector_of

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from pathlib import Path

    from situate.compare.embedders.contract import Role, Rows, Take
    from situate.model import JsonValue

NETWORK = "29 1 0:26 / / rw shared:1 - nfs4 server:/home rw"

AT_ONCE = 4
"""Texts the counting embedder answers together."""


class Counting:
    """An embedder that remembers what it was asked, and may fail on the way."""

    name = "counting"

    def __init__(
        self,
        *,
        vector: Callable[[str], list[float]] = vector_of,
        fails_after: int | None = None,
        instruction: str | None = None,
        **identity: JsonValue,
    ) -> None:
        self.asked: list[str] = []
        self._vector = vector
        self._fails_after = fails_after
        self._instruction = instruction
        self._identity = {**identity, "instruction": instruction}

    @property
    def identity(self) -> Mapping[str, JsonValue]:
        """What it was made of."""
        return self._identity

    def embed(self, texts: Sequence[str], role: Role) -> Rows:
        """Give all at once."""
        return gathered(self, texts, role)

    def check(self) -> None:
        """Can always be asked."""

    def ask(self, texts: Sequence[str], role: Role, take: Take) -> None:
        """Answer some texts at a time, the last ones first."""
        worded = instructed(texts, role, self._instruction)
        for start in reversed(range(0, len(texts), AT_ONCE)):
            if self._fails_after is not None and len(self.asked) >= self._fails_after:
                message = "the server went away"
                raise TransientError(message)
            places = range(start, min(start + AT_ONCE, len(texts)))
            self.asked += [worded[place] for place in places]
            take(places, unit(np.array([self._vector(worded[p]) for p in places])))


def numbered(count: int) -> list[str]:
    """Give texts that differ."""
    return [f"text {number}" for number in range(count)]


def embed(
    directory: Path | None,
    embedder: Counting,
    texts: Sequence[str],
    role: Role = "document",
) -> Rows:
    """Embed once through a cache that is opened for it."""
    with Vectors(embedder, directory) as vectors:
        return vectors.embed(texts, role)


def database(directory: Path) -> sqlite3.Connection:
    """Open the rows of a cache of vectors as anybody might."""
    return sqlite3.connect(directory / VECTORS / "cache.db", isolation_level=None)


@given(st.lists(st.sampled_from(["a", "b", "c", "", " "]), max_size=12))
def test_rows_are_those_of_the_embedder_and_equal_texts_are_asked_once(
    texts: list[str],
) -> None:
    """With or without a cache, in the order of the texts; blank ones are zeros."""
    embedder = Counting()

    rows = embed(None, embedder, texts)

    assert np.array_equal(rows, Counting().embed(texts, "document"))
    assert sorted(embedder.asked) == sorted({text for text in texts if text.strip()})


def test_what_is_kept_is_not_asked_again(tmp_path: Path) -> None:
    """The second run asks nothing and gives the same, bit for bit."""
    first = embed(tmp_path, Counting(), numbered(10))
    embedder = Counting()

    with Vectors(embedder, tmp_path) as vectors:
        second = vectors.embed(numbered(10), "document")

    assert embedder.asked == []
    assert vectors.asked == 0
    assert vectors.notes == ()
    assert np.array_equal(first, second)


def test_only_what_is_new_is_asked(tmp_path: Path) -> None:
    """Old and new rows stand in the order of the texts."""
    embed(tmp_path, Counting(), numbered(6))
    embedder = Counting()
    texts = ["new", *numbered(6)[::-1], "newer"]

    with Vectors(embedder, tmp_path) as vectors:
        rows = vectors.embed(texts, "document")

    assert embedder.asked == ["new", "newer"]
    assert vectors.asked == 2
    assert np.array_equal(rows, Counting().embed(texts, "document"))


def test_an_embedding_that_fails_loses_nothing_it_was_given(tmp_path: Path) -> None:
    """What was answered before is on the disk; the rest is asked by the next run."""
    broken, whole = Counting(fails_after=8), Counting()

    with pytest.raises(TransientError):
        embed(tmp_path, broken, numbered(20))
    rows = embed(tmp_path, whole, numbered(20))

    assert len(broken.asked) == 8
    assert sorted(broken.asked + whole.asked) == sorted(numbered(20))
    assert np.array_equal(rows, Counting().embed(numbered(20), "document"))


def test_rows_are_on_the_disk_before_the_next_are_asked_for(tmp_path: Path) -> None:
    """A kill between two requests costs nothing: other processes see the rows."""
    seen: list[int] = []

    def vector(text: str) -> list[float]:
        with closing(database(tmp_path)) as rows:
            seen.extend(rows.execute("SELECT count(*) FROM Cache").fetchone())
        return vector_of(text)

    embed(tmp_path, Counting(vector=vector), numbered(3 * AT_ONCE))

    assert sorted(set(seen)) == [0, AT_ONCE, 2 * AT_ONCE]


@pytest.mark.parametrize(
    "other",
    [
        pytest.param(Counting(model="n", endpoint="e"), id="model"),
        pytest.param(Counting(model="m", endpoint="f"), id="endpoint"),
        pytest.param(
            Counting(model="m", endpoint="e", instruction="x"), id="instruction"
        ),
    ],
)
def test_another_embedder_shares_no_vector(tmp_path: Path, other: Counting) -> None:
    """Model, endpoint and instruction are in the key."""
    embed(tmp_path, Counting(model="m", endpoint="e"), ["a"])

    embed(tmp_path, other, ["a"])

    assert len(other.asked) == 1


def test_a_query_shares_no_vector_with_a_document(tmp_path: Path) -> None:
    """The role is in the key: some models answer differently."""
    embedder = Counting()

    for role in ("document", "query", "document"):
        embed(tmp_path, embedder, ["a"], role)

    assert embedder.asked == ["a", "a"]


def test_a_text_is_kept_whatever_it_holds(tmp_path: Path) -> None:
    """Half a surrogate pair has a key of its own."""
    texts = ["\ud800", "\ud801", "\x00", "é", "e\u0301"]
    embedder = Counting(vector=lambda text: [float(ord(text[-1])), 1.0])

    first = embed(tmp_path, embedder, texts)
    second = embed(tmp_path, embedder, texts)

    assert len(embedder.asked) == 5
    assert np.array_equal(first, second)


def test_the_static_embedder_is_not_kept(tmp_path: Path) -> None:
    """Looking up again is faster than reading, and makes no file."""
    static = open_embedder("static")

    with Vectors(static, tmp_path / "cache") as vectors:
        rows = vectors.embed(["roof", ""], "query")

    assert np.array_equal(rows, static.embed(["roof", ""], "query"))
    assert not (tmp_path / "cache").exists()


def test_the_cache_is_for_its_owner_alone(tmp_path: Path) -> None:
    """Vectors tell of documents; so do the folders they lie in."""
    directory = tmp_path / "new" / "cache"

    embed(directory, Counting(), ["a"])

    modes = [path.stat().st_mode & 0o777 for path in (directory, directory / VECTORS)]
    assert modes == [0o700, 0o700]


def test_replies_and_vectors_share_a_directory(tmp_path: Path) -> None:
    """Whoever looks a cache of replies over finds no vectors among them."""
    embed(tmp_path, Counting(), ["a"])

    with Cache(tmp_path) as cache:
        cache.store_reply("k", "{}")
        warnings = cache.warnings

    with closing(sqlite3.connect(tmp_path / "cache.db")) as rows:
        assert rows.execute("SELECT key FROM Cache").fetchall() == [("reply:k",)]
    assert warnings == ()


def test_values_are_json_text_of_little_endian_numbers(tmp_path: Path) -> None:
    """Anything can read them, and nothing in them is run."""
    embed(tmp_path, Counting(vector=lambda _: [3.0, -4.0]), ["a"])

    with closing(database(tmp_path)) as rows:
        ((key, value),) = rows.execute("SELECT key, value FROM Cache").fetchall()

    assert key.startswith("vector:")
    assert "a" not in json.loads(value)
    assert json.loads(value) == {"schema": 1, "vector": "mpkZP83MTL8="}


@pytest.mark.parametrize(
    "value",
    [
        pytest.param("no json", id="no json"),
        pytest.param('{"schema":2,"vector":"mpkZP83MTL8="}', id="other version"),
        pytest.param('{"schema":1}', id="no vector"),
        pytest.param('{"schema":1,"vector":7}', id="no text"),
        pytest.param('{"schema":1,"vector":"?"}', id="no base64"),
        pytest.param('{"schema":1,"vector":"mpk="}', id="half a number"),
        pytest.param('{"schema":1,"vector":""}', id="no numbers"),
        pytest.param('{"schema":1,"vector":"AADAfwAAgD8="}', id="not a number"),
        pytest.param('{"schema":1,"vector":"AACAPwAAgD8="}', id="no unit length"),
    ],
)
def test_a_row_that_is_no_vector_is_asked_anew(tmp_path: Path, value: str) -> None:
    """Whoever can write the directory cannot spoil a ranking unseen."""
    expected = embed(tmp_path, Counting(), ["a"])
    with closing(database(tmp_path)) as rows:
        rows.execute("UPDATE Cache SET value = ?", [value])
    embedder = Counting()

    found = embed(tmp_path, embedder, ["a"])
    embed(tmp_path, embedder, ["a"])

    assert embedder.asked == ["a"]
    assert np.array_equal(found, expected)


def test_another_model_behind_the_same_name_is_found_out(tmp_path: Path) -> None:
    """Kept and new vectors of different dimensions are never compared."""
    embed(tmp_path, Counting(), ["a"])
    other = Counting(vector=lambda _: [1.0, 2.0])

    with pytest.raises(ConfigError, match="8 and of 2 dimensions") as caught:
        embed(tmp_path, other, ["a", "b"])

    assert str(tmp_path / VECTORS) in str(caught.value)


def test_all_rows_have_the_dimensions_of_those_before(tmp_path: Path) -> None:
    """A list of blank texts, or of none, can be multiplied with any other."""
    with Vectors(Counting(), tmp_path) as vectors:
        vectors.embed(["a"], "query")

        blank, none = vectors.embed([" "], "document"), vectors.embed([], "document")

    assert (blank.shape, none.shape) == ((1, 8), (0, 8))


def test_a_network_file_system_is_refused(tmp_path: Path) -> None:
    """Before anything is made there, with what to do instead."""
    directory = tmp_path / "cache"

    with pytest.raises(ConfigError, match="network file system"):
        Vectors(Counting(), directory, mounts=NETWORK)

    assert not directory.exists()


def test_a_cache_that_cannot_be_made_is_a_note(tmp_path: Path) -> None:
    """Vectors come all the same; the note names the place and says why."""
    (tmp_path / "file").write_text("in the way", "utf-8")

    with Vectors(Counting(), tmp_path / "file") as vectors:
        rows = vectors.embed(["a"], "document")

    assert rows.any()
    (note,) = vectors.notes
    assert note.startswith("vectors are not kept: ")
    assert str(tmp_path / "file") in note


def test_a_cache_that_can_no_longer_be_written_is_a_note(tmp_path: Path) -> None:
    """What comes after is used and not kept; it is said once."""
    embedder = Counting()

    with Vectors(embedder, tmp_path) as vectors:
        with closing(database(tmp_path)) as rows:
            rows.execute(
                "CREATE TRIGGER refuse BEFORE INSERT ON Cache "
                "BEGIN SELECT RAISE(ABORT, 'the disk is full'); END"
            )
        found = vectors.embed(numbered(3 * AT_ONCE), "document")

    assert np.array_equal(found, Counting().embed(numbered(12), "document"))
    assert len(embedder.asked) == 12
    (note,) = vectors.notes
    assert "the disk is full" in note


def test_settings_of_somebody_else_are_an_error(tmp_path: Path) -> None:
    """A database that runs what it holds is not opened, nor passed over."""
    embed(tmp_path, Counting(), ["a"])
    with closing(database(tmp_path)) as rows:
        rows.execute("INSERT INTO Settings (key, value) VALUES ('expire', 1)")

    with pytest.raises(ConfigError, match="expire"):
        Vectors(Counting(), tmp_path)
