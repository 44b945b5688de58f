"""Reads a person's judgements and says which arm each of them is for."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, Literal, cast, get_args

from situate.compare.blind.seating import SCHEMA, Key, Seat
from situate.errors import RecordError
from situate.fields import Fields, kind_of, typed
from situate.files import opened
from situate.records import from_line, read_lines

if TYPE_CHECKING:
    from pathlib import Path

    from situate.model import JsonValue

Said = Literal["left", "right", "same", "neither"]

_SAID: Final[tuple[str, ...]] = get_args(Said)


@dataclass(frozen=True, slots=True, kw_only=True)
class Judgement:
    """What a person said of one question, and whom it is for."""

    qid: str
    said: Said
    winner: str | None
    """The better arm; None where both are the same or neither helps."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Judged:
    """A page's judgements with the key that was kept apart."""

    key: Key
    judgements: tuple[Judgement, ...]
    """In the order of the key."""
    unjudged: tuple[str, ...]
    """Questions of the page that nobody judged."""

    @property
    def log_size(self) -> int:
        """How many questions the log has that the page was drawn from."""
        differing = sum(seat.weight for seat in self.key.seats)
        return round(differing / self.key.differing_share)


def read(judgements_path: Path, key_path: Path) -> Judged:
    """Put judgements and key together; a page need not be judged to its end.

    Raises:
        RecordError: a file cannot be read or is not what it says; a judgement is of
            another page, of no question of it, made twice, or none of the four.
    """
    key = _key(key_path)
    seats = {seat.qid: seat for seat in key.seats}
    found: dict[str, tuple[str, Said]] = {}
    for where, line in read_lines(judgements_path):
        if not line.strip():
            continue
        fields = Fields(from_line(line, where), where)
        page, qid = fields.text("page"), fields.text("qid")
        said = cast("Said", fields.choice("choice", _SAID))
        fields.end()
        if page != key.page:
            message = (
                f"{where}: judged on the page {page!r}, and {key_path} is the key of "
                f"{key.page!r}"
            )
            raise RecordError(message)
        if qid not in seats:
            message = f"{where}: {qid!r} is no question of {key_path}"
            raise RecordError(message)
        if qid in found:
            message = f"{where}: {qid!r} is judged already, at {found[qid][0]}"
            raise RecordError(message)
        found[qid] = (where, said)
    return Judged(
        key=key,
        judgements=tuple(
            Judgement(
                qid=qid,
                said=found[qid][1],
                winner=_winner(found[qid][1], seat.left, key.arms),
            )
            for qid, seat in seats.items()
            if qid in found
        ),
        unjudged=tuple(qid for qid in seats if qid not in found),
    )


def _winner(said: Said, left: str, arms: tuple[str, str]) -> str | None:
    first, second = arms
    right = second if left == first else first
    match said:
        case "left":
            return left
        case "right":
            return right
        case "same" | "neither":
            return None


def _key(path: Path) -> Key:
    where = str(path)
    try:
        with opened(path) as file:
            content = file.read()
    except OSError as error:
        message = f"{where}: cannot be read: {error.strerror}"
        raise RecordError(message) from error
    fields = Fields(from_line(content, where), where)
    schema = fields.whole("schema")
    if schema != SCHEMA:
        message = f"{where}: schema is {schema}; this version reads {SCHEMA}"
        raise RecordError(message)
    page = fields.text("page")
    arms = fields.listed("arms", str)
    if len(set(arms)) != 2 or len(arms) != 2:
        message = f"{where}: arms: two names were expected, not {list(arms)!r}"
        raise RecordError(message)
    seed = fields.whole("seed")
    basis = fields.text("basis")
    share = _number(fields.take("differing_share"), fields.name("differing_share"))
    if not 0 < share <= 1:
        message = f"{where}: differing_share is {share}, not above 0 and at most 1"
        raise RecordError(message)
    questions = fields.listed("questions", dict)
    fields.end()
    seats: dict[str, Seat] = {}
    for place, question in enumerate(questions):
        own = Fields(question, f"{where}: questions[{place}]")
        seat = Seat(
            qid=own.text("qid"),
            left=own.choice("left", arms),
            weight=_number(own.take("weight"), own.name("weight")),
        )
        own.end()
        if seat.qid in seats:
            message = f"{where}: questions[{place}]: {seat.qid!r} is there already"
            raise RecordError(message)
        seats[seat.qid] = seat
    return Key(
        page=page,
        arms=(arms[0], arms[1]),
        seed=seed,
        differing_share=share,
        seats=tuple(seats.values()),
        basis=basis,
    )


def _number(value: JsonValue, name: str) -> float:
    """Give a number that is neither negative nor infinite."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        message = f"{name}: a number was expected, not {kind_of(value)}"
        raise RecordError(message)
    number = float(typed(type(value), value, name))
    if not math.isfinite(number) or number < 0:
        message = f"{name} is {value}; it is 0 or more"
        raise RecordError(message)
    return number
