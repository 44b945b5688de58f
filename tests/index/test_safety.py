"""Nothing leaves an index by mistake (S3)."""

from __future__ import annotations

import shutil
from typing import TYPE_CHECKING

import pytest

from situate.errors import SituateError
from tests.support.corpora import LEAVE, TRAVEL, Corpus, handbook
from tests.support.stores import Store, built, delivered, synced

if TYPE_CHECKING:
    from pathlib import Path

FINE = {"min_tokens": 0}
FREE = {"output": {"max_delete_share": 1}, "chunking": FINE}


@pytest.fixture
def store() -> Store:
    """An empty store."""
    return Store()


def plenty(folder: Path, **output: object) -> Corpus:
    """Write a corpus of a hundred documents of one chunk."""
    corpus = Corpus(folder=folder)
    for number in range(100):
        corpus.document(f"{number:02}.md", f"# Policy {number}\n\nIt holds.\n")
    return corpus.configure(output=output, chunking=FINE)


def test_a_document_that_cannot_be_read_keeps_its_chunks(
    tmp_path: Path, store: Store
) -> None:
    """Within the share of failures that is all there is to say."""
    corpus = plenty(tmp_path)
    delivered(corpus, store)
    before = dict(store.records)
    corpus.document("07.md", b"\x00\x01\x02" * 1000)

    sent = delivered(corpus, store)

    assert sent.outcomes["07.md"] == "failed"
    assert sent.exit_code == 0
    assert sent.run is None
    assert store.records == before


def test_above_the_share_of_failures_the_rest_is_sent(
    tmp_path: Path, store: Store
) -> None:
    """The reason is said, with exit code 3."""
    corpus = handbook(tmp_path, **FREE)
    delivered(corpus, store)
    corpus.document("leave.md", b"\x00\x01\x02" * 1000)
    corpus.document("new.md", LEAVE)

    sent = delivered(corpus, store)

    assert sent.exit_code == 3
    assert "1 of 3 documents failed" in sent.reasons[0]
    assert "leave.md:leave/exceptions" in store.records
    assert "new.md:leave/exceptions" in store.records


def test_when_no_document_can_be_read_nothing_is_sent(
    tmp_path: Path, store: Store
) -> None:
    """That is no corpus, it is a broken reader or disk."""
    corpus = handbook(tmp_path, **FREE)
    delivered(corpus, store)
    for name in ("leave.md", "travel/abroad.md"):
        corpus.document(name, b"\x00\x01\x02" * 1000)

    with pytest.raises(SituateError, match="none of 2 documents"):
        synced(corpus)


def emptied(corpus: Corpus) -> None:
    """Empty the folder of the documents."""
    shutil.rmtree(corpus.folder / "docs")
    (corpus.folder / "docs").mkdir()


def unmounted(corpus: Corpus) -> None:
    """Remove the folder of the documents."""
    shutil.rmtree(corpus.folder / "docs")


def unmatched(corpus: Corpus) -> None:
    """Have a second glob match nothing, where there was a document."""
    shutil.rmtree(corpus.folder / "docs" / "travel")
    globs = ["docs/**/*.md", "docs/travel/**/*.md"]
    corpus.configure(corpus={"documents": globs}, **FREE)


def half_unmounted(corpus: Corpus) -> None:
    """Leave an empty folder where a share was mounted."""
    (corpus.folder / "docs" / "travel" / "abroad.md").unlink()


def unlisted(corpus: Corpus) -> None:
    """Let a manifest list nothing."""
    corpus.document("manifest.jsonl", "\n")
    (corpus.folder / "docs" / "leave.md").unlink()
    corpus.configure(
        corpus={"documents": ["docs/**/*.md", "docs/manifest.jsonl"]}, **FREE
    )


