"""What is said to a model and what comes back, whoever serves it.

A provider renders (pure), sends (the one effect) and parses (pure). It retries
nothing, caches nothing and counts no money: those live above it, once.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, Protocol, TypeAlias

from situate.enrichment.statement import clean
from situate.model import JsonValue

if TYPE_CHECKING:
    from situate.usage import Usage

Body: TypeAlias = Mapping[str, JsonValue]
"""A request body as JSON; its canonical form is its identity."""

Stop = Literal["end", "length", "refusal"]

_LONGEST_NAME = 200
"""Characters of a model's name, in records as in replies."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Rendered:
    """A prompt with its values filled in, the part that varies least first."""

    system: str
    """Instructions, equal for every document of a corpus."""
    document: str
    """The document, byte-equal for all its chunks."""
    chunk: str
    """The chunk and the task, or the task alone where chunks are marked."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Parameters:
    """What is sent beside the prompt."""

    model: str
    max_output_tokens: int
    keys: tuple[str, ...] = ()
    """Of the JSON object of texts that is asked for; empty for plain text."""
    cached: bool = False
    """Whether the vendor is to keep what stands up to the end of the document."""
    dropped: frozenset[str] = frozenset()
    """Top-level keys the endpoint refused before; they are left out."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Reply:
    """What a model answered."""

    text: str
    """Only what it meant to say: thinking parts are not in it."""
    stop: Stop
    usage: Usage | None
    """None when it does not say, or says what is no count."""
    model: str
    """The model that answered, as the provider names it."""


def fault(reply: Reply) -> Literal["truncated", "empty"] | None:
    """Say why a reply is no answer, and not worth keeping.

    The stop reason is read, not guessed. A refusal is an answer.
    """
    if reply.stop == "length":
        return "truncated"
    if reply.stop == "end" and not clean(reply.text):
        return "empty"
    return None


def model_name(said: object) -> str:
    """Take for a model's name what is one; empty for what nobody writes down."""
    if not isinstance(said, str) or not said.isprintable():
        return ""
    return said if len(said) <= _LONGEST_NAME else ""


def answer_schema(keys: tuple[str, ...]) -> dict[str, JsonValue]:
    """Give the JSON schema of an object that holds a text under every key."""
    properties: dict[str, JsonValue] = {key: {"type": "string"} for key in keys}
    return {
        "type": "object",
        "properties": properties,
        "required": list(keys),
        "additionalProperties": False,
    }


class Provider(Protocol):
    """A model behind one small method."""

    @property
    def name(self) -> str:
        """The provider's name in config and records."""

    @property
    def endpoint(self) -> str:
        """Who answers: part of every cache key, never a secret."""

    def render(self, rendered: Rendered, parameters: Parameters) -> Body:
        """Give the body of the request that asks this. Pure."""

    def check(self) -> None:
        """Find out, without asking, whether the provider can be asked.

        Raises:
            AuthenticationFailed: its key is missing or is none.
        """

    async def send(self, body: Body) -> str:
        """Send the body once and give the raw JSON reply.

        Raises:
            TransientError: asking again may help (RateLimited: after a wait;
                Unanswered: though it may be billed).
            RequestRejected: this body is refused for good.
            ProviderUnusable: no request can succeed.
        """

    def parse(self, raw: str) -> Reply:
        """Read a raw reply. Pure.

        Raises:
            Unanswered: it is no reply: an error body, HTML, half a JSON text.
        """

    async def close(self) -> None:
        """Let go of connections."""
