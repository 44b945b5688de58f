"""Takes JSON objects apart field by field, strictly.

What JSON calls a number, a text or null is told apart, nothing is converted,
and a field nobody asked for is an error.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, TypeVar

from situate.errors import RecordError

if TYPE_CHECKING:
    from collections.abc import Mapping

    from situate.model import JsonValue, Span

_Value = TypeVar("_Value")


class Fields:
    """The fields of one object, taken out by type; what is left over is an error."""

    def __init__(self, value: JsonValue | Mapping[str, JsonValue], where: str) -> None:
        self._where = where
        self._left: dict[str, JsonValue] = dict(typed(dict, value, where))

    def __contains__(self, key: str) -> bool:
        return key in self._left

    def take(self, key: str) -> JsonValue:
        """Take out a field, whatever it holds."""
        if key not in self._left:
            message = f"{self._where}: {key} is missing"
            raise RecordError(message)
        return self._left.pop(key)

    def text(self, key: str) -> str:
        """Take out a text."""
        return typed(str, self.take(key), self.name(key))

    def text_or_none(self, key: str) -> str | None:
        """Take out a text or null."""
        value = self.take(key)
        return None if value is None else typed(str, value, self.name(key))

    def whole(self, key: str) -> int:
        """Take out a whole number."""
        return typed(int, self.take(key), self.name(key))

    def whole_or_none(self, key: str) -> int | None:
        """Take out a whole number or null."""
        value = self.take(key)
        return None if value is None else typed(int, value, self.name(key))

    def flag(self, key: str) -> bool:
        """Take out true or false."""
        return typed(bool, self.take(key), self.name(key))

    def listed(self, key: str, kind: type[_Value]) -> tuple[_Value, ...]:
        """Take out a list whose values are all of one kind."""
        name = self.name(key)
        values = typed(list, self.take(key), name)
        return tuple(typed(kind, value, name) for value in values)

    def listed_or_none(self, key: str, kind: type[_Value]) -> tuple[_Value, ...] | None:
        """Take out such a list, or null."""
        if self._left.get(key, ()) is None:
            del self._left[key]
            return None
        return self.listed(key, kind)

    def spans(self, key: str) -> tuple[Span | None, ...]:
        """Take out a list of spans, some of them null."""
        name = self.name(key)
        values = typed(list, self.take(key), name)
        return tuple(None if value is None else span(value, name) for value in values)

    def choice(self, key: str, allowed: tuple[str, ...]) -> str:
        """Take out a text that is one of `allowed`."""
        value = self.text(key)
        if value not in allowed:
            choices = ", ".join(allowed)
            message = f"{self.name(key)} is {value!r}; allowed: {choices}"
            raise RecordError(message)
        return value

    def object(self, key: str) -> dict[str, JsonValue]:
        """Take out an object."""
        return typed(dict, self.take(key), self.name(key))

    def nested(self, key: str) -> Fields:
        """Take out an object to take apart in turn."""
        return Fields(self.take(key), self.name(key))

    def end(self) -> None:
        """Check that nothing is left."""
        for key in self._left:
            message = f"{self._where}: {key!r} is no field"
            raise RecordError(message)

    def name(self, key: str) -> str:
        """Name a field for errors."""
        return f"{self._where}: {key}"


def typed(kind: type[_Value], value: object, name: str) -> _Value:
    """Give the value when it is of this kind of JSON; `name` names it in errors."""
    # bool is an int in Python and not in JSON.
    if not isinstance(value, kind) or (kind is int and isinstance(value, bool)):
        message = f"{name}: {_KINDS[kind]} was expected, not {kind_of(value)}"
        raise RecordError(message)
    return value


_KINDS: Final[dict[type, str]] = {
    dict: "an object",
    list: "a list",
    str: "a text",
    bool: "true or false",
    int: "a whole number",
    float: "a number",
    type(None): "null",
}


def kind_of(value: object) -> str:
    """Say in words what kind of JSON a value is."""
    return _KINDS.get(type(value), type(value).__name__)


def span(value: object, name: str) -> Span:
    """Give the value when it is two whole numbers."""
    first, *rest = typed(list, value, name) or [None]
    if len(rest) != 1:
        message = f"{name}: two numbers were expected"
        raise RecordError(message)
    return typed(int, first, name), typed(int, rest[0], name)
