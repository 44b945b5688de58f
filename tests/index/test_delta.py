"""What a delta has to say, whatever a store may have (S2, S4)."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from situate.index.delta import Changes, changes, doubts_after
from situate.index.names import key_of
from situate.index.state import DocumentState, Hashes

OLD = Hashes("e1", "l1", "m1", "c1", "x1")

variants = st.builds(
    Hashes,
    st.sampled_from(["e1", "e2"]),
    st.sampled_from(["l1", "l2"]),
    st.sampled_from(["m1", "m2"]),
    st.sampled_from(["c1", "c2"]),
    st.sampled_from(["x1", "x2"]),
)
held = st.dictionaries(st.sampled_from(["a:1", "a:2", "b:1"]), variants)


def documents(chunks: dict[str, Hashes]) -> dict[str, DocumentState]:
    """Give documents with these chunks."""
    found: dict[str, dict[str, Hashes]] = {}
    for chunk_id, hashes in chunks.items():
        found.setdefault(key_of(chunk_id), {})[chunk_id] = hashes
    return {
        doc_id: DocumentState(
            doc_id=doc_id,
            path=f"{doc_id}.md",
            names_itself=False,
            input="",
            config="",
            version="1",
            metadata_hash="",
            records="",
            chunks=own,
        )
        for doc_id, own in sorted(found.items())
    }


def sent(before: dict[str, Hashes], after: dict[str, Hashes]) -> dict[str, str]:
    """Give what is to be done, by chunk."""
    return dict(ops(changes(documents(before), documents(after), {})))


def ops(found: object) -> list[tuple[str, str]]:
    """Give what is to be done in order."""
    assert isinstance(found, list | tuple) or hasattr(found, "__iter__")
    listed = []
    for each in found:
        assert isinstance(each, Changes)
        listed.extend(each.ops.items())
    return listed


def test_other_hashes_of_texts_send_the_whole_record() -> None:
    """Whether a store shows, embeds or searches it."""
    for changed in (
        Hashes("e2", "l1", "m1", "c1", "x1"),
        Hashes("e1", "l2", "m1", "c1", "x1"),
        Hashes("e1", "l1", "m1", "c2", "x1"),
    ):
        assert sent({"a:1": OLD}, {"a:1": changed}) == {"a:1": "upsert"}


def test_other_metadata_or_lineage_send_a_record_without_texts() -> None:
    """Nothing of it has to be embedded."""
    for changed in (
        Hashes("e1", "l1", "m2", "c1", "x1"),
        Hashes("e1", "l1", "m1", "c1", "x2"),
    ):
        assert sent({"a:1": OLD}, {"a:1": changed}) == {"a:1": "metadata_update"}


def test_what_is_the_same_is_not_sent() -> None:
    """Nor what else a document's state says."""
    assert sent({"a:1": OLD}, {"a:1": OLD}) == {}


def test_what_comes_and_goes_is_sent_and_deleted() -> None:
    """Those a document has come first."""
    before, after = {"a:1": OLD, "b:1": OLD}, {"a:2": OLD}

    found = ops(changes(documents(before), documents(after), {}))

    assert found == [("a:2", "upsert"), ("a:1", "delete"), ("b:1", "delete")]


def test_the_document_of_a_chunk_is_named_in_front_of_it() -> None:
    """As ids of chunks are made (DESIGN 2)."""
    assert key_of("a%3Ab%25.md:_doc:0") == "a:b%.md"


def taken_in(
    store: dict[str, Hashes], target: dict[str, Hashes], found: list[Changes]
) -> dict[str, Hashes]:
    """Give what a store holds that takes a delta in."""
    after = dict(store)
    for chunk_id, op in ops(found):
        match op:
            case "upsert":
                after[chunk_id] = target[chunk_id]
            case "metadata_update":
                wanted = target[chunk_id]
                assert after[chunk_id].texts == wanted.texts
                after[chunk_id] = wanted
            case _:
                after.pop(chunk_id, None)
    return after


@given(base=held, targets=st.lists(st.tuples(held, st.booleans()), min_size=1))
def test_a_store_has_what_the_last_delta_wants_whichever_it_took_in(
    base: dict[str, Hashes], targets: list[tuple[dict[str, Hashes], bool]]
) -> None:
    """Deltas may have been lost or taken in, and nobody has said which."""
    store = dict(base)
    unsure: dict[str, frozenset[Hashes | None]] = {}
    for target, arrives in targets:
        found = list(changes(documents(base), documents(target), unsure))
        unsure = doubts_after(documents(target), unsure, found)
        if arrives:
            store = taken_in(store, target, found)

    last = targets[-1][0]
    again = list(changes(documents(base), documents(last), unsure))

    assert taken_in(store, last, again) == last
    assert again == found
