"""Sync sends what differs, and nothing that is only touched (S2, S4)."""

from __future__ import annotations

import json
import os
from typing import TYPE_CHECKING, Any

import pytest

from situate.errors import ConfigError, Locked, SituateError
from situate.output import held
from situate.pipeline.living import decisive, syncing
from situate.pipeline.living.indexing import acknowledge, revert
from tests.support.corpora import LEAVE, Corpus, handbook
from tests.support.stores import (
    Store,
    built,
    config_of,
    content,
    delivered,
    lines,
    synced,
)

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from situate.pipeline.documents import Failed
    from situate.pipeline.written import Written

FREE = {"output": {"max_delete_share": 1}, "chunking": {"min_tokens": 0}}


@pytest.fixture
def corpus(tmp_path: Path) -> Corpus:
    """Two documents whose chunks may all be deleted."""
    return handbook(tmp_path, **FREE)


@pytest.fixture
def store() -> Store:
    """An empty store."""
    return Store()


def test_the_first_sync_sends_what_a_run_would_write(
    corpus: Corpus, store: Store
) -> None:
    """Records are those of a chunks file."""
    sent = delivered(corpus, store)

    assert store.records == built(corpus)
    assert sent.upserts == len(store.records)
    assert sent.outcomes == {"leave.md": "ok", "travel/abroad.md": "ok"}


def test_a_sync_without_a_change_sends_nothing(corpus: Corpus, store: Store) -> None:
    """There is nothing to take in, and nothing to acknowledge."""
    delivered(corpus, store)

    sent = synced(corpus)

    assert sent.run is None
    assert set(sent.outcomes.values()) == {"unchanged"}


def test_a_touched_file_is_as_it_was(corpus: Corpus, store: Store) -> None:
    """Times say nothing of a file."""
    delivered(corpus, store)
    os.utime(corpus.folder / "docs" / "leave.md", (1, 1))

    assert synced(corpus).outcomes["leave.md"] == "unchanged"


def test_a_change_that_keeps_size_and_time_is_found(
    corpus: Corpus, store: Store
) -> None:
    """Only what is in a file tells whether it has changed."""
    delivered(corpus, store)
    path = corpus.folder / "docs" / "leave.md"
    before = path.stat()
    corpus.document("leave.md", LEAVE.replace("| 1 | 25 |", "| 1 | 26 |"))
    os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))

    assert delivered(corpus, store).outcomes["leave.md"] == "ok"
    assert store.records == built(corpus)


def test_an_edit_sends_the_chunks_it_touches(corpus: Corpus, store: Store) -> None:
    """A section's own chunk is sent whole; others move in the source, if at all."""
    delivered(corpus, store)
    corpus.document("leave.md", LEAVE.replace("twelve months", "ten months"))

    sent = synced(corpus)

    assert sent.folder is not None
    upserts = [each["chunk_id"] for each in lines(sent.folder / "upserts.jsonl")]
    assert upserts == ["leave.md:leave/exceptions"]
    assert sent.metadata_updates == sent.deletes == 0


def test_markup_that_no_index_sees_is_sent_all_the_same(
    corpus: Corpus, store: Store
) -> None:
    """`text` is shown, and no hash of what is indexed covers it."""
    corpus.document("leave.md", LEAVE.replace("writing", "[writing](a.md)"))
    delivered(corpus, store)
    corpus.document("leave.md", LEAVE.replace("writing", "[writing](b.md)"))
    before = store.embedded

    sent = delivered(corpus, store)

    assert sent.upserts == 1
    assert store.records == built(corpus)
    assert store.embedded == before


def test_metadata_alone_sends_no_text(corpus: Corpus, store: Store) -> None:
    """Nothing is to be embedded again."""
    delivered(corpus, store)
    sidecar = 'effective_to = "2026-12-31"\nacl_groups = ["staff"]\n'
    corpus.document("leave.md.meta.toml", sidecar)
    before = store.embedded

    sent = delivered(corpus, store)

    assert sent.upserts == sent.deletes == 0
    assert sent.metadata_updates == 3
    assert store.embedded == before
    assert store.records == built(corpus)


