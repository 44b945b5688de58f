"""What a run tells whoever waits for it, while it runs."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from situate.enrichment.estimate import Estimate, Option


@dataclass(frozen=True, slots=True, kw_only=True)
class Forecast:
    """What one corpus would send, before anything is sent."""

    corpus: str
    documents: int
    failed: tuple[str, ...]
    """Why documents cannot be read, one reason each."""
    chunks: int
    """Records, parents included."""
    provider: str | None
    """None where enrichment is off."""
    model: str | None
    estimate: Estimate | None
    """None where enrichment is off. Under `replay`: what asking the model for
    everything would cost."""
    options: tuple[Option, ...] = ()
    """Every way of asking, side by side; empty where nobody wants to compare."""
    objection: str | None = None
    """What `run` would stop at: limits that do not fit the model or the estimate."""
    withheld: tuple[str, ...] = ()
    """Documents of which nothing is sent, and why."""


class Watcher(Protocol):
    """Hears of a run; nothing it does changes what comes out."""

    def note(self, message: str) -> None:
        """Hear a sentence meant for people."""

    def forecast(self, forecast: Forecast) -> None:
        """Hear what a corpus will cost before it costs anything."""

    def begin(self, task: str, documents: int) -> None:
        """Hear that a walk over this many documents begins."""

    def advance(self) -> None:
        """Hear that one more document is done."""
