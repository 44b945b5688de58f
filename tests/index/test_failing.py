"""Documents that cannot be taken at their word keep what an index has of them (S3)."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from situate.index.names import chunk_id_of, key_of, record_id, wording_key
from situate.index.safety import exceeds
from situate.pipeline.living.indexing import revert, verify
from tests.support.corpora import LEAVE, TRAVEL, Corpus, Heard
from tests.support.stores import Store, built, config_of, delivered, synced

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

NOISE = b"\x00\x01\x02" * 1000
BOTH = ["docs/**/*.md", "docs/m.jsonl"]


@pytest.fixture
def store() -> Store:
    """An empty store."""
    return Store()


@pytest.fixture
def corpus(tmp_path: Path) -> Corpus:
    """A corpus of two documents, one of which names itself; all may fail or go."""
    corpus = Corpus(folder=tmp_path)
    corpus.document("a.md", named("HR-1"))
    corpus.document("b.md", TRAVEL)
    return configure(corpus)


def configure(corpus: Corpus, **keys: object) -> Corpus:
    """Let everything fail, or go."""
    return corpus.configure(
        corpus={"max_failed_share": 1, **keys},
        output={"max_delete_share": 1},
        chunking={"min_tokens": 0},
    )


def named(doc_id: str, text: str = LEAVE) -> str:
    """Let a document name itself."""
    return f"---\ndoc_id: {doc_id}\n---\n{text}"


def remove(corpus: Corpus, name: str) -> None:
    """Remove a document."""
    (corpus.folder / "docs" / name).unlink()


def of(store: Store, doc_id: str) -> list[str]:
    """Give what a store has of a document."""
    return [key for key in store.records if key.startswith(f"{doc_id}:")]


# ------------------------------------------------------------- what cannot be read


def test_a_document_that_names_itself_is_known_by_its_place(
    corpus: Corpus, store: Store
) -> None:
    """Its own word cannot be read while it cannot."""
    delivered(corpus, store)
    before = dict(store.records)
    corpus.document("a.md", NOISE)

    sent = delivered(corpus, store)

    assert sent.outcomes == {"HR-1": "failed", "b.md": "unchanged"}
    assert sent.reasons == ()
    assert store.records == before


def test_a_document_that_a_manifest_names_is_known_by_its_name(
    corpus: Corpus, store: Store
) -> None:
    """It has moved, and cannot be read where it is now."""
    configure(corpus, documents=BOTH)
    corpus.document("m.jsonl", '{"path": "b.md", "doc_id": "HR-2"}\n')
    delivered(corpus, store)
    before = dict(store.records)
    remove(corpus, "b.md")
    corpus.document("c.md", NOISE)
    corpus.document("m.jsonl", '{"path": "c.md", "doc_id": "HR-2"}\n')

    sent = delivered(corpus, store)

    assert sent.outcomes == {"HR-1": "unchanged", "HR-2": "failed"}
    assert store.records == before


def test_a_file_that_could_not_be_read_before_is_nothing_that_goes_later(
    corpus: Corpus, store: Store
) -> None:
    """One broken file does not keep all that names itself for ever."""
    corpus.document("broken.md", NOISE)
    delivered(corpus, store)
    delivered(corpus, store)
    remove(corpus, "a.md")

    sent = delivered(corpus, store)

    assert sent.outcomes["HR-1"] == "deleted"
    assert sent.reasons == ()
    assert not of(store, "HR-1")


def test_that_is_remembered_where_nothing_else_has_changed(
    corpus: Corpus, store: Store
) -> None:
    """A night on which a store has nothing to do."""
    delivered(corpus, store)
    corpus.document("broken.md", NOISE)
    assert delivered(corpus, store).run is None
    remove(corpus, "a.md")

    sent = delivered(corpus, store)

    assert sent.outcomes["HR-1"] == "deleted"


def test_that_is_remembered_before_anybody_acknowledges(
    corpus: Corpus, store: Store
) -> None:
    """What was there when a file could not be read is no matter of the store."""
    delivered(corpus, store)
    corpus.document("broken.md", NOISE)
    corpus.document("c.md", LEAVE)
    synced(corpus)
    remove(corpus, "a.md")

    sent = delivered(corpus, store)

    assert sent.outcomes["HR-1"] == "deleted"


@pytest.mark.parametrize(
    "other", [NOISE + b"\x00", None], ids=["another content", "another place"]
)
def test_another_file_may_be_what_is_gone(
    corpus: Corpus, store: Store, other: bytes | None
) -> None:
    """The message says how to get on."""
    corpus.document("broken.md", NOISE)
    delivered(corpus, store)
    remove(corpus, "a.md")
    corpus.document("broken.md" if other else "new.md", other or NOISE)

    first = delivered(corpus, store)
    again = delivered(corpus, store)

    assert first.outcomes["HR-1"] == again.outcomes["HR-1"] == "kept"
    (reason,) = again.reasons
    assert "it may be 'HR-1'" in reason
    assert 'remove the file, or delete the document in a manifest: {"op"' in reason
    assert of(store, "HR-1")


@pytest.mark.parametrize("remedy", ["tombstone", "removal"])
def test_the_ways_out_that_are_named_lead_out(
    corpus: Corpus, store: Store, remedy: str
) -> None:
    """A line of a manifest, or the removal of the file."""
    delivered(corpus, store)
    remove(corpus, "a.md")
    corpus.document("broken.md", NOISE)
    reason = delivered(corpus, store).reasons[0]
    if remedy == "tombstone":
        corpus.document("m.jsonl", "{" + reason.partition("{")[2] + "\n")
        configure(corpus, documents=BOTH)
    else:
        remove(corpus, "broken.md")

    sent = delivered(corpus, store)

    assert sent.outcomes["HR-1"] == "deleted"
    assert sent.reasons == ()


def test_a_file_that_may_not_be_opened_is_known_by_its_size(
    corpus: Corpus, store: Store
) -> None:
    """A link to nothing was there before the document went, and is what it was."""
    (corpus.folder / "docs" / "link.md").symlink_to("nowhere.md")
    delivered(corpus, store)
    remove(corpus, "a.md")

    sent = delivered(corpus, store)

    assert sent.outcomes["HR-1"] == "deleted"


def test_a_link_to_something_else_may_be_what_is_gone(
    corpus: Corpus, store: Store
) -> None:
    """All that can be seen of it is another."""
    link = corpus.folder / "docs" / "link.md"
    link.symlink_to("nowhere.md")
    delivered(corpus, store)
    remove(corpus, "a.md")
    link.unlink()
    link.symlink_to("where/it/went.md")

    sent = delivered(corpus, store)

    assert sent.outcomes["HR-1"] == "kept"


def test_what_a_revert_brings_back_may_be_any_file_that_cannot_be_read(
    corpus: Corpus, store: Store
) -> None:
    """Nobody knows what could be read in that night."""
    delivered(corpus, store)
    remove(corpus, "a.md")
    run = delivered(corpus, store).run
    corpus.document("broken.md", NOISE)
    delivered(corpus, store)
    back = revert(config_of(corpus), str(run))
    assert back.upserts

    sent = delivered(corpus, store)

    assert sent.outcomes["HR-1"] == "kept"


def test_a_repair_forgets_nothing_of_what_could_not_be_read(
    corpus: Corpus, store: Store
) -> None:
    """It changes what a store has, not what was seen."""
    corpus.document("broken.md", NOISE)
    delivered(corpus, store)
    lost = store.records.pop(of(store, "b.md")[0])
    verify(config_of(corpus), store.ids(corpus.folder / "ids.jsonl"))
    remove(corpus, "a.md")

    sent = delivered(corpus, store)

    assert sent.outcomes["HR-1"] == "deleted"
    assert lost["record_id"] in store.records


# ---------------------------------------------------------------- what is blank now


def stub(path: Path) -> None:
    """Leave a file without a byte, as some clouds do."""
    path.write_bytes(b"")


def blank(path: Path) -> None:
    """Leave nothing that anybody reads."""
    path.write_text("\n \n<!-- gone -->\n", "utf-8")


def folder(path: Path) -> None:
    """Put a folder in its place."""
    path.unlink()
    path.mkdir()


@pytest.mark.parametrize("spoil", [stub, blank, folder])
@pytest.mark.parametrize(("name", "doc_id"), [("a.md", "HR-1"), ("b.md", "b.md")])
def test_a_document_that_has_no_text_any_more_has_failed(
    corpus: Corpus, store: Store, spoil: Callable[[Path], None], name: str, doc_id: str
) -> None:
    """Half a copy is no word that it should go; a tombstone is."""
    delivered(corpus, store)
    before = dict(store.records)
    spoil(corpus.folder / "docs" / name)

    failed = delivered(corpus, store)
    again = delivered(corpus, store)

    assert failed.outcomes[doc_id] == again.outcomes[doc_id] == "failed"
    assert store.records == before
    (note,) = again.failed
    corpus.document("m.jsonl", "{" + note.message.partition("{")[2] + "\n")
    configure(corpus, documents=BOTH)
    deleted = delivered(corpus, store)
    assert deleted.outcomes[doc_id] == "deleted"
    assert deleted.failed == ()
    assert not of(store, doc_id)


def test_a_document_that_moved_and_lost_its_text_has_failed(
    corpus: Corpus, store: Store
) -> None:
    """It is known by what it calls itself."""
    delivered(corpus, store)
    remove(corpus, "a.md")
    corpus.document("c.md", named("HR-1", ""))

    sent = delivered(corpus, store)

    assert sent.outcomes["HR-1"] == "failed"
    assert of(store, "HR-1")


def test_documents_without_text_count_among_those_that_failed(
    corpus: Corpus, store: Store
) -> None:
    """A folder in the place of a document is a document that failed."""
    configure(corpus, max_failed_share=0.5)
    corpus.document("c.md", TRAVEL)
    delivered(corpus, store)
    folder(corpus.folder / "docs" / "b.md")
    stub(corpus.folder / "docs" / "c.md")

    sent = delivered(corpus, store)

    assert sent.exit_code == 3
    assert "2 of 3 documents failed" in sent.reasons[0]


def test_a_new_document_without_text_is_none_that_failed(
    corpus: Corpus, store: Store
) -> None:
    """It never had any, and may get it."""
    corpus.document("new.md", "")
    delivered(corpus, store)
    corpus.document("new.md", "\n")

    sent = delivered(corpus, store)

    assert sent.outcomes["new.md"] == "ok"
    assert sent.failed == ()


# ------------------------------------------------------------------- whose id it is


def test_a_copy_does_not_take_the_id_of_what_cannot_be_read(
    corpus: Corpus, store: Store
) -> None:
    """The reason names both; what an index has of the copy itself stays as well."""
    delivered(corpus, store)
    before = dict(store.records)
    corpus.document("c.md", LEAVE)
    corpus.document("a.md", NOISE)
    corpus.document("b.md", named("HR-1", TRAVEL))

    sent = delivered(corpus, store)

    assert sent.outcomes == {"HR-1": "failed", "b.md": "failed", "c.md": "ok"}
    assert "b.md: names doc_id 'HR-1'" in sent.failed[1].message
    assert "a.md" in sent.failed[1].message
    assert {key: store.records[key] for key in before} == before


def test_an_id_that_a_manifest_gives_to_what_cannot_be_read_is_not_taken(
    corpus: Corpus, store: Store
) -> None:
    """The document moved there, says the manifest, and nobody can tell."""
    configure(corpus, documents=BOTH)
    corpus.document("m.jsonl", '{"path": "b.md"}\n')
    delivered(corpus, store)
    before = dict(store.records)
    remove(corpus, "a.md")
    corpus.document("c.md", NOISE)
    corpus.document("d.md", named("HR-1", TRAVEL))
    corpus.document("m.jsonl", '{"path": "c.md", "doc_id": "HR-1"}\n')

    sent = delivered(corpus, store)

    assert sent.outcomes["HR-1"] == "failed"
    assert store.records == before


def test_who_has_an_id_keeps_it_where_a_manifest_gives_it_to_what_cannot_be_read(
    corpus: Corpus, store: Store
) -> None:
    """Its document is where it was, and as it was."""
    configure(corpus, documents=BOTH)
    corpus.document("m.jsonl", '{"path": "b.md"}\n')
    delivered(corpus, store)
    corpus.document("c.md", NOISE)
    corpus.document("m.jsonl", '{"path": "c.md", "doc_id": "HR-1"}\n')

    sent = delivered(corpus, store)

    assert [note.doc_id for note in sent.failed] == ["HR-1"]
    assert sent.failed[0].message.startswith("c.md: ")


def test_an_id_moves_with_its_document(corpus: Corpus, store: Store) -> None:
    """Where it was, there is nothing."""
    delivered(corpus, store)
    remove(corpus, "a.md")
    corpus.document("c.md", named("HR-1"))

    sent = delivered(corpus, store)

    assert sent.outcomes["HR-1"] == "ok"
    assert sent.deletes == 0


# ------------------------------------------------------------------------ tombstones


def test_a_tombstone_deletes_a_document_whose_file_is_there(
    corpus: Corpus, store: Store
) -> None:
    """It does not fail, tonight or in any night to come."""
    configure(corpus, documents=BOTH, max_failed_share=0)
    delivered_first = corpus.document("m.jsonl", '{"path": "b.md"}\n')
    delivered(corpus, store)
    tombstone = '{"doc_id": "HR-1", "op": "delete"}\n'
    delivered_first.write_text('{"path": "b.md"}\n' + tombstone, "utf-8")

    first = delivered(corpus, store)
    again = delivered(corpus, store)

    assert first.outcomes["HR-1"] == "deleted"
    assert first.exit_code == again.exit_code == 0
    assert first.failed == ()
    assert store.records == built(corpus)


def test_what_a_manifest_deletes_is_no_part_of_a_share(
    corpus: Corpus, store: Store
) -> None:
    """One of two failed, and not of three."""
    configure(corpus, documents=BOTH, max_failed_share=0.4)
    corpus.document("c.md", NOISE)
    corpus.document("m.jsonl", '{"doc_id": "HR-1", "op": "delete"}\n')

    sent = delivered(corpus, store)

    assert "1 of 2 documents failed" in sent.reasons[0]


def test_a_run_leaves_out_what_a_manifest_deletes_by_id(corpus: Corpus) -> None:
    """It is said, and is no document that failed."""
    configure(corpus, documents=BOTH, max_failed_share=0)
    corpus.document("m.jsonl", '{"doc_id": "HR-1", "op": "delete"}\n')
    heard = Heard()

    result = corpus.run(heard)

    assert result.exit_code == 0
    assert result.counts is not None
    assert result.counts.documents == 1
    assert heard.notes == [
        "left out: a.md: names doc_id 'HR-1', which docs/m.jsonl:1 deletes"
    ]
    assert {record["doc_id"] for record in corpus.records} == {"b.md"}


def test_a_run_of_nothing_but_deleted_documents_publishes_nothing(
    corpus: Corpus,
) -> None:
    """That is no corpus."""
    remove(corpus, "b.md")
    configure(corpus, documents=BOTH)
    corpus.document("m.jsonl", '{"doc_id": "HR-1", "op": "delete"}\n')

    result = corpus.run()

    assert result.exit_code == 1
    assert result.reason == "manifests delete every document there is"


def test_tombstones_may_empty_an_index(corpus: Corpus, store: Store) -> None:
    """They are the positive sign that a deletion needs."""
    remove(corpus, "b.md")
    delivered(corpus, store)
    configure(corpus, documents=BOTH)
    corpus.document("m.jsonl", '{"doc_id": "HR-1", "op": "delete"}\n')

    sent = delivered(corpus, store)

    assert sent.outcomes == {"HR-1": "deleted"}
    assert store.records == {}


# ---------------------------------------------------------------------------- shares


@given(st.integers(1, 10_000), st.integers(0, 1000))
def test_a_share_is_what_a_person_wrote(total: int, thousandths: int) -> None:
    """No more than that many of so many, whatever floats make of it."""
    share = float(f"0.{thousandths:03}") if thousandths < 1000 else 1.0
    most = total * thousandths // 1000

    assert not exceeds(most, total, share)
    assert exceeds(most + 1, total, share)


def test_29_of_100_are_no_more_than_a_share_of_29_percent(
    tmp_path: Path, store: Store
) -> None:
    """The float nearest to 0.29, times 100, is less than 29."""
    corpus = Corpus(folder=tmp_path)
    for number in range(100):
        corpus.document(f"{number:02}.md", f"# Policy {number}\n\nIt holds.\n")
    corpus.configure(output={"max_delete_share": 0.29}, chunking={"min_tokens": 0})
    delivered(corpus, store)
    for number in range(29):
        remove(corpus, f"{number:02}.md")

    sent = delivered(corpus, store)

    assert sent.exit_code == 0
    assert sent.deletes == 29


# ----------------------------------------------------------------------------- names

awkward = st.lists(
    st.sampled_from(["a", "%", ":", "@", "%3A", "%25", "%40", "~2"]), min_size=1
).map("".join)


@given(doc_id=awkward, label=st.none() | awkward)
def test_a_record_says_whose_it_is(doc_id: str, label: str | None) -> None:
    """Whatever a document and its version are called, quoted signs included."""
    quoted = doc_id.replace("%", "%25").replace(":", "%3A")
    chunk_id = f"{quoted}:leave/days:0"

    name = record_id(chunk_id, label)

    assert key_of(name) == wording_key(doc_id, label)
    assert chunk_id_of(name) == chunk_id


def test_what_is_remembered_of_files_names_none(corpus: Corpus, store: Store) -> None:
    """A state is not where a forgotten name lives on."""
    corpus.document("Unforgettable.md", NOISE)
    delivered(corpus, store)

    states = corpus.folder / "out" / "handbook.index" / "states"
    (state,) = states.iterdir()
    head = json.loads(state.read_text("utf-8").splitlines()[0])

    assert len(head["unread"]) == 1
    assert "Unforgettable" not in state.read_text("utf-8")
