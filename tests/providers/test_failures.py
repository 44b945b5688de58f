"""Every way a vendor fails becomes the error that says what to do about it.

Replies are real ones of the SDKs' HTTP layer: each SDK turns them into its own
exception, and the provider turns that into ours.
"""

from __future__ import annotations

import asyncio
import contextlib
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import httpx
import pytest

from situate.errors import (
    AuthenticationFailed,
    ContextTooLong,
    ModelUnknown,
    ProviderError,
    ProviderUnusable,
    QuotaExhausted,
    RateLimited,
    RequestRejected,
    TransientError,
    Unanswered,
    UnsupportedParameter,
)
from tests.support.http import mocked
from tests.support.vendors import (
    ANTHROPIC,
    KEY,
    OPENAI,
    VENDORS,
    Vendor,
    failure_of,
)

if TYPE_CHECKING:
    from pathlib import Path


def said_by(vendor: Vendor, message: str, **fields: Any) -> dict[str, Any]:
    """Give an error body in the vendor's shape."""
    error = {"message": message, **fields}
    if vendor is OPENAI:
        return {"error": error}
    return {"type": "error", "error": error, "request_id": "req_1"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Case:
    """A reply of one of the vendors and what it has to become."""

    vendor: Vendor
    status: int
    message: str
    fields: dict[str, Any]
    becomes: type[ProviderError]

    @property
    def reply(self) -> httpx.Response:
        """The reply as it comes over the wire."""
        body = said_by(self.vendor, self.message, **self.fields)
        return httpx.Response(self.status, json=body)


def case(
    name: str,
    vendor: Vendor,
    status: int,
    becomes: type[ProviderError],
    message: str = "Something.",
    **fields: Any,
) -> Any:
    """Make a parameter of a case."""
    made = Case(
        vendor=vendor, status=status, message=message, fields=fields, becomes=becomes
    )
    return pytest.param(made, id=f"{vendor.name} {status} {name}")


CASES = [
    case("bad request", OPENAI, 400, RequestRejected, type="invalid_request_error"),
    case("wrong key", OPENAI, 401, AuthenticationFailed, code="invalid_api_key"),
    case("no permission", OPENAI, 403, AuthenticationFailed),
    case("no model", OPENAI, 404, ModelUnknown, code="model_not_found"),
    case("timeout", OPENAI, 408, TransientError),
    case("conflict", OPENAI, 409, TransientError),
    case("too large", OPENAI, 413, RequestRejected),
    case("unprocessable", OPENAI, 422, RequestRejected),
    case("rate", OPENAI, 429, RateLimited, code="rate_limit_exceeded"),
    case("quota", OPENAI, 429, QuotaExhausted, code="insufficient_quota"),
    case("billing", OPENAI, 403, QuotaExhausted, code="billing_not_active"),
    case("error", OPENAI, 500, TransientError),
    case("gateway", OPENAI, 502, TransientError),
    case("unavailable", OPENAI, 503, TransientError),
    case("context", OPENAI, 400, ContextTooLong, code="context_length_exceeded"),
    case("bad request", ANTHROPIC, 400, RequestRejected, type="invalid_request_error"),
    case("wrong key", ANTHROPIC, 401, AuthenticationFailed),
    case("unpaid", ANTHROPIC, 402, QuotaExhausted, type="billing_error"),
    case("no permission", ANTHROPIC, 403, AuthenticationFailed),
    case("no model", ANTHROPIC, 404, ModelUnknown, "model: claude-1"),
    case("timeout", ANTHROPIC, 408, TransientError),
    case("conflict", ANTHROPIC, 409, TransientError),
    case("precondition", ANTHROPIC, 412, RequestRejected),
    case("too large", ANTHROPIC, 413, RequestRejected, type="request_too_large"),
    case("unprocessable", ANTHROPIC, 422, RequestRejected),
    case("rate", ANTHROPIC, 429, RateLimited, type="rate_limit_error"),
    case(
        "ramp",
        ANTHROPIC,
        429,
        RateLimited,
        details={"error_code": "ramp_limit_exceeded"},
    ),
    case(
        "contract",
        ANTHROPIC,
        429,
        QuotaExhausted,
        details={"error_code": "contract_spend_limit_reached"},
    ),
    case(
        "spend limit",
        ANTHROPIC,
        429,
        QuotaExhausted,
        details={"error_code": "enforced_spend_limit_reached"},
    ),
    case(
        "credit", ANTHROPIC, 400, QuotaExhausted, "Your credit balance is too low to go"
    ),
    case("error", ANTHROPIC, 500, TransientError, type="api_error"),
    case("not implemented", ANTHROPIC, 501, TransientError),
    case("unavailable", ANTHROPIC, 503, TransientError),
    case("gateway timeout", ANTHROPIC, 504, TransientError),
    case("overloaded", ANTHROPIC, 529, TransientError, type="overloaded_error"),
    case(
        "context",
        ANTHROPIC,
        400,
        ContextTooLong,
        "prompt is too long: 210000 tokens > 200000 maximum",
    ),
    case(
        "context with output",
        ANTHROPIC,
        400,
        ContextTooLong,
        "input length and `max_tokens` exceed context limit: 190000 + 20000 > 200000",
    ),
    case(
        "context of vLLM",
        OPENAI,
        400,
        ContextTooLong,
        "This model's maximum context length is 4096 tokens.",
        type="BadRequestError",
        code=400,
    ),
    case(
        "context of llama.cpp",
        OPENAI,
        400,
        ContextTooLong,
        type="exceed_context_size_error",
        code=400,
    ),
]


@pytest.mark.parametrize("case", CASES)
def test_a_reply_becomes_the_error_that_says_what_to_do(case: Case) -> None:
    """Ask again, wait, leave this chunk, or stop: one class for each."""
    error = failure_of(case.vendor, case.reply)

    assert type(error) is case.becomes
    assert str(case.status) in str(error)


@pytest.mark.parametrize(
    "accident",
    [
        httpx.ConnectError("refused"),
        httpx.ConnectTimeout("slow"),
        httpx.WriteTimeout("slow"),
        httpx.PoolTimeout("full"),
        httpx.WriteError("cut"),
    ],
    ids=lambda accident: type(accident).__name__,
)
def test_an_accident_on_the_way_is_worth_another_try(
    vendor: Vendor, accident: httpx.TransportError
) -> None:
    """The request never was out, so nobody bills it."""
    assert type(failure_of(vendor, accident)) is TransientError


@pytest.mark.parametrize(
    "accident",
    [
        httpx.ReadTimeout("slow"),
        httpx.ReadError("cut"),
        httpx.RemoteProtocolError("half a reply"),
    ],
    ids=lambda accident: type(accident).__name__,
)
def test_an_accident_on_the_way_back_may_be_on_the_bill(
    vendor: Vendor, accident: httpx.TransportError
) -> None:
    """The model may have answered though nobody heard it (E2)."""
    error = failure_of(vendor, accident)

    assert isinstance(error, Unanswered)
    assert error.usage is None


def test_connecting_is_given_up_before_the_request_is(vendor: Vendor) -> None:
    """So that a server nobody reached is not taken for one that works."""
    limits: list[dict[str, float]] = []

    def answer(request: httpx.Request) -> httpx.Response:
        limits.append(request.extensions["timeout"])
        return httpx.Response(200, json=vendor.reply)

    with mocked() as router:
        router.post(vendor.url).mock(side_effect=answer)
        vendor.ask(timeout_seconds=10)

    (limit,) = limits
    assert limit["connect"] == limit["pool"] < limit["read"] == 10


async def trickle(_: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    """Begin a reply and never come to its end."""
    writer.write(b"HTTP/1.1 200 OK\r\ncontent-length: 100000\r\n\r\n")
    with contextlib.closing(writer), contextlib.suppress(ConnectionError):
        while True:
            writer.write(b" ")
            await writer.drain()
            await asyncio.sleep(0.02)


async def hang_up(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    """Read the request and end the connection without a word."""
    await reader.readuntil(b"\r\n\r\n")
    writer.close()


@pytest.mark.parametrize(
    ("behave", "words"),
    [(trickle, "did not answer within 0.3 s"), (hang_up, "cannot be reached")],
    ids=["trickles", "hangs up"],
)
def test_a_server_that_comes_to_no_end_is_given_up(
    vendor: Vendor, behave: Any, words: str
) -> None:
    """`timeout_seconds` is for the whole request, however slowly bytes trickle."""

    async def ask() -> str:
        server = await asyncio.start_server(behave, "127.0.0.1", 0)
        port = server.sockets[0].getsockname()[1]
        provider = vendor.provider(
            base_url=f"http://127.0.0.1:{port}", timeout_seconds=0.3
        )
        try:
            return await provider.send(vendor.body())
        finally:
            await provider.close()
            server.close()

    with pytest.raises(Unanswered, match=re.escape(words)) as caught:
        asyncio.run(ask())

    assert caught.value.usage is None


def test_a_request_without_a_route_fails_the_test_itself(vendor: Vendor) -> None:
    """A mistake in a program is no lost connection and is not asked again."""
    with mocked(), pytest.raises(AssertionError, match="not mocked"):
        vendor.ask()


@pytest.mark.parametrize("status", [301, 302, 307, 308])
def test_a_redirect_is_not_followed(vendor: Vendor, status: int) -> None:
    """Text goes to the address that config names and to no other."""
    there = {"location": "https://elsewhere.test/v1/messages"}

    error = failure_of(vendor, httpx.Response(status, headers=there))

    assert type(error) is ProviderUnusable
    assert "base_url" in str(error)
    assert "elsewhere.test" not in str(error)


@pytest.mark.parametrize(
    "reply",
    [
        httpx.Response(404, text="<html><h1>Not Found</h1></html>"),
        httpx.Response(404, json={"error": {"message": "File Not Found", "code": 404}}),
        httpx.Response(404, json={"detail": "Not Found"}),
        httpx.Response(404),
    ],
    ids=["html", "llama.cpp", "fastapi", "empty"],
)
def test_a_missing_route_points_at_base_url(
    vendor: Vendor, reply: httpx.Response
) -> None:
    """A 404 that does not speak of a model is a wrong address."""
    error = failure_of(vendor, reply)

    assert type(error) is ProviderUnusable
    assert "check base_url" in str(error)


@pytest.mark.parametrize(
    ("vendor", "model", "status", "body", "parameter"),
    [
        pytest.param(
            OPENAI,
            "gpt-6-luna",
            400,
            {
                "error": {
                    "message": "Unsupported value: 'reasoning_effort' does not "
                    "support 'none' with this model.",
                    "param": "reasoning_effort",
                    "code": "unsupported_value",
                }
            },
            "reasoning_effort",
            id="openai value",
        ),
        pytest.param(
            OPENAI,
            "llama-3",
            400,
            {
                "error": {
                    "message": "Unsupported parameter: 'max_tokens' is not supported "
                    "with this model. Use 'max_completion_tokens' instead.",
                    "param": "max_tokens",
                    "code": "unsupported_parameter",
                }
            },
            "max_tokens",
            id="openai limit",
        ),
        pytest.param(
            OPENAI,
            "gpt-6-luna",
            422,
            {
                "detail": [
                    {
                        "type": "extra_forbidden",
                        "loc": ["body", "store"],
                        "msg": "Extra inputs are not permitted",
                    }
                ]
            },
            "store",
            id="pydantic list",
        ),
        pytest.param(
            OPENAI,
            "gpt-6-luna",
            400,
            {"error": "unknown field store"},
            "store",
            id="bare words",
        ),
        pytest.param(
            ANTHROPIC,
            "claude-haiku-5-5",
            400,
            said_by(
                ANTHROPIC,
                "thinking.type: Input should be 'adaptive' or 'between_tools'",
                type="invalid_request_error",
            ),
            "thinking",
            id="anthropic nested",
        ),
        pytest.param(
            ANTHROPIC,
            "claude-haiku-4-5",
            400,
            said_by(ANTHROPIC, "`temperature` is deprecated for this model."),
            "temperature",
            id="anthropic temperature",
        ),
    ],
)
def test_a_refused_parameter_is_named(
    vendor: Vendor, model: str, status: int, body: dict[str, Any], parameter: str
) -> None:
    """The key to leave out is a top-level key of the request."""
    reply = httpx.Response(status, json=body)

    error = failure_of(vendor, reply, body=vendor.body(model=model))

    assert isinstance(error, UnsupportedParameter)
    assert error.parameter == parameter


@pytest.mark.parametrize(
    ("vendor", "words", "parameter"),
    [
        (OPENAI, "Unsupported parameter: messages[0].name", "messages[0].name"),
        (OPENAI, "Unsupported parameter: 'top_k'", "top_k"),
        (ANTHROPIC, "messages.0.content: Extra inputs are not permitted", None),
        (ANTHROPIC, "max_tokens: 90000 is not supported", None),
        (OPENAI, "reasoning_effort has to be lower", None),
    ],
    ids=["essential", "never sent", "in messages", "the limit of claude", "no refusal"],
)
def test_what_a_request_cannot_do_without_is_never_dropped(
    vendor: Vendor, words: str, parameter: str | None
) -> None:
    """Only keys that were sent and can be missed are worth leaving out."""
    fields = {"param": parameter, "code": "unsupported_parameter"} if parameter else {}
    reply = httpx.Response(400, json=said_by(vendor, words, **fields))

    assert type(failure_of(vendor, reply)) is RequestRejected


@pytest.mark.parametrize(
    "status", [400, 401, 402, 403, 404, 418, 429, 500, 307], ids=str
)
def test_a_message_is_one_short_line_without_the_key(
    vendor: Vendor, status: int
) -> None:
    """A server that echoes what it got cannot bring the key into a log."""
    echo = f"You sent\r\n\x1b[31mAuthorization: Bearer {KEY}\u2028 model " + "x" * 5000
    body = said_by(vendor, echo, code=f"bad_{KEY}")

    message = str(failure_of(vendor, httpx.Response(status, json=body)))

    assert KEY not in message
    assert message.isprintable()
    assert len(message) < 400


FOREIGN = "s3cr3t-of-somebody-else"


@pytest.mark.parametrize(
    "variable",
    ["ELSEWHERE_API_KEY", "HF_TOKEN", "client_secret", "PGPASSWORD", "DB_PASSWORD"],
)
@pytest.mark.parametrize(
    "words", [f"not allowed: {FOREIGN}", "x" * 190 + FOREIGN], ids=["whole", "cut"]
)
def test_no_message_holds_a_secret_of_the_environment(
    vendor: Vendor, monkeypatch: pytest.MonkeyPatch, variable: str, words: str
) -> None:
    """A gateway may know other keys than the one it was sent (E14)."""
    monkeypatch.setenv(variable, FOREIGN)

    message = str(failure_of(vendor, httpx.Response(403, json=said_by(vendor, words))))

    assert FOREIGN[:8] not in message
    assert "[key]" in message


def test_no_message_holds_a_mounted_key(
    vendor: Vendor, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """What a `_FILE` variable points to is as secret as what a variable holds."""
    mounted = tmp_path / "key"
    mounted.write_text(f"{FOREIGN}\n")
    monkeypatch.setenv("ELSEWHERE_API_KEY_FILE", str(mounted))
    monkeypatch.setenv("MISSING_API_KEY_FILE", str(tmp_path / "none"))

    error = failure_of(vendor, httpx.Response(403, json=said_by(vendor, FOREIGN)))

    assert FOREIGN not in str(error)


def test_a_message_keeps_words_that_are_no_secret(
    vendor: Vendor, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A variable of a few letters, or one that merely sounds alike, hides nothing."""
    monkeypatch.setenv("SORT_KEY", "name")
    monkeypatch.setenv("MONKEY", "tomorrow")

    error = failure_of(
        vendor, httpx.Response(400, json=said_by(vendor, "name it tomorrow"))
    )

    assert str(error).endswith(": name it tomorrow")


def test_a_wrong_key_is_named_by_its_variable(vendor: Vendor) -> None:
    """Vendors repeat part of a wrong key; only the variable's name is shown."""
    body = said_by(vendor, f"Incorrect API key provided: {KEY[:8]}***{KEY[-4:]}")

    message = str(failure_of(vendor, httpx.Response(401, json=body)))

    assert vendor.variable in message
    assert KEY[-4:] not in message


@pytest.mark.parametrize(
    "text",
    ["", "<html>Bad gateway", '{"error": {"mess', "[1]", "null", '"no"', "[" * 100_000],
    ids=["empty", "html", "half", "list", "null", "text", "deep"],
)
def test_an_error_reply_in_any_shape_is_read_by_its_status(
    vendor: Vendor, text: str
) -> None:
    """Proxies answer in their own way; the status still says what it is."""
    assert type(failure_of(vendor, httpx.Response(502, text=text))) is TransientError


@pytest.mark.parametrize("vendor", VENDORS, ids=lambda vendor: vendor.name)
def test_a_reply_cut_short_is_worth_another_try(vendor: Vendor) -> None:
    """A body that cannot be unpacked is a broken reply."""
    cut = httpx.Response(
        200, headers={"content-encoding": "gzip"}, stream=httpx.ByteStream(b"no gzip")
    )

    error = failure_of(vendor, cut)

    assert isinstance(error, Unanswered)
    assert error.usage is None


def test_messages_name_provider_status_code_and_words() -> None:
    """One line says who answered what."""
    body = said_by(OPENAI, "Slow down,\nplease.", code="rate_limit_exceeded")

    message = str(failure_of(OPENAI, httpx.Response(429, json=body)))

    assert re.fullmatch(
        r"openai at https://api\.openai\.com/v1 answered 429 "
        r"\(rate_limit_exceeded\): Slow down, please\.",
        message,
    )
