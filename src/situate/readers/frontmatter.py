"""Read what a document says about itself above its text.

YAML between `---` lines and TOML between `+++` lines. Text values are taken as
written: `1.10` stays a version and `no` a language; a date is never guessed. A
block that cannot be read is handed back as text, so that nothing is lost.
"""

from __future__ import annotations

import datetime
import math
import re
import tomllib
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from situate.access import PERMISSION, resembles_permission
from situate.model import Metadata
from situate.readers.decoding import as_name, clean
from situate.readers.yaml_values import (
    MAX_DEPTH,
    FrontMatterError,
    Values,
    read_yaml,
)

if TYPE_CHECKING:
    from collections.abc import Mapping

    from situate.model import JsonValue, Span

# The longest block in 424 real documents has 1.2 kB; a parser of YAML or TOML is
# not to be handed a whole book.
MAX_CHARACTERS = 65_536

_OPENINGS = {
    # Above a blank line `---` is a thematic break, as in pandoc.
    "yaml": re.compile(r"---[ \t]*\n(?![ \t]*\n)"),
    "toml": re.compile(r"\+\+\+[ \t]*\n"),
}
_CLOSINGS = {
    "yaml": re.compile(r"^(?:---|\.\.\.)[ \t]*(?:\n|\Z)", re.MULTILINE),
    "toml": re.compile(r"^\+\+\+[ \t]*(?:\n|\Z)", re.MULTILINE),
}
_KEYS = {
    "yaml": re.compile(r"[\"']?\w[\w .-]*[\"']?[ \t]*:(?:\s|\Z)"),
    "toml": re.compile(r"[\"']?\w[\w .-]*[\"']?[ \t]*=|\["),
}
_ISO = re.compile(r"(\d{4}-\d{2}-\d{2})(?:[Tt ].*)?", re.DOTALL | re.ASCII)

_TEXT_KEYS = ("title", "doc_type", "language", "source", "doc_id", "version")
_DATE_KEYS = ("effective_from", "effective_to")
_OF_WHOLE = frozenset({"title", "doc_id", "version", "source"})

# tomllib takes the square of a dotted key's length: 16 s for 60 kB of `a.a.a`.
_MAX_DOTS = 500

# JSON numbers beyond 64 bits do not survive most readers.
_MAX_INTEGER = 2**63


@dataclass(frozen=True, slots=True, kw_only=True)
class FrontMatter:
    """What stands above a document's text, and where that text begins."""

    values: Values
    body: int
    """Offset of the first character below the block; 0 when there is none."""
    unread: Span | None = None
    """The lines between the fences when they could not be read."""
    warnings: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Described:
    """What a document is called and what it says about itself."""

    doc_id: str
    version: str | None
    metadata: Metadata
    warnings: tuple[str, ...]


def split(text: str) -> FrontMatter:
    """Read the block at the start of `text`, if there is one.

    A block that is neither valid nor a mapping, and does not start like one, is
    Markdown between two thematic breaks and left alone.
    """
    nothing = FrontMatter(values=Values(values={}, written={}), body=0)
    for style, opening in _OPENINGS.items():
        start = opening.match(text)
        if start is None:
            continue
        closing = _CLOSINGS[style].search(text, start.end())
        if closing is None:
            return nothing
        unread = (start.end(), closing.start())
        block = text[start.end() : closing.start()]
        try:
            values = _read(block, style)
        except FrontMatterError as error:
            if not _starts_like(block, style):
                return nothing
            warning = f"front matter was kept as text: {error}"
            return FrontMatter(
                values=nothing.values,
                body=closing.end(),
                unread=unread,
                warnings=(warning,),
            )
        if values is None:
            return nothing
        return FrontMatter(
            values=values,
            body=closing.end(),
            warnings=tuple(f"front matter: {line}" for line in values.warnings),
        )
    return nothing


def describe(
    values: Values,
    *,
    source: str,
    doc_type: str | None,
    where: str = "front matter",
) -> Described:
    """Turn front matter into metadata; `source` and `doc_type` are the defaults.

    Keys without a field, and dates that are none, go under `custom`. `where` says
    in warnings where the values stand.
    """
    warnings: list[str] = []
    custom = dict(values.values)
    texts: dict[str, str] = {}
    for key in _TEXT_KEYS:
        value = custom.get(key)
        if isinstance(value, dict | list):
            warnings.append(f"{where}: {key} is no text; kept under custom")
            continue
        custom.pop(key, None)
        if text := as_name(values.written.get(key, "")):
            texts[key] = text
    dates: dict[str, str] = {}
    for key in _DATE_KEYS:
        day = _day(values.written.get(key, ""))
        if day is not None:
            dates[key] = day
        elif custom.get(key) is not None:
            warnings.append(
                f"{where}: {key} {custom[key]!r:.60} is no ISO date "
                "(YYYY-MM-DD); kept under custom"
            )
            continue
        custom.pop(key, None)
    warnings.extend(
        f"{where}: {key!r:.60} is no permission, and keeps nobody out; "
        f"those are {' and '.join(PERMISSION)}, in these letters"
        for key in custom
        if resembles_permission(key)
    )
    if len(dates) == 2 and dates["effective_from"] > dates["effective_to"]:
        warnings.append(
            f"{where}: effective_from {dates['effective_from']} is after "
            f"effective_to {dates['effective_to']}"
        )
    metadata = Metadata(
        title=texts.get("title"),
        doc_type=texts.get("doc_type", doc_type),
        effective_from=dates.get("effective_from"),
        effective_to=dates.get("effective_to"),
        source=texts.get("source", source),
        language=texts.get("language"),
        custom=custom,
    )
    return Described(
        doc_id=texts.get("doc_id", source),
        version=texts.get("version"),
        metadata=metadata,
        warnings=tuple(warnings),
    )


