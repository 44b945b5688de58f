"""Says whether what a statement names was shown to the model that wrote it.

    evidence = evidence_of(document, title, *breadcrumbs)
    ungrounded(statement, language, evidence, passage)

Numbers, dates, units, quotations and names are compared in normal forms. Words
are not: whether a sentence is true is beyond it, whether it made up a figure is
not. A `must` that became a `must not` is not found.
"""

from situate.enrichment.grounding.evidence import Evidence, evidence_of
from situate.enrichment.grounding.statements import Ungrounded, ungrounded

__all__ = ["Evidence", "Ungrounded", "evidence_of", "ungrounded"]