LIST = "# Leave\n\nLeave is asked for.\n\nIt is granted.\n\n- in writing\n- in time\n"
LONG = "# Leave\n\n" + "\n\n".join(f"Rule {n} holds for all." for n in range(30))


@pytest.mark.parametrize(
    ("text", "before", "after"),
    [
        pytest.param(
            LIST,
            {"granularity": "multi", "embed": "leaf"},
            {"granularity": "multi", "embed": "paragraph"},
            id="paragraphs",
        ),
        pytest.param(
            LONG,
            {"granularity": "tree", "max_tokens": 64, "container_max_tokens": 1024},
            {"granularity": "tree", "max_tokens": 512},
            id="a container that is a leaf now",
        ),
    ],
)
def test_what_is_to_be_embedded_from_now_on_comes_with_its_texts(
    corpus: Corpus,
    store: Store,
    text: str,
    before: dict[str, object],
    after: dict[str, object],
) -> None:
    """A store has the record, and never had a reason to make a vector of it."""
    corpus.document("leave.md", text)
    corpus.configure(output={"max_delete_share": 1}, chunking=before)
    delivered(corpus, store)
    first = dict(store.vectors)
    corpus.configure(output={"max_delete_share": 1}, chunking=after)

    delivered(corpus, store)

    assert first.keys() != store.vectors.keys()
    assert store.vectors == store.wanted_vectors
    assert store.records == built(corpus)


def test_a_section_that_is_gone_is_deleted(corpus: Corpus, store: Store) -> None:
    """Its document has been read, and does not have it."""
    delivered(corpus, store)
    corpus.document("leave.md", LEAVE.partition("## Exceptions")[0])

    sent = delivered(corpus, store)

    assert sent.folder is not None
    assert list(lines(sent.folder / "deletes.jsonl")) == [
        {
            "chunk_id": "leave.md:leave/exceptions",
            "record_id": "leave.md:leave/exceptions",
            "doc_id": "leave.md",
        }
    ]
    assert store.records == built(corpus)


def test_a_document_that_moves_with_its_id_loses_nothing(
    corpus: Corpus, store: Store
) -> None:
    """Its chunks only say that they come from elsewhere."""
    path = corpus.document("a.md", f"---\ndoc_id: HR-7\n---\n{LEAVE}")
    delivered(corpus, store)
    path.rename(path.with_name("b.md"))
    before = store.embedded

    sent = delivered(corpus, store)

    assert sent.deletes == sent.upserts == 0
    assert store.embedded == before
    assert store.records == built(corpus)


def test_other_rules_of_cutting_cut_everything_anew(
    corpus: Corpus, store: Store
) -> None:
    """What does not come out otherwise is not sent."""
    delivered(corpus, store)
    corpus.configure(**FREE | {"chunking": {"max_tokens": 32}})

    sent = delivered(corpus, store)

    assert set(sent.outcomes.values()) == {"ok"}
    assert store.records == built(corpus)


@pytest.mark.parametrize("program", ["situate", "pyromark", "selectolax"])
def test_another_version_of_a_program_reads_everything_anew(
    corpus: Corpus, store: Store, monkeypatch: pytest.MonkeyPatch, program: str
) -> None:
    """Nobody knows before what it does otherwise; where it does not nothing is sent."""
    delivered(corpus, store)
    versions = decisive._version
    monkeypatch.setattr(
        decisive, "_version", lambda name: "99" if name == program else versions(name)
    )

    sent = synced(corpus)

    assert set(sent.outcomes.values()) == {"ok"}
    assert sent.run is None


