"""What every store has to offer."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

from situate.errors import ConfigError

if TYPE_CHECKING:
    from collections.abc import Mapping

    from situate.model import JsonValue
    from situate.records import Record

_REFUSED = frozenset('\\/*?"<>|,#: ')

_MOST_BYTES = 255


@dataclass(frozen=True, slots=True, kw_only=True)
class Target:
    """The index that is to be filled."""

    index: str
    dimensions: int | None
    """Numbers of a vector; None for an index without vectors."""


class Store(Protocol):
    """Tells one kind of store of chunks."""

    @property
    def part(self) -> str:
        """Give the name of a file of changes, with a place for its number."""

    @property
    def most_dimensions(self) -> int:
        """Give how many numbers a vector may have."""

    def files(self, target: Target) -> Mapping[str, JsonValue]:
        """Give what sets an index up and queries it, by the name of its file."""

    def too_long(self, record: Record) -> Mapping[str, int]:
        """Give the bytes of what it would refuse a record for, by custom key."""

    def put(self, record: Record, vector: list[float] | None) -> bytes:
        """Write a whole record, to take the place of what has its id.

        Raises:
            RecordError: the store would refuse it.
        """

    def update(self, record: Record, vector: list[float] | None) -> bytes:
        """Write a record without its texts, to be laid over what has its id.

        Raises:
            RecordError: the store would refuse it.
        """

    def delete(self, record: Record) -> bytes:
        """Write that what has the id of a record goes."""


def check_name(index: str) -> None:
    """Refuse what both vendors refuse as the name of an index.

    Raises:
        ConfigError: it is no name; says why.
    """
    reason = None
    if not index or len(index.encode("utf-8", "replace")) > _MOST_BYTES:
        reason = f"it has to have 1 to {_MOST_BYTES} bytes"
    elif index != index.lower():
        reason = "it has to be in lower case"
    elif wrong := sorted(_REFUSED & {*index}):
        reason = f"it must not hold {wrong[0]!r}"
    elif index[0] in "-_+." or not index.isprintable():
        reason = "it must not start with -, _, + or ., nor hold control characters"
    if reason:
        message = f"--index: {index!r} cannot be the name of an index: {reason}"
        raise ConfigError(message)
