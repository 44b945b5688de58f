"""Vectors come from any endpoint that speaks OpenAI's embeddings, or an error does."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from situate.compare.embedders import open_embedder
from situate.compare.embedders.openai import OpenAIEmbedder
from situate.compare.embedders.requests import MOST_BYTES, MOST_TEXTS, Limits, Patience
from situate.enrichment.throttle import Timing
from situate.errors import (
    AuthenticationFailed,
    ContextTooLong,
    ModelUnknown,
    ProviderUnusable,
    RateLimited,
    RequestRejected,
    TransientError,
)
from tests.compare.embedding_servers import (
    DIMENSIONS,
    Body,
    Double,
    Reply,
    embeddings,
    refusal,
    serving_model,
    speaking,
    vector_of,
)
from tests.support.server import MODEL

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from situate.compare.embedders.contract import Rows

TEXTS = [
    "The insurer pays for repairs of roofs that were damaged by storms.",
    "The member bears the first part of each claim.",
    "Pumpenwartung: Öl alle 500 Betriebsstunden wechseln.",
]


@pytest.fixture(scope="module")
def _double() -> Iterator[Double]:
    with speaking() as double:
        yield double


@pytest.fixture
def double(_double: Double) -> Double:
    """Give the double, as good as new."""
    _double.bodies.clear()
    _double.authorizations.clear()
    _double.answer = embeddings
    return _double


@pytest.fixture(scope="module")
def model_server() -> Iterator[str]:
    """Give the address of a real server of embeddings."""
    with serving_model() as address:
        yield address


async def _no_time(seconds: float) -> None:
    """Wait for nobody."""


def asking(double: Double, **settings: Any) -> OpenAIEmbedder:
    """Build an embedder that asks the double and waits for nobody."""
    patience = Patience(max_attempts=3, timing=Timing(sleep=_no_time))
    return OpenAIEmbedder(
        "m", base_url=double.address, **{"patience": patience, **settings}
    )


def unit(vectors: Sequence[Sequence[float]]) -> Rows:
    """Scale vectors to unit length, in the plainest way."""
    table = np.array(vectors, np.float64)
    return (table / np.linalg.norm(table, axis=1, keepdims=True)).astype(np.float32)


def numbered(count: int) -> list[str]:
    """Give texts that differ."""
    return [f"text {number}" for number in range(count)]


@pytest.mark.parametrize("encoding", ["base64", "float"])
def test_rows_go_by_index_and_have_unit_length(double: Double, encoding: str) -> None:
    """The double answers the last text first, with vectors of any length."""
    double.answer = lambda body: embeddings({**body, "encoding_format": encoding})

    rows = asking(double).embed(TEXTS, "document")

    assert rows.dtype == np.float32
    assert np.allclose(rows, unit([vector_of(text) for text in TEXTS]), atol=1e-6)


def test_an_entry_without_index_is_the_first(double: Double) -> None:
    """Some writers of JSON leave zeros out."""

    def answer(body: Body) -> Reply:
        reply: Any = embeddings(body)
        for entry in reply.body["data"]:
            if entry["index"] == 0:
                del entry["index"]
        return Reply(body=reply.body)

    double.answer = answer

    rows = asking(double).embed(TEXTS, "document")

    assert np.allclose(rows, unit([vector_of(text) for text in TEXTS]), atol=1e-6)


def test_the_instruction_stands_before_documents_alone(double: Double) -> None:
    """Models that want one expect a question as it is."""
    embedder = asking(double, instruction="passage: ")

    embedder.embed(["roof"], "document")
    embedder.embed(["roof"], "query")

    assert double.texts == ["passage: roof", "roof"]


def test_blank_texts_are_zeros_and_not_sent(double: Double) -> None:
    """Servers refuse them, and with them all that is sent beside."""
    rows = asking(double, instruction="x").embed(["", "roof", " \n"], "document")

    assert double.texts == ["xroof"]
    assert [bool(row.any()) for row in rows] == [False, True, False]


def test_the_first_text_goes_alone_and_the_rest_together(double: Double) -> None:
    """A mistake is found by one text; after it a request holds what it may."""
    asking(double).embed(numbered(100), "document")

    assert [len(body["input"]) for body in double.bodies] == [1, 99]


def test_a_request_keeps_the_limits_of_the_api(double: Double) -> None:
    """No request holds more texts, or more bytes than tokens are allowed."""
    short = numbered(5_000)
    long = [f"{number} {'ß' * 20_000}" for number in range(20)]

    asking(double).embed([*short, *long], "document")

    asked = [body["input"] for body in double.bodies]
    sizes = [sum(len(text.encode()) for text in texts) for texts in asked]
    assert max(map(len, asked)) <= MOST_TEXTS
    assert max(sizes) <= MOST_BYTES
    assert sorted(double.texts) == sorted([*short, *long])


def test_no_reply_gets_longer_than_a_connection_takes() -> None:
    """Long vectors written as decimals make requests of few texts."""
    limits = Limits()

    limits.learn(texts=1, sent_bytes=100, reply_bytes=90_000, seconds=0.1)

    assert 1 < limits.texts * 90_000 < 4_000_000


def test_a_slow_server_is_asked_for_little_at_a_time() -> None:
    """So much that it needs some ten seconds for it, and more when it is faster."""
    limits = Limits()

    limits.learn(texts=10, sent_bytes=10_000, reply_bytes=10, seconds=20)
    slow = limits.bytes
    limits.learn(texts=1, sent_bytes=10_000, reply_bytes=10, seconds=0.001)

    assert slow == 5_000
    assert limits.bytes == MOST_BYTES


def test_a_server_that_takes_fewer_texts_gets_fewer(double: Double) -> None:
    """Text Embeddings Inference takes 32 a request unless told otherwise."""

    def answer(body: Body) -> Reply:
        if len(body["input"]) > 32:
            return refusal(413, "batch size 99 > maximum allowed batch size 32")
        return embeddings(body)

    double.answer = answer
    embedder = asking(double)

    rows = embedder.embed(numbered(100), "document")
    double.bodies.clear()
    embedder.embed(numbered(60), "document")

    assert np.allclose(rows, unit([vector_of(t) for t in numbered(100)]), atol=1e-6)
    assert all(len(body["input"]) <= 32 for body in double.bodies)


@pytest.mark.parametrize(
    ("reply", "error"),
    [
        pytest.param(
            refusal(400, "This model's maximum context length is 8192 tokens"),
            ContextTooLong,
            id="context",
        ),
        pytest.param(
            refusal(500, "input (9 tokens) is too large to process."),
            ContextTooLong,
            id="llama.cpp",
        ),
        pytest.param(refusal(400, "no such words"), RequestRejected, id="refused"),
    ],
)
def test_a_refused_text_is_named(
    double: Double, reply: Reply, error: type[Exception]
) -> None:
    """It is found among its neighbours, whose vectors are handed over."""
    texts = [*numbered(40), "The bad one. " * 50, *numbered(40)]
    double.answer = lambda body: (
        reply if any("bad" in text for text in body["input"]) else embeddings(body)
    )
    taken: list[int] = []

    with pytest.raises(error, match=r"begins 'The bad one\."):
        asking(double).ask(texts, "document", lambda places, _: taken.extend(places))

    assert len(taken) == len(set(taken)) > 20
    assert 40 not in taken


@pytest.mark.parametrize(
    ("change", "says"),
    [
        pytest.param(lambda data: data[1:], "2 texts brought 1", id="too few"),
        pytest.param(lambda data: data + data[:1], "index", id="doubled"),
        pytest.param(
            lambda data: [{**each, "index": 7} for each in data], "index", id="beyond"
        ),
        pytest.param(
            lambda data: [{**data[0], "embedding": [float("nan")] * 8}, data[1]],
            "finite",
            id="not a number",
        ),
        pytest.param(
            lambda data: [{**data[0], "embedding": [1e300] * 8}, data[1]],
            "finite",
            id="beyond float32",
        ),
        pytest.param(
            lambda data: [{**data[0], "embedding": [1.0]}, data[1]],
            "dimensions",
            id="ragged",
        ),
        pytest.param(
            lambda data: [{**each, "embedding": [1.0, 2.0]} for each in data],
            "2 dimensions, others before it have 8",
            id="other dimensions",
        ),
        pytest.param(
            lambda data: [{**each, "embedding": [[1.0]]} for each in data],
            "shape",
            id="a vector per token",
        ),
        pytest.param(
            lambda data: [{**each, "embedding": "?"} for each in data],
            "no list of numbers",
            id="no base64",
        ),
        pytest.param(
            lambda data: [{**each, "embedding": None} for each in data],
            "shape",
            id="nothing",
        ),
    ],
)
def test_what_is_no_vectors_is_an_error_that_names_the_model(
    double: Double, change: Any, says: str
) -> None:
    """A wrong count, index, dimension or number is never taken for a vector."""

    def answer(body: Body) -> Reply:
        reply: Any = embeddings({**body, "encoding_format": "float"})
        data = reply.body["data"]
        return Reply(body={"data": change(data) if len(data) > 1 else data})

    double.answer = answer

    with pytest.raises(ProviderUnusable, match=says) as caught:
        asking(double).embed(numbered(3), "document")

    assert "'m' at http://127.0.0.1" in str(caught.value)


def test_what_may_pass_is_asked_again(double: Double) -> None:
    """A 503, a 429 and a success without embeddings, each once."""
    troubles = [
        refusal(503, "loading"),
        Reply(status=429, body={}, headers={"retry-after": "0"}),
    ]
    double.answer = lambda body: troubles.pop() if troubles else embeddings(body)

    rows = asking(double).embed(["roof"], "document")
    troubles.append(Reply(body={"error": {"message": "busy"}}))
    again = asking(double).embed(["roof"], "document")

    assert len(double.bodies) == 5
    assert np.array_equal(rows, again)


@pytest.mark.parametrize(
    ("reply", "error", "attempts"),
    [
        pytest.param(refusal(503, "down"), TransientError, 3, id="outage"),
        pytest.param(refusal(401, "who?"), AuthenticationFailed, 1, id="key"),
        pytest.param(
            refusal(404, "no such model", code="model_not_found"),
            ModelUnknown,
            1,
            id="model",
        ),
        pytest.param(
            refusal(501, "This server does not support embeddings."),
            ProviderUnusable,
            1,
            id="does not embed",
        ),
        pytest.param(
            Reply(status=429, body={}, headers={"retry-after": "9999"}),
            RateLimited,
            1,
            id="wait too long",
        ),
    ],
)
def test_what_does_not_pass_ends_it(
    double: Double, reply: Reply, error: type[Exception], attempts: int
) -> None:
    """After as many attempts as may help, by one text of many."""
    double.answer = lambda _: reply

    with pytest.raises(error):
        asking(double).embed(numbered(50), "document")

    assert [len(body["input"]) for body in double.bodies] == [1] * attempts


def test_trouble_among_many_requests_is_one_error(double: Double) -> None:
    """What was handed over before stands; the rest is called off."""
    texts = [f"{number} {'x' * 100_000}" for number in range(20)]
    double.answer = lambda body: (
        embeddings(body) if len(double.bodies) < 4 else refusal(503, "down")
    )
    taken: list[int] = []

    with pytest.raises(TransientError, match="answered 503: down"):
        asking(double).ask(texts, "document", lambda places, _: taken.extend(places))

    assert 0 < len(taken) < len(texts)


def test_an_unknown_format_is_left_out_from_then_on(double: Double) -> None:
    """A server that knows no base64 is told of it once."""

    def answer(body: Body) -> Reply:
        if "encoding_format" in body:
            return refusal(400, "Unknown field: encoding_format")
        return embeddings(body)

    double.answer = answer

    rows = asking(double).embed(TEXTS, "document")

    assert rows.shape == (3, DIMENSIONS)
    assert ["encoding_format" in body for body in double.bodies] == [True, False, False]


def test_the_key_comes_from_the_environment(
    double: Double, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It reaches the server, and neither the cache's key nor an error."""
    monkeypatch.setenv("OPENAI_API_KEY", "sk-test-0123456789")
    double.answer = lambda _: refusal(400, "sk-test-0123456789 may not do this")
    embedder = asking(double)

    with pytest.raises(RequestRejected) as caught:
        embedder.embed(["roof"], "document")

    assert double.authorizations == ["Bearer sk-test-0123456789"]
    assert "sk-test" not in f"{caught.value} {embedder.identity}"


