"""Batch commands as they are typed: what they say, and how they end."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING

import pytest
from typer.testing import CliRunner

from situate.cli import app
from situate.enrichment.batches import Tickets, tickets_folder
from tests.support.batch_corpora import SECTIONS, BatchCorpus
from tests.support.batches import batching

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from typer.testing import Result

COUNT = 2 * SECTIONS


@pytest.fixture
def desk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[BatchCorpus]:
    """Write a corpus that asks OpenAI."""
    with batching("openai") as vendor:
        yield BatchCorpus.of(tmp_path, vendor)


def batch(desk: BatchCorpus, name: str, *arguments: str) -> Result:
    """Run a command."""
    typed = ["batch", name, str(desk.corpus.config), *arguments]
    return CliRunner().invoke(app, typed)


def test_a_batch_is_followed_from_hand_in_to_answers(desk: BatchCorpus) -> None:
    """Exit code 3 while something is open, 0 when nothing is."""
    handed_in = batch(desk, "submit")
    standing = batch(desk, "status")
    early = batch(desk, "collect")
    desk.vendor.end_all()
    late = batch(desk, "collect")
    over = batch(desk, "status")

    codes = [r.exit_code for r in (handed_in, standing, early, late, over)]
    assert codes == [0, 3, 3, 0, 0]
    assert f"{COUNT} requests for a batch" in handed_in.stderr
    assert handed_in.stdout == ""
    (ticket,) = desk.tickets
    head, row = standing.stdout.splitlines()
    assert head.split()[:3] == ["ticket", "state", "batch"]
    assert row.split()[:3] == [ticket.ticket, "submitted", "batch_0"]
    assert "in_progress" in row
    assert f"{COUNT} are still worked on" in early.stderr
    assert f"{COUNT} answers taken in" in late.stderr


def test_machines_get_json(desk: BatchCorpus) -> None:
    """Tickets come without the keys of their requests."""
    handed_in = json.loads(batch(desk, "submit", "--json").stdout)
    (standing,) = json.loads(batch(desk, "status", "--json").stdout)
    report = json.loads(batch(desk, "collect", "--json").stdout)

    (ticket,) = desk.tickets
    assert handed_in["offer"]["requests"] == COUNT
    assert handed_in["tickets"][0]["ticket"] == ticket.ticket
    assert "custom_ids" not in handed_in["tickets"][0]
    assert standing["state"] == "submitted"
    assert (standing["vendor"], standing["done"]) == ("in_progress", 0)
    assert (report["pending"], report["answered"]) == (COUNT, 0)


def test_requests_without_an_answer_end_in_3(desk: BatchCorpus) -> None:
    """A live run asks them, and it is said so."""
    batch(desk, "submit")
    desk.vendor.end_all({next(iter(desk.vendor.taken_in)): "errored"})

    result = batch(desk, "collect")

    assert result.exit_code == 3
    assert "1 chunks got no answer; `situate run` asks about them" in result.stderr


def test_a_named_batch_is_cancelled(desk: BatchCorpus) -> None:
    """An unknown name is a mistake."""
    batch(desk, "submit")
    (ticket,) = desk.tickets

    wrong = batch(desk, "cancel", "other")
    right = batch(desk, "cancel", ticket.ticket)

    assert wrong.exit_code == 2
    assert f"open ones: {ticket.ticket}" in wrong.stderr
    assert right.exit_code == 3
    assert desk.vendor.batches["batch_0"].status == "cancelling"


@pytest.mark.parametrize(
    "said", [[], ["--lost", "--batch", "batch_0"]], ids=["nothing", "both"]
)
def test_resolving_wants_one_answer(desk: BatchCorpus, said: list[str]) -> None:
    """A batch runs or it does not."""
    batch(desk, "submit")
    (ticket,) = desk.tickets

    result = batch(desk, "resolve", ticket.ticket, *said)

    assert result.exit_code == 2
    assert desk.states == ["submitted"]


def test_a_lost_batch_is_given_up_by_hand(desk: BatchCorpus) -> None:
    """After that its requests are submitted again."""
    batch(desk, "submit")
    (ticket,) = desk.tickets

    result = batch(desk, "resolve", ticket.ticket, "--lost")

    assert result.exit_code == 0
    assert f"ticket {ticket.ticket} is failed" in result.stderr
    assert desk.states == ["failed"]


@pytest.mark.parametrize("name", ["submit", "collect", "cancel"])
def test_a_second_command_is_told_to_wait(desk: BatchCorpus, name: str) -> None:
    """Exit code 4, as for two runs over one output."""
    with Tickets(tickets_folder(desk.cache_directory)).locked():
        result = batch(desk, name)

    assert result.exit_code == 4


@pytest.mark.parametrize("name", ["submit", "status", "collect", "cancel"])
def test_recorded_replies_have_no_batch_system(tmp_path: Path, name: str) -> None:
    """Nothing is ever asked under replay."""
    with batching("openai") as vendor:
        desk = BatchCorpus.of(tmp_path, vendor)
        replies = tmp_path / "replies.jsonl"
        replies.touch()
        enrichment = {
            "enabled": True,
            "provider": "replay",
            "model": "m",
            "prompt": "findable-v1",
            "replay": str(replies),
        }
        desk.corpus.configure(enrichment=enrichment)

        result = batch(desk, name)

    assert result.exit_code == 2
    assert "provider 'replay' has no batch system" in result.stderr


@pytest.mark.parametrize("name", ["submit", "status", "collect", "cancel", "resolve"])
def test_help_is_written_for_people(name: str) -> None:
    """Every command and option has a sentence."""
    result = CliRunner().invoke(app, ["batch", name, "--help"])

    assert result.exit_code == 0
    assert re.search(r"\n  [A-Z][^\n]+[.,;\w]\n", result.output)
    for line in result.output.splitlines():
        if re.match(r"  (-|[A-Z_]+ )", line):
            assert re.search(r"  [A-Z]\w.*[.\]]|\w+, ", line), line
