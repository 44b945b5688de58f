"""An index that is open to be changed, and what is sent so that it is.

Whatever is sent is noted first: what a store may have taken in is taken into account
by all that is sent later, until somebody acknowledges the last of it.
"""

from __future__ import annotations

from contextlib import contextmanager
from dataclasses import asdict, dataclass, replace
from typing import TYPE_CHECKING

from situate.errors import ConfigError
from situate.index.delta import changes, doubts_after
from situate.index.folder import IndexFolder
from situate.index.inventory import agreement, compare, joined, read_inventory
from situate.index.parcel import Parcel, clear, deleted_in
from situate.index.safety import exceeds
from situate.index.state import Hashes, Pending, State, run_id
from situate.index.withholding import Away, following, has, parted
from situate.index.wordings import as_sent, in_order
from situate.output import held, writing
from situate.pipeline.living.sent import SCHEMA, Sent, summary
from situate.records import from_line, to_line

if TYPE_CHECKING:
    from collections.abc import Iterator, Set
    from pathlib import Path

    from situate.config import Config
    from situate.index.delta import Changes, Op
    from situate.index.inventory import Finding
    from situate.index.state import Documents, DocumentState, Unsure


@dataclass(frozen=True, slots=True, kw_only=True)
class Index:
    """An index under the lock of its output."""

    config: Config
    folder: IndexFolder
    base: State
    pending: Pending | None
    unread: frozenset[str] = frozenset()
    """Marks of files that could not be read while nothing was gone; sent along."""

    @property
    def latest(self) -> Documents:
        """What a store has that has taken everything in."""
        return self.base.documents if self.pending is None else self.pending.documents

    @property
    def known(self) -> Documents:
        """Every document that a store may have, as it was sent last."""
        return {**self.base.documents, **self.latest}

    @property
    def unsure(self) -> Unsure:
        """What a store may have instead of what it acknowledged."""
        return self.base.surplus if self.pending is None else self.pending.unsure

    @property
    def surplus(self) -> Unsure:
        """What it may have beside all documents, and was not allowed to delete."""
        if self.pending is None:
            return self.base.surplus
        found = {name: self.unsure[name] for name in sorted(self.pending.surplus)}
        return self.base.surplus | found

    def within_share(
        self, target: Documents, allow_deletes: int | None
    ) -> tuple[Documents, tuple[str, ...], tuple[str, ...]]:
        """Give a target, and the records it withholds from deletion, and why.

        Raises:
            OSError: the file system refuses.
            RecordError: the records of a document are not there.
        """
        away = self._away(target)
        reason = self.above_share(len(away.names), away.total, allow_deletes)
        if reason is None:
            return in_order(target, self.folder.records), (), ()
        whole = self._put_back(target, away)
        return in_order(whole, self.folder.records), away.names, (reason,)

    def _away(self, target: Documents) -> Away:
        """Give what a store would lose, counted from what it acknowledged.

        What was sent since may be taken back freely, but for the very first delta.
        """
        if self.base.number:
            return Away.of(self.base.documents, self.surplus, target)
        return Away.of(self.latest, self.unsure, target)

    def above_share(self, count: int, total: int, allowed: int | None) -> str | None:
        """Say why so many chunks may not be deleted at once."""
        before = 0 if self.pending is None else self.pending.allowed
        share = self.config.output.max_delete_share
        if count <= max(before, allowed or 0) or not exceeds(count, total, share):
            return None
        return (
            f"{count:,} of {total:,} chunks would be deleted, above "
            f"output.max_delete_share = {share}; they stay; "
            f"--allow-deletes {count} lets them go"
        )

    def _put_back(self, target: Documents, away: Away) -> Documents:
        """Keep chunks that are not to be deleted, and their records."""
        found = dict(target)
        for key, names in away.chunks.items():
            last, before = self.latest.get(key), self.base.documents.get(key)
            sources = [each for each in (last, before) if each is not None]
            # All that it had last where nobody has read it: also what is not counted.
            document = target.get(key) or sources[0]
            found[key] = self._keeping(document, sources, names)
        return {key: found[key] for key in sorted(found)}

    def _keeping(
        self, document: DocumentState, sources: list[DocumentState], names: Set[str]
    ) -> DocumentState:
        """Give a document with chunks that it had, as they were sent last."""
        kept: dict[str, Hashes] = {}
        lines: dict[str, bytes] = {}
        for source in sources:
            left = names - document.chunks.keys() - kept.keys()
            # Without its record a chunk can only be left where it is: as surplus.
            is_there = left and self.folder.has_records(source)
            records = self.folder.records(source) if is_there else {}
            for name in (name for name in records if name in left):
                record = following(from_line(records[name], name), source, document)
                kept[name] = Hashes.of(as_sent(record, document), name)
                lines[name] = to_line(record)
        if lines:
            whole = [*self.folder.records(document).values(), *lines.values()]
            document = replace(document, records=self.folder.keep(b"".join(whole)))
        return replace(
            document,
            chunks={**document.chunks, **kept},
            withheld=document.withheld | kept.keys(),
        )

    def send(self, target: Documents, sent: Sent, unsure: Unsure | None = None) -> Sent:
        """Write the delta that makes a store have this, if it takes one.

        `unsure` is what it may have instead of what it acknowledged, where that is
        known better than from what was sent.

        Raises:
            OSError: the file system refuses.
            RecordError: the records of a document are not there.
        """
        doubts = self.unsure if unsure is None else unsure
        # Of what a revert brings back nobody knows what could be read then.
        unread = frozenset() if sent.kind == "revert" else self.unread
        held_back = [name for name in sent.withheld_ids if not has(target, name)]
        surplus, base = parted(self.base.documents, doubts, held_back)
        before = joined(self.unsure, surplus)
        open_to = {name: doubts[name] for name in doubts if name not in surplus}
        found = tuple(changes(base, target, open_to))
        is_known = self.unsure.keys() <= surplus.keys()
        is_whole = target == base and not surplus
        if not found and is_known and (is_whole or self.base.number):
            # With nothing for a store to do there is nothing to acknowledge.
            seen = unread if self.base.number else self.base.unread
            self._note(
                replace(self.base, documents=target, surplus=surplus, unread=seen)
            )
            self.folder.withdraw()
            clear(self.config.output.deltas, self.folder.runs())
            return sent
        with Parcel(self.config.output.deltas) as parcel:
            parcel.fill(found, target, self.folder)
            digests = [f"{file.name} {file.sha256}" for file in parcel.files]
            run = run_id(self.base, target, digests)
            sent = replace(
                sent,
                run=run,
                folder=self.config.output.deltas / run,
                upserts=_count(found, "upsert"),
                metadata_updates=_count(found, "metadata_update"),
                deletes=_count(found, "delete"),
            )
            self.folder.propose(
                Pending(
                    base=self.base.number,
                    run=run,
                    corpus=self.config.corpus.name,
                    documents=target,
                    unsure=doubts_after(target, joined(before, doubts), found),
                    surplus=frozenset(surplus),
                    allowed=self._allowed(target, sent),
                    unread=unread,
                )
            )
            parcel.publish(run, self._manifest(sent, parcel), summary(sent))
        clear(self.config.output.deltas, {*self.folder.runs(), run})
        return sent

    def clear_acknowledged(self) -> None:
        """Remove deltas that nobody needs, and the last if it names what is forgotten.

        A delta that deletes documents which no state knows is the one place left
        where they are named.

        Raises:
            OSError: the file system refuses.
            RecordError: a state or the delta cannot be read.
        """
        deltas, kept = self.config.output.deltas, set(self.folder.runs())
        if self.pending is not None:
            kept.add(self.pending.run)
        latest = str(self.folder.acknowledged().run)
        deleted = set(deleted_in(deltas, latest))
        for state in self.folder.generations() if deleted else ():
            deleted.difference_update(each.doc_id for each in state.documents.values())
        if deleted:
            kept.discard(latest)
        clear(deltas, kept)

    def _allowed(self, target: Documents, sent: Sent) -> int:
        """Count the deletions that need no permission when the delta comes again."""
        if sent.withheld_ids:
            return 0 if self.pending is None else self.pending.allowed
        return len(self._away(target).names)

    def _note(self, state: State) -> None:
        """Note what differs from what was acknowledged and is nothing to a store."""
        if state != self.base:
            self.folder.refresh(state)

    def remember(self, surplus: Unsure) -> None:
        """Note what a store has beside all that it was sent, and is not to lose yet.

        Raises:
            OSError: the file system refuses.
        """
        if self.pending is None:
            self._note(replace(self.base, surplus=surplus))
            return
        unsure = self.pending.unsure
        new = {name: surplus[name] for name in surplus if name not in unsure}
        if new:
            self.folder.propose(
                replace(
                    self.pending,
                    unsure=unsure | new,
                    surplus=self.pending.surplus | new.keys(),
                )
            )

    def _manifest(self, sent: Sent, parcel: Parcel) -> dict[str, object]:
        return {
            "schema": SCHEMA,
            "kind": sent.kind,
            "corpus": sent.corpus,
            "run": sent.run,
            "base": {"number": self.base.number, "run": self.base.run},
            "config": self.config.hash,
            "files": [asdict(file) for file in parcel.files],
            "upserts": sent.upserts,
            "metadata_updates": sent.metadata_updates,
            "deletes": sent.deletes,
        }


