"""Says who may see a passage, and when it is in force, as one value to compare.

Which keys of metadata decide that stands here and nowhere else (S6). Pure.
"""

from __future__ import annotations

import json
import re
from fnmatch import fnmatchcase
from typing import TYPE_CHECKING, Final

from situate.model import walk

if TYPE_CHECKING:
    from collections.abc import Iterator

    from situate.model import Document, Metadata

CLASSIFICATION: Final = "classification"
"""The key of permission that names a class of texts; the others list people."""

PERMISSION: Final = ("acl_*", CLASSIFICATION)
"""Keys that say who may see something; `*` stands for any end."""

_NEARLY: Final = frozenset({"acl", "acls", f"{CLASSIFICATION}s"})

_WORDS: Final = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z0-9]+")
"""Parts of a key, by what stands between them or by a capital."""

VALIDITY: Final = ("effective_from", "effective_to")
"""Keys that say when it is in force."""


def is_permission(key: str) -> bool:
    """Tell whether a key says who may see something."""
    return any(fnmatchcase(key, pattern) for pattern in PERMISSION)


def closed_otherwise(document: Document) -> Iterator[str]:
    """Yield a line for each key that says of a section alone who may see it.

    Where what is around the section says so by another key, whoever that one lets in
    finds the section as well, unless a search asks for both.
    """
    told: set[str] = set()
    for section, above in walk(document.root):
        if section.metadata is None:
            continue
        outer = (each.metadata for each in reversed(above) if each.metadata)
        around = _lists_of(next(outer, document.metadata))
        for key in _lists_of(section.metadata):
            if around and key not in {*around, *told}:
                told.add(key)
                yield (
                    f"heading {section.title!r:.60} says {key}, and what is around it "
                    f"{' and '.join(around)}: a search that filters by one of them "
                    "alone shows the section to those the other keeps out; use one key"
                )


def _lists_of(metadata: Metadata) -> tuple[str, ...]:
    keys = (key for key in metadata.custom if is_permission(key))
    return tuple(sorted(key for key in keys if key != CLASSIFICATION))


def resembles_permission(key: str) -> bool:
    """Tell whether a key says nothing of who may see it, and looks as if it did.

    As `ACL_READ`, `acl-read`, `aclRead`, `acl` and `Classification` do.
    """
    if is_permission(key):
        return False
    spellings = ("_".join(_WORDS.findall(key)).lower(), key.lower())
    return any(is_permission(each) or each in _NEARLY for each in spellings)


def access_of(metadata: Metadata) -> str:
    """Give what metadata says of permission and validity, in canonical form.

    Equal texts are equal access: values count with their types and order, so that
    what is in doubt is kept apart. Where nothing is said it is "".
    """
    said = {key: metadata.custom[key] for key in metadata.custom if is_permission(key)}
    dates = {
        name: value
        for name in VALIDITY
        if (value := getattr(metadata, name)) is not None
    }
    if not said and not dates:
        return ""
    return json.dumps([dates, said], sort_keys=True, separators=(",", ":"))
