"""Commands that are killed at every step between a ticket and its answers.

The process is a real one, and killed as the kernel would: nothing in it tidies up.
The server decides when: it hears of each step, and counts what it took in.
"""

from __future__ import annotations

import multiprocessing
import os
import random
import signal
from multiprocessing.connection import wait
from typing import TYPE_CHECKING

import pytest

from situate.pipeline import batches
from tests.support.agreements import agreement
from tests.support.batch_corpora import SECTIONS, BatchCorpus
from tests.support.batch_processes import Command, command
from tests.support.batches import Fault, VendorName, batching
from tests.support.corpora import Heard

if TYPE_CHECKING:
    from pathlib import Path


SEED = 17

COUNT = 2 * SECTIONS

_LONGEST_SECONDS = 60

# Children are forked from a process without threads that has loaded everything.
_PROCESSES = multiprocessing.get_context("forkserver")
_PROCESSES.set_forkserver_preload(["tests.support.batch_processes"])


def killed(desk: BatchCorpus, name: Command, *, step: str) -> None:
    """Run a command and kill it when the server hears of a step."""
    process = _PROCESSES.Process(target=command, args=(name, desk.corpus.config))

    def kill(heard: str) -> None:
        if heard == step and process.pid is not None:
            desk.vendor.heard = lambda _: None
            os.kill(process.pid, signal.SIGKILL)
            # Dead before the server goes on; whoever started it takes the code.
            wait([process.sentinel], _LONGEST_SECONDS)

    desk.vendor.heard = kill
    process.start()
    process.join(_LONGEST_SECONDS)
    assert process.exitcode == -signal.SIGKILL, f"{step!r} was never reached"


def killed_somewhere(desk: BatchCorpus, chance: random.Random) -> None:
    """Run a command and kill it at a step drawn from a seed, if it gets there."""
    name: Command = chance.choice(["submit", "collect"])
    process = _PROCESSES.Process(target=command, args=(name, desk.corpus.config))
    steps_left = chance.randrange(1, 5)

    def kill(_: str) -> None:
        nonlocal steps_left
        steps_left -= 1
        if not steps_left and process.pid is not None:
            os.kill(process.pid, signal.SIGKILL)
            wait([process.sentinel], _LONGEST_SECONDS)

    desk.vendor.heard = kill
    process.start()
    process.join(_LONGEST_SECONDS)
    desk.vendor.heard = lambda _: None


def resume(desk: BatchCorpus) -> None:
    """Do what a scheduler does night after night, until nothing is left to do."""
    for _ in range(4):
        report = batches.collect(desk.config, Heard())
        desk.wait_until_settled()
        done = batches.submit(desk.config, Heard())
        desk.vendor.end_all()
        if report.is_complete and not done.offer.requests + done.offer.pending:
            break


def assert_all_is_well(desk: BatchCorpus) -> None:
    """Insist that everything was asked once, and is answered."""
    taken_in = desk.vendor.taken_in
    assert set(taken_in.values()) == {1}, "a request was submitted twice"
    assert not [each for each in desk.tickets if each.is_open], "a ticket is orphaned"
    assert desk.answered(*taken_in) == set(taken_in)


SUBMITTING = [
    pytest.param("anthropic", "list", None, id="anthropic before the ticket"),
    pytest.param("anthropic", "create", 500, id="anthropic before it is taken in"),
    pytest.param("anthropic", "created", None, id="anthropic after it is taken in"),
    pytest.param("openai", "upload", None, id="openai during the upload"),
    pytest.param("openai", "create", 500, id="openai before it is taken in"),
    pytest.param("openai", "created", None, id="openai after it is taken in"),
]


@pytest.mark.parametrize(("name", "step", "refused"), SUBMITTING)
def test_a_hand_in_that_is_killed_is_neither_lost_nor_repeated(
    tmp_path: Path, name: VendorName, step: str, refused: int | None
) -> None:
    """Whether the vendor has it shows in its list, and later in its results."""
    with batching(name) as vendor:
        desk = BatchCorpus.of(tmp_path, vendor)
        if refused is not None:
            vendor.faults = [Fault(step=step, status=refused)]

        killed(desk, "submit", step=step)
        # The lock went with the process that held it.
        batches.submit(desk.config, Heard())
        assert len(vendor.batches) <= 1, "sent again before anything was certain"
        resume(desk)

        assert len(vendor.taken_in) == COUNT
        assert_all_is_well(desk)


@pytest.mark.parametrize(
    ("name", "step"),
    [
        ("openai", "poll"),
        ("anthropic", "results"),
        ("anthropic", "half of the results"),
        ("openai", "half of the results"),
    ],
)
def test_a_collection_that_is_killed_is_done_again(
    tmp_path: Path, name: VendorName, step: str
) -> None:
    """Answers that were stored are stored again, and nothing else happens."""
    with batching(name) as vendor:
        desk = BatchCorpus.of(tmp_path, vendor)
        batches.submit(desk.config, Heard())
        vendor.end_all()

        killed(desk, "collect", step=step)
        held = [ticket.state for ticket in desk.tickets]
        resume(desk)

        assert held == ["submitted"]
        assert len(vendor.taken_in) == COUNT
        assert_all_is_well(desk)


def test_two_kills_in_a_row_are_no_more_than_one(tmp_path: Path) -> None:
    """The second finds the ticket of the first."""
    with batching("anthropic") as vendor:
        desk = BatchCorpus.of(tmp_path, vendor)

        killed(desk, "submit", step="created")
        killed(desk, "submit", step="list")
        vendor.end_all()
        killed(desk, "collect", step="results")
        resume(desk)

        assert len(vendor.taken_in) == COUNT
        assert_all_is_well(desk)


@pytest.mark.parametrize("name", ["anthropic", "openai"])
def test_kills_at_any_step_lose_and_repeat_nothing(
    tmp_path: Path, name: VendorName, request: pytest.FixtureRequest
) -> None:
    """Nights of kills, slow batches and failing hand-ins end as a quiet one does.

    `pytest --kills 50` is the campaign.
    """
    chance = random.Random(SEED)  # noqa: S311 - draws moments, not secrets
    with batching(name) as vendor:
        desk = BatchCorpus.of(tmp_path, vendor)
        for number in range(int(request.config.getoption("--kills"))):
            desk.corpus.document(f"new-{number}.md", agreement(100 + number, 2))
            if chance.random() < 0.3:
                taken_in = chance.random() < 0.5
                vendor.faults = [Fault(step="create", status=500, taken_in=taken_in)]
            killed_somewhere(desk, chance)
            vendor.faults = []
            if chance.random() < 0.5:
                vendor.end_all()
            if chance.random() < 0.5:
                desk.wait_until_settled()
            assert max(vendor.taken_in.values(), default=1) == 1
        resume(desk)

        assert len(vendor.taken_in) == COUNT + 2 * (number + 1)
        assert_all_is_well(desk)
