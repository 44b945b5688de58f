"""OpenAI's embeddings, and the many servers that speak them.

vLLM, llama.cpp, Ollama, Text Embeddings Inference and gateways do. Vectors are asked
for in base64, a quarter of their length as decimals; a server that refuses is asked
for decimals, and whatever comes is read.
"""

from __future__ import annotations

import asyncio
import base64
from http import HTTPStatus
from typing import TYPE_CHECKING, Any

import numpy as np

from situate.compare.embedders.contract import fault, gathered, instructed, unit
from situate.compare.embedders.requests import Answered, Errand, Limits, Patience
from situate.enrichment.providers.connection import connect
from situate.enrichment.providers.failures import failure, unreached
from situate.enrichment.providers.openai import VENDOR
from situate.enrichment.providers.replies import load, says_error
from situate.errors import (
    ContextTooLong,
    ProviderError,
    ProviderUnusable,
    TransientError,
    Unanswered,
    UnsupportedParameter,
)

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    import openai
    from numpy.typing import NDArray

    from situate.compare.embedders.contract import Role, Rows, Take
    from situate.model import JsonValue

_OPTIONAL: dict[str, JsonValue] = {"encoding_format": "base64"}

_TOO_LARGE = "too large to process"
"""llama.cpp says so of a text above its physical batch, under status 500 (its
`server-context.cpp`, 2026-10)."""


