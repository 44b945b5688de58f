"""What was paid for is used and counted, however oddly a server says so."""

from __future__ import annotations

import json
from decimal import Decimal
from typing import TYPE_CHECKING, Any

import httpx
import pytest

from situate.enrichment.exchange import Reply
from situate.enrichment.providers.scripted import ScriptedProvider
from situate.errors import RateLimited, TransientError, Unanswered
from situate.usage import Usage
from tests.enrichment.scenes import (
    GOOD,
    PRICES,
    VirtualTime,
    document,
    play,
    texts,
)
from tests.support.http import mocked
from tests.support.vendors import KEY, VENDORS, Vendor

if TYPE_CHECKING:
    from pathlib import Path

ONE = document(*texts(1))
FORTY = document(*texts(40))
FULL_PRICE = Decimal("0.5")
"""Less than what any of these requests may cost, more than what a reply says."""


def _said(usage: Usage | None) -> Reply:
    return Reply(text=GOOD, stop="end", usage=usage, model="answering-model")


@pytest.mark.parametrize("vendor", VENDORS, ids=lambda vendor: vendor.name)
@pytest.mark.parametrize(
    "odd",
    [
        pytest.param({"usage": None}, id="no-usage"),
        pytest.param({"usage": {}}, id="empty-usage"),
        pytest.param(
            {"usage": {"prompt_tokens": -5, "input_tokens": -5}}, id="negative-usage"
        ),
        pytest.param({"finish": "tool_calls"}, id="tool-calls"),
        pytest.param({"finish": None}, id="no-reason"),
    ],
)
def test_a_perfect_sentence_in_an_odd_reply_is_paid_for_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, vendor: Vendor, odd: dict[str, Any]
) -> None:
    """It is used, stored, and on the bill (E2, E3)."""
    monkeypatch.setenv(vendor.variable, KEY)
    choice = {
        "finish_reason": odd.get("finish", "stop"),
        "message": {"role": "assistant", "content": GOOD},
    }
    reply = {
        **vendor.reply,
        "content": [{"type": "text", "text": GOOD}],
        "stop_reason": odd.get("finish", "end_turn"),
        "choices": [choice],
        "usage": odd.get("usage", vendor.reply["usage"]),
    }

    limits: dict[str, Any] = {"prices": PRICES, "max_usd": Decimal(100)}

    with mocked() as router:
        route = router.post(vendor.url).respond(200, json=reply)
        first = play(vendor.provider(), tmp_path, ONE, **limits)
    second = play(vendor.provider(), tmp_path, ONE, **limits)

    assert first.outcomes == second.outcomes == [GOOD]
    assert route.call_count == 1
    assert second.summary.attempts == 0
    assert first.summary.cost_usd != second.summary.cost_usd == 0


@pytest.mark.parametrize(
    ("usage", "words"),
    [
        pytest.param(None, "did not say", id="none"),
        pytest.param(Usage(), "read 0", id="free"),
        pytest.param(
            Usage(uncached_input=10**9, output=20), "read 1000000000", id="too-much"
        ),
    ],
)
def test_a_usage_nobody_can_believe_counts_as_the_most_and_is_said_once(
    tmp_path: Path, usage: Usage | None, words: str
) -> None:
    """The run goes on at its pace, and its limit holds."""
    time = VirtualTime()
    ledger = tmp_path / "ledger.jsonl"

    result = play(
        ScriptedProvider(lambda _: _said(usage)),
        tmp_path,
        FORTY,
        time=time,
        prices=PRICES,
        max_usd=Decimal(100),
        tokens_per_minute=1_000_000,
        ledger=ledger,
    )

    summary = result.summary
    lines = [json.loads(line) for line in ledger.read_text().splitlines()]
    assert summary.statements == 40
    assert summary.stopped is None
    assert time.now < 60
    assert summary.usage == Usage()
    assert summary.cost_usd is not None
    assert summary.cost_usd > 40 * FULL_PRICE
    assert summary.cost_usd == sum(Decimal(line["cost_usd"]) for line in lines)
    assert {line["usage"] for line in lines} == {None}
    (warning,) = [told for told in summary.warnings if "usage" in told]
    assert words in warning


@pytest.mark.parametrize(
    ("failure", "cost"),
    [
        pytest.param(Unanswered("late", usage=None), FULL_PRICE, id="timed-out"),
        pytest.param(
            Unanswered("broken", usage=Usage(uncached_input=300, output=20)),
            Decimal("0.32"),
            id="broken-with-usage",
        ),
        pytest.param(Unanswered("html", usage=Usage()), Decimal(0), id="broken"),
        pytest.param(TransientError("refused"), Decimal(0), id="never-sent"),
        pytest.param(
            RateLimited("429", retry_after_seconds=1), Decimal(0), id="refused"
        ),
    ],
)
def test_every_attempt_that_may_be_billed_is_on_the_bill(
    tmp_path: Path, failure: TransientError, cost: Decimal
) -> None:
    """What a timed-out request cost nobody says, so the most is taken (E2)."""
    answer = _said(Usage(uncached_input=500, output=20))
    ledger = tmp_path / "ledger.jsonl"

    result = play(
        ScriptedProvider([failure, failure, answer]),
        tmp_path,
        ONE,
        prices=PRICES,
        max_usd=Decimal(100),
        ledger=ledger,
    )

    spent = result.summary.cost_usd
    (line,) = [json.loads(line) for line in ledger.read_text().splitlines()]
    assert result.outcomes == [GOOD]
    assert spent is not None
    assert Decimal(line["cost_usd"]) == spent
    if cost == FULL_PRICE:
        assert spent - Decimal("0.52") >= 2 * cost
    else:
        assert spent - Decimal("0.52") == 2 * cost


def test_requests_that_time_out_stop_before_the_limit(tmp_path: Path) -> None:
    """A vendor that works for nobody is not asked for ever (E2)."""
    provider = ScriptedProvider(lambda _: Unanswered("late", usage=None))

    result = play(
        provider, tmp_path, FORTY, prices=PRICES, max_usd=Decimal(5), concurrency=1
    )

    assert result.summary.stopped == "budget"
    assert result.summary.cost_usd is not None
    assert result.summary.cost_usd <= 5


def test_a_request_given_up_is_noted_with_what_it_may_have_cost(
    tmp_path: Path,
) -> None:
    """The ledger says it, whether or not there was an answer."""
    ledger = tmp_path / "ledger.jsonl"

    result = play(
        ScriptedProvider(lambda _: Unanswered("late", usage=None)),
        tmp_path,
        ONE,
        prices=PRICES,
        max_usd=Decimal(100),
        max_attempts=2,
        ledger=ledger,
    )

    (line,) = [json.loads(line) for line in ledger.read_text().splitlines()]
    assert (line["outcome"], line["attempts"]) == ("unavailable", 2)
    assert line["usage"] is None
    assert Decimal(line["cost_usd"]) == result.summary.cost_usd != 0


def test_an_answer_that_breaks_off_for_no_known_reason_is_asked_for_once_more(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As after a limit on output; never as often as a lost connection."""
    (vendor,) = [each for each in VENDORS if each.name == "openai"]
    monkeypatch.setenv(vendor.variable, KEY)
    message = {"role": "assistant", "content": "Employees who renew"}
    choices = [{"finish_reason": "tool_calls", "message": message}]

    with mocked() as router:
        route = router.post(vendor.url)
        route.mock(
            side_effect=lambda _: httpx.Response(
                200, json={**vendor.reply, "choices": choices}
            )
        )
        result = play(vendor.provider(), tmp_path, ONE)

    assert result.outcomes == ["truncated"]
    assert route.call_count == 2
