"""What a command sent to a store, as values and as the summary beside a delta."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from pathlib import Path

    from situate.index.inventory import Agreement
    from situate.manifest import Note
    from situate.pipeline.shortfall import Stated

Kind = Literal["sync", "repair", "revert", "forget"]

Outcome = Literal["ok", "unchanged", "failed", "kept", "deleted"]
"""What became of a document: `failed` stays as it was read last where it ever was,
`kept` is gone and stays because that may be a mistake."""

SCHEMA = 1
"""Version of a delta's manifest and summary."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Sent:
    """What a command sent to a store, and what it came across."""

    corpus: str
    kind: Kind
    run: str | None = None
    """The delta to take in and acknowledge; None where there is nothing to do."""
    folder: Path | None = None
    """Where it stands."""
    upserts: int = 0
    metadata_updates: int = 0
    deletes: int = 0
    withheld_ids: tuple[str, ...] = ()
    """Records whose deletion nobody has allowed yet."""
    agrees: Agreement | None = None
    """Whether a store has this delta, which was sent before, taken in already."""
    outcomes: dict[str, Outcome] = field(default_factory=dict)
    """By document."""
    failed: tuple[Note, ...] = ()
    stated: Stated | None = None
    """None where nobody is asked for statements."""
    reasons: tuple[str, ...] = ()
    """Why this is not all that was asked for."""

    @property
    def withheld(self) -> int:
        """Count the deletions that nobody has allowed yet."""
        return len(self.withheld_ids)

    @property
    def exit_code(self) -> int:
        """Give 3 where this is not all that was asked for."""
        return 3 if self.reasons else 0


def summary(sent: Sent) -> dict[str, object]:
    """Give what stands in the summary."""
    counted: dict[str, int] = {}
    for outcome in sent.outcomes.values():
        counted[outcome] = counted.get(outcome, 0) + 1
    return {
        "schema": SCHEMA,
        "kind": sent.kind,
        "corpus": sent.corpus,
        "run": sent.run,
        "exit_code": sent.exit_code,
        "reasons": list(sent.reasons),
        "upserts": sent.upserts,
        "metadata_updates": sent.metadata_updates,
        "deletes": sent.deletes,
        "withheld": sent.withheld,
        "withheld_ids": list(sent.withheld_ids),
        "counts": dict(sorted(counted.items())),
        "documents": {
            key: outcome
            for key, outcome in sorted(sent.outcomes.items())
            if outcome != "unchanged"
        },
        "failed": [asdict(note) for note in sent.failed],
        **({} if sent.stated is None else {"statements": asdict(sent.stated)}),
    }
