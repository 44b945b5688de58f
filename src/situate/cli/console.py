"""How situate speaks: data to stdout, everything else to stderr.

Colour and progress appear on a terminal only. Errors meant for people are one
line and an exit code.
"""

from __future__ import annotations

import json
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
    from typing import Self

    from rich.progress import Progress, TaskID

    from situate.pipeline.watching import Forecast

_CODES: dict[type[SituateError], int] = {
    ConfigError: 2,
    ReadError: 2,
    RecordError: 2,
    Locked: 4,
}


@contextmanager
def errors() -> Iterator[None]:
    """Turn an error raised on purpose into a line and an exit code."""
    try:
        yield
    except SituateError as error:
        say(str(error))
        raise typer.Exit(_code(error)) from error


def say(message: str) -> None:
    """Write a message to stderr; nothing in it can steer a terminal."""
    plain = "".join(
        character if character.isprintable() or character == "\n" else "?"
        for character in message
    )
    typer.echo(f"situate: {plain}", err=True)


def data(content: bytes) -> None:
    """Write to stdout, the same bytes on every system."""
    sys.stdout.buffer.write(content)
    sys.stdout.buffer.flush()


def text(content: str) -> None:
    """Write a text and a line break to stdout as UTF-8."""
    data(content.encode("utf-8", "backslashreplace") + b"\n")


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
            from rich.console import Console  # noqa: PLC0415 - draws the bar alone
            from rich.progress import Progress  # noqa: PLC0415 - as above

            self._progress = Progress(console=Console(stderr=True), transient=True)
            self._progress.start()
        return self

    def __exit__(self, *_: object) -> None:
        if self._progress is not None:
            self._progress.stop()

    def note(self, message: str) -> None:
        """Say a sentence."""
        say(message)

    def forecast(self, forecast: Forecast) -> None:
        """Say what a corpus will cost."""
        from situate.cli.figures import forecast_lines  # noqa: PLC0415 - needs no bar

        say("\n  ".join(forecast_lines(forecast)))

    def begin(self, task: str, documents: int) -> None:
        """Start a bar."""
        if self._progress is not None:
            if self._task is not None:
                self._progress.remove_task(self._task)
            self._task = self._progress.add_task(task, total=documents)

    def advance(self) -> None:
        """Move the bar by one document."""
        if self._progress is not None and self._task is not None:
            self._progress.advance(self._task)


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
