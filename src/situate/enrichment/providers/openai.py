"""OpenAI's Chat Completions, and the many servers that speak it.

Chat Completions and not Responses: every compatible server has it.
"""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from situate.enrichment.exchange import Reply, answer_schema, model_name
from situate.enrichment.providers.connection import Vendor, connect
from situate.enrichment.providers.failures import failure, unreached
from situate.enrichment.providers.replies import (
    Counters,
    joined_text,
    load,
    no_reply,
    says_error,
    stop_of,
    usage_of,
)
from situate.model import digest

if TYPE_CHECKING:
    import httpx2
    import openai

    from situate.enrichment.exchange import Body, Parameters, Rendered, Stop
    from situate.model import JsonValue
    from situate.pricing import ModelFacts

VENDOR = Vendor(
    name="openai", base_url="https://api.openai.com/v1", variable="OPENAI_API_KEY"
)

_STOPS: dict[str, Stop] = {
    "stop": "end",
    "length": "length",
    "content_filter": "refusal",
}

_COUNTERS = Counters(
    input=("prompt_tokens",),
    cache_write=("prompt_tokens_details", "cache_write_tokens"),
    cache_read=("prompt_tokens_details", "cached_tokens"),
    output=("completion_tokens",),
    thinking=("completion_tokens_details", "reasoning_tokens"),
    input_includes_cached=True,
)

_TOKEN_FIELDS = ("max_tokens", "max_completion_tokens")

_CACHE_OPTIONS = "prompt_cache_options"

# A request without one of these asks something else, or nothing.
_ESSENTIAL = frozenset({"model", "messages"})


class OpenAIProvider:
    """Asks a chat model, one request per call.

    `base_url` is the server with its version, as in `http://127.0.0.1:8080/v1`;
    None is OpenAI itself. `endpoint` names it in cache keys, by default the
    address. `transport` replaces the network, as in httpx2.

    The key comes from OPENAI_API_KEY, or from the file that OPENAI_API_KEY_FILE
    names; a `base_url` needs none.

    Raises:
        ConfigError: `base_url` is no address.
    """

    name = VENDOR.name

    def __init__(
        self,
        *,
        facts: ModelFacts,
        base_url: str | None,
        timeout_seconds: float,
        endpoint: str | None = None,
        transport: httpx2.AsyncBaseTransport | None = None,
    ) -> None:
        self._facts = facts
        self._transport = transport
        self._client: openai.AsyncOpenAI | None = None
        self._connection = connect(
            VENDOR,
            base_url=base_url,
            endpoint=endpoint,
            timeout_seconds=timeout_seconds,
        )

    @property
    def endpoint(self) -> str:
        """Who answers: the configured name, else the address."""
        return self._connection.endpoint

    def render(self, rendered: Rendered, parameters: Parameters) -> Body:
        """Give the body of the request that asks this. Pure.

        What all chunks of a document share stands first. A model that keeps what
        ends at a mark, and bills it, is told to keep nothing without one. The
        limit on output is never dropped: where its key is refused, it goes by
        the other name.
        """
        facts, dropped = self._facts, parameters.dropped
        messages: list[JsonValue] = []
        if rendered.system:
            messages.append({"role": "system", "content": rendered.system})
        marks = facts.cache == "marked" and _CACHE_OPTIONS not in dropped
        content = _content(rendered, marked=marks and parameters.cached)
        messages.append({"role": "user", "content": content})
        fields = (facts.token_field, *_TOKEN_FIELDS)
        limit = next((name for name in fields if name not in dropped), fields[0])
        optional: dict[str, JsonValue] = dict(facts.fixed)
        if facts.temperature is not None:
            optional["temperature"] = facts.temperature
        if parameters.keys and facts.structured_output == "response_format":
            schema: JsonValue = dict(answer_schema(parameters.keys))
            named: dict[str, JsonValue] = {
                "name": "statements",
                "strict": True,
                "schema": schema,
            }
            optional["response_format"] = {"type": "json_schema", "json_schema": named}
        if marks:
            optional[_CACHE_OPTIONS] = {"mode": "explicit"}
        if parameters.cached and facts.cache != "none":
            shared = f"{rendered.system}\n{rendered.document}"
            optional["prompt_cache_key"] = digest(shared)
        return {
            "model": parameters.model,
            limit: parameters.max_output_tokens + facts.thinking_reserve,
            "messages": messages,
            **{key: value for key, value in optional.items() if key not in dropped},
        }

    def check(self) -> None:
        """Find out, without asking, whether the provider can be asked.

        Raises:
            AuthenticationFailed: its key is missing or is none.
        """
        self._connection.check()

    async def send(self, body: Body) -> str:
        """Send the body once and give the raw JSON reply.

        Raises:
            TransientError: asking again may help (RateLimited: after a wait;
                Unanswered: though it may be billed).
            RequestRejected: this body is refused for good.
            ProviderUnusable: no request can succeed.
        """
        import openai

        client = self._client = self._client or self._open()
        try:
            async with asyncio.timeout(self._connection.timeout_seconds):
                return await client.post(
                    "/chat/completions",
                    content=self._connection.outgoing(body),
                    cast_to=str,
                )
        except (openai.APITimeoutError, TimeoutError) as error:
            raise unreached(self._connection, error, late=True) from error
        except openai.APIConnectionError as error:
            raise unreached(self._connection, error, late=False) from error
        except openai.APIStatusError as error:
            raise failure(
                self._connection,
                error.response,
                model=str(body.get("model")),
                optional=body.keys() - _ESSENTIAL,
            ) from error

    def parse(self, raw: str) -> Reply:
        """Read a raw reply. Pure.

        Raises:
            Unanswered: it is no reply: an error body, HTML, half a JSON text.
        """
        data = load(raw, self.name)
        choices = data.get("choices")
        choice = choices[0] if isinstance(choices, list) and choices else None
        message = choice.get("message") if isinstance(choice, dict) else None
        if (
            not isinstance(choice, dict)
            or not isinstance(message, dict)
            or says_error(data)
            or says_error(choice)
        ):
            raise no_reply(data, _COUNTERS, provider=self.name)
        text, refusal = joined_text(message.get("content")), message.get("refusal")
        stop = stop_of(choice.get("finish_reason"), _STOPS, text)
        if isinstance(refusal, str) and refusal:
            text, stop = refusal, "refusal"
        return Reply(
            text=text,
            stop=stop,
            usage=usage_of(data, _COUNTERS),
            model=model_name(data.get("model")),
        )

    async def close(self) -> None:
        """Let go of connections; sending again opens new ones."""
        client, self._client = self._client, None
        if client is not None:
            await client.close()

    def _open(self) -> openai.AsyncOpenAI:
        import openai

        connection = self._connection
        connection.check()
        return openai.AsyncOpenAI(
            api_key=connection.key,
            base_url=connection.base_url,
            max_retries=0,
            http_client=openai.DefaultAsyncHttpxClient(
                **connection.live_options(self._transport)
            ),
        )


def _content(rendered: Rendered, *, marked: bool) -> JsonValue:
    """Give what is asked: one text, or parts with a mark behind the document."""
    if marked and rendered.document:
        mark: JsonValue = {"mode": "explicit"}
        return [
            {
                "type": "text",
                "text": rendered.document,
                "prompt_cache_breakpoint": mark,
            },
            {"type": "text", "text": rendered.chunk},
        ]
    return "\n\n".join(text for text in (rendered.document, rendered.chunk) if text)
