"""Read what a Word file says about itself beside its text.

Its title, its type and its dates stand in the properties of the package; all
others are kept only where they are asked for.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from situate.errors import ReadError
from situate.readers.decoding import clean
from situate.readers.docx.language import plausible
from situate.readers.docx.names import attribute, local
from situate.readers.yaml_values import Values

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator

    from lxml.etree import _Element

    from situate.model import JsonValue
    from situate.readers.docx.package import Package

# What Word, its printer driver and other writers put where nobody gave a title.
_NO_TITLE: Final = re.compile(
    r"microsoft word\b.*|(?:document|dokument|documento|untitled|unbenannt|"
    r"sans titre|sin título|presentation)[ _-]*\d*|.*\.(?:docx?|docm|dotx?|rtf|odt)"
    r"|\[.*\]|(?:word|powerpoint) (?:document|presentation)",
    re.IGNORECASE | re.DOTALL,
)

_OWN: Final = frozenset(
    {"title", "doc_type", "effective_from", "effective_to", "doc_id", "version"}
)
"""Custom properties that are fields of the metadata, however they are spelled."""

_INTEGERS: Final = frozenset({"i1", "i2", "i4", "int", "ui1", "ui2", "ui4", "uint"})


class Properties:
    """The core, extended and custom properties of a package."""

    def __init__(self, package: Package) -> None:
        self.warnings: tuple[str, ...] = ()
        self._core = self._texts(package, "core-properties")
        self._extended = self._texts(package, "extended-properties")
        self._custom = dict(self._customs(package))

    def values(self, *, title: str | None, keep: Collection[str]) -> Values:
        """Give the values that metadata is made of.

        `title` is the document's own, for want of a property; `keep` names the
        properties that travel under `custom`.
        """
        values: dict[str, JsonValue] = {}
        known = {_plain(name): value for name, value in self._custom.items()}
        for name in _OWN & known.keys():
            values[name] = known[name]
        category = self._core.get("category")
        if category:
            values.setdefault("doc_type", category)
        titles = (values.get("title"), self._core.get("title"), title)
        values["title"] = next(
            (
                said
                for said in titles
                if isinstance(said, str) and not _NO_TITLE.fullmatch(said.strip())
            ),
            None,
        )
        every = {**self._extended, **self._core, **self._custom}
        for name in keep:
            if name in every and _plain(name) not in _OWN:
                values[name] = every[name]
        written = {
            name: str(value)
            for name, value in values.items()
            if isinstance(value, str | int | float) and not isinstance(value, bool)
        }
        return Values(values=values, written=written)

    @property
    def language(self) -> str | None:
        """The language that the author named, as a tag."""
        return plausible(self._core.get("language"))

    def _root(self, package: Package, kind: str) -> _Element | None:
        try:
            return package.parsed("", kind)
        except ReadError:
            # The text does not depend on them.
            self.warnings = ("its properties are broken and were not read",)
            return None

    def _texts(self, package: Package, kind: str) -> dict[str, str]:
        root = self._root(package, kind)
        texts: dict[str, str] = {}
        for element in () if root is None else root:
            text = " ".join(clean(element.text or "").split())
            if text and len(element) == 0:
                texts.setdefault(local(element), text)
        return texts

    def _customs(self, package: Package) -> Iterator[tuple[str, JsonValue]]:
        root = self._root(package, "custom-properties")
        for element in () if root is None else root:
            name = " ".join(clean(attribute(element, "name") or "").split())
            if name and len(element):
                value = _value(element[0])
                if value is not None:
                    yield name, value


def _plain(name: str) -> str:
    """Give a name as fields are named: `Effective From` is `effective_from`."""
    return re.sub(r"[\s_-]+", "_", name.strip()).casefold()


def _value(element: _Element) -> JsonValue:
    """Give a property's value by its type; dates are texts."""
    text = " ".join(clean(element.text or "").split())
    kind = local(element)
    if len(element) or not text:
        return None
    if kind == "bool":
        return text in {"1", "true"}
    if kind in _INTEGERS and re.fullmatch(r"-?[0-9]{1,18}", text):
        return int(text)
    return text
