"""One chunk and the passage of the source it came from."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from situate.errors import RecordError
from situate.files import opened
from situate.readers.decoding import clean, decode
from situate.records import from_line, from_record, read_lines

if TYPE_CHECKING:
    from pathlib import Path

    from situate.model import Chunk


@dataclass(frozen=True, slots=True, kw_only=True)
class Shown:
    """A chunk as a person wants to see it."""

    chunk: Chunk
    passage: str | None
    """What stands in the source; None without a source or without spans."""


def find_chunk(chunk_id: str, chunks: Path, *, source: Path | None = None) -> Shown:
    """Find a chunk and, given its source, the passage.

    Raises:
        RecordError: no chunk has this id, or a file cannot be read.
        ReadError: the source cannot be decoded.
    """
    for where, line in read_lines(chunks):
        record = from_line(line, where)
        if record.get("chunk_id") == chunk_id:
            chunk = from_record(record, where)
            return Shown(chunk=chunk, passage=_passage(chunk, source))
    message = f"{chunks}: no chunk has the id {chunk_id!r}"
    raise RecordError(message)


def _passage(chunk: Chunk, source: Path | None) -> str | None:
    """Give what the spans name, with the white space between them."""
    spans = [span for span in chunk.spans if span is not None]
    if source is None or not spans:
        return None
    try:
        with opened(source) as file:
            text = decode(file.read(), str(source)).text
    except OSError as error:
        message = f"{source}: cannot be read: {error.strerror}"
        raise RecordError(message) from error
    if max(end for _, end in spans) > len(text):
        message = f"{source}: is shorter than the source of {chunk.chunk_id!r}"
        raise RecordError(message)
    pieces = []
    reached = spans[0][0]
    for first, end in spans:
        between = text[reached:first]
        # What lies between two blocks and is no white space belongs elsewhere.
        pieces.append("\n\n" if between.strip() else between)
        pieces.append(text[max(first, reached) : end])
        reached = max(reached, end)
    return clean("".join(pieces))
