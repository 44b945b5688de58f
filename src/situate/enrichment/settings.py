"""How a corpus is enriched, as plain values.

The config module validates what a person wrote; nothing past it sees pydantic.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, TypeAlias

if TYPE_CHECKING:
    from collections.abc import Mapping
    from decimal import Decimal
    from pathlib import Path

    from situate.enrichment.redaction import Redaction
    from situate.organisation import Mode

REPLAY = "replay"
"""The provider that answers from recorded replies."""

View = Literal["marked", "full", "window"]
"""What a model is shown. `marked`: a document, or a window of a long one, once,
with many chunks marked in it. `full`: the whole document and one chunk.
`window`: the headings, the neighbours and one chunk."""

ViewChoice: TypeAlias = Literal[View, "auto"]
"""`auto` picks by the length of the document and by what the model can do."""

Conditions: TypeAlias = "Mapping[str, tuple[str | bool | int | float, ...]]"
"""The values that metadata has to have, by key, for a model to be shown it."""

Reuse = Literal["section", "request"]
"""When an answer of before serves: while the section of its chunk is the same, or
for the same request alone (E4)."""


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
    accept_models: tuple[str, ...] = ()
    """Models whose answers of before serve as well as those of `model`."""
    enrich_when: Conditions | None = None
    """What may be shown to a model; None: everything."""
    view: ViewChoice = "auto"
    mode: Mode = "live"
    reuse: Reuse = "section"
    statement_max_tokens: int = 60
    concurrency: int = 32
    """Most requests in flight at once."""
    max_usd: Decimal | None = None
    max_usd_month: Decimal | None = None
    """Most dollars of a calendar month (UTC), all runs on one cache together."""
    max_total_tokens: int | None = None
    """Input and output of a run together."""
    max_attempts: int = 6
    """Most times one request is put on the wire."""
    timeout_seconds: float = 60
    max_wait_seconds: float = 120
    """A longer wait asked for by a provider stops enrichment."""
    requests_per_minute: int | None = None
    tokens_per_minute: int | None = None
    deadline_seconds: float | None = None
    """How long after its first question a session goes on asking."""
    replay: Path | None = None
    """Cassette file or directory; None takes the shipped ones."""
    redaction: Redaction | None = None
    """What of a document a model may not see."""

    @property
    def replayed(self) -> bool:
        """True when answers are recorded ones: nothing is sent, nothing costs."""
        return self.provider == REPLAY
