"""Chunks for files named one by one, without a corpus."""

from __future__ import annotations

from pathlib import PurePath
from typing import TYPE_CHECKING

from situate.corpus import Source, path_id
from situate.errors import ReadError
from situate.lines import Lines
from situate.output import Output, writing
from situate.pipeline.documents import Ids, Preparer
from situate.records import blocks_record, to_line

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from pathlib import Path
    from typing import BinaryIO

    from situate.config import CuttingConfig
    from situate.pipeline.watching import Watcher


def chunk_files(
    paths: Sequence[Path],
    cutting: CuttingConfig,
    *,
    chunks: BinaryIO,
    blocks: Path | None,
    watcher: Watcher,
) -> None:
    """Write the chunks of every file as JSON lines, and their blocks to a file.

    A file's id is its path as given, its name alone when that is absolute. The
    caller shows `chunks` to nobody unless all files could be read.

    Raises:
        ReadError: a file cannot be read; names it.
        SituateError: two files bear one id, or `blocks` cannot be written.
        ConfigError: the tokenizer cannot be loaded, or `blocks` is one of `paths`.
    """
    preparer = Preparer.cutting(cutting)
    ids = Ids()
    lines = Lines()
    listed = []
    for source in _sources(paths):
        prepared = preparer.prepare(source)
        ids.add(prepared)
        for warning in prepared.warnings:
            watcher.note(f"{source.doc_id}: {warning}")
        chunks.writelines(lines.line(chunk) for chunk in prepared.chunks)
        if blocks is not None:
            listed.append(to_line(blocks_record(prepared.document)))
    if blocks is not None:
        _write_blocks(blocks, listed, kept=paths)


def _sources(paths: Sequence[Path]) -> Iterable[Source]:
    named: dict[str, Path] = {}
    for path in paths:
        doc_id = path_id(PurePath(path.name) if path.is_absolute() else path)
        other = named.setdefault(doc_id, path)
        if other is not path:
            message = (
                f"{str(other)!r} and {str(path)!r} both have doc_id {doc_id!r}; "
                "name each file once, by a relative path"
            )
            raise ReadError(message)
        yield Source(path=path, doc_id=doc_id)


def _write_blocks(path: Path, lines: Sequence[bytes], *, kept: Sequence[Path]) -> None:
    with Output(path, kept=kept) as files, writing(path):
        draft = files.draft()
        for line in lines:
            draft.write(line)
        files.publish(draft)
