"""How many deletions need a person's word, and what becomes of what waits (S3)."""

from __future__ import annotations

import json
import shutil
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from situate.index.safety import exceeds
from situate.pipeline.living.indexing import acknowledge, verify
from tests.support.corpora import LEAVE, TRAVEL, Corpus, handbook
from tests.support.stores import Store, built, config_of, delivered, synced

if TYPE_CHECKING:
    from pathlib import Path

    from situate.index.inventory import Finding
    from situate.pipeline.living.sent import Sent

FINE = {"min_tokens": 0}


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


def remove(corpus: Corpus, *numbers: int) -> None:
    """Remove documents."""
    for number in numbers:
        (corpus.folder / "docs" / f"{number:02}.md").unlink()


@pytest.mark.parametrize("is_acknowledged", [True, False], ids=["later", "at first"])
def test_many_small_steps_that_nobody_acknowledged_are_a_large_one(
    tmp_path: Path, store: Store, is_acknowledged: bool
) -> None:
    """What counts is what the store was told to have, not what was proposed last."""
    corpus = plenty(tmp_path)
    if is_acknowledged:
        delivered(corpus, store)
    else:
        synced(corpus)
    remove(corpus, 0)
    one = synced(corpus)
    remove(corpus, 1)

    two = synced(corpus)

    assert (one.exit_code, one.deletes) == (0, 1)
    assert (two.exit_code, two.withheld) == (3, 2)
    assert "2 of 100 chunks" in two.reasons[0]


def test_what_was_never_acknowledged_may_be_taken_back(
    tmp_path: Path, store: Store
) -> None:
    """A store that has it was not told for good."""
    corpus = plenty(tmp_path)
    delivered(corpus, store)
    for number in range(5):
        corpus.document(f"new-{number}.md", LEAVE)
    sent = synced(corpus)
    assert sent.folder is not None
    store.take_in(sent.folder)
    for number in range(5):
        (corpus.folder / "docs" / f"new-{number}.md").unlink()

    sent = delivered(corpus, store)

    assert (sent.exit_code, sent.withheld, sent.deletes) == (0, 0, 15)
    assert store.records == built(corpus)


def test_the_first_delta_counts_though_nobody_acknowledged_it(tmp_path: Path) -> None:
    """A store may have all of it."""
    corpus = plenty(tmp_path)
    first = synced(corpus)
    remove(corpus, *range(40))

    sent = synced(corpus)

    assert (sent.exit_code, sent.withheld, sent.deletes) == (3, 40, 0)
    assert sent.run == first.run


def test_what_was_allowed_comes_again_without_asking(
    tmp_path: Path, store: Store
) -> None:
    """The same delta, while it waits; one deletion more is another matter."""
    corpus = plenty(tmp_path)
    delivered(corpus, store)
    remove(corpus, 0, 1, 2)
    allowed = synced(corpus, allow_deletes=50)

    again = synced(corpus)
    remove(corpus, 3)
    more = synced(corpus)
    corpus.document("03.md", "# Policy 3\n\nIt holds.\n")
    back = synced(corpus)

    assert (again.run, again.deletes) == (allowed.run, 3)
    assert (more.withheld, more.deletes, more.exit_code) == (4, 0, 3)
    assert (back.run, back.deletes, back.exit_code) == (allowed.run, 3, 0)


def test_what_was_allowed_ends_with_its_delta(tmp_path: Path, store: Store) -> None:
    """Acknowledged, or emptied because what was gone is back."""
    corpus = plenty(tmp_path)
    delivered(corpus, store)
    remove(corpus, 0, 1)
    synced(corpus, allow_deletes=2)
    for number in range(2):
        corpus.document(f"{number:02}.md", f"# Policy {number}\n\nIt holds.\n")
    delivered(corpus, store)
    remove(corpus, 5, 6)

    sent = synced(corpus)

    assert sent.withheld == 2


def test_documents_that_are_put_back_come_as_they_were_sent_last(
    tmp_path: Path, store: Store
) -> None:
    """Also those whose deletion was proposed, and perhaps taken in, before."""
    corpus = plenty(tmp_path)
    delivered(corpus, store)
    before = dict(store.records)
    remove(corpus, 0)
    sent = synced(corpus)
    assert sent.folder is not None
    store.take_in(sent.folder)
    remove(corpus, 1)

    delivered(corpus, store)

    assert store.records == before


