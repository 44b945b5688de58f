"""Everything that is derived from a document, found and removed (S8).

Looked for first, removed then, in an order in which whatever a kill leaves is still
found: files that cannot say whose they are go first, the index goes last. What is not
situate's own is left alone and named.
"""

from __future__ import annotations

import glob
import json
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Final, Literal

from situate.addresses import Server
from situate.enrichment import forgetting as ledgers
from situate.enrichment.batches import Tickets, tickets_folder
from situate.enrichment.cache import User
from situate.enrichment.cache import forgetting as caches
from situate.enrichment.ledger import rewriting
from situate.errors import ConfigError
from situate.files import is_folder
from situate.files import opened as opened_file
from situate.index import forgetting as indexed
from situate.index import parcel
from situate.index.inventory import joined
from situate.model import document_of, quoted
from situate.output import held, put, writing
from situate.pipeline.jobs import unasked
from situate.pipeline.living import published
from situate.pipeline.living.indexing import Index, opened
from situate.pipeline.living.sent import Sent
from situate.pipeline.living.standing import Wanted, present, refuse
from situate.readers.decoding import as_name

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from situate.config import Config
    from situate.corpus import Found as Listed
    from situate.enrichment.cache import Place
    from situate.enrichment.cache.forgetting import Traces
    from situate.enrichment.forgetting import Mentions
    from situate.index.forgetting import Held
    from situate.pipeline.living.published import Published

Artefact = Literal[
    "chunks",
    "blocks",
    "parquet",
    "manifest",
    "index",
    "delta",
    "replies",
    "answers",
    "vectors",
    "ledger",
    "comparison",
    "draft",
]

_LEDGERS: Final = ("ledger.jsonl", "compare.ledger.jsonl", "queries.ledger.jsonl")


