"""Whatever happens to documents and deltas, a store ends up with the right index.

Random histories of edits, of deltas that are lost, taken in by halves, or taken in and
never acknowledged. A store that takes in the last delta always holds what one holds
that is filled from scratch, but for the versions of documents.
"""

from __future__ import annotations

import json
import os
import tempfile
from contextlib import ExitStack, contextmanager, nullcontext, suppress
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any
from unittest import mock

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    initialize,
    invariant,
    precondition,
    rule,
)

from situate.pipeline.living.indexing import acknowledge, revert, verify
from tests.support.corpora import Corpus
from tests.support.memory_disk import memory_disk
from tests.support.stores import (
    FILES,
    Store,
    built,
    config_of,
    content,
    delivered,
    synced,
)

if TYPE_CHECKING:
    from collections.abc import Iterator

WORDS = (
    *("leave", "days", "office", "travel", "rail"),
    *("hotel", "meals", "receipts", "notice", "budget"),
)

sentences = st.lists(st.sampled_from(WORDS), min_size=3, max_size=9).map(
    lambda words: " ".join(words).capitalize() + "."
)
marked = st.tuples(sentences, st.sampled_from(["{}", "[{}](a.md)", "[{}](b.md)"])).map(
    # Readings leave these marks out: texts differ whose readings are equal.
    lambda pair: pair[1].format(pair[0][:-1])
)
sections = st.lists(
    st.tuples(
        st.sampled_from(["Scope", "Rules", "Exceptions"]),
        st.lists(sentences | marked, max_size=3),
    ),
    max_size=4,
)


def markdown(front: dict[str, str], parts: list[tuple[str, list[str]]]) -> str:
    """Write a document."""
    lines = ["---", *(f"{key}: {value}" for key, value in front.items()), "---", ""]
    lines += ["# Handbook", "", "It holds for everybody.", ""]
    for heading, paragraphs in parts:
        lines += [f"## {heading}", ""]
        for paragraph in paragraphs:
            lines += [paragraph, ""]
    return "\n".join(lines)


@contextmanager
def closed(folder: Path) -> Iterator[None]:
    """Let nobody look into a folder."""
    real = os.scandir

    def scandir(path: Any) -> Any:
        if path == folder:
            raise PermissionError(13, "Permission denied")
        return real(path)

    with mock.patch.object(os, "scandir", scandir):
        yield


