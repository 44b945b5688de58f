"""What somebody finds who looks a cache over, row by row.

Nothing that a row says is run or opened.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol, TypeAlias

from situate.enrichment.cache import rows

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping
    from datetime import date
    from decimal import Decimal

    from situate.enrichment.cache.rows import Located, Use
    from situate.model import JsonValue

SHOWN = 80
"""Characters of a foreign key that are shown."""

Content: TypeAlias = "str | tuple[Located, ...] | Decimal | Use"
"""A raw reply, where answers stand, the spending of a month, or that a document has
used a reply."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """A row of the database."""

    key: str
    """As text, whatever it is."""
    day: str | None
    """When it was used last, an ISO date in UTC; None when nobody says."""
    content: Content | None
    """None when it is not in our form."""
    problem: str | None
    """Why it is not in our form, or not of use."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """Something that is wrong with a cache."""

    subject: str
    """The key of a row, or `database`."""
    message: str


class Looking(Protocol):
    """A cache that is open to be read, whole or broken."""

    def rows(self, kind: str | None = None) -> Iterator[Row]:
        """Yield the rows, or those of one kind, in the order of their keys."""

    def faults(self) -> Iterator[Finding]:
        """Name what is wrong with the place as such."""

    def unused(self, kind: str, before: date) -> tuple[int, int]:
        """Count rows of a kind whose noted day is before one, and their bytes."""

    def size(self) -> int:
        """Give the bytes it takes."""


def content_of(key: str, text: str) -> tuple[Content | None, str | None]:
    """Read what a row holds, or say why it is not ours."""
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        return None, "its value is no JSON"
    if not isinstance(value, dict) or value.get("schema") != rows.SCHEMA:
        return None, f"its value is no object of version {rows.SCHEMA}"
    content: Content | None
    if key.startswith(rows.USE):
        content = rows.use_in(key, value)
    else:
        for kind, reader in _READERS.items():
            if key.startswith(kind):
                content = reader(value)
                break
        else:
            return None, "its key is of no kind that situate writes"
    if content is None:
        return None, "its value is not in the form of its kind"
    if isinstance(content, str) and not rows.is_reply(content):
        return content, "the reply in it is no JSON object"
    return content, _odd_marker(content) if isinstance(content, tuple) else None


def _odd_marker(located: tuple[Located, ...]) -> str | None:
    """Say which marker stands for no passage, None where all do."""
    for marker in (each.marker for each in located if each.marker is not None):
        if not (marker.isascii() and marker.isdecimal()):
            return f"its marker is no number: {marker!r:.{SHOWN}}"
    return None


_READERS: dict[str, Callable[[Mapping[str, JsonValue]], Content | None]] = {
    rows.REPLY: rows.reply_in,
    rows.ANSWERS: rows.answers_in,
    rows.MONTH: rows.month_in,
}