def test_the_version_of_a_document_alone_sends_nothing(
    corpus: Corpus, store: Store
) -> None:
    """It is in no hash; the state takes note of it, with nothing to acknowledge."""
    corpus.document("leave.md", LEAVE.replace("---\ntitle", "---\nversion: 1\ntitle"))
    delivered(corpus, store)
    corpus.document("leave.md", LEAVE.replace("---\ntitle", "---\nversion: 2\ntitle"))

    sent = delivered(corpus, store)

    assert sent.run is None
    assert sent.outcomes["leave.md"] == "ok"
    assert synced(corpus).outcomes["leave.md"] == "unchanged"


def test_a_delta_that_was_dropped_comes_again_byte_for_byte(corpus: Corpus) -> None:
    """State does not advance by being read."""
    first = synced(corpus)
    assert first.folder is not None
    before = content(first.folder)

    again = synced(corpus)

    assert again == first
    assert content(first.folder) == before


def test_a_delta_that_was_taken_in_and_undone_by_an_edit_is_taken_back(
    corpus: Corpus, store: Store
) -> None:
    """Nobody knows whether a store has what nobody acknowledged."""
    delivered(corpus, store)
    corpus.document("leave.md", LEAVE.replace("twelve months", "ten months"))
    corpus.document("new.md", LEAVE)
    sent = synced(corpus)
    assert sent.folder is not None
    store.take_in(sent.folder)
    corpus.document("leave.md", LEAVE)
    (corpus.folder / "docs" / "new.md").unlink()

    back = delivered(corpus, store)

    assert back.deletes == 3
    assert store.records == built(corpus)


def test_only_the_last_delta_can_be_acknowledged(corpus: Corpus) -> None:
    """It holds what the ones before it did, which are gone."""
    first = synced(corpus)
    corpus.document("new.md", LEAVE)
    second = synced(corpus)
    assert first.run is not None
    assert second.run is not None
    assert first.folder is not None

    with pytest.raises(ConfigError, match=second.run):
        acknowledge(config_of(corpus), first.run)

    assert not first.folder.exists()
    assert acknowledge(config_of(corpus), second.run)


def test_an_acknowledgement_may_be_said_twice(corpus: Corpus, store: Store) -> None:
    """Whoever crashed after the first cannot know."""
    sent = delivered(corpus, store)
    assert sent.run is not None

    assert not acknowledge(config_of(corpus), sent.run)


def test_a_delta_that_was_damaged_is_written_anew(corpus: Corpus) -> None:
    """Its name promises what is in it."""
    sent = synced(corpus)
    assert sent.folder is not None
    before = content(sent.folder)
    (sent.folder / "upserts.jsonl").write_bytes(b"")

    synced(corpus)

    assert content(sent.folder) == before


def test_summary_and_manifest_say_what_was_sent(corpus: Corpus) -> None:
    """One for people, one for whoever takes the delta in."""
    corpus.document("bad.docx", b"no archive")
    corpus.configure(
        corpus={"documents": ["docs/**/*.*"], "max_failed_share": 0.5},
    )

    sent = synced(corpus)

    assert sent.folder is not None
    summary = json.loads((sent.folder / "summary.json").read_text("utf-8"))
    manifest = json.loads((sent.folder / "manifest.json").read_text("utf-8"))
    assert summary["counts"] == {"failed": 1, "ok": 2}
    assert summary["failed"][0]["doc_id"] == "bad.docx"
    assert manifest["run"] == summary["run"] == sent.run
    assert [file["name"] for file in manifest["files"]] == [
        *("upserts.jsonl", "metadata_updates.jsonl", "deletes.jsonl"),
    ]