@pytest.mark.parametrize(
    "spoil", [emptied, unmounted, unmatched, half_unmounted, unlisted]
)
def test_nothing_is_deleted_by_absence_from_an_incomplete_listing(
    tmp_path: Path, store: Store, spoil: object
) -> None:
    """Exit code 3 with the reason; whatever share may be deleted."""
    corpus = handbook(tmp_path, **FREE)
    delivered(corpus, store)
    before = dict(store.records)
    assert callable(spoil)
    spoil(corpus)

    sent = delivered(corpus, store)

    assert sent.deletes == 0
    assert sent.exit_code == 3
    assert sent.reasons
    assert "kept" in sent.outcomes.values()
    assert store.records == before


def test_a_manifest_alone_says_what_is_gone(tmp_path: Path, store: Store) -> None:
    """Its list is complete whatever its folder looks like."""
    corpus = handbook(tmp_path, **FREE)
    corpus.document("m.jsonl", '{"path": "leave.md"}\n{"path": "travel/abroad.md"}\n')
    listed = {**FREE, "corpus": {"documents": "docs/m.jsonl"}}
    corpus.configure(**listed)
    delivered(corpus, store)
    corpus.document("m.jsonl", '{"path": "leave.md"}\n')
    half_unmounted(corpus)

    sent = delivered(corpus, store)

    assert sent.exit_code == 0
    assert sent.outcomes["travel/abroad.md"] == "deleted"
    assert store.records == built(corpus)


