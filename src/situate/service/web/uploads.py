"""Takes bodies in: on to a file without a name first, then document by document.

A name in a request is a label. Nothing here opens what a request names.
"""

from __future__ import annotations

import asyncio
import json
import re
import tempfile
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import IO, TYPE_CHECKING, Final, TypeVar

from pydantic import TypeAdapter, ValidationError
from python_multipart.exceptions import FormParserError
from python_multipart.multipart import MultipartParser, parse_options_header

from situate.pipeline.handed import Handed
from situate.service.web.problems import Refused
from situate.service.web.shapes import (
    AS_JSON,
    DOCUMENT,
    FORM,
    DocumentFields,
    DocumentSaid,
    JobFields,
)

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Iterator

    from pydantic_core import ErrorDetails
    from python_multipart.multipart import MultipartCallbacks
    from starlette.requests import Request

    from situate.service.web.limits import Limits
    from situate.service.web.shapes import DocumentText, Shape

_PIECE: Final = 1 << 20
"""Bytes that are written, or read, at a time; what has no more stays in memory."""

_FIELD_BYTES: Final = 1 << 20
"""Most of a field that is no file."""

_FIELDS: Final = 16
"""Most fields that are no files."""

_FILE: Final = "file"
_SAID: Final = "documents"
"""Fields of a form: of files, and of what is said of them."""

_STATEMENTS: Final = "statements"

_NAME_CHARACTERS: Final = 1_000
"""Most of a file's name."""

_PROBLEMS: Final = 20
"""Most parts of a body whose faults are told."""

_FAULTS: Final = 1_000
"""Most faults that are looked at one by one: each takes a kilobyte."""

_MARKS: Final = re.compile(rb'"(?:[^"\\]++|\\.)*+"?|[{\[,]', re.DOTALL)
"""Strings, and what stands before values of JSON. A string that does not end is one to
the end of the body, so that none is looked at twice."""

_QUOTE: Final = ord('"')

_VALUES: Final = 10_000
_VALUES_EACH: Final = 32
"""Most values of a JSON body, and how many more for each document it may have: a value
of two bytes takes a hundred times that once it is read."""

_JSON: Final = "application/json"
_FORM: Final = "multipart/form-data"

_Shape = TypeVar("_Shape")


@dataclass(frozen=True, slots=True, kw_only=True)
class Body:
    """A body that has been taken in."""

    file: IO[bytes]
    media_type: str
    """`application/json` or `multipart/form-data`."""
    boundary: bytes
    """What stands between its parts, where it has any."""


@dataclass(slots=True)
class _Part:
    """A part of a form."""

    name: str = ""
    filename: str | None = None
    """None for a field that is no file."""
    content: bytearray = field(default_factory=bytearray)


@asynccontextmanager
async def taken_in(request: Request) -> AsyncIterator[Body]:
    """Write a body to a file that goes with the block.

    Raises:
        Refused: it is of another type than what is taken in.
    """
    said = request.headers.get("content-type", "")
    given, options = parse_options_header(said)
    media_type = given.decode("latin-1").lower()
    boundary = options.get(b"boundary", b"")
    if media_type not in {_JSON, _FORM} or (media_type == _FORM and not boundary):
        detail = f"the body is {said or 'of no type'!r}; send {_JSON} or {_FORM}"
        raise Refused(415, detail)
    with tempfile.SpooledTemporaryFile(max_size=_PIECE) as file:
        held = bytearray()
        async for piece in request.stream():
            held += piece
            if len(held) >= _PIECE:
                await asyncio.to_thread(file.write, held)
                held = bytearray()
        file.write(held)
        yield Body(file=file, media_type=media_type, boundary=boundary)


def document_in(body: Body, most_bytes: int) -> tuple[DocumentFields, Handed]:
    """Read a body that holds one document, and what is wanted of it.

    Raises:
        Refused: it is not what its type says, or a field is missing or wrong.
    """
    if body.media_type == _JSON:
        asked = _validated(DOCUMENT, _all_of(body, most_bytes), 1)
        return asked, _handed(asked, asked.text.encode())
    values: dict[str, object] = {}
    content: bytes | None = None
    for part in _parts(body, most_bytes):
        if part.filename is None:
            _add_field(values, part)
        elif part.name != _FILE or content is not None:
            raise _wrong(_FILE, "name one file, in the field 'file'")
        else:
            values.setdefault("name", part.filename)
            content = bytes(part.content)
    if content is None:
        raise _wrong(_FILE, "there is no file with a name")
    said = json.dumps({"text": "", **values}).encode()
    asked = _validated(DOCUMENT, said, 1)
    return asked, _handed(asked, content)