def test_a_revert_leads_back_to_before_a_run(corpus: Corpus, store: Store) -> None:
    """Its records are those of then, though the documents are others now."""
    delivered(corpus, store)
    before = dict(store.records)
    corpus.document("leave.md", LEAVE.replace("## Exceptions", "## Other"))
    (corpus.folder / "docs" / "travel" / "abroad.md").rename(
        corpus.folder / "docs" / "travel.md"
    )
    (corpus.folder / "docs" / "travel").rmdir()
    run = delivered(corpus, store).run
    assert run is not None
    assert store.records != before

    sent = revert(config_of(corpus), run)

    assert sent.run is not None
    assert sent.folder is not None
    store.take_in(sent.folder)
    assert acknowledge(config_of(corpus), sent.run)
    assert store.records == before


def test_a_delta_that_waits_can_be_reverted(corpus: Corpus, store: Store) -> None:
    """A store that has taken it in gets rid of it."""
    delivered(corpus, store)
    before = dict(store.records)
    corpus.document("new.md", LEAVE)
    sent = synced(corpus)
    assert sent.run is not None
    assert sent.folder is not None
    store.take_in(sent.folder)

    back = revert(config_of(corpus), sent.run)

    assert back.folder is not None
    store.take_in(back.folder)
    assert store.records == before


def test_five_runs_can_be_reverted(corpus: Corpus, store: Store) -> None:
    """Older ones are gone, with their deltas and records."""
    runs = []
    for number in range(7):
        corpus.document("leave.md", LEAVE.replace("twelve", str(number)))
        runs.append(str(delivered(corpus, store).run))
    config = config_of(corpus)

    with pytest.raises(ConfigError, match="cannot be reverted") as refused:
        revert(config, runs[1])
    revert(config, runs[2])

    assert runs[2] in str(refused.value)
    assert len(list(config.output.index.glob("states/*.jsonl"))) == 6


def test_sync_takes_the_lock_of_the_output(corpus: Corpus) -> None:
    """There is one writer."""
    with held(config_of(corpus).output.path), pytest.raises(Locked):
        synced(corpus)


def test_two_documents_of_one_id_send_nothing(corpus: Corpus, store: Store) -> None:
    """Also where one of them is as it was."""
    corpus.document("a.md", f"---\ndoc_id: HR-7\n---\n{LEAVE}")
    delivered(corpus, store)
    corpus.document("b.md", f"---\ndoc_id: HR-7\n---\n{LEAVE}")

    with pytest.raises(SituateError, match="both have doc_id 'HR-7'"):
        synced(corpus)


def test_records_that_are_missing_are_made_anew(corpus: Corpus, store: Store) -> None:
    """An index can do without what it can read again."""
    delivered(corpus, store)
    for path in config_of(corpus).output.index.glob("records/*/*"):
        path.unlink()

    sent = synced(corpus)

    assert sent.run is None
    assert set(sent.outcomes.values()) == {"ok"}


def test_a_file_that_changes_while_it_is_read_waits_for_the_next_sync(
    corpus: Corpus, store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What was cut need not be what was hashed."""
    cut = syncing.write_all

    def late(*given: Any) -> Iterator[Written | Failed]:
        for outcome in cut(*given):
            if outcome.source.doc_id == "leave.md":
                corpus.document("leave.md", LEAVE.replace("twelve", "ten"))
            yield outcome

    with monkeypatch.context() as patch:
        patch.setattr(syncing, "write_all", late)
        sent = delivered(corpus, store)

    assert sent.outcomes["leave.md"] == "failed"
    assert "changed while it was read" in sent.failed[0].message
    delivered(corpus, store)
    assert store.records == built(corpus)


def test_what_sync_writes_is_no_document(tmp_path: Path, store: Store) -> None:
    """Globs may span the folder it stands in."""
    corpus = Corpus(folder=tmp_path)
    corpus.document("leave.md", LEAVE)
    corpus.configure(corpus={"documents": ["**/*.md", "**/*.json*"]})
    corpus.document("data.json", b"{}")
    corpus.configure(
        corpus={"documents": ["**/*.md", "**/*.json*"], "max_failed_share": 1}
    )

    delivered(corpus, store)

    assert set(synced(corpus).outcomes) == {"docs/leave.md", "docs/data.json"}
