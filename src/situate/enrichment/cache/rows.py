"""The form in which replies, answers and spending are stored.

One table of text keys and JSON objects: `reply:` a raw reply, `chunk:` where the
answers about a chunk stand, `month:` dollars of a calendar month, `used:` which
document a reply was asked for or has served. What cannot be read in its form is taken
for missing by some and named by others; neither guesses.
"""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from decimal import Decimal, InvalidOperation
from typing import TYPE_CHECKING

from situate.model import digest

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from situate.model import JsonValue

SCHEMA = 1
"""Version of the stored values; others are taken for missing."""

REPLY = "reply:"
ANSWERS = "chunk:"
MONTH = "month:"
USE = "used:"

_LONGEST_AMOUNT = 100
"""Characters, and decimal places; sums of prices have a third of that at most."""
_MOST_USD = 10**12
"""More money than any run can spend."""


@dataclass(frozen=True, slots=True)
class Located:
    """Where an answer stands."""

    reply: str
    """The key of a reply."""
    marker: str | None = None
    """Which part of it, where one reply answers for many chunks."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Kept:
    """The statement that an answer was found to hold, and by which judge."""

    statement: str
    trimmed: bool
    model: str
    reply: str
    """The key of the reply it comes from."""
    judged_by: str
    """Hash of the rules and of what they went by; another one judges again."""


@dataclass(frozen=True, slots=True, kw_only=True, order=True)
class User:
    """A document that a reply was asked for, or that it has served."""

    corpus: str
    doc_id: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Use:
    """That a document has used a reply, as far as the row says which."""

    document: str
    """Hash of its id."""
    corpus: str
    reply: str
    """The key of the reply."""


def uses_of(user: User) -> str:
    """Give what the keys of a document's uses begin with: hashes, no names."""
    return f"{USE}{digest(user.doc_id)}:{digest(user.corpus)}:"


def of_use(corpus: str) -> dict[str, JsonValue]:
    """Give what is stored of a use, whose key says the rest."""
    return {"schema": SCHEMA, "corpus": corpus}


def of_reply(raw: str) -> dict[str, JsonValue]:
    """Give what is stored of a raw reply."""
    return {"schema": SCHEMA, "raw": raw}


def of_answers(
    answers: Sequence[Located], kept: Kept | None = None
) -> dict[str, JsonValue]:
    """Give what is stored of where answers stand, and of what was found in them."""
    entries: list[JsonValue] = [
        {"reply": each.reply}
        if each.marker is None
        else {"reply": each.reply, "marker": each.marker}
        for each in answers
    ]
    value: dict[str, JsonValue] = {"schema": SCHEMA, "answers": entries}
    if kept is not None:
        value["kept"] = asdict(kept)
    return value


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
        if not is_storable(reply) or not is_storable(marker or ""):
            return None
        found.append(Located(reply, marker))
    return tuple(found)


def kept_in(value: Mapping[str, JsonValue]) -> Kept | None:
    """Read the statement of a chunk; None when there is none in this form."""
    kept = value.get("kept")
    if not isinstance(kept, dict):
        return None
    texts = [kept.get(name) for name in ("statement", "model", "reply", "judged_by")]
    trimmed = kept.get("trimmed")
    if not isinstance(trimmed, bool) or not all(
        isinstance(text, str) and is_storable(text) for text in texts
    ):
        return None
    statement, model, reply, judged_by = map(str, texts)
    return Kept(
        statement=statement,
        trimmed=trimmed,
        model=model,
        reply=reply,
        judged_by=judged_by,
    )


def use_in(key: str, value: Mapping[str, JsonValue]) -> Use | None:
    """Read a use; None when key and value do not fit together."""
    corpus = value.get("corpus")
    document, _, rest = key.removeprefix(USE).partition(":")
    named, _, reply = rest.partition(":")
    if not isinstance(corpus, str) or not is_storable(corpus):
        return None
    if not (document and reply) or named != digest(corpus):
        return None
    return Use(document=document, corpus=corpus, reply=reply)


def month_in(value: Mapping[str, JsonValue]) -> Decimal | None:
    """Read the spending of a month; None when it is no amount."""
    return amount_in(value.get("usd"))


def amount_in(value: object) -> Decimal | None:
    """Read US dollars; None for what nobody can have spent.

    An exponent can stand for more digits than there is memory.
    """
    if not isinstance(value, str) or len(value) > _LONGEST_AMOUNT:
        return None
    try:
        usd = Decimal(value)
    except InvalidOperation:
        return None
    if not usd.is_finite() or usd < 0:
        return None
    exponent = usd.as_tuple().exponent
    is_plain = isinstance(exponent, int) and abs(exponent) <= _LONGEST_AMOUNT
    return usd if is_plain and usd < _MOST_USD else None


def is_storable(text: str) -> bool:
    """Say whether a text can be stored: half a surrogate pair has no UTF-8 form."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def past(kind: str) -> str:
    """Give what comes, in the order of keys, right after the last key of a kind."""
    return f"{kind[:-1]}{chr(ord(kind[-1]) + 1)}"


def is_reply(raw: str) -> bool:
    """Say whether a raw reply is what a provider sends: a JSON object."""
    try:
        return isinstance(json.loads(raw), dict)
    except (ValueError, RecursionError):
        return False