def test_what_is_withheld_of_a_document_is_its_last_text(
    tmp_path: Path, store: Store
) -> None:
    """An edit that nobody acknowledged is not taken back with it."""
    corpus = plenty(tmp_path)
    corpus.document("a.md", sections(3))
    delivered(corpus, store)
    corpus.document("00.md", "# Policy 0\n\nIt holds no more.\n")
    corpus.document("a.md", sections(3).replace("Rule 2", "Law 2"))
    synced(corpus)
    remove(corpus, 0)
    corpus.document("a.md", sections(2))

    sent = delivered(corpus, store)

    assert sent.withheld_ids == ("00.md:policy-0", "a.md:rules/part-2")
    assert "It holds no more." in store.records["00.md:policy-0"]["text"]
    assert "Law 2 holds." in store.records["a.md:rules/part-2"]["text"]


def test_a_document_that_comes_back_does_not_keep_what_it_lost_before(
    tmp_path: Path, store: Store
) -> None:
    """Its section waited to be deleted, then all of it did."""
    corpus = handbook(tmp_path, chunking=FINE)
    corpus.document("a.md", sections(3))
    delivered(corpus, store)
    path = corpus.document("a.md", sections(2))
    delivered(corpus, store)
    text = path.read_bytes()
    path.unlink()
    delivered(corpus, store)
    path.write_bytes(text)

    sent = delivered(corpus, store, allow_deletes=1)

    assert (sent.deletes, sent.exit_code) == (1, 0)
    assert store.records == built(corpus)


def test_a_gap_brings_back_what_waits_to_be_deleted(
    tmp_path: Path, store: Store
) -> None:
    """A store may have it still, and now nobody knows whether it is gone."""
    corpus = plenty(tmp_path)
    delivered(corpus, store)
    before = dict(store.records)
    remove(corpus, 0)
    synced(corpus)
    shutil.rmtree(corpus.folder / "docs")

    sent = delivered(corpus, store, allow_deletes=100)

    assert sent.deletes == 0
    assert sent.outcomes["00.md"] == "kept"
    assert store.records == before


@given(hundredths=st.integers(0, 100), total=st.integers(1, 300))
@example(hundredths=29, total=100)
def test_a_share_is_what_is_written(hundredths: int, total: int) -> None:
    """0.29 of 100 are 29, in whatever way a machine writes numbers."""
    share = float(f"0.{hundredths:02}") if hundredths < 100 else 1.0

    most = hundredths * total // 100

    assert not exceeds(most, total, share)
    assert exceeds(most + 1, total, share)


def sections(count: int, front: str = "") -> str:
    """Write a document of sections."""
    parts = [f"## Part {number}\n\nRule {number} holds.\n" for number in range(count)]
    return f"---\ntitle: Rules\n{front}---\n# Rules\n\nThey hold.\n\n" + "\n".join(
        parts
    )


def access(store: Store) -> dict[str, tuple[Any, ...]]:
    """Give what each record says of who may see it, and when it is in force."""
    return {
        name: (
            record["metadata"]["custom"].get("acl_groups"),
            record["metadata"]["custom"].get("classification"),
            record["metadata"]["effective_from"],
            record["metadata"]["effective_to"],
        )
        for name, record in store.records.items()
    }


def test_what_is_withheld_is_seen_by_nobody_who_may_not_see_its_document(
    tmp_path: Path, store: Store
) -> None:
    """It takes over what its document says now: no text is sent for that."""
    corpus = Corpus(folder=tmp_path).configure(chunking=FINE)
    wide = "acl_groups: [all]\nclassification: open\neffective_to: 2030-12-31\n"
    corpus.document("a.md", sections(3, wide))
    delivered(corpus, store)
    narrow = "acl_groups: [board]\neffective_from: 2026-01-01\n"
    corpus.document("a.md", sections(2, narrow))

    sent = delivered(corpus, store)

    assert sent.withheld_ids == ("a.md:rules/part-2",)
    assert (sent.upserts, sent.metadata_updates) == (0, 4)
    expected = (["board"], None, "2026-01-01", None)
    assert [*access(store).values()] == [expected] * 4
    withheld = store.records["a.md:rules/part-2"]["metadata"]
    assert withheld["custom"] == {"acl_groups": ["board"]}
    assert synced(corpus).run is None


def test_what_a_heading_said_of_a_withheld_section_stays_within_the_document(
    tmp_path: Path, store: Store
) -> None:
    """The group of a section is not that of its document, and would see more."""
    corpus = Corpus(folder=tmp_path).configure(chunking=FINE)
    said = "{acl_groups=hr effective_from=2025-01-01 effective_to=2027-06-30}"
    front = "acl_groups: [all]\neffective_to: 2029-12-31\n"
    whole = sections(3, front).replace("Part 2", f"Part 2 {said}")
    corpus.document("a.md", whole)
    delivered(corpus, store)
    before = access(store)["a.md:rules/part-2"]
    narrow = (
        "acl_groups: [board]\neffective_from: 2026-01-01\neffective_to: 2026-12-31\n"
    )
    corpus.document("a.md", sections(2, narrow))

    delivered(corpus, store)

    assert before == ("hr", None, "2025-01-01", "2027-06-30")
    after = access(store)["a.md:rules/part-2"]
    assert after == ("hr", None, "2026-01-01", "2026-12-31")


