"""Haystack for real: what its embedders see, and what its stores hold."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from haystack import Document, Pipeline
from haystack.components.embedders import (
    MockDocumentEmbedder,
    MockTextEmbedder,
    OpenAIDocumentEmbedder,
)
from haystack.components.joiners import DocumentJoiner
from haystack.components.retrievers import AutoMergingRetriever
from haystack.components.retrievers.in_memory import InMemoryEmbeddingRetriever
from haystack.components.routers import MetadataRouter
from haystack.components.writers import DocumentWriter
from haystack.document_stores.in_memory import InMemoryDocumentStore
from haystack.utils import Secret
from hypothesis import given

from situate import ConfigError, ReadError, RecordError, Rules
from situate.integrations.haystack import (
    SituateChunker,
    SituateConverter,
    SituateShown,
)
from situate.integrations.haystack import _documents as bridged
from tests.support.following import followed
from tests.support.frameworks import cut, loaded, random_chunks, vector, write
from tests.support.pages import ROOT

if TYPE_CHECKING:
    from pathlib import Path

    from situate import Chunk
    from situate.chunking import Granularity

OURS = ["situate.integrations.haystack"]


def handed() -> list[Document]:
    """Give a real corpus, and what is odd, as a converter would."""
    return [Document(content=text, meta={"file_path": name}) for name, text in loaded()]


def indexing(rules: Rules, store: InMemoryDocumentStore) -> list[str]:
    """Cut, embed, show and write a corpus; give what was embedded."""
    texts: list[str] = []

    def recorded(text: str) -> list[float]:
        texts.append(text)
        return vector(text)

    pipeline = Pipeline()
    pipeline.add_component("chunker", SituateChunker(rules))
    pipeline.add_component("embedder", MockDocumentEmbedder(embedding_fn=recorded))
    pipeline.add_component("shown", SituateShown())
    pipeline.add_component("writer", DocumentWriter(store))
    for one, other in (
        ("chunker", "embedder"),
        ("embedder", "shown"),
        ("shown", "writer"),
    ):
        pipeline.connect(f"{one}.documents", f"{other}.documents")
    pipeline.run({"chunker": {"documents": handed()}})
    return texts


@pytest.mark.parametrize("granularity", ["leaves", "tree", "multi"])
def test_a_pipeline_embeds_the_embed_text_and_stores_the_text(
    granularity: Granularity,
) -> None:
    """Both to the letter, over a real corpus."""
    rules = Rules(granularity=granularity)
    chunks = cut(rules)
    store = InMemoryDocumentStore()

    texts = indexing(rules, store)

    assert texts == [one.embed_text for one in chunks]
    stored = {one.id: one for one in store.filter_documents()}
    assert {*stored} == {one.chunk_id for one in chunks}
    for one in chunks:
        assert stored[one.chunk_id].content == one.text
        assert stored[one.chunk_id].embedding == vector(one.embed_text)


@given(random_chunks)
def test_no_random_chunk_is_changed_on_its_way(chunks: tuple[Chunk, ...]) -> None:
    """Neither by the bridge, nor by an embedder that calls a model, nor by JSON."""
    made = bridged(chunks)

    embedder = OpenAIDocumentEmbedder(api_key=Secret.from_token("none"))
    embedded = embedder._prepare_texts_to_embed(made)
    shown = SituateShown().run(made)["documents"]

    assert embedded == {one.chunk_id: one.embed_text for one in chunks}
    assert [one.content for one in shown] == [one.text for one in chunks]
    for one in (*made, *shown):
        assert Document.from_dict(one.to_dict()) == one


def test_chunks_found_together_merge_into_their_parent_and_lose_no_line() -> None:
    """Haystack's own retriever on what is stored; what has no parent goes past it."""
    store = InMemoryDocumentStore(embedding_similarity_function="cosine")
    indexing(Rules(granularity="tree", max_tokens=128), store)
    embedded = {"field": "meta.embed", "operator": "==", "value": True}
    has_parent = {"field": "meta.__parent_id", "operator": "!=", "value": None}
    pipeline = Pipeline()
    pipeline.add_component("question", MockTextEmbedder(embedding_fn=vector))
    pipeline.add_component(
        "found", InMemoryEmbeddingRetriever(store, filters=embedded, top_k=12)
    )
    pipeline.add_component("parents", MetadataRouter({"merged": has_parent}))
    pipeline.add_component("merger", AutoMergingRetriever(store))
    pipeline.add_component("joined", DocumentJoiner())
    pipeline.connect("question.embedding", "found.query_embedding")
    pipeline.connect("found.documents", "parents.documents")
    pipeline.connect("parents.merged", "merger.documents")
    pipeline.connect("merger.documents", "joined.documents")
    pipeline.connect("parents.unmatched", "joined.documents")

    merged = 0
    for question in ("dependants health insurance", "dry-running protection", "notice"):
        told = pipeline.run(
            {"question": {"text": question}}, include_outputs_from={"found"}
        )
        after = told["joined"]["documents"]
        merged += sum(not one.meta["embed"] for one in after)
        shown = "\n".join(one.content for one in after)
        for one in told["found"]["documents"]:
            for line in one.content.splitlines():
                assert line.strip() in shown

    assert merged


def test_a_pipeline_is_written_and_read() -> None:
    """And makes the same of the same documents."""
    pipeline = Pipeline()
    rules = Rules(granularity="tree", max_tokens=100)
    pipeline.add_component("chunker", SituateChunker(rules, named_by="file_path"))
    pipeline.add_component("shown", SituateShown())
    pipeline.connect("chunker", "shown")

    again = Pipeline.loads(pipeline.dumps(), allowed_modules=OURS)

    asked = {"chunker": {"documents": handed()}}
    assert again.run(asked) == pipeline.run(asked)
    assert again.to_dict() == pipeline.to_dict()


def test_a_chunks_file_gives_the_same_documents(tmp_path: Path) -> None:
    """What a run has written goes into a store as it stands."""
    rules = Rules(granularity="tree")
    path = write(tmp_path / "chunks.jsonl", cut(rules))

    found = SituateConverter().run([path])

    assert found == SituateChunker(rules).run(handed())


def test_a_file_that_lacks_a_parent_is_refused(tmp_path: Path) -> None:
    """A delta holds documents in part; who would be merged into is not there."""
    path = write(tmp_path / "chunks.jsonl", cut(Rules(granularity="tree"))[1:])

    with pytest.raises(RecordError, match=r"its parent .* is missing"):
        SituateConverter().run([path])


def test_a_document_without_a_name_raises() -> None:
    """As a splitter does: Haystack knows no document that failed."""
    with pytest.raises(ReadError, match=r"^document 1: metadata\['file_path'\]"):
        SituateChunker().run([Document(content="Text.")])


def test_what_is_no_chunk_cannot_be_shown() -> None:
    """It has nothing else to show."""
    with pytest.raises(ConfigError, match="it is no chunk"):
        SituateShown().run([Document(content="Text.")])


def test_every_block_of_the_page_shows_what_happens(clone: Path) -> None:
    """Programs are run, and what stands below them compared."""
    shown, happens = followed(ROOT / "docs" / "haystack.md", clone)

    assert shown == happens
