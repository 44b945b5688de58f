"""Requests out to a file, replies in from one, and the cassettes between."""

from __future__ import annotations

import asyncio
import json
from typing import TYPE_CHECKING, Any

import pytest

from situate.enrichment.by_file import (
    export_requests,
    import_replies,
    record_replies,
)
from situate.enrichment.cache import Cache
from situate.enrichment.ledger import Entry, Ledger
from situate.enrichment.providers.replay import ReplayProvider
from situate.enrichment.providers.scripted import ScriptedProvider
from situate.errors import ConfigError, RecordError, RequestRejected, TransientError
from tests.enrichment.scenes import (
    PRICES,
    document,
    planned,
    play,
    texts,
)

if TYPE_CHECKING:
    from pathlib import Path

    from situate.enrichment.plan import DocumentPlan

SOURCE = document(*texts(5))
SENTENCES = [f"Renewed cover of grade {n} keeps its spending caps." for n in range(5)]


def _scripted() -> tuple[DocumentPlan, list[dict[str, Any]]]:
    """Give a plan and a good line for each of its requests."""
    plan = planned(SOURCE)
    lines = [
        {
            "custom_id": record["custom_id"],
            "reply": {"text": text, "stop": "end", "usage": {}, "model": "batch-model"},
        }
        for record, text in zip(
            export_requests([plan.requests]), SENTENCES, strict=True
        )
    ]
    return plan, lines


def _dumped(lines: list[dict[str, Any]]) -> list[str]:
    return [json.dumps(line) for line in lines]


def test_an_export_is_the_plan() -> None:
    """One record per request, with the body a live run would send."""
    plan = planned(SOURCE)

    records = list(export_requests([plan.requests]))

    assert [record["body"] for record in records] == [r.body for r in plan.requests]
    assert records[0]["chunk_ids"] == ["policy:part-0"]
    assert records[0]["document"] == plan.requests[0].rendered.document
    assert all(len(str(record["custom_id"])) <= 64 for record in records)
    assert json.loads(json.dumps(records)) == records


def test_an_export_leaves_out_what_is_equal() -> None:
    """Nothing is asked twice in a file either."""
    copy = planned(document(*texts(5), doc_id="copy"))

    records = list(export_requests([planned(SOURCE).requests, copy.requests]))

    assert len(records) == 5


def test_replies_are_matched_by_id_alone(tmp_path: Path) -> None:
    """Scene L28: reversed, one missing, one doubled, one errored."""
    plan, good = _scripted()
    lines = [*reversed(good[2:]), good[4], {**good[1], "reply": None, "error": "busy"}]
    lines.append({"custom_id": "someone-else", "reply": {}})

    with Cache(tmp_path / "cache") as cache:
        report = import_replies(
            [plan.requests],
            [*_dumped(lines), "no json", ""],
            provider=ScriptedProvider([]),
            cache=cache,
            corpus="handbook",
        )

    assert report.imported == 3
    assert report.missing == ("policy:part-0", "policy:part-1")
    assert report.doubled == (good[4]["custom_id"],)
    assert report.unknown == ("someone-else",)
    assert len(report.errored) == 2
    assert "policy:part-1" in report.errored[0]
    assert "busy" in report.errored[0]
    live = ScriptedProvider(lambda _: "Renewed cover of the others keeps its caps.")
    result = play(live, tmp_path, SOURCE)
    assert len(live.bodies) == 2
    assert result.outcomes[2:] == SENTENCES[2:]


def test_a_request_about_many_chunks_names_them_all() -> None:
    """One line asks for all of them, and its reply answers all."""
    plan = planned(SOURCE, view="marked")

    (record,) = export_requests([plan.requests])

    assert record["chunk_ids"] == [f"policy:part-{number}" for number in range(5)]


@pytest.mark.parametrize(
    ("line", "words"),
    [
        pytest.param({"reply": {"text": "x"}}, "no reply", id="half-a-reply"),
        pytest.param(
            {"reply": {"text": " ", "stop": "end", "usage": {}, "model": "m"}},
            "empty",
            id="empty",
        ),
        pytest.param(
            {"reply": {"text": "cut", "stop": "length", "usage": {}, "model": "m"}},
            "cut off",
            id="cut-off",
        ),
        pytest.param({"response": {"status_code": 429}}, "status 429", id="openai"),
        pytest.param({"result": {"type": "expired"}}, "'expired'", id="anthropic"),
        pytest.param({}, "no 'reply'", id="nothing"),
    ],
)
def test_a_line_without_a_usable_reply_is_named(
    tmp_path: Path, line: dict[str, Any], words: str
) -> None:
    """What a live run would not store, an import does not store."""
    plan, good = _scripted()
    bad = {"custom_id": good[0]["custom_id"], **line}

    with Cache(tmp_path) as cache:
        report = import_replies(
            [plan.requests],
            _dumped([bad]),
            provider=ScriptedProvider([]),
            cache=cache,
            corpus="handbook",
        )

    assert report.imported == 0
    assert words in report.errored[0]
    assert "line 1" in report.errored[0]


