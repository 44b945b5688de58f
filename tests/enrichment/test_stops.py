"""What ends enrichment, and what is left when it ends."""

from __future__ import annotations

import asyncio
import json
from decimal import Decimal
from typing import TYPE_CHECKING, Any

import pytest

from situate.enrichment.cache import Cache
from situate.enrichment.ledger import Ledger
from situate.enrichment.live import Session
from situate.enrichment.providers.scripted import ScriptedProvider
from situate.errors import (
    AuthenticationFailed,
    ConfigError,
    ModelUnknown,
    ProviderUnusable,
    QuotaExhausted,
    RateLimited,
    TransientError,
)
from situate.prompts import load_prompt
from tests.enrichment.scenes import (
    COUNTER,
    GOOD,
    PRICES,
    asked_about,
    chunks_of,
    document,
    facts,
    play,
    reply,
    settings,
    texts,
)

if TYPE_CHECKING:
    from pathlib import Path

    from situate.enrichment.exchange import Body

FORTY = document(*texts(40))


def _limited(seconds: float | None) -> RateLimited:
    return RateLimited("429", retry_after_seconds=seconds)


def _number_of(body: Body) -> int:
    return int(asked_about(body).rsplit(" ", 1)[1].rstrip("."))


def _answer_to(body: Body) -> str:
    return f"Spending caps for renewed cover of grade {_number_of(body)}."


@pytest.mark.parametrize(
    "error",
    [
        AuthenticationFailed("401: check the key"),
        ModelUnknown("404: no such model"),
        ProviderUnusable("404: check base_url"),
    ],
    ids=["key", "model", "address"],
)
def test_a_wrong_setting_is_found_by_the_first_request(
    tmp_path: Path, error: ProviderUnusable
) -> None:
    """It goes alone, and the run fails with its words."""
    provider = ScriptedProvider(lambda _: error)

    with pytest.raises(type(error), match=str(error)):
        play(provider, tmp_path, FORTY, document(*texts(3), doc_id="b"))

    assert len(provider.bodies) == 1
    assert provider.closed


@pytest.mark.parametrize(
    ("error", "reason"),
    [
        (AuthenticationFailed("401"), "authentication"),
        (ModelUnknown("404"), "model_unknown"),
        (ProviderUnusable("404"), "unusable"),
        (QuotaExhausted("402"), "quota"),
    ],
)
def test_the_same_later_stops_enrichment_and_keeps_the_answers(
    tmp_path: Path, error: ProviderUnusable, reason: str
) -> None:
    """A key that is withdrawn at night costs no chunk and no paid answer."""

    def withdrawn(body: Body) -> Any:
        return error if _number_of(body) >= 5 else _answer_to(body)

    result = play(ScriptedProvider(withdrawn), tmp_path, FORTY, concurrency=1)

    assert result.summary.stopped == reason
    assert result.summary.statements == 5
    assert result.summary.skipped == {reason: 35}
    assert [c.chunk_id for c in result.chunks] == [c.chunk_id for c in chunks_of(FORTY)]


def test_an_empty_account_stops_from_the_first_request_on(tmp_path: Path) -> None:
    """Nothing is misconfigured, so the chunks are published."""
    result = play(ScriptedProvider([QuotaExhausted("402")]), tmp_path, FORTY)

    assert result.summary.skipped == {"quota": 40}


def test_spending_stops_before_the_limit(tmp_path: Path) -> None:
    """Scene L30: the rest keep their breadcrumb, and the next run goes on."""
    # At a dollar per thousand tokens a request of about 2,500 costs about 2.5.
    provider = ScriptedProvider(lambda body: reply(_answer_to(body), tokens=2500))

    first = play(
        provider, tmp_path, FORTY, prices=PRICES, max_usd=Decimal(30), concurrency=4
    )

    assert first.summary.cost_usd is not None
    assert Decimal(20) < first.summary.cost_usd <= Decimal(30)
    assert first.summary.stopped == "budget"
    assert "max_usd = 30" in str(first.summary.stop_message)
    assert first.summary.skipped == {"budget": 40 - first.summary.statements}
    rest = ScriptedProvider(_answer_to)
    second = play(rest, tmp_path, FORTY, prices=PRICES, max_usd=Decimal(1000))
    assert second.summary.statements == 40
    assert len(rest.bodies) == 40 - first.summary.statements


def test_answers_at_hand_are_used_after_the_stop(tmp_path: Path) -> None:
    """They cost nothing, so no limit keeps them back."""
    half = document(*texts(20))
    play(ScriptedProvider(_answer_to), tmp_path, half)
    new = document(*texts(2), doc_id="new", title="New")

    result = play(ScriptedProvider([]), tmp_path, new, half, max_total_tokens=1)

    assert result.summary.statements == 20
    assert result.summary.skipped == {"budget": 2}


def test_tokens_are_limited_where_no_price_is_known(tmp_path: Path) -> None:
    """E2: `max_total_tokens` serves there."""
    provider = ScriptedProvider(lambda body: reply(_answer_to(body), tokens=2500))

    result = play(provider, tmp_path, FORTY, max_total_tokens=20_000)

    used = result.summary.usage
    assert 10_000 < used.input + used.output <= 20_000
    assert result.summary.cost_usd is None
    assert result.summary.stopped == "budget"