def test_a_folder_that_may_not_be_read_is_a_gap(
    tmp_path: Path, store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Documents in it are not gone; what is outside of it is still sent."""
    corpus = handbook(tmp_path, **FREE)
    delivered(corpus, store)
    corpus.document("new.md", LEAVE)
    refuse(monkeypatch, "travel")

    sent = delivered(corpus, store)

    assert "Permission denied" in sent.reasons[0]
    assert sent.outcomes == {
        "leave.md": "unchanged",
        "new.md": "ok",
        "travel/abroad.md": "kept",
    }
    assert any(key.startswith("travel/abroad.md:") for key in store.records)


def refuse(monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    """Have the system refuse to list folders of this name."""
    from situate import corpus

    listed = corpus.os.scandir

    def scandir(path: Path) -> object:
        if path.name == name:
            raise PermissionError(13, "Permission denied")
        return listed(path)

    monkeypatch.setattr(corpus.os, "scandir", scandir)


def test_incomplete_listings_do_not_take_back_what_nobody_acknowledged(
    tmp_path: Path, store: Store
) -> None:
    """A store may have taken the first delta in, and the share be gone since."""
    corpus = handbook(tmp_path, **FREE)
    first = synced(corpus)
    unmounted(corpus)

    sent = synced(corpus)

    assert sent.run == first.run
    assert sent.deletes == 0


def test_a_tombstone_deletes_whatever_the_listing_is(
    tmp_path: Path, store: Store
) -> None:
    """It is a sign of its own."""
    corpus = handbook(tmp_path, **FREE)
    delivered(corpus, store)
    corpus.document("manifest.jsonl", '{"path": "leave.md", "op": "delete"}\n')
    documents = ["docs/**/*.md", "docs/manifest.jsonl", "more/*.md"]
    corpus.configure(corpus={"documents": documents}, **FREE)

    sent = delivered(corpus, store)

    assert sent.exit_code == 3
    assert sent.outcomes["leave.md"] == "deleted"
    assert {key.partition(":")[0] for key in store.records} == {"travel/abroad.md"}


def test_a_tombstone_reaches_a_document_that_names_itself(
    tmp_path: Path, store: Store
) -> None:
    """By its path, and by its id though the file is still there."""
    corpus = handbook(tmp_path, **FREE)
    corpus.document("a.md", f"---\ndoc_id: HR-7\n---\n{LEAVE}")
    corpus.document("b.md", f"---\ndoc_id: HR-8\n---\n{LEAVE}")
    delivered(corpus, store)
    tombstones = (
        '{"path": "a.md", "op": "delete"}\n{"doc_id": "HR-8", "op": "delete"}\n'
    )
    corpus.document("manifest.jsonl", tombstones)
    corpus.configure(
        corpus={
            "documents": ["docs/**/*.md", "docs/manifest.jsonl"],
            "max_failed_share": 1,
        },
        **FREE,
    )

    sent = delivered(corpus, store)

    assert {sent.outcomes[key] for key in ("HR-7", "HR-8")} == {"deleted"}
    assert store.records == built(corpus)


def test_a_document_that_may_have_moved_to_an_unreadable_file_stays(
    tmp_path: Path, store: Store
) -> None:
    """Nobody can know what a file calls itself that cannot be read."""
    corpus = plenty(tmp_path, max_delete_share=1)
    corpus.document("a.md", f"---\ndoc_id: HR-7\n---\n{LEAVE}")
    delivered(corpus, store)
    (corpus.folder / "docs" / "a.md").unlink()
    (corpus.folder / "docs" / "00.md").unlink()
    corpus.document("b.md", b"\x00\x01\x02" * 1000)

    sent = delivered(corpus, store)

    assert sent.outcomes["HR-7"] == "kept"
    assert sent.outcomes["00.md"] == "deleted"
    assert "'HR-7'" in sent.reasons[0]


def test_too_many_deletions_are_withheld_and_the_rest_is_sent(
    tmp_path: Path, store: Store
) -> None:
    """The count is named, and is what lets them go."""
    corpus = plenty(tmp_path)
    delivered(corpus, store)
    for number in range(2):
        (corpus.folder / "docs" / f"{number:02}.md").unlink()
    corpus.document("new.md", LEAVE)

    held_back = delivered(corpus, store)
    too_few = synced(corpus, allow_deletes=1)
    allowed = delivered(corpus, store, allow_deletes=2)

    assert held_back.exit_code == too_few.exit_code == 3
    assert held_back.withheld == 2
    assert "2 of 100 chunks" in held_back.reasons[0]
    assert "--allow-deletes 2" in held_back.reasons[0]
    assert held_back.upserts == 3
    assert allowed.exit_code == 0
    assert allowed.deletes == 2
    assert store.records == built(corpus)


def test_as_many_as_the_share_go_at_once(tmp_path: Path, store: Store) -> None:
    """One of a hundred."""
    corpus = plenty(tmp_path)
    delivered(corpus, store)
    (corpus.folder / "docs" / "00.md").unlink()

    sent = delivered(corpus, store)

    assert sent.exit_code == 0
    assert sent.deletes == 1


def test_sections_that_are_gone_are_withheld_as_well(
    tmp_path: Path, store: Store
) -> None:
    """A log-in page in place of every document is no reason to lose them."""
    corpus = handbook(tmp_path, chunking=FINE)
    delivered(corpus, store)
    before = dict(store.records)
    for name in ("leave.md", "travel/abroad.md"):
        corpus.document(name, "# Log in\n\nYour session is over.\n")

    withheld = delivered(corpus, store)
    again = delivered(corpus, store)
    corpus.document("leave.md", LEAVE)
    corpus.document("travel/abroad.md", TRAVEL)
    restored = delivered(corpus, store, allow_deletes=2)

    assert withheld.withheld == again.withheld == len(before)
    assert again.run is None
    assert again.exit_code == 3
    assert restored.deletes == 2
    assert store.records == before == built(corpus)


def test_withheld_sections_go_when_they_are_allowed_to(
    tmp_path: Path, store: Store
) -> None:
    """Though their document has not changed since."""
    corpus = handbook(tmp_path, chunking=FINE)
    delivered(corpus, store)
    corpus.document("leave.md", LEAVE.partition("## Exceptions")[0])
    delivered(corpus, store)
    corpus.document("leave.md", LEAVE.partition("## Days")[0])
    delivered(corpus, store)
    assert "leave.md:leave/exceptions" in store.records

    sent = delivered(corpus, store, allow_deletes=2)

    assert sent.exit_code == 0
    assert sent.outcomes["leave.md"] == "unchanged"
    assert store.records == built(corpus)
