"""A page about a store, followed as it stands, and a corpus that changes.

Pages show a store's own client as indented code, which needs that client: `load` takes
in a folder of `situate export`, `search` and `section` ask the store. All four pages
name these three alike, so that one corpus goes through each of them.
"""

from __future__ import annotations

import hashlib
import io
import json
import math
import re
import subprocess
import sys
import textwrap
from contextlib import redirect_stdout
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Final

import pytest
from typer.testing import CliRunner

from situate.cli import app
from situate.export import STORES
from situate.export.store import Target
from situate.pipeline.exporting import Request, export
from situate.pipeline.living.indexing import acknowledge
from tests.support.corpora import Corpus
from tests.support.pages import ROOT
from tests.support.stores import config_of, synced

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Mapping

SIZE: Final = 8
"""Numbers of a vector, on the pages too."""

DOCUMENTS: Final = frozenset({"leave.md", "secret.md", "travel.md"})

CUT: Final[Mapping[str, object]] = {
    "granularity": "tree",
    "max_tokens": 96,
    "min_tokens": 8,
}

_PIECE: Final = re.compile(
    r"^```(?P<kind>\w+)(?: (?P<name>\S+))?\n(?P<fenced>.*?)^```$"
    r"|(?P<shown>^    [^\n]*\n(?:^    [^\n]*\n|^\n(?=    ))*)",
    re.MULTILINE | re.DOTALL,
)

_PRINTED: Final = re.compile(r"^# (.*)$", re.MULTILINE)


def vector_of(text: str) -> list[float]:
    """Give a vector as the pages make it: a hash of what is embedded."""
    return [byte / 128 - 1 for byte in hashlib.sha256(text.encode()).digest()[:SIZE]]


def follow(store: str, folder: Path) -> dict[str, Any]:
    """Do what the page of a store says in a folder; give the names its code binds.

    Comments at the end of shown code are what it prints.
    """
    names: dict[str, Any] = {}
    page = (ROOT / "docs" / f"{store}.md").read_text("utf-8")
    for piece in _PIECE.finditer(page):
        code = textwrap.dedent(piece["shown"] or piece["fenced"])
        if piece["name"]:
            path = folder / piece["name"]
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(code, "utf-8")
        elif piece["kind"] == "console":
            command, _, shown = code.partition("\n")
            done = CliRunner().invoke(app, command.removeprefix("$ situate ").split())
            assert done.output == shown
        elif piece["kind"] == "python":
            subprocess.run([sys.executable, "-c", code], check=True)
        elif not code.startswith(("for ", "cd ")):
            printed = io.StringIO()
            with redirect_stdout(printed):
                exec(code, names)  # noqa: S102 - it is our page
            told = _PRINTED.findall(code.rstrip("\n").rpartition("\n\n")[2])
            assert printed.getvalue().splitlines() == told
    return names


def shells(store: str) -> list[str]:
    """Give what the page of a store shows for a shell."""
    page = (ROOT / "docs" / f"{store}.md").read_text("utf-8")
    found = [textwrap.dedent(each["shown"] or "") for each in _PIECE.finditer(page)]
    return [code for code in found if code.startswith(("for ", "cd "))]


def policy(days: int) -> str:
    """Give a document with dates, permissions and two sections."""
    return f"""\
---
title: Leave
effective_from: 2025-01-01
effective_to: 2025-12-31
acl_groups: [hr, all]
---
# Leave

Everybody has leave; it's asked for in writing, with a "reason" and a \\path\\.

## Days

There are {days} days. {"They are counted from the first of January on. " * 4}

## Exceptions

People on parental leave keep theirs.

They are told when it ends. {"It ends when they are back. " * 4}
"""


DISMISSALS: Final = """\
---
acl_groups: [hr]
classification: secret
---
# Dismissals

Nobody is to know of it. It concerns three people in two offices.
"""


