"""`queries make`: a corpus's documents become questions, and nobody is asked."""

from __future__ import annotations

from typing import TYPE_CHECKING

from situate.compare.drafting import draft_corpus
from situate.errors import SituateError
from situate.pipeline.documents import Prepared
from situate.pipeline.jobs import ready
from situate.records import to_line

if TYPE_CHECKING:
    from collections.abc import Collection

    from situate.compare.drafting import Source
    from situate.config import Config
    from situate.pipeline.watching import Watcher


def drafted(
    config: Config,
    watcher: Watcher,
    *,
    kinds: Collection[Source],
    most: tuple[int, int],
    seed: int,
) -> tuple[bytes, int]:
    """Give the lines of a question file and their number.

    `most` is what a document and what a section may answer.

    Raises:
        ConfigError: something in the config cannot be used.
        SituateError: no document can be read, or none gives a question.
    """
    job = ready((config,))[0]
    sources = job.sources()
    watcher.begin(f"{config.corpus.name}: reading", len(sources))
    documents = []
    for outcome in job.preparer.prepare_all(sources):
        if isinstance(outcome, Prepared):
            documents.append(outcome.document)
        else:
            watcher.note(f"failed: {outcome.reason}")
        watcher.advance()
    if not documents:
        message = f"none of {len(sources)} documents could be read"
        raise SituateError(message)
    drafts = draft_corpus(
        documents,
        kinds=kinds,
        seed=seed,
        most_per_document=most[0],
        most_per_section=most[1],
    )
    if not drafts:
        message = f"nothing in {len(documents)} documents gives a question"
        raise SituateError(message)
    return b"".join(to_line(draft.record) for draft in drafts), len(drafts)
