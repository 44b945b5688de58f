"""Corpora of a bench as arms: documents and questions in JSON lines."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import TYPE_CHECKING

from situate.chunking import Rules, chunk
from situate.compare.arms import Leaves
from situate.compare.grounds import Ground, lay
from situate.readers import read
from situate.tokens import load_counter

if TYPE_CHECKING:
    from pathlib import Path


def leaves_of(path: Path, max_tokens: int) -> tuple[Leaves, dict[str, Ground]]:
    """Chunk the documents of `docs.jsonl`: `doc_id`, `text` and perhaps `format`."""
    counter = load_counter("cl100k_base")
    chunks, grounds, spans = [], {}, {}
    for line in path.read_text("utf-8").splitlines():
        row = json.loads(line)
        extension = ".txt" if row.get("format") == "txt" else ".md"
        found = read(row["text"].encode("utf-8"), f"document{extension}").document
        document = replace(found, doc_id=row["doc_id"])
        ground = grounds[row["doc_id"]] = lay(document, row["text"])
        for one in chunk(document, Rules(max_tokens=max_tokens), counter):
            chunks.append(one)
            spans[one.chunk_id] = ground.place(one)
    return Leaves(chunks=tuple(chunks), spans=spans), grounds
