"""Question files: gold that matches the documents, or a line that says why not."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from situate.compare.grounds import Ground
from situate.compare.questions import load
from situate.errors import RecordError

if TYPE_CHECKING:
    from pathlib import Path

LEAVE = "Thirty days are granted in each calendar year.\nUnused days lapse in March."
GROUNDS = {"leave.md": Ground("leave.md", LEAVE, {})}
QUESTION: dict[str, Any] = {
    "qid": "q1",
    "query": "How long is my holiday?",
    "gold": [{"doc_id": "leave.md", "text": "Thirty days are granted"}],
}


def written(path: Path, *questions: dict[str, Any]) -> Path:
    """Write a question file."""
    file = path / "questions.jsonl"
    file.write_text("".join(json.dumps(each) + "\n" for each in questions), "utf-8")
    return file


def test_evidence_and_characters_are_two_ways_to_say_the_same(tmp_path: Path) -> None:
    """Gold is a place in the document, however it is given."""
    by_place = QUESTION | {
        "qid": "q2",
        "gold": [{"doc_id": "leave.md", "start": 0, "end": 23}],
    }

    one, other = load(written(tmp_path, QUESTION, by_place), GROUNDS)

    assert one.gold == other.gold


def test_drafted_questions_say_so(tmp_path: Path) -> None:
    """Where a question comes from decides what it may prove."""
    drafted = QUESTION | {"qid": "q2", "drafted": True, "kind": "heading"}

    one, other = load(written(tmp_path, QUESTION, drafted), GROUNDS)

    assert (one.origin, other.origin) == ("given", "drafted")
    assert other.kind == "heading"


def test_keys_of_the_users_own_are_let_be(tmp_path: Path) -> None:
    """A question file may carry more than is read."""
    (question,) = load(written(tmp_path, QUESTION | {"asked_by": "HR"}), GROUNDS)

    assert question.qid == "q1"


@pytest.mark.parametrize(
    ("change", "complaint"),
    [
        ({"gold": []}, "gold is empty"),
        ({"gold": [{"doc_id": "leave.md", "text": "Forty days"}]}, "'Forty days'"),
        ({"gold": [{"doc_id": "leave", "text": "Thirty"}]}, "nearest is 'leave.md'"),
        ({"gold": [{"doc_id": "leave.md", "start": 5, "end": 5}]}, "characters 5 to 5"),
        (
            {"gold": [{"doc_id": "leave.md", "start": 0, "end": 900}]},
            "which has 74",
        ),
        ({"gold": [{"doc_id": "leave.md"}]}, "text, or start and end, is missing"),
        (
            {"gold": [{"doc_id": "leave.md", "start": 0, "end": 6, "text": "Forty."}]},
            "the document has changed",
        ),
        ({"gold": [{"doc_id": "leave.md", "start": 0, "end": True}]}, "whole number"),
        ({"query": "  "}, "query is blank"),
        ({"query": 5}, "query: a text was expected"),
    ],
    ids=[
        "no gold", "words that are not there", "an unknown document", "nothing",
        "beyond the end", "no place", "another text", "a flag for a number",
        "a blank query", "a number for a query",
    ],
)  # fmt: skip
def test_a_file_that_does_not_match_its_documents_is_refused_with_the_line(
    tmp_path: Path, change: dict[str, Any], complaint: str
) -> None:
    """A wrong key would go on to say that nothing is ever found."""
    file = written(tmp_path, QUESTION, QUESTION | {"qid": "q2"} | change)

    with pytest.raises(RecordError) as caught:
        load(file, GROUNDS)

    assert f"{file}:2: " in str(caught.value)
    assert complaint in str(caught.value)


@pytest.mark.parametrize("text", ["Unused days lapse", "unused DAYS lapse"])
def test_evidence_that_stands_twice_wants_a_longer_quotation(
    tmp_path: Path, text: str
) -> None:
    """In whatever case or line breaks: one of the two would count as not found."""
    twice = "Unused days lapse in March.\n\nIn May unused\ndays lapse.\n"
    question = QUESTION | {"gold": [{"doc_id": "leave.md", "text": text}]}

    with pytest.raises(RecordError, match="stands more than once"):
        load(written(tmp_path, question), {"leave.md": Ground("leave.md", twice, {})})


def test_two_questions_of_one_name_are_refused(tmp_path: Path) -> None:
    """Runs and judgements name questions."""
    with pytest.raises(RecordError, match="'q1' stands there twice"):
        load(written(tmp_path, QUESTION, QUESTION), GROUNDS)


def test_an_empty_file_is_refused(tmp_path: Path) -> None:
    """No question is no comparison."""
    with pytest.raises(RecordError, match="no question in it"):
        load(written(tmp_path), GROUNDS)


def test_excluded_documents_need_not_be_in_the_corpus(tmp_path: Path) -> None:
    """A part of a corpus is compared with the questions of the whole."""
    question = QUESTION | {"exclude_docs": ["handbook.md"]}

    (loaded,) = load(written(tmp_path, question), GROUNDS)

    assert loaded.excluded == {"handbook.md"}
