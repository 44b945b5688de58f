"""LlamaIndex for real: what it embeds, shows, stores and merges."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from llama_index.core import StorageContext, VectorStoreIndex
from llama_index.core.embeddings import BaseEmbedding
from llama_index.core.ingestion import IngestionPipeline
from llama_index.core.retrievers import AutoMergingRetriever
from llama_index.core.schema import (
    BaseNode,
    Document,
    MetadataMode,
    NodeRelationship,
    TextNode,
)
from llama_index.core.storage.docstore import SimpleDocumentStore
from llama_index.core.vector_stores.utils import (
    metadata_dict_to_node,
    node_to_metadata_dict,
)

from situate import ConfigError, ReadError, RecordError, Rules
from situate.integrations.llamaindex import SituateChunker, SituateNode, nodes
from situate.integrations.llamaindex import _nodes as bridged
from situate.integrations.llamaindex import _related as related
from situate.integrations.passages import kin
from tests.support.following import followed
from tests.support.frameworks import cut, loaded, random_chunks, vector, write
from tests.support.pages import ROOT

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from situate import Chunk
    from situate.chunking import Granularity


class Recording(BaseEmbedding):  # type: ignore[misc, unused-ignore]
    """Embeds as the stand-in does, and keeps what it was given."""

    texts: list[str] = []  # noqa: RUF012 - pydantic copies it

    def _get_text_embedding(self, text: str) -> list[float]:
        self.texts.append(text)
        return vector(text)

    def _get_query_embedding(self, query: str) -> list[float]:
        return vector(query)

    async def _aget_query_embedding(self, query: str) -> list[float]:
        return vector(query)


def handed() -> list[Document]:
    """Give a real corpus, and what is odd, as a reader would."""
    return [
        Document(text=text, metadata={"file_path": name}) for name, text in loaded()
    ]


def agree(made: Sequence[BaseNode], chunks: Sequence[Chunk]) -> None:
    """Hold nodes to their chunks, to the letter."""
    assert [node.node_id for node in made] == [one.chunk_id for one in chunks]
    for node, one in zip(made, chunks, strict=True):
        assert node.get_content(MetadataMode.EMBED) == one.embed_text
        assert node.get_content(MetadataMode.NONE) == one.text
        assert node.get_content(MetadataMode.LLM) == one.text


@pytest.mark.parametrize("granularity", ["leaves", "tree", "multi"])
def test_an_index_embeds_the_embed_text_of_every_chunk(
    granularity: Granularity,
) -> None:
    """To the letter, over a real corpus."""
    rules = Rules(granularity=granularity)
    chunks = cut(rules)
    recording = Recording()

    made = SituateChunker(rules=rules)(handed())
    VectorStoreIndex(
        [node for node in made if node.metadata["embed"]], embed_model=recording
    )

    agree(made, chunks)
    assert recording.texts == [one.embed_text for one in chunks if one.embed]


@given(random_chunks)
def test_no_random_chunk_is_changed_on_its_way(chunks: tuple[Chunk, ...]) -> None:
    """Neither by the bridge, nor by a docstore, a vector store or JSON."""
    made = bridged(chunks, related("a.md", "4"), "kept")
    docstore = SimpleDocumentStore()
    docstore.add_documents(made)

    stored = SimpleDocumentStore.from_dict(docstore.to_dict())

    agree(made, chunks)
    agree([SituateNode.from_json(node.to_json()) for node in made], chunks)
    for node in made:
        embedded = node.get_content(MetadataMode.EMBED)
        for again in (
            stored.get_document(node.node_id),
            metadata_dict_to_node(node_to_metadata_dict(node)),
            TextNode.from_json(node.to_json()),
        ):
            assert again.to_dict() == node.to_dict()
            assert again.get_content(MetadataMode.NONE) == node.text
            # LlamaIndex's own node strips what it puts together.
            assert again.get_content(MetadataMode.EMBED) == embedded.strip()


def test_metadata_is_flat_where_lists_are_written_as_json() -> None:
    """As stores demand that take nothing else; the corpus has lists."""
    for node in SituateChunker(lists="json")(handed()):
        node_to_metadata_dict(node, flat_metadata=True)

    kept = [node.metadata for node in SituateChunker()(handed())]
    assert any(isinstance(said.get("schedules"), list) for said in kept)


def test_a_node_knows_all_of_its_kin() -> None:
    """Its document, its parent and children, and its neighbours."""
    documents = handed()
    chunks = cut(Rules(granularity="tree"))
    made = SituateChunker(rules=Rules(granularity="tree"))(documents)
    sources = {document.metadata["file_path"]: document for document in documents}
    by_document = {
        name: kin([one for one in chunks if one.doc_id == name]) for name in sources
    }

    seen = set()
    for node, one in zip(made, chunks, strict=True):
        around = by_document[one.doc_id][one.chunk_id]
        seen |= {*node.relationships}
        assert node.ref_doc_id == sources[one.doc_id].node_id
        assert getattr(node.parent_node, "node_id", None) == around.parent
        assert [child.node_id for child in node.child_nodes or ()] == around.children
        assert getattr(node.prev_node, "node_id", None) == around.previous
        assert getattr(node.next_node, "node_id", None) == around.next
    assert seen == {*NodeRelationship}


def merging(made: Sequence[BaseNode], top: int) -> AutoMergingRetriever:
    """Index what is to be embedded, store all, and merge what is found."""
    context = StorageContext.from_defaults()
    context.docstore.add_documents(made)
    index = VectorStoreIndex(
        [node for node in made if node.metadata["embed"]],
        storage_context=context,
        embed_model=Recording(),
    )
    found = index.as_retriever(similarity_top_k=top)
    return AutoMergingRetriever(found, context)


def test_chunks_found_together_merge_into_their_parent_and_lose_no_line() -> None:
    """Whatever is retrieved of a real corpus, and stored before."""
    made = SituateChunker(rules=Rules(granularity="tree", max_tokens=128))(handed())
    retriever = merging(made, top=12)
    ids = {node.node_id for node in made if not node.metadata["embed"]}

    merged = 0
    for question in ("dependants health insurance", "dry-running protection", "notice"):
        before = retriever._vector_retriever.retrieve(question)
        after = retriever.retrieve(question)
        shown = "\n".join(one.node.get_content(MetadataMode.NONE) for one in after)
        merged += sum(one.node.node_id in ids for one in after)
        for one in before:
            for line in one.node.get_content(MetadataMode.NONE).splitlines():
                assert line.strip() in shown

    assert merged


def test_a_chunks_file_gives_the_same_nodes(tmp_path: Path) -> None:
    """What a run has written goes into an index as it stands."""
    chunks = cut(Rules(granularity="tree"))
    path = write(tmp_path / "chunks.jsonl", chunks)

    made = nodes(path)

    agree(made, chunks)
    assert {node.ref_doc_id for node in made} == {one.doc_id for one in chunks}


def test_a_file_that_lacks_a_parent_is_refused(tmp_path: Path) -> None:
    """A delta holds documents in part; who would be merged into is not there."""
    chunks = cut(Rules(granularity="tree"))[1:]

    with pytest.raises(RecordError, match=r"its parent .* is missing"):
        nodes(write(tmp_path / "chunks.jsonl", chunks))


def test_a_chunker_is_written_and_read() -> None:
    """And makes the same of the same documents."""
    chunker = SituateChunker(rules=Rules(granularity="tree", max_tokens=100))

    again = SituateChunker.from_json(chunker.to_json())

    assert again == chunker
    assert again.to_dict()["class_name"] == "SituateChunker"
    assert [node.node_id for node in again(handed())] == [
        node.node_id for node in chunker(handed())
    ]


def test_a_changed_config_is_not_served_from_a_cache(tmp_path: Path) -> None:
    """The cache of a pipeline goes by what a component says of itself."""
    config = tmp_path / "corpus.toml"
    documents = handed()

    def run(max_tokens: int, pipeline: IngestionPipeline | None) -> IngestionPipeline:
        config.write_text(
            '[corpus]\nname = "c"\ndocuments = ["*.md"]\n[output]\npath = "c.jsonl"\n'
            f"[chunking]\nmax_tokens = {max_tokens}\n",
            "utf-8",
        )
        chunker = SituateChunker(config=str(config))
        kept = {} if pipeline is None else {"cache": pipeline.cache}
        made = IngestionPipeline(transformations=[chunker], **kept)
        sizes.append(len(made.run(documents=documents)))
        return made

    sizes: list[int] = []
    run(64, run(512, None))

    assert sizes[0] < sizes[1]


def test_a_pipeline_gets_the_same_in_processes_and_in_an_event_loop() -> None:
    """The component travels; what it loads, it loads again."""
    pipeline = IngestionPipeline(transformations=[SituateChunker()], disable_cache=True)
    documents = handed()

    alone = pipeline.run(documents=documents)

    assert pipeline.run(documents=documents, num_workers=2) == alone
    assert asyncio.run(pipeline.arun(documents=documents)) == alone


def test_a_document_without_a_name_raises() -> None:
    """As a node parser does: LlamaIndex knows no document that failed."""
    with pytest.raises(ReadError, match=r"^node 'x': metadata\['file_path'\]"):
        SituateChunker()([Document(text="Text.", id_="x")])


def test_rules_beside_a_config_are_refused() -> None:
    """In one line, not as a report of a validator."""
    with pytest.raises(ConfigError, match="has rules of its own"):
        SituateChunker(rules=Rules(), config="a.toml")


def test_every_block_of_the_page_shows_what_happens(clone: Path) -> None:
    """Programs are run, and what stands below them compared."""
    shown, happens = followed(ROOT / "docs" / "llamaindex.md", clone)

    assert shown == happens
