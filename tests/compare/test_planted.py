"""`compare` on corpora where it is known what the model's sentences are worth."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from typer.testing import CliRunner

from situate.cli import app
from tests.compare.planted import Planted, plant

if TYPE_CHECKING:
    from pathlib import Path

RETRIEVERS = ("bm25", "dense")


def verdicts(planted: Planted) -> dict[str, dict[str, Any]]:
    """Compare, and give what was decided under each retriever."""
    result = CliRunner().invoke(app, [*planted.arguments, "--json"])
    assert result.exit_code == 0, result.output
    comparison = json.loads(result.stdout)
    assert [arm["statements"] for arm in comparison["arms"]] == [0, 180]
    return {verdict["retriever"]: verdict for verdict in comparison["verdicts"]}


def test_sentences_that_say_what_the_text_leaves_open_are_kept(tmp_path: Path) -> None:
    """Two thirds of the questions have no other way to their answer."""
    found = verdicts(plant(tmp_path, "wins"))

    assert found.keys() == set(RETRIEVERS)
    for verdict in found.values():
        assert verdict["choice"] == "keep"
        assert (verdict["arm"], verdict["against"]) == (
            "breadcrumb+statement:findable-v1:both",
            "breadcrumb",
        )
        assert verdict["difference"]["low"] > 0.6
        assert verdict["recovered"] >= 120
    assert found["bm25"]["difference"]["won"] == found["bm25"]["recovered"] == 120


def test_sentences_that_speak_of_something_else_are_skipped(tmp_path: Path) -> None:
    """They bring a wrong section in front of two answers of three."""
    found = verdicts(plant(tmp_path, "loses"))

    for retriever in RETRIEVERS:
        verdict = found[retriever]
        assert verdict["choice"] == "skip"
        assert verdict["difference"]["high"] < -0.5
        assert "worse than breadcrumb" in verdict["reason"]
        assert verdict["usd_per_recovered"] is None
    assert found["bm25"]["difference"]["lost"] == -found["bm25"]["recovered"] == 120


def test_sentences_that_say_nothing_are_skipped_as_equivalent(tmp_path: Path) -> None:
    """Enough questions show that any difference is below what is worth paying for."""
    found = verdicts(plant(tmp_path, "ties"))

    for retriever in RETRIEVERS:
        verdict = found[retriever]
        assert verdict["choice"] == "skip"
        assert -0.02 < verdict["difference"]["low"] < 0
        assert 0 < verdict["difference"]["high"] < 0.02
        assert "no difference shown, and any is less than" in verdict["reason"]


def test_a_real_gain_on_four_questions_leaves_it_undecided(tmp_path: Path) -> None:
    """All four are won, and the reader is told how many more it takes."""
    found = verdicts(plant(tmp_path, "wins", asked=4))

    for retriever in RETRIEVERS:
        verdict = found[retriever]
        assert verdict["choice"] == "undecided"
        assert (verdict["difference"]["mean"], verdict["difference"]["won"]) == (1, 4)
        assert "more for one of" in verdict["reason"]


def test_drafted_questions_alone_earn_no_keep(tmp_path: Path) -> None:
    """What would be kept on questions of a person is left undecided, and says why."""
    found = verdicts(plant(tmp_path, "wins", drafted=True))

    for retriever in RETRIEVERS:
        verdict = found[retriever]
        assert verdict["choice"] == "undecided"
        assert verdict["difference"]["low"] > 0.6
        assert "all questions are drafted" in verdict["reason"]
