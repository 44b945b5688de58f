"""The folder where an index's states are kept, and the records of its chunks.

    states/00000007.jsonl   what was acknowledged, the highest number last
    pending.jsonl           the last delta, until it is acknowledged
    records/ab/abcd.jsonl   the chunks of one document, under the hash of the file

A file is written beside its place and put there whole. Nothing but a new file in
`states` makes a state advance, so that a crash has either happened before it or after.
Whoever writes holds the lock of the output.
"""

from __future__ import annotations

import hashlib
from contextlib import contextmanager
from typing import TYPE_CHECKING, Final

from situate.errors import RecordError
from situate.files import opened, sync_folder
from situate.index.lines import (
    pending_lines,
    read_pending,
    read_run,
    read_state,
    state_lines,
)
from situate.index.names import record_id
from situate.index.state import State
from situate.output import put
from situate.records import from_line, read_lines

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from situate.index.state import DocumentState, Pending

KEPT: Final = 5
"""Runs that can be reverted."""

_READ_AGAIN: Final = "the next sync reads its document again"


class IndexFolder:
    """Reads and writes what is known of one index."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._states = folder / "states"
        self._records = folder / "records"
        self._pending = folder / "pending.jsonl"

    def acknowledged(self) -> State:
        """Give what the store has, as far as anybody has said so.

        Raises:
            RecordError: it cannot be read.
        """
        numbers = self._numbers()
        return self._state(numbers[-1]) if numbers else State()

    def pending(self, base: State) -> Pending | None:
        """Give the delta that is to be acknowledged next.

        One from an earlier state is what a crash after its acknowledgement left.

        Raises:
            RecordError: it cannot be read, or starts from a state that is not there.
        """
        if not self._pending.exists():
            return None
        with self._advised():
            pending = read_pending(read_lines(self._pending), str(self._pending))
            if pending.base > base.number:
                message = (
                    f"{self._pending}: starts from state {pending.base}, and the "
                    f"last of {self._states} is {base.number}"
                )
                raise RecordError(message)
        return pending if pending.base == base.number else None

    def generations(self) -> Iterator[State]:
        """Yield the states that are kept, the latest first.

        Raises:
            RecordError: one cannot be read.
        """
        for number in reversed(self._numbers()):
            yield self._state(number)

    def runs(self) -> frozenset[str]:
        """Name the runs that led to the states that are kept.

        Raises:
            RecordError: one cannot be read.
        """
        files = map(self._file, self._numbers())
        with self._advised():
            found = [read_run(read_lines(path), str(path)) for path in files]
        return frozenset(run for run in found if run is not None)

    def keep(self, lines: bytes) -> str:
        """Keep the records of a document; give the name to find them under.

        Raises:
            OSError: the file system refuses.
        """
        name = hashlib.sha256(lines).hexdigest()
        path = self._place(name)
        if not path.exists():
            _make(path.parent)
            put(path, [lines])
        return name

    def records(self, document: DocumentState) -> dict[str, bytes]:
        """Give the lines of a document's chunks by their records' names, in order.

        Raises:
            RecordError: they are missing or not what was kept.
        """
        path = self._place(document.records)
        try:
            with opened(path) as file:
                content = file.read()
        except OSError as error:
            message = f"{path}: cannot be read: {error.strerror}; {_READ_AGAIN}"
            raise RecordError(message) from error
        if hashlib.sha256(content).hexdigest() != document.records:
            message = f"{path}: is not what was written; remove it, and {_READ_AGAIN}"
            raise RecordError(message)
        lines = {}
        for line in content.splitlines(keepends=True):
            chunk_id = str(from_line(line, str(path)).get("chunk_id"))
            lines[record_id(chunk_id, document.label)] = line
        for chunk_id in document.chunks:
            if chunk_id not in lines:
                message = (
                    f"{path}: chunk {chunk_id!r} is missing; remove it, and "
                    f"{_READ_AGAIN}"
                )
                raise RecordError(message)
        return {chunk_id: lines[chunk_id] for chunk_id in document.chunks}

    def has_records(self, document: DocumentState) -> bool:
        """Tell whether the records of a document are there."""
        return self._place(document.records).exists()

    def propose(self, pending: Pending) -> None:
        """Note a delta before anybody can see it.

        Raises:
            OSError: the file system refuses.
        """
        _make(self._folder)
        put(self._pending, pending_lines(pending))

    def withdraw(self) -> None:
        """Forget the delta that nobody has acknowledged.

        Raises:
            OSError: the file system refuses.
        """
        self._pending.unlink(missing_ok=True)

    def advance(self, pending: Pending) -> State:
        """Make what a delta leads to what the store has.

        Raises:
            OSError: the file system refuses.
        """
        state = pending.acknowledged()
        _make(self._states)
        put(self._file(state.number), state_lines(state))
        self.withdraw()
        return state

    def refresh(self, state: State) -> None:
        """Note what has changed about a state where a store has nothing to do.

        Raises:
            OSError: the file system refuses.
        """
        put(self._file(state.number), state_lines(state))

    def tidy(self, pending: Pending | None) -> int:
        """Remove what killed runs left, and a delta that waits no more; count files.

        Raises:
            OSError: the file system refuses.
        """
        left = [path for path in self._folder.rglob(".*.part") if path.is_file()]
        if pending is None and self._pending.exists():
            left.append(self._pending)
        for path in left:
            path.unlink()
        return len(left)

    def sweep(self, pending: Pending | None = None) -> None:
        """Remove what no kept state needs, nor a delta that waits.

        Raises:
            OSError: the file system refuses.
            RecordError: a state cannot be read.
        """
        numbers = self._numbers()
        # One more than can be reverted: the state before the first of them.
        for number in numbers[: -KEPT - 1]:
            self._file(number).unlink()
        needed = {
            document.records
            for state in self.generations()
            for document in state.documents.values()
        }
        if pending is not None:
            needed.update(each.records for each in pending.documents.values())
        for path in list(self._records.glob("*/*")):
            if path.stem not in needed:
                path.unlink()

    def _numbers(self) -> list[int]:
        return sorted(
            int(path.stem)
            for path in self._states.glob("*.jsonl")
            if path.stem.isascii() and path.stem.isdigit()
        )

    def _state(self, number: int) -> State:
        path = self._file(number)
        with self._advised():
            state = read_state(read_lines(path), str(path))
            if state.number != number:
                message = f"{path}: says it is number {state.number}"
                raise RecordError(message)
        return state

    @contextmanager
    def _advised(self) -> Iterator[None]:
        """Say how to go on where nobody knows any more what a store has."""
        try:
            yield
        except RecordError as error:
            message = (
                f"{error}; restore {self._folder} from a backup, then verify, or "
                "remove it, sync and acknowledge, then verify"
            )
            raise RecordError(message) from error

    def _file(self, number: int) -> Path:
        return self._states / f"{number:08}.jsonl"

    def _place(self, name: str) -> Path:
        return self._records / name[:2] / f"{name}.jsonl"


def _make(folder: Path) -> None:
    """Make a folder that is still there after a loss of power."""
    if not folder.is_dir():
        _make(folder.parent)
        folder.mkdir(exist_ok=True)
        sync_folder(folder.parent)
