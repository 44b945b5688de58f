"""Writes a comparison as JSON for machines.

It holds what the page holds but the texts of entries, which stand in the chunks
files. Two runs over the same input differ under `measured` alone.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from dataclasses import fields
from decimal import Decimal
from typing import TYPE_CHECKING, Final

from situate.compare.comparison import Hit, ShownEntry

if TYPE_CHECKING:
    from situate.compare.comparison import Comparison
    from situate.model import JsonValue
    from situate.records import Record

SCHEMA: Final = 1

_DIGITS: Final = 6
"""More than any sample of questions can tell, less than two machines may differ by."""


def to_json(comparison: Comparison) -> bytes:
    """Write everything but the entries' texts as one JSON object, `schema` first.

    Keys stand in the order of the fields, floats have six digits, null stands for
    what is no finite number, dollars are texts. In `shown`, a hit is an index into
    `entries` and the share of gold that the entry covers alone.
    """
    text = json.dumps(
        to_record(comparison),
        ensure_ascii=False,
        allow_nan=False,
        separators=(",", ":"),
    )
    # What UTF-8 has no bytes for becomes the escape that JSON reads it from.
    return text.encode("utf-8", "backslashreplace") + b"\n"


def to_record(comparison: Comparison) -> Record:
    """Give the same as values."""
    record: Record = {"schema": SCHEMA}
    record |= _fields(comparison)
    return record | {"measured": {"milliseconds": record.pop("milliseconds")}}


def plain(value: object) -> JsonValue:
    """Give a value of a comparison as JSON holds it."""
    result: JsonValue
    match value:
        case Hit(entry=entry, covers=covers):
            result = [entry, plain(covers)]
        case ShownEntry(entry_id=entry_id, doc_id=doc_id):
            result = {"entry_id": entry_id, "doc_id": doc_id}
        case None | bool() | int() | str():
            result = value
        case float():
            result = round(value, _DIGITS) if math.isfinite(value) else None
        case Decimal():
            result = str(value)
        case Mapping():
            result = {str(key): plain(each) for key, each in value.items()}
        case tuple():
            result = [plain(each) for each in value]
        case _:
            result = _fields(value)
    return result


def _fields(value: object) -> Record:
    """Give a dataclass's fields by their names."""
    names = (each.name for each in fields(value))  # type: ignore[arg-type]  # all else is matched above
    return {name: plain(getattr(value, name)) for name in names}
