"""What is said of statements that did not come: the reason for exit code 3."""

from __future__ import annotations

from collections.abc import Mapping

import pytest

from situate.pipeline.shortfall import Stated

DOWN = "outage: 3 requests in a row failed on every attempt"

Counts = Mapping[str, int]


def told(
    *,
    fallbacks: Counts | None = None,
    skipped: Counts | None = None,
    overdue: int = 0,
    stopped: str | None = DOWN,
) -> str | None:
    """Say what kept a run from being all that was asked for."""
    return Stated(
        statements=overdue,
        overdue=overdue,
        fallbacks=fallbacks or {},
        skipped=skipped or {},
        requests=3,
        cost_usd=None,
        stopped=stopped,
    ).shortfall(0.01)


@pytest.mark.parametrize(
    ("fallbacks", "skipped", "overdue", "expected"),
    [
        ({}, {"outage": 4}, 0, "4 chunks were not asked about"),
        ({}, {"outage": 4, "no_prose": 9}, 0, "4 chunks were not asked about"),
        (
            *({}, {"outage": 4}, 2),
            "6 chunks were not asked about, 2 of which keep their statement of before",
        ),
        ({"unavailable": 3}, {}, 0, "3 chunks have no statement"),
        ({"rate_limited": 1}, {"outage": 4}, 0, "5 chunks have no statement"),
        ({"unavailable": 3, "url": 2}, {}, 0, "3 chunks have no statement"),
        (
            *({"unavailable": 3}, {"outage": 4}, 2),
            "7 chunks have no statement, 2 keep their statement of before",
        ),
    ],
)
def test_a_stop_counts_all_that_another_run_may_bring(
    fallbacks: Counts, skipped: Counts, overdue: int, expected: str
) -> None:
    """Asked about in vain or not at all; what was answered unfit is neither."""
    reason = told(fallbacks=fallbacks, skipped=skipped, overdue=overdue)

    assert reason == f"{expected}; {DOWN}"


def test_without_a_stop_chunks_that_failed_are_held_against_their_share() -> None:
    """Whatever they failed by."""
    reason = told(fallbacks={"unavailable": 3}, stopped=None)

    assert reason is not None
    assert reason.startswith("3 of 3 chunks got no statement")
