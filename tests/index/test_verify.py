"""A store that is not what was acknowledged is found out and repaired (S4)."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from situate.errors import RecordError
from situate.index.inventory import compare, read_inventory
from situate.index.state import DocumentState, Hashes
from situate.pipeline.living.indexing import acknowledge, verify
from tests.support.corpora import LEAVE, Corpus, handbook
from tests.support.stores import Store, built, config_of, content, delivered, synced

if TYPE_CHECKING:
    from pathlib import Path

    from situate.index.inventory import Finding
    from situate.pipeline.living.sent import Sent

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


def test_a_repair_undoes_a_delta_that_was_taken_in_by_half(
    corpus: Corpus, store: Store
) -> None:
    """And the next sync sends it again."""
    before = dict(store.records)
    corpus.document("new.md", LEAVE)
    sent = synced(corpus)
    assert sent.folder is not None
    store.take_in(sent.folder)
    del store.records["new.md:leave/days"]

    repaired(corpus, store)

    assert store.records == before
    delivered(corpus, store)
    assert store.records == built(corpus)


def test_a_store_that_has_what_waits_is_only_to_be_acknowledged(
    corpus: Corpus, store: Store
) -> None:
    """Whoever lost the acknowledgement alone need not go back and forth."""
    corpus.document("new.md", LEAVE)
    (corpus.folder / "docs" / "leave.md").unlink()
    sent = synced(corpus)
    assert sent.folder is not None
    store.take_in(sent.folder)
    before = content(sent.folder)

    finding, found = verified(corpus, store)

    assert (found.agrees, found.run, found.exit_code) == ("surely", sent.run, 0)
    assert not any((finding.missing, finding.stale, finding.surplus))
    assert content(sent.folder) == before
    assert acknowledge(config_of(corpus), str(found.run))
    assert verified(corpus, store)[1].run is None


@pytest.mark.parametrize("is_taken_in", [True, False])
def test_what_ids_do_not_show_is_to_be_taken_in_again(
    corpus: Corpus, store: Store, is_taken_in: bool
) -> None:
    """Who may see a chunk is in no hash that a store lists."""
    corpus.document("leave.md.meta.toml", 'acl_groups = ["board"]\n')
    sent = synced(corpus)
    assert sent.folder is not None
    if is_taken_in:
        store.take_in(sent.folder)

    _, found = verified(corpus, store)

    assert (found.agrees, found.run, found.exit_code) == ("perhaps", sent.run, 0)
    assert found.folder is not None
    store.take_in(found.folder)
    acknowledge(config_of(corpus), str(found.run))
    assert store.records == built(corpus)


def test_before_anything_is_acknowledged_there_is_one_delta_to_take_in(
    corpus: Corpus,
) -> None:
    """A store that has half of it is not to lose that."""
    store = Store()
    sent = synced(corpus)
    assert sent.folder is not None
    store.take_in(sent.folder)
    del store.records["leave.md:leave"]

    finding, found = verified(corpus, store)

    assert finding.missing == ("leave.md:leave",)
    assert (found.agrees, found.run) == ("perhaps", sent.run)
    assert (found.withheld, found.exit_code) == (0, 0)


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


def chunk(embed: str, metadata: str) -> Hashes:
    """Give the hashes of a chunk."""
    return Hashes(embed, "l", metadata, "c", "x")


@pytest.mark.parametrize(
    ("told", "left"),
    [
        pytest.param("e1", {chunk("e1", "m2")}, id="with its hash"),
        pytest.param(None, {chunk("e1", "m2"), chunk("e2", "m1")}, id="by id alone"),
    ],
)
def test_of_what_was_sent_before_a_store_may_have_what_looks_like_it(
    told: str | None, left: set[Hashes]
) -> None:
    """What it may have of a chunk that is there is narrowed, and not forgotten."""
    known = DocumentState(
        doc_id="a.md",
        path="a.md",
        names_itself=False,
        input="",
        config="",
        version="1",
        metadata_hash="",
        records="",
        chunks={"a.md:a": chunk("e1", "m1")},
    )
    sent_before = frozenset({None, chunk("e1", "m2"), chunk("e2", "m1")})

    finding = compare(
        {"a.md:a": told},
        {"a.md": known},
        unsure={"a.md:a": sent_before},
        known=("a.md",),
    )

    assert finding.unsure == {"a.md:a": frozenset(left)}
    assert not any((finding.missing, finding.stale, finding.surplus))


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
        pytest.param(b'{"chunk_id": "a.md:a", "metadata": null}', id="no metadata"),
        pytest.param(b"\xef\xbb\xbfa.md:a\r", id="BOM and CR"),
    ],
)
def test_ids_come_as_stores_write_them(tmp_path: Path, line: bytes) -> None:
    """A line for each; blank ones say nothing."""
    path = tmp_path / "ids.jsonl"
    path.write_bytes(b"\n" + line + b"\n\n")

    assert read_inventory(path) == {"a.md:a": None}


@pytest.mark.parametrize(
    "line",
    [
        pytest.param(b'{"chunk_id": "a.md:a", "embed_hash": "1f"}', id="beside it"),
        pytest.param(
            b'{"chunk_id": "a.md:a", "metadata": {"embed_hash": "1f"}}', id="a record"
        ),
    ],
)
def test_hashes_stand_where_stores_have_them(tmp_path: Path, line: bytes) -> None:
    """Many give back whole records."""
    path = tmp_path / "ids.jsonl"
    path.write_bytes(line)

    assert read_inventory(path) == {"a.md:a": "1f"}


@pytest.mark.parametrize(
    "name",
    [
        "a, b.md:a/b-c~2:p3",
        "[a].md:a:0",
        "a%3Ab.md:über-uns/विधि",
        "a.md:_doc@2026, draft",
    ],
)
def test_every_name_that_a_record_can_have_is_one(tmp_path: Path, name: str) -> None:
    """Ids of documents are of any characters, and versions too."""
    path = tmp_path / "ids.jsonl"
    path.write_text(json.dumps({"record_id": name}), "utf-8")

    assert read_inventory(path) == {name: None}


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
        pytest.param(b'["a:b"]\n', ":1: an id on a line of its own", id="list"),
        pytest.param(b'[\n"a:b"\n]\n', ":1: an id on a line", id="list in lines"),
        pytest.param(b"a:b,\n", ":1: an id on a line", id="comma"),
        pytest.param(b'"a:b",\n', ":1: an id on a line", id="comma behind a text"),
        pytest.param(b"a:b,1f\n", "'a:b,1f' is not the id", id="columns"),
        pytest.param(b"id: a\n", "'id: a' is not the id", id="another format"),
        pytest.param(b"a.md:\n", "'a.md:' is not the id", id="half an id"),
        pytest.param(
            b'{"chunk_id":"a:b","metadata":{"embed_hash":1}}\n',
            "embed_hash: a text was expected",
            id="no hash",
        ),
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
