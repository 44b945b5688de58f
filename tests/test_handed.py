"""Documents that are handed over come out like the files they could have been."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

import pytest

from situate.config import load
from situate.errors import ReadError
from situate.lines import Lines
from situate.pipeline.handed import Handed, source_of
from situate.pipeline.jobs import ready
from situate.pipeline.stage import Stage
from tests.support.chat import Chat, chatting
from tests.support.corpora import LEAVE, TRAVEL, Corpus, Heard, asking

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    from situate.model import Chunk
    from situate.pipeline.documents import Failed, Prepared


@pytest.fixture
def chat() -> Iterator[Chat]:
    """Serve a model."""
    with chatting() as served:
        yield served


TEXTS = {"leave.md": LEAVE, "travel.md": TRAVEL}


def test_handed_documents_are_cut_and_asked_about_like_files(
    tmp_path: Path, chat: Chat
) -> None:
    """A stage that stands gives the lines that a run writes, and pays nothing twice."""
    corpus = Corpus(folder=tmp_path).configure(enrichment=asking(chat.address))
    for name, text in TEXTS.items():
        corpus.document(name, text)
    corpus.run()
    asked = len(chat.bodies)
    (job,) = ready(load([corpus.config], environment={}))
    written: list[bytes] = []
    lines = Lines()

    def write(_: Prepared | Failed, chunks: Sequence[Chunk]) -> None:
        written.extend(lines.line(chunk) for chunk in chunks)

    async def work() -> None:
        async with Stage(job=job, watcher=Heard()).standing() as standing:
            for name, text in TEXTS.items():
                handed = Handed(name=name, content=text.encode())
                await standing.work([source_of(handed)], write)

    asyncio.run(work())

    assert b"".join(written) == corpus.chunks.read_bytes()
    assert len(chat.bodies) == asked


def test_what_is_said_of_a_document_wins_like_in_a_manifest() -> None:
    """S1: whoever hands it over says its id, version and dates."""
    handed = Handed(
        name="travel.md",
        content=TRAVEL.encode(),
        doc_id="POL-7",
        version="3",
        metadata={"effective_from": "2026-01-01", "acl_groups": ["hr"]},
    )

    said = source_of(handed).given

    assert said is not None
    assert (said.doc_id, said.version) == ("POL-7", "3")
    assert said.metadata.effective_from == "2026-01-01"
    assert said.metadata.custom == {"acl_groups": ["hr"]}


@pytest.mark.parametrize(
    "name", ["", ".", "/etc/passwd", "../a.md", "a/../../b.md", "..\\a.md", "\ud800.md"]
)
def test_a_name_that_leads_elsewhere_is_refused(name: str) -> None:
    """A name is a label, and not even looks like a way out."""
    with pytest.raises(ReadError, match="no name of a document"):
        source_of(Handed(name=name, content=b"x"))


def test_metadata_of_a_wrong_type_is_refused_by_name() -> None:
    """The line says which document and which key."""
    handed = Handed(name="a.md", content=b"x", metadata={"title": 7})

    with pytest.raises(ReadError, match=r"a\.md: title"):
        source_of(handed)
