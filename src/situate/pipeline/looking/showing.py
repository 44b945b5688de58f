"""One chunk and the passage of the source it came from."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import takewhile
from typing import TYPE_CHECKING

from situate.errors import RecordError
from situate.files import opened
from situate.readers.decoding import as_name, clean, decode
from situate.records import from_line, from_record, read_lines
from situate.validity import in_force, said_validity

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    from situate.model import Chunk
    from situate.records import Record


@dataclass(frozen=True, slots=True, kw_only=True)
class Shown:
    """A chunk as a person wants to see it."""

    chunk: Chunk
    passage: str | None
    """What stands in the source; None without a source or without spans."""


def find_chunk(
    chunk_id: str, chunks: Path, *, source: Path | None = None, day: str | None = None
) -> Shown:
    """Find a chunk and, given its source, the passage.

    With a day, an ISO date, it has to be in force then.

    Raises:
        RecordError: no chunk has this id, or a file cannot be read.
        ReadError: the source cannot be decoded.
    """
    (*_, (where, record)), _ = _up_to(chunk_id, chunks)
    chunk = chosen([from_record(record, where)], day)
    return Shown(chunk=chunk, passage=passage(chunk, source))


def chosen(wordings: Sequence[Chunk], day: str | None) -> Chunk:
    """Give the wording of a chunk that is in force on a day, else the last.

    Raises:
        RecordError: none is in force then.
    """
    if day is None:
        return wordings[-1]
    for chunk in wordings:
        if in_force(chunk.metadata, day):
            return chunk
    told = "; ".join(said_validity(chunk.metadata) for chunk in wordings)
    message = f"{wordings[-1].chunk_id!r} is not in force on {day}: {told}"
    raise RecordError(message)


def find_among(chunk_id: str, chunks: Path) -> tuple[Chunk, tuple[Chunk, ...]]:
    """Find a chunk, and all chunks of its document that stand beside it.

    Raises:
        RecordError: no chunk has this id, or a file cannot be read.
    """
    own, rest = _up_to(chunk_id, chunks)
    doc_id = own[-1][1].get("doc_id")
    after = takewhile(lambda found: found[1].get("doc_id") == doc_id, rest)
    found = [from_record(record, where) for where, record in own]
    return found[-1], (*found, *(from_record(record, where) for where, record in after))


def _up_to(
    chunk_id: str, chunks: Path
) -> tuple[list[tuple[str, Record]], Iterator[tuple[str, Record]]]:
    """Give what stands of a document up to a chunk, with it, and what is left to read.

    Raises:
        RecordError: no chunk has this id, or a file cannot be read.
    """
    for name in spellings(chunk_id):
        records = ((at, from_line(line, at)) for at, line in read_lines(chunks))
        own: list[tuple[str, Record]] = []
        for where, record in records:
            if own and record.get("doc_id") != own[-1][1].get("doc_id"):
                own.clear()
            own.append((where, record))
            if record.get("chunk_id") == name:
                return own, records
    message = f"{chunks}: no chunk has the id {chunk_id!r}"
    raise RecordError(message)


def spellings(name: str) -> tuple[str, ...]:
    """Give the id of a chunk or record as it was typed, and as ids are read.

    The latter is what it has whose document was named in another spelling.
    """
    document, colon, place = name.partition(":")
    return tuple(dict.fromkeys((name, f"{as_name(document)}{colon}{as_name(place)}")))


def passage(chunk: Chunk, source: Path | None) -> str | None:
    """Give what the spans name, with the white space between them.

    Raises:
        RecordError: the source cannot be read, or is too short to be it.
        ReadError: it cannot be decoded.
    """
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
