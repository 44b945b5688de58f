"""Works on uploads and jobs: a thread with a loop of its own, where all asking happens."""

from __future__ import annotations

from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from collections.abc import Sequence

    from situate.config import Config
    from situate.pipeline.handed import Handed
    from situate.pipeline.watching import Forecast
    from situate.service.jobs import Jobs
    from situate.service.values import CorpusView, Cut, EngineFigures


@dataclass(frozen=True, slots=True, kw_only=True)
class EngineSettings:
    """How much is done at once."""

    uploads: int = 8
    """Uploads at work."""
    waiting: int = 32
    """Uploads that wait for others; beyond, `Busy`."""
    jobs: int = 2
    processes: int = 2
    """That read and cut."""


class Place(Protocol):
    """A place for one upload, taken before a byte of it is read."""

    async def chunk(self, corpus: str, handed: Handed, *, statements: bool) -> Cut:
        """Cut a document, and ask for statements where the corpus and caller want it.

        A caller that is called off while it waits takes nothing; once at work the
        upload is finished, so that what it paid for is kept.

        Raises:
            Busy: the engine is stopping, or the corpus's ledger is being rewritten.
            ConfigError: the corpus is not served.
        """

    async def plan(self, corpus: str, handed: Sequence[Handed]) -> Forecast:
        """Say what asking about documents would cost; send nothing.

        Raises:
            SituateError: two documents name one id; a name is none; as `chunk`.
        """


class Engine:
    """Serves corpora; may be used from any thread and any loop."""

    def __init__(
        self, configs: Sequence[Config], jobs: Jobs, settings: EngineSettings
    ) -> None:
        """Find out, before any work, whether the corpora can be served.

        Raises:
            ConfigError: a config cannot be used; `enrichment.max_usd_month` is
                missing for a model that costs money.
        """

    def start(self) -> None:
        """Begin to work, on jobs too that a process before this one left open."""
        raise NotImplementedError

    def stop(self, grace_seconds: float) -> None:
        """End: take nothing new, finish what is under way within the time.

        What is not finished stays queued for the next start. Blocks until then.
        """
        raise NotImplementedError

    def place(self) -> AbstractContextManager[Place]:
        """Take a place for an upload, before its body is read.

        Raises:
            Busy: all are taken, or the engine is stopping.
        """
        raise NotImplementedError

    def wake(self) -> None:
        """Look for jobs: one was added or deleted."""
        raise NotImplementedError

    @property
    def corpora(self) -> tuple[CorpusView, ...]:
        """What is served, by name."""
        raise NotImplementedError

    @property
    def is_alive(self) -> bool:
        """Whether it works."""
        raise NotImplementedError

    def figures(self) -> EngineFigures:
        """Say what it is at and what it has done."""
        raise NotImplementedError