class StorePage:
    """What is asked of the page of every store; a test class says which it is."""

    store: ClassVar[str]

    @pytest.fixture
    def names(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> Iterator[dict[str, Any]]:
        """Follow the page in a folder; give what its code binds."""
        monkeypatch.chdir(tmp_path)
        names = follow(self.store, tmp_path)
        yield names
        self.close(names)

    @pytest.fixture
    def corpus(self, tmp_path: Path) -> Corpus:
        """Write a corpus with parents, dates, permissions and a class."""
        corpus = Corpus(folder=tmp_path / "living", name="policies")
        corpus.folder.mkdir()
        corpus.document("leave.md", policy(25))
        corpus.document("secret.md", DISMISSALS)
        corpus.document("travel.md", "# Travel\n\nBook the train.\n")
        return corpus.configure(chunking=CUT)

    def rows(self, names: dict[str, Any]) -> Iterable[dict[str, Any]]:
        """Give all that is stored, `vector` being None where there is none."""
        raise NotImplementedError

    def close(self, names: dict[str, Any]) -> None:
        """Let go of what the page has opened."""

    def stored(self, names: dict[str, Any], doc_ids: Collection[str]) -> dict[str, Any]:
        """Give what is stored of documents, as `expected` does."""
        return {
            row["record_id"]: said(row, row["metadata"], row["vector"])
            for row in self.rows(names)
            if row["doc_id"] in doc_ids
        }

    def fall(self, corpus: Corpus, load: Any) -> Mapping[str, int]:
        """Sync, export and load the delta, twice; give how many of each kind."""
        sent = synced(corpus, allow_deletes=99)
        assert sent.folder is not None
        assert sent.run is not None
        folder = corpus.folder / f"{sent.run}.{self.store}"
        changes = told(self.store, sent.folder, folder)
        load(folder)
        load(folder)
        acknowledge(config_of(corpus), sent.run)
        return changes

    def test_the_page_fills_the_store(self, names: dict[str, Any]) -> None:
        """Of every record the texts, all of its metadata, and its vector."""
        lines = Path("out/policies.jsonl").read_text("utf-8").splitlines()
        records = [json.loads(line) for line in lines]

        found = self.stored(names, {record["doc_id"] for record in records})

        assert len(found) == 4
        assert found == expected(records)

    def test_a_store_that_is_told_of_deltas_holds_what_a_run_writes(
        self, names: dict[str, Any], corpus: Corpus
    ) -> None:
        """New texts, new metadata and what is gone, each told twice."""
        first = self.fall(corpus, names["load"])
        corpus.document("leave.md", policy(30))
        classes = DISMISSALS.replace(": secret", ": [secret, board]")
        corpus.document("secret.md", classes)
        (corpus.folder / "docs" / "travel.md").unlink()
        second = self.fall(corpus, names["load"])

        found = self.stored(names, DOCUMENTS)

        assert first["metadata_update"] == first["delete"] == 0
        assert min(second.values()) > 0
        assert found == expected(run_over(corpus))

    def test_what_is_embedded_may_change(
        self, names: dict[str, Any], corpus: Corpus
    ) -> None:
        """A vector goes from what is no longer found, and comes to what is."""
        for level in ("leaf", "paragraph", "leaf"):
            cut = {**CUT, "granularity": "multi", "embed": level}
            corpus.configure(chunking=cut)
            self.fall(corpus, names["load"])

            records = run_over(corpus)
            assert len({record["metadata"]["embed"] for record in records}) == 2
            assert self.stored(names, DOCUMENTS) == expected(records)

    def test_a_search_keeps_to_day_permission_and_class(
        self, names: dict[str, Any], corpus: Corpus
    ) -> None:
        """What has no permission is found by nobody."""
        self.fall(corpus, names["load"])
        records = {record["chunk_id"]: record for record in run_over(corpus)}

        def first(
            chunk_id: str, day: str, *groups: str, classes: tuple[str, ...] = ()
        ) -> bool:
            question = vector_of(records[chunk_id]["embed_text"])
            hits = names["search"](question, day, groups, classes)
            return bool(hits) and hits[0]["record_id"] == chunk_id

        leave, secret = "leave.md:leave/days", "secret.md:dismissals"
        travel = "travel.md:travel"
        assert first(leave, "2025-01-01", "all")
        assert first(leave, "2025-12-31", "nobody", "hr")
        assert not first(leave, "2024-12-31", "all")
        assert not first(leave, "2026-01-01", "all")
        assert not first(leave, "2025-01-01", "sales")
        assert first(secret, "2031-01-01", "hr", classes=("secret",))
        assert not first(secret, "2031-01-01", "hr", classes=("board",))
        assert not first(secret, "2031-01-01", "hr")
        assert not first(travel, "2031-01-01", "hr", "all")

    def test_a_hit_leads_to_its_section_which_no_search_finds(
        self, names: dict[str, Any], corpus: Corpus
    ) -> None:
        """Containers are stored to be handed over."""
        self.fall(corpus, names["load"])
        records = {record["chunk_id"]: record for record in run_over(corpus)}
        leaf = records["leave.md:leave/days"]
        parent = records[leaf["parent_chunk_id"]]
        containers = {key for key in records if not records[key]["metadata"]["embed"]}

        for record in (leaf, parent):
            question = vector_of(record["embed_text"])
            hits = names["search"](question, "2025-06-01", ["hr"], ["secret"])

            assert hits
            assert not containers & {hit["record_id"] for hit in hits}
            if record is leaf:
                assert names["section"](hits[0]) == parent["text"]


def run_over(corpus: Corpus) -> list[dict[str, Any]]:
    """Give what a run over a corpus writes."""
    assert corpus.run().exit_code == 0
    return corpus.records


def told(name: str, source: Path, folder: Path) -> Mapping[str, int]:
    """Export a delta with the vectors of all that was ever sent."""
    vectors = source.parent.parent / "vectors.jsonl"
    with vectors.open("a", encoding="utf-8") as file:
        for line in (source / "upserts.jsonl").read_text("utf-8").splitlines():
            record = json.loads(line)
            found = {
                "embed_hash": record["metadata"]["embed_hash"],
                "vector": vector_of(record["embed_text"]),
            }
            print(json.dumps(found), file=file)
    store = STORES[name](Target(index="policies", dimensions=SIZE))
    request = Request(source=source, folder=folder, vectors=vectors)
    exported = export(store, request)
    assert exported.without_vector == 0
    return exported.changes


def said(row: Mapping[str, Any], metadata: Any, vector: Any) -> tuple[Any, ...]:
    """Give what a store has to hold of a record; of a vector its direction."""
    texts = [row[key] for key in ("text", "context_prefix", "embed_text")]
    length = 0 if vector is None else math.hypot(*vector)
    direction = [round(float(each) / length, 3) for each in vector] if length else None
    if isinstance(metadata, str):
        metadata = json.loads(metadata)
    return (*texts, metadata, direction)


def expected(records: Iterable[dict[str, Any]]) -> dict[str, Any]:
    """Give what a store has to hold of these records."""
    return {
        record["chunk_id"]: said(
            record,
            record["metadata"],
            vector_of(record["embed_text"]) if record["metadata"]["embed"] else None,
        )
        for record in records
    }
