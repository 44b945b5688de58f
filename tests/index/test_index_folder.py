"""What is known of an index is whole, its own and no more than is needed (S4)."""

from __future__ import annotations

import shutil
from typing import TYPE_CHECKING

import pytest

from situate.errors import ConfigError, RecordError
from situate.index.folder import IndexFolder
from situate.pipeline.living.indexing import acknowledge, revert, verify
from tests.support.corpora import LEAVE, TRAVEL, Corpus, handbook
from tests.support.stores import Store, built, config_of, delivered, synced

if TYPE_CHECKING:
    from pathlib import Path

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


def index_of(corpus: Corpus) -> Path:
    """Give the folder of the index."""
    return config_of(corpus).output.index


@pytest.mark.parametrize("is_acknowledged", [True, False])
def test_an_index_is_of_one_corpus(tmp_path: Path, is_acknowledged: bool) -> None:
    """Another that writes to the same path would delete all of it."""
    corpus = handbook(tmp_path, **FREE)
    run = synced(corpus).run
    if is_acknowledged:
        acknowledge(config_of(corpus), str(run))
    corpus.configure(corpus={"name": "intranet"}, **FREE)

    for command in (
        lambda: synced(corpus),
        lambda: acknowledge(config_of(corpus), str(run)),
        lambda: revert(config_of(corpus), str(run)),
    ):
        with pytest.raises(ConfigError, match=r"corpus 'handbook', not of 'intranet'"):
            command()


def test_a_delta_of_before_is_what_a_crash_left(corpus: Corpus, store: Store) -> None:
    """The state has it already; the next delta starts from there."""
    corpus.document("new.md", TRAVEL)
    sent = synced(corpus)
    pending = index_of(corpus) / "pending.jsonl"
    left = pending.read_bytes()
    assert sent.folder is not None
    store.take_in(sent.folder)
    acknowledge(config_of(corpus), str(sent.run))
    pending.write_bytes(left)
    folder = IndexFolder(index_of(corpus))
    base = folder.acknowledged()

    assert folder.pending(base) is None
    assert acknowledge(config_of(corpus), str(sent.run)) is False
    assert folder.acknowledged() == base


def test_a_delta_whose_state_is_lost_is_no_first_one(
    corpus: Corpus, store: Store
) -> None:
    """What a store has would be forgotten, and stay there for good."""
    corpus.document("new.md", TRAVEL)
    sent = synced(corpus)
    assert sent.folder is not None
    store.take_in(sent.folder)
    shutil.rmtree(index_of(corpus) / "states")

    with pytest.raises(RecordError) as refused:
        synced(corpus)

    told = str(refused.value)
    assert "pending.jsonl: starts from state 1, and the last of" in told
    assert "from a backup, then verify" in told


@pytest.mark.parametrize("name", ["states/00000001.jsonl", "pending.jsonl"])
def test_what_is_broken_says_how_to_go_on(
    corpus: Corpus, store: Store, name: str
) -> None:
    """And the way is one: everything anew, then what is too much."""
    (corpus.folder / "docs" / "leave.md").unlink()
    synced(corpus)
    path = index_of(corpus) / name
    path.write_bytes(path.read_bytes()[:-20])

    with pytest.raises(RecordError, match=r"remove it, sync and acknowledge, then"):
        synced(corpus)

    shutil.rmtree(index_of(corpus))
    delivered(corpus, store)
    finding, sent = verify(
        config_of(corpus), store.ids(corpus.folder / "ids.jsonl"), allow_deletes=9
    )
    assert {name.partition(":")[0] for name in finding.foreign} == {"leave.md"}
    assert sent.run is None


def test_records_that_are_missing_are_what_the_next_sync_writes(
    corpus: Corpus, store: Store
) -> None:
    """A repair needs them, and says how to have them again."""
    del store.records["leave.md:leave"]
    ids = store.ids(corpus.folder / "ids.jsonl")
    for path in index_of(corpus).glob("records/*/*"):
        path.unlink()

    with pytest.raises(RecordError, match="the next sync reads its document again"):
        verify(config_of(corpus), ids)

    synced(corpus)
    _, sent = verify(config_of(corpus), ids)
    assert sent.folder is not None
    store.take_in(sent.folder)
    assert store.records == built(corpus)


def test_records_go_with_the_last_state_that_needs_them(
    corpus: Corpus, store: Store
) -> None:
    """Those of five nights stay, and of the state before."""
    for number in range(8):
        corpus.document("leave.md", LEAVE.replace("twelve", f"{number}"))
        synced(corpus)
        corpus.document("leave.md", LEAVE.replace("twelve", f"{number} full"))
        delivered(corpus, store)

    kept = {path.stem for path in index_of(corpus).glob("records/*/*")}

    states = [*IndexFolder(index_of(corpus)).generations()]
    needed = {each.records for state in states for each in state.documents.values()}
    assert len(states) == 6
    assert kept == needed
    assert len(kept) == 7


def test_an_acknowledgement_that_was_killed_is_completed_by_saying_it_again(
    corpus: Corpus, store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Records that no state needs are gone then, too."""
    corpus.document("leave.md", LEAVE.replace("twelve", "ten"))
    synced(corpus)
    corpus.document("leave.md", LEAVE)
    corpus.document("new.md", TRAVEL)
    run = str(synced(corpus).run)
    with monkeypatch.context() as patch:
        patch.setattr(IndexFolder, "sweep", lambda *_: None)
        acknowledge(config_of(corpus), run)
    before = len([*index_of(corpus).glob("records/*/*")])

    assert acknowledge(config_of(corpus), run) is False

    assert before - len([*index_of(corpus).glob("records/*/*")]) == 1


def test_a_run_that_cannot_be_reverted_is_not_offered(
    corpus: Corpus, store: Store
) -> None:
    """The one that waits is."""
    runs = []
    for number in range(7):
        corpus.document("leave.md", LEAVE.replace("twelve", f"{number}"))
        runs.append(str(delivered(corpus, store).run))
    corpus.document("leave.md", LEAVE)
    waits = str(synced(corpus).run)

    with pytest.raises(ConfigError) as refused:
        revert(config_of(corpus), runs[1])

    offered = str(refused.value).partition("those that can: ")[2]
    assert offered.split(", ") == [waits, *reversed(runs[2:])]
