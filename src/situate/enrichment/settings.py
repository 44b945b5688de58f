"""How a corpus is enriched, as plain values.

The config module validates what a person wrote; nothing past it sees pydantic.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from decimal import Decimal
    from pathlib import Path

REPLAY = "replay"
"""The provider that answers from recorded replies."""

View = Literal["full"]
"""What a model is shown beside the chunk: `full` is the whole document."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """Everything the enrichment stage takes from the config of a corpus."""

    provider: str
    model: str
    """The model asked and priced; under `replay` only priced."""
    prompt: str
    """Name with version: `findable-v1`."""
    endpoint: str | None = None
    """Who answers, as it stands in cache keys; None takes `base_url`."""
    base_url: str | None = None
    view: View = "full"
    statement_max_tokens: int = 60
    concurrency: int = 32
    """Most requests in flight at once."""
    max_usd: Decimal | None = None
    max_total_tokens: int | None = None
    """Input and output of a run together."""
    max_attempts: int = 6
    """Most times one request is put on the wire."""
    timeout_seconds: float = 60
    max_wait_seconds: float = 120
    """A longer wait asked for by a provider stops enrichment."""
    requests_per_minute: int | None = None
    tokens_per_minute: int | None = None
    replay: Path | None = None
    """Cassette file or directory; None takes the shipped ones."""

    @property
    def replayed(self) -> bool:
        """True when answers are recorded ones: nothing is sent, nothing costs."""
        return self.provider == REPLAY
