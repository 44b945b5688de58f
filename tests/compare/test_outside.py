"""Chunks and rankings made elsewhere, as arms."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest

from situate import Rules, chunk, load_counter, read, to_line, to_record
from situate.compare.grounds import lay
from situate.compare.measures import Cuts
from situate.compare.outside import chunk_file, run_file
from situate.compare.questions import load
from situate.compare.trial import Setting, try_run
from situate.errors import RecordError
from situate.model import Enrichment

if TYPE_CHECKING:
    from pathlib import Path

    from situate.compare.arms import Arm

COUNTER = load_counter("cl100k_base")
POLICY = """\
# Leave

Thirty days are granted in each calendar year.

# Sickness

A certificate is due on the third day of it.
"""
DOCUMENT = read(POLICY.encode(), "leave.md").document
GROUNDS = {"leave.md": lay(DOCUMENT, POLICY)}


def arm_of(path: Path, *rows: dict[str, Any]) -> Arm:
    """Read a chunk file."""
    file = path / "chunks.jsonl"
    file.write_text("".join(json.dumps(row) + "\n" for row in rows), "utf-8")
    return chunk_file("theirs", file, GROUNDS, COUNTER)


def test_files_of_situates_own_are_read_as_they_were_written(tmp_path: Path) -> None:
    """A statement that a run wrote is a statement of the arm."""
    chunks = chunk(DOCUMENT, Rules(min_tokens=0, granularity="tree"), COUNTER)
    said = Enrichment(status="statement", statement="Says how much holiday there is.")
    leaf = next(one for one in chunks if "Thirty" in one.text and one.embed)
    file = tmp_path / "chunks.jsonl"
    file.write_bytes(
        b"".join(
            to_line(to_record(replace(one, enrichment=said) if one is leaf else one))
            for one in chunks
        )
    )

    arm = chunk_file("ours", file, GROUNDS, COUNTER)

    (entry,) = [each for each in arm.entries if each.entry_id == leaf.chunk_id]
    assert entry.statement == said.statement
    assert entry.breadcrumb == leaf.breadcrumb_line
    assert entry.spans == GROUNDS["leave.md"].place(leaf)
    assert entry.lexical == (leaf.breadcrumb_line, leaf.reading)
    assert len(arm.entries) == sum(one.embed for one in chunks)


def test_a_chunk_without_places_is_looked_for(tmp_path: Path) -> None:
    """Text, and a document it is of, are all that is needed."""
    arm = arm_of(
        tmp_path,
        {"doc_id": "leave.md", "text": "A certificate is due on the third day"},
        {"doc_id": "leave.md", "text": "nowhere to be found"},
    )

    assert POLICY[slice(*arm.entries[0].spans[0])] == arm.entries[0].text
    assert arm.unplaced == 1


def test_places_given_are_taken(tmp_path: Path) -> None:
    """Chunkers that keep offsets need no search."""
    arm = arm_of(
        tmp_path,
        {"doc_id": "leave.md", "text": "Leave", "start": 0, "end": 7},
        {
            "doc_id": "leave.md",
            "text": "Leave: thirty days",
            "spans": [[9, 20], [0, 7]],
        },
    )

    assert [each.spans for each in arm.entries] == [((0, 7),), ((0, 7), (9, 20))]


def test_what_is_indexed_is_what_the_file_says(tmp_path: Path) -> None:
    """A prefix stands in front; a text of its own for either index wins."""
    plain, own = arm_of(
        tmp_path,
        {"doc_id": "leave.md", "text": "Days", "context_prefix": "Leave"},
        {
            "doc_id": "leave.md",
            "text": "Days",
            "embed_text": "holiday days",
            "lexical_text": "days off",
        },
    ).entries

    assert (plain.dense, plain.lexical) == ("Leave\n\nDays", ("Leave", "Days"))
    assert (own.dense, own.lexical) == ("holiday days", ("", "days off"))


@pytest.mark.parametrize(
    ("row", "complaint"),
    [
        ({"doc_id": "other.md", "text": "x"}, "no document 'other.md'"),
        ({"doc_id": "leave.md"}, "text is missing"),
        ({"doc_id": "leave.md", "text": "x", "start": 0, "end": 999}, "0 to 999"),
        ({"doc_id": "leave.md", "text": "fees", "start": 9, "end": 40}, "not what"),
    ],
    ids=["an unknown document", "no text", "beyond the end", "words from elsewhere"],
)
def test_a_line_that_is_no_chunk_is_named(
    tmp_path: Path, row: dict[str, Any], complaint: str
) -> None:
    """A file that does not fit the corpus is refused with its line."""
    with pytest.raises(RecordError, match=complaint) as caught:
        arm_of(tmp_path, {"doc_id": "leave.md", "text": "Days"}, row)

    assert "chunks.jsonl:2: " in str(caught.value)


# ---------------------------------------------------------------- rankings


QUESTION = {
    "qid": "q1",
    "query": "How much holiday?",
    "gold": [{"doc_id": "leave.md", "text": "Thirty days are granted"}],
}


def ranked(path: Path, *rows: dict[str, Any]) -> dict[str, tuple[float, ...]]:
    """Score rankings of an engine over two chunks, `days` and `sick`."""
    arm = arm_of(
        path,
        {
            "doc_id": "leave.md",
            "chunk_id": "days",
            "text": "Thirty days are granted in each calendar year.",
        },
        {
            "doc_id": "leave.md",
            "chunk_id": "sick",
            "text": "A certificate is due on the third day of it.",
        },
    )
    file = path / "questions.jsonl"
    lines = [QUESTION, QUESTION | {"qid": "q2"}]
    file.write_text("".join(json.dumps(line) + "\n" for line in lines), "utf-8")
    questions = load(file, GROUNDS)
    run = path / "run.jsonl"
    run.write_text("".join(json.dumps(row) + "\n" for row in rows), "utf-8")
    setting = Setting(retrievers=(), words=str.split, embedder=None, cuts=Cuts())
    found = try_run(run_file("own", run, questions, [arm]), questions, setting)
    return dict(found.measures)


def test_a_users_own_ranking_is_scored_like_any_other(tmp_path: Path) -> None:
    """A question without a line brought nothing."""
    measures = ranked(tmp_path, {"qid": "q1", "chunk_ids": ["sick", "days", "days"]})

    assert measures["mrr@10"] == (0.5, 0)
    assert measures["rec@5"] == (1, 0)


@pytest.mark.parametrize(
    ("rows", "complaint"),
    [
        ([{"qid": "q9", "chunk_ids": []}], "'q9' is no question"),
        ([{"qid": "q1", "chunk_ids": []}] * 2, "'q1' stands there twice"),
        ([{"qid": "q1", "chunk_ids": ["fees"]}], "no chunk 'fees' in any arm"),
        ([], "no ranking in it"),
    ],
    ids=["an unknown question", "a question twice", "an unknown chunk", "nothing"],
)
def test_a_ranking_that_nobody_can_follow_is_refused(
    tmp_path: Path, rows: list[dict[str, Any]], complaint: str
) -> None:
    """Ids that do not match would count as nothing found."""
    with pytest.raises(RecordError, match=complaint):
        ranked(tmp_path, *rows)
