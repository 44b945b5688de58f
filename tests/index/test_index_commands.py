"""`sync`, `ack`, `verify` and `revert` as a nightly script uses them."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest
from typer.testing import CliRunner

from situate.cli import app
from situate.output import held
from tests.support.corpora import LEAVE, Corpus, handbook
from tests.support.stores import Store, built, config_of

if TYPE_CHECKING:
    from pathlib import Path

    from typer.testing import Result

FREE = {"output": {"max_delete_share": 1}, "chunking": {"min_tokens": 0}}


def situate(*arguments: str | Path) -> Result:
    """Run a command."""
    return CliRunner().invoke(app, [str(argument) for argument in arguments])


@pytest.fixture
def corpus(tmp_path: Path) -> Corpus:
    """Two documents whose chunks may all be deleted."""
    return handbook(tmp_path, **FREE)


def delta(corpus: Corpus, run: str) -> Path:
    """Give the folder of a delta."""
    return config_of(corpus).output.deltas / run


def test_a_night_takes_three_commands(corpus: Corpus) -> None:
    """The name of the delta is all that goes to stdout."""
    store = Store()

    synced = situate("sync", corpus.config)
    run = synced.stdout.strip()
    store.take_in(delta(corpus, run))
    acknowledged = situate("ack", run, "--config", corpus.config)
    again = situate("sync", corpus.config)

    assert synced.exit_code == acknowledged.exit_code == again.exit_code == 0
    assert store.records == built(corpus)
    assert "5 upserts, 0 metadata updates, 0 deletes" in synced.stderr
    assert again.stdout == ""
    assert "nothing to do" in again.stderr


def test_json_says_what_became_of_documents(corpus: Corpus) -> None:
    """For whoever watches over nights."""
    said = json.loads(situate("sync", corpus.config, "--json").stdout)

    assert said["documents"] == {"leave.md": "ok", "travel/abroad.md": "ok"}
    assert said["folder"] == str(delta(corpus, said["run"]))
    assert (said["upserts"], said["exit_code"]) == (5, 0)


def test_what_was_withheld_ends_with_3_and_can_be_allowed(corpus: Corpus) -> None:
    """By the number that was named."""
    situate(
        "ack", situate("sync", corpus.config).stdout.strip(), "--config", corpus.config
    )
    corpus.configure(chunking={"min_tokens": 0})
    (corpus.folder / "docs" / "leave.md").unlink()

    withheld = situate("sync", corpus.config)
    allowed = situate("sync", corpus.config, "--allow-deletes", "3")

    assert withheld.exit_code == 3
    assert "3 of 5 chunks would be deleted" in withheld.stderr
    assert "3 deletions wait: leave.md:leave, leave.md:leave/days" in withheld.stderr
    assert allowed.exit_code == 0
    assert "3 deletes" in allowed.stderr


def test_deletions_that_wait_are_named(corpus: Corpus) -> None:
    """All of them to programs, the first to people; also where there is no delta."""
    for number in range(4):
        corpus.document(f"more/{number}.md", LEAVE)
    situate(
        "ack", situate("sync", corpus.config).stdout.strip(), "--config", corpus.config
    )
    corpus.configure(chunking={"min_tokens": 0})
    for number in range(1, 4):
        (corpus.folder / "docs" / "more" / f"{number}.md").unlink()

    told = situate("sync", corpus.config)
    said = json.loads(situate("sync", corpus.config, "--json").stdout)

    assert told.stdout == ""
    assert "9 deletions wait: more/1.md:leave, " in told.stderr
    assert "more/2.md:leave/days and 4 more\n" in told.stderr
    assert (said["run"], said["withheld"]) == (None, 9)
    assert len(said["withheld_ids"]) == 9
    assert said["reasons"]


def test_an_acknowledgement_is_told_to_programs(corpus: Corpus) -> None:
    """With whether it was news."""
    run = situate("sync", corpus.config).stdout.strip()

    first, again = (
        situate("ack", run, "--config", corpus.config, "--json") for _ in range(2)
    )

    told = {"corpus": "handbook", "run": run}
    assert json.loads(first.stdout) == {**told, "advanced": True}
    assert json.loads(again.stdout) == {**told, "advanced": False}
    assert "already acknowledged" in again.stderr


def test_verify_names_the_delta_that_is_only_to_be_acknowledged(
    corpus: Corpus,
) -> None:
    """As it names a repair, so that a script does the same with it."""
    store = Store()
    run = situate("sync", corpus.config).stdout.strip()
    store.take_in(delta(corpus, run))
    ids = store.ids(corpus.folder / "ids.jsonl")
    plain = corpus.folder / "plain.txt"
    plain.write_text("\n".join(store.records), "utf-8")

    surely = situate("verify", "--against", ids, "--config", corpus.config)
    by_ids = situate("verify", "--against", plain, "--config", corpus.config)
    said = json.loads(
        situate("verify", "--against", ids, "--config", corpus.config, "--json").stdout
    )

    assert surely.exit_code == by_ids.exit_code == 0
    assert surely.stdout == by_ids.stdout == f"{run}\n"
    assert f"has all of {run}, which waits: acknowledge it" in surely.stderr
    assert (said["run"], said["agrees"]) == (run, "surely")


def test_verify_and_revert_write_deltas_as_sync_does(corpus: Corpus) -> None:
    """Their names go to stdout."""
    first = situate("sync", corpus.config).stdout.strip()
    situate("ack", first, "--config", corpus.config)
    ids = corpus.folder / "ids.txt"
    ids.write_text("leave.md:leave\nother.md:other\n", "utf-8")

    verified = situate("verify", "--against", ids, "--config", corpus.config)
    reverted = situate("revert", first, "--config", corpus.config)

    assert verified.exit_code == reverted.exit_code == 0
    assert "4 chunks are missing: leave.md:leave/days" in verified.stderr
    assert "1 chunk is foreign: other.md:other" in verified.stderr
    assert "4 upserts, 0 metadata updates, 0 deletes" in verified.stderr
    assert "0 upserts, 0 metadata updates, 5 deletes" in reverted.stderr
    assert delta(corpus, reverted.stdout.strip()).is_dir()


def test_a_run_that_nobody_knows_is_a_usage_error(corpus: Corpus) -> None:
    """The message names what can be acknowledged or reverted."""
    run = situate("sync", corpus.config).stdout.strip()

    unknown = situate("ack", "0123456789abcdef", "--config", corpus.config)
    forgotten = situate("revert", "0123456789abcdef", "--config", corpus.config)

    assert unknown.exit_code == forgotten.exit_code == 2
    assert run in unknown.stderr
    assert f"those that can: {run}" in forgotten.stderr


def test_another_writer_ends_them_with_4(corpus: Corpus) -> None:
    """Whichever of them comes second."""
    with held(config_of(corpus).output.path):
        codes = [
            situate("sync", corpus.config).exit_code,
            situate("ack", "0" * 16, "--config", corpus.config).exit_code,
        ]

    assert codes == [4, 4]


def test_documents_that_cannot_be_read_at_all_end_with_1(corpus: Corpus) -> None:
    """Nothing is written."""
    for name in ("leave.md", "travel/abroad.md"):
        corpus.document(name, b"\x00\x01\x02" * 1000)

    assert situate("sync", corpus.config).exit_code == 1
    assert not config_of(corpus).output.deltas.exists()


def test_a_state_that_is_broken_is_named(corpus: Corpus) -> None:
    """It is not taken for an empty one, which would send or delete everything."""
    situate(
        "ack", situate("sync", corpus.config).stdout.strip(), "--config", corpus.config
    )
    (state,) = config_of(corpus).output.index.glob("states/*.jsonl")
    state.write_bytes(state.read_bytes()[:-20])
    corpus.document("new.md", LEAVE)

    result = situate("sync", corpus.config)

    assert result.exit_code == 2
    assert str(state) in result.stderr
