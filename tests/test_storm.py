"""A provider in trouble costs time, never a statement and never a second payment."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import pytest

from tests.support.agreements import agreement
from tests.support.corpora import Corpus, asking
from tests.support.mock_model import Script, Statistics, speaking

if TYPE_CHECKING:
    from pathlib import Path

    from situate.pipeline.run import Result
    from tests.support.mock_model import Turn

DOCUMENTS, SECTIONS = 3, 6
LEAVES = DOCUMENTS * SECTIONS

FEW, AMPLE = 6, 20
"""Attempts: the default, and as many as it takes where nobody says when to come
back and every try has the same bad chance as the one before."""

TOLD, UNTOLD = 0.02, None
"""Seconds in `Retry-After`, or none."""

STORMS: dict[str, tuple[tuple[Turn, ...], float | None, int]] = {
    "every second call is a 429": (("answer", "rate_limited"), TOLD, FEW),
    "every second call is a 503": (("answer", "unavailable"), UNTOLD, AMPLE),
    "every second connection is reset": (("answer", "reset"), UNTOLD, AMPLE),
    "every fourth call is never answered": (
        ("answer", "answer", "answer", "hang"),
        UNTOLD,
        AMPLE,
    ),
    "everything at once": (
        ("rate_limited", "answer", "reset", "answer", "overloaded", "answer", "hang"),
        TOLD,
        AMPLE,
    ),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """A run through a storm, and what the server saw of it."""

    corpus: Corpus
    result: Result
    seen: Statistics

    @property
    def statements(self) -> list[str | None]:
        """What each chunk got, in order."""
        return [
            record["metadata"]["enrichment"]["statement"]
            for record in self.corpus.records
        ]


def play(
    folder: Path,
    script: Script,
    *,
    vendor: str = "openai",
    documents: int = DOCUMENTS,
    max_attempts: int = FEW,
) -> Outcome:
    """Run over a corpus while a server behaves as the script says."""
    corpus = Corpus(folder=folder)
    for number in range(documents):
        corpus.document(f"{number}.md", agreement(number, SECTIONS))
    with speaking(script) as model:
        openai = vendor == "openai"
        keys = asking(
            model.openai_url if openai else model.anthropic_url,
            provider=vendor,
            concurrency=8,
            max_attempts=max_attempts,
            max_total_tokens=10_000_000,
            # Bounds the backoff as well, so that the suite does not wait for it.
            max_wait_seconds=0.2,
            timeout_seconds=1,
        )
        corpus.configure(enrichment=keys)
        return Outcome(corpus=corpus, result=corpus.run(), seen=model.statistics)


@pytest.fixture(scope="module")
def calm(tmp_path_factory: pytest.TempPathFactory) -> Outcome:
    """A run that nothing disturbs."""
    return play(tmp_path_factory.mktemp("calm"), Script())


def test_without_a_storm_every_leaf_is_asked_about_once(calm: Outcome) -> None:
    """What the storms are compared with is complete itself."""
    assert calm.result.exit_code == 0
    assert calm.seen.calls == len(calm.seen.requests) == LEAVES
    assert len(calm.statements) == LEAVES
    assert None not in calm.statements


@pytest.mark.parametrize(
    ("turns", "retry_after", "max_attempts"), STORMS.values(), ids=STORMS
)
def test_a_storm_loses_no_statement(
    tmp_path: Path,
    calm: Outcome,
    turns: tuple[Turn, ...],
    retry_after: float | None,
    max_attempts: int,
) -> None:
    """Output is that of a quiet run; no request is sent more than allowed (E7)."""
    script = Script(turns=turns, retry_after_seconds=retry_after)

    storm = play(tmp_path, script, max_attempts=max_attempts)

    assert storm.result.exit_code == 0
    assert storm.corpus.chunks.read_bytes() == calm.corpus.chunks.read_bytes()
    assert set(storm.seen.requests) == set(calm.seen.requests)
    assert storm.seen.calls > LEAVES
    assert max(storm.seen.requests.values()) <= max_attempts
    assert storm.seen.answers == LEAVES
    assert storm.seen.calls == storm.corpus.manifest["spent"]["attempts"]


def test_a_storm_on_the_other_vendors_route_loses_no_statement(tmp_path: Path) -> None:
    """Both vendors' errors lead to the one retry layer."""
    turns: tuple[Turn, ...] = ("answer", "rate_limited")
    script = Script(turns=turns, retry_after_seconds=TOLD)

    storm = play(tmp_path, script, vendor="anthropic", documents=1)

    assert storm.result.exit_code == 0
    assert None not in storm.statements
    assert storm.seen.answers == len(storm.statements) == SECTIONS
    assert max(storm.seen.requests.values()) <= FEW


@pytest.mark.parametrize("turn", ["rate_limited", "unavailable", "reset"])
def test_a_storm_without_end_is_given_up(tmp_path: Path, turn: Turn) -> None:
    """An outage stops enrichment; chunks are published without statements (E10)."""
    script = Script(turns=(turn,), retry_after_seconds=TOLD)

    storm = play(tmp_path, script, max_attempts=2)

    assert storm.result.exit_code == 3
    assert storm.statements == [None] * LEAVES
    assert max(storm.seen.requests.values()) == 2
    # Three requests that fail on every attempt are an outage.
    assert storm.seen.calls == 3 * 2


def test_a_wait_beyond_the_limit_is_not_shortened(tmp_path: Path) -> None:
    """A provider that asks for an hour is left alone at once (E7)."""
    script = Script(turns=("answer", "rate_limited"), retry_after_seconds=3600)

    storm = play(tmp_path, script)

    assert storm.result.exit_code == 3
    assert storm.seen.calls < LEAVES
    assert sum(told is not None for told in storm.statements) == storm.seen.answers
