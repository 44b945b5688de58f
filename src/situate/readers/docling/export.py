"""Load a DoclingDocument and index what it holds.

The schema is docling-core's, read by its field names alone: what a version adds
is passed over, what one lacks has a default.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal

from situate.errors import ReadError
from situate.readers.docling.values import (
    mapping,
    reference,
    references,
    sequence,
    string,
    words,
)

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from situate.model import JsonValue
    from situate.readers.options import Limits

ARRAYS = (
    "groups",
    "texts",
    "tables",
    "pictures",
    "key_value_items",
    "form_items",
    "field_regions",
    "field_items",
)
"""The lists of a document's parts, containers first."""

MAJOR_VERSION = "1"

Doubt = Literal[
    "dangling",
    "repeated",
    "unreachable",
    "malformed",
    "keys",
    "furniture",
    "hidden",
    "comments",
    "pictures",
    "boxes",
    "deep",
    "overlapping",
    "sparse",
]

_DOUBTS: Mapping[Doubt, str] = {
    "keys": "keys that JSON objects name twice count as they are named last",
    "malformed": "entries are not what a DoclingDocument holds and were left out",
    "dangling": "references to parts that are not there were passed over",
    "repeated": "further references to a part in the text were passed over",
    "unreachable": "parts that nothing refers to were put at the end",
    "furniture": "parts in the furniture layer that are no page header or footer "
    "were left out",
    "hidden": "parts in the background and invisible layers were left out",
    "comments": "comments were left out",
    "pictures": "pictures carry no caption, description or text",
    "boxes": "boxes could not be placed on their page and were left out",
    "deep": "list items nest too deeply and became paragraphs of the item above",
    "overlapping": "table cells lie on others and were joined to them",
    "sparse": "tables are too sparse to keep their columns apart",
}

_STRINGS = re.compile(rb'"(?:[^"\\]|\\.)*+"', re.DOTALL)

_HIDDEN = frozenset({"background", "invisible"})
_FURNITURE_LABELS = frozenset({"page_header", "page_footer"})


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Node:
    """One entry of a document's lists, or its body."""

    ref: str
    """Where references find it: `#/texts/0`."""
    label: str
    layer: str
    """`body`, `notes`, `furniture`, `background`, `invisible`."""
    values: Mapping[str, JsonValue]

    @property
    def array(self) -> str:
        """The list it stands in."""
        return self.ref.split("/")[1]

    @property
    def children(self) -> tuple[str, ...]:
        """What stands below it, in reading order."""
        return references(self.values.get("children"))

    @property
    def parent(self) -> str:
        """What it stands below."""
        return reference(self.values.get("parent"))

    @property
    def name(self) -> str:
        """What a group is called."""
        return words(self.values.get("name"))

    @property
    def is_shown(self) -> bool:
        """Whether it is content: text of the document, or notes of its author."""
        return self.layer not in _HIDDEN and not self.is_furniture

    @property
    def is_furniture(self) -> bool:
        """Whether it is repeated on pages beside the text."""
        return self.layer == "furniture" or self.label in _FURNITURE_LABELS


@dataclass(frozen=True, slots=True, kw_only=True)
class Export:
    """A document as its parts and what refers to them."""

    values: Mapping[str, JsonValue]
    nodes: Mapping[str, Node]
    body: tuple[str, ...]
    doubts: Counter[Doubt] = field(default_factory=Counter)

    @property
    def mimetype(self) -> str:
        """What the document was before Docling read it."""
        return string(mapping(self.values.get("origin")).get("mimetype"))

    def warnings(self) -> tuple[str, ...]:
        """Say how many of each kind of trouble were met."""
        said = []
        version = words(self.values.get("version"))
        if version.split(".")[0] != MAJOR_VERSION:
            said.append(
                f"its schema version is {version!r}, of which situate knows "
                f"{MAJOR_VERSION}.x; parts it does not know may be missing"
            )
        said += [
            f"{sentence} ({self.doubts[doubt]:,})"
            for doubt, sentence in _DOUBTS.items()
            if self.doubts[doubt]
        ]
        return tuple(said)


