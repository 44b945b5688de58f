"""A vendor's batch system behind a few small methods.

Requests go in together, wait for hours, and come out in any order at a lower
price. Nothing here retries or remembers: tickets on disk do, one layer up.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, BinaryIO, Literal, Protocol, TypeAlias

from situate.errors import ConfigError

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from situate.enrichment.exchange import Body

BatchStatus: TypeAlias = Literal[
    "in_progress", "ended", "failed", "expired", "cancelled"
]
"""`failed` is a batch that was refused as a whole and has no results."""

ItemError: TypeAlias = Literal["errored", "expired", "cancelled"]

_LONGEST_ID = 256
"""Characters; vendors' ids of batches and files have 20 to 40."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """What a vendor takes in one batch."""

    requests: int
    size_bytes: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Frame:
    """What stands before, between and after the entries of a batch's file."""

    head: bytes
    between: bytes
    tail: bytes


@dataclass(frozen=True, slots=True, kw_only=True)
class Parcel:
    """A batch ready to be sent: its file, from the first byte."""

    file: BinaryIO
    size_bytes: int


@dataclass(frozen=True, slots=True, kw_only=True)
class BatchState:
    """How far a batch is; counts are the vendor's, and late while it works."""

    status: BatchStatus
    total: int | None = None
    """None where the vendor does not say (yet)."""
    succeeded: int = 0
    failed: int = 0
    """Requests that ended in any other way."""
    message: str | None = None
    """Why it was refused."""


@dataclass(frozen=True, slots=True, kw_only=True)
class BatchItem:
    """What became of one request."""

    custom_id: str
    raw: str | None = None
    """The reply as the live provider's `parse` reads it."""
    error: ItemError | None = None
    """Why there is none. Asking live may help, but for what was cancelled."""
    message: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Listed:
    """A batch as the vendor lists it."""

    batch_id: str
    ticket: str | None
    """The ticket it was sent with, "" where it was sent without one; None where
    the vendor keeps no such note."""
    state: BatchState


class BatchProvider(Protocol):
    """A batch system, as tickets use it."""

    limits: Limits
    frame: Frame

    @property
    def name(self) -> str:
        """The provider's name in config and records."""

    @property
    def endpoint(self) -> str:
        """Who answers: part of every cache key, never a secret."""

    def check(self) -> None:
        """Find out, without asking, whether the provider can be asked.

        Raises:
            AuthenticationFailed: its key is missing or is none.
        """

    def encode(self, custom_id: str, body: Body) -> bytes:
        """Give a request as it stands in the file of a batch. Pure."""

    async def newest(self) -> str | None:
        """Give the id of the batch the vendor took in last.

        None where there is none, and where `listed` needs no such mark.

        Raises:
            ProviderError: the vendor did not say.
        """

    async def submit(self, ticket: str, parcel: Parcel) -> str:
        """Hand a batch in and give the vendor's id.

        Raises:
            Unanswered: it may have been taken in, or not.
            ProviderError: it was not taken in.
        """

    def listed(self, since: str | None) -> AsyncIterator[Listed]:
        """Give the batches that were taken in after `since`, all for None.

        Raises:
            ProviderError: the vendor did not say.
        """

    async def poll(self, batch_id: str) -> BatchState:
        """Ask how far a batch is.

        Raises:
            ProviderError: the vendor did not say.
        """

    def results(self, batch_id: str) -> AsyncIterator[BatchItem]:
        """Give what became of the requests of a batch that is over, in any order.

        Raises:
            ProviderError: the vendor did not say, or not all of it.
        """

    async def cancel(self, batch_id: str) -> None:
        """Ask the vendor to stop; what is done by then has results.

        Raises:
            ProviderError: the vendor did not hear it.
        """

    async def close(self) -> None:
        """Let go of connections."""


def is_id(value: str) -> bool:
    """Say whether a text can be the id of a batch, a file or a request."""
    return 0 < len(value) <= _LONGEST_ID and value.isprintable()


def open_batches(
    name: str, *, base_url: str | None, endpoint: str | None, timeout_seconds: float
) -> BatchProvider:
    """Give the batch system of the provider that config names.

    Nothing is sent and no SDK is loaded.

    Raises:
        ConfigError: the provider has none, or a setting cannot be used.
    """
    match name:
        case "anthropic":
            from situate.enrichment.providers.anthropic_batches import AnthropicBatches

            return AnthropicBatches(
                base_url=base_url, endpoint=endpoint, timeout_seconds=timeout_seconds
            )
        case "openai":
            from situate.enrichment.providers.openai_batches import OpenAIBatches

            return OpenAIBatches(
                base_url=base_url, endpoint=endpoint, timeout_seconds=timeout_seconds
            )
        case _:
            message = (
                f"provider {name!r} has no batch system; `situate batch export` "
                "writes the requests to a file for any other"
            )
            raise ConfigError(message)