@contextmanager
def opened(config: Config) -> Iterator[Index]:
    """Open the index of a corpus for one writer.

    Raises:
        ConfigError: it is the index of another corpus.
        Locked: another run writes the same output.
        RecordError: the state cannot be read.
        SituateError: the file system refuses.
    """
    with held(config.output.path), writing(config.output.index):
        folder = IndexFolder(config.output.index)
        base = folder.acknowledged()
        pending = folder.pending(base)
        corpus = config.corpus.name
        known = base.corpus if pending is None else pending.corpus
        if known not in {None, corpus}:
            message = (
                f"output.path: {str(config.output.index)!r} is the index of corpus "
                f"{known!r}, not of {corpus!r}; give each a path of its own"
            )
            raise ConfigError(message)
        yield Index(
            config=config,
            folder=folder,
            base=base,
            pending=pending,
            unread=(pending or base).unread,
        )


def acknowledge(config: Config, run: str) -> bool:
    """Let the state advance by a delta that a store has; tell whether it did.

    Raises:
        ConfigError: it is not the last delta.
        Locked: another run writes the same output.
        SituateError: the file system refuses.
    """
    with opened(config) as index:
        pending = index.pending
        if pending is None or pending.run != run:
            if index.base.run == run:
                index.folder.sweep(pending)
                index.clear_acknowledged()
                return False
            message = f"run {run!r} waits for no acknowledgement; " + (
                "nothing does"
                if pending is None
                else f"{pending.run!r} does, which holds all that is to be done"
            )
            raise ConfigError(message)
        index.folder.advance(pending)
        index.folder.sweep()
        index.clear_acknowledged()
        return True