@dataclass(frozen=True, slots=True, kw_only=True)
class Many:
    """Documents of one body, read again each time they are gone through."""

    corpus: str
    body: Body
    most_bytes: int
    """Of one of them."""
    said: dict[str, DocumentSaid]
    """What a form says of its files, by their names."""
    texts: tuple[DocumentText, ...] = ()
    """Those of a JSON body."""

    def __iter__(self) -> Iterator[Handed]:
        """Give one after the other; no two of a form are in memory at once.

        Raises:
            Refused: one is larger than a document may be.
        """
        for text in self.texts:
            yield _handed(text, text.text.encode())
        if self.body.media_type == _FORM:
            for part in _parts(self.body, self.most_bytes):
                if part.filename is not None:
                    said = self.said.get(part.filename)
                    named = said or DocumentSaid(name=part.filename)
                    yield _handed(named, bytes(part.content))


def documents_in(body: Body, shape: Shape, limits: Limits) -> Many:
    """Look through a body of documents; a form's are gone through, not kept.

    JSON is of the `shape`.

    Raises:
        Refused: it is not what its type says, a field is missing or wrong, there are
            too many documents, or one is too large.
    """
    most_bytes, most_documents = limits.body_bytes, limits.documents
    if body.media_type == _JSON:
        asked = _validated(shape, _all_of(body, most_bytes), most_documents)
        if isinstance(asked, DocumentFields) and not asked.statements:
            raise _wrong(_STATEMENTS, "without them there is nothing to plan")
        texts = asked.documents if isinstance(asked, JobFields) else [asked]
        _check_count(len(texts), most_documents)
        return Many(
            corpus=asked.corpus,
            body=body,
            most_bytes=most_bytes,
            said={},
            texts=tuple(texts),
        )
    values: dict[str, object] = {}
    names: list[str] = []
    for part in _parts(body, most_bytes):
        if part.filename is None:
            _add_field(values, part)
        elif part.name != _FILE:
            raise _wrong(part.name, "files go into the field 'file'")
        else:
            names.append(part.filename)
            _check_count(len(names), most_documents)
    form = _validated(FORM, json.dumps(values).encode(), most_documents)
    if not names:
        raise _wrong(_FILE, "there is no file with a name")
    if unknown := sorted(form.documents.keys() - set(names)):
        raise _wrong(_SAID, f"{unknown[0]!r} is none of the files")
    said = form.of_files()
    if form.is_of_one:
        if len(names) > 1:
            raise _wrong(_FILE, "what is said of several stands in 'documents'")
        said[names[0]] = form.of_one(names[0])
    return Many(corpus=form.corpus, body=body, most_bytes=most_bytes, said=said)


def _check_count(documents: int, most: int) -> None:
    if documents > most:
        detail = f"there are more than {most:,} documents; send several jobs"
        raise Refused(413, detail)


def _handed(said: DocumentSaid, content: bytes) -> Handed:
    return Handed(
        name=said.name,
        content=content,
        doc_id=said.doc_id,
        version=said.version,
        metadata=said.metadata,
    )


def _all_of(body: Body, most_bytes: int) -> bytes:
    """Give a body that has to be in memory as a whole.

    Raises:
        Refused: it is larger than what may be.
    """
    body.file.seek(0)
    content = body.file.read(most_bytes + 1)
    if len(content) > most_bytes:
        detail = f"a JSON body has at most {most_bytes:,} bytes; send a form of files"
        raise Refused(413, detail)
    return content


def _validated(
    shape: TypeAdapter[_Shape], content: bytes, most_documents: int
) -> _Shape:
    """Read JSON of a known shape.

    Raises:
        Refused: it is no JSON, of another shape, or of more values than so many
            documents have; names the first parts that are wrong.
    """
    _check_values(content, _VALUES + _VALUES_EACH * most_documents)
    try:
        return shape.validate_json(content)
    except ValidationError as error:
        if error.error_count() > _FAULTS:
            detail = f"body: {error.error_count():,} parts of it are wrong"
            raise Refused(422, detail) from error
        faults = error.errors(include_url=False, include_input=False)
        problems = [
            (".".join(map(str, each["loc"])) or "body", _said(each))
            for each in faults[:_PROBLEMS]
        ]
        where, message = problems[0]
        status = 400 if faults[0]["type"] == "json_invalid" else 422
        raise Refused(status, f"{where}: {message}", problems=problems) from error


