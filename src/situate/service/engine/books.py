"""What an engine has done since it started, corpus by corpus."""

from __future__ import annotations

import logging
import threading
from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from situate.manifest import NOTHING_SPENT
from situate.pipeline.written import Written
from situate.service.jobs.spending import together
from situate.service.values import CorpusFigures

if TYPE_CHECKING:
    from collections.abc import Iterable

    from situate.manifest import Spent
    from situate.model import EnrichmentStatus
    from situate.pipeline.documents import Failed

_log = logging.getLogger(__name__)

_LIMITS = ("budget:", "deadline:")
"""How a reason to stop begins that says nothing of who is asked: it was configured."""


@dataclass(slots=True)
class _Account:
    documents: int = 0
    failed: int = 0
    outcomes: Counter[tuple[EnrichmentStatus, str | None]] = field(
        default_factory=Counter
    )
    spent: Spent = NOTHING_SPENT
    at_work: dict[int, Spent] = field(default_factory=dict)
    """What sessions that are open have spent, by a number of theirs."""
    trouble: str | None = None
    told: str | None = None
    """Why the session before stopped asking, as the log has it."""


class Books:
    """Counts; may be used by several threads."""

    def __init__(self, corpora: Iterable[str]) -> None:
        self._accounts = {name: _Account() for name in corpora}
        # A count that is read while it is added to would be none of the two.
        self._lock = threading.Lock()
        self._sessions = 0

    def opened(self) -> int:
        """Give a number for a session."""
        with self._lock:
            self._sessions += 1
            return self._sessions

    def document(self, corpus: str, outcome: Written | Failed) -> None:
        """Count a document."""
        with self._lock:
            account = self._accounts[corpus]
            account.documents += 1
            if isinstance(outcome, Written):
                account.outcomes.update(outcome.outcomes)
            else:
                account.failed += 1

    def spend(self, corpus: str, session: int, spent: Spent, *, ends: bool) -> None:
        """Take what a session has spent so far in place of what it had before."""
        with self._lock:
            account = self._accounts[corpus]
            account.at_work[session] = spent
            if ends:
                account.spent = together(account.spent, account.at_work.pop(session))
                _tell(corpus, account, spent.stopped)
            if spent.stopped is None:
                account.trouble = None if spent.requests else account.trouble
            elif not spent.stopped.startswith(_LIMITS):
                account.trouble = spent.stopped

    def trouble(self, corpus: str, why: str) -> None:
        """Note why nobody can be asked."""
        with self._lock:
            self._accounts[corpus].trouble = why

    def figures(self) -> dict[str, CorpusFigures]:
        """Say what was done, by corpus."""
        with self._lock:
            return {name: _figures(each) for name, each in self._accounts.items()}


def _tell(corpus: str, account: _Account, stopped: str | None) -> None:
    """Log why a session stopped asking, once for as long as it is so."""
    if stopped is not None and stopped != account.told:
        _log.warning("corpus %r: asking stopped: %s", corpus, stopped)
    account.told = stopped


def _figures(account: _Account) -> CorpusFigures:
    spent = account.spent
    for session in account.at_work.values():
        spent = together(spent, session)
    return CorpusFigures(
        documents=account.documents,
        failed=account.failed,
        outcomes=dict(account.outcomes),
        spent=spent,
        trouble=account.trouble,
    )
