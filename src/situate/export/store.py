"""What every store has to offer."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, Protocol

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from situate.model import JsonValue
    from situate.records import Record

_NUMBERS: Final = re.compile(r"\[\s+(?:-?[0-9.]+,\s+)*-?[0-9.]+\s+\]")


@dataclass(frozen=True, slots=True, kw_only=True)
class Target:
    """The index, collection or table that is to be filled."""

    index: str
    dimensions: int | None
    """Numbers of a vector; None for an index without vectors."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Told:
    """A change, as a store is told of it."""

    part: str
    """The name of the files of such changes, with a place for a number."""
    line: bytes
    """What `Store.part` makes such a file of, together with others."""


class Store(Protocol):
    """Tells one kind of store of chunks, for one target in it."""

    @property
    def target(self) -> Target:
        """Give what is to be filled."""

    @property
    def holder(self) -> str:
        """Name what holds chunks there: an index, a collection or a table."""

    @property
    def most_dimensions(self) -> int:
        """Give how many numbers a vector may have."""

    @property
    def needs_vectors(self) -> bool:
        """Tell whether it keeps no record without a vector."""

    def refusal(self) -> str | None:
        """Say why the target cannot have its name, None where it can."""

    def files(self) -> Mapping[str, bytes]:
        """Give what sets a target up and queries it, by the name of its file.

        Raises:
            ConfigError: a package that writes them is not installed.
        """

    def too_long(self, record: Record) -> Mapping[str, int]:
        """Give the bytes of what it would refuse a record for, by custom key."""

    def put(self, record: Record, vector: list[float] | None) -> Told:
        """Write a whole record, to take the place of what has its id.

        Raises:
            RecordError: the store would refuse it.
        """

    def update(self, record: Record, vector: list[float] | None) -> Told:
        """Write a record without its texts, to be laid over what has its id.

        Raises:
            RecordError: the store would refuse it.
        """

    def delete(self, record: Record) -> Told:
        """Write that what has the id of a record goes.

        Raises:
            RecordError: the store would refuse it.
        """

    def part(self, name: str, lines: Sequence[bytes]) -> bytes:
        """Make a file of changes that share a name, `Told.part`, in their order."""


def shown(value: JsonValue) -> bytes:
    """Write a value for people, the numbers of a vector on one line."""
    text = json.dumps(value, indent=2, ensure_ascii=False)
    text = _NUMBERS.sub(lambda found: " ".join(found[0].split()), text)
    return text.encode() + b"\n"
