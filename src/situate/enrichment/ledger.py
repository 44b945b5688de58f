"""Notes every request as it ends: who was asked, what it used, what it cost.

JSON lines, appended. Holds neither a word of a document nor a secret, and is
the only place of the enrichment stage with a time in it.
"""

from __future__ import annotations

import json
import os
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from decimal import Decimal, InvalidOperation
from typing import TYPE_CHECKING, BinaryIO, Literal, TextIO

from situate.errors import ConfigError, Locked, RecordError
from situate.fields import Fields
from situate.files import share_lock, take_lock
from situate.records import from_line, read_lines

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path
    from types import TracebackType
    from typing import Self

    from situate.enrichment.settings import View
    from situate.usage import Usage

Source = Literal["wire", "batch", "cache", "replay"]
"""`wire` was sent, `batch` came back in a vendor's batch, `replay` came from a
cassette, `cache` from an earlier or an equal request."""

SCHEMA = 2


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """One request, or one answer that was at hand already."""

    request: str
    """The key its raw reply is stored under."""
    chunk_ids: tuple[str, ...]
    view: View | None
    """None for what was at hand."""
    provider: str
    endpoint: str
    model_asked: str
    model_answered: str | None
    attempts: int
    """Times it was put on the wire; 0 for what was at hand."""
    outcome: str
    """`answered`, `refusal`, `truncated`, `empty` or why there was no reply."""
    seconds: float | None
    """Spent waiting for the provider, over all attempts; None for what was at hand,
    and for what came back in a batch."""
    usage: Usage | None
    cost_usd: Decimal | None
    """None when the price is unknown; 0 for what was at hand."""
    source: Source


@dataclass(frozen=True, slots=True, kw_only=True)
class Noted:
    """What a ledger says of one request about a chunk."""

    time: str
    """When it ended, as the ledger has it."""
    source: str
    outcome: str
    provider: str
    model: str
    """The one that answered, else the one that was asked."""
    view: str | None
    attempts: int
    chunks: int
    """How many were asked about together."""
    cost_usd: Decimal | None
    """For all of them; None when the price is unknown."""


def noted(path: Path, chunk_id: str) -> tuple[tuple[Noted, ...], int]:
    """Give the requests about a chunk, oldest first, and how many lines are broken.

    Only lines that hold its id are looked at; a killed run leaves half a line.

    Raises:
        RecordError: the file cannot be read.
    """
    # As `Ledger` writes it, quotes included, so that no longer id is taken for it.
    wanted = json.dumps(chunk_id).encode()
    found: list[Noted] = []
    broken = 0
    for where, line in read_lines(path):
        if wanted not in line:
            continue
        try:
            fields = Fields(from_line(line, where), where)
            ids = fields.listed("chunk_ids", str)
            if chunk_id in ids:
                gone = fields.whole("forgotten") if "forgotten" in fields else 0
                found.append(_noted(fields, len(ids) + gone))
        except (RecordError, InvalidOperation):
            broken += 1
    return tuple(found), broken


def _noted(fields: Fields, chunks: int) -> Noted:
    asked, cost = fields.text("model_asked"), fields.text_or_none("cost_usd")
    return Noted(
        time=fields.text("time"),
        source=fields.text("source"),
        outcome=fields.text("outcome"),
        provider=fields.text("provider"),
        model=fields.text_or_none("model_answered") or asked,
        view=fields.text_or_none("view"),
        attempts=fields.whole("attempts"),
        chunks=chunks,
        cost_usd=None if cost is None else Decimal(cost),
    )


def _now() -> datetime:
    return datetime.now(UTC)


@contextmanager
def rewriting(path: Path) -> Iterator[None]:
    """Keep away whoever appends to a ledger, to put another file in its place.

    A line that went into the file of before would be lost, with what it says was spent.

    Raises:
        Locked: another command appends to it.
        OSError: the file system refuses.
    """
    with _lock_of(path) as lock:
        try:
            take_lock(lock.fileno())
        except BlockingIOError as error:
            message = f"ledger {str(path)!r} is being written by another command; wait"
            raise Locked(message) from error
        yield


def _lock_of(path: Path) -> BinaryIO:
    """Open what stands for a ledger, whichever file bears its name.

    Beside it, and never removed: two commands would lock two files.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    return path.with_name(f".{path.stem}.lock").open("ab")


class Ledger:
    """A file that grows by one line per request; several commands may append."""

    def __init__(self, path: Path, *, now: Callable[[], datetime] = _now) -> None:
        """Open the file for appending.

        Raises:
            ConfigError: it cannot be written.
            Locked: another command puts another file in its place.
        """
        self._now = now
        with ExitStack() as stack:
            try:
                lock = stack.enter_context(_lock_of(path))
                share_lock(lock.fileno())
                self._file: TextIO = stack.enter_context(
                    path.open("a+", encoding="utf-8", newline="\n")
                )
                self._start_on_a_new_line()
            except BlockingIOError as error:
                message = f"ledger {str(path)!r} is being rewritten; wait"
                raise Locked(message) from error
            except OSError as error:
                message = f"ledger {str(path)!r} cannot be written: {error.strerror}"
                raise ConfigError(message) from error
            self._opened = stack.pop_all()

    def write(self, entry: Entry) -> None:
        """Append one line.

        Raises:
            OSError: the file system refuses.
        """
        usage = entry.usage
        record = {
            "schema": SCHEMA,
            "time": self._now().isoformat(timespec="milliseconds"),
            "request": entry.request,
            "chunk_ids": entry.chunk_ids,
            "view": entry.view,
            "provider": entry.provider,
            "endpoint": entry.endpoint,
            "model_asked": entry.model_asked,
            "model_answered": entry.model_answered,
            "attempts": entry.attempts,
            "outcome": entry.outcome,
            "seconds": None if entry.seconds is None else round(entry.seconds, 3),
            "usage": usage
            and {
                "uncached_input": usage.uncached_input,
                "cache_write": usage.cache_write,
                "cache_read": usage.cache_read,
                "output": usage.output,
                "thinking": usage.thinking,
            },
            "cost_usd": None if entry.cost_usd is None else f"{entry.cost_usd:f}",
            "source": entry.source,
        }
        self._file.write(json.dumps(record, ensure_ascii=True) + "\n")
        self._file.flush()

    def close(self) -> None:
        """Close the file, and let it be replaced."""
        self._opened.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def _start_on_a_new_line(self) -> None:
        """End the line a killed run left half written."""
        end = self._file.seek(0, os.SEEK_END)
        if not end:
            return
        with open(self._file.fileno(), "rb", closefd=False) as raw:
            raw.seek(end - 1)
            last = raw.read(1)
        if last != b"\n":
            self._file.write("\n")
            self._file.flush()
