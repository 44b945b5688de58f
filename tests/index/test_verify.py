"""A store that is not what was acknowledged is found out and repaired (S4)."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from situate.errors import RecordError
from situate.index.inventory import read_inventory
from situate.pipeline.indexing import acknowledge, verify
from tests.support.corpora import LEAVE, Corpus, handbook
from tests.support.stores import Store, built, config_of, content, delivered, synced

if TYPE_CHECKING:
    from pathlib import Path

    from situate.index.inventory import Finding
    from situate.pipeline.indexing import Sent

FREE = {"output": {"max_delete_share": 1}, "chunking": {"min_tokens": 0}}


@pytest.fixture
def corpus(tmp_path: Path) -> Corpus:
    """Two documents whose chunks may all be deleted."""
    return handbook(tmp_path, **FREE)


@pytest.fixture
def store(corpus: Corpus) -> Store:
    """A store that has all of it."""
    found = Store()
    delivered(corpus, found)
    return found


def verified(
    corpus: Corpus, store: Store, *, allow_deletes: int | None = None
) -> tuple[Finding, Sent]:
    """Verify a store by the ids it holds."""
    path = store.ids(corpus.folder / "ids.jsonl")
    return verify(config_of(corpus), path, allow_deletes=allow_deletes)


def repaired(corpus: Corpus, store: Store) -> Sent:
    """Verify a store and let it take in what repairs it."""
    _, sent = verified(corpus, store)
    assert sent.folder is not None
    store.take_in(sent.folder)
    return sent


def test_a_store_that_agrees_needs_no_repair(corpus: Corpus, store: Store) -> None:
    """Nothing is written."""
    finding, sent = verified(corpus, store)

    assert sent.run is None
    assert not any((finding.missing, finding.stale, finding.surplus, finding.foreign))


def test_what_is_missing_stale_or_too_much_is_repaired(
    corpus: Corpus, store: Store
) -> None:
    """By a delta like any other."""
    del store.records["leave.md:leave/days"]
    store.records["leave.md:leave"]["metadata"]["embed_hash"] = "another"
    store.records["leave.md:gone"] = store.records["leave.md:leave/exceptions"]

    sent = repaired(corpus, store)

    assert (sent.upserts, sent.deletes) == (2, 1)
    assert store.records == built(corpus)
    assert acknowledge(config_of(corpus), str(sent.run))
    assert verified(corpus, store)[1].run is None


def test_a_repair_that_was_dropped_comes_with_the_next_sync(
    corpus: Corpus, store: Store
) -> None:
    """What was found out is not forgotten before it is acknowledged."""
    del store.records["leave.md:leave/days"]
    verified(corpus, store)

    delivered(corpus, store)

    assert store.records == built(corpus)


def test_a_repair_undoes_a_delta_that_nobody_acknowledged(
    corpus: Corpus, store: Store
) -> None:
    """And the next sync sends it again."""
    before = dict(store.records)
    corpus.document("new.md", LEAVE)
    sent = synced(corpus)
    assert sent.folder is not None
    store.take_in(sent.folder)

    repaired(corpus, store)

    assert store.records == before
    delivered(corpus, store)
    assert store.records == built(corpus)


def test_chunks_of_others_are_left_alone(corpus: Corpus, store: Store) -> None:
    """An index of several corpora has them, and we have not put them there."""
    other = dict(store.records["leave.md:leave"])
    store.records["other.md:other"] = other

    finding, sent = verified(corpus, store)

    assert finding.foreign == ("other.md:other",)
    assert sent.run is None


def test_documents_that_were_in_the_index_once_are_ours(
    corpus: Corpus, store: Store
) -> None:
    """A store that missed their deletion has them still."""
    corpus.document("new.md", LEAVE)
    delivered(corpus, store)
    late = dict(store.records)
    (corpus.folder / "docs" / "new.md").unlink()
    delivered(corpus, store)
    store.records = late

    sent = repaired(corpus, store)

    assert sent.deletes == 3
    assert store.records == built(corpus)


def test_too_many_deletions_are_withheld(corpus: Corpus, store: Store) -> None:
    """What is missing is repaired all the same."""
    corpus.configure(output={"max_delete_share": 0.1}, chunking={"min_tokens": 0})
    del store.records["leave.md:leave/days"]
    store.records["leave.md:gone"] = store.records["leave.md:leave"]

    _, withheld = verified(corpus, store)
    _, allowed = verified(corpus, store, allow_deletes=1)

    assert (withheld.upserts, withheld.deletes, withheld.withheld) == (1, 0, 1)
    assert withheld.exit_code == 3
    assert (allowed.upserts, allowed.deletes, allowed.exit_code) == (1, 1, 0)


def test_the_same_repair_has_the_same_bytes(corpus: Corpus, store: Store) -> None:
    """It is derived from what the store holds, and nothing else."""
    del store.records["leave.md:leave/days"]
    _, first = verified(corpus, store)
    assert first.folder is not None
    before = content(first.folder)

    _, again = verified(corpus, store)

    assert again == first
    assert content(first.folder) == before


@pytest.mark.parametrize(
    "line",
    [
        pytest.param(b"a.md:a", id="plain"),
        pytest.param(b'"a.md:a"', id="text"),
        pytest.param(b'{"chunk_id": "a.md:a", "score": 1}', id="object"),
        pytest.param(b"\xef\xbb\xbfa.md:a\r", id="BOM and CR"),
    ],
)
def test_ids_come_as_stores_write_them(tmp_path: Path, line: bytes) -> None:
    """A line for each; blank ones say nothing."""
    path = tmp_path / "ids.jsonl"
    path.write_bytes(b"\n" + line + b"\n\n")

    assert read_inventory(path) == {"a.md:a": None}


@pytest.mark.parametrize(
    ("content", "told"),
    [
        pytest.param(b"\xff:a\n", ":1: not an id of a chunk", id="no text"),
        pytest.param(b"12345\n", "'12345' is not the id", id="a store's own key"),
        pytest.param(b'{"id": "a:b"}\n', "chunk_id: a text was", id="other key"),
        pytest.param(
            b'{"chunk_id":"a:b","chunk_id":"a:c"}', "stands twice", id="key twice"
        ),
        pytest.param(
            b'{"chunk_id":"a:b","embed_hash":"1"}\na:b\n',
            ":2: 'a:b' stands twice",
            id="two hashes",
        ),
        pytest.param(b'"a:b\n', "not an id of a chunk", id="half a text"),
    ],
)
def test_what_is_no_file_of_ids_is_refused(
    tmp_path: Path, content: bytes, told: str
) -> None:
    """A wrong file would have everything repaired."""
    path = tmp_path / "ids.jsonl"
    path.write_bytes(content)

    with pytest.raises(RecordError, match=told):
        read_inventory(path)
