"""`queries make`: a corpus's documents become questions.

Nobody is asked, unless for the questions that a model drafts.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from situate.compare.drafting import asked_once, draft_corpus
from situate.errors import SituateError
from situate.pipeline.comparison.questioning import questions
from situate.pipeline.documents import Prepared
from situate.pipeline.jobs import ready
from situate.pipeline.shortfall import none_read
from situate.records import to_line

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence
    from pathlib import Path

    from situate import corpus
    from situate.compare.drafting import Draft, Source
    from situate.config import Config
    from situate.pipeline.comparison.questioning import Questioning
    from situate.pipeline.jobs import Job
    from situate.pipeline.watching import Watcher


@dataclass(frozen=True, slots=True, kw_only=True)
class Wanted:
    """What to draft."""

    kinds: Collection[Source]
    """What is drafted without asking anybody."""
    per_document: int
    """Most of these questions that a document answers."""
    per_section: int
    seed: int
    asked: Questioning | None = None
    """What a model drafts; None where none is asked."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Drafted:
    """A question file and what there is to say about it."""

    lines: bytes
    count: int
    complete: bool
    """Whether a model could be asked about every chunk that was drawn."""
    kept: tuple[Path, ...]
    """What no file of questions may replace."""


def drafted(config: Config, wanted: Wanted, watcher: Watcher) -> Drafted:
    """Draft questions; those of a model stand behind the others.

    One that is asked of two places is left out.

    Raises:
        ConfigError: something in the config cannot be used.
        SituateError: no document can be read, none gives a question, or no request
            to a model can succeed.
    """
    job = ready((config,))[0]
    sources = job.sources()
    prepared = _prepared(job, sources, watcher)
    drafts: tuple[Draft, ...] = ()
    complete = True
    if wanted.kinds:
        drafts = draft_corpus(
            [each.document for each in prepared],
            kinds=wanted.kinds,
            seed=wanted.seed,
            most_per_document=wanted.per_document,
            most_per_section=wanted.per_section,
        )
    if wanted.asked is not None:
        more, complete = questions(
            job, prepared, wanted.asked, seed=wanted.seed, watcher=watcher
        )
        drafts = tuple(asked_once([*drafts, *more]))
    if not drafts:
        message = f"nothing in {len(prepared)} documents gives a question"
        raise SituateError(message)
    lines = b"".join(to_line(draft.record) for draft in drafts)
    return Drafted(
        lines=lines,
        count=len(drafts),
        complete=complete,
        kept=(*job.kept(sources), *config.output.files),
    )


def _prepared(
    job: Job, sources: Sequence[corpus.Source], watcher: Watcher
) -> list[Prepared]:
    """Read every document.

    Raises:
        SituateError: none can be read, or two name one id.
    """
    watcher.begin(f"{job.config.corpus.name}: reading", len(sources))
    prepared, left_out = [], 0
    for outcome in job.preparer.prepare_all(sources):
        if isinstance(outcome, Prepared):
            prepared.append(outcome)
        else:
            left_out += outcome.is_deleted
            watcher.note(outcome.told)
        watcher.advance()
    if not prepared:
        raise none_read(len(sources) - left_out)
    return prepared
