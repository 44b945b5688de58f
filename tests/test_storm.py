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

pytestmark = pytest.mark.xdist_group("calm runs")

SECTIONS = 6
DOCUMENTS = {"full": 3, "marked": 18}
"""For each view, so that it takes as many requests."""

REQUESTS = 18
LEAVES = DOCUMENTS["full"] * SECTIONS

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


PLAYED = (
    ("marked", "every second call is a 429"),
    ("full", "every second call is a 503"),
    ("full", "every second connection is reset"),
    ("marked", "every fourth call is never answered"),
    ("marked", "everything at once"),
    ("full", "everything at once"),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """A run through a storm, and what the server saw of it."""

    view: str
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


MODELS = {"openai": "gpt-5.4-mini", "anthropic": "claude-haiku-5-5"}


def play(
    folder: Path,
    script: Script,
    *,
    vendor: str = "openai",
    view: str = "full",
    max_attempts: int = FEW,
) -> Outcome:
    """Run over a corpus while a server behaves as the script says."""
    corpus = Corpus(folder=folder)
    for number in range(DOCUMENTS[view]):
        corpus.document(f"{number:02}.md", agreement(number, SECTIONS))
    with speaking(script) as model:
        openai = vendor == "openai"
        keys = asking(
            model.openai_url if openai else model.anthropic_url,
            provider=vendor,
            model=MODELS[vendor],
            view=view,
            concurrency=8,
            max_attempts=max_attempts,
            max_usd=100,
            # Bounds the backoff as well, so that the suite does not wait for it.
            max_wait_seconds=0.2,
            timeout_seconds=1.0,
        )
        corpus.configure(enrichment=keys)
        result = corpus.run()
        return Outcome(view=view, corpus=corpus, result=result, seen=model.statistics)


@pytest.fixture(scope="module", params=DOCUMENTS)
def calm(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Outcome:
    """A run that nothing disturbs."""
    view = str(request.param)
    return play(tmp_path_factory.mktemp(f"calm-{view}"), Script(), view=view)


def test_without_a_storm_nothing_is_sent_twice(calm: Outcome) -> None:
    """What the storms are compared with is complete itself."""
    assert calm.result.exit_code == 0
    assert calm.seen.calls == len(calm.seen.requests) == REQUESTS
    assert len(calm.statements) == DOCUMENTS[calm.view] * SECTIONS
    assert None not in calm.statements


@pytest.mark.parametrize(("calm", "weather"), PLAYED, indirect=["calm"])
def test_a_storm_loses_no_statement(
    tmp_path: Path, calm: Outcome, weather: str
) -> None:
    """Output is that of a quiet run; no request is sent more than allowed (E7)."""
    turns, retry_after, max_attempts = STORMS[weather]
    script = Script(turns=turns, retry_after_seconds=retry_after)

    storm = play(tmp_path, script, view=calm.view, max_attempts=max_attempts)

    assert storm.result.exit_code == 0
    assert storm.corpus.chunks.read_bytes() == calm.corpus.chunks.read_bytes()
    assert set(storm.seen.requests) == set(calm.seen.requests)
    assert storm.seen.calls > REQUESTS
    assert max(storm.seen.requests.values()) <= max_attempts
    assert storm.seen.answers == REQUESTS
    assert storm.seen.calls == storm.corpus.manifest["spent"]["attempts"]


def test_a_storm_on_the_other_vendors_route_loses_no_statement(tmp_path: Path) -> None:
    """Both vendors' errors lead to the one retry layer."""
    turns: tuple[Turn, ...] = ("answer", "rate_limited")
    script = Script(turns=turns, retry_after_seconds=TOLD)

    storm = play(tmp_path, script, vendor="anthropic", view="marked")

    assert storm.result.exit_code == 0
    assert None not in storm.statements
    assert storm.seen.answers == REQUESTS
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
