"""`compare.report`: figures in words, and the JSON that stands beside the page."""

from __future__ import annotations

import json
from dataclasses import replace
from decimal import Decimal
from typing import Any

import pytest

from situate.compare import report
from situate.compare.report import words
from situate.compare.report.scale import scale
from tests.support.comparisons import comparison

# ---------------------------------------------------------------- figures


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        pytest.param("rec@2000r", "recall in 2,000 tokens of text", id="text"),
        pytest.param(
            "rec@5000t", "recall in 5,000 tokens of embedded text", id="embedded"
        ),
        pytest.param("rec@5", "recall@5", id="k"),
        pytest.param("mrr@10", "MRR@10", id="MRR"),
        pytest.param("ndcg@10", "nDCG@10", id="nDCG"),
        pytest.param("fail@20", "failure@20", id="failure"),
        pytest.param("own@3", "own@3", id="unknown"),
    ],
)
def test_measures_have_the_names_of_the_field(name: str, expected: str) -> None:
    """The short names are for files."""
    assert words.measure(name) == expected


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        pytest.param(0.0414, "+0.041", id="gain"),
        pytest.param(-0.0414, "\N{MINUS SIGN}0.041", id="loss"),
        pytest.param(0.0004, "0.000", id="rounds to nothing"),
        pytest.param(-0.0004, "0.000", id="rounds to nothing from below"),
    ],
)
def test_a_difference_has_a_sign_unless_it_rounds_to_nothing(
    value: float, expected: str
) -> None:
    """`-0.000` would say that something was lost."""
    assert words.signed(value) == expected


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        pytest.param(None, "unknown", id="no price"),
        pytest.param(Decimal(0), "$0.00", id="nothing"),
        pytest.param(Decimal("0.00421"), "$0.0042", id="below a cent"),
        pytest.param(Decimal("0.1522"), "$0.15", id="cents"),
        pytest.param(Decimal("1234.5"), "$1,234.50", id="thousands"),
    ],
)
def test_small_sums_keep_digits(value: Decimal | None, expected: str) -> None:
    """A tenth of a cent per question is not nothing."""
    assert words.usd(value) == expected


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        pytest.param(1.133, "+13 %", id="more"),
        pytest.param(0.93, "\N{MINUS SIGN}7 %", id="less"),
        pytest.param(1.001, "0 %", id="the same"),
        pytest.param(0.999, "0 %", id="the same from below"),
        pytest.param(None, "\N{EN DASH}", id="held against nothing"),
    ],
)
def test_growth_is_what_comes_on_top(value: float | None, expected: str) -> None:
    """1.13 times the tokens are 13 % more."""
    assert words.growth(value) == expected


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        pytest.param(0.0, "0 %", id="none"),
        pytest.param(0.001, "under 1 %", id="nearly none"),
        pytest.param(0.934, "93 %", id="most"),
        pytest.param(0.999, "over 99 %", id="nearly all"),
        pytest.param(1.0, "100 %", id="all"),
    ],
)
def test_a_share_is_none_or_all_only_when_it_is(value: float, expected: str) -> None:
    """One question in a thousand is not nobody."""
    assert words.percent(value) == expected


@pytest.mark.parametrize(
    "values",
    [
        pytest.param([-0.053, 0.0, 0.061], id="both sides"),
        pytest.param([0.0, 0.0], id="nothing"),
        pytest.param([0.5, float("nan"), float("inf"), 0.7], id="no numbers"),
        pytest.param([-1e-7, 1e-6], id="tiny"),
        pytest.param([], id="empty"),
    ],
)
def test_an_axis_holds_its_values_between_round_marks(values: list[float]) -> None:
    """Nothing is drawn outside a plot."""
    axis = scale(values)

    finite = [value for value in values if abs(value) < 2]
    assert all(-1e-9 <= axis.at(value) <= 1 + 1e-9 for value in finite)
    assert 3 <= len(axis.marks) <= 9
    assert axis.marks[0] == pytest.approx(axis.low)
    assert axis.marks[-1] == pytest.approx(axis.high)


# ---------------------------------------------------------------- JSON


def written(**changes: Any) -> dict[str, Any]:
    """Give the JSON of a comparison, with some of its fields replaced."""
    record = json.loads(report.to_json(replace(comparison(), **changes)))
    assert isinstance(record, dict)
    return record


def test_json_says_everything_but_the_texts_of_entries() -> None:
    """They stand in the chunks files."""
    made = comparison()

    record = written()

    assert record["schema"] == 1
    assert record["verdicts"][0]["usd"] == "1.37"
    assert record["frontier"][0]["share"] == made.frontier[0].share
    assert record["shown"][0]["qid"] == "q0"
    index, covers = record["shown"][0]["hits"]["dense"]["none"][0]
    assert record["entries"][index] == {
        "entry_id": made.entries[index].entry_id,
        "doc_id": made.entries[index].doc_id,
    }
    assert covers in {0.0, 1.0}
    assert made.entries[0].text not in report.to_json(made).decode("utf-8")


def test_what_was_measured_with_a_clock_stands_apart() -> None:
    """Two runs differ there alone."""
    one = written(milliseconds={"bm25 / none": 1.0})
    other = written(milliseconds={"bm25 / none": 2.0})

    assert one.pop("measured") == {"milliseconds": {"bm25 / none": 1.0}}
    assert other.pop("measured") != {"milliseconds": {"bm25 / none": 1.0}}
    assert "milliseconds" not in one
    assert list(one) == list(other)
    assert one == other


def test_floats_are_rounded_where_machines_would_differ() -> None:
    """The last bits of a mean are those of a processor."""
    assert written(margin=0.1 + 0.2)["margin"] == 0.3


def test_what_is_no_number_is_null() -> None:
    """JSON has no infinity, and a reader of it should not need one."""
    (standing, *_) = comparison().standings
    assert standing.difference is not None
    endless = replace(standing.difference, detectable=float("inf"))

    record = written(standings=(replace(standing, difference=endless),))

    assert record["standings"][0]["difference"]["detectable"] is None


def test_half_a_character_does_not_stop_a_report() -> None:
    """JSON can say what UTF-8 cannot."""
    assert written(notes=("\ud800",))["notes"] == ["\ud800"]
    assert b"\\ud800" in report.page(replace(comparison(), corpus="\ud800"))
