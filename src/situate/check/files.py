"""The files that a chunks file is held against, each optional."""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import TYPE_CHECKING

from situate.check.findings import Finding, Listed
from situate.errors import RecordError
from situate.fields import Fields, span
from situate.files import is_regular, opened
from situate.records import SCHEMA, from_line, read_lines

if TYPE_CHECKING:
    from collections.abc import Iterator

    from situate.manifest import FileDigest
    from situate.model import JsonValue


def beside(chunks: Path, kind: str) -> Path | None:
    """Give what stands beside a chunks file under its name; None where nothing does."""
    path = chunks.with_name(f"{chunks.stem}.{kind}")
    try:
        return path if path != chunks and is_regular(path) else None
    except OSError:
        return None


class Blocks:
    """A blocks file: where each document's line starts, read when it is needed."""

    def __init__(self, path: Path) -> None:
        """Find the documents.

        Raises:
            RecordError: the file cannot be read or holds something else.
        """
        self._path = path
        self._lines: dict[str, tuple[str, int]] = {}
        offset = 0
        for where, line in read_lines(path):
            doc_id = _opened(line, where).text("doc_id")
            if doc_id in self._lines:
                message = f"{where}: {doc_id!r} is listed twice"
                raise RecordError(message)
            self._lines[doc_id] = (where, offset)
            offset += len(line)

    def take(self, doc_id: str) -> tuple[str, tuple[Listed, ...]] | None:
        """Give a document's version and blocks, once; None when it is not there.

        Raises:
            RecordError: its line is not what it should be.
        """
        place = self._lines.pop(doc_id, None)
        if place is None:
            return None
        where, offset = place
        with opened(self._path) as file:
            file.seek(offset)
            fields = _opened(file.readline(), where)
        blocks = fields.listed("blocks", dict)
        version = fields.text("doc_version")
        fields.text("doc_id")
        fields.end()
        return version, tuple(_listed(block, fields.name("blocks")) for block in blocks)

    def left(self) -> tuple[str, ...]:
        """Name the documents that nobody took, but for those without blocks."""
        names = []
        for doc_id in tuple(self._lines):
            _, blocks = self.take(doc_id) or ("", ())
            names.extend([doc_id] if blocks else [])
        return tuple(names)


def _opened(line: bytes, where: str) -> Fields:
    fields = Fields(from_line(line, where), where)
    schema = fields.whole("schema")
    if schema != SCHEMA:
        message = f"{where}: schema is {schema}; this situate reads {SCHEMA}"
        raise RecordError(message)
    return fields


def _listed(block: JsonValue, where: str) -> Listed:
    fields = Fields(block, where)
    place = fields.take("span")
    listed = Listed(
        block_id=fields.text("block_id"),
        section_id=fields.text("section_id"),
        kind=fields.text("kind"),
        span=None if place is None else span(place, fields.name("span")),
        parts=fields.whole("parts"),
    )
    for box in fields.listed("boxes", list):
        if len(box) != 5:
            message = f"{fields.name('boxes')}: a page and four edges were expected"
            raise RecordError(message)
    fields.end()
    return listed


def altered(folder: Path, files: tuple[FileDigest, ...]) -> Iterator[Finding]:
    """Yield the files that are not as the manifest beside them says."""
    for file in files:
        path = folder / Path(file.name).name
        try:
            with opened(path) as content:
                found = hashlib.file_digest(content, "sha256").hexdigest()
        except OSError as error:
            reason = f"cannot be read: {error.strerror}"
        else:
            reason = "is not the file the manifest was written for"
            if found == file.sha256:
                continue
        yield Finding(rule="manifest", subject=file.name, message=reason)
