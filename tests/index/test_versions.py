"""An index that keeps every wording of a document (S5)."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any

import pytest

from situate.errors import ConfigError, SituateError
from situate.pipeline.egress import egress_plans
from situate.pipeline.jobs import forecasts
from situate.pipeline.living.indexing import acknowledge, revert, verify
from situate.validity import in_force
from tests.support.corpora import Corpus, Heard, asking
from tests.support.stores import Store, config_of, delivered, lines, synced

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

    from situate.pipeline.living.sent import Sent

KEEPING: dict[str, dict[str, object]] = {
    "versions": {"keep": "all"},
    "chunking": {"min_tokens": 0, "granularity": "tree"},
    "output": {"max_delete_share": 1},
}
LISTED = {"documents": ["docs/**/*.md", "docs/m.jsonl"]}


def leave(days: int, **front: str) -> str:
    """Write a policy."""
    said = "".join(f"{key}: {value}\n" for key, value in front.items())
    return (
        f"---\ndoc_id: leave\n{said}---\n# Leave\n\nIt holds for all.\n\n"
        f"## Days\n\nEverybody has {days} days of leave.\n\n"
        "## Asking\n\nLeave is asked for in writing.\n"
    )


@pytest.fixture
def corpus(tmp_path: Path) -> Corpus:
    """The wording of 2024 of a policy."""
    corpus = Corpus(folder=tmp_path).configure(**KEEPING)
    said = leave(25, version="2024", effective_from="2024-01-01")
    corpus.document("leave.md", said)
    return corpus


@pytest.fixture
def store(corpus: Corpus) -> Store:
    """A store that has the corpus."""
    store = Store()
    delivered(corpus, store)
    return store


def superseded(corpus: Corpus, store: Store) -> Sent:
    """Put the wording of 2025 in the place of the other."""
    said = leave(28, version="2025", effective_from="2025-01-01")
    corpus.document("leave.md", said)
    return delivered(corpus, store)


def withdraw(corpus: Corpus, *said: dict[str, object]) -> Corpus:
    """Delete in a manifest."""
    text = "".join(json.dumps({"op": "delete", **each}) + "\n" for each in said)
    corpus.document("m.jsonl", text)
    return corpus.configure(corpus=LISTED, **KEEPING)


def answers(store: Store, day: str) -> list[int]:
    """Give what the store says on a day of how many days of leave there are."""
    texts = [each["text"] for each in force(store, day) if each["metadata"]["embed"]]
    return [int(found) for found in re.findall(r"has (\d+) days", "\n".join(texts))]


def force(store: Store, day: str) -> Iterable[dict[str, Any]]:
    """Give the records that a filter of a range of dates finds."""
    return [record for record in store.records.values() if in_force(record, day)]


def test_each_wording_answers_for_its_own_days(corpus: Corpus, store: Store) -> None:
    """The one that came before ends where the next one begins."""
    superseded(corpus, store)

    assert answers(store, "2023-12-31") == []
    assert answers(store, "2024-01-01") == [25]
    assert answers(store, "2024-12-31") == [25]
    assert answers(store, "2025-01-01") == [28]


def test_a_section_is_not_in_force_before_its_wording(tmp_path: Path) -> None:
    """Two wordings may date a section alike: on each day one of them is found."""
    corpus, store = Corpus(folder=tmp_path).configure(**KEEPING), Store()
    for days, begins in ((25, "2024-01-01"), (28, "2026-01-01")):
        said = leave(days, effective_from=begins)
        dated = said.replace("## Days", "## Days {effective_from=2024-05-01}")
        corpus.document("leave.md", dated)
        delivered(corpus, store)

    found = {day: answers(store, day) for day in ("2024-02-01", "2024-06-01")}

    assert found == {"2024-02-01": [], "2024-06-01": [25]}
    assert answers(store, "2026-01-01") == [28]
    assert synced(corpus).run is None


def test_a_new_wording_deletes_nothing_and_embeds_only_what_is_new(
    corpus: Corpus, store: Store
) -> None:
    """The one before it gets an end, which no vector knows of."""
    before = {key: record["metadata"] for key, record in store.records.items()}

    sent = superseded(corpus, store)

    assert (sent.upserts, sent.metadata_updates, sent.deletes) == (4, 4, 0)
    old, new = (
        store.records[f"leave:leave/asking@{version}"]["metadata"]
        for version in ("2024", "2025")
    )
    assert old["embed_hash"] == new["embed_hash"]
    assert old["effective_to"] == "2024-12-31"
    assert all(
        store.records[key]["metadata"]["embed_hash"] == said["embed_hash"]
        for key, said in before.items()
    )


def test_records_name_their_chunk_their_wording_and_their_parent(
    corpus: Corpus, store: Store
) -> None:
    """A chunk has one id; what differs is the record."""
    superseded(corpus, store)

    for version in ("2024", "2025"):
        record = store.records[f"leave:leave/days@{version}"]
        assert record["chunk_id"] == "leave:leave/days"
        assert record["parent_record_id"] == f"leave:leave@{version}"
        assert record["parent_record_id"] in store.records


def test_a_correction_takes_the_place_of_its_wording(
    corpus: Corpus, store: Store
) -> None:
    """It is in force from the same day, whatever its version is called."""
    said = leave(26, version="2024-b", effective_from="2024-01-01")
    corpus.document("leave.md", said)

    sent = delivered(corpus, store)

    assert sent.deletes == 0
    assert answers(store, "2024-06-01") == [26]
    assert {name.partition("@")[2] for name in store.records} == {"2024"}


def test_a_section_that_a_correction_drops_is_deleted(
    corpus: Corpus, store: Store
) -> None:
    """Of that wording, and of no other."""
    superseded(corpus, store)
    said = leave(28, version="2025", effective_from="2025-01-01")
    corpus.document("leave.md", said.partition("## Asking")[0])

    sent = delivered(corpus, store)

    assert sent.folder is not None
    gone = list(lines(sent.folder / "deletes.jsonl"))
    assert [each["record_id"] for each in gone] == ["leave:leave/asking@2025"]
    assert gone[0]["chunk_id"] == "leave:leave/asking"


def test_a_file_that_cannot_be_read_keeps_all_that_it_has_held(
    corpus: Corpus, store: Store
) -> None:
    """Its document is the one that fails."""
    superseded(corpus, store)
    before = dict(store.records)
    corpus.document("travel.md", "# Travel\n\nBook the train.\n")
    corpus.document("leave.md", b"\x00\x01\x02" * 1000)

    sent = delivered(corpus, store)

    assert sent.outcomes == {"leave": "failed", "travel.md": "ok"}
    assert before.items() <= store.records.items()


def test_files_of_one_document_stand_side_by_side(corpus: Corpus, store: Store) -> None:
    """Where they are in force from different days."""
    said = leave(20, version="2023", effective_from="2023-01-01")
    corpus.document("leave-2023.md", said)

    sent = delivered(corpus, store)

    assert sent.deletes == sent.metadata_updates == 0
    assert answers(store, "2023-06-01") == [20]
    assert answers(store, "2024-06-01") == [25]
    assert synced(corpus).run is None


def test_files_of_one_wording_are_an_error_that_names_both(
    corpus: Corpus, store: Store
) -> None:
    """Nobody could say which of them holds."""
    said = leave(20, version="2023", effective_from="2024-01-01")
    corpus.document("copy.md", said)

    with pytest.raises(SituateError, match=r"leave\.md.*copy\.md.*effective_from"):
        synced(corpus)
    assert store.records


def test_lines_of_a_manifest_may_be_wordings_of_one_document(tmp_path: Path) -> None:
    """The manifest says since when each is in force."""
    corpus = Corpus(folder=tmp_path)
    listed = [
        {"path": f"{year}.md", "doc_id": "leave", "version": year, "metadata": said}
        for year in ("2024", "2025")
        for said in [{"effective_from": f"{year}-01-01"}]
    ]
    corpus.document("2024.md", leave(25))
    corpus.document("2025.md", leave(28))
    corpus.document("m.jsonl", "".join(json.dumps(each) + "\n" for each in listed))
    corpus.configure(corpus={"documents": "docs/m.jsonl"}, **KEEPING)
    store = Store()

    delivered(corpus, store)

    assert answers(store, "2024-06-01") == [25]
    assert answers(store, "2025-06-01") == [28]


@pytest.mark.parametrize("all_of_it", [True, False], ids=["document", "wording"])
def test_a_file_that_is_gone_withdraws_nothing(
    corpus: Corpus, store: Store, all_of_it: bool
) -> None:
    """Also where the listing is complete; the summary names it as kept."""
    said = leave(20, version="2023", effective_from="2023-01-01")
    corpus.document("leave-2023.md", said)
    corpus.document("travel.md", "# Travel\n\nBook the train.\n")
    delivered(corpus, store)
    before = dict(store.records)
    (corpus.folder / "docs" / "leave-2023.md").unlink()
    if all_of_it:
        (corpus.folder / "docs" / "leave.md").unlink()

    sent = delivered(corpus, store)

    assert sent.run is None
    assert sent.exit_code == 0
    assert store.records == before
    assert sent.outcomes["leave"] == ("kept" if all_of_it else "unchanged")


def test_a_manifest_withdraws_a_document_with_all_its_wordings(
    corpus: Corpus, store: Store
) -> None:
    """A line without a version speaks of all of them."""
    superseded(corpus, store)
    corpus.document("travel.md", "# Travel\n\nBook the train.\n")
    (corpus.folder / "docs" / "leave.md").unlink()
    withdraw(corpus, {"doc_id": "leave"})

    sent = delivered(corpus, store)

    assert sent.outcomes["leave"] == "deleted"
    assert {record["doc_id"] for record in store.records.values()} == {"travel.md"}


@pytest.mark.parametrize(
    "named",
    [{"version": "2025"}, {"metadata": {"effective_from": "2025-01-01"}}],
    ids=["version", "date"],
)
def test_a_manifest_withdraws_one_wording_and_the_one_before_it_goes_on(
    corpus: Corpus, store: Store, named: dict[str, object]
) -> None:
    """By its version or by the day it came into force."""
    superseded(corpus, store)
    corpus.document("leave.md", leave(25, version="2024", effective_from="2024-01-01"))
    withdraw(corpus, {"doc_id": "leave", **named})

    sent = delivered(corpus, store)

    assert (sent.upserts, sent.metadata_updates, sent.deletes) == (0, 4, 4)
    assert answers(store, "2026-01-01") == [25]
    assert sent.outcomes["leave"] == "unchanged"


def test_a_file_of_a_wording_that_is_withdrawn_is_refused(
    corpus: Corpus, store: Store
) -> None:
    """One of the two is a mistake, and the wording stays deleted."""
    superseded(corpus, store)
    corpus.document("travel.md", "# Travel\n\nBook the train.\n")
    withdraw(corpus, {"doc_id": "leave", "version": "2025"})

    sent = delivered(corpus, store)

    assert sent.exit_code == 3
    assert "m.jsonl:1" in sent.failed[0].message
    assert answers(store, "2026-01-01") == [25]


def test_a_wording_whose_deletion_is_withheld_still_ends_the_one_before_it(
    corpus: Corpus, store: Store
) -> None:
    """There are never two for one day."""
    superseded(corpus, store)
    corpus.document("leave.md", leave(25, version="2024", effective_from="2024-01-01"))
    withdraw(corpus, {"doc_id": "leave", "version": "2025"})
    corpus.configure(corpus=LISTED, **{**KEEPING, "output": {"max_delete_share": 0}})

    sent = delivered(corpus, store)

    assert sent.withheld == 4
    assert answers(store, "2026-01-01") == [28]
    assert delivered(corpus, store, allow_deletes=4).deletes == 4
    assert answers(store, "2026-01-01") == [25]


def test_an_earlier_end_of_its_own_stays(corpus: Corpus, store: Store) -> None:
    """A gap is a gap: nothing was in force then."""
    said = leave(
        25, version="2024", effective_from="2024-01-01", effective_to="2024-06-30"
    )
    corpus.document("leave.md", said)

    delivered(corpus, store)
    superseded(corpus, store)

    assert answers(store, "2024-06-30") == [25]
    assert answers(store, "2024-07-01") == []


def test_a_section_that_would_begin_after_its_wording_ended_is_never_in_force(
    corpus: Corpus, store: Store
) -> None:
    """Its record stays, and no day finds it."""
    said = leave(25, version="2024", effective_from="2024-01-01")
    later = said.replace("## Asking", "## Asking {effective_from=2025-07-01}")
    corpus.document("leave.md", later)
    delivered(corpus, store)
    superseded(corpus, store)

    record = store.records["leave:leave/asking@2024"]

    assert record["metadata"]["effective_from"] == "2025-07-01"
    assert record["metadata"]["effective_to"] == "2024-12-31"
    assert not in_force(record, "2025-08-01")


def test_setting_an_end_sends_metadata_alone(corpus: Corpus, store: Store) -> None:
    """Of the wording that has it."""
    before = store.embedded
    said = leave(
        25, version="2024", effective_from="2024-01-01", effective_to="2024-06-30"
    )
    corpus.document("leave.md", said)

    sent = delivered(corpus, store)

    assert (sent.upserts, sent.metadata_updates, sent.deletes) == (0, 4, 0)
    assert store.embedded == before


def test_a_wording_without_a_date_after_one_with_a_date_is_told(
    corpus: Corpus, store: Store
) -> None:
    """It would hold before all others only, which is hardly meant."""
    from situate.pipeline.living.syncing import sync

    corpus.document("leave.md", leave(30, version="2026"))
    heard = Heard()

    sync(config_of(corpus), heard)

    assert any("names no effective_from" in note for note in heard.notes)
    assert store.records


def test_a_file_that_goes_back_to_an_earlier_wording_withdraws_no_later_one(
    corpus: Corpus, store: Store
) -> None:
    """Who restores an old file by mistake does not undo a rule."""
    superseded(corpus, store)
    before = dict(store.records)
    corpus.document("leave.md", leave(25, version="2024", effective_from="2024-01-01"))

    sent = delivered(corpus, store)

    assert sent.run is None
    assert store.records == before


def test_upserts_are_records_that_can_be_checked(corpus: Corpus) -> None:
    """With their names, which chunks files do not have."""
    from situate.check import check

    sent = synced(corpus)
    assert sent.folder is not None

    report = check(sent.folder / "upserts.jsonl", max_tokens=512)

    assert report.chunks == 4
    assert not report.broken


def test_a_run_has_one_file_for_each_document(corpus: Corpus) -> None:
    """What it writes has no place for two."""
    corpus.document("other.md", leave(28, effective_from="2025-01-01"))

    result = corpus.run()

    assert result.exit_code == 1
    assert "both have doc_id 'leave'" in str(result.reason)


def test_a_line_that_deletes_a_wording_names_its_document(
    corpus: Corpus, store: Store
) -> None:
    """A path would do for a document, and be another id than its own."""
    withdraw(corpus, {"path": "leave.md", "version": "2024"})

    with pytest.raises(ConfigError, match=r"m\.jsonl:1: doc_id is missing"):
        synced(corpus)
    assert store.records


def test_a_document_is_not_deleted_and_listed_at_once(corpus: Corpus) -> None:
    """A line without a version would delete what the other lists."""
    text = '{"path": "leave.md", "doc_id": "leave"}\n'
    withdraw(corpus, {"doc_id": "leave"})
    path = corpus.folder / "docs" / "m.jsonl"
    path.write_text(text + path.read_text("utf-8"), "utf-8")

    with pytest.raises(ConfigError, match=r"m\.jsonl:2: doc_id 'leave' stands in"):
        synced(corpus)


def test_to_keep_all_from_now_on_renames_nothing(tmp_path: Path) -> None:
    """What is there keeps the ids of chunks; a wording that comes has its version."""
    corpus = Corpus(folder=tmp_path)
    latest = {key: KEEPING[key] for key in ("chunking", "output")}
    corpus.document("leave.md", leave(25, version="2024", effective_from="2024-01-01"))
    store = Store()
    delivered(corpus.configure(**latest), store)
    corpus.configure(**KEEPING)
    nothing = synced(corpus)

    sent = superseded(corpus, store)

    assert nothing.run is None
    assert (sent.upserts, sent.metadata_updates, sent.deletes) == (4, 4, 0)
    assert {"leave:leave/days", "leave:leave/days@2025"} <= store.records.keys()
    assert answers(store, "2024-06-01") == [25]


def test_to_keep_the_latest_from_now_on_is_held_to_the_share_of_deletions(
    corpus: Corpus, store: Store
) -> None:
    """Wordings are not lost by a word in a config."""
    superseded(corpus, store)
    few = {**KEEPING, "output": {"max_delete_share": 0.01}}
    del few["versions"]
    corpus.configure(**few)

    sent = delivered(corpus, store)

    assert sent.exit_code == 3
    assert sent.withheld == 8
    assert delivered(corpus, store, allow_deletes=8).deletes == 8
    assert {record["record_id"] for record in store.records.values()} == {
        record["chunk_id"] for record in store.records.values()
    }


def test_an_inventory_names_records(corpus: Corpus, store: Store) -> None:
    """What is lost comes again; a wording that nobody knows is left alone."""
    superseded(corpus, store)
    lost = store.records.pop("leave:leave/days@2024")
    listing = store.ids(corpus.folder / "ids.jsonl")
    with listing.open("a", encoding="utf-8") as file:
        file.write('"leave:leave/days@1999"\n')

    finding, sent = verify(config_of(corpus), listing)

    assert finding.missing == ("leave:leave/days@2024",)
    assert finding.foreign == ("leave:leave/days@1999",)
    assert sent.folder is not None
    store.take_in(sent.folder)
    assert store.records["leave:leave/days@2024"] == lost


def test_a_revert_opens_the_wording_before(corpus: Corpus, store: Store) -> None:
    """The store has what it had."""
    before = dict(store.records)
    sent = superseded(corpus, store)
    assert sent.run is not None

    back = revert(config_of(corpus), sent.run)

    assert back.run is not None
    assert back.folder is not None
    store.take_in(back.folder)
    assert acknowledge(config_of(corpus), back.run)
    assert store.records == before


def test_two_tiny_siblings_with_different_ends_stay_apart(tmp_path: Path) -> None:
    """Each can be found for its own days (C12)."""
    corpus = Corpus(folder=tmp_path).configure()
    corpus.document(
        "fees.md",
        "# Fees\n\n## Old {effective_to=2025-12-31}\n\nTen.\n\n## New\n\nTwelve.\n",
    )
    store = Store()

    delivered(corpus, store)

    texts = [record["text"] for record in force(store, "2026-01-01")]
    assert [text for text in texts if "Twelve." in text]
    assert not [text for text in texts if "Ten." in text]


def test_a_plan_reads_what_a_sync_reads(tmp_path: Path) -> None:
    """Two files of one document are two wordings for both."""
    corpus = Corpus(folder=tmp_path).configure(
        enrichment=asking("http://127.0.0.1:9/v1", max_total_tokens=10**6), **KEEPING
    )
    for year in ("2024", "2025"):
        said = leave(25, version=year, effective_from=f"{year}-01-01")
        corpus.document(f"{year}.md", said)
    configs = [config_of(corpus)]

    (forecast,) = forecasts(configs, Heard())
    (egress,) = egress_plans(configs, Heard())

    assert forecast.documents == egress.read == 2
    assert corpus.run().exit_code == 1
