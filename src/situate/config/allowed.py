"""What a key may hold, for pydantic to judge and for people to read."""

import re
from decimal import Decimal
from pathlib import Path
from typing import Annotated

from pydantic import BeforeValidator, ConfigDict, Field

from situate.addresses import read_address, read_server

CLOSED = ConfigDict(extra="forbid")
_TEXT = r"^[^\p{Cc}\p{Zl}\p{Zp}]*[^\s\p{Cc}][^\p{Cc}\p{Zl}\p{Zp}]*$"

# A table row shares its chunk with the header, a code line with both fences, and
# one emoji takes a dozen tokens: in smaller chunks nearly everything would be cut
# inside. The other end only keeps sums within reason.
LEAST_CHUNK, _MOST_TOKENS = 32, 1_000_000
MOST_BYTES = 2**40

_TIME = re.compile(r"(?P<number>[1-9][0-9]{0,5})(?P<unit>[smh])\Z")
_SECONDS = {"s": 1, "m": 60, "h": 3600}


def whole(least: int, most: int = _MOST_TOKENS) -> object:
    """Allow whole numbers."""
    allowed = f"a whole number from {least:,} to {most:,}"
    return Field(strict=True, ge=least, le=most, description=allowed)


def share() -> object:
    """Allow a share."""
    allowed = "a number from 0 to 1"
    return Field(strict=True, ge=0, le=1, description=allowed)


def seconds(least: float) -> object:
    """Allow seconds, up to a day."""
    allowed = f"a number of seconds from {least:g} to 86,400"
    return Field(strict=True, ge=least, le=86_400, description=allowed)


def line() -> object:
    """Allow a text of one line."""
    allowed = "a text of one line, not blank"
    return Field(strict=True, pattern=_TEXT, description=allowed)


def duration(value: object) -> object:
    """Give the seconds of a time like `90m`."""
    if isinstance(value, str) and (found := _TIME.match(value)):
        return int(found["number"]) * _SECONDS[found["unit"]]
    message = "not a time"
    raise ValueError(message)


def number(value: object) -> object:
    """Let numbers become decimals by what they look like, and nothing else."""
    if isinstance(value, bool) or not isinstance(value, int | float | Decimal):
        message = "not a number"
        raise ValueError(message)  # noqa: TRY004 - pydantic collects ValueError only
    return Decimal(str(value))


def path(value: object) -> object:
    """Accept a text of one line as the name of a file or folder."""
    if not isinstance(value, str) or not value.strip() or not value.isprintable():
        message = "not a path"
        raise ValueError(message)
    return Path(value)


def listed(value: object) -> object:
    """Take one value for a list of one."""
    return value if isinstance(value, list | tuple | dict) else [value]


VALUES = Annotated[
    tuple[str | bool | int | float, ...], Field(min_length=1), BeforeValidator(listed)
]


def http(value: object) -> object:
    """Accept the address of an HTTP server that carries no secret.

    Raises:
        ValueError: it is none, or one that could be read in two ways.
    """
    if not isinstance(value, str):
        message = "not an address"
        raise ValueError(message)  # noqa: TRY004 - pydantic collects ValueError only
    read_address(value)
    return value


def server(value: object) -> object:
    """Accept the address of a server of the Redis protocol.

    Raises:
        ValueError: it is none.
    """
    if not isinstance(value, str):
        message = "not an address"
        raise ValueError(message)  # noqa: TRY004 - pydantic collects ValueError only
    read_server(value)
    return value
