"""The files that a chunks file is held against, each optional."""

from __future__ import annotations

import hashlib
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

from situate.check.findings import Finding, Listed
from situate.errors import RecordError
from situate.fields import Fields, span
from situate.readers.decoding import decode
from situate.records import SCHEMA, from_line, read_lines

if TYPE_CHECKING:
    from collections.abc import Iterator

    from situate.manifest import FileDigest
    from situate.model import JsonValue


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
        with self._path.open("rb") as file:
            file.seek(offset)
            fields = _opened(file.readline(), where)
        blocks = fields.listed("blocks", dict)
        return fields.text("doc_version"), tuple(
            _listed(block, fields.name("blocks")) for block in blocks
        )

    def left(self) -> tuple[str, ...]:
        """Name the documents that nobody took, but for those without blocks."""
        names = []
        for doc_id in tuple(self._lines):
            _, blocks = self.take(doc_id) or ("", ())
            names.extend([doc_id] if blocks else [])
        return tuple(names)


class Source:
    """The decoded source of one of a chunks file's documents."""

    def __init__(self, path: Path, chunks: Path) -> None:
        """Find whose source it is, and decode it.

        It belongs to the document whose id its path ends with, else to the only
        document there is.

        Raises:
            RecordError: it is not told whose it is, or it cannot be read.
            ReadError: it cannot be decoded.
        """
        doc_ids = set(_doc_ids(chunks))
        name = path.as_posix()
        own = {doc_id for doc_id in doc_ids if f"/{name}".endswith(f"/{doc_id}")}
        if len(own or doc_ids) != 1:
            message = (
                f"{path}: is the source of none or several of the documents in "
                f"{chunks}; name it so that its path ends with one doc_id"
            )
            raise RecordError(message)
        (self._doc_id,) = own or doc_ids
        try:
            data = path.read_bytes()
        except OSError as error:
            message = f"{path}: cannot be read: {error.strerror}"
            raise RecordError(message) from error
        self._length = len(decode(data, str(path)).text)

    def length_for(self, doc_id: str) -> int | None:
        """Give the source's characters, None for other documents."""
        return self._length if doc_id == self._doc_id else None


def _doc_ids(chunks: Path) -> Iterator[str]:
    """Yield the document of every line that names one."""
    for where, line in read_lines(chunks):
        with suppress(RecordError):
            yield Fields(from_line(line, where), where).text("doc_id")


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
    return Listed(
        block_id=fields.text("block_id"),
        kind=fields.text("kind"),
        span=None if place is None else span(place, fields.name("span")),
        parts=fields.whole("parts"),
    )


def altered(folder: Path, files: tuple[FileDigest, ...]) -> Iterator[Finding]:
    """Yield the files that are not as the manifest beside them says."""
    for file in files:
        path = folder / Path(file.name).name
        try:
            with path.open("rb") as content:
                found = hashlib.file_digest(content, "sha256").hexdigest()
        except OSError as error:
            reason = f"cannot be read: {error.strerror}"
        else:
            reason = "is not the file the manifest was written for"
            if found == file.sha256:
                continue
        yield Finding(rule="manifest", subject=file.name, message=reason)
