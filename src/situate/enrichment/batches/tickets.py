"""Tickets: what was handed to a vendor's batch system, on disk before it is.

One JSON file for each batch, in a folder inside the cache they belong to: an
answer and the ticket that asked for it are kept, shared and thrown away together.
A ticket that cannot be read is an error, never a missing one: what it stands for
may be running.
"""

from __future__ import annotations

import datetime
import json
import os
import re
from contextlib import contextmanager
from dataclasses import dataclass, fields, replace
from typing import TYPE_CHECKING, Any, Literal, TypeAlias, get_args

from situate.enrichment.batches.filing import AskedPassage, AskedRequest
from situate.enrichment.cache.rows import amount_in, is_storable
from situate.enrichment.cache.store import TICKETS
from situate.enrichment.keys import canonical
from situate.enrichment.providers.batching import is_id
from situate.enrichment.settings import View
from situate.errors import Locked, RecordError, SituateError
from situate.files import sync_folder, take_lock
from situate.model import digest

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from decimal import Decimal
    from pathlib import Path

    from situate.model import JsonValue

SCHEMA = 3

TicketState: TypeAlias = Literal[
    "prepared", "submitted", "collected", "cancelled", "failed"
]
"""`prepared`: about to be handed in, perhaps handed in. `submitted`: the vendor has
it and gave its id. The others are over: `collected` and `cancelled` with their
answers in the cache, `failed` without any."""

Outlook: TypeAlias = Literal["none", "pending", "ask_live"]
"""What tickets say of a chunk: nothing, that an answer may come, or that a batch
brought none and a live run should ask."""

_LOCK = ".lock"
_ID_DIGITS = 12

_AMOUNTS = ("most_usd", "cost_usd")
_COUNTED_UP_TO = 10**15
_TIMES = ("created", "unseen_since", "cancel_asked")
_MONTH = re.compile(r"[0-9]{4}-(?:0[1-9]|1[0-2])")


@dataclass(frozen=True, slots=True, kw_only=True)
class Ticket:
    """One batch, from before it is handed in until its answers are here."""

    ticket: str
    """Our own id, from what is asked and when."""
    corpus: str
    provider: str
    endpoint: str
    model: str
    created: str
    """ISO time with its zone, as are the other times."""
    state: TicketState = "prepared"
    requests: int
    asked: tuple[AskedRequest, ...]
    """Its requests, and whose answers they bring; dropped when it is over."""
    after: str | None = None
    """The batch the vendor had taken in last before this one was handed in."""
    batch_id: str | None = None
    """The vendor's id."""
    unseen_since: str | None = None
    """When the vendor was first found not to have it."""
    cancel_asked: str | None = None
    answered: int = 0
    """Replies in the cache."""
    ask_live: tuple[str, ...] = ()
    """Keys of chunks that got no usable answer."""
    most_tokens: int = 0
    """What it may take at most, input and output together."""
    most_usd: Decimal | None = None
    """What it may cost at most; None where no price is known."""
    month: str | None = None
    """In which month that is set aside, like `2026-12`."""
    cost_usd: Decimal | None = None
    """What its replies say it did cost."""
    reason: str | None = None
    """Why it failed."""

    @property
    def is_open(self) -> bool:
        """Whether answers may still come."""
        return self.state in {"prepared", "submitted"}

    @property
    def custom_ids(self) -> tuple[str, ...]:
        """The keys its replies will be stored under; none when it is over."""
        return tuple(each.custom_id for each in self.asked)


def prepared(**about: Any) -> Ticket:
    """Make a ticket with an id that names what is asked, and when."""
    asked: tuple[AskedRequest, ...] = about["asked"]
    ids: list[JsonValue] = [each.custom_id for each in asked]
    name = digest(canonical([ids, about["created"]]))[:_ID_DIGITS]
    return Ticket(ticket=name, requests=len(ids), **about)


def closed(ticket: Ticket, state: TicketState, **changes: Any) -> Ticket:
    """Give a ticket that is over; what it asked for is not needed any more."""
    return replace(ticket, state=state, asked=(), **changes)


