"""A store that takes deltas in, as simple as one can be."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from situate.config import load
from situate.pipeline.living.indexing import acknowledge
from situate.pipeline.living.syncing import sync
from tests.support.corpora import Heard

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from situate.config import Config
    from situate.pipeline.living.sent import Sent
    from tests.support.corpora import Corpus

FILES = ("upserts.jsonl", "metadata_updates.jsonl", "deletes.jsonl")


@dataclass(slots=True)
class Store:
    """Records by name; the version of their documents is nobody's concern."""

    records: dict[str, dict[str, Any]] = field(default_factory=dict)
    vectors: dict[str, str] = field(default_factory=dict)
    """The hash of what was embedded, of records that are."""
    embedded: int = 0
    """How many texts were embedded so far."""

    def take_in(self, delta: Path) -> None:
        """Apply a delta."""
        for name in FILES:
            self.take_in_file(delta / name)

    def take_in_file(self, path: Path) -> None:
        """Apply one file of a delta."""
        for record in lines(path):
            record_id = record["record_id"]
            record.pop("doc_version", None)
            match path.name:
                case "upserts.jsonl":
                    self.records[record_id] = record
                    self._embed(record_id, record)
                case "metadata_updates.jsonl":
                    assert "text" not in record
                    self.records[record_id] = self.records[record_id] | record
                case "deletes.jsonl":
                    self.records.pop(record_id, None)
                    self.vectors.pop(record_id, None)
                case _:
                    raise AssertionError(path)

    def _embed(self, record_id: str, record: dict[str, Any]) -> None:
        """Embed a text that is to be found, unless that was done before."""
        known = self.vectors.pop(record_id, None)
        if record["metadata"]["embed"]:
            self.vectors[record_id] = _embedded(record)
            self.embedded += known != _embedded(record)

    @property
    def wanted_vectors(self) -> dict[str, str]:
        """What has to be embedded for all to be found that is to be."""
        return {
            record_id: _embedded(record)
            for record_id, record in self.records.items()
            if record["metadata"]["embed"]
        }

    def ids(self, path: Path) -> Path:
        """Write the ids that it holds, with the hashes of what is embedded."""
        told = [
            {"record_id": record_id, "embed_hash": _embedded(record)}
            for record_id, record in self.records.items()
        ]
        path.write_text("".join(json.dumps(each) + "\n" for each in told), "utf-8")
        return path


def _embedded(record: dict[str, Any]) -> str:
    return str(record["metadata"]["embed_hash"])


def lines(path: Path) -> Iterator[dict[str, Any]]:
    """Read a file of a delta."""
    for line in path.read_bytes().splitlines():
        yield json.loads(line)


def config_of(corpus: Corpus) -> Config:
    """Load the config of a corpus."""
    (config,) = load([corpus.config], environment={})
    return config


def synced(corpus: Corpus, *, allow_deletes: int | None = None) -> Sent:
    """Sync a corpus."""
    return sync(config_of(corpus), Heard(), allow_deletes=allow_deletes)


def delivered(
    corpus: Corpus, store: Store, *, allow_deletes: int | None = None
) -> Sent:
    """Sync a corpus, let a store take the delta in, and acknowledge it."""
    sent = synced(corpus, allow_deletes=allow_deletes)
    if sent.run is not None and sent.folder is not None:
        store.take_in(sent.folder)
        acknowledge(config_of(corpus), sent.run)
    return sent


def built(corpus: Corpus) -> dict[str, dict[str, Any]]:
    """Give what a store holds that is filled from scratch."""
    result = corpus.run()
    assert result.exit_code == 0, result.reason
    records = corpus.records
    for record in records:
        record.pop("doc_version")
        # One record of each chunk goes by the name of the chunk.
        record["record_id"] = record["chunk_id"]
        record["parent_record_id"] = record["parent_chunk_id"]
    return {record["chunk_id"]: record for record in records}


def content(folder: Path) -> dict[str, bytes]:
    """Give the files of a delta by name."""
    return {path.name: path.read_bytes() for path in folder.iterdir()}
