"""Looks after a cache: what it holds, whether it is whole, what can go."""

from __future__ import annotations

import json
from contextlib import closing
from datetime import UTC, date, datetime
from itertools import chain, islice
from pathlib import Path
from typing import TYPE_CHECKING

from situate.enrichment.cache import looking, pruning, transfer
from situate.enrichment.cache.storage import open_storage
from situate.errors import ConfigError
from situate.files import opened
from situate.output import Output, writing
from situate.records import read_lines

if TYPE_CHECKING:
    from collections.abc import Callable

    from situate.enrichment.cache import Place
    from situate.enrichment.cache.looking import Statistics, Verdict
    from situate.enrichment.cache.pruning import Pruned
    from situate.enrichment.cache.transfer import Exported, Imported

_START = b'{"schema": 1, "key": '
"""How a file of `export` begins, and no other of ours."""


def _now() -> datetime:
    return datetime.now(UTC)


def statistics(place: Place) -> Statistics:
    """Count what a cache holds.

    Raises:
        ConfigError: there is none.
        CacheBroken: the cache cannot be read.
    """
    return looking.statistics(place)


def verify(place: Place) -> Verdict:
    """Name all that is wrong with a cache.

    Raises:
        ConfigError: there is none.
    """
    return looking.verify(place)


def export(place: Place, path: Path) -> Exported:
    """Write everything that is paid for to a file, which appears whole.

    Raises:
        ConfigError: there is no cache, or the file would replace another.
        CacheBroken: the cache cannot be read.
        SituateError: the file cannot be written.
    """
    exported = transfer.Exported()
    with (
        Output(path, kept=[place] if isinstance(place, Path) else []) as files,
        writing(path),
    ):
        _refuse_to_replace(path)
        draft = files.draft()
        for record in transfer.carry_out(place, exported):
            draft.write(json.dumps(record).encode("ascii") + b"\n")
        files.publish(draft)
    return exported


def take_in(
    place: Place, path: Path, *, now: Callable[[], datetime] = _now
) -> Imported:
    """Put what another cache has exported into this one, made where it is missing.

    Raises:
        ConfigError: the cache cannot be used.
        CacheBroken: the cache cannot be written.
        RecordError: the file cannot be read.
    """
    lines = read_lines(path)
    # A file that cannot be read makes no cache.
    start = list(islice(lines, 1))
    with closing(open_storage(place)) as store:
        return transfer.take_in(
            store, chain(start, lines), today=_today(now).isoformat()
        )


def prune(
    place: Place,
    not_used_since: str,
    *,
    rehearsal: bool,
    now: Callable[[], datetime] = _now,
) -> Pruned:
    """Remove what was not used since a day (`YYYY-MM-DD`, UTC), or say what would go.

    Raises:
        ConfigError: the day is none, or is still to come, or there is no cache.
        CacheBroken: the cache cannot be read or written.
    """
    today = _today(now)
    before = _day(not_used_since, today)
    if rehearsal:
        return pruning.rehearse(place, before=before)
    if not looking.is_there(place):
        message = f"cache {str(place)!r}: there is none; name its directory"
        raise ConfigError(message)
    with closing(open_storage(place)) as store:
        return pruning.prune(store, before=before, today=today)


def _today(now: Callable[[], datetime]) -> date:
    return now().astimezone(UTC).date()


def _day(text: str, today: date) -> date:
    """Read a day that has begun.

    Raises:
        ConfigError: it is none.
    """
    try:
        day = date.fromisoformat(text)
    except ValueError:
        day = None
    # A week or a day without dashes is a date to Python, and a slip here.
    if day is None or day.isoformat() != text:
        message = f"--not-used-since {text!r} is no date like {today}"
        raise ConfigError(message)
    if day > today:
        message = (
            f"--not-used-since {text!r} is still to come: everything would go; it is "
            f"{today} (UTC)"
        )
        raise ConfigError(message)
    return day


def _refuse_to_replace(path: Path) -> None:
    """Let an export replace an export, and nothing else.

    Raises:
        ConfigError: something else is there.
        OSError: it cannot be read.
    """
    try:
        with opened(path) as file:
            start = file.read(len(_START))
    except FileNotFoundError:
        return
    if start and start != _START:
        message = (
            f"output {str(path)!r} is no file of `situate cache export`; it is not to "
            "be replaced; name another file"
        )
        raise ConfigError(message)
