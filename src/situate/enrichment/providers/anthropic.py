"""Claude through Anthropic's Messages API, or a server that speaks it."""

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

if TYPE_CHECKING:
    import anthropic
    import httpx2

    from situate.enrichment.exchange import Body, Parameters, Rendered, Stop
    from situate.model import JsonValue
    from situate.pricing import ModelFacts

VENDOR = Vendor(
    name="anthropic", base_url="https://api.anthropic.com", variable="ANTHROPIC_API_KEY"
)

_STOPS: dict[str, Stop] = {
    "end_turn": "end",
    "stop_sequence": "end",
    "max_tokens": "length",
    "model_context_window_exceeded": "length",
    "refusal": "refusal",
}

_COUNTERS = Counters(
    input=("input_tokens",),
    cache_write=("cache_creation_input_tokens",),
    cache_read=("cache_read_input_tokens",),
    output=("output_tokens",),
    thinking=("output_tokens_details", "thinking_tokens"),
    input_includes_cached=False,
)

# A request without one of these asks something else, or nothing.
_ESSENTIAL = frozenset({"model", "max_tokens", "system", "messages"})


class AnthropicProvider:
    """Asks Claude, one request per call.

    `base_url` is the server without `/v1`; None is Anthropic itself. `endpoint`
    names it in cache keys, by default the address. `transport` replaces the
    network, as in httpx2.

    The key comes from ANTHROPIC_API_KEY, or from the file that ANTHROPIC_API_KEY_FILE
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
        self._client: anthropic.AsyncAnthropic | None = None
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

        What all chunks of a document share stands first, in a block of its own.
        """
        facts = self._facts
        body: dict[str, JsonValue] = {
            "model": parameters.model,
            "max_tokens": parameters.max_output_tokens + facts.thinking_reserve,
        }
        if rendered.system:
            body["system"] = [{"type": "text", "text": rendered.system}]
        document: dict[str, JsonValue] = {"type": "text", "text": rendered.document}
        if parameters.cached and facts.cache == "marked":
            document["cache_control"] = {"type": "ephemeral"}
        chunk: dict[str, JsonValue] = {"type": "text", "text": rendered.chunk}
        # Empty text blocks are refused.
        content: list[JsonValue] = [
            block for block in (document, chunk) if block["text"]
        ]
        body["messages"] = [{"role": "user", "content": content}]
        optional: dict[str, JsonValue] = dict(facts.fixed)
        if facts.temperature is not None:
            optional["temperature"] = facts.temperature
        if parameters.keys and facts.structured_output == "output_config":
            schema: JsonValue = dict(answer_schema(parameters.keys))
            asked: JsonValue = {"type": "json_schema", "schema": schema}
            fixed = optional.get("output_config")
            known = fixed if isinstance(fixed, dict) else {}
            optional["output_config"] = {**known, "format": asked}
        body.update(
            (key, value)
            for key, value in optional.items()
            if key not in parameters.dropped
        )
        return body

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
        import anthropic

        client = self._client = self._client or self._open()
        try:
            async with asyncio.timeout(self._connection.timeout_seconds):
                return await client.post(
                    "/v1/messages", content=self._connection.outgoing(body), cast_to=str
                )
        except (anthropic.APITimeoutError, TimeoutError) as error:
            raise unreached(self._connection, error, late=True) from error
        except anthropic.APIConnectionError as error:
            raise unreached(self._connection, error, late=False) from error
        except anthropic.APIStatusError as error:
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
        if "content" not in data or says_error(data):
            raise no_reply(data, _COUNTERS, provider=self.name)
        text = joined_text(data["content"])
        return Reply(
            text=text,
            stop=stop_of(data.get("stop_reason"), _STOPS, text),
            usage=usage_of(data, _COUNTERS),
            model=model_name(data.get("model")),
        )

    async def close(self) -> None:
        """Let go of connections; sending again opens new ones."""
        client, self._client = self._client, None
        if client is not None:
            await client.close()

    def _open(self) -> anthropic.AsyncAnthropic:
        import anthropic

        connection = self._connection
        connection.check()
        return anthropic.AsyncAnthropic(
            api_key=connection.key,
            base_url=connection.base_url,
            max_retries=0,
            open_telemetry=False,
            http_client=anthropic.DefaultAsyncHttpxClient(
                **connection.live_options(self._transport)
            ),
        )
