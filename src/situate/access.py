"""Says who may see a passage, and when it is in force, as one value to compare.

Which keys of metadata decide that stands here and nowhere else (S6). Pure.
"""

from __future__ import annotations

import json
from fnmatch import fnmatchcase
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from situate.model import Metadata

CLASSIFICATION: Final = "classification"
"""The key of permission that names a class of texts; the others list people."""

PERMISSION: Final = ("acl_*", CLASSIFICATION)
"""Keys that say who may see something; `*` stands for any end."""

VALIDITY: Final = ("effective_from", "effective_to")
"""Keys that say when it is in force."""


def is_permission(key: str) -> bool:
    """Tell whether a key says who may see something."""
    return any(fnmatchcase(key, pattern) for pattern in PERMISSION)


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
