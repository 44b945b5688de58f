"""Files a reply under its request and under every chunk that it answers.

Whoever asked may be gone, and the document may have changed meanwhile: what was
asked about is noted with the question, and an answer is found by its chunk.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from situate.enrichment.cache import Located, User
from situate.enrichment.marked import sentences
from situate.model import document_of

if TYPE_CHECKING:
    from situate.enrichment.cache import Cache
    from situate.enrichment.exchange import Reply
    from situate.enrichment.questions import Passage, PlannedRequest
    from situate.enrichment.settings import View


@dataclass(frozen=True, slots=True, kw_only=True)
class AskedPassage:
    """A chunk that was asked about, and what its answer is found by."""

    number: int | None
    """Of its marker; None where it was asked about alone."""
    chunk_key: str
    section_key: str | None
    """Of the model that was asked; None where sections are not gone by."""
    chunk_id: str

    @classmethod
    def of(cls, passage: Passage) -> AskedPassage:
        """Keep what is needed once the answer is here."""
        return cls(
            number=passage.number,
            chunk_key=passage.chunk_key,
            section_key=next(iter(passage.section_keys), None),
            chunk_id=passage.chunk_id,
        )

    @property
    def keys(self) -> tuple[str, ...]:
        """What its answer is found by."""
        if self.section_key is None:
            return (self.chunk_key,)
        return (self.chunk_key, self.section_key)


@dataclass(frozen=True, slots=True, kw_only=True)
class AskedRequest:
    """A request that was handed to somebody, as far as its reply wants it."""

    custom_id: str
    """The key its reply is stored under."""
    view: View
    begin: str | None
    """What its markers begin with; None where nothing is marked."""
    input_tokens: int
    """Our own count, without the margin."""
    output_tokens: int
    """What its answer is limited to."""
    passages: tuple[AskedPassage, ...]

    @classmethod
    def of(cls, custom_id: str, request: PlannedRequest) -> AskedRequest:
        """Keep what is needed once the reply is here."""
        return cls(
            custom_id=custom_id,
            view=request.view,
            begin=request.begin,
            input_tokens=request.input_tokens,
            output_tokens=request.parameters.max_output_tokens,
            passages=tuple(map(AskedPassage.of, request.passages)),
        )

    @property
    def chunk_ids(self) -> tuple[str, ...]:
        """The chunks it asks about."""
        return tuple(each.chunk_id for each in self.passages)

    def users(self, corpus: str) -> list[User]:
        """Give the documents of a corpus that it asks about."""
        ids = dict.fromkeys(map(document_of, self.chunk_ids))
        return [User(corpus=corpus, doc_id=doc_id) for doc_id in ids]


def file_reply(
    cache: Cache, asked: AskedRequest, raw: str, reply: Reply, *, corpus: str
) -> frozenset[str]:
    """Store a reply, whom it is for and where its answers stand, all or nothing.

    Gives the keys of the chunks that it answers. What is answered already keeps
    that answer, which may have been repaired since.

    Raises:
        CacheBroken: the cache cannot be written.
    """
    found = _located(asked, reply)
    with cache.at_once():
        cache.store_reply(asked.custom_id, raw, *asked.users(corpus))
        for passage, located in found:
            for key in passage.keys:
                if not is_answered(cache, key):
                    cache.store_answers(key, [located])
    return frozenset(passage.chunk_key for passage, _ in found)


def is_answered(cache: Cache, key: str) -> bool:
    """Say whether there is an answer under a key, and its reply as well.

    Raises:
        CacheBroken: the cache cannot be read.
    """
    return any(cache.reply(each.reply) is not None for each in cache.answers(key)[:1])


def _located(asked: AskedRequest, reply: Reply) -> list[tuple[AskedPassage, Located]]:
    """Say what of a reply answers which chunk."""
    if asked.view != "marked":
        whole = Located(reply=asked.custom_id)
        return [(passage, whole) for passage in asked.passages]
    if reply.stop == "refusal":
        return []
    numbers = {each.number for each in asked.passages if each.number is not None}
    said = sentences(reply.text, numbers, asked.begin)
    return [
        (passage, Located(reply=asked.custom_id, marker=str(passage.number)))
        for passage in asked.passages
        if passage.number in said
    ]
