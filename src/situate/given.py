"""Reads what is said of a document outside it: in a sidecar, or a manifest's line.

A sidecar stands beside its document under the document's name and `.meta.toml`: a
TOML table of the keys that front matter may have, read by the same rules. Which
word counts where two differ is not decided here.
"""

from __future__ import annotations

import os
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Final

from situate.errors import ReadError, RecordError
from situate.fields import typed
from situate.files import opened
from situate.model import Metadata
from situate.readers.decoding import as_name
from situate.readers.frontmatter import (
    MAX_CHARACTERS,
    describe,
    read_toml,
    values_of,
)
from situate.readers.yaml_values import FrontMatterError

if TYPE_CHECKING:
    from collections.abc import Mapping

SIDECAR: Final = ".meta.toml"
"""What the name of a sidecar has behind the name of its document."""

_BESIDE: Final = ("doc_id", "version")
_TEXTS: Final = (
    *("title", "doc_type", "language", "source"),
    *("effective_from", "effective_to"),
)
_OF_MANIFESTS: Final = ("op", "metadata")


@dataclass(frozen=True, slots=True, kw_only=True)
class Given:
    """What somebody says of a document; None where nothing is said."""

    where: str
    """Who says it, for warnings."""
    doc_id: str | None = None
    version: str | None = None
    metadata: Metadata = field(default_factory=Metadata)
    warnings: tuple[str, ...] = ()


def find_sidecar(path: Path) -> Path | None:
    """Give the sidecar of a document, None where there is none.

    A link that leads nowhere is there, so that what it was to say is missed.
    """
    sidecar = f"{path}{SIDECAR}"
    return Path(sidecar) if os.path.lexists(sidecar) else None


def read_sidecar(path: Path, doc_id: str) -> Given:
    """Read what stands beside a document, whose id names it in messages.

    Raises:
        ReadError: it cannot be read, or a value has the wrong type.
    """
    where = f"{doc_id}{SIDECAR}"
    try:
        with opened(path) as file:
            data = file.read(MAX_CHARACTERS + 1)
        if len(data) > MAX_CHARACTERS:
            message = f"{doc_id}: {where} is longer than {MAX_CHARACTERS:,} bytes"
            raise ReadError(message)
        table = read_toml(data.decode("utf-8-sig")).values
    except OSError as error:
        message = f"{doc_id}: {where} cannot be read: {error.strerror or error}"
        raise ReadError(message) from error
    except UnicodeDecodeError as error:
        message = f"{doc_id}: {where} is not UTF-8"
        raise ReadError(message) from error
    except FrontMatterError as error:
        message = f"{doc_id}: {where} is not TOML: {error}"
        raise ReadError(message) from error
    for key in _OF_MANIFESTS:
        if key in table:
            message = (
                f"{doc_id}: {where}: {key!r} belongs into a manifest; keys of a "
                "sidecar stand at its top, as in front matter"
            )
            raise ReadError(message)
    beside: dict[str, object] = {key: table.pop(key) for key in _BESIDE if key in table}
    try:
        return given(table, beside, said_in=where, where=f"{doc_id}: {where}")
    except RecordError as error:
        raise ReadError(str(error)) from error


def given(
    table: Mapping[str, object],
    beside: Mapping[str, object],
    *,
    said_in: str,
    where: str,
) -> Given:
    """Turn metadata, and a doc_id and version beside it, into what is said.

    Null says nothing. `said_in` names the place in warnings, `where` in errors.

    Raises:
        RecordError: a value has the wrong type, or is not where it belongs.
    """
    for key in _BESIDE:
        if key in table:
            message = f"{where}: {key!r} stands beside metadata, not in it"
            raise RecordError(message)
    said = {key: value for key, value in table.items() if value is not None}
    for key in _TEXTS:
        if key in said:
            typed(str, said[key], f"{where}: {key}")
    try:
        values = values_of(said)
    except FrontMatterError as error:
        message = f"{where}: {error}"
        raise RecordError(message) from error
    described = describe(values, source="", doc_type=None, where=said_in)
    metadata = described.metadata
    return Given(
        where=said_in,
        doc_id=_name(beside, "doc_id", where),
        version=_name(beside, "version", where),
        metadata=replace(metadata, source=metadata.source or None),
        warnings=described.warnings,
    )


def _name(beside: Mapping[str, object], key: str, where: str) -> str | None:
    value = beside.get(key)
    if value is None:
        return None
    name = as_name(typed(str, value, f"{where}: {key}"))
    if not name:
        message = f"{where}: {key} is blank"
        raise RecordError(message)
    return name
