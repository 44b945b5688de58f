"""A server that keeps what `_bulk` tells it, and exports to tell it of.

The server does what the vendors' references say of `index`, `update` with a script
and `delete`; of scripts it knows the one that exports hold.
"""

from __future__ import annotations

import json
import tempfile
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from situate import Rules, chunk, load_counter, read, to_line, to_record
from situate.export import STORES
from situate.export.bulk import LAID_OVER
from situate.export.store import Target
from situate.index.parcel import FILES, TEXTS
from situate.model import Chunk, Enrichment, Metadata, PromptReference
from situate.pipeline.exporting import MOST_BYTES, Exported, Request, export

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from situate.index.delta import Op
    from situate.records import Record

ROOT = Path(__file__).parents[2]

TARGET = Target(index="handbook", dimensions=3)


def change_lines(lines: Iterable[Record]) -> Iterator[tuple[Any, Any]]:
    """Pair the lines of `_bulk`: what is to be done, and with what."""
    left = iter(lines)
    for action in left:
        yield action, None if "delete" in action else next(left)


@dataclass(slots=True)
class Server:
    """Documents by `_id`."""

    documents: dict[str, dict[str, Any]] = field(default_factory=dict)

    def take_in(self, body: bytes) -> list[int]:
        """Do what a request says; give the status of every line of it."""
        assert body.endswith(b"\n")
        lines = [json.loads(line) for line in body.splitlines()]
        return [self._do(action, source) for action, source in change_lines(lines)]

    def _do(self, action: dict[str, Any], source: dict[str, Any]) -> int:
        ((name, told),) = action.items()
        assert told.keys() == {"_id"}
        key = told["_id"]
        match name:
            case "index":
                self.documents[key] = source
                return 201
            case "update":
                if key not in self.documents:
                    return 404
                self._run(self.documents[key], source["script"])
                return 200
            case "delete":
                return 404 if self.documents.pop(key, None) is None else 200
        raise AssertionError(name)

    def _run(self, document: dict[str, Any], script: dict[str, Any]) -> None:
        assert script["source"] == LAID_OVER
        fields, analyser = script["params"]["fields"], script["params"]["analyser"]
        document.update(fields)
        if analyser is None:
            document["lexical"] = None
            document.pop("vector", None)
        else:
            document["lexical"] = {analyser: document["lexical_text"]}


def a_chunk(**changes: Any) -> Chunk:
    """Give a chunk that is to be found; `changes` are of its fields."""
    plain = Chunk(
        chunk_id="leave.md:days",
        doc_id="leave.md",
        doc_version="1",
        parent_chunk_id=None,
        level="section",
        text="25 `days`.",
        reading="25 days.",
        breadcrumb_line="Leave > Days",
        block_ids=("days#0",),
        parts={},
        spans=(None,),
        pages=(),
        corpus=None,
        metadata=Metadata(),
        breadcrumb=("Leave", "Days"),
        section_id="days",
        section_ids=None,
        ordinal=0,
        token_count=3,
        embed=True,
        embed_form="reading",
        forced_split=False,
        enrichment=Enrichment(),
    )
    return replace(plain, **changes)


def a_record(**changes: Any) -> Record:
    """Give the record of such a chunk."""
    return to_record(a_chunk(**changes))


def all_kinds() -> list[Record]:
    """Give records of every level and state that situate writes."""
    counter = load_counter("cl100k_base")
    handbook = ROOT / "tests" / "corpora" / "handbook"
    path = handbook / "manuals" / "bw40-pump-manual.md"
    document = read(path.read_bytes(), path.name).document
    chunks = [
        found
        for granularity in ("leaves", "tree", "multi")
        for found in chunk(
            document, Rules(max_tokens=120, granularity=granularity), counter
        )
    ]
    asked = Enrichment(
        status="statement",
        statement="It is about leave.",
        model="a-model",
        prompt=PromptReference(name="situating-v1", hash="0"),
        view="marked",
    )
    skipped = Enrichment(status="skipped", reason="budget")
    said = Metadata(
        title="Leave",
        doc_type="handbook",
        effective_from="2025-01-01",
        effective_to="2025-12-31",
        source="leave.md",
        language="de",
        custom={
            "acl_groups": ["hr", 7],
            "acl_public": False,
            "classification": "internal",
            "owner": {"name": "P", "of": [{"a": None}, 1.5]},
            "none": None,
        },
    )
    return [
        *map(to_record, chunks),
        a_record(enrichment=asked, metadata=said, corpus="handbook"),
        a_record(enrichment=skipped, pages=(1, 2), spans=((0, 4),)),
        a_record(section_ids=("days", "hours"), parts={"days#0": (0, 2)}),
    ]


def delta_of(
    folder: Path, before: Mapping[str, Record], after: Mapping[str, Record]
) -> Path:
    """Write what leads from one set of records to another, as `sync` does."""
    texts = ("text", "embed_text", "lexical_text")
    lines: dict[Op, list[Record]] = {op: [] for op in FILES}
    for name, record in after.items():
        known = before.get(name)
        if known is None or any(known[key] != record[key] for key in texts):
            lines["upsert"].append(record)
        elif known != record:
            own = {key: value for key, value in record.items() if key not in TEXTS}
            lines["metadata_update"].append(own)
    lines["delete"] = [
        {"chunk_id": record["chunk_id"], "doc_id": record["doc_id"]}
        for name, record in before.items()
        if name not in after
    ]
    folder.mkdir()
    for op, name in FILES.items():
        (folder / name).write_bytes(b"".join(map(to_line, lines[op])))
    return folder


def chunks_file(path: Path, records: Iterable[Record]) -> Path:
    """Write a chunks file."""
    path.write_bytes(b"".join(map(to_line, records)))
    return path


def vectors_file(path: Path, records: Iterable[Record]) -> Path:
    """Write a vector for every text of the records, made of its hash."""
    hashes = {str(record["metadata"]["embed_hash"]) for record in records}  # type: ignore[index, call-overload] # records are of our making
    lines: Sequence[Record] = [
        {"embed_hash": name, "vector": [1.0, *(int(name[at], 16) for at in (0, 1))]}
        for name in sorted(hashes)
    ]
    return chunks_file(path, lines)


def files_of(name: str, dimensions: int | None = 3) -> dict[str, Any]:
    """Give the JSON files that set a store up and query it."""
    files = STORES[name](Target(index="handbook", dimensions=dimensions)).files()
    return {key: json.loads(content) for key, content in files.items()}


def exported(source: Path, folder: Path, **asked: Any) -> tuple[Exported, list[bytes]]:
    """Export to OpenSearch or another store; give what was written, and the bodies."""
    name = asked.pop("store", "opensearch")
    most_bytes = asked.pop("most_bytes", MOST_BYTES)
    store = STORES[name](asked.pop("target", TARGET))
    request = Request(source=source, folder=folder, **asked)
    found = export(store, request, most_bytes=most_bytes)
    return found, [(folder / part).read_bytes() for part in found.parts]


@contextmanager
def written(name: str) -> Iterator[Path]:
    """Give a folder with an export in which everything is said that can be."""
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        records = {str(number): each for number, each in enumerate(all_kinds())}
        before = {
            **{name: {**each, "level": "block"} for name, each in records.items()},
            "gone": a_record(chunk_id="leave.md:gone"),
        }
        new = {"new": a_record(chunk_id="leave.md:new")}
        delta = delta_of(folder / "delta", before, {**records, **new})
        vectors = vectors_file(folder / "vectors.jsonl", records.values())
        exported(delta, folder / "out", store=name, vectors=vectors)
        yield folder / "out"