@pytest.mark.parametrize(
    ("prices", "max_usd", "message"),
    [(PRICES, None, "max_usd is required"), (None, Decimal(5), "no price is known")],
)
def test_limits_have_to_fit_the_model(
    tmp_path: Path, prices: Any, max_usd: Decimal | None, message: str
) -> None:
    """Spending without a limit, or a limit nobody can keep, is a config error."""
    with pytest.raises(ConfigError, match=message):
        play(ScriptedProvider([]), tmp_path, FORTY, prices=prices, max_usd=max_usd)


def test_a_cache_that_cannot_be_written_stops_enrichment(tmp_path: Path) -> None:
    """Scene L37: what was answered is used, the rest is not paid for blindly."""

    def break_the_third(body: Body) -> str:
        if len(provider.bodies) == 3:
            cache._store._sql("DROP TABLE Cache")
        return _answer_to(body)

    provider = ScriptedProvider(break_the_third)
    with Cache(tmp_path) as cache:
        summary, chunks = asyncio.run(_enriched(provider, cache))

    assert summary.stopped == "cache"
    assert summary.statements == 3
    assert summary.skipped == {"cache": 37}
    assert len(provider.bodies) == 3
    assert len(chunks) == 40


async def _enriched(provider: ScriptedProvider, cache: Cache) -> Any:
    async with Session(
        settings=settings(concurrency=1),
        prompt=load_prompt("findable-v1"),
        provider=provider,
        cache=cache,
        ledger=None,
        counter=COUNTER,
        facts=facts(),
    ) as session:
        chunks = await session.enrich(FORTY, chunks_of(FORTY))
        return session.summary, chunks


def test_a_ledger_that_cannot_be_written_stops_enrichment(tmp_path: Path) -> None:
    """Nothing is spent that cannot be accounted for."""

    class Full(Ledger):
        def write(self, entry: object) -> None:  # noqa: ARG002 - as it is called
            raise OSError(28, "No space left on device")

    async def run() -> Any:
        with Cache(tmp_path / "cache") as cache, Full(tmp_path / "ledger") as ledger:
            async with Session(
                settings=settings(),
                prompt=load_prompt("findable-v1"),
                provider=provider,
                cache=cache,
                ledger=ledger,
                counter=COUNTER,
                facts=facts(),
            ) as session:
                await session.enrich(FORTY, chunks_of(FORTY))
                return session.summary

    provider = ScriptedProvider(_answer_to)
    summary = asyncio.run(run())

    assert summary.stopped == "ledger"
    assert summary.statements == 1
    assert len(provider.bodies) == 1


def test_a_call_off_hangs_nobody_and_loses_no_answer(tmp_path: Path) -> None:
    """Cancelled work is cancelled; what had been answered is there next time."""
    at_the_tenth = asyncio.Event()

    async def hang_at_the_tenth(body: Body) -> str:
        if len(provider.bodies) == 10:
            at_the_tenth.set()
            await asyncio.Event().wait()
        return _answer_to(body)

    async def run() -> None:
        with Cache(tmp_path / "cache") as cache:
            task = asyncio.create_task(_enriched(provider, cache))
            await at_the_tenth.wait()
            task.cancel()
            with pytest.raises(asyncio.CancelledError):
                await asyncio.wait_for(task, timeout=5)

    provider = ScriptedProvider(hang_at_the_tenth)
    asyncio.run(run())
    rest = ScriptedProvider(_answer_to)
    play(rest, tmp_path, FORTY)

    assert len(rest.bodies) == 31


def test_every_request_is_noted_with_what_it_cost(tmp_path: Path) -> None:
    """The ledger has no word of a document and nothing that is not accounted."""
    ledger = tmp_path / "ledger.jsonl"
    script = [
        TransientError("503"),
        reply(GOOD, tokens=2500),
        reply("", stop="refusal", tokens=2500),
    ]
    source = document("Secret sauce recipe.", "Secret fee table.")

    for provider in (ScriptedProvider(script), ScriptedProvider([])):
        play(
            provider, tmp_path, source,
            prices=PRICES, max_usd=Decimal(50), ledger=ledger, concurrency=1,
        )  # fmt: skip

    text = ledger.read_text()
    lines = [json.loads(line) for line in text.splitlines()]
    assert [
        (line["source"], line["outcome"], line["attempts"], line["cost_usd"])
        for line in lines
    ] == [
        ("wire", "answered", 2, "2.52"),
        ("wire", "refusal", 1, "2.52"),
        ("cache", "answered", 0, "0"),
        ("cache", "refusal", 0, "0"),
    ]
    assert lines[0]["usage"]["uncached_input"] == 2500
    assert lines[0]["chunk_ids"] == ["policy:part-0"]
    assert lines[0]["model_asked"] == "asked-model"
    assert lines[0]["model_answered"] == "answering-model"
    assert lines[2]["usage"] is None
    assert "Secret" not in text
    assert GOOD not in text
