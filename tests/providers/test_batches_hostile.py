"""What a vendor of batches may answer, and what never comes of it."""

from __future__ import annotations

import asyncio
import json
from io import BytesIO
from typing import TYPE_CHECKING, Any

import httpx2
import pytest

from situate.enrichment.providers import batch_replies
from situate.enrichment.providers.anthropic_batches import AnthropicBatches
from situate.enrichment.providers.batching import Parcel
from situate.enrichment.providers.openai_batches import OpenAIBatches
from situate.errors import ProviderError, TransientError, Unanswered

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable, Coroutine

    from situate.enrichment.providers.batching import BatchProvider

KINDS: dict[str, Callable[..., BatchProvider]] = {
    "anthropic": AnthropicBatches,
    "openai": OpenAIBatches,
}
BOTH = pytest.mark.parametrize("name", sorted(KINDS))

NO_ID = [
    pytest.param("<html>no</html>", id="html"),
    pytest.param("[]", id="list"),
    pytest.param("null", id="null"),
    pytest.param('{"id":', id="half"),
    pytest.param("[" * 100_000, id="deep"),
    pytest.param("{}", id="none"),
    pytest.param('{"id": ["x"]}', id="no text"),
    pytest.param('{"id": "b\\ud800"}', id="half a letter"),
    pytest.param('{"id": "b\\u0000"}', id="not printable"),
    pytest.param(json.dumps({"id": "b" * 1_000}), id="long"),
]
"""What does not say what a batch or a file is called."""


class Served(httpx2.AsyncByteStream):
    """A body that comes block by block."""

    def __init__(self, block: bytes, *, pause: float = 0, count: int = 10_000) -> None:
        self.block, self.pause, self.count = block, pause, count
        self.sent = 0

    async def __aiter__(self) -> AsyncIterator[bytes]:
        """Give blocks, with a pause before each."""
        while self.sent < self.count:
            await asyncio.sleep(self.pause)
            self.sent += 1
            yield self.block


def use(
    name: str,
    answer: Callable[[httpx2.Request], httpx2.Response],
    work: Callable[[BatchProvider], Coroutine[None, None, Any]],
) -> Any:
    """Do something with a batch system whose vendor answers like this."""

    async def run() -> Any:
        batches = KINDS[name](
            base_url="http://127.0.0.1:9",
            timeout_seconds=5,
            transport=httpx2.MockTransport(answer),
        )
        try:
            return await work(batches)
        finally:
            await batches.close()

    return asyncio.run(run())


def said(text: str) -> Callable[[httpx2.Request], httpx2.Response]:
    """Answer everything with a text."""
    return lambda _: httpx2.Response(
        200, text=text, headers={"content-type": "application/json"}
    )


def streamed(
    body: Served, status: int = 200
) -> Callable[[httpx2.Request], httpx2.Response]:
    """Answer a question about a batch, and give its results as a stream."""

    def answer(request: httpx2.Request) -> httpx2.Response:
        if request.url.path.endswith(("/results", "/content")):
            return httpx2.Response(status, stream=body)
        return httpx2.Response(200, json={"id": "b", "output_file_id": "f"})

    return answer


async def submit(batches: BatchProvider) -> str:
    """Hand something in."""
    return await batches.submit("ticket", Parcel(file=BytesIO(b"{}"), size_bytes=2))


async def results(batches: BatchProvider, pause: float = 0) -> list[str]:
    """Read what became of a batch, with something to do after each result."""
    found = []
    async for each in batches.results("b"):
        found.append(each.custom_id)
        await asyncio.sleep(pause)
    return found


async def listed(batches: BatchProvider) -> list[str]:
    """Read the list of batches."""
    return [each.batch_id async for each in batches.listed(None)]


@pytest.mark.parametrize("text", NO_ID)
def test_an_upload_that_names_no_file_makes_no_batch(text: str) -> None:
    """It can be made again: nothing runs yet."""
    paths: list[str] = []

    def answer(request: httpx2.Request) -> httpx2.Response:
        paths.append(request.url.path)
        return said(text)(request)

    with pytest.raises(TransientError, match="not about a batch") as caught:
        use("openai", answer, submit)

    assert not isinstance(caught.value, Unanswered)
    assert paths == ["/files"]


@BOTH
@pytest.mark.parametrize("text", NO_ID)
def test_a_hand_in_whose_answer_names_no_batch_may_have_arrived(
    name: str, text: str
) -> None:
    """So it is looked for before anything is sent again."""

    def answer(request: httpx2.Request) -> httpx2.Response:
        is_file = request.url.path.endswith("/files")
        return said('{"id": "f"}' if is_file else text)(request)

    with pytest.raises(Unanswered, match="not about a batch"):
        use(name, answer, submit)


