"""From a corpus to the delta that brings an index up to date with it.

Documents are told apart by what is in them: every file is read, only those that differ
are cut. A time or a size that is the same says nothing of a file.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from situate.enrichment.audience import audiences, hidden_from
from situate.enrichment.keys import bases
from situate.index import safety
from situate.index.delta import by_document
from situate.index.names import doc_id_of, record_id
from situate.index.safety import Gap, Missed, Seen
from situate.index.state import NO_STATEMENTS, DocumentState, Hashes, Statements
from situate.index.wordings import label_of, nearest
from situate.manifest import NOTHING_SPENT, Note
from situate.model import document_of, leaf_ids
from situate.pipeline.documents import Failed, Ids
from situate.pipeline.jobs import ready
from situate.pipeline.living import decisive
from situate.pipeline.living.absence import Whereabouts
from situate.pipeline.living.indexing import opened
from situate.pipeline.living.inputs import hash_of, size_of
from situate.pipeline.living.sent import Sent
from situate.pipeline.parallel import write_all
from situate.pipeline.shortfall import Stated, none_read, too_many_failed
from situate.pipeline.stage import Stage
from situate.pipeline.written import written
from situate.records import enrichment_in, from_line

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from pathlib import Path

    from situate.config import Config
    from situate.corpus import Found, Source
    from situate.index.safety import Settled
    from situate.index.state import Documents
    from situate.listing import Entry
    from situate.model import Chunk, Document, Enrichment
    from situate.pipeline.documents import Prepared
    from situate.pipeline.jobs import Job
    from situate.pipeline.living.indexing import Index
    from situate.pipeline.living.sent import Outcome
    from situate.pipeline.watching import Watcher
    from situate.pipeline.written import Written


def sync(config: Config, watcher: Watcher, *, allow_deletes: int | None = None) -> Sent:
    """Send what has changed in a corpus since a store acknowledged it.

    Chunks wait for no statement: whatever keeps one from coming, they are sent, with
    the statement of before where it is still about the same (S7). `allow_deletes` lets
    so many chunks go where that is above the share.

    Raises:
        ConfigError: the config cannot be used.
        Locked: another run writes the same output.
        SituateError: nothing can be sent.
    """
    (job,) = ready([config])
    job = job.of_wordings
    if job.asking is not None:
        job.asking.check()
    found = job.survey()
    with opened(decisive.config_of(job)) as index:
        return _Sync(job, watcher, index).work(found, allow_deletes)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Same:
    """A document that is as it was."""

    source: Source
    doc_id: str
    effective_from: str | None


class _Sync:
    """One corpus being brought into an index."""

    def __init__(self, job: Job, watcher: Watcher, index: Index) -> None:
        self._job = job
        self._watcher = watcher
        self._index = index
        self._whereabouts = Whereabouts(job)
        self._config_hash = decisive.hash_of(job)
        self._keep = job.config.versions.keep
        self._ids = Ids(self._keep)
        self._wordings: defaultdict[str, list[DocumentState]] = defaultdict(list)
        self._at: defaultdict[str, list[DocumentState]] = defaultdict(list)
        """The known documents by where they stood."""
        for document in index.known.values():
            self._wordings[document.doc_id].append(document)
            self._at[document.path].append(document)
        # Which have come since is a matter of time.
        self._before = {key: tuple(known) for key, known in self._wordings.items()}
        self._withdrawn: defaultdict[str, list[Entry]] = defaultdict(list)
        for entry in _deletions(job):
            if entry.wording is not None:
                self._withdrawn[entry.doc_id].append(entry)
        self._read: Documents = {}
        self._missed: list[Missed] = []
        self._failed: list[Note] = []
        self._left_out = 0
        """Documents that are there and a manifest deletes."""
        self._replaced = 0
        """Documents in whose place a folder stands."""
        self._outcomes: dict[str, Outcome] = {}
        self._inputs: dict[Path, str | None] = {}
        """Hashes of what was there before it was read."""
        self._spent = NOTHING_SPENT

    def work(self, found: Found, allow_deletes: int | None) -> Sent:
        """Read what has changed, decide what stays, and send the difference.

        Raises:
            SituateError: nothing can be sent.
        """
        self._watcher.begin(self._job.config.corpus.name, len(found.sources))
        gaps = (*self._whereabouts.gaps(found), *self._moved(found))
        self._look(found.sources)
        if self._failed and not self._read:
            raise none_read(len(self._failed))
        self._give_back(found.sources)
        settled = self._settled(found, gaps)
        target, withheld, reasons = self._index.within_share(
            settled.documents, allow_deletes
        )
        self._conclude(settled, target, withheld)
        stated = self._stated(target)
        sent = Sent(
            corpus=self._job.config.corpus.name,
            kind="sync",
            withheld_ids=withheld,
            outcomes=self._outcomes,
            failed=tuple(self._failed),
            stated=stated,
            reasons=(
                *self._shortfall(len(found.sources)),
                *settled.reasons,
                *reasons,
                *(() if stated is None else self._unstated(stated)),
            ),
        )
        return replace(self._index, unread=settled.unread).send(target, sent)

    def _conclude(
        self, settled: Settled, target: Documents, withheld: Sequence[str]
    ) -> None:
        """Say what became of documents that were not read."""
        read = {document.doc_id for document in self._read.values()}
        stay = {document.doc_id for document in target.values()}
        for key in (*settled.absent, *settled.deleted):
            if key in target and (doc_id := doc_id_of(key)) not in read:
                self._outcomes[doc_id] = "kept"
        # Not what was known last: a delta says the same when it comes again.
        for key in {*self._index.base.documents, *by_document(self._index.unsure)}:
            if (doc_id := doc_id_of(key)) not in stay:
                self._outcomes[doc_id] = "deleted"
        # Whatever a store has of these beside all documents waits.
        for doc_id in map(document_of, withheld):
            if doc_id not in stay:
                self._outcomes[doc_id] = "kept"
        for document in target.values():
            if document.until is not None and document.effective_from is None:
                self._hint(document)

    def _hint(self, document: DocumentState) -> None:
        """Warn of a wording without a date that came after one with a date."""
        if self._read.get(document.key) and self._outcomes[document.doc_id] == "ok":
            self._watcher.note(
                f"{document.doc_id}: names no effective_from, and so holds before its "
                f"other wordings alone, until {document.until}"
            )

    def _look(self, sources: Sequence[Source]) -> None:
        """Find out which documents are as they were, and cut the others."""
        before = {
            (each.path, each.input): each
            for each in self._index.base.documents.values()
            if each.config == self._config_hash
            and self._lasts(each)
            and (each.label is None or self._keep == "all")
        }
        changed = []
        for source in sources:
            said = self._input(source)
            known = before.get((self._where(source), said or ""))
            if known is not None and self._stays(known):
                same = _Same(
                    source=source,
                    doc_id=known.doc_id,
                    effective_from=known.effective_from,
                )
                self._ids.add(same)
                self._read[known.key] = known
                self._outcomes[known.doc_id] = "unchanged"
                self._watcher.advance()
            else:
                self._inputs[source.path] = said
                changed.append(source)
        if self._job.asking is None:
            for outcome in write_all(changed, self._job.preparer, self._job.config):
                self._come(outcome, NO_STATEMENTS)
        elif changed:
            stage = Stage(
                job=self._job,
                watcher=self._watcher,
                former=self._former,
                publishes_anyway=True,
            )
            forecast = stage.forecast(changed)
            self._spent = stage.work(changed, self._answered, forecast)

    def _stays(self, known: DocumentState) -> bool:
        """Tell whether a document that is as it was needs no work."""
        is_open = self._job.asking is not None and known.statements.is_open
        return not is_open and self._index.folder.has_records(known)

    def _answered(self, outcome: Prepared | Failed, chunks: Sequence[Chunk]) -> None:
        """Take in a document with what came of the wish for statements."""
        if isinstance(outcome, Failed):
            self._come(outcome, NO_STATEMENTS)
            return
        ids = leaf_ids(chunks)
        leaves = [chunk for chunk in chunks if chunk.chunk_id in ids]
        statements = Statements.of(leaves, self._bases(outcome.document, leaves))
        self._come(written(outcome, chunks), statements)

    def _come(self, outcome: Written | Failed, statements: Statements) -> None:
        """Take in a document that was read, or could not be."""
        self._ids.add(outcome)
        said = self._inputs[outcome.source.path]
        if isinstance(outcome, Failed) and outcome.is_deleted:
            self._leave_out(outcome)
        elif isinstance(outcome, Failed):
            self._miss(outcome.source, outcome.reason)
        elif before := self._had_text(outcome):
            reason = f"{outcome.source.doc_id}: has no text any more"
            reason += _by_mistake(before)
            self._miss(outcome.source, reason, before)
        elif said is None or said != self._input(outcome.source):
            reason = f"{outcome.source.doc_id}: changed while it was read"
            self._miss(outcome.source, reason)
        else:
            self._take(outcome, said, statements)
        self._watcher.advance()

    def _former(self, prepared: Prepared) -> dict[str, Enrichment]:
        """Give the statements of before that are about the same as then.

        Raises:
            RecordError: the records that hold them are not what was kept.
        """
        before = self._before.get(prepared.doc_id, ())
        known = nearest(prepared.effective_from, before)
        if known is None or not self._index.folder.has_records(known):
            return {}
        ids = leaf_ids(prepared.chunks)
        leaves = [chunk for chunk in prepared.chunks if chunk.chunk_id in ids]
        then = known.statements.bases
        now = self._bases(prepared.document, leaves) if then else {}
        same = [key for key, basis in now.items() if then.get(key) == basis]
        lines = self._index.folder.records(known) if same else {}
        found = {key: lines[record_id(key, known.label)] for key in same}
        return {key: enrichment_in(from_line(found[key], key), key) for key in same}

    def _bases(self, document: Document, leaves: Sequence[Chunk]) -> dict[str, str]:
        """Say what statements about leaves are about, and with what they were shown."""
        conditions = self._job.asked().settings.enrich_when
        found = audiences(document, leaves, conditions)
        return bases(document, leaves, hidden_from(document, found))

    def _take(self, outcome: Written, said: str, statements: Statements) -> None:
        """Keep a document that was read."""
        source, doc_id = outcome.source, outcome.doc_id
        label = self._label(outcome)
        read = DocumentState(
            doc_id=doc_id,
            path=self._where(source),
            names_itself=doc_id != source.named,
            input=said,
            config=self._config_hash,
            version=outcome.version,
            metadata_hash=outcome.metadata_hash,
            records=self._index.folder.keep(outcome.chunks),
            chunks=_chunks(outcome, label),
            statements=statements,
            label=label,
            effective_from=outcome.effective_from,
            access=outcome.access,
        )
        if entry := safety.withdrawal(read, self._withdrawn):
            reason = (
                f"{source.doc_id}: is the wording of {doc_id!r} that {entry.said_in} "
                "deletes; remove the file or that line"
            )
            self._miss(source, reason)
            return
        self._read[read.key] = read
        self._wordings[doc_id].append(read)
        self._outcomes[doc_id] = "ok"
        for warning in outcome.warnings:
            self._watcher.note(f"{doc_id}: {warning}")

    def _label(self, outcome: Written) -> str | None:
        """Give what the records of a document are named by beside their chunks."""
        if self._keep == "latest":
            return None
        others = self._wordings[outcome.doc_id]
        return label_of(outcome.version, outcome.effective_from, others)

    def _leave_out(self, outcome: Failed) -> None:
        """Pass over a document that a manifest deletes, whatever is there."""
        self._left_out += 1
        self._watcher.note(outcome.told)

    def _miss(self, source: Source, reason: str, doc_id: str | None = None) -> None:
        """Note a document that cannot be read, or not be taken at its word."""
        where, named = self._where(source), doc_id or source.named
        given = self._inputs.get(source.path) or size_of(source)
        self._missed.append(Missed(path=where, named=named, input=given))
        for each in {known.doc_id for known in self._at.get(where, ())} or {named}:
            self._outcomes.setdefault(each, "failed")
        self._fail(source.named, reason)

    def _fail(self, doc_id: str, reason: str) -> None:
        self._failed.append(Note(doc_id=doc_id, message=reason))
        self._watcher.note(f"failed: {reason}")

    def _had_text(self, outcome: Written) -> str | None:
        """Give what a document was known by that has no text now, and had some.

        That is a stub in its place, or half a copy.
        """
        before = (
            *self._at.get(self._where(outcome.source), ()),
            *self._wordings.get(outcome.doc_id, ()),
        )
        found = (each.doc_id for each in before if each.chunks and self._lasts(each))
        return None if outcome.chunks else next(found, None)

    def _lasts(self, known: DocumentState) -> bool:
        """Tell whether no manifest deletes a document that is known."""
        return (
            known.doc_id not in self._job.preparer.deleted
            and safety.withdrawal(known, self._withdrawn) is None
        )

    def _give_back(self, sources: Sequence[Source]) -> None:
        """Leave an id to the file it is of, where that cannot be read."""
        claims = safety.usurped(self._index.known, self._seen())
        by_place = {self._where(each): each for each in sources} if claims else {}
        for key, rightful in claims.items():
            document = self._read.pop(key)
            reason = (
                f"{document.path}: names doc_id {document.doc_id!r}, which is that of "
                f"{rightful.path}, and that cannot be read; remove one of the two"
            )
            self._miss(by_place[document.path], reason)
            self._outcomes[document.doc_id] = "failed"

    def _moved(self, found: Found) -> tuple[Gap, ...]:
        """List again where anything is not in its place; a move hides documents."""
        places = {self._where(source) for source in found.sources}
        if self._keep == "all" or self._at.keys() <= places:
            return ()
        return self._whereabouts.moved(found)

    def _seen(self, gaps: Sequence[Gap] = ()) -> Seen:
        entries = [each for each in _deletions(self._job) if each.wording is None]
        return Seen(
            read=self._read,
            missed=tuple(self._missed),
            deleted_ids=frozenset(entry.doc_id for entry in entries),
            deleted_paths=frozenset(
                self._where(entry.source) for entry in entries if entry.source
            ),
            gaps=tuple(gaps),
            unread=self._index.unread,
            keep=self._keep,
            withdrawn=self._withdrawn,
        )

    def _settled(self, found: Found, gaps: Sequence[Gap]) -> Settled:
        """Decide what stays, once what is gone has been looked for."""
        known = self._index.known
        for document in safety.gone(known, self._seen()).values():
            if self._whereabouts.is_folder(document):
                self._missed.append(Missed(path=document.path, named=document.doc_id))
                self._outcomes[document.doc_id] = "failed"
                self._replaced += 1
                reason = f"{document.path}: is a folder now"
                reason += _by_mistake(document.doc_id)
                self._fail(document.doc_id, reason)
        # Where manifests alone name documents, those say what is gone.
        if self._job.config.corpus.globs:
            gone = safety.gone(known, self._seen()).values()
            # Also what a manifest deletes shows that its folder is no empty place.
            paths = [*(each.path for each in found.sources), *found.left_out]
            gaps = (*gaps, *self._whereabouts.emptied(gone, paths if gone else ()))
        return safety.settle(known, self._seen(gaps))

    def _stated(self, target: Documents) -> Stated | None:
        """Count the statements of the whole index, where any are asked for.

        Not of wordings that nobody can ask about, as their files hold others now.
        """
        if self._job.asking is None:
            return None
        found = (
            document.statements
            for key, document in target.items()
            if key in self._read or self._keep == "latest"
        )
        return Stated.of_index(found, self._spent)

    def _unstated(self, stated: Stated) -> tuple[str, ...]:
        """Say what keeps the statements from being all that were asked for."""
        reason = stated.shortfall(self._job.config.enrichment.max_fallback_share)
        return () if reason is None else (reason,)

    def _shortfall(self, documents: int) -> tuple[str, ...]:
        """Say whether too many documents failed."""
        reason = too_many_failed(
            len(self._failed),
            documents - self._left_out + self._replaced,
            self._job.config.corpus.max_failed_share,
        )
        return () if reason is None else (reason,)

    def _where(self, source: Source) -> str:
        """Give where a document stands below the config's folder."""
        return self._whereabouts.of(source.path)

    def _input(self, source: Source) -> str | None:
        return hash_of(source, self._job.preparer.options.limits.max_bytes)


def _deletions(job: Job) -> Iterator[Entry]:
    """Yield the lines of manifests that delete something."""
    for listing in job.listings:
        for entry in listing.entries:
            if entry.op == "delete":
                yield entry


def _by_mistake(doc_id: str) -> str:
    return (
        ", which may be a mistake; it stays as it was read last unless a manifest "
        f"deletes it: {safety.tombstone(doc_id)}"
    )


def _chunks(outcome: Written, label: str | None) -> Mapping[str, Hashes]:
    """Give the names and hashes of a document's records."""
    found = {}
    for line in outcome.chunks.splitlines():
        record = from_line(line, outcome.doc_id)
        name = record_id(str(record["chunk_id"]), label)
        found[name] = Hashes.of(record, outcome.doc_id)
    return found
