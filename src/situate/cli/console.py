"""How situate speaks: data to stdout, everything else to stderr.

Colour and progress appear on a terminal only. Errors meant for people are one
line and an exit code. Data that cannot be written is an error; messages that
cannot be written are nobody's concern, and decide nothing.
"""

from __future__ import annotations

import io
import json
import os
import shutil
import sys
from contextlib import contextmanager
from dataclasses import asdict, is_dataclass
from decimal import Decimal
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from situate.errors import (
    ConfigError,
    Locked,
    ReadError,
    RecordError,
    SituateError,
)

if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import BinaryIO, Self, TextIO

    from rich.progress import Progress, TaskID

    from situate.pipeline.watching import Forecast

_CODES: dict[type[SituateError], int] = {
    ConfigError: 2,
    ReadError: 2,
    RecordError: 2,
    Locked: 4,
}


_FIRST_FREE = 3
"""Numbers below are those of stdin, stdout and stderr."""


@contextmanager
def errors() -> Iterator[None]:
    """Turn an error raised on purpose into a line and an exit code."""
    try:
        yield
    except SituateError as error:
        say(str(error))
        raise typer.Exit(_code(error)) from error


@contextmanager
def installed(extra: str) -> Iterator[None]:
    """Name the command that installs what an import inside the block lacks.

    Raises:
        ConfigError: a package is not installed.
    """
    try:
        yield
    except ModuleNotFoundError as error:
        message = f"{error.name} is missing; pip install 'situate[{extra}]'"
        raise ConfigError(message) from error


def complete_streams() -> None:
    """Put something in the place of streams that were closed before we began.

    Else the next file that is opened, an output or a database, gets their number.
    """
    # Opened for reading: writing to it fails as it does on a full disk.
    while (descriptor := os.open(os.devnull, os.O_RDONLY)) < _FIRST_FREE:
        pass
    os.close(descriptor)
    sys.stdout = sys.stdout or os.fdopen(1, "w", encoding="utf-8", closefd=False)
    sys.stderr = sys.stderr or os.fdopen(2, "w", encoding="utf-8", closefd=False)


def give_up(error: OSError) -> None:
    """Say what the system refused where nobody nearer had words for it."""
    name = f"{error.filename}: " if error.filename else ""
    say(f"{name}{error.strerror or error}")
    _let_go(sys.stdout)


def say(message: str) -> None:
    """Write a message to stderr; nothing in it can steer a terminal."""
    plain = "\n".join(map(_harmless, message.split("\n")))
    with _unheard():
        typer.echo(f"situate: {plain}", err=True)


@contextmanager
def _unheard() -> Iterator[None]:
    """Go on where stderr cannot be written: there is nobody to tell."""
    try:
        yield
    except OSError:
        _let_go(sys.stderr)


def _let_go(stream: TextIO) -> None:
    """Drop what a stream holds and cannot write, now and when the program ends."""
    with open(os.devnull, "wb") as nowhere:  # noqa: PTH123 - a name, not a path
        os.dup2(nowhere.fileno(), stream.fileno())


def data(content: bytes) -> None:
    """Write to stdout, the same bytes on every system.

    Raises:
        OSError: it cannot be written; names stdout.
    """
    copy(io.BytesIO(content))


def copy(content: BinaryIO) -> None:
    """Write what a file holds to stdout.

    Raises:
        OSError: it cannot be written; names stdout.
    """
    try:
        shutil.copyfileobj(content, sys.stdout.buffer)
        sys.stdout.buffer.flush()
    except OSError as error:
        raise OSError(error.errno, error.strerror, "stdout") from error


def text(content: str) -> None:
    """Write a text and a line break to stdout as UTF-8."""
    data(content.encode("utf-8", "backslashreplace") + b"\n")


def line(content: str) -> None:
    """Write one line to stdout; nothing in it can steer a terminal or end the line."""
    text(_harmless(content))


def as_json(value: object) -> None:
    """Write a value to stdout as JSON for machines."""
    text(json.dumps(value, default=_plain, indent=2, ensure_ascii=False))


class Terminal:
    """Shows a run on stderr: sentences always, a bar where there is a terminal."""

    def __init__(self) -> None:
        self._progress: Progress | None = None
        self._task: TaskID | None = None

    def __enter__(self) -> Self:
        if sys.stderr.isatty():
            from rich.console import Console
            from rich.progress import Progress

            self._progress = Progress(console=Console(stderr=True), transient=True)
            with _unheard():
                self._progress.start()
        return self

    def __exit__(self, *_: object) -> None:
        if self._progress is not None:
            with _unheard():
                self._progress.stop()

    def note(self, message: str) -> None:
        """Say a sentence."""
        say(message)

    def forecast(self, forecast: Forecast) -> None:
        """Say what a corpus will cost."""
        from situate.cli.figures import forecast_lines

        say("\n  ".join(forecast_lines(forecast)))

    def begin(self, task: str, documents: int) -> None:
        """Start a bar."""
        if self._progress is not None:
            if self._task is not None:
                self._progress.remove_task(self._task)
                self._task = None
            with _unheard():
                self._task = self._progress.add_task(task, total=documents)

    def advance(self) -> None:
        """Move the bar by one document."""
        if self._progress is not None and self._task is not None:
            self._progress.advance(self._task)


def _harmless(content: str) -> str:
    return "".join(
        character if character.isprintable() else "?" for character in content
    )


def _code(error: SituateError) -> int:
    return next((code for kind, code in _CODES.items() if isinstance(error, kind)), 1)


def _plain(value: object) -> object:
    if is_dataclass(value) and not isinstance(value, type):
        return asdict(value)
    if isinstance(value, Decimal):
        return f"{value:f}"
    if isinstance(value, Path):
        return str(value)
    message = f"{value!r} has no place in JSON"
    raise TypeError(message)