def revert(config: Config, run: str, *, allow_deletes: int | None = None) -> Sent:
    """Send what leads back to the state before a run, and all runs after it.

    Raises:
        ConfigError: that state is not kept.
        Locked: another run writes the same output.
        SituateError: the file system refuses, or records are not there.
    """
    with opened(config) as index:
        target, withheld, reasons = index.within_share(
            _before(index, run), allow_deletes
        )
        sent = Sent(
            corpus=config.corpus.name,
            kind="revert",
            withheld_ids=withheld,
            reasons=reasons,
        )
        return index.send(target, sent)


def verify(
    config: Config, against: Path, *, allow_deletes: int | None = None
) -> tuple[Finding, Sent]:
    """Hold a store against what was acknowledged, and send what repairs it.

    Where it has taken in the delta that waits, or nothing was acknowledged yet, that
    delta is what there is to acknowledge, and nothing else is sent.

    Raises:
        RecordError: the file of ids cannot be read, or records are not there.
        Locked: another run writes the same output.
        SituateError: the file system refuses.
    """
    inventory = read_inventory(against)
    with opened(config) as index:
        states = index.folder.generations()
        known = {*index.known, *(key for state in states for key in state.documents)}
        sent = Sent(corpus=config.corpus.name, kind="repair")
        if (pending := index.pending) is not None:
            finding, agrees = agreement(
                inventory, pending, index.base.documents, known=known
            )
            if agrees is not None or not index.base.number:
                run, folder = pending.run, config.output.deltas / pending.run
                agrees = agrees or "perhaps"
                return finding, replace(sent, run=run, folder=folder, agrees=agrees)
        finding = compare(
            inventory, index.base.documents, unsure=index.unsure, known=known
        )
        return finding, _repair(index, finding, sent, allow_deletes)


def _repair(
    index: Index, finding: Finding, sent: Sent, allow_deletes: int | None
) -> Sent:
    """Send what makes a store what was acknowledged."""
    base, doubts = index.base.documents, finding.unsure
    surplus = {name: doubts[name] for name in sorted(finding.surplus)}
    total = len(surplus) + sum(len(each.chunks) for each in base.values())
    reason = index.above_share(len(surplus), total, allow_deletes)
    if reason is None:
        withheld: Unsure = {}
    else:
        withheld = surplus
        sent = replace(sent, withheld_ids=tuple(surplus), reasons=(reason,))
    mended = {name: doubts[name] for name in doubts if name not in withheld}
    if any(True for _ in changes(base, base, mended)):
        return index.send(base, sent, doubts)
    index.remember(withheld)
    return sent


def _before(index: Index, run: str) -> Documents:
    """Give what a store had before a run.

    Raises:
        ConfigError: nobody remembers.
    """
    if index.pending is not None and index.pending.run == run:
        return index.base.documents
    states = {state.number: state for state in index.folder.generations()}
    before = {
        str(state.run): {} if number == 1 else states[number - 1].documents
        for number, state in states.items()
        if number == 1 or number - 1 in states
    }
    if run in before:
        return before[run]
    kept = [*([] if index.pending is None else [index.pending.run]), *before]
    message = (
        f"run {run!r} cannot be reverted; those that can: {', '.join(kept) or 'none'}"
    )
    raise ConfigError(message)


def _count(found: tuple[Changes, ...], op: Op) -> int:
    return sum(each.count(op) for each in found)
