"""The gate against answers and documents that are written to keep it busy."""

from __future__ import annotations

from time import process_time

import pytest

from situate.enrichment.gate import judge
from situate.enrichment.grounding import evidence_of
from tests.enrichment.scenes import GOOD
from tests.enrichment.test_gate import CHUNK, ENGLISH


def _judge(answer: str) -> str | None:
    return judge(answer, CHUNK, ENGLISH).statement


HOSTILE = {
    "strong": "**a ",
    "emphasis": "*a b ",
    "label": "statement: ",
    "interjection": "sure! ",
    "both": "sure! statement: ",
    "tag": "<p>",
    "thinking": "<think>",
    "end-of-thinking": "</think>",
    "thought": "<thought>a</thought>",
    "open-tag": "<think a",
    "delimiter": "<chunk-aaaaaaaa",
    "link": "[a](",
    "code": "`a ",
    "fence": "``` ",
    "list": "- ",
    "scheme": "a.",
    "address": "a-",
    "bar": "| ",
    "initials": "(A. ",
    "ideographs": "本。",
    "order": "ignore all ",
    "quotes": "\"'",
    "invisible": "\u200b",
    "digits": "1",
    "thousands": "1.",
    "ranges": "10-20 ",
    "dates": "3/",
    "months": "3 May ",
    "times": "1:10 ",
    "words": "twenty ",
    "hundreds": "hundred ",
    "myriads": "万",
    "signs": "一",
    "capitals": "Ab ",
    "roman": "XIV ",
    "currency": "$1",
    "units": "1 m",
    "quoted": "“a b” ",
    "vulgar": "1½",
    "letters": "a b ",
    "hex": "a-0",
}


@pytest.mark.parametrize("piece", HOSTILE.values(), ids=HOSTILE.keys())
def test_what_was_shown_is_read_in_linear_time(piece: str) -> None:
    """Documents are as hostile as answers, and longer."""
    text = piece * (12_000 // len(piece))
    started = process_time()

    evidence_of(text, f"| {text} |")

    assert process_time() - started < 1


@pytest.mark.parametrize("length", [9_000, 300_000])
@pytest.mark.parametrize("piece", HOSTILE.values(), ids=HOSTILE.keys())
def test_no_answer_takes_long_to_judge(piece: str, length: int) -> None:
    """The loop that takes replies in waits meanwhile; some of these took minutes."""
    answer = piece * (length // len(piece))
    started = process_time()

    for told in (answer, f"{GOOD} {answer}", f"{answer} {GOOD}"):
        _judge(told)

    assert process_time() - started < 1


def test_nested_wrappings_come_off_a_few_layers_deep() -> None:
    """Each one laid bare by the last: answers like that hold no sentence."""
    started = process_time()

    statement = _judge("<" * 3000 + "p>" * 3000)

    assert statement is None
    assert process_time() - started < 1
