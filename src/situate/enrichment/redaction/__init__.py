"""Hides from a model what somebody does not want it to see, before anything is asked.

A document and its chunks are replaced by copies in which a mark stands where something
is hidden; requests, keys and what answers are judged by all follow from the copies.
What is hidden in one place of a document is hidden in all of it. Where it is not
certain that nothing is left over, more is hidden rather than less.
"""

from __future__ import annotations

from situate.enrichment.redaction.copies import Shown, redacted
from situate.enrichment.redaction.hook import (
    MARK,
    Redaction,
    RedactionFailed,
    quotable,
)

__all__ = ["MARK", "Redaction", "RedactionFailed", "Shown", "quotable", "redacted"]
