"""Writes a corpus's files whole or not at all, one run at a time.

Everything goes into files beside the final ones, which take their places once
all is written. What a killed run left behind is replaced by the next; its lock
goes with its process, however that ends.
"""

from __future__ import annotations

import hashlib
import os
from contextlib import ExitStack, contextmanager, suppress
from pathlib import PurePath
from typing import TYPE_CHECKING

from situate import files
from situate.errors import ConfigError, Locked, SituateError
from situate.files import sync_folder, take_lock
from situate.manifest import FileDigest

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping
    from pathlib import Path
    from types import TracebackType
    from typing import Self


class Draft:
    """A file being written under a name of its own, beside its place."""

    def __init__(self, path: Path) -> None:
        """Start it, in place of what a killed run may have left.

        Raises:
            OSError: the file system refuses.
        """
        self._place = path
        self._path = path.with_name(f".{path.name}.part")
        self._path.unlink(missing_ok=True)
        self._file = self._path.open("xb")
        self._hash = hashlib.sha256()
        self._size = 0

    def write(self, data: bytes) -> None:
        """Append.

        Raises:
            OSError: the file system refuses.
        """
        self._file.write(data)
        self._hash.update(data)
        self._size += len(data)

    @property
    def digest(self) -> FileDigest:
        """What has been written so far."""
        return FileDigest(
            name=self._place.name, bytes=self._size, sha256=self._hash.hexdigest()
        )

    def finish(self) -> None:
        """Bring everything onto the disk.

        Raises:
            OSError: the file system refuses.
        """
        self._file.flush()
        os.fsync(self._file.fileno())
        self._file.close()

    def publish(self) -> None:
        """Take the final place; what stood there is gone.

        Raises:
            OSError: the file system refuses.
        """
        self._path.replace(self._place)

    def discard(self) -> None:
        """Leave nothing behind; after `publish` there is nothing to leave."""
        # A file that cannot be closed or removed must not hide why it is given up.
        with suppress(OSError):
            self._file.close()
        with suppress(OSError):
            self._path.unlink(missing_ok=True)


class Output:
    """The drafts of one file and of what stands beside it, under its lock.

        with Output(path, path.with_name("a.blocks.jsonl"), kept=documents) as output:
            ...

    Whatever is not published when the block ends is gone. `kept` names files that
    nothing may replace, and folders with all that is in them.
    """

    def __init__(self, path: Path, *beside: Path, kept: Iterable[Path] = ()) -> None:
        self._path = files.resolved(path)
        self._beside = beside
        self._kept = tuple(kept)
        self._stack = ExitStack()

    def __enter__(self) -> Self:
        """Take the lock and make room.

        Raises:
            Locked: another run writes the same output.
            ConfigError: something stands in its place that is not to be replaced.
            SituateError: the folder cannot be made or written.
        """
        with writing(self._path), ExitStack() as stack:
            kept = {files.identity(path): path for path in self._kept}
            for path in (self._path, *self._beside):
                _refuse_to_replace(path, kept)
            self._path.parent.mkdir(parents=True, exist_ok=True)
            stack.enter_context(_lock(self._path))
            self._stack = stack.pop_all()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._stack.close()

    def draft(self, name: str | None = None) -> Draft:
        """Start the file, or one of another name beside it.

        Raises:
            OSError: the file system refuses.
        """
        draft = Draft(self._path.with_name(name or self._path.name))
        self._stack.callback(draft.discard)
        return draft

    def publish(self, *drafts: Draft) -> None:
        """Put files in their places, in this order, when all are on the disk.

        Raises:
            OSError: the file system refuses.
        """
        for draft in drafts:
            draft.finish()
        for draft in drafts:
            draft.publish()
        sync_folder(self._path.parent)


def put(path: Path, lines: Iterable[bytes]) -> None:
    """Write one file whole or not at all, for whoever holds the lock of its place.

    Raises:
        OSError: the file system refuses.
    """
    draft = Draft(path)
    try:
        for line in lines:
            draft.write(line)
        draft.finish()
        draft.publish()
    finally:
        draft.discard()
    sync_folder(path.parent)


def write_alone(path: Path, content: bytes, *, kept: Iterable[Path] = ()) -> None:
    """Write one file whole or not at all, under its lock.

    Raises:
        Locked: another process writes it.
        ConfigError: something stands in its place that is not to be replaced.
        SituateError: the file system refuses.
    """
    with Output(path, kept=kept) as output, writing(path):
        draft = output.draft()
        draft.write(content)
        output.publish(draft)


@contextmanager
def held(path: Path) -> Iterator[None]:
    """Hold the lock of an output, to write other things beside it.

    Raises:
        Locked: another run holds it.
        SituateError: the folder cannot be made or written.
    """
    place = files.resolved(path)
    with ExitStack() as stack:
        with writing(place):
            place.parent.mkdir(parents=True, exist_ok=True)
            stack.enter_context(_lock(place))
        yield


@contextmanager
def writing(path: Path) -> Iterator[None]:
    """Turn what a file system refuses into an error that names the output.

    Raises:
        SituateError: an OSError inside the block.
    """
    try:
        yield
    except OSError as error:
        message = f"output {str(path)!r} cannot be written: {error.strerror or error}"
        raise SituateError(message) from error


def _refuse_to_replace(path: Path, kept: Mapping[str, Path]) -> None:
    """Let a path be written only if that costs nobody anything.

    Raises:
        ConfigError: no file is there, or one that is kept, by identity.
        OSError: the file system refuses.
    """
    with suppress(FileNotFoundError):
        if not files.is_regular(path):
            message = f"output {str(path)!r} cannot be written: {files.NO_FILE}"
            raise ConfigError(message)
    own = PurePath(files.identity(path))
    for place in (own, *own.parents):
        if (other := kept.get(str(place))) is not None:
            message = (
                f"output {str(path)!r} is, or lies in, {str(other)!r}, which is not "
                "to be replaced; name another file"
            )
            raise ConfigError(message)


@contextmanager
def _lock(path: Path) -> Iterator[None]:
    """Hold the lock of an output; the system lets go of it with the process.

    The lock file stays: removing it would let two runs lock two files.
    """
    with path.with_name(f".{path.stem}.lock").open("ab") as file:
        try:
            take_lock(file.fileno())
        except BlockingIOError as error:
            message = f"output {str(path)!r} is being written by another run; wait"
            raise Locked(message) from error
        yield
