"""The form in which replies, answers and spending are stored.

One table of text keys and JSON objects: `reply:` a raw reply, `chunk:` where the
answers about a chunk stand, `month:` dollars of a calendar month. What cannot be
read in its form is taken for missing by some and named by others; neither guesses.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from decimal import Decimal, InvalidOperation
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from situate.model import JsonValue

SCHEMA = 1
"""Version of the stored values; others are taken for missing."""

REPLY = "reply:"
ANSWERS = "chunk:"
MONTH = "month:"


@dataclass(frozen=True, slots=True)
class Located:
    """Where an answer stands."""

    reply: str
    """The key of a reply."""
    marker: str | None = None
    """Which part of it, where one reply answers for many chunks."""


def of_reply(raw: str) -> dict[str, JsonValue]:
    """Give what is stored of a raw reply."""
    return {"schema": SCHEMA, "raw": raw}


def of_answers(answers: Sequence[Located]) -> dict[str, JsonValue]:
    """Give what is stored of where answers stand."""
    entries: list[JsonValue] = [
        {"reply": each.reply}
        if each.marker is None
        else {"reply": each.reply, "marker": each.marker}
        for each in answers
    ]
    return {"schema": SCHEMA, "answers": entries}


def of_month(usd: Decimal) -> dict[str, JsonValue]:
    """Give what is stored of the spending of a month."""
    return {"schema": SCHEMA, "usd": f"{usd:f}"}


def reply_in(value: Mapping[str, JsonValue]) -> str | None:
    """Read a raw reply; None when there is none."""
    raw = value.get("raw")
    return raw if isinstance(raw, str) else None


def answers_in(value: Mapping[str, JsonValue]) -> tuple[Located, ...] | None:
    """Read where answers stand; one that cannot be read makes them all missing."""
    entries = value.get("answers")
    if entries is None:
        # Before a reply could answer for many, a row listed keys of replies.
        entries = value.get("replies")
        entries = isinstance(entries, list) and [{"reply": key} for key in entries]
    if not isinstance(entries, list):
        return None
    found = []
    for entry in entries:
        reply = entry.get("reply") if isinstance(entry, dict) else None
        marker = entry.get("marker") if isinstance(entry, dict) else None
        if not isinstance(reply, str) or not isinstance(marker, str | None):
            return None
        found.append(Located(reply, marker))
    return tuple(found)


def month_in(value: Mapping[str, JsonValue]) -> Decimal | None:
    """Read the spending of a month; None when it is no amount."""
    amount = value.get("usd")
    if not isinstance(amount, str):
        return None
    try:
        usd = Decimal(amount)
    except InvalidOperation:
        return None
    return usd if usd.is_finite() else None


def past(kind: str) -> str:
    """Give what comes, in the order of keys, right after the last key of a kind."""
    return f"{kind[:-1]}{chr(ord(kind[-1]) + 1)}"


def is_reply(raw: str) -> bool:
    """Say whether a raw reply is what a provider sends: a JSON object."""
    try:
        return isinstance(json.loads(raw), dict)
    except (ValueError, RecursionError):
        return False