class OpenAIEmbedder:
    """Asks a model for vectors, many texts a request.

    `base_url` is the server with its version, as in `http://127.0.0.1:8080/v1`;
    None is OpenAI itself. `endpoint` names it in cache keys, by default the
    address. The key comes from OPENAI_API_KEY, or from the file that
    OPENAI_API_KEY_FILE names; a `base_url` needs none.

    Raises:
        ConfigError: `base_url` is no address.
    """

    def __init__(
        self,
        model: str,
        *,
        base_url: str | None = None,
        endpoint: str | None = None,
        instruction: str | None = None,
        patience: Patience | None = None,
    ) -> None:
        self.name = f"openai:{model}"
        self._model = model
        self._instruction = instruction
        self._patience = patience or Patience()
        self._connection = connect(
            VENDOR,
            base_url=base_url,
            endpoint=endpoint,
            timeout_seconds=self._patience.timeout_seconds,
        )
        self._limits = Limits()
        self._optional = dict(_OPTIONAL)
        self._dimensions: int | None = None

    @property
    def identity(self) -> Mapping[str, JsonValue]:
        """What its vectors depend on; how they are written is not part of it."""
        return {
            "embedder": "openai",
            "endpoint": self._connection.endpoint,
            "model": self._model,
            "instruction": self._instruction,
        }

    def check(self) -> None:
        """Find out whether there is a key where one is needed, and leave to ask.

        Raises:
            ConfigError: the organisation does not allow the address or the model.
            AuthenticationFailed: there is no key.
        """
        self._connection.check()
        self._connection.permit(self._model)

    def embed(self, texts: Sequence[str], role: Role) -> Rows:
        """Give a row for each text; blank ones are not sent.

        Not to be called where an event loop runs; a thread of its own will do.

        Raises:
            ProviderError: the endpoint cannot be asked, refuses a text, or answers
                with what is no vectors.
        """
        return gathered(self, texts, role)

    def ask(self, texts: Sequence[str], role: Role, take: Take) -> None:
        """Hand over rows request by request, as they are answered.

        Raises:
            ProviderError: as `embed`.
        """
        if texts:
            asyncio.run(self._ask(instructed(texts, role, self._instruction), take))

    async def _ask(self, texts: Sequence[str], take: Take) -> None:
        import openai

        connection = self._connection
        connection.check()
        async with openai.AsyncOpenAI(
            api_key=connection.key,
            base_url=connection.base_url,
            max_retries=0,
            http_client=openai.DefaultAsyncHttpxClient(**connection.live_options(None)),
        ) as client:
            await Errand(
                texts,
                send=lambda batch: self._send(client, batch),
                take=take,
                limits=self._limits,
                patience=self._patience,
            ).run()

    async def _send(self, client: openai.AsyncOpenAI, texts: Sequence[str]) -> Answered:
        """Send texts once; a parameter the server does not know is left out."""
        optional = dict(self._optional)
        body: dict[str, JsonValue] = {"model": self._model, "input": list(texts)}
        try:
            raw = await self._post(client, body | optional, optional)
        except UnsupportedParameter as error:
            self._optional.pop(error.parameter, None)
            raw = await self._post(client, body, {})
        rows = self._parse(raw, len(texts))
        return Answered(rows=rows, reply_bytes=len(raw))

    async def _post(
        self,
        client: openai.AsyncOpenAI,
        body: Mapping[str, JsonValue],
        optional: Mapping[str, JsonValue],
    ) -> str:
        import openai

        try:
            async with asyncio.timeout(self._connection.timeout_seconds):
                return await client.post(
                    "/embeddings", content=self._connection.outgoing(body), cast_to=str
                )
        except (openai.APITimeoutError, TimeoutError) as error:
            raise unreached(self._connection, error, late=True) from error
        except openai.APIConnectionError as error:
            raise unreached(self._connection, error, late=False) from error
        except openai.APIStatusError as error:
            failed: ProviderError = failure(
                self._connection,
                error.response,
                model=self._model,
                optional=optional.keys(),
            )
            if error.status_code == HTTPStatus.NOT_IMPLEMENTED:
                # llama.cpp's answer where it was not started to embed.
                failed = ProviderUnusable(str(failed))
            elif isinstance(failed, TransientError) and _TOO_LARGE in str(failed):
                failed = ContextTooLong(str(failed))
            raise failed from error

    def _parse(self, raw: str, count: int) -> Rows:
        """Read a reply; entries say which text they belong to, their order does not.

        An entry without `index` is the first: writers of JSON leave zeros out.
        """
        data = load(raw, VENDOR.name)
        entries = data.get("data")
        if says_error(data) or not isinstance(entries, list):
            message = f"{self._who} sent a reply without embeddings"
            raise Unanswered(message, usage=None)
        found: dict[int, NDArray[np.float32]] = {}
        for entry in entries:
            index = entry.get("index", 0) if isinstance(entry, dict) else None
            if not isinstance(index, int) or not 0 <= index < count or index in found:
                problem = f"an embedding has the index {index!r:.20}"
                raise self._unusable(problem)
            found[index] = self._vector(entry.get("embedding"))
        if len(found) != count:
            problem = f"{count} texts brought {len(found)} embeddings"
            raise self._unusable(problem)
        if len({vector.shape for vector in found.values()}) > 1:
            problem = "embeddings of one reply differ in their dimensions"
            raise self._unusable(problem)
        rows = np.stack([found[place] for place in range(count)])
        odd = fault(rows, count=count, dimensions=self._dimensions)
        if odd is not None:
            raise self._unusable(odd)
        self._dimensions = rows.shape[1]
        return unit(rows)

    def _vector(self, embedding: Any) -> NDArray[np.float32]:
        try:
            if isinstance(embedding, str):
                packed = base64.b64decode(embedding, validate=True)
                return np.frombuffer(packed, "<f4").astype(np.float32)
            # What float32 cannot hold becomes infinite, and is found to be.
            with np.errstate(over="ignore"):
                return np.array(embedding, np.float32)
        except (ValueError, TypeError, OverflowError) as error:
            problem = "an embedding is no list of numbers"
            raise self._unusable(problem) from error

    @property
    def _who(self) -> str:
        return f"{self._model!r} at {self._connection.endpoint}"

    def _unusable(self, problem: str) -> ProviderUnusable:
        return ProviderUnusable(f"{self._who} gave no usable vectors: {problem}")
