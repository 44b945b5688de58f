"""Counts what goes into a manifest while it is written."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from situate.manifest import Counts, Note

if TYPE_CHECKING:
    from situate.pipeline.documents import Failed
    from situate.pipeline.written import Written


class Tally:
    """Documents, chunks and what became of the wish for statements."""

    def __init__(self) -> None:
        self.documents = 0
        self.warnings: list[Note] = []
        self.failed: list[Note] = []
        self._levels: Counter[str] = Counter()
        self._statements = 0
        self._fallbacks: Counter[str] = Counter()
        self._skipped: Counter[str] = Counter()

    def add(self, document: Written) -> None:
        """Count a document and its chunks as they are published."""
        self.documents += 1
        self.warnings.extend(
            Note(doc_id=document.doc_id, message=message)
            for message in document.warnings
        )
        self._levels.update(document.levels)
        for (status, told), count in document.outcomes.items():
            reason = told or "unknown"
            match status:
                case "statement":
                    self._statements += count
                case "fallback":
                    self._fallbacks[reason] += count
                case "skipped":
                    self._skipped[reason] += count
                case "off":
                    pass

    def fail(self, document: Failed) -> None:
        """Count a document that could not be read, but not one that is left out."""
        if document.is_deleted:
            return
        self.documents += 1
        self.failed.append(Note(doc_id=document.source.doc_id, message=document.reason))

    @property
    def counts(self) -> Counts:
        """All of it so far, in an order that does not depend on the run."""
        return Counts(
            documents=self.documents,
            failed=len(self.failed),
            chunks=dict(sorted(self._levels.items())),
            statements=self._statements,
            fallbacks=dict(sorted(self._fallbacks.items())),
            skipped=dict(sorted(self._skipped.items())),
        )