def test_an_answer_is_read_as_utf8_whatever_it_says_it_is_in() -> None:
    """Gateways that fail say odd things of their own pages."""

    def answer(request: httpx2.Request) -> httpx2.Response:
        kind = {"content-type": "application/json; charset=utf-16"}
        if request.url.path.endswith("/files"):
            return httpx2.Response(200, json={"id": "f"})
        return httpx2.Response(200, content="\u00e4".encode("utf-16"), headers=kind)

    with pytest.raises(TransientError, match="not about a batch"):
        use("openai", answer, lambda batches: batches.poll("b"))
    with pytest.raises(Unanswered, match="not about a batch"):
        use("openai", answer, submit)


@BOTH
@pytest.mark.parametrize("count", [int("9" * 4_300), -1, True, "7", [7], None])
def test_odd_words_and_counts_say_nothing(name: str, count: object) -> None:
    """Nobody knows more of the batch than before, and it goes on."""
    names = ("processing", "succeeded", "errored", "total", "completed", "failed")
    text = json.dumps(
        {
            "id": "b",
            "status": ["x"],
            "processing_status": {"x": 1},
            "request_counts": dict.fromkeys(names, count),
            "errors": {"data": [["x"]]},
        }
    )

    state = use(name, said(text), lambda batches: batches.poll("b"))

    assert (state.status, state.total or 0, state.succeeded, state.failed) == (
        "in_progress", 0, 0, 0,
    )  # fmt: skip


@BOTH
def test_a_list_that_goes_round_in_circles_ends(name: str) -> None:
    """A page that brings nothing new would be asked for for ever."""
    page = json.dumps({"data": [{"id": "b0"}, {"id": "b1"}], "has_more": True})

    with pytest.raises(TransientError, match="not about a batch"):
        use(name, said(page), listed)


@BOTH
def test_a_batch_in_the_list_without_an_id_is_no_answer(name: str) -> None:
    """What cannot be asked for by name cannot be collected."""
    page = json.dumps({"data": [{"id": "b\ud800"}], "has_more": False})

    with pytest.raises(TransientError, match="not about a batch"):
        use(name, said(page), listed)


@BOTH
def test_results_that_drip_are_given_up(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each byte comes in time, and the whole never does."""
    monkeypatch.setattr(batch_replies, "RESULTS_SECONDS", 0.05)
    body = Served(b"\n", pause=0.01)

    with pytest.raises(ProviderError, match=r"without an end: .* 0\.05 s of waiting"):
        use(name, streamed(body), results)

    assert body.sent < 20


@BOTH
@pytest.mark.parametrize(
    ("limit", "block"),
    [
        pytest.param("MOST_RESULT_BYTES", b"{}\n" * 10, id="lines"),
        pytest.param("LONGEST_LINE_BYTES", b" " * 30, id="a line"),
    ],
)
def test_results_without_an_end_are_given_up(
    name: str, limit: str, block: bytes, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whatever they hold; no more than the limit is read."""
    monkeypatch.setattr(batch_replies, limit, 3_000)
    body = Served(block)

    with pytest.raises(ProviderError, match=r"without an end: .*3,000") as caught:
        use(name, streamed(body), results)

    assert not isinstance(caught.value, TransientError)
    assert body.sent < 110


@BOTH
def test_what_is_done_with_results_is_no_waiting(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Answers go to the disk one by one; that is not the vendor's fault."""
    monkeypatch.setattr(batch_replies, "RESULTS_SECONDS", 0.1)
    body = Served(b'{"custom_id": "a"}\n', count=3)

    found = use(name, streamed(body), lambda batches: results(batches, pause=0.06))

    assert found == ["a"] * 3


@BOTH
def test_a_refusal_of_results_is_read_as_far_as_it_matters(name: str) -> None:
    """Its words may have no end either."""
    body = Served(b"no " * 10_000)

    with pytest.raises(ProviderError, match="404"):
        use(name, streamed(body, status=404), results)

    assert body.sent < 5


@BOTH
@pytest.mark.parametrize(
    "record",
    [
        {"custom_id": "a", "result": {"type": ["x"]}, "error": {"code": ["x"]}},
        {"custom_id": "a", "result": [], "response": []},
    ],
)
def test_an_odd_result_is_one_without_an_answer(
    name: str, record: dict[str, object]
) -> None:
    """The request is left to a live run; the others are read."""
    line = json.dumps(record).encode()

    assert use(name, streamed(Served(line + b"\n", count=1)), results) == ["a"]


@BOTH
def test_an_id_that_is_none_belongs_to_no_request(name: str) -> None:
    """It is neither kept nor shown."""
    ids = ["b\ud800", "b\n", "", "b" * 1_000, "a"]
    lines = "".join(json.dumps({"custom_id": each}) + "\n" for each in ids)

    found = use(name, streamed(Served(lines.encode(), count=1)), results)

    assert found == ["a"]
