"""Whatever happens to wordings and deltas, each answers for its own days (S5).

Random histories of files that are written over, put side by side, removed and deleted
by a manifest, of deltas that are lost or taken in by halves. A store that takes in the
last delta holds every wording that a sync has seen and no manifest has withdrawn.
"""

from __future__ import annotations

import json
import tempfile
from contextlib import ExitStack
from pathlib import Path
from typing import Any

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, precondition, rule

from situate.corpus import Source
from situate.pipeline.documents import Preparer
from situate.pipeline.living.indexing import acknowledge, revert, verify
from situate.records import metadata_hash, to_record
from situate.validity import in_force
from tests.support.corpora import Corpus
from tests.support.memory_disk import memory_disk
from tests.support.stores import FILES, Store, config_of, content, synced

DATES = (None, "2024-01-01", "2025-01-01", "2026-07-01")
DAYS = ("1999-01-01", "2024-01-01", "2024-12-31", "2025-06-01", "2026-07-01")

Wording = tuple[str, str | None]
"""A document, and since when it is in force."""

wordings = st.tuples(st.sampled_from(["HR:1", "a@b"]), st.sampled_from(DATES))
slots = st.sampled_from(["one", "other"])
paragraphs = st.lists(
    st.sampled_from(["Ask first.", "Keep receipts.", "Book the train.", "Rest."]),
    max_size=3,
    unique=True,
)


def markdown(front: dict[str, str], parts: list[str], begins: str | None = None) -> str:
    """Write a document, each part a section of its own, which may have its own day.

    Its first day stands among its keys as well, as sections may hide it.
    """
    front = {**front, "wording": front.get("effective_from", "")}
    head = "".join(f"{key}: {json.dumps(value)}\n" for key, value in front.items())
    said = "" if begins is None else f" {{effective_from={begins}}}"
    sections = "".join(f"## {part[:4]}{said}\n\n{part}\n\n" for part in parts)
    return f"---\n{head}---\n# Rules\n\nThey hold.\n\n{sections}"


