"""What both vendors' batch systems are told, and how their answers are read."""

from __future__ import annotations

import asyncio
import json
from io import BytesIO
from typing import TYPE_CHECKING, Any

import pytest

from situate.enrichment.providers.batching import (
    BatchItem,
    BatchProvider,
    Parcel,
    open_batches,
)
from situate.errors import (
    AuthenticationFailed,
    ConfigError,
    ProviderError,
    RateLimited,
    RequestRejected,
    TransientError,
    Unanswered,
)
from tests.support.batches import BatchVendor, Fault, VendorName, batching, sentence
from tests.support.vendors import ANTHROPIC, OPENAI

if TYPE_CHECKING:
    from collections.abc import Callable, Coroutine, Iterator

KEYS = [f"{number:064x}" for number in range(4)]
VENDORS = {"anthropic": ANTHROPIC, "openai": OPENAI}


@pytest.fixture(params=["anthropic", "openai"])
def server(request: pytest.FixtureRequest) -> Iterator[BatchVendor]:
    """Serve each vendor's batch system in turn."""
    name: VendorName = request.param
    with batching(name) as running:
        yield running


def provider(server: BatchVendor, **changes: Any) -> BatchProvider:
    """Open the batch system as config would."""
    settings = {"base_url": server.base_url, "endpoint": None, "timeout_seconds": 5}
    return open_batches(server.name, **{**settings, **changes})


def use(
    batches: BatchProvider, work: Callable[[BatchProvider], Coroutine[None, None, Any]]
) -> Any:
    """Do something with a batch system in a loop of its own."""

    async def run() -> Any:
        try:
            return await work(batches)
        finally:
            await batches.close()

    return asyncio.run(run())


def bodies(server: BatchVendor) -> dict[str, Any]:
    """Give a body for every key, as the live provider renders it."""
    plain = dict(VENDORS[server.name].body())
    return {key: {**plain, "model": f"model-{key[-1]}"} for key in KEYS}


def parcel(batches: BatchProvider, asked: dict[str, Any]) -> Parcel:
    """Put requests into a file."""
    frame = batches.frame
    entries = frame.between.join(batches.encode(k, body) for k, body in asked.items())
    content = frame.head + entries + frame.tail
    return Parcel(file=BytesIO(content), size_bytes=len(content))


def submitted(server: BatchVendor) -> str:
    """Hand a batch in and give its id."""
    batches = provider(server)
    packed = parcel(batches, bodies(server))
    return str(use(batches, lambda each: each.submit("ticket-1", packed)))


def results(server: BatchVendor, batch_id: str) -> list[BatchItem]:
    """Read what became of a batch."""

    async def read(batches: BatchProvider) -> list[BatchItem]:
        return [item async for item in batches.results(batch_id)]

    found: list[BatchItem] = use(provider(server), read)
    return found


def test_a_batch_holds_the_bodies_a_live_run_would_send(server: BatchVendor) -> None:
    """One plan serves both: nothing is rendered anew for a batch (E1)."""
    batch_id = submitted(server)

    assert server.batches[batch_id].requests == bodies(server)
    assert list(server.batches[batch_id].requests) == KEYS


def test_a_batch_is_known_by_its_ticket_where_the_vendor_keeps_notes() -> None:
    """OpenAI takes metadata along; Anthropic has no place for any."""
    with batching("openai") as server:
        submitted(server)

        assert server.batches["batch_0"].metadata == {"situate_ticket": "ticket-1"}


def test_a_large_batch_is_streamed_to_the_last_byte(server: BatchVendor) -> None:
    """Files are longer than one block of what is read at once."""
    batches = provider(server)
    long = {key: {"model": "m", "messages": [key * 20_000]} for key in KEYS}
    server.most_bytes = 10_000_000
    packed = parcel(batches, long)

    use(batches, lambda each: each.submit("t", packed))

    assert packed.size_bytes > 4_000_000
    assert server.raw == [packed.file.getvalue()]  # type: ignore[attr-defined]  # a BytesIO


