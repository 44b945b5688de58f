"""An index and its store lose a document, whatever was sent of it before (S8)."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from situate.index import parcel
from situate.index.folder import IndexFolder
from situate.index.state import Pending
from situate.pipeline.living.forgetting import forget
from situate.pipeline.living.indexing import acknowledge, revert, verify
from tests.support.planted import PLANTED, TERMS, naming, planted, removed
from tests.support.stores import Store, built, config_of, delivered, synced

if TYPE_CHECKING:
    from pathlib import Path

    from situate.pipeline.living.forgetting import Receipt
    from tests.support.corpora import Corpus


_OUTDATED = Pending(
    base=0,
    run="0123456789abcdef",
    corpus="handbook",
    documents={},
    unsure={f"{PLANTED}:terms": frozenset({None})},
)
"""A delta that was acknowledged, by a process that was killed right after."""


@pytest.fixture
def corpus(tmp_path: Path) -> Corpus:
    """Three documents, one of which is to be forgotten; few chunks may be deleted."""
    return planted(tmp_path)


def forgotten(corpus: Corpus) -> Receipt:
    """Forget the document."""
    return forget(config_of(corpus), PLANTED)


def taken_in(corpus: Corpus, store: Store, receipt: Receipt) -> None:
    """Let a store take the delta in, and acknowledge it."""
    assert receipt.run is not None
    assert receipt.folder is not None
    store.take_in(receipt.folder)
    acknowledge(config_of(corpus), receipt.run)


def test_a_store_loses_what_it_acknowledged(corpus: Corpus) -> None:
    """Whatever share that is; nothing else is sent, and nothing is left."""
    store = Store()
    delivered(corpus, store)
    removed(corpus)

    receipt = forgotten(corpus)
    taken_in(corpus, store, receipt)

    assert naming(corpus.folder) == set()
    assert store.records == built(corpus)
    assert synced(corpus).run is None


def test_the_delta_says_what_it_is_and_holds_ids_alone(corpus: Corpus) -> None:
    """Texts of before are gone with the deltas that brought them."""
    delivered(corpus, Store())
    removed(corpus)

    receipt = forgotten(corpus)

    folders = list(config_of(corpus).output.deltas.iterdir())
    assert folders == [receipt.folder]
    manifest = json.loads((folders[0] / "manifest.json").read_text("utf-8"))
    assert (manifest["kind"], manifest["upserts"]) == ("forget", 0)
    assert manifest["deletes"] > 1


def test_a_store_loses_what_nobody_acknowledged(corpus: Corpus) -> None:
    """It may have taken in either of two deltas; other documents come along."""
    store = Store()
    first = synced(corpus)
    corpus.document(PLANTED, TERMS.replace("Disputes", "Quarrels"))
    second = synced(corpus)
    assert first.run != second.run
    assert second.folder is not None
    store.take_in(second.folder)
    removed(corpus)

    taken_in(corpus, store, forgotten(corpus))

    assert store.records == built(corpus)
    assert naming(corpus.folder) == set()


def test_a_sync_in_between_deletes_it_as_well(corpus: Corpus) -> None:
    """And leaves nothing behind when it is acknowledged in its turn."""
    store = Store()
    delivered(corpus, store)
    removed(corpus)
    forgotten(corpus)
    corpus.document("new.md", "# New\n\nSomething that came since.\n")

    delivered(corpus, store)

    assert store.records == built(corpus)
    assert naming(corpus.folder) == set()


def test_an_ack_that_was_killed_leaves_nothing_the_second_time(corpus: Corpus) -> None:
    """The state may have advanced before the delta was removed."""
    delivered(corpus, Store())
    removed(corpus)
    receipt = forgotten(corpus)
    config = config_of(corpus)
    folder = IndexFolder(config.output.index)
    pending = folder.pending(folder.acknowledged())
    assert pending is not None
    folder.advance(pending)
    assert naming(corpus.folder)

    acknowledge(config, str(receipt.run))

    assert naming(corpus.folder) == set()


def test_no_state_is_left_to_lead_back_to(corpus: Corpus) -> None:
    """`revert` gives the other documents as they were, and never this one."""
    store = Store()
    first = delivered(corpus, store)
    corpus.document("leave.md", "# Leave\n\nThere is none.\n")
    second = delivered(corpus, store)
    removed(corpus)
    taken_in(corpus, store, forgotten(corpus))

    for run in (second.run, first.run):
        sent = revert(config_of(corpus), str(run), allow_deletes=1_000)
        assert sent.folder is not None
        store.take_in(sent.folder)
        assert not [key for key in store.records if key.startswith(PLANTED)]
        assert naming(corpus.folder) == set()


def test_every_wording_of_it_goes(corpus: Corpus) -> None:
    """Those of before stand beside the last one where an index keeps them (S5)."""
    corpus.configure(
        chunking={"max_tokens": 64, "min_tokens": 0}, versions={"keep": "all"}
    )
    store = Store()
    for day in ("2025-01-01", "2026-01-01"):
        corpus.document(PLANTED, f"---\neffective_from: {day}\n---\n{TERMS}")
        delivered(corpus, store)
    own = [name for name in store.records if name.startswith(PLANTED)]
    removed(corpus)

    taken_in(corpus, store, forgotten(corpus))

    assert len({name.partition("@")[2] for name in own}) == 2
    assert not [name for name in store.records if name.startswith(PLANTED)]
    assert naming(corpus.folder) == set()


def test_what_left_long_ago_goes_without_a_delta(corpus: Corpus) -> None:
    """The store has lost it; the states of before, and what they need, have not."""
    corpus.configure(
        chunking={"max_tokens": 64, "min_tokens": 0}, output={"max_delete_share": 1}
    )
    store = Store()
    delivered(corpus, store)
    removed(corpus)
    delivered(corpus, store)
    assert naming(corpus.folder)

    receipt = forgotten(corpus)

    assert receipt.run is None
    assert naming(corpus.folder) == set()


def test_a_delta_that_waits_for_others_is_left_alone(corpus: Corpus) -> None:
    """Where the store has never had the document, and only old states knew it."""
    corpus.configure(
        chunking={"max_tokens": 64, "min_tokens": 0}, output={"max_delete_share": 1}
    )
    store = Store()
    delivered(corpus, store)
    removed(corpus)
    delivered(corpus, store)
    corpus.document("new.md", "# New\n\nSomething that came since.\n")
    waiting = synced(corpus)

    receipt = forgotten(corpus)

    assert receipt.run is None
    assert waiting.folder is not None
    assert waiting.folder.is_dir()
    assert acknowledge(config_of(corpus), str(waiting.run))


def test_what_waits_for_others_keeps_what_it_needs(corpus: Corpus) -> None:
    """A store that loses everything can be given it again."""
    store = Store()
    delivered(corpus, store)
    corpus.document("new.md", "# New\n\nSomething that came since.\n")
    synced(corpus)
    removed(corpus)
    taken_in(corpus, store, forgotten(corpus))
    kept = dict(store.records)
    store.records.clear()

    ids = store.ids(corpus.folder / "ids.jsonl")
    _, repair = verify(config_of(corpus), ids)

    assert repair.folder is not None
    store.take_in(repair.folder)
    assert store.records == kept


def test_a_delta_that_deleted_it_long_ago_goes(corpus: Corpus) -> None:
    """Also where no state that is kept knows the document any more."""
    corpus.configure(
        chunking={"max_tokens": 64, "min_tokens": 0}, output={"max_delete_share": 1}
    )
    store = Store()
    delivered(corpus, store)
    removed(corpus)
    for number in range(6):
        delivered(corpus, store)
        corpus.document("new.md", f"# New\n\nSomething that came {number}.\n")
    assert {
        path.partition("/")[2].partition("/")[0] for path in naming(corpus.folder)
    } == {"handbook.delta"}
    report = corpus.chunks.with_name("handbook.compare.html")
    report.write_text("of before", "utf-8")

    receipt = forgotten(corpus)

    assert naming(corpus.folder) == set()
    assert receipt.run is None
    assert not report.exists()


def surplus(corpus: Corpus, store: Store) -> None:
    """Have a repair withhold what a store took in and nobody acknowledged."""
    corpus.document("new.md", "# New\n\nSomething that came since.\n")
    planted_text = (corpus.folder / "docs" / PLANTED).read_bytes()
    removed(corpus)
    (corpus.folder / "docs" / "new.md").rename(corpus.folder / "new.md")
    delivered(corpus, store)
    (corpus.folder / "new.md").rename(corpus.folder / "docs" / "new.md")
    corpus.document(PLANTED, planted_text)
    sent = synced(corpus)
    assert sent.folder is not None
    store.take_in(sent.folder)
    del store.records["leave.md:leave"]
    _, repair = verify(config_of(corpus), store.ids(corpus.folder / "mine" / "ids"))
    assert repair.withheld
    assert repair.run is not None
    assert repair.folder is not None
    store.take_in(repair.folder)
    acknowledge(config_of(corpus), repair.run)


def test_what_only_the_store_has_is_lost_as_well(corpus: Corpus) -> None:
    """A repair has withheld it; of other documents it waits for a person's word."""
    store = Store()
    surplus(corpus, store)
    removed(corpus)
    (corpus.folder / "docs" / "new.md").unlink()

    receipt = forgotten(corpus)
    taken_in(corpus, store, receipt)

    assert naming(corpus.folder) == set()
    assert {name for name in store.records if name not in built(corpus)} == {
        "new.md:new"
    }
    assert synced(corpus).withheld_ids == ("new.md:new",)


