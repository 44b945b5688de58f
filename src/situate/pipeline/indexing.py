"""An index that is open to be changed, and what is sent so that it is.

Whatever is sent is noted first: what a store may have taken in is taken into account
by all that is sent later, until somebody acknowledges the last of it.
"""

from __future__ import annotations

from contextlib import contextmanager
from dataclasses import asdict, dataclass, field, replace
from typing import TYPE_CHECKING, Literal

from situate.errors import ConfigError
from situate.index import safety
from situate.index.delta import changes, doubts_after
from situate.index.folder import IndexFolder
from situate.index.inventory import compare, joined, read_inventory
from situate.index.parcel import Parcel, clear, deleted_in
from situate.index.state import Pending, State, run_id
from situate.index.wordings import hashes, in_order
from situate.output import held, writing

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from situate.config import Config
    from situate.index.delta import Changes, Op
    from situate.index.inventory import Finding
    from situate.index.state import Documents, Unsure
    from situate.manifest import Note

Kind = Literal["sync", "repair", "revert", "forget"]

Outcome = Literal["ok", "unchanged", "failed", "kept", "deleted"]
"""What became of a document: `failed` stays as it was read last where it ever was,
`kept` is gone and stays because that may be a mistake."""

SCHEMA = 1
"""Version of a delta's manifest and summary."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Stated:
    """What an index has in statements, and what this run spent on them."""

    statements: int
    overdue: int
    """Of these, found before and kept because nothing newer came."""
    fallbacks: dict[str, int]
    skipped: dict[str, int]
    requests: int
    cost_usd: str | None
    """None where no price is known, and where nothing was asked."""
    stopped: str | None
    """Why the asking ended before its time."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Sent:
    """What a command sent to a store, and what it came across."""

    corpus: str
    kind: Kind
    run: str | None = None
    """The delta to take in and acknowledge; None where there is nothing to do."""
    folder: Path | None = None
    """Where it stands."""
    upserts: int = 0
    metadata_updates: int = 0
    deletes: int = 0
    withheld: int = 0
    """Deletions that nobody has allowed yet."""
    outcomes: dict[str, Outcome] = field(default_factory=dict)
    """By document."""
    failed: tuple[Note, ...] = ()
    stated: Stated | None = None
    """None where nobody is asked for statements."""
    reasons: tuple[str, ...] = ()
    """Why this is not all that was asked for."""

    @property
    def exit_code(self) -> int:
        """Give 3 where this is not all that was asked for."""
        return 3 if self.reasons else 0


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
        return {} if self.pending is None else self.pending.unsure

    def within_share(
        self, target: Documents, allow_deletes: int | None
    ) -> tuple[Documents, int, tuple[str, ...]]:
        """Give a target, and how many deletions it withholds, and why.

        Raises:
            OSError: the file system refuses.
            RecordError: the records of a document are not there.
        """
        away = safety.lost(self.latest, target, among=self._counted)
        count = sum(map(len, away.values()))
        reason = self.above_share(count, allow_deletes)
        if reason is None:
            return in_order(target, self.folder.records), 0, ()
        whole = self._put_back(target, away)
        return in_order(whole, self.folder.records), count, (reason,)

    @property
    def _counted(self) -> Documents:
        """What a share of deletions is a share of.

        What was sent since may be taken back freely, but for the very first delta.
        """
        return self.base.documents if self.base.number else self.latest

    def above_share(self, count: int, allowed: int | None) -> str | None:
        """Say why so many chunks may not be deleted at once."""
        total = sum(len(document.chunks) for document in self._counted.values())
        share = self.config.output.max_delete_share
        if not safety.exceeds(count, total, share):
            return None
        if allowed is not None and count <= allowed:
            return None
        return (
            f"{count:,} of {total:,} chunks would be deleted, above "
            f"output.max_delete_share = {share}; they stay; "
            f"--allow-deletes {count} lets them go"
        )

    def _put_back(
        self, target: Documents, away: dict[str, frozenset[str]]
    ) -> Documents:
        """Keep chunks that are not to be deleted, and their records."""
        found = safety.put_back(self.latest, target, away)
        for key, names in away.items():
            before, after = self.latest[key], target.get(key)
            if after is None or after.records == before.records:
                continue
            old = {
                name: line
                for name, line in self.folder.records(before).items()
                if name in names
            }
            lines = [*self.folder.records(after).values(), *old.values()]
            found[key] = replace(
                found[key],
                records=self.folder.keep(b"".join(lines)),
                # Not what was sent of them, where they were to end on another day.
                chunks={**found[key].chunks, **hashes(old)},
            )
        return found

    def send(self, target: Documents, sent: Sent, unsure: Unsure | None = None) -> Sent:
        """Write the delta that makes a store have this, if it takes one.

        `unsure` is what it may have instead of what it acknowledged, where that is
        known better than from what was sent.

        Raises:
            OSError: the file system refuses.
            RecordError: the records of a document are not there.
        """
        doubts = self.unsure if unsure is None else unsure
        base = self.base.documents
        # Of what a revert brings back nobody knows what could be read then.
        unread = frozenset() if sent.kind == "revert" else self.unread
        found = tuple(changes(base, target, doubts))
        if not found and not self.unsure and (target == base or self.base.number):
            # With nothing for a store to do there is nothing to acknowledge.
            if target != base or (self.base.number and unread != self.base.unread):
                self.folder.refresh(self.base, target, unread)
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
                    documents=target,
                    unsure=doubts_after(target, joined(self.unsure, doubts), found),
                    unread=unread,
                )
            )
            parcel.publish(run, self._manifest(sent, parcel), _summary(sent))
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
        Locked: another run writes the same output.
        RecordError: the state cannot be read.
        SituateError: the file system refuses.
    """
    with held(config.output.path), writing(config.output.index):
        folder = IndexFolder(config.output.index)
        base = folder.acknowledged()
        pending = folder.pending(base)
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
            withheld=withheld,
            reasons=reasons,
        )
        return index.send(target, sent)


def verify(
    config: Config, against: Path, *, allow_deletes: int | None = None
) -> tuple[Finding, Sent]:
    """Hold a store against what was acknowledged, and send what repairs it.

    Raises:
        RecordError: the file of ids cannot be read.
        Locked: another run writes the same output.
        SituateError: the file system refuses, or records are not there.
    """
    inventory = read_inventory(against)
    with opened(config) as index:
        states = index.folder.generations()
        known = {*index.known, *(key for state in states for key in state.documents)}
        finding = compare(
            inventory, index.base.documents, unsure=index.unsure, known=known
        )
        doubts, reasons, withheld = finding.unsure, [], 0
        count = len(finding.surplus)
        if reason := index.above_share(count, allow_deletes):
            withheld = count
            reasons.append(reason)
            doubts = {key: doubts[key] for key in doubts if key not in finding.surplus}
        sent = Sent(
            corpus=config.corpus.name,
            kind="repair",
            withheld=withheld,
            reasons=tuple(reasons),
        )
        base = index.base.documents
        if any(True for _ in changes(base, base, doubts)):
            sent = index.send(base, sent, doubts)
        return finding, sent


def _before(index: Index, run: str) -> Documents:
    """Give what a store had before a run.

    Raises:
        ConfigError: nobody remembers.
    """
    if index.pending is not None and index.pending.run == run:
        return index.base.documents
    states = {state.number: state for state in index.folder.generations()}
    for number, state in states.items():
        if state.run != run:
            continue
        if number == 1:
            return {}
        if number - 1 in states:
            return states[number - 1].documents
    kept = ", ".join(str(state.run) for state in states.values() if state.run)
    message = f"run {run!r} cannot be reverted; those that can: {kept or 'none'}"
    raise ConfigError(message)


def _count(found: tuple[Changes, ...], op: Op) -> int:
    return sum(each.count(op) for each in found)


def _summary(sent: Sent) -> dict[str, object]:
    counted: dict[str, int] = {}
    for outcome in sent.outcomes.values():
        counted[outcome] = counted.get(outcome, 0) + 1
    return {
        "schema": SCHEMA,
        "kind": sent.kind,
        "corpus": sent.corpus,
        "run": sent.run,
        "exit_code": sent.exit_code,
        "reasons": list(sent.reasons),
        "upserts": sent.upserts,
        "metadata_updates": sent.metadata_updates,
        "deletes": sent.deletes,
        "withheld": sent.withheld,
        "counts": dict(sorted(counted.items())),
        "documents": {
            key: outcome
            for key, outcome in sorted(sent.outcomes.items())
            if outcome != "unchanged"
        },
        "failed": [asdict(note) for note in sent.failed],
        **({} if sent.stated is None else {"statements": asdict(sent.stated)}),
    }