@dataclass(frozen=True, slots=True, kw_only=True)
class Removed:
    """What is gone of one kind."""

    artefact: Artefact
    count: int
    """Lines of files, rows of databases, documents of states, or whole files."""
    where: str
    """The name of a file or folder, or the address of a server."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Receipt:
    """What forgetting a document came to; no text of it is in here."""

    corpus: str
    doc_id: str
    """As it is known, which may be spelled otherwise than it was asked for."""
    is_known: bool
    """Whether anything was found under this id."""
    removed: tuple[Removed, ...]
    kept: tuple[str, ...]
    """What situate has and does not remove, and why."""
    beyond: tuple[str, ...]
    """What situate cannot reach."""
    run: str | None
    """The delta that a store has to take in to lose it, and to acknowledge."""
    folder: Path | None
    """Where that stands."""


def forget(config: Config, doc_id: str) -> Receipt:
    """Remove all that is derived from a document; doing it again changes nothing.

    Raises:
        ConfigError: the document is still a source of the corpus, a batch that asks
            about it is open, nothing is known under this id and it is the path of a
            document, or something in the config cannot be used.
        RecordError: a file of situate's cannot be read.
        Locked: another command writes what this has to.
        CacheBroken: the cache cannot be written, or not at once.
        SituateError: the file system refuses.
    """
    # To delete needs no leave to ask, nor anybody who could be asked.
    (job,) = unasked([config])
    with opened(config) as index, _alone(config):
        there = job.survey()
        found = _known(config, doc_id, index, there)
        unread = refuse(job, there, found.wanted)
        work = _Forgetting(config, index, found, present(job, there, found.wanted))
        with writing(config.output.path):
            work.remove()
        return work.receipt((*unread, *_beyond(config, work.sent)))


@contextmanager
def _alone(config: Config) -> Iterator[None]:
    """Keep commands away that write reports, tickets and ledgers.

    Raises:
        Locked: one is at work.
    """
    tickets = Tickets(tickets_folder(config.cache.directory))
    with ExitStack() as stack:
        stack.enter_context(held(config.output.beside("compare.html")))
        if is_folder(config.cache.directory):
            stack.enter_context(tickets.locked())
        with writing(config.output.path):
            for name in _LEDGERS:
                stack.enter_context(rewriting(config.output.beside(name)))
        yield


@dataclass(frozen=True, slots=True, kw_only=True)
class _Found:
    """What there is of a document."""

    doc_id: str
    index: Held
    deltas: frozenset[str]
    """Those that delete it or tell of it."""
    awaited: frozenset[str]
    """The one that waits to be acknowledged."""
    published: Published
    ledgers: Mapping[Path, Mentions]
    cache: Traces
    comparisons: tuple[Path, ...]
    """All there are: their texts do not say whose they are."""
    is_compared: bool
    """Whether one of them quotes its id, which may be what something else is called."""
    others: frozenset[str]
    """What documents are called that stand, or stood, where it would be a path."""

    @classmethod
    def of(cls, config: Config, doc_id: str, index: Index) -> _Found:
        """Look everywhere.

        Raises:
            ConfigError: a batch that asks about it is open.
            RecordError: a file cannot be read.
            CacheBroken: the cache cannot be read.
        """
        output, cache = config.output, config.cache.place
        _refuse_tickets(config, doc_id)
        states = tuple(index.folder.generations())
        known = indexed.held(doc_id, states, index.pending)
        told = {
            path: ledgers.mentions(path, doc_id)
            for path in (output.beside(name) for name in _LEDGERS)
        }
        traces = caches.find(
            cache,
            User(corpus=config.corpus.name, doc_id=doc_id),
            caches.Told(
                own=frozenset[str]().union(*(each.own for each in told.values())),
                others=frozenset[str]().union(*(each.others for each in told.values())),
            ),
        )
        comparisons = tuple(_comparisons(config))
        out = published.find(output, doc_id)
        return cls(
            doc_id=doc_id,
            index=known,
            deltas=parcel.naming(output.deltas, doc_id),
            awaited=frozenset(() if index.pending is None else (index.pending.run,)),
            published=out,
            ledgers=told,
            cache=traces,
            comparisons=comparisons,
            is_compared=any(_names(path, doc_id) for path in comparisons),
            others=out.from_there | indexed.standing_at(doc_id, states, index.pending),
        )

    @property
    def is_known(self) -> bool:
        """Whether anything at all may be its."""
        return bool(not self.is_empty or self.index.doubts or self.deltas)

    @property
    def wanted(self) -> Wanted:
        """What sources are held against; sentences may go by the path of a file."""
        is_held = (
            not self.index.is_empty
            or self.index.doubts
            or self.published.chunks
            or self.published.blocks
            or self.published.rows
            or not self.cache.is_empty
            or any(each.lines for each in self.ledgers.values())
        )
        return Wanted(
            doc_id=self.doc_id,
            is_held=bool(is_held),
            paths=self.index.paths,
            others=self.others,
        )

    @property
    def is_empty(self) -> bool:
        """Whether nothing is surely its, deletions that a store waits for aside."""
        return (
            self.index.is_empty
            and not self.deltas - self.awaited
            and self.published.is_empty
            and self.cache.is_empty
            and not any(each.lines for each in self.ledgers.values())
        )


class _Forgetting:
    """One document being removed from one corpus."""

    def __init__(
        self, config: Config, index: Index, found: _Found, present: frozenset[str]
    ) -> None:
        self._config = config
        self._doc_id = found.doc_id
        self._index = index
        self._found = found
        self._present = present
        self._removed: list[Removed] = []
        self.sent: Sent | None = None

    def remove(self) -> None:
        """Remove what was found.

        Raises:
            CacheBroken: the cache cannot be written.
            OSError: the file system refuses.
        """
        self._drafts()
        if not self._found.is_empty:
            self._comparisons()
            self._cache()
            self._ledgers()
            self._published()
        self._from_index()
        self._failures()

    def receipt(self, beyond: Iterable[str]) -> Receipt:
        """Say what has become of it all."""
        run = None if self.sent is None else self.sent.run
        return Receipt(
            corpus=self._config.corpus.name,
            doc_id=self._doc_id,
            is_known=self._found.is_known,
            removed=tuple(self._removed),
            kept=tuple(self._kept()),
            beyond=tuple(beyond),
            run=run,
            folder=None if self.sent is None else self.sent.folder,
        )

    def _note(self, artefact: Artefact, count: int, where: Place) -> None:
        if count:
            name = where.name if isinstance(where, Path) else str(where)
            self._removed.append(Removed(artefact=artefact, count=count, where=name))

    def _drafts(self) -> None:
        """Remove what killed runs have left, whosever it is."""
        output = self._config.output
        folder = output.path.parent
        places = [*output.files, output.beside("parquet")]
        places += [output.beside(name) for name in _LEDGERS]
        drafts = {path.with_name(f".{path.name}.part") for path in places}
        drafts.update(folder.glob(f".{glob.escape(output.path.stem)}.compare.*.part"))
        tickets = tickets_folder(self._config.cache.directory)
        drafts.update(tickets.glob("*.json.part"))
        if (cassette := self._config.enrichment.replay) is not None:
            drafts.add(cassette.with_name(f"{cassette.name}.part"))
        left = [path for path in drafts if path.is_file()]
        for path in left:
            path.unlink()
        count = len(left) + parcel.tidy(output.deltas)
        count += self._index.folder.tidy(self._index.pending)
        self._note("draft", count, folder)

    def _comparisons(self) -> None:
        for path in self._found.comparisons:
            path.unlink()
            self._note("comparison", 1, path)

    def _cache(self) -> None:
        directory, traces = self._config.cache.directory, self._found.cache
        place = self._config.cache.place
        if (count := caches.vectors_in(directory)) is not None:
            # Also when there are none: a kill may have left their bytes.
            caches.erase_vectors(directory)
            self._note("vectors", count, directory)
        if not traces.is_empty:
            caches.erase(place, self._user, traces)
            self._note("replies", len(traces.replies), place)
            self._note("answers", len(traces.answers), place)

    def _ledgers(self) -> None:
        for path, told in self._found.ledgers.items():
            if told.lines or told.broken:
                put(path, ledgers.without(path, self._doc_id))
                self._note("ledger", told.lines + told.broken, path)

    def _published(self) -> None:
        output, found = self._config.output, self._found.published
        if found.is_empty and not found.asides:
            return
        published.rewrite(output, self._doc_id)
        self._note("chunks", found.chunks, output.path)
        self._note("blocks", found.blocks, output.beside("blocks.jsonl"))
        self._note("parquet", found.rows, output.beside("parquet"))
        self._note(
            "manifest", found.notes + found.asides, output.beside("manifest.json")
        )

    def _from_index(self) -> None:
        """Have the store lose it, then all states: what waits names it until then."""
        found, index, output = self._found.index, self._index, self._config.output
        doc_id, folder, told = self._doc_id, index.folder, self._found.deltas
        # Also what a killed sync has kept for states that never came.
        folder.sweep(index.pending)
        if found.is_empty and not found.doubts and not told:
            return
        latest = indexed.without(index.latest, doc_id)
        doubts = joined(index.unsure, found.doubts)
        deltas = {path.name for path in output.deltas.glob("*")}
        is_told = index.pending is not None and index.pending.run in told
        if found.doubts or found.is_pending or is_told:
            base = indexed.forgotten(index.base, doc_id)
            sent = Sent(
                corpus=self._config.corpus.name,
                kind="forget",
                withheld_ids=tuple(
                    name for name in index.surplus if document_of(name) != doc_id
                ),
            )
            self.sent = replace(index, base=base).send(latest, sent, doubts)
        for state in found.states:
            folder.refresh(indexed.forgotten(state, doc_id))
        waiting = folder.pending(index.base)
        folder.sweep(waiting)
        parcel.clear(output.deltas, () if waiting is None else (waiting.run,))
        deltas -= {path.name for path in output.deltas.glob("*")}
        self._note("index", len(found.states) + found.is_pending, output.index)
        self._note("delta", len(deltas), output.deltas)

    def _failures(self) -> None:
        """Remove what is said of files that are gone, which may have been this one."""
        output, present = self._config.output, self._present
        gone = published.without_failures(output, present)
        self._note("manifest", gone, output.beside("manifest.json"))
        gone = parcel.without_failures(output.deltas, present)
        self._note("delta", gone, output.deltas)

    @property
    def _user(self) -> User:
        return User(corpus=self._config.corpus.name, doc_id=self._doc_id)

    def _kept(self) -> Iterator[str]:
        """Say what is left in situate's own files, and why."""
        traces = self._found.cache
        if traces.shared:
            yield f"{traces.shared:,} replies, which another document uses as well"
        if traces.corpora:
            names = ", ".join(map(repr, traces.corpora))
            yield f"what a document of this id is known by in other corpora: {names}"
        if traces.unattributed:
            yield (
                f"{traces.unattributed:,} replies of versions before, of which nobody "
                "knows whose they are; cache prune removes what is not used"
            )
        if traces.foreign:
            yield f"{traces.foreign:,} rows that are not situate's; see cache verify"
        if not self._found.is_empty:
            return
        if self._found.is_compared:
            names = ", ".join(path.name for path in self._found.comparisons)
            yield (
                f"comparisons, one of which quotes this id: {names}; nothing else was "
                "found of this document; delete them if it is in them"
            )
        if caches.vectors_in(self._config.cache.directory):
            yield (
                "vectors, which do not say whose they are: nothing else was found of "
                "this document; deleting the folder vectors in the cache removes all"
            )