def test_a_delta_that_lists_its_chunks_alone_tells_of_it(corpus: Corpus) -> None:
    """Those whose deletion is withheld night after night, while it is as it was."""
    delivered(corpus, Store())
    corpus.document(PLANTED, TERMS.partition("## Disputes")[0])
    synced(corpus)
    corpus.document("new.md", "# New\n\nSomething that came since.\n")
    acknowledge(config_of(corpus), str(synced(corpus).run))
    corpus.document("new.md", "# New\n\nSomething else that came since.\n")
    sent = synced(corpus)
    assert (sent.outcomes[PLANTED], sent.deletes) == ("unchanged", 0)
    assert sent.withheld_ids

    found = parcel.naming(config_of(corpus).output.deltas, PLANTED)

    assert sent.run in found
    assert parcel.naming(config_of(corpus).output.deltas, "partners") == frozenset()


def test_what_a_killed_sync_has_left_goes(corpus: Corpus) -> None:
    """Records for a state that was never written, drafts, and a delta of before."""
    place = config_of(corpus).output.index
    folder = IndexFolder(place)
    folder.keep(TERMS.encode())
    folder.advance(_OUTDATED)
    folder.propose(_OUTDATED)
    (place / "states" / ".00000001.jsonl.part").write_text(TERMS, "utf-8")
    removed(corpus)

    forgotten(corpus)

    assert naming(corpus.folder) == set()


def test_forgetting_again_before_the_store_has_lost_it_is_the_same(
    corpus: Corpus,
) -> None:
    """The same delta waits, and a comparison made since is not touched."""
    delivered(corpus, Store())
    removed(corpus)
    first = forgotten(corpus)
    report = corpus.chunks.with_name("handbook.compare.html")
    report.write_text("made since", "utf-8")

    again = forgotten(corpus)

    assert again.run == first.run
    assert again.removed == ()
    assert report.exists()
