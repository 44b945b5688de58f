"""The files that hold a corpus's documents, written side by side."""

from __future__ import annotations

from contextlib import ExitStack
from typing import TYPE_CHECKING

from situate import parquet
from situate.records import from_line

if TYPE_CHECKING:
    from typing import Self

    from situate.config.keys import OutputConfig
    from situate.output import Draft, Output
    from situate.pipeline.written import Written


class Drafts:
    """Chunks and blocks as lines, and chunks as rows where the config says so."""

    def __init__(self, files: Output, output: OutputConfig) -> None:
        """Begin them.

        Raises:
            OSError: the file system refuses.
        """
        self._chunks = files.draft()
        self._blocks = files.draft(output.beside("blocks.jsonl").name)
        self._stack = ExitStack()
        self._rows: Draft | None = None
        if output.parquet:
            self._rows = files.draft(output.beside("parquet").name)
            self._writer = self._stack.enter_context(parquet.Writer(self._rows))

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._stack.close()

    def write(self, document: Written) -> None:
        """Append a document.

        Raises:
            RecordError: a value has no place in its column.
            OSError: the file system refuses.
        """
        self._chunks.write(document.chunks)
        self._blocks.write(document.blocks)
        if self._rows is not None:
            for line in document.chunks.splitlines():
                self._writer.write(from_line(line, document.doc_id))

    def end(self) -> tuple[Draft, ...]:
        """Complete them and give them, in the order in which they take their places.

        Raises:
            RecordError: a value has no place in its column.
            OSError: the file system refuses.
        """
        if self._rows is None:
            return self._chunks, self._blocks
        self._writer.end()
        return self._chunks, self._blocks, self._rows
