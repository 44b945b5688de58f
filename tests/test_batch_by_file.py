"""`batch export` and `import` beside a cache: what is asked, and what is found."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest
from typer.testing import CliRunner

from situate.cli import app
from situate.pipeline import by_file
from tests.support.batch_corpora import SECTIONS, BatchCorpus
from tests.support.batches import asked_numbers, batching, reply_to
from tests.support.corpora import Heard

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from situate.enrichment.by_file import ImportReport

COUNT = 2 * SECTIONS

ADDED = """

## Added later

Some words of an editor. More words of an editor follow here, and they are enough to
be a chunk of its own, says the editor, who writes on and on.
"""


@pytest.fixture
def desk(tmp_path: Path) -> Iterator[BatchCorpus]:
    """Write a corpus of marked documents."""
    with batching("openai") as vendor:
        yield BatchCorpus.of(tmp_path, vendor, view="marked")


def exported(desk: BatchCorpus) -> list[dict[str, Any]]:
    """Write the requests to a file and read it."""
    path = desk.corpus.folder / "requests.jsonl"
    by_file.export(desk.config, path, Heard())
    return [json.loads(line) for line in path.read_text("utf-8").splitlines()]


def imported(
    desk: BatchCorpus, records: list[dict[str, Any]], *, without: int | None = None
) -> ImportReport:
    """Answer requests, but not for one marker, and take the replies in."""
    lines = []
    for record in records:
        sentences = json.loads(reply_to(record["custom_id"], record["body"]))
        sentences.pop(str(without), None)
        message = {"role": "assistant", "content": json.dumps(sentences)}
        body = {
            "id": "x",
            "object": "chat.completion",
            "model": "local-model",
            "choices": [{"index": 0, "finish_reason": "stop", "message": message}],
            "usage": {"prompt_tokens": 100, "completion_tokens": 10},
        }
        lines.append(json.dumps({"custom_id": record["custom_id"], "reply": body}))
    path = desk.corpus.folder / "replies.jsonl"
    path.write_text("\n".join(lines), "utf-8")
    return by_file.take_in(desk.config, path, Heard())


def test_an_export_asks_about_chunks_without_an_answer_alone(desk: BatchCorpus) -> None:
    """A group that has grown by one is asked about that one (E4)."""
    imported(desk, exported(desk))
    desk.append("0.md", ADDED)

    (record,) = exported(desk)

    assert record["chunk_ids"] == ["0.md:agreement-0/added-later"]
    assert asked_numbers(record["body"]) == [SECTIONS + 1]


def test_an_export_leaves_out_what_a_vendor_is_working_on(desk: BatchCorpus) -> None:
    """It would be paid for twice."""
    desk.submit()

    assert exported(desk) == []


def test_an_export_asks_about_what_a_batch_did_not_answer(desk: BatchCorpus) -> None:
    """A file is as good as a live run."""
    desk.submit()
    lost, _ = desk.vendor.taken_in
    desk.vendor.end_all({lost: "errored"})
    desk.collect()

    assert [record["custom_id"] for record in exported(desk)] == [lost]


def test_what_was_imported_is_found_by_its_chunks(desk: BatchCorpus) -> None:
    """After an edit as well: nobody is asked about the rest."""
    imported(desk, exported(desk))
    desk.append("0.md", ADDED)
    desk.vendor.live = lambda body: reply_to("live", body)

    result = desk.corpus.run()

    assert result.spent is not None
    assert (result.spent.requests, result.spent.cache_hits) == (1, COUNT)
    assert desk.outcomes == {"statement": COUNT + 1}


def test_a_chunk_whose_marker_is_missing_is_missing(desk: BatchCorpus) -> None:
    """It is named, and the next export asks about it."""
    report = imported(desk, exported(desk), without=2)
    again = exported(desk)

    assert report.imported == 2
    assert len(report.missing) == 2
    assert [asked_numbers(record["body"]) for record in again] == [[2], [2]]


def test_a_file_may_be_older_than_answers_to_a_part_of_it(desk: BatchCorpus) -> None:
    """Ids of the whole group are known, and those of what was left of it."""
    whole = exported(desk)
    imported(desk, whole, without=2)
    rest = exported(desk)

    report = imported(desk, [*rest, *whole])

    assert (report.unknown, report.missing) == ((), ())
    assert report.imported == 4


@pytest.mark.parametrize("answered", [False, True], ids=["open", "answered"])
def test_a_file_about_other_requests_is_refused(
    desk: BatchCorpus, *, answered: bool
) -> None:
    """Somebody took the wrong file, or the documents have changed since."""
    if answered:
        imported(desk, exported(desk))
    file = desk.corpus.folder / "replies.jsonl"
    lines = [{"custom_id": name, "reply": {}} for name in ("other-1", "other-2")]
    file.write_text("".join(f"{json.dumps(line)}\n" for line in lines), "utf-8")

    told = CliRunner().invoke(
        app, ["batch", "import", str(desk.corpus.config), str(file)]
    )

    assert told.exit_code == 2
    assert "its first custom_id is 'other-1'" in told.stderr