def test_what_is_withheld_of_an_earlier_wording_ends_with_it(
    tmp_path: Path, store: Store
) -> None:
    """And is sent once."""
    corpus = Corpus(folder=tmp_path)
    listed = [
        {
            "path": name,
            "doc_id": "HR-7",
            "metadata": {"effective_from": f"{name[:4]}-01-01"},
        }
        for name in ("2025.md", "2026.md")
    ]
    corpus.document("m.jsonl", "".join(json.dumps(each) + "\n" for each in listed))
    corpus.configure(
        corpus={"documents": "docs/m.jsonl"}, versions={"keep": "all"}, chunking=FINE
    )
    for name in ("2025.md", "2026.md"):
        corpus.document(name, sections(3))
    delivered(corpus, store)
    corpus.document("2025.md", sections(2))

    sent = delivered(corpus, store)

    (name,) = sent.withheld_ids
    assert name.startswith("HR-7:rules/part-2@")
    assert store.records[name]["metadata"]["effective_to"] == "2025-12-31"
    assert synced(corpus).run is None


def verified(
    corpus: Corpus, store: Store, *, allow_deletes: int | None = None
) -> tuple[Finding, Sent]:
    """Verify a store by the ids it holds."""
    path = store.ids(corpus.folder / "ids.jsonl")
    return verify(config_of(corpus), path, allow_deletes=allow_deletes)


def taken_in(corpus: Corpus, store: Store, sent: Sent) -> None:
    """Let a store take a delta in, and acknowledge it."""
    assert sent.run is not None
    assert sent.folder is not None
    store.take_in(sent.folder)
    acknowledge(config_of(corpus), sent.run)


def repaired(corpus: Corpus, store: Store) -> Sent:
    """Have a store take in a document and lose a chunk, and a repair withhold much."""
    for number in range(20):
        corpus.document(f"{number}.md", LEAVE)
    corpus.configure(chunking=FINE)
    delivered(corpus, store)
    corpus.document("new.md", TRAVEL)
    sent = synced(corpus)
    assert sent.folder is not None
    store.take_in(sent.folder)
    del store.records["3.md:leave"]
    _, repair = verified(corpus, store)
    assert repair.withheld == 2
    assert repair.upserts == 1
    assert repair.folder is not None
    store.take_in(repair.folder)
    return repair


@pytest.fixture
def surplus(tmp_path: Path, store: Store) -> Corpus:
    """A corpus whose store has what a repair withheld from deletion."""
    corpus = Corpus(folder=tmp_path)
    repair = repaired(corpus, store)
    acknowledge(config_of(corpus), str(repair.run))
    return corpus


def test_a_repair_that_was_taken_in_is_only_to_be_acknowledged(
    tmp_path: Path, store: Store
) -> None:
    """Though the store has more than what it leads to: that is withheld."""
    corpus = Corpus(folder=tmp_path)
    repair = repaired(corpus, store)

    _, sent = verified(corpus, store)

    assert (sent.agrees, sent.run) == ("surely", repair.run)


def test_what_a_repair_withheld_is_deleted_when_that_is_allowed(
    surplus: Corpus, store: Store
) -> None:
    """It is known after the repair was acknowledged, though no document has it."""
    (surplus.folder / "docs" / "new.md").unlink()

    held_back = delivered(surplus, store)
    allowed = delivered(surplus, store, allow_deletes=2)

    assert (held_back.exit_code, held_back.run) == (3, None)
    assert held_back.withheld_ids == ("new.md:travel", "new.md:travel/abroad")
    assert "2 of 62 chunks" in held_back.reasons[0]
    assert (allowed.exit_code, allowed.deletes) == (0, 2)
    assert held_back.outcomes["new.md"] == "kept"
    assert allowed.outcomes["new.md"] == "deleted"
    assert store.records == built(surplus)
    assert synced(surplus).exit_code == 0


def test_what_a_repair_withheld_is_surplus_for_good(
    surplus: Corpus, store: Store
) -> None:
    """However many nights have gone by, and deltas of other documents."""
    (surplus.folder / "docs" / "new.md").unlink()
    for number in range(7):
        surplus.document("0.md", LEAVE.replace("twelve", f"{number}"))
        delivered(surplus, store)

    finding, sent = verified(surplus, store, allow_deletes=2)
    taken_in(surplus, store, sent)

    assert set(finding.surplus) == {"new.md:travel", "new.md:travel/abroad"}
    assert store.records == built(surplus)