class Histories(RuleBasedStateMachine):
    """Edits and deltas in any order."""

    def __init__(self) -> None:
        super().__init__()
        self.stack = ExitStack()
        folder = self.stack.enter_context(tempfile.TemporaryDirectory())
        self.folder = self.stack.enter_context(memory_disk(Path(folder)))
        self.corpus = Corpus(folder=self.folder)
        self.store = Store()
        self.documents: dict[str, tuple[dict[str, str], list[Any]]] = {}
        self.listed: dict[str, dict[str, object]] = {}
        self.cutting: dict[str, object] = {"max_tokens": 64, "granularity": "tree"}
        self.share = 1
        self.created = 0

    def teardown(self) -> None:
        """Leave nothing behind."""
        self.stack.close()

    @initialize(parts=sections)
    def begin(self, parts: list[Any]) -> None:
        """Nobody syncs an empty folder, and little befalls a small one."""
        self.corpus.document("always.md", markdown({}, parts))
        for names_itself in (True, True, False, False):
            self.add(parts, names_itself)
        self.configure()

    def configure(self) -> None:
        """Write config and manifest."""
        manifest = self.folder / "docs" / "manifest.jsonl"
        lines = [{"path": "always.md"}, *self.listed.values()]
        manifest.write_text("".join(json.dumps(line) + "\n" for line in lines), "utf-8")
        self.corpus.configure(
            corpus={"documents": ["docs/**/*.md", "docs/manifest.jsonl"]},
            chunking=self.cutting,
            output={"max_delete_share": self.share},
        )

    def write(self, name: str) -> None:
        """Put a document in its place."""
        self.corpus.document(name, markdown(*self.documents[name]))

    def any_of(self, chance: st.DataObject) -> str:
        """Choose a document."""
        return str(chance.draw(st.sampled_from(sorted(self.documents))))

    @rule(parts=sections, names_itself=st.booleans())
    def add(self, parts: list[Any], names_itself: bool) -> None:
        """Write a document, which may say what it is called."""
        self.created += 1
        front = {"doc_id": f"HR:{self.created}"} if names_itself else {}
        name = f"{self.created % 2}/{self.created}.md"
        self.documents[name] = (front, parts)
        self.write(name)

    @precondition(lambda self: self.documents)
    @rule(chance=st.data(), parts=sections)
    def edit(self, chance: st.DataObject, parts: list[Any]) -> None:
        """Write something else."""
        name = self.any_of(chance)
        self.documents[name] = (self.documents[name][0], parts)
        self.write(name)

    @precondition(lambda self: self.documents)
    @rule(chance=st.data())
    def rename(self, chance: st.DataObject) -> None:
        """Move a file; what a manifest says of it does not move with it."""
        name = self.any_of(chance)
        self.created += 1
        new = f"moved-{self.created}.md"
        (self.folder / "docs" / name).rename(self.folder / "docs" / new)
        self.documents[new] = self.documents.pop(name)
        self.listed.pop(name, None)
        self.tidy()
        self.configure()

    @precondition(lambda self: self.documents)
    @rule(chance=st.data(), by_tombstone=st.booleans())
    def delete(self, chance: st.DataObject, by_tombstone: bool) -> None:
        """Remove a file, or only say that it is gone."""
        name = self.any_of(chance)
        if by_tombstone:
            del self.documents[name]
            self.listed[name] = {"path": name, "op": "delete"}
            self.configure()
        else:
            self.remove(name)

    def tidy(self) -> None:
        """Remove empty folders, which look like shares that are not mounted."""
        for folder in ("0", "1"):
            with suppress(OSError):
                (self.folder / "docs" / folder).rmdir()

    @precondition(lambda self: self.documents)
    @rule(chance=st.data(), seconds=st.integers(1, 10**9))
    def touch(self, chance: st.DataObject, seconds: int) -> None:
        """Save a file as it is."""
        os.utime(self.folder / "docs" / self.any_of(chance), (seconds, seconds))

    @precondition(lambda self: self.documents)
    @rule(chance=st.data(), year=st.integers(2020, 2030))
    def date(self, chance: st.DataObject, year: int) -> None:
        """Say in the manifest since when a document is in force."""
        name = self.any_of(chance)
        said = {"effective_from": f"{year}-01-01", "acl_groups": ["staff"]}
        self.listed[name] = {"path": name, "metadata": said}
        self.configure()

    @rule(max_tokens=st.sampled_from([32, 64, 128]))
    def resize(self, max_tokens: int) -> None:
        """Cut to another size."""
        self.cutting["max_tokens"] = max_tokens
        self.configure()

    @rule(
        granularity=st.sampled_from(["tree", "multi"]),
        embed=st.sampled_from(["leaf", "paragraph"]),
    )
    def level(self, granularity: str, embed: str) -> None:
        """Have other chunks embedded, of the same text or not."""
        self.cutting["granularity"] = granularity
        self.cutting.pop("embed", None)
        if granularity == "multi":
            self.cutting["embed"] = embed
        self.configure()

    @rule()
    def drop(self) -> None:
        """Lose a delta: it comes again, byte for byte."""
        sent = synced(self.corpus)
        first = None if sent.folder is None else content(sent.folder)

        again = synced(self.corpus)

        if sent.run is None:
            # With nothing to acknowledge the state has noted what was read.
            noted = {"ok": "unchanged"}
            seen = {key: noted.get(said, said) for key, said in sent.outcomes.items()}
            sent = replace(sent, outcomes=seen)
        assert again == sent
        if again.folder is not None:
            assert content(again.folder) == first

    @rule(files=st.integers(1, 3))
    def crash(self, files: int) -> None:
        """Take in some files of a delta and tell nobody."""
        sent = synced(self.corpus)
        if sent.folder is not None:
            for name in FILES[:files]:
                self.store.take_in_file(sent.folder / name)

    @rule()
    def deliver(self) -> None:
        """Take in a delta and acknowledge it."""
        sent = synced(self.corpus)
        if sent.run is not None and sent.folder is not None:
            self.store.take_in(sent.folder)
            self.assert_right()
            acknowledge(config_of(self.corpus), sent.run)
        self.assert_right()
        assert synced(self.corpus).run is None

    @rule(chance=st.data())
    def lose(self, chance: st.DataObject) -> None:
        """Lose records, and have them repaired."""
        self.deliver()
        lost = chance.draw(st.sets(st.sampled_from(sorted(self.store.records))))
        for chunk_id in lost:
            del self.store.records[chunk_id]

        _, sent = verify(
            config_of(self.corpus), self.store.ids(self.folder / "ids.jsonl")
        )

        assert sent.upserts == len(lost)
        assert sent.deletes == sent.metadata_updates == 0
        if sent.run is not None and sent.folder is not None:
            self.store.take_in(sent.folder)
        self.assert_right()

    @precondition(lambda self: len(self.documents) > 1)
    @rule(chance=st.data(), spoil=st.sampled_from(["noise", "blank", "closed"]))
    def fail(self, chance: st.DataObject, spoil: str) -> None:
        """Have one document fail while another goes, and mend it."""
        self.deliver()
        name, other = chance.draw(
            st.permutations(sorted(self.documents)).map(lambda names: names[:2])
        )
        mine, hidden = self.records_of(name), self.records_of(other)
        path = self.folder / "docs" / name
        content = path.read_bytes()
        names_itself = "doc_id" in self.documents[other][0]
        self.remove(other)
        if spoil != "closed":
            path.write_bytes(b"\0\1\2" * 1000 if spoil == "noise" else b"")
        with closed(path.parent) if spoil == "closed" else nullcontext():
            sent = delivered(self.corpus, self.store)

        is_hidden = spoil == "closed" and (
            names_itself
            or Path(other).parent == Path(name).parent
            or path.parent.name == "docs"
        )
        assert sent.exit_code == 3
        assert self.store.records.items() >= mine.items()
        assert hidden.keys() & self.store.records.keys() == (
            hidden.keys() if is_hidden else set()
        )
        path.write_bytes(content)
        self.deliver()

    @precondition(lambda self: self.documents)
    @rule(chance=st.data())
    def withhold(self, chance: st.DataObject) -> None:
        """Remove a document above the share, and let it go then."""
        self.deliver()
        name = self.any_of(chance)
        before = self.records_of(name)
        self.share = 0
        self.remove(name)

        held = delivered(self.corpus, self.store)
        allowed = delivered(self.corpus, self.store, allow_deletes=held.withheld)

        assert held.deletes == 0
        assert held.withheld == allowed.deletes == len(before)
        self.assert_right()
        self.share = 1
        self.configure()

    def records_of(self, name: str) -> dict[str, Any]:
        """Give what the store has of a document."""
        doc_id = self.documents[name][0].get("doc_id", name)
        records = self.store.records.items()
        return {key: record for key, record in records if record["doc_id"] == doc_id}

    def remove(self, name: str) -> None:
        """Remove a file, and what a manifest says of it."""
        del self.documents[name]
        self.listed.pop(name, None)
        (self.folder / "docs" / name).unlink()
        self.tidy()
        self.configure()

    @rule(parts=sections)
    def undo(self, parts: list[Any]) -> None:
        """Revert what was acknowledged last."""
        self.deliver()
        before = dict(self.store.records)
        self.created += 1
        front = {"title": f"Handbook {self.created}"}
        self.corpus.document("always.md", markdown(front, parts))
        config = config_of(self.corpus)
        sent = synced(self.corpus)
        assert sent.run is not None
        assert sent.folder is not None
        self.store.take_in(sent.folder)
        acknowledge(config, sent.run)

        back = revert(config, sent.run)

        assert back.run is not None
        assert back.folder is not None
        self.store.take_in(back.folder)
        assert self.store.records == before
        acknowledge(config, back.run)

    def assert_right(self) -> None:
        """Compare the store with one that is filled from scratch."""
        assert self.store.records == built(self.corpus)
        assert self.store.vectors == self.store.wanted_vectors

    @invariant()
    def nothing_is_left_half_done(self) -> None:
        """Drafts are gone when a command has ended."""
        assert not [*self.folder.rglob("*.part")]


TestHistories = Histories.TestCase
TestHistories.settings = settings(stateful_step_count=14)
