"""Read YAML into JSON values without surprises.

PyYAML's safe loaders build dates, sexagesimal numbers and `no` as False. Here
only its parser is used and its events become values by YAML 1.2's core schema:
null, true, false, numbers; everything else is the text as written. Nothing
recurses, and aliases are counted at the size they stand for.
"""

from __future__ import annotations

import math
import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from situate.readers.decoding import clean

if TYPE_CHECKING:
    from yaml.events import Event, ScalarEvent

    from situate.model import JsonValue

# JSON writers recurse; no author nests this deep.
MAX_DEPTH = 32

# Counted with aliases expanded: ten lines of YAML can stand for a billion values.
MAX_VALUES = 10_000

_NULLS = {"", "~", "null", "Null", "NULL"}
_BOOLEANS = {"true": True, "True": True, "TRUE": True} | {
    "false": False,
    "False": False,
    "FALSE": False,
}
# Leading zeros and more than 18 digits belong to codes, not to numbers.
_INTEGER = re.compile(r"[-+]?(?:0|[1-9][0-9]{0,17})")
_FLOAT = re.compile(r"[-+]?(?:0|[1-9][0-9]*)?\.[0-9]+(?:[eE][-+]?[0-9]+)?")


class FrontMatterError(Exception):
    """The block is no YAML or TOML, or more than front matter may be."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Values:
    """A block's values, and its top-level scalars as the author wrote them."""

    values: dict[str, JsonValue]
    written: dict[str, str]
    warnings: tuple[str, ...] = ()


@dataclass(slots=True)
class _Collection:
    """A list or mapping whose end has not been met yet."""

    value: list[JsonValue] | dict[str, JsonValue]
    anchor: str | None
    count_before: int
    key: str | None = None


@dataclass(slots=True)
class _Builder:
    open: list[_Collection] = field(default_factory=list)
    root: JsonValue = None
    anchors: dict[str, tuple[JsonValue, int]] = field(default_factory=dict)
    written: dict[str, str] = field(default_factory=dict)
    warnings: list[str] = field(default_factory=list)
    count: int = 0

    def take(self, event: Event) -> None:
        name = type(event).__name__
        if name == "ScalarEvent":
            self._scalar(event)  # type: ignore[arg-type] # told by its name
        elif name == "AliasEvent":
            self._alias(event.anchor)  # type: ignore[attr-defined] # told by its name
        elif name in {"MappingStartEvent", "SequenceStartEvent"}:
            value: list[JsonValue] | dict[str, JsonValue]
            value = {} if name == "MappingStartEvent" else []
            anchor = event.anchor  # type: ignore[attr-defined] # told by its name
            self._count(1)
            if len(self.open) >= MAX_DEPTH:
                message = f"values nest deeper than {MAX_DEPTH} levels"
                raise FrontMatterError(message)
            self.open.append(_Collection(value, anchor, self.count - 1))
        elif name in {"MappingEndEvent", "SequenceEndEvent"}:
            self._close()

    def _count(self, values: int) -> None:
        self.count += values
        if self.count > MAX_VALUES:
            message = f"it stands for more than {MAX_VALUES} values"
            raise FrontMatterError(message)

    def _scalar(self, event: ScalarEvent) -> None:
        self._count(1)
        text = clean(event.value)
        inside = self.open[-1] if self.open else None
        if inside is not None and isinstance(inside.value, dict) and inside.key is None:
            inside.key = text
            if text in inside.value:
                self.warnings.append(f"key {text!r} stands twice; the last one holds")
            return
        # libyaml says "" where the pure parser says None.
        plain = not event.style and event.tag is None
        value = _resolve(text) if plain else text
        if len(self.open) == 1 and inside is not None and inside.key is not None:
            if value is None:
                self.written.pop(inside.key, None)
            else:
                self.written[inside.key] = text
        if event.anchor:
            self.anchors[event.anchor] = (value, 1)
        self._put(value)

    def _alias(self, anchor: str) -> None:
        if anchor not in self.anchors:
            message = f"alias {anchor!r} names nothing that stands above it"
            raise FrontMatterError(message)
        value, size = self.anchors[anchor]
        self._count(size)
        if len(self.open) == 1 and isinstance(value, str) and self.open[0].key:
            self.written[self.open[0].key] = value
        self._put(value)

    def _close(self) -> None:
        closed = self.open.pop()
        if closed.anchor:
            size = self.count - closed.count_before
            self.anchors[closed.anchor] = (closed.value, size)
        self._put(closed.value)

    def _put(self, value: JsonValue) -> None:
        if not self.open:
            self.root = value
            return
        inside = self.open[-1]
        if isinstance(inside.value, list):
            inside.value.append(value)
            return
        if inside.key is None:
            message = "a key is a list, a mapping or an alias"
            raise FrontMatterError(message)
        inside.value[inside.key] = value
        if not isinstance(value, str | int | float) and len(self.open) == 1:
            self.written.pop(inside.key, None)
        inside.key = None


def read_yaml(text: str) -> Values | None:
    """Read a block of YAML; None when it is valid but no mapping.

    An empty block is an empty mapping.

    Raises:
        FrontMatterError: it is not valid, nests too deep or stands for too much.
    """
    import yaml

    # libyaml's parser is ten times as fast; PyYAML may have been built without.
    loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
    builder = _Builder()
    try:
        for event in yaml.parse(clean(text), Loader=loader):
            builder.take(event)
    except yaml.MarkedYAMLError as error:
        line = error.problem_mark.line + 2 if error.problem_mark else 1
        message = f"{error.problem} (line {line})"
        raise FrontMatterError(message) from error
    except yaml.YAMLError as error:
        message = str(error).splitlines()[0]
        raise FrontMatterError(message) from error
    root = {} if builder.root is None else builder.root
    if not isinstance(root, dict):
        return None
    return Values(
        values=root, written=builder.written, warnings=tuple(builder.warnings)
    )


def _resolve(text: str) -> JsonValue:
    if text in _NULLS:
        return None
    if text in _BOOLEANS:
        return _BOOLEANS[text]
    if _INTEGER.fullmatch(text):
        return int(text)
    if _FLOAT.fullmatch(text) and math.isfinite(float(text)):
        return float(text)
    return text
