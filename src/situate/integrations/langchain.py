"""LangChain: a document transformer, and a loader of chunks files.

The content of a document is the chunk's `embed_text`, which is what a vector store
embeds, and `metadata["text"]` its `text`; or the other way round.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

from situate.errors import ConfigError
from situate.integrations.cutting import Loaded, cut, preparer_of
from situate.integrations.passages import flat
from situate.records import from_line, from_record, read_lines

try:
    from langchain_core.document_loaders import BaseLoader
    from langchain_core.documents import BaseDocumentTransformer, Document
except ImportError as error:
    _MESSAGE = "LangChain is missing; pip install 'situate[langchain]'"
    raise ConfigError(_MESSAGE) from error

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from situate.chunking import Rules
    from situate.model import Chunk

__all__ = ["Content", "SituateChunker", "SituateLoader"]

Content: TypeAlias = Literal["embed_text", "text"]
"""What the content of a document is; the other one stands in its metadata."""


# Without the framework mypy takes its classes for Any.
class SituateChunker(BaseDocumentTransformer):  # type: ignore[misc, unused-ignore]
    """Cuts documents into chunks with their context."""

    def __init__(
        self,
        rules: Rules | None = None,
        *,
        config: str | Path | None = None,
        content: Content = "embed_text",
        named_by: str = "source",
    ) -> None:
        """Say how to cut: by rules, by a corpus's config, or by the defaults.

        `named_by` is the key of metadata that names a document, as a path or URL; its
        end says how the text is read.

        Raises:
            ConfigError: rules and a config are both given, or one cannot be used.
        """
        self._preparer = preparer_of(rules, config)
        self._content: Content = content
        self._named_by = named_by

    def transform_documents(
        self,
        documents: Sequence[Document],
        **kwargs: Any,  # noqa: ARG002 - the framework's signature
    ) -> list[Document]:
        """Cut documents; all their records come, in order, parents first.

        The author's metadata stays on every chunk. Those that hold a permission or a
        date outrank the document's own words.

        Raises:
            ReadError: a document has no name or cannot be read, or two have one id.
        """
        loaded = (
            Loaded(
                text=document.page_content,
                metadata=document.metadata,
                place=f"document {number}",
            )
            for number, document in enumerate(documents, 1)
        )
        return [
            _document(chunk, chunk.chunk_id, self._content)
            for chunks in cut(loaded, self._preparer, named_by=self._named_by)
            for chunk in chunks
        ]


class SituateLoader(BaseLoader):  # type: ignore[misc, unused-ignore]
    """Loads what `situate run` has written, or the upserts of a delta."""

    def __init__(self, path: str | Path, *, content: Content = "embed_text") -> None:
        """Name the file: that of a run, or `upserts.jsonl` of a delta."""
        self._path = Path(path)
        self._content: Content = content

    def lazy_load(self) -> Iterator[Document]:
        """Yield its records one by one, under the ids that a delta calls them by.

        Raises:
            RecordError: the file cannot be read, or holds no record of a chunk.
        """
        for where, line in read_lines(self._path):
            record = from_line(line, where)
            chunk = from_record(record, where)
            name = str(record.get("record_id", chunk.chunk_id))
            yield _document(chunk, name, self._content)


def _document(chunk: Chunk, name: str, content: Content) -> Document:
    texts = {"text": chunk.text, "embed_text": chunk.embed_text}
    shown = texts.pop(content)
    return Document(id=name, page_content=shown, metadata={**flat(chunk), **texts})