def test_no_key_is_found_out_before_anything_is_sent() -> None:
    """The vendor needs one; opening does not ask for it."""
    embedder = open_embedder("openai:text-embedding-3-small")

    with pytest.raises(AuthenticationFailed, match="OPENAI_API_KEY"):
        embedder.embed(["roof"], "document")


def test_a_real_server_embeds(model_server: str) -> None:
    """llama.cpp's vectors arrive in order; a text above its batch is named."""
    embedder = open_embedder(f"openai:{MODEL}", base_url=model_server)

    rows = embedder.embed([*TEXTS, TEXTS[0]], "document")
    with pytest.raises(ContextTooLong, match="begins 'endless endless"):
        embedder.embed([TEXTS[0], "endless " * 500], "document")

    assert rows.shape == (4, 576)
    assert np.allclose(np.linalg.norm(rows, axis=1), 1)
    assert np.allclose(rows[0], rows[3], atol=1e-3)
    assert rows[0] @ rows[1] < 0.999


def test_a_real_server_that_only_chats_is_told_at_once(llama_server: str) -> None:
    """What does not embed is an error that says so, without another try."""
    embedder = open_embedder(f"openai:{MODEL}", base_url=f"{llama_server}/v1")

    with pytest.raises(ProviderUnusable, match="501"):
        embedder.embed(["roof"], "document")
