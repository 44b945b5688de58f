"""`mode = "batch"`: a run hands over what is open, and publishes what there is."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, cast

import pytest

from situate.check import check
from tests.support.batch_corpora import SECTIONS, BatchCorpus
from tests.support.batches import VendorName, batching

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

COUNT = 2 * SECTIONS


@pytest.fixture(params=["anthropic", "openai"])
def desk(
    request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Iterator[BatchCorpus]:
    """Write a corpus that asks one vendor in batches."""
    monkeypatch.setenv(f"{request.param.upper()}_API_KEY", "a-key-for-loopback")
    with batching(cast("VendorName", request.param)) as vendor:
        yield BatchCorpus.of(tmp_path, vendor, mode="batch")


def _statuses(desk: BatchCorpus) -> Counter[str]:
    return Counter(
        record["metadata"]["enrichment"]["reason"]
        or record["metadata"]["enrichment"]["status"]
        for record in desk.corpus.records
    )


def test_a_run_hands_over_and_publishes_without_waiting(desk: BatchCorpus) -> None:
    """The chunks are there at once; the next run has their statements."""
    first = desk.corpus.run()
    waiting = _statuses(desk)
    second = desk.corpus.run()
    desk.vendor.end_all()
    third = desk.corpus.run()

    assert [r.exit_code for r in (first, second, third)] == [3, 3, 0]
    assert waiting == {"pending": COUNT}
    assert "wait" in str(first.reason) or "batch" in str(first.reason)
    assert _statuses(desk) == {"statement": COUNT}
    assert set(desk.vendor.taken_in.values()) == {1}
    assert len(desk.vendor.batches) == 1
    assert check(desk.corpus.chunks).findings == []


def test_a_run_that_is_repeated_costs_nothing(desk: BatchCorpus) -> None:
    """Batch and live share their answers."""
    desk.corpus.run()
    desk.vendor.end_all()
    done = desk.corpus.run()
    desk.configure(mode="live")
    again = desk.corpus.run()

    assert done.exit_code == again.exit_code == 0
    assert again.spent is not None
    assert again.spent.requests == 0
    assert again.spent.cache_hits == COUNT


def test_marked_documents_go_through_a_batch(desk: BatchCorpus) -> None:
    """One request of the batch answers for all chunks of a document."""
    desk.configure(mode="batch", view="marked")

    desk.corpus.run()
    desk.vendor.end_all()
    last = desk.corpus.run()

    assert last.exit_code == 0
    assert sum(desk.vendor.taken_in.values()) == 2
    assert _statuses(desk) == {"statement": COUNT}
