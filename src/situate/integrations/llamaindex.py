"""LlamaIndex: a transformation into nodes, and the nodes of a chunks file.

A node embeds (`MetadataMode.EMBED`) the chunk's `embed_text` and shows
(`MetadataMode.NONE` and `LLM`) its `text`. The one is no template around the other, so
the node carries both: `embed_text` is metadata, the only one that is embedded.
LlamaIndex strips what it puts together; the nodes made here keep the spaces at the
ends. What a store gives back is LlamaIndex's own node, and embeds without them.
"""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import TYPE_CHECKING, Any

from situate.chunking import Rules  # noqa: TC001 - pydantic reads the annotation
from situate.errors import ConfigError
from situate.integrations.cutting import Loaded, cut, preparer_of
from situate.integrations.passages import Lists, documents, flat, kin
from situate.model import digest
from situate.records import read_chunks

try:
    from llama_index.core.bridge.pydantic import Field, PrivateAttr
    from llama_index.core.schema import (
        BaseNode,
        MetadataMode,
        NodeRelationship,
        ObjectType,
        RelatedNodeInfo,
        TextNode,
        TransformComponent,
    )
except ImportError as error:
    _MESSAGE = "LlamaIndex is missing; pip install 'situate[llamaindex]'"
    raise ConfigError(_MESSAGE) from error

if TYPE_CHECKING:
    from collections.abc import Sequence

    from situate.integrations.passages import Kin
    from situate.model import Chunk
    from situate.pipeline.documents import Preparer

__all__ = ["SituateChunker", "SituateNode", "nodes"]


# Without the framework mypy takes its classes for Any.
class SituateNode(TextNode):  # type: ignore[misc, unused-ignore]
    """A node whose embedded text keeps the spaces at its ends."""

    def get_content(self, metadata_mode: MetadataMode = MetadataMode.NONE) -> str:
        """Give what is embedded, shown, or read by a model."""
        if metadata_mode == MetadataMode.EMBED:
            said = self.get_metadata_str(mode=metadata_mode)
            if said == self.metadata.get("embed_text"):
                return str(said)
        return str(super().get_content(metadata_mode=metadata_mode))


class SituateChunker(TransformComponent):  # type: ignore[misc, unused-ignore]
    """Cuts documents into nodes with their context and all relationships."""

    rules: Rules | None = Field(default=None, description="How to cut.")
    config: str | None = Field(
        default=None, description="A corpus's config, in the place of rules."
    )
    named_by: str = Field(
        default="file_path",
        description="The key of metadata that names a document; the end of the name "
        "says how the text is read.",
    )
    lists: Lists = Field(
        default="kept",
        description="What becomes of the author's lists: stores of flat metadata take "
        "none, and get them as JSON.",
    )
    cutting: str = Field(
        default="",
        description="Hash of how it cuts: a pipeline's cache must see a config change.",
    )
    _preparer: Preparer = PrivateAttr()

    @classmethod
    def class_name(cls) -> str:
        """Give the name under which it is written."""
        return "SituateChunker"

    def model_post_init(self, context: Any, /) -> None:
        """Load what cutting needs.

        Raises:
            ConfigError: rules and a config are both given, or one cannot be used.
        """
        super().model_post_init(context)
        self._preparer = of = preparer_of(self.rules, self.config)
        how = (of.rules, of.counter.name, of.corpus, of.doc_type, of.options, of.policy)
        self.cutting = digest(repr(how))

    def __call__(
        self,
        nodes: Sequence[BaseNode],
        **kwargs: Any,  # noqa: ARG002 - the framework's signature
    ) -> list[BaseNode]:
        """Cut documents; all their records come, in order, parents first.

        The author's metadata stays on every node. Those that hold a permission or a
        date outrank the document's own words.

        Raises:
            ReadError: a document has no name or cannot be read, or two have one id.
        """
        loaded = (
            Loaded(
                text=node.get_content(metadata_mode=MetadataMode.NONE),
                metadata=node.metadata,
                place=f"node {node.node_id!r}",
            )
            for node in nodes
        )
        cuts = cut(loaded, self._preparer, named_by=self.named_by)
        return [
            made
            for node, chunks in zip(nodes, cuts, strict=True)
            for made in _nodes(chunks, _source(node), self.lists)
        ]

    async def acall(self, nodes: Sequence[BaseNode], **kwargs: Any) -> list[BaseNode]:
        """Cut documents as a call does, in a thread.

        Raises:
            ReadError: as a call.
        """
        return await asyncio.to_thread(self.__call__, nodes, **kwargs)


def nodes(path: str | Path, *, lists: Lists = "kept") -> list[SituateNode]:
    """Give the nodes of what `situate run` has written, with its statements.

    Raises:
        RecordError: the file cannot be read, or does not hold documents whole.
    """
    return [
        node
        for chunks in documents(read_chunks(Path(path)))
        for node in _nodes(
            chunks, _related(chunks[0].doc_id, ObjectType.DOCUMENT), lists
        )
    ]


def _nodes(
    chunks: Sequence[Chunk], source: RelatedNodeInfo, lists: Lists
) -> list[SituateNode]:
    around = kin(chunks)
    made = []
    for chunk in chunks:
        metadata = {**flat(chunk, lists), "embed_text": chunk.embed_text}
        made.append(
            SituateNode(
                id_=chunk.chunk_id,
                text=chunk.text,
                metadata=metadata,  # type: ignore[call-arg, unused-ignore] # by its name
                metadata_template="{value}",
                text_template="{metadata_str}",
                excluded_embed_metadata_keys=[*metadata][:-1],
                excluded_llm_metadata_keys=[*metadata],
                relationships=_relationships(around[chunk.chunk_id], source),
            )
        )
    return made


def _relationships(
    around: Kin, source: RelatedNodeInfo
) -> dict[NodeRelationship, RelatedNodeInfo | list[RelatedNodeInfo]]:
    found: dict[NodeRelationship, RelatedNodeInfo | list[RelatedNodeInfo]] = {
        NodeRelationship.SOURCE: source
    }
    for relationship, other in (
        (NodeRelationship.PARENT, around.parent),
        (NodeRelationship.PREVIOUS, around.previous),
        (NodeRelationship.NEXT, around.next),
    ):
        if other is not None:
            found[relationship] = _related(other, ObjectType.TEXT)
    if around.children:
        found[NodeRelationship.CHILD] = [
            _related(child, ObjectType.TEXT) for child in around.children
        ]
    return found


def _related(name: str, kind: ObjectType) -> RelatedNodeInfo:
    return RelatedNodeInfo(node_id=name, node_type=kind)


def _source(node: BaseNode) -> RelatedNodeInfo:
    return node.source_node or RelatedNodeInfo(
        node_id=node.node_id, node_type=node.get_type(), hash=node.hash
    )