def test_results_are_read_whatever_their_order(server: BatchVendor) -> None:
    """Scene L28: reversed, one missing, one doubled, one errored, one expired."""
    batch_id = submitted(server)
    fates = dict(zip(KEYS, ["doubled", "errored", "expired", "missing"], strict=True))
    server.end_all(fates)  # type: ignore[arg-type]  # zip forgets the literals

    found = results(server, batch_id)

    by_id = {item.custom_id: item for item in found}
    assert sorted(by_id) == KEYS[:3]
    assert sum(item.custom_id == KEYS[0] for item in found) == 2
    assert [by_id[key].error for key in KEYS[1:3]] == ["errored", "expired"]
    assert "no good" in str(by_id[KEYS[1]].message)
    raw = by_id[KEYS[0]].raw
    assert raw is not None
    reply = VENDORS[server.name].provider().parse(raw)
    assert reply.text.strip() == sentence(KEYS[0])
    assert reply.usage is not None
    assert reply.usage.input == 100


def test_results_that_cannot_be_unpacked_may_be_asked_for_again(
    server: BatchVendor,
) -> None:
    """Something on the way spoiled them; the vendor still has them."""
    batch_id = submitted(server)
    server.end_all()
    gzip = {"content-encoding": "gzip"}
    server.faults = [Fault(step="results", status=200, headers=gzip)]

    with pytest.raises(TransientError, match="cannot be reached"):
        results(server, batch_id)

    assert len(results(server, batch_id)) == len(KEYS)


def test_what_was_cancelled_is_told_from_what_went_wrong(server: BatchVendor) -> None:
    """It was not asked: the next batch may hold it again."""
    batch_id = submitted(server)
    server.end_all({KEYS[0]: "cancelled"})

    found = {item.custom_id: item.error for item in results(server, batch_id)}

    assert found[KEYS[0]] == "cancelled"


