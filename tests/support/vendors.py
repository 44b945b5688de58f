"""Both vendors side by side, for rules that hold for either."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import pytest

from situate.enrichment.exchange import Parameters, Rendered
from situate.enrichment.providers.anthropic import AnthropicProvider
from situate.enrichment.providers.openai import OpenAIProvider
from situate.errors import ProviderError
from situate.pricing import load_models
from tests.support.http import mocked

if TYPE_CHECKING:
    from situate.enrichment.exchange import Body

    VendorProvider = AnthropicProvider | OpenAIProvider

KEY = "sk-test-0123456789-abcdef"

RENDERED = Rendered(
    system="You place passages.",
    document="The document <<d>> with {braces}, $dollars and é.",
    chunk="The chunk. Answer in one sentence.",
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Vendor:
    """One vendor as the tests meet it."""

    name: str
    url: str
    """Where its SDK sends requests when config names no address."""
    model: str
    variable: str
    reply: dict[str, Any]
    """A reply of the kind it sends."""

    def provider(
        self,
        *,
        model: str | None = None,
        base_url: str | None = None,
        timeout_seconds: float = 5,
        endpoint: str | None = None,
    ) -> VendorProvider:
        """Build the provider as config would."""
        kind = {"anthropic": AnthropicProvider, "openai": OpenAIProvider}[self.name]
        return kind(
            facts=load_models().facts(self.name, model or self.model),
            base_url=base_url,
            timeout_seconds=timeout_seconds,
            endpoint=endpoint,
        )

    def body(self, *, model: str | None = None, rendered: Rendered = RENDERED) -> Body:
        """Render the request that the tests send."""
        asked = model or self.model
        return self.provider(model=asked).render(
            rendered, Parameters(model=asked, max_output_tokens=60)
        )

    def ask(self, body: Body | None = None, **settings: Any) -> str:
        """Send one request with a provider built for it; gives the raw reply."""
        return asyncio.run(self._ask(body or self.body(), self.provider(**settings)))

    async def _ask(self, body: Body, provider: VendorProvider) -> str:
        try:
            return await provider.send(body)
        finally:
            await provider.close()


ANTHROPIC = Vendor(
    name="anthropic",
    url="https://api.anthropic.com/v1/messages",
    model="claude-haiku-5-5",
    variable="ANTHROPIC_API_KEY",
    reply={
        "id": "msg_1",
        "type": "message",
        "role": "assistant",
        "model": "claude-haiku-5-5",
        "content": [{"type": "text", "text": "It is about meals."}],
        "stop_reason": "end_turn",
        "usage": {"input_tokens": 9, "output_tokens": 5},
    },
)

OPENAI = Vendor(
    name="openai",
    url="https://api.openai.com/v1/chat/completions",
    model="gpt-6-luna",
    variable="OPENAI_API_KEY",
    reply={
        "id": "chatcmpl-1",
        "object": "chat.completion",
        "created": 1,
        "model": "gpt-6-luna",
        "choices": [
            {
                "index": 0,
                "finish_reason": "stop",
                "message": {"role": "assistant", "content": "It is about meals."},
            }
        ],
        "usage": {"prompt_tokens": 9, "completion_tokens": 5, "total_tokens": 14},
    },
)

VENDORS = (ANTHROPIC, OPENAI)


def failure_of(vendor: Vendor, answer: object, **settings: Any) -> ProviderError:
    """Give the error that an answer, or an accident on the way, is turned into."""
    with mocked() as router:
        router.post(vendor.url).mock(side_effect=[answer])
        with pytest.raises(ProviderError) as caught:
            vendor.ask(**settings)
    return caught.value
