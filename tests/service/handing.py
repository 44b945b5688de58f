"""What tests of the service hand over, and what they take for the outcome."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from situate.manifest import NOTHING_SPENT
from situate.pipeline.documents import Failed
from situate.pipeline.handed import Handed, source_of
from situate.pipeline.written import Written

if TYPE_CHECKING:
    from situate.service.jobs.worklist import Worklist


SERVED = ("handbook",)
"""The corpora of these tests."""


def handed(name: str = "a.md", text: str = "# A\n\nText.\n") -> Handed:
    """Give a document."""
    return Handed(name=name, content=text.encode())


def some(count: int) -> list[Handed]:
    """Give so many documents."""
    return [handed(f"{n}.md", f"# {n}\n\nText of {n}.\n") for n in range(count)]


def whole(document: Handed, *, doc_id: str | None = None) -> Written:
    """Say that a document was cut into one chunk."""
    source = source_of(document)
    return Written(
        source=source,
        doc_id=doc_id or source.doc_id,
        version="1",
        metadata_hash="0",
        effective_from=None,
        access={},
        warnings=(),
        chunks=b'{"chunk":"' + document.content.strip().replace(b"\n", b" ") + b'"}\n',
        blocks=b'{"blocks":"%s"}\n' % document.name.encode(),
        levels=Counter(section=1),
        outcomes=Counter([("fallback", "language")]),
    )


def bad(document: Handed) -> Failed:
    """Say that a document failed."""
    return Failed(source=source_of(document), reason=f"{document.name}: is bad")


def work_on_all(worklist: Worklist) -> None:
    """Claim and finish whatever there is."""
    while (claimed := worklist.claim(SERVED)) is not None:
        last = -1
        while found := worklist.next_document(claimed.number, last):
            last = found.ordinal
            outcome = whole(found.handed)
            worklist.finish(claimed.number, [(last, outcome)], NOTHING_SPENT)