class Histories(RuleBasedStateMachine):
    """Wordings and deltas in any order."""

    def __init__(self) -> None:
        super().__init__()
        self.stack = ExitStack()
        folder = self.stack.enter_context(tempfile.TemporaryDirectory())
        self.folder = self.stack.enter_context(memory_disk(Path(folder)))
        self.corpus = Corpus(folder=self.folder)
        self.store = Store()
        self.files: dict[str, Wording] = {}
        self.known: dict[Wording, list[dict[str, Any]]] = {}
        self.labels: dict[Wording, set[str]] = {}

    def teardown(self) -> None:
        """Leave nothing behind."""
        self.stack.close()

    @initialize()
    def begin(self) -> None:
        """Nobody syncs an empty folder."""
        self.corpus.document("always.md", "# Always\n\nIt holds.\n")
        self.files["always.md"] = ("always.md", None)
        self.configure([])

    def configure(self, deleted: list[dict[str, object]]) -> None:
        """Write the config, and what a manifest deletes."""
        lines = [{"path": "always.md"}, *({"op": "delete", **one} for one in deleted)]
        text = "".join(json.dumps(line) + "\n" for line in lines)
        self.corpus.document("m.jsonl", text)
        self.corpus.configure(
            corpus={"documents": ["docs/**/*.md", "docs/m.jsonl"]},
            versions={"keep": "all"},
            chunking={"min_tokens": 0, "granularity": "tree"},
            output={"max_delete_share": 1},
        )

    def sync(self) -> Any:
        """Sync, and remember what it has seen."""
        preparer = Preparer.of(config_of(self.corpus))
        for name, wording in self.files.items():
            source = Source(path=self.folder / "docs" / name, doc_id=name)
            chunks = preparer.prepare(source).chunks
            self.known[wording] = [*map(to_record, chunks)]
        return synced(self.corpus)

    @rule(
        wording=wordings,
        slot=slots,
        parts=paragraphs,
        said=st.sampled_from([{}, {"version": "1"}, {"effective_to": "2026-12-31"}]),
        own=st.sampled_from((None, "2023-06-01", "2025-03-01", "2026-08-01")),
    )
    def write(
        self,
        wording: Wording,
        slot: str,
        parts: list[str],
        said: dict[str, str],
        own: str | None,
    ) -> None:
        """Write a wording over whatever the file holds; `own` is its sections' day."""
        doc_id, begins = wording
        front = {"doc_id": doc_id, **said}
        if begins is not None:
            front["effective_from"] = begins
        for name in [name for name, one in self.files.items() if one == wording]:
            self.remove(name)
        name = f"{slot}-{doc_id[-1]}.md"
        self.corpus.document(name, markdown(front, parts, own))
        self.files[name] = wording

    def remove(self, name: str) -> None:
        """Remove a file."""
        (self.folder / "docs" / name).unlink()
        del self.files[name]

    @precondition(lambda self: len(self.files) > 1)
    @rule(chance=st.data())
    def lose(self, chance: st.DataObject) -> None:
        """Remove a file and tell nobody: its wordings stay."""
        names = sorted(self.files.keys() - {"always.md"})
        self.remove(chance.draw(st.sampled_from(names)))

    @rule(wording=wordings, whole=st.booleans())
    def withdraw(self, wording: Wording, whole: bool) -> None:
        """Delete a document, or the wording that begins on a day, by a manifest."""
        doc_id, begins = wording
        whole = whole or begins is None
        named: dict[str, object] = {"doc_id": doc_id}
        if not whole:
            named["metadata"] = {"effective_from": begins}
        for name, one in list(self.files.items()):
            if one == wording or (whole and one[0] == doc_id):
                self.remove(name)
        self.configure([named])
        self.deliver(withdrawn=[wording], document=doc_id if whole else None)
        self.configure([])

    @rule()
    def drop(self) -> None:
        """Lose a delta: it comes again, byte for byte."""
        sent = self.sync()
        first = None if sent.folder is None else content(sent.folder)

        again = self.sync()

        assert again.run == sent.run
        if again.folder is not None:
            assert content(again.folder) == first

    @rule(files=st.integers(1, 3))
    def crash(self, files: int) -> None:
        """Take in some files of a delta and tell nobody."""
        sent = self.sync()
        if sent.folder is not None:
            for name in FILES[:files]:
                self.store.take_in_file(sent.folder / name)

    @rule()
    def deliver(
        self, withdrawn: list[Wording] | None = None, document: str | None = None
    ) -> None:
        """Take in a delta and acknowledge it."""
        sent = self.sync()
        for wording in list(self.known):
            if wording in (withdrawn or ()) or wording[0] == document:
                del self.known[wording]
                self.labels.pop(wording, None)
        self.take_in(sent)
        self.assert_right()
        assert synced(self.corpus).run is None

    @rule(parts=paragraphs)
    def undo(self, parts: list[str]) -> None:
        """Revert a wording that was acknowledged."""
        self.deliver()
        before, known = dict(self.store.records), dict(self.known)
        front = {"doc_id": "HR:1", "effective_from": "2030-01-01"}
        self.corpus.document("late.md", markdown(front, parts))
        self.files["late.md"] = ("HR:1", "2030-01-01")
        sent = self.sync()
        self.take_in(sent)

        self.take_in(revert(config_of(self.corpus), sent.run))

        assert self.store.records == before
        self.known = known
        self.remove("late.md")

    @rule(chance=st.data())
    def repair(self, chance: st.DataObject) -> None:
        """Lose records, and have them repaired."""
        self.deliver()
        lost = chance.draw(st.sets(st.sampled_from(sorted(self.store.records))))
        for name in lost:
            del self.store.records[name]
        listing = self.store.ids(self.folder / "ids.jsonl")

        finding, sent = verify(config_of(self.corpus), listing)

        assert set(finding.missing) == lost
        assert not finding.surplus
        self.take_in(sent)
        self.assert_right()

    def take_in(self, sent: Any) -> None:
        """Have the store take in a delta, if there is one."""
        if sent.run is not None:
            self.store.take_in(sent.folder)
            acknowledge(config_of(self.corpus), sent.run)

    def assert_right(self) -> None:
        """Compare the store with what was seen."""
        expected = {}
        for (doc_id, begins), records in self.known.items():
            days = [one for name, one in self.known if name == doc_id]
            later = sorted(day for day in days if day and day > (begins or ""))
            for record in records:
                wanted = bounded(record, begins, later[0] if later else None)
                expected[(record["chunk_id"], begins)] = wanted
        found = {}
        for name, record in self.store.records.items():
            chunk_id, begins = record["chunk_id"], wording_of(record)
            found[(chunk_id, begins)] = record
            label = name.removeprefix(f"{chunk_id}@")
            self.labels.setdefault((record["doc_id"], begins), {label}).add(label)
            assert record["record_id"] == name
        assert len(found) == len(self.store.records)
        assert {key: bare(record) for key, record in found.items()} == {
            key: bare(record) for key, record in expected.items()
        }
        # A correction is put in the place of what it corrects.
        assert all(len(labels) == 1 for labels in self.labels.values())
        self.assert_one_answers()

    def assert_one_answers(self) -> None:
        """Find the records of one wording on each day, or of none."""
        for doc_id in {name for name, _ in self.known}:
            days = [begins for name, begins in self.known if name == doc_id]
            for day in DAYS:
                begun = [one or "" for one in days if (one or "") <= day]
                found = {
                    wording_of(record) or ""
                    for record in self.store.records.values()
                    if record["doc_id"] == doc_id and in_force(record, day)
                }
                assert found <= {max(begun)} if begun else not found


def wording_of(record: dict[str, Any]) -> str | None:
    """Give the first day of the wording that a record is of."""
    return record["metadata"]["custom"].get("wording") or None


def bounded(
    record: dict[str, Any], begins: str | None, following: str | None
) -> dict[str, Any]:
    """Give a record that begins with its wording and ends before the next one."""
    metadata = dict(record["metadata"])
    if begins is not None:
        metadata["effective_from"] = max(metadata["effective_from"] or "", begins)
    if following is not None:
        before = {
            "2024-01-01": "2023-12-31",
            "2025-01-01": "2024-12-31",
            "2026-07-01": "2026-06-30",
            "2030-01-01": "2029-12-31",
        }[following]
        metadata["effective_to"] = min(metadata["effective_to"] or before, before)
    metadata["metadata_hash"] = metadata_hash(metadata)
    return {**record, "metadata": metadata}


def bare(record: dict[str, Any]) -> dict[str, Any]:
    """Give a record without what names its wording."""
    apart = {"record_id", "parent_record_id", "doc_version"}
    return {key: record[key] for key in record if key not in apart}


TestHistories = Histories.TestCase
TestHistories.settings = settings(max_examples=12, stateful_step_count=10)
