"""On which days what a record says is in force.

Dates are ISO and both ends inclusive; an end that nobody names is open. So they order
as texts do, and a store's range filter finds what is found here.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import date, timedelta
from typing import TYPE_CHECKING, Literal

from situate.errors import ConfigError
from situate.model import Metadata

if TYPE_CHECKING:
    from collections.abc import Iterable

    from situate.model import JsonValue

Keep = Literal["latest", "all"]
"""Which wordings of a document an index has: the last, or every one."""

_ONE_DAY = timedelta(days=1)


def in_force(said: Metadata | Mapping[str, JsonValue], day: str) -> bool:
    """Tell whether metadata, or a record's, hold on a day, an ISO date."""
    first, last = validity(said)
    return (first is None or first <= day) and (last is None or day <= last)


def validity(
    said: Metadata | Mapping[str, JsonValue],
) -> tuple[str | None, str | None]:
    """Give the first and the last day on which it holds; None where it is open."""
    if isinstance(said, Metadata):
        return said.effective_from, said.effective_to
    metadata = said["metadata"]
    found = metadata if isinstance(metadata, Mapping) else {}
    first, last = found.get("effective_from"), found.get("effective_to")
    return (
        first if isinstance(first, str) else None,
        last if isinstance(last, str) else None,
    )


def said_validity(said: Metadata | Mapping[str, JsonValue]) -> str:
    """Say in words on which days it holds."""
    first, last = validity(said)
    if first is not None and last is not None:
        if last < first:
            return "never in force"
        return f"in force from {first} to {last}"
    if first is not None:
        return f"in force from {first}"
    return "always in force" if last is None else f"in force to {last}"


def successions(begins: Iterable[str | None]) -> dict[str | None, str | None]:
    """Give the last day of each wording, by the first, where the next one begins.

    One that nobody dates has been in force for ever, and so comes first; the last has
    no next.
    """
    order = sorted(set(begins), key=lambda first: first or "")
    return {
        first: None if after is None else _day_before(after)
        for first, after in zip(order, [*order[1:], None], strict=True)
    }


def read_day(text: str) -> str:
    """Read a day as a person writes it for `--as-of`.

    Raises:
        ConfigError: it is no ISO date.
    """
    try:
        day = date.fromisoformat(text)
    except ValueError:
        day = None
    if day is None or day.isoformat() != text:
        message = f"--as-of: {text!r:.100} is no date like 2026-01-31"
        raise ConfigError(message)
    return text


def _day_before(day: str) -> str:
    found = date.fromisoformat(day)
    # Before the first day of the calendar there is none to name.
    return (found if found == date.min else found - _ONE_DAY).isoformat()
