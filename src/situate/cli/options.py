"""Reads option values that are lists or pairs."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, TypeVar

import typer

from situate.errors import ConfigError
from situate.validity import read_day

if TYPE_CHECKING:
    from collections.abc import Sequence

_MOST = 1_000_000

_Choice = TypeVar("_Choice", bound=str)


AsOf = Annotated[
    str | None,
    typer.Option(
        metavar="DATE",
        help="A day like 2026-01-31: only what is in force then. [whenever]",
    ),
]


def read_as_of(day: str | None) -> str | None:
    """Read a day, where one is given.

    Raises:
        ConfigError: it is no ISO date.
    """
    return None if day is None else read_day(day)


def listed(value: str) -> tuple[str, ...]:
    """Give the parts between commas that are not blank."""
    return tuple(part for part in map(str.strip, value.split(",")) if part)


def choices(option: str, value: str, allowed: Sequence[_Choice]) -> tuple[_Choice, ...]:
    """Give the parts of a list, each of which must be known.

    Raises:
        ConfigError: one is not, or there is none.
    """
    known = {str(one): one for one in allowed}
    parts = listed(value)
    wrong = next((part for part in parts if part not in known), None)
    if wrong is not None or not parts:
        message = f"{option}: {wrong or value!r} is not one of {', '.join(allowed)}"
        raise ConfigError(message)
    return tuple(known[part] for part in dict.fromkeys(parts))


def wholes(option: str, value: str, most: int = _MOST) -> tuple[int, ...]:
    """Give the parts of a list of whole numbers from 1 upwards.

    Raises:
        ConfigError: one is not, or there is none.
    """
    parts = listed(value)
    if not parts or not all(map(_is_number, parts)):
        message = f"{option}: {value!r} is no list of whole numbers"
        raise ConfigError(message)
    numbers = tuple(dict.fromkeys(map(int, parts)))
    if min(numbers) < 1 or max(numbers) > most:
        message = f"{option}: {value!r} goes beyond 1 to {most:,}"
        raise ConfigError(message)
    return numbers


def _is_number(part: str) -> bool:
    # int() refuses thousands of digits in words of its own.
    return part.isascii() and part.isdigit() and len(part) <= len(str(_MOST))


def one_of(option: str, value: str, allowed: Sequence[_Choice]) -> _Choice:
    """Give the one value that is named.

    Raises:
        ConfigError: it is not known, or there are several.
    """
    found = choices(option, value, allowed)
    if len(found) > 1:
        message = f"{option}: {value!r} is more than one; name one"
        raise ConfigError(message)
    return found[0]


def named(option: str, value: str) -> tuple[str, Path]:
    """Part a name from a file.

    Raises:
        ConfigError: there is no name or no file.
    """
    name, _, file = value.partition("=")
    if not name.strip() or not file:
        message = f"{option}: {value!r} is no NAME=FILE"
        raise ConfigError(message)
    return name.strip(), Path(file)