def load(data: bytes, source: str, limits: Limits) -> Export:
    """Parse JSON and index a document's parts.

    Raises:
        ReadError: it is no JSON, no DoclingDocument, or beyond a limit.
    """
    _refuse_many(data, source, limits.max_elements)
    doubts: Counter[Doubt] = Counter()
    values = _parse(data, source, doubts)
    if not isinstance(values, dict) or values.get("schema_name") != "DoclingDocument":
        raise ReadError(_not_docling(values, source), refusal="unsupported")
    nodes: dict[str, Node] = {}
    furniture = _furniture(values)
    for array in ARRAYS:
        for index, entry in enumerate(sequence(values.get(array))):
            if not isinstance(entry, dict):
                doubts["malformed"] += 1
                continue
            ref = f"#/{array}/{index}"
            layer = words(entry.get("content_layer")) or "body"
            nodes[ref] = Node(
                ref=ref,
                label=words(entry.get("label")),
                layer="furniture" if ref in furniture else layer,
                values=entry,
            )
    body = references(mapping(values.get("body")).get("children"))
    return Export(values=values, nodes=nodes, body=body, doubts=doubts)


def _parse(data: bytes, source: str, doubts: Counter[Doubt]) -> JsonValue:
    def paired(pairs: list[tuple[str, JsonValue]]) -> dict[str, JsonValue]:
        found = dict(pairs)
        if len(found) < len(pairs):
            doubts["keys"] += 1
        return found

    try:
        values: JsonValue = json.loads(data, object_pairs_hook=paired)
    except RecursionError as error:
        message = f"{source}: its JSON nests too deeply for a document"
        raise ReadError(message) from error
    except UnicodeDecodeError as error:
        message = f"{source}: is no JSON (byte {error.start} is not UTF-8)"
        raise ReadError(message) from error
    except ValueError as error:
        # Also for a number of more digits than Python takes.
        message = f"{source}: is no JSON ({error})"
        raise ReadError(message) from error
    return values


def _refuse_many(data: bytes, source: str, limit: int) -> None:
    """Judge how many objects and arrays there are before they take memory."""
    found = data.count(b"{") + data.count(b"[")
    if found > limit:
        bare = _STRINGS.sub(b"", data)
        found = bare.count(b"{") + bare.count(b"[")
    if found > limit:
        message = (
            f"{source}: holds {found:,} JSON objects and arrays, the limit is "
            f"{limit:,}; split it"
        )
        raise ReadError(message, refusal="limit")


def _not_docling(values: JsonValue, source: str) -> str:
    found = mapping(values)
    if "main-text" in found or "main_text" in found:
        return (
            f"{source}: is an export of Docling 1 (it has 'main-text'), which nothing "
            "reads any more; convert the document again with Docling 2"
        )
    return (
        f"{source}: is JSON but no DoclingDocument (its 'schema_name' does not say "
        "so), and situate reads no other JSON"
    )


def _furniture(values: Mapping[str, JsonValue]) -> frozenset[str]:
    """Give what stands below the root that schema 1.0 had for page furniture."""
    found: set[str] = set()
    waiting = list(references(mapping(values.get("furniture")).get("children")))
    while waiting:
        ref = waiting.pop()
        if ref in found:
            continue
        found.add(ref)
        waiting += references(_entry(values, ref).get("children"))
    return frozenset(found)


def _entry(values: Mapping[str, JsonValue], ref: str) -> Mapping[str, JsonValue]:
    parts = ref.split("/")
    if len(parts) != 3 or not parts[2].isdecimal() or len(parts[2]) > 9:
        return {}
    array: Sequence[JsonValue] = sequence(values.get(parts[1]))
    index = int(parts[2])
    return mapping(array[index]) if index < len(array) else {}
