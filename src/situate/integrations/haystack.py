"""Haystack: components that cut documents, load a chunks file and show texts.

Haystack has one place for a text. It holds the chunk's `embed_text` until a document
has its vector, and its `text` from `SituateShown` on: an embedder joins metadata and
content, and a chunk's text is not the end of what is embedded of it.
"""

from __future__ import annotations

from dataclasses import asdict, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from situate.chunking import Rules
from situate.errors import ConfigError
from situate.integrations import passages
from situate.integrations.cutting import Loaded, cut, preparer_of
from situate.records import read_chunks

try:
    from haystack import Document, component, default_from_dict, default_to_dict
except ImportError as error:
    _MESSAGE = "Haystack is missing; pip install 'situate[haystack]'"
    raise ConfigError(_MESSAGE) from error

if TYPE_CHECKING:
    from collections.abc import Sequence

    from situate.integrations.passages import Kin
    from situate.model import Chunk

__all__ = ["SituateChunker", "SituateConverter", "SituateShown"]


# Without the framework mypy takes its decorators for untyped.
@component  # type: ignore[misc, untyped-decorator, unused-ignore]
class SituateChunker:
    """Cuts documents into chunks with their context, ready for an embedder."""

    def __init__(
        self,
        rules: Rules | None = None,
        config: str | None = None,
        named_by: str = "file_path",
    ) -> None:
        """Say how to cut: by rules, by a corpus's config, or by the defaults.

        `named_by` is the key of metadata that names a document; the end of the name
        says how its text is read.

        Raises:
            ConfigError: rules and a config are both given, or one cannot be used.
        """
        self.rules = rules
        self.config = config
        self.named_by = named_by
        self._preparer = preparer_of(rules, config)

    def to_dict(self) -> dict[str, Any]:
        """Give what a pipeline's file holds of it."""
        found: dict[str, Any] = default_to_dict(
            self,
            rules=None if self.rules is None else asdict(self.rules),
            config=self.config,
            named_by=self.named_by,
        )
        return found

    @classmethod
    def from_dict(cls, data: dict[str, Any]) -> SituateChunker:
        """Make it from what a pipeline's file holds.

        Raises:
            ConfigError: as its construction.
        """
        said = dict(data["init_parameters"])
        if said.get("rules") is not None:
            said["rules"] = Rules(**said["rules"])
        made: SituateChunker = default_from_dict(cls, {**data, "init_parameters": said})
        return made

    @component.output_types(documents=list[Document])  # type: ignore[misc, untyped-decorator, unused-ignore]
    def run(self, documents: list[Document]) -> dict[str, list[Document]]:
        """Cut documents; all their records come, in order, parents first.

        The author's metadata stays on every chunk. Those that hold a permission or a
        date outrank the document's own words.

        Raises:
            ReadError: a document has no name or cannot be read, or two have one id.
        """
        loaded = (
            Loaded(
                text=document.content or "",
                metadata=document.meta,
                place=f"document {number}",
            )
            for number, document in enumerate(documents, 1)
        )
        return {
            "documents": [
                made
                for chunks in cut(loaded, self._preparer, named_by=self.named_by)
                for made in _documents(chunks)
            ]
        }


@component  # type: ignore[misc, untyped-decorator, unused-ignore]
class SituateConverter:
    """Loads what `situate run` has written, with its statements."""

    @component.output_types(documents=list[Document])  # type: ignore[misc, untyped-decorator, unused-ignore]
    def run(self, sources: list[str | Path]) -> dict[str, list[Document]]:
        """Give the documents of chunks files.

        Raises:
            RecordError: a file cannot be read, or does not hold documents whole.
        """
        return {
            "documents": [
                made
                for source in sources
                for chunks in passages.documents(read_chunks(Path(source)))
                for made in _documents(chunks)
            ]
        }


@component  # type: ignore[misc, untyped-decorator, unused-ignore]
class SituateShown:
    """Puts the text to be shown in the place of the one that was embedded."""

    @component.output_types(documents=list[Document])  # type: ignore[misc, untyped-decorator, unused-ignore]
    def run(self, documents: list[Document]) -> dict[str, list[Document]]:
        """Give documents whose content is their chunk's `text`; all else stays.

        Raises:
            ConfigError: one comes from no chunk.
        """
        return {"documents": [_shown(document) for document in documents]}


def _shown(document: Document) -> Document:
    if "text" not in document.meta:
        message = f"document {document.id!r} has no meta['text']: it is no chunk"
        raise ConfigError(message)
    meta = {key: value for key, value in document.meta.items() if key != "text"}
    return replace(document, content=document.meta["text"], meta=meta)


def _documents(chunks: Sequence[Chunk]) -> list[Document]:
    around = passages.kin(chunks)
    return [_document(chunk, around[chunk.chunk_id]) for chunk in chunks]


def _document(chunk: Chunk, around: Kin) -> Document:
    # The names under which Haystack's own splitter and merging retriever keep a tree.
    tree = {
        "__parent_id": around.parent,
        "__children_ids": around.children,
        "__level": around.depth,
        "__block_size": chunk.token_count,
    }
    meta = {**passages.flat(chunk), "text": chunk.text, **tree}
    return Document(id=chunk.chunk_id, content=chunk.embed_text, meta=meta)
