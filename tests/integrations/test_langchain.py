"""LangChain for real: what its stores embed, and what they give back."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from langchain_core.documents import Document
from langchain_core.embeddings import Embeddings
from langchain_core.indexing import InMemoryRecordManager, index
from langchain_core.vectorstores import InMemoryVectorStore

from situate import ReadError, RecordError, Rules
from situate.integrations.langchain import SituateChunker, SituateLoader
from situate.integrations.langchain import _document as bridged
from tests.support.following import followed
from tests.support.frameworks import cut, loaded, random_chunks, vector, write
from tests.support.pages import ROOT

if TYPE_CHECKING:
    from pathlib import Path

    from situate import Chunk
    from situate.chunking import Granularity


class Recording(Embeddings):
    """Embeds as the stand-in does, and keeps what it was given."""

    def __init__(self) -> None:
        self.texts: list[str] = []

    def embed_documents(self, texts: list[str]) -> list[list[float]]:
        """Embed texts."""
        self.texts += texts
        return [vector(text) for text in texts]

    def embed_query(self, text: str) -> list[float]:
        """Embed a question."""
        return vector(text)


def handed() -> list[Document]:
    """Give a real corpus, and what is odd, as a loader would."""
    return [
        Document(page_content=text, metadata={"source": name})
        for name, text in loaded()
    ]


@pytest.mark.parametrize("granularity", ["leaves", "tree", "multi"])
def test_a_store_embeds_the_embed_text_of_every_chunk(granularity: Granularity) -> None:
    """To the letter, over a real corpus."""
    rules = Rules(granularity=granularity)
    embeddings = Recording()
    store = InMemoryVectorStore(embeddings)

    store.add_documents(SituateChunker(rules).transform_documents(handed()))

    chunks = cut(rules)
    assert embeddings.texts == [one.embed_text for one in chunks]
    found = store.get_by_ids([one.chunk_id for one in chunks])
    assert [one.metadata["text"] for one in found] == [one.text for one in chunks]


@given(random_chunks)
def test_no_random_chunk_is_changed_on_its_way(chunks: tuple[Chunk, ...]) -> None:
    """Neither by the bridge, nor by LangChain's form of JSON."""
    for one in chunks:
        embedded, shown = (
            Document.model_validate_json(
                bridged(one, one.chunk_id, content).model_dump_json()
            )
            for content in ("embed_text", "text")
        )

        assert embedded.page_content == shown.metadata["embed_text"] == one.embed_text
        assert shown.page_content == embedded.metadata["text"] == one.text
        assert embedded.id == shown.id == one.chunk_id


def test_the_texts_change_places_where_that_is_wished() -> None:
    """For stores that show what they embed."""
    documents = SituateChunker(content="text").transform_documents(handed())

    chunks = cut(Rules())
    assert [one.page_content for one in documents] == [one.text for one in chunks]
    assert [one.metadata["embed_text"] for one in documents] == [
        one.embed_text for one in chunks
    ]


def test_an_event_loop_gets_the_same() -> None:
    """In a thread, as LangChain does it."""
    chunker = SituateChunker()

    documents = asyncio.run(chunker.atransform_documents(handed()))

    assert documents == chunker.transform_documents(handed())


def test_a_chunks_file_comes_with_its_statements(tmp_path: Path) -> None:
    """What a run has written goes into a store as it stands."""
    chunks = cut(Rules(granularity="tree"))
    path = write(tmp_path / "chunks.jsonl", chunks)

    found = SituateLoader(path).load()

    assert [one.page_content for one in found] == [one.embed_text for one in chunks]
    assert found == SituateChunker(Rules(granularity="tree")).transform_documents(
        handed()
    )


def test_a_line_that_is_no_record_is_named(tmp_path: Path) -> None:
    """With its file and number."""
    path = tmp_path / "chunks.jsonl"
    path.write_text("{}\n", "utf-8")

    with pytest.raises(RecordError, match=r"chunks\.jsonl:1: "):
        SituateLoader(path).load()


def test_a_document_without_a_name_raises() -> None:
    """As a splitter does: LangChain knows no document that failed."""
    with pytest.raises(ReadError, match=r"^document 1: metadata\['source'\]"):
        SituateChunker().transform_documents([Document(page_content="Text.")])


def test_an_index_replaces_what_has_changed_and_deletes_what_is_gone() -> None:
    """LangChain's own indexing, by source; nothing is embedded twice."""
    embeddings = Recording()
    store = InMemoryVectorStore(embeddings)
    manager = InMemoryRecordManager("handbook")
    manager.create_schema()
    chunker = SituateChunker()

    def indexed(text: str) -> tuple[int, int]:
        documents = chunker.transform_documents(
            [Document(page_content=text, metadata={"source": "leave.md"})]
        )
        told = index(
            documents,
            manager,
            store,
            cleanup="incremental",
            source_id_key="source",
            key_encoder="sha256",
        )
        return told["num_added"] + told["num_updated"], told["num_deleted"]

    page = "# Leave\n\n" + "\n\n".join(
        f"## Part {number}\n\n{'Some words. ' * 40}" for number in range(3)
    )
    first = indexed(page)
    again = indexed(page)
    changed = indexed(page.replace("Part 2", "Part 9"))

    assert (first[0], again) == (3, (0, 0))
    assert changed[1] >= 1
    assert sum("Part 9" in text for text in embeddings.texts) == 1


def test_every_block_of_the_page_shows_what_happens(clone: Path) -> None:
    """Programs are run, and what stands below them compared."""
    shown, happens = followed(ROOT / "docs" / "langchain.md", clone)

    assert shown == happens