def tickets_folder(cache_directory: Path) -> Path:
    """Name the folder of the tickets whose answers go to a cache."""
    return cache_directory / TICKETS


class Tickets:
    """The tickets of one cache, for one writer at a time."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def all(self) -> tuple[Ticket, ...]:
        """Give every ticket, the oldest first.

        Raises:
            RecordError: one cannot be read.
        """
        try:
            paths = sorted(self.folder.glob("*.json"))
            found = [_read(path) for path in paths]
        except OSError as error:
            message = f"tickets in {str(self.folder)!r} cannot be read: {error}"
            raise RecordError(message) from error
        return tuple(sorted(found, key=lambda ticket: (ticket.created, ticket.ticket)))

    def write(self, ticket: Ticket) -> None:
        """Put a ticket in its place; it is on the disk when this returns.

        Raises:
            SituateError: the file system refuses.
        """
        path = self.folder / f"{ticket.ticket}.json"
        part = path.with_name(f"{path.name}.part")
        record = json.dumps(_written(ticket))
        try:
            # For its owner alone: keys tell who asked the same.
            descriptor = os.open(part, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
            with os.fdopen(descriptor, "w", encoding="utf-8") as file:
                file.write(record)
                file.flush()
                os.fsync(file.fileno())
            part.replace(path)
            sync_folder(self.folder)
        except OSError as error:
            message = f"ticket {str(path)!r} cannot be written: {error}"
            raise SituateError(message) from error

    @contextmanager
    def locked(self) -> Iterator[None]:
        """Be the only one who writes; the system lets go with the process.

        Raises:
            Locked: another command works on these tickets.
            SituateError: the folder cannot be made.
        """
        try:
            self.folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            file = (self.folder / _LOCK).open("ab")
        except OSError as error:
            message = f"tickets in {str(self.folder)!r} cannot be written: {error}"
            raise SituateError(message) from error
        with file:
            try:
                take_lock(file.fileno())
            except BlockingIOError as error:
                message = (
                    f"tickets in {str(self.folder)!r} are being worked on by another "
                    "command; wait"
                )
                raise Locked(message) from error
            yield


@dataclass(frozen=True, slots=True, kw_only=True)
class Pending:
    """What the tickets of a cache say of chunks, as they stood once."""

    pending: frozenset[str]
    """Keys of chunks, and of their sections."""
    ask_live: frozenset[str]
    """Keys of chunks alone."""

    @classmethod
    def of(cls, folder: Path) -> Pending:
        """Read the tickets in a folder; one that is not there holds none.

        Raises:
            RecordError: a ticket cannot be read.
        """
        return cls.among(Tickets(folder).all())

    @classmethod
    def among(cls, tickets: tuple[Ticket, ...]) -> Pending:
        """Sum tickets up."""
        return cls(
            pending=frozenset(
                key
                for each in tickets
                if each.is_open
                for request in each.asked
                for passage in request.passages
                for key in passage.keys
            ),
            ask_live=frozenset(key for each in tickets for key in each.ask_live),
        )

    def state(self, key: str) -> Outlook:
        """Say what is known of a chunk, or of its section, by its key.

        An open ticket counts more than an old one. Whoever finds an answer in the
        cache need not ask here.
        """
        if key in self.pending:
            return "pending"
        return "ask_live" if key in self.ask_live else "none"


def outstanding(cache_directory: Path) -> Callable[[str], Outlook]:
    """Give what the tickets of a cache say of a chunk or its section, by its key.

    Raises:
        RecordError: a ticket cannot be read.
    """
    return Pending.of(tickets_folder(cache_directory)).state


def _written(ticket: Ticket) -> dict[str, JsonValue]:
    """Give a ticket as it stands in its file."""
    record: dict[str, Any] = {
        each.name: getattr(ticket, each.name) for each in fields(Ticket)
    }
    for name in _AMOUNTS:
        amount = record[name]
        record[name] = None if amount is None else f"{amount:f}"
    record["asked"] = [
        {
            "custom_id": request.custom_id,
            "view": request.view,
            "begin": request.begin,
            "input_tokens": request.input_tokens,
            "output_tokens": request.output_tokens,
            "passages": [
                [each.number, each.chunk_key, each.section_key, each.chunk_id]
                for each in request.passages
            ],
        }
        for request in ticket.asked
    ]
    return {"schema": SCHEMA, **record}


def _read(path: Path) -> Ticket:
    try:
        record = json.loads(path.read_bytes())
        schema = record.pop("schema")
        for name in _AMOUNTS:
            record[name] = _amount(record[name])
        record["ask_live"] = tuple(record["ask_live"])
        record["asked"] = tuple(map(_asked, record["asked"]))
        ticket = Ticket(**record)
        _check(ticket, schema, path)
    except (
        ValueError,
        TypeError,
        KeyError,
        AttributeError,
        RecursionError,
    ) as error:
        message = (
            f"ticket {str(path)!r} cannot be read ({error}); a batch may be running "
            "for it: mend the file, or look at the vendor's list of batches first"
        )
        raise RecordError(message) from error
    return ticket


def _check(ticket: Ticket, schema: object, path: Path) -> None:
    """Refuse what this version did not write.

    Raises:
        ValueError: a value is none of those a ticket has.
    """
    texts = {f.name for f in fields(Ticket) if f.type in {"str", "str | None"}}
    required = {f.name for f in fields(Ticket) if f.type == "str"}
    values = {name: getattr(ticket, name) for name in texts}
    if (
        schema != SCHEMA
        or ticket.state not in get_args(TicketState)
        or ticket.ticket != path.stem
        or any(not isinstance(values[name], str) for name in required)
        or not all(map(_is_text_or_none, values.values()))
        or not all(map(_is_text, ticket.ask_live))
        or not all(_is_time(values[name]) for name in _TIMES)
        or (ticket.batch_id is not None and not is_id(ticket.batch_id))
        or (ticket.month is not None and not _MONTH.fullmatch(ticket.month))
        or not all(
            map(_is_count, (ticket.most_tokens, ticket.requests, ticket.answered))
        )
        or (ticket.state == "submitted" and ticket.batch_id is None)
        or (ticket.is_open and len(ticket.asked) != ticket.requests)
    ):
        message = "it is not as this version writes tickets"
        raise ValueError(message)


def _asked(record: Any) -> AskedRequest:
    """Read what a request asks about.

    Raises:
        ValueError: it is not as this version writes it.
    """
    passages = tuple(
        AskedPassage(
            number=number,
            chunk_key=chunk_key,
            section_key=section_key,
            chunk_id=chunk_id,
        )
        for number, chunk_key, section_key, chunk_id in record["passages"]
    )
    request = AskedRequest(**{**record, "passages": passages})
    texts = [request.custom_id, *(each.chunk_id for each in passages)]
    texts += [each.chunk_key for each in passages]
    perhaps = [request.begin, *(each.section_key for each in passages)]
    if (
        not passages
        or request.view not in get_args(View)
        or not all(map(_is_text, texts))
        or not all(map(_is_text_or_none, perhaps))
        or not all(isinstance(each.number, int | None) for each in passages)
        or not _is_count(request.input_tokens)
        or not _is_count(request.output_tokens)
    ):
        message = "it does not say what was asked about"
        raise ValueError(message)
    return request


def _amount(value: object) -> Decimal | None:
    """Read an amount of money.

    Raises:
        ValueError: it is none.
    """
    amount = None if value is None else amount_in(value)
    if value is not None and amount is None:
        message = "an amount in it is none"
        raise ValueError(message)
    return amount


def _is_count(value: object) -> bool:
    # A number that is longer would not be written out again.
    return isinstance(value, int) and 0 <= value < _COUNTED_UP_TO


def _is_text(value: object) -> bool:
    return isinstance(value, str) and is_storable(value)


def _is_text_or_none(value: object) -> bool:
    return value is None or _is_text(value)


def _is_time(value: object) -> bool:
    """Say whether this is a time with its zone, or none.

    Raises:
        ValueError: it is no time at all.
    """
    if not isinstance(value, str):
        return value is None
    return datetime.datetime.fromisoformat(value).tzinfo is not None
