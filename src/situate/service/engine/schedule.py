"""Which jobs are worked on, and for how long before others have their turn."""

from __future__ import annotations

import asyncio
import logging
import time
from typing import TYPE_CHECKING

from situate.errors import Locked
from situate.service.engine.causes import cause
from situate.service.engine.turns import Turn, Workplace
from situate.service.jobs.listening import ADDED
from situate.service.values import JobsBroken

if TYPE_CHECKING:
    from situate.service.jobs.jobs import Jobs
    from situate.service.jobs.worklist import Claimed

_SWEPT_SECONDS = 60.0
"""How often jobs are removed whose time is over."""

_AGAIN_SECONDS = 1.0
"""After which a database that could not be written, or a ledger that is being
rewritten, is tried again."""

_log = logging.getLogger(__name__)


class Schedule:
    """Jobs at work, in the engine's loop."""

    def __init__(
        self, workplace: Workplace, jobs: Jobs, *, most: int, turn_seconds: float
    ) -> None:
        self._place = workplace
        self._jobs = jobs
        self._most = most
        self._turn_seconds = turn_seconds
        self._turns: dict[asyncio.Task[None], Claimed] = {}
        self._back: list[int] = []
        """Jobs that are to wait again, as soon as that can be written down."""
        self._resumes_at = 0.0
        """On the clock: nothing is begun before."""
        self._is_stopping = False
        self.trouble: str | None = None
        """Why nothing can be worked on."""

    @property
    def at_work(self) -> int:
        """How many jobs are worked on."""
        return len(self._turns)

    async def work(self) -> None:
        """Work on jobs until called off, which is when `end` takes over."""
        self._warn()
        sweeps_at = time.monotonic() + _SWEPT_SECONDS
        with self._jobs.listening.to(ADDED) as added:
            while True:
                added.clear()
                now = time.monotonic()
                if now >= sweeps_at:
                    await self._sweep()
                    sweeps_at = now + _SWEPT_SECONDS
                if now >= self._resumes_at:
                    self._begin()
                paused = self._resumes_at - time.monotonic()
                looks = asyncio.create_task(added.wait())
                try:
                    await asyncio.wait(
                        [looks, *self._turns],
                        timeout=paused if paused > 0 else sweeps_at - now,
                        return_when=asyncio.FIRST_COMPLETED,
                    )
                finally:
                    looks.cancel()
                self._settle()

    async def end(self, grace_seconds: float) -> None:
        """Begin nothing new; finish the documents under way within the time."""
        self._is_stopping = True
        for seconds in (grace_seconds, None):
            if self._turns:
                await asyncio.wait(self._turns, timeout=seconds)
            for task in self._turns:
                task.cancel()
        self._settle()
        try:
            self._put_back()
        except JobsBroken as error:
            # They wait again as soon as the database is opened.
            self._stall(error)

    def _warn(self) -> None:
        """Say whose jobs nobody will work on: a config may have been lost."""
        try:
            corpora = self._place.worklist.unserved(self._place.served)
        except JobsBroken as error:
            self._stall(error)
            return
        for corpus in corpora:
            _log.warning("jobs wait for corpus %r, which is not served", corpus)

    def _begin(self) -> None:
        """Take as many jobs as there is room for."""
        worklist = self._place.worklist
        try:
            self._put_back()
            while len(self._turns) < self._most:
                claimed = worklist.claim(self._place.served)
                if claimed is None:
                    break
                task = asyncio.create_task(self._turn(claimed))
                self._turns[task] = claimed
        except JobsBroken as error:
            self._stall(error)
        else:
            self.trouble = None

    def _put_back(self) -> None:
        while self._back:
            self._place.worklist.put_back(self._back[-1])
            self._back.pop()

    async def _turn(self, claimed: Claimed) -> None:
        until = time.monotonic() + self._turn_seconds

        def is_over() -> bool:
            if self._is_stopping or time.monotonic() <= until:
                return self._is_stopping
            try:
                return self._place.worklist.others_wait(
                    claimed.owner, self._place.served
                )
            except JobsBroken as error:
                self._stall(error)
                return True

        await Turn(claimed, self._place).work(is_over=is_over)
        # The texts of documents that are done stand in the log of the database.
        await asyncio.to_thread(self._jobs.database.tidy)

    def _settle(self) -> None:
        """See how turns ended, and what that means for their jobs."""
        for task in [task for task in self._turns if task.done()]:
            claimed = self._turns.pop(task)
            self._back.append(claimed.number)
            error = None if task.cancelled() else task.exception()
            match error and cause(error):
                case None:
                    pass
                case JobsBroken() as broken:
                    self._stall(broken)
                case Locked():
                    self._resumes_at = time.monotonic() + _AGAIN_SECONDS
                case unexpected:
                    self._give_up(claimed, unexpected)

    def _give_up(self, claimed: Claimed, error: BaseException) -> None:
        """End a job that met a mistake of ours, before it does so for ever."""
        _log.error("job %s ended by a mistake", claimed.job_id, exc_info=error)
        reason = f"an unexpected {type(error).__name__}; the service's log says where"
        try:
            self._place.worklist.fail(claimed.number, reason)
        except JobsBroken as broken:
            self._stall(broken)

    def _stall(self, error: JobsBroken) -> None:
        self.trouble = str(error)
        self._resumes_at = time.monotonic() + _AGAIN_SECONDS

    async def _sweep(self) -> None:
        try:
            await asyncio.to_thread(self._jobs.sweep)
        except JobsBroken as error:
            self._stall(error)
