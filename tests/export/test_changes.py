"""A store that is told of deltas holds what one holds that is filled at once.

Told to a server that does what the references say of `_bulk`
(`tests.support.exports`).
"""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from situate.model import Metadata
from tests.support.corpora import handbook
from tests.support.exports import (
    Server,
    a_record,
    chunks_file,
    delta_of,
    exported,
    vectors_file,
)
from tests.support.indexes import indexes
from tests.support.memory_disk import memory_disk
from tests.support.stores import synced

if TYPE_CHECKING:
    from situate.records import Record


def filled(folder: Path, records: dict[str, Record], **asked: Any) -> Server:
    """Give a server that was told of all records at once."""
    server = Server()
    source = chunks_file(folder / "chunks.jsonl", records.values())
    for body in exported(source, folder / "whole", **asked)[1]:
        assert {*server.take_in(body)} == {201}
    return server


@given(before=indexes, after=indexes, order=st.randoms(use_true_random=False))
def test_a_delta_leads_to_what_a_full_index_holds(
    before: dict[str, Record], after: dict[str, Record], order: Any
) -> None:
    """Nothing of what was stays, in whatever order and however often it is told."""
    with (
        tempfile.TemporaryDirectory() as place,
        memory_disk(Path(place)) as folder,
    ):
        every = [*before.values(), *after.values()]
        vectors = vectors_file(folder / "vectors.jsonl", every)
        server = filled(folder, before, vectors=vectors)
        _, bodies = exported(
            delta_of(folder / "delta", before, after),
            folder / "changes",
            vectors=vectors,
            most_bytes=1,
        )

        told = [*bodies, *bodies]
        order.shuffle(told)
        for body in told:
            server.take_in(body)

        assert server.documents == filled(folder, after, vectors=vectors).documents


def test_a_custom_key_that_is_gone_is_gone(tmp_path: Path) -> None:
    """A partial document would be merged into what was there."""
    before = {"a": a_record(metadata=Metadata(custom={"owner": {"a": 1, "b": 2}}))}
    after = {"a": a_record(metadata=Metadata(custom={"owner": {"a": 1}}))}

    server = filled(tmp_path, before)
    delta = delta_of(tmp_path / "delta", before, after)

    statuses = server.take_in(exported(delta, tmp_path / "out")[1][0])

    assert statuses == [200]
    (found,) = server.documents.values()
    assert found["metadata"]["custom"] == {"owner": {"a": 1}}
    assert found["text"] == "25 `days`."


def test_what_is_not_there_is_answered_and_harms_nothing(tmp_path: Path) -> None:
    """Deletes and updates of it get a 404 of their own; the rest is done."""
    before = {"a": a_record(), "b": a_record(chunk_id="leave.md:gone")}
    after = {
        "a": a_record(metadata=Metadata(title="Leave")),
        "c": a_record(chunk_id="leave.md:new"),
    }
    _, (body,) = exported(delta_of(tmp_path / "delta", before, after), tmp_path / "out")
    server = Server()

    statuses = server.take_in(body)

    assert sorted(statuses) == [201, 404, 404]
    assert list(server.documents) == ["leave.md:new"]


def test_a_delta_of_sync_can_be_exported(tmp_path: Path) -> None:
    """And comes to what the chunks file of a run comes to."""
    corpus = handbook(tmp_path / "corpus", chunking={"granularity": "tree"})
    sent = synced(corpus)
    assert sent.folder is not None
    corpus.run()
    server, other = Server(), Server()

    for body in exported(sent.folder, tmp_path / "delta")[1]:
        server.take_in(body)
    for body in exported(corpus.chunks, tmp_path / "chunks")[1]:
        other.take_in(body)

    assert len(server.documents) == sent.upserts > 0
    assert server.documents == other.documents


@pytest.mark.parametrize("most_bytes", [1, 3_000, 10_000_000])
def test_files_are_no_larger_than_a_request_may_be(
    tmp_path: Path, most_bytes: int
) -> None:
    """But for a change that alone is; lines of one change are never parted."""
    records = [a_record(chunk_id=f"leave.md:{number}") for number in range(9)]
    source = chunks_file(tmp_path / "chunks.jsonl", records)

    found, bodies = exported(source, tmp_path / "out", most_bytes=most_bytes)

    assert found.parts == tuple(
        f"bulk-{number:05}.ndjson" for number in range(1, len(bodies) + 1)
    )
    assert len(bodies) == {1: 9, 3_000: 9 // 2 + 1, 10_000_000: 1}[most_bytes]
    server = Server()
    assert sum(len(server.take_in(body)) for body in bodies) == 9
    assert len(server.documents) == 9