def test_a_line_that_is_no_result_does_not_spoil_the_others(
    server: BatchVendor, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whose it is cannot be said, so its request counts as missing."""
    batch_id = submitted(server)
    server.end_all()
    whole = json.dumps

    def broken(value: Any, **options: Any) -> str:
        text = whole(value, **options)
        is_hurt = isinstance(value, dict) and value.get("custom_id") == KEYS[2]
        return text[:40] if is_hurt else text

    monkeypatch.setattr("tests.support.batches.json.dumps", broken)

    found = [item.custom_id for item in results(server, batch_id)]

    assert sorted(found) == [KEYS[0], KEYS[1], KEYS[3]]


def test_a_batch_is_in_progress_until_the_vendor_says_otherwise(
    server: BatchVendor,
) -> None:
    """Words a vendor has not used before do not end a batch."""
    batch_id = submitted(server)
    batches = provider(server)

    before = use(batches, lambda each: each.poll(batch_id))
    server.batches[batch_id].status = "validating_again"
    unheard_of = use(batches, lambda each: each.poll(batch_id))
    server.batches[batch_id].status = "in_progress"
    server.end_all({KEYS[0]: "expired"})
    after = use(batches, lambda each: each.poll(batch_id))

    assert (before.status, unheard_of.status) == ("in_progress", "in_progress")
    assert (after.status, after.total, after.succeeded, after.failed) == (
        "ended", 4, 3, 1,
    )  # fmt: skip


def test_a_batch_that_fails_validation_says_why() -> None:
    """OpenAI takes a file in first and refuses it afterwards."""
    with batching("openai") as server:
        server.most_requests = 3
        batch_id = submitted(server)

        state = use(provider(server), lambda each: each.poll(batch_id))

    assert state.status == "failed"
    assert state.message == "invalid: too many, or one twice"


def test_all_pages_of_the_list_are_read(server: BatchVendor) -> None:
    """A vendor gives a few batches at a time."""
    for _ in range(5):
        submitted(server)

    async def ids(batches: BatchProvider) -> list[str]:
        return [each.batch_id async for each in batches.listed(None)]

    assert use(provider(server), ids) == [f"batch_{n}" for n in (4, 3, 2, 1, 0)]


def test_the_list_of_anthropic_ends_at_the_batch_that_was_newest() -> None:
    """What was there before a hand-in is not what was handed in."""
    with batching("anthropic") as server:
        for _ in range(3):
            submitted(server)
        batches = provider(server)

        newest = use(batches, lambda each: each.newest())
        submitted(server)

        async def since(each: BatchProvider) -> list[str]:
            return [found.batch_id async for found in each.listed(newest)]

        assert use(batches, since) == ["batch_3"]


@pytest.mark.parametrize("status", [408, 409, 500, 503, 529])
def test_a_hand_in_that_failed_inside_the_vendor_may_have_arrived(
    server: BatchVendor, status: int
) -> None:
    """Sending it again could pay for everything twice."""
    server.faults.append(
        Fault(step="create", status=status, headers={"retry-after": "1"})
    )

    with pytest.raises(Unanswered):
        submitted(server)


def test_a_hand_in_that_is_refused_has_not_arrived(server: BatchVendor) -> None:
    """A 429 can be sent again, a 400 not, and neither runs."""
    server.faults.append(Fault(step="create", status=429, headers={"retry-after": "7"}))
    server.faults.append(Fault(step="create", status=400))

    with pytest.raises(RateLimited) as limited:
        submitted(server)
    with pytest.raises(RequestRejected):
        submitted(server)

    assert limited.value.retry_after_seconds == 7
    assert not server.batches


def test_an_upload_that_failed_runs_nowhere() -> None:
    """Only the call after it makes a batch of a file."""
    with batching("openai") as server:
        server.faults.append(Fault(step="upload", status=500))

        with pytest.raises(TransientError) as caught:
            submitted(server)

    assert not isinstance(caught.value, Unanswered)


def test_a_server_that_cannot_be_reached_took_nothing_in(server: BatchVendor) -> None:
    """No connection, no batch."""
    batches = provider(server, base_url="http://127.0.0.1:9")
    packed = parcel(batches, bodies(server))

    with pytest.raises(TransientError) as caught:
        use(batches, lambda each: each.submit("t", packed))

    assert not isinstance(caught.value, Unanswered)


def test_a_batch_nobody_knows_is_an_error(server: BatchVendor) -> None:
    """It may have been deleted, or belong to another account."""
    with pytest.raises(ProviderError):
        results(server, "batch_99")


def test_an_id_of_a_batch_is_no_path(server: BatchVendor) -> None:
    """What a vendor or a person calls a batch stays one part of the address."""
    with pytest.raises(ProviderError):
        use(provider(server), lambda each: each.poll("../files/x?y#z"))

    assert server.steps == ["poll"]


def test_a_missing_key_is_found_before_anything_is_sent(
    server: BatchVendor, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As for a live run."""
    monkeypatch.delenv(VENDORS[server.name].variable)

    with pytest.raises(AuthenticationFailed):
        provider(server, base_url=None).check()


@pytest.mark.parametrize("name", ["replay", "scripted", "nobody"])
def test_a_provider_without_a_batch_system_says_so(name: str) -> None:
    """And names the way by file."""
    with pytest.raises(ConfigError, match="batch export"):
        open_batches(name, base_url=None, endpoint=None, timeout_seconds=5)


def test_limits_are_below_the_vendors() -> None:
    """100,000 requests or 256 MB, and 50,000 or 200 MB."""
    found = {
        name: open_batches(name, base_url=None, endpoint=None, timeout_seconds=5).limits
        for name in ("anthropic", "openai")
    }

    assert found["anthropic"].requests < 100_000
    assert found["anthropic"].size_bytes < 256_000_000
    assert found["openai"].requests < 50_000
    assert found["openai"].size_bytes < 200_000_000
