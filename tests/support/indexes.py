"""Indexes drawn at random: records by name, of few values, so that many stay equal."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from hypothesis import strategies as st

from situate.model import Enrichment, Metadata
from situate.records import to_record
from tests.support.exports import a_chunk

if TYPE_CHECKING:
    from situate.model import Chunk
    from situate.records import Record

metadata = st.builds(
    Metadata,
    title=st.sampled_from([None, "Leave"]),
    effective_from=st.sampled_from([None, "2025-01-01"]),
    effective_to=st.sampled_from([None, "2025-12-31"]),
    language=st.sampled_from([None, "de", "pt-BR", "pl"]),
    custom=st.dictionaries(
        st.sampled_from(["acl_groups", "owner", "b.c"]),
        st.sampled_from(["hr", ["hr", "board"], {"name": "P"}, {"of": [1]}, None]),
        max_size=3,
    ),
)
enrichments = st.sampled_from(
    [
        Enrichment(),
        Enrichment(status="skipped", reason="budget"),
        Enrichment(status="statement", statement="It is about leave.", model="m"),
    ]
)
chunks = st.builds(
    a_chunk,
    text=st.sampled_from(["25 `days`.", "30 `days`."]),
    reading=st.sampled_from(["25 days.", "30 days."]),
    parent_chunk_id=st.sampled_from([None, "leave.md:_doc"]),
    parts=st.sampled_from([{}, {"days#0": (0, 2)}, {"days#1": (1, 2)}]),
    metadata=metadata,
    embed=st.booleans(),
    enrichment=enrichments,
    section_ids=st.sampled_from([None, ("days", "hours")]),
)
IDS = ("leave.md:days", "leave.md:hours", "leave.md:" + "ü" * 300)


def named(found: dict[str, Chunk]) -> dict[str, Record]:
    """Give records under the ids of their chunks."""
    return {
        name: to_record(replace(each, chunk_id=name)) for name, each in found.items()
    }


indexes = st.dictionaries(st.sampled_from(IDS), chunks).map(named)