def test_what_a_repair_withheld_may_be_wanted_again(
    surplus: Corpus, store: Store
) -> None:
    """Its document is still there: it is sent whole, as nobody knows what is there."""
    sent = delivered(surplus, store)

    assert (sent.exit_code, sent.upserts) == (0, 2)
    assert store.records == built(surplus)
    assert verified(surplus, store)[1].run is None


def test_what_is_no_longer_there_is_not_asked_for_again(
    surplus: Corpus, store: Store
) -> None:
    """Somebody has deleted it by hand, and a list of ids says so."""
    (surplus.folder / "docs" / "new.md").unlink()
    for name in [name for name in store.records if name.startswith("new")]:
        del store.records[name]

    verified(surplus, store)

    assert synced(surplus).exit_code == 0


def test_what_is_withheld_is_remembered_where_nothing_is_to_be_repaired(
    tmp_path: Path, store: Store
) -> None:
    """And where it is a document of so long ago that no state has it any more."""
    corpus = handbook(tmp_path, output={"max_delete_share": 1}, chunking=FINE)
    corpus.document("new.md", TRAVEL)
    delivered(corpus, store)
    late = {name: store.records[name] for name in store.records if name[:3] == "new"}
    (corpus.folder / "docs" / "new.md").unlink()
    delivered(corpus, store)
    store.records |= late
    corpus.configure(chunking=FINE)

    _, withheld = verified(corpus, store)
    for number in range(7):
        corpus.document("leave.md", LEAVE.replace("twelve", f"{number}"))
        delivered(corpus, store)
    _, sent = verified(corpus, store, allow_deletes=2)

    assert withheld.run is None
    assert withheld.withheld == sent.deletes == 2


def test_a_delta_that_waits_remembers_what_a_repair_withheld(
    tmp_path: Path, store: Store
) -> None:
    """It is left as it is, and what it leads to knows of more."""
    corpus = handbook(tmp_path, output={"max_delete_share": 1}, chunking=FINE)
    corpus.document("new.md", TRAVEL)
    delivered(corpus, store)
    late = {name: store.records[name] for name in store.records if name[:3] == "new"}
    (corpus.folder / "docs" / "new.md").unlink()
    delivered(corpus, store)
    store.records |= late
    corpus.configure(chunking=FINE)
    corpus.document("leave.md", LEAVE.replace("twelve", "ten"))
    waits = synced(corpus)

    _, withheld = verified(corpus, store)
    again = synced(corpus)
    taken_in(corpus, store, again)
    after = synced(corpus)

    assert withheld.run is None
    assert again.run == waits.run
    assert again.withheld_ids == after.withheld_ids == tuple(sorted(late))


def test_a_repair_does_not_forget_what_was_sent_before(
    tmp_path: Path, store: Store
) -> None:
    """A delta that is taken in late, though a repair has taken its place."""
    corpus = handbook(tmp_path, output={"max_delete_share": 1}, chunking=FINE)
    delivered(corpus, store)
    corpus.document("new.md", TRAVEL)
    sent = synced(corpus)
    assert sent.folder is not None
    shutil.copytree(sent.folder, tmp_path / "late")
    del store.records["leave.md:leave"]
    verified(corpus, store)
    store.take_in(tmp_path / "late")
    (corpus.folder / "docs" / "new.md").unlink()

    delivered(corpus, store)

    assert store.records == built(corpus)


def test_what_is_withheld_needs_no_record(tmp_path: Path, store: Store) -> None:
    """Without, it stays where it is until it may go; nights are not over for that."""
    corpus = handbook(tmp_path, chunking=FINE)
    corpus.document("a.md", sections(3))
    delivered(corpus, store)
    corpus.document("a.md", sections(2).replace("Rule 1", "Law 1"))
    for path in config_of(corpus).output.index.glob("records/*/*"):
        path.unlink()

    withheld = delivered(corpus, store)
    again = delivered(corpus, store)
    assert "a.md:rules/part-2" in store.records
    allowed = delivered(corpus, store, allow_deletes=1)

    assert withheld.withheld_ids == again.withheld_ids == ("a.md:rules/part-2",)
    assert (withheld.upserts, again.run) == (1, None)
    assert (withheld.deletes, allowed.deletes) == (0, 1)
    assert store.records == built(corpus)


def test_the_summary_names_what_is_withheld(tmp_path: Path, store: Store) -> None:
    """A person who is to allow it has to know what it is."""
    corpus = plenty(tmp_path)
    delivered(corpus, store)
    remove(corpus, 0, 1)
    corpus.document("new.md", LEAVE)

    sent = synced(corpus)

    assert sent.folder is not None
    summary = json.loads((sent.folder / "summary.json").read_text("utf-8"))
    assert summary["withheld"] == 2
    assert summary["withheld_ids"] == ["00.md:policy-0", "01.md:policy-1"]
