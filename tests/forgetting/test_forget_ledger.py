"""A ledger loses a document and keeps what was spent (S8)."""

from __future__ import annotations

import json
from decimal import Decimal
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from situate.enrichment.forgetting import mentions, without
from situate.enrichment.ledger import Ledger, noted, rewriting
from situate.errors import Locked
from situate.model import document_of

if TYPE_CHECKING:
    from pathlib import Path

DOCUMENTS = ("leave.md", "leave.md2", "a:b%.md", "travel/abroad.md")


def quoted(doc_id: str) -> str:
    """Give an id as it stands in those of chunks."""
    return doc_id.replace("%", "%25").replace(":", "%3A")


def entry(number: int, *chunk_ids: str) -> dict[str, Any]:
    """Give a line as a ledger has it."""
    return {
        "schema": 2,
        "time": "2026-11-30T00:00:00.000+00:00",
        "request": f"key-{number}",
        "chunk_ids": list(chunk_ids),
        "view": None,
        "provider": "openai",
        "endpoint": "local",
        "model_asked": "m",
        "model_answered": "m",
        "attempts": 1,
        "outcome": "answered",
        "seconds": 0.1,
        "usage": None,
        "cost_usd": f"0.00{number}",
        "source": "wire",
    }


def written(path: Path, *entries: dict[str, Any]) -> Path:
    """Write a ledger."""
    path.write_text("".join(json.dumps(each) + "\n" for each in entries), "utf-8")
    return path


@given(
    lines=st.lists(
        st.lists(st.sampled_from(DOCUMENTS).map(lambda doc: f"{quoted(doc)}:a/b:0"))
    ),
    doc_id=st.sampled_from(DOCUMENTS),
)
def test_one_document_goes_and_all_amounts_stay(
    tmp_path_factory: Any, lines: list[list[str]], doc_id: str
) -> None:
    """Lines of others are the same bytes; chunks that go are counted."""
    entries = [entry(number, *ids) for number, ids in enumerate(lines)]
    path = written(tmp_path_factory.mktemp("l") / "x.ledger.jsonl", *entries)

    left = [json.loads(line) for line in without(path, doc_id)]

    assert [each["cost_usd"] for each in left] == [e["cost_usd"] for e in entries]
    for before, after in zip(entries, left, strict=True):
        own = [c for c in before["chunk_ids"] if document_of(c) == doc_id]
        if not own:
            assert after == before
            continue
        assert after["forgotten"] == len(own)
        assert not [c for c in after["chunk_ids"] if document_of(c) == doc_id]
        assert len(after["chunk_ids"]) + len(own) == len(before["chunk_ids"])
    assert mentions(path, doc_id).lines == sum("forgotten" in each for each in left)


def test_a_line_that_was_about_it_alone_names_no_request(tmp_path: Path) -> None:
    """That key is a hash of all that was shown."""
    path = written(
        tmp_path / "x.ledger.jsonl",
        entry(1, "leave.md:a"),
        entry(2, "leave.md:a", "travel/abroad.md:b"),
    )

    alone, together = map(json.loads, without(path, "leave.md"))

    assert alone["request"] is None
    assert together["request"] == "key-2"


def test_what_is_left_says_how_many_were_asked_about(tmp_path: Path) -> None:
    """`why` tells the price of a request that was shared with a forgotten document."""
    path = written(tmp_path / "a.jsonl", entry(5, "leave.md:a", "travel/abroad.md:b"))
    after = tmp_path / "b.jsonl"
    after.write_bytes(b"".join(without(path, "leave.md")))

    ((found,), _) = noted(after, "travel/abroad.md:b")

    assert (found.chunks, found.cost_usd) == (2, Decimal("0.005"))


def test_half_a_line_goes_along(tmp_path: Path) -> None:
    """It may hold half an id, and no amount can be read in it."""
    path = written(tmp_path / "x.ledger.jsonl", entry(1, "travel/abroad.md:b"))
    whole = path.read_bytes()
    path.write_bytes(whole + b'{"schema": 2, "chunk_ids": ["leav')

    assert mentions(path, "leave.md").broken == 1
    assert b"".join(without(path, "leave.md")) == whole


def test_several_commands_append_to_a_ledger_that_nobody_rewrites(
    tmp_path: Path,
) -> None:
    """A run and what collects a batch have one; each note is a whole line."""
    path = tmp_path / "x.ledger.jsonl"

    with Ledger(path), Ledger(path), pytest.raises(Locked), rewriting(path):
        pass

    with rewriting(path), pytest.raises(Locked, match=r"x\.ledger\.jsonl"):
        Ledger(path)
    with rewriting(path):
        pass