def _refuse_tickets(config: Config, doc_id: str) -> None:
    """Let nothing be forgotten whose answers are under way.

    Raises:
        ConfigError: an open ticket asks about the document.
        RecordError: a ticket cannot be read.
    """
    for ticket in Tickets(tickets_folder(config.cache.directory)).all():
        ids = (each for asked in ticket.asked for each in asked.chunk_ids)
        if (
            ticket.is_open
            and ticket.corpus == config.corpus.name
            and doc_id in map(document_of, ids)
        ):
            message = (
                f"ticket {ticket.ticket} asks about {doc_id!r} and is open; collect "
                "or cancel it first (situate batch collect, situate batch cancel)"
            )
            raise ConfigError(message)


def _known(config: Config, doc_id: str, index: Index, there: Listed) -> _Found:
    """Look for a document as it is called, else as ids are read.

    Raises:
        ConfigError: a batch that asks about it is open.
        RecordError: a file cannot be read.
        CacheBroken: the cache cannot be read.
    """
    found, name = _Found.of(config, doc_id, index), as_name(doc_id)
    is_source = any(source.named == doc_id for source in there.sources)
    if found.is_known or found.others or is_source or name in {"", doc_id}:
        return found
    return _Found.of(config, name, index)


def _beyond(config: Config, sent: Sent | None) -> Iterator[str]:
    """Say what situate cannot reach."""
    if sent is not None and sent.run is not None:
        yield (
            f"the store, until it has taken in delta {sent.run} and situate ack "
            f"{sent.run} says so; the delta and what waits for it name chunks till then"
        )
    asked = config.enrichment
    if asked.provider is not None:
        yield (
            f"{asked.provider}, which may keep what it was shown, and its batches with "
            "their files: ask it to delete them"
        )
    if isinstance(place := config.cache.place, Server):
        yield (
            f"the files and copies of {str(place)!r}, which have what is removed until "
            "the server writes them anew (BGREWRITEAOF, BGSAVE)"
        )
    cassette = asked.replay
    if cassette is not None and cassette.is_file():
        yield f"the cassette {cassette.name!r}, if it holds requests about it"
    yield (
        "files that you named yourself: reports, pages, chunks, exports, questions, "
        "query logs, judgements, manifests, and drafts .NAME.part beside them"
    )
    yield "backups, copies, and free space of the disk"


def _comparisons(config: Config) -> Iterator[Path]:
    """Find the reports of `compare`, and its pages to judge on with their keys."""
    output = config.output
    stem = f"{glob.escape(output.path.stem)}.compare"
    for pattern in ("html", "json", "blind-*.html", "blind-*.key.json"):
        yield from sorted(output.path.parent.glob(f"{stem}.{pattern}"))


def _names(path: Path, doc_id: str) -> bool:
    """Tell whether a file holds an id as JSON has it, or ids of its chunks.

    Quotes included, so that neither a word nor a longer id is taken for it.
    """
    with opened_file(path) as file:
        content = file.read()
    return any(
        json.dumps(text, ensure_ascii=in_ascii)[:end].encode("utf-8", "surrogatepass")
        in content
        for text, end in ((doc_id, None), (f"{quoted(doc_id)}:", -1))
        for in_ascii in (True, False)
    )