def _check_values(content: bytes, most: int) -> None:
    """Look at a body before it is read: a small one may hold millions of values.

    Raises:
        Refused: it has more than that.
    """
    count = 1
    for mark in _MARKS.finditer(content):
        count += content[mark.start()] != _QUOTE
        if count > most:
            detail = f"the body has more than {most:,} values; send several"
            raise Refused(413, detail)


def _said(error: ErrorDetails) -> str:
    """Say what is wrong with a part; of a key that is unknown, where it may belong."""
    if error["type"] == "extra_forbidden":
        return f"{error['msg']}; what is said of a document goes under metadata"
    return error["msg"]


def _wrong(field: str, message: str) -> Refused:
    return Refused(422, f"{field}: {message}", problems=[(field, message)])


def _add_field(values: dict[str, object], part: _Part) -> None:
    """Keep a field that is no file; some are JSON.

    Raises:
        Refused: it stands there twice, is too much, or is not JSON where it has to be.
    """
    if part.name in values or len(values) >= _FIELDS:
        raise _wrong(part.name, "it stands there twice, or there are too many fields")
    try:
        text = part.content.decode("utf-8")
        values[part.name] = json.loads(text) if part.name in AS_JSON else text
    except (ValueError, RecursionError) as error:
        kind = "JSON" if part.name in AS_JSON else "UTF-8"
        raise _wrong(part.name, f"it is no {kind}") from error


def _parts(body: Body, most_bytes: int) -> Iterator[_Part]:
    """Give the parts of a form, one after the other.

    Raises:
        Refused: it is no form, or a part is larger than it may be.
    """
    reading = _Reading(most_bytes)
    parser = MultipartParser(body.boundary, reading.callbacks)
    body.file.seek(0)
    try:
        while piece := body.file.read(_PIECE >> 4):
            parser.write(piece)
            yield from reading.taken()
        parser.finalize()
    except FormParserError as error:
        raise _no_form() from error
    yield from reading.taken()
    if not reading.is_whole:
        raise _no_form()


def _no_form() -> Refused:
    return Refused(400, "the body is no form, or ends before its last part does")


class _Reading:
    """Puts parts together from what a parser calls out."""

    def __init__(self, most_bytes: int) -> None:
        self._most_bytes = most_bytes
        self._part = _Part()
        self._done: list[_Part] = []
        self._header = bytearray()
        self._value = bytearray()
        self.is_whole = False
        """Whether the last boundary has come."""

    @property
    def callbacks(self) -> MultipartCallbacks:
        """What the parser calls."""
        return {
            "on_part_begin": self._begin,
            "on_header_field": self._add_header,
            "on_header_value": self._add_value,
            "on_header_end": self._end_header,
            "on_headers_finished": self._check_named,
            "on_part_data": self._add_content,
            "on_part_end": self._end,
            "on_end": self._finish,
        }

    def taken(self) -> list[_Part]:
        """Give the parts that are whole, each once."""
        done, self._done = self._done, []
        return done

    def _begin(self) -> None:
        self._part = _Part()

    def _add_header(self, data: bytes, start: int, end: int) -> None:
        self._header += data[start:end]

    def _add_value(self, data: bytes, start: int, end: int) -> None:
        self._value += data[start:end]

    def _end_header(self) -> None:
        if bytes(self._header).lower() == b"content-disposition":
            _, options = parse_options_header(bytes(self._value))
            self._part.name = _text(options.get(b"name", b""))
            if b"filename" in options:
                self._part.filename = _text(options[b"filename"])
        self._header.clear()
        self._value.clear()

    def _check_named(self) -> None:
        if not self._part.name:
            detail = "a part of the form has no name"
            raise Refused(400, detail)
        name = self._part.filename
        if name is not None and not 0 < len(name) <= _NAME_CHARACTERS:
            detail = f"a file has no name, or one of over {_NAME_CHARACTERS:,} letters"
            raise _wrong(self._part.name, detail)

    def _add_content(self, data: bytes, start: int, end: int) -> None:
        is_file = self._part.filename is not None
        most = self._most_bytes if is_file else min(_FIELD_BYTES, self._most_bytes)
        if len(self._part.content) + end - start > most:
            name = self._part.filename or self._part.name
            raise Refused(413, f"{name}: it has more than {most:,} bytes")
        self._part.content += data[start:end]

    def _end(self) -> None:
        self._done.append(self._part)

    def _finish(self) -> None:
        self.is_whole = True


def _text(name: bytes) -> str:
    return name.decode("utf-8", "replace")