def override(
    metadata: Metadata, attributes: Mapping[str, tuple[str, ...]], *, where: str
) -> tuple[Metadata, tuple[str, ...]]:
    """Give what holds from a heading on that has attributes, and warnings (C12).

    What it does not name is inherited, and a key with several values has them all.
    What is said of whole documents alone says nothing of a section.
    """
    said = {key: value for key, value in attributes.items() if key not in _OF_WHOLE}
    values: dict[str, JsonValue] = {
        key: each[0] if len(each) == 1 else [*each] for key, each in said.items()
    }
    written = {key: each[-1] for key, each in said.items()}
    described = describe(
        Values(values=values, written=written),
        source=metadata.source or "",
        doc_type=metadata.doc_type,
        where=where,
    )
    own = described.metadata
    changed = replace(
        metadata,
        doc_type=own.doc_type,
        effective_from=own.effective_from or metadata.effective_from,
        effective_to=own.effective_to or metadata.effective_to,
        language=own.language or metadata.language,
        custom={**metadata.custom, **own.custom},
    )
    warnings = described.warnings
    if lost := [key for key in attributes if key in _OF_WHOLE]:
        warnings += (f"{where}: {', '.join(lost)} cannot be said of a section",)
    first, last = changed.effective_from, changed.effective_to
    if (
        first
        and last
        and first > last
        and not (own.effective_from and own.effective_to)
    ):
        warnings += (
            f"{where}: effective_from {first} is after effective_to {last}, which "
            "one of them inherits",
        )
    return changed, warnings


def _read(block: str, style: str) -> Values | None:
    if len(block) > MAX_CHARACTERS:
        message = f"it is longer than {MAX_CHARACTERS} characters"
        raise FrontMatterError(message)
    return read_yaml(block) if style == "yaml" else read_toml(block)


def _starts_like(block: str, style: str) -> bool:
    """Say whether the first line that is no comment names a key."""
    for line in block[:MAX_CHARACTERS].split("\n"):
        said = line.strip()
        if said and not said.startswith("#"):
            return _KEYS[style].match(said) is not None
    return False


def read_toml(block: str) -> Values:
    """Read a block of TOML; dates and times become texts.

    Raises:
        FrontMatterError: it is not valid, or nests too deep.
    """
    if any(line.count(".") > _MAX_DOTS for line in block.split("\n")):
        message = f"a line has more than {_MAX_DOTS} dots, which TOML nests by"
        raise FrontMatterError(message)
    try:
        table = tomllib.loads(clean(block))
    except RecursionError as error:
        message = "values nest too deep"
        raise FrontMatterError(message) from error
    # tomllib lets int() and datetime() complain in their own words.
    except ValueError as error:
        raise FrontMatterError(str(error)) from error
    return values_of(table)


def values_of(table: Mapping[str, object]) -> Values:
    """Give a table of TOML or JSON as values, without control characters.

    Raises:
        FrontMatterError: it nests too deep.
    """
    values = {clean(key): _json(value, MAX_DEPTH) for key, value in table.items()}
    written = {
        key: value if isinstance(value, str) else str(value)
        for key, value in values.items()
        if isinstance(value, str | int | float)
    }
    return Values(values=values, written=written)


def _json(value: object, depth: int) -> JsonValue:
    if depth == 0:
        message = f"values nest deeper than {MAX_DEPTH} levels"
        raise FrontMatterError(message)
    if isinstance(value, dict):
        return {clean(key): _json(below, depth - 1) for key, below in value.items()}
    if isinstance(value, list):
        return [_json(below, depth - 1) for below in value]
    if isinstance(value, datetime.date | datetime.time):
        return value.isoformat()
    if isinstance(value, int):
        return value if abs(value) < _MAX_INTEGER else hex(value)
    if value is None or (isinstance(value, float) and math.isfinite(value)):
        return value
    return clean(str(value))


def _day(written: str) -> str | None:
    found = _ISO.fullmatch(written.strip())
    if found is None:
        return None
    try:
        return datetime.date.fromisoformat(found[1]).isoformat()
    except ValueError:
        return None