def test_what_a_line_says_is_named_without_secrets(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A result file may repeat what its system knew, at any length (E14)."""
    monkeypatch.setenv("ELSEWHERE_API_KEY", "s3cr3t-of-somebody-else")
    plan, good = _scripted()
    words = "x" * 150 + "s3cr3t-of-somebody-else" + "x" * 5000
    bad = {"custom_id": good[0]["custom_id"], "error": {"message": words}}

    with Cache(tmp_path) as cache:
        report = import_replies(
            [plan.requests],
            _dumped([bad]),
            provider=ScriptedProvider([]),
            cache=cache,
            corpus="handbook",
        )

    assert "s3cr3t" not in report.errored[0]
    assert len(report.errored[0]) < 300


@pytest.mark.parametrize("form", ["openai", "anthropic"])
def test_both_vendors_result_files_are_read_as_they_are(
    tmp_path: Path, form: str
) -> None:
    """The provider's own reply stands where each of them puts it."""
    plan, good = _scripted()
    wrapped = [
        {
            "custom_id": line["custom_id"],
            **(
                {"response": {"status_code": 200, "body": line["reply"]}, "error": None}
                if form == "openai"
                else {"result": {"type": "succeeded", "message": line["reply"]}}
            ),
        }
        for line in good
    ]

    with Cache(tmp_path) as cache:
        report = import_replies(
            [plan.requests],
            _dumped(wrapped),
            provider=ScriptedProvider([]),
            cache=cache,
            corpus="handbook",
        )

    assert report.imported == 5
    assert report.missing == ()


def _recorded(directory: Path, *, answers: list[str] | None = None) -> Path:
    """Write a cassette the way people do: export, answer, import."""
    cassette = directory / "demo.jsonl"
    directory.mkdir(exist_ok=True)
    cassette.touch()
    provider = ReplayProvider(cassette)
    plan = planned(SOURCE, provider=provider, model="priced-model")
    lines = [
        {"custom_id": record["custom_id"], "text": text, "model": "writing-model"}
        for record, text in zip(
            export_requests([plan.requests]), answers or SENTENCES, strict=False
        )
    ]
    report = record_replies(
        [plan.requests], _dumped(lines), provider=provider, cassette=cassette
    )
    assert report.imported == len(lines)
    return cassette


def test_a_cassette_answers_in_the_name_of_who_wrote_it(tmp_path: Path) -> None:
    """The model a run is priced for may change; the record says who answered."""
    cassette = _recorded(tmp_path / "cassettes")

    result = play(
        ReplayProvider(cassette),
        tmp_path,
        SOURCE,
        provider="replay",
        model="another-priced-model",
        prices=PRICES,
        ledger=tmp_path / "ledger",
    )

    assert result.outcomes == SENTENCES
    assert {c.enrichment.model for c in result.chunks} == {"writing-model"}
    assert result.summary.cost_usd == 0
    first = json.loads((tmp_path / "ledger").read_text().splitlines()[0])
    assert (first["source"], first["cost_usd"]) == ("replay", "0")


def test_a_request_that_was_not_recorded_falls_back(tmp_path: Path) -> None:
    """One letter of a prompt or document makes another request."""
    cassette = _recorded(tmp_path / "cassettes", answers=SENTENCES[:4])

    result = play(ReplayProvider(cassette), tmp_path, SOURCE, provider="replay")

    assert result.outcomes == [*SENTENCES[:4], "not_recorded"]


def test_a_request_that_was_not_recorded_says_how_to_record_it(tmp_path: Path) -> None:
    """The message names the request and the two commands."""
    cassette = _recorded(tmp_path)

    with pytest.raises(RequestRejected, match="situate batch export"):
        asyncio.run(ReplayProvider(cassette).send({"system": "unheard of"}))


def test_a_cassette_recorded_anew_is_not_hidden_by_the_cache(tmp_path: Path) -> None:
    """Its content is who answers."""
    cassette = _recorded(tmp_path / "cassettes")
    play(ReplayProvider(cassette), tmp_path, SOURCE, provider="replay")
    better = [text.replace("keeps", "retains") for text in SENTENCES]
    _recorded(tmp_path / "cassettes", answers=better)

    result = play(ReplayProvider(cassette), tmp_path, SOURCE, provider="replay")

    assert result.outcomes == better


def test_ids_of_an_export_outlive_a_partial_import(tmp_path: Path) -> None:
    """The rest of the same file can be imported later."""
    cassette = _recorded(tmp_path, answers=SENTENCES[:2])
    before = cassette.read_text()

    _recorded(tmp_path, answers=SENTENCES)

    lines = cassette.read_text().splitlines()
    assert len(lines) == 5
    assert lines[:2] == before.splitlines()


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("no json", "line 2 is no recorded reply"),
        ("[]", "no JSON object"),
        ('{"key": "k", "text": "x"}', "'text' and 'model'"),
        ('{"key": "k", "text": "x", "model": "m", "stop": "x"}', "'stop'"),
        ('{"key": "k", "text": "x", "model": "m", "usage": {"input": 1}}', "'usage'"),
        ('{"text": "x", "model": "m"}', "'key'"),
    ],
)
def test_a_broken_cassette_is_an_error_naming_file_and_line(
    tmp_path: Path, line: str, words: str
) -> None:
    """It is found when the provider is built, not in the middle of a run."""
    cassette = tmp_path / "broken.jsonl"
    cassette.write_text(f"\n{line}\n")

    with pytest.raises(RecordError, match=r"cassette 'broken.jsonl'") as error:
        ReplayProvider(tmp_path)
    assert words in str(error.value)


def test_two_cassettes_that_disagree_are_an_error(tmp_path: Path) -> None:
    """Which of two answers counts is nobody's guess."""
    for name, text in (("a", "One."), ("b", "Two.")):
        record = {"key": "k", "text": text, "model": "m"}
        (tmp_path / f"{name}.jsonl").write_text(json.dumps(record))

    with pytest.raises(RecordError, match="another reply to request k"):
        ReplayProvider(tmp_path)


def test_a_missing_cassette_is_an_error(tmp_path: Path) -> None:
    """A run never begins without what it replays."""
    with pytest.raises(ConfigError, match="cannot be read"):
        ReplayProvider(tmp_path / "none.jsonl")


def test_the_shipped_cassettes_load() -> None:
    """The demo's default needs no path."""
    assert ReplayProvider().endpoint.startswith("cassette:")


@pytest.mark.parametrize("raw", ["", "{}", "[]", '{"text": 1, "model": "m"}'])
def test_a_stored_reply_that_cannot_be_read_is_no_reply(
    tmp_path: Path, raw: str
) -> None:
    """Replies are validated on reading."""
    provider = ReplayProvider(_recorded(tmp_path))

    with pytest.raises(TransientError):
        provider.parse(raw)


def test_a_script_that_ends_too_soon_fails_the_test_that_wrote_it() -> None:
    """A missing answer is a mistake, never a retry."""
    provider = ScriptedProvider(["only one"])

    async def twice() -> None:
        await provider.send({"chunk": "a"})
        await provider.send({"chunk": "b"})

    with pytest.raises(AssertionError, match="no answer left for 'b'"):
        asyncio.run(twice())


def test_a_ledger_goes_on_after_a_half_written_line(tmp_path: Path) -> None:
    """A kill costs the line it hit and no other."""
    path = tmp_path / "notes" / "ledger.jsonl"
    path.parent.mkdir()
    path.write_text('{"whole": 1}\n{"half')
    entry = Entry(
        request="k", chunk_ids=("a",), view="full", provider="p", endpoint="e",
        model_asked="m", model_answered=None, attempts=1, outcome="unavailable",
        seconds=0.5, usage=None, cost_usd=None, source="wire",
    )  # fmt: skip

    with Ledger(path) as ledger:
        ledger.write(entry)

    lines = path.read_text().splitlines()
    assert lines[:2] == ['{"whole": 1}', '{"half']
    assert json.loads(lines[2])["outcome"] == "unavailable"
    assert json.loads(lines[2])["cost_usd"] is None


def test_a_ledger_that_cannot_be_opened_is_a_config_error(tmp_path: Path) -> None:
    """Said before anything is asked."""
    with pytest.raises(ConfigError, match=r"ledger .* cannot be written"):
        Ledger(tmp_path)
