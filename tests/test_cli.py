"""Commands: data to stdout, messages to stderr, JSON where it is asked for."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING

import pytest
from typer.testing import CliRunner

from situate.cli import app
from tests.support.chat import chatting
from tests.support.corpora import LEAVE, TRAVEL, Corpus, asking, handbook

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from typer.testing import Result

    from tests.support.chat import Chat


def situate(*arguments: str | Path) -> Result:
    """Run a command."""
    return CliRunner().invoke(app, [str(argument) for argument in arguments])


@pytest.fixture
def chat() -> Iterator[Chat]:
    """Serve a chat model that answers every question."""
    with chatting() as server:
        yield server


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Work in an empty folder."""
    monkeypatch.chdir(tmp_path)
    return tmp_path


COMMANDS = [
    *("run", "chunk", "plan", "check", "show", "inspect", "diff", "compare"),
    *("survey", "why"),
    "queries make",
    *("batch export", "batch import", "batch submit", "batch status"),
    *("batch collect", "batch cancel", "batch resolve"),
    *("cache stats", "cache verify", "cache export", "cache import", "cache prune"),
]


@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_and_option_has_a_sentence(command: str) -> None:
    """Help is written for people who have never seen the command."""
    result = situate(*command.split(), "--help")

    assert result.exit_code == 0
    assert re.search(r"\n  [A-Z][^\n]+[.,;\w]\n", result.output)
    for line in result.output.splitlines():
        if re.match(r"  (-|[A-Z_]+ )", line):
            assert re.search(r"  [A-Z]\w.*[.\]]|\w+, ", line), line


def test_the_version_is_told() -> None:
    """As it stands in manifests."""
    result = situate("--version")

    assert re.fullmatch(r"situate \d+\.\d+\.\d+\n", result.stdout)


# ---------------------------------------------------------------- chunk


def test_chunk_writes_json_lines(here: Path) -> None:
    """One record a line, in reading order, the path as id."""
    (here / "docs").mkdir()
    (here / "docs" / "leave.md").write_text(LEAVE, "utf-8")

    result = situate("chunk", "docs/leave.md", "--max-tokens", "64")

    records = [json.loads(line) for line in result.stdout.splitlines()]
    assert result.exit_code == 0
    assert result.stderr == ""
    assert len(records) > 1
    assert {record["doc_id"] for record in records} == {"docs/leave.md"}
    assert [record["metadata"]["ordinal"] for record in records] == list(
        range(len(records))
    )


def test_an_absolute_path_gives_its_name_as_id(here: Path) -> None:
    """Ids are the same on every machine."""
    (here / "leave.md").write_text(LEAVE, "utf-8")

    result = situate("chunk", here / "leave.md")

    assert json.loads(result.stdout.splitlines()[0])["doc_id"] == "leave.md"


def test_chunk_can_give_parents_and_blocks(here: Path) -> None:
    """What it wrote holds to the contract."""
    (here / "leave.md").write_text(LEAVE, "utf-8")

    result = situate(
        "chunk",
        "leave.md",
        *("--granularity", "tree"),
        *("--max-tokens", "64"),
        *("--min-tokens", "0"),
        *("--blocks", "leave.blocks.jsonl"),
    )
    (here / "leave.jsonl").write_bytes(result.stdout_bytes)
    checked = situate(
        "check", "leave.jsonl", "--source", "leave.md", "--max-tokens", "64"
    )

    assert '"level":"document"' in result.stdout
    assert checked.exit_code == 0
    assert checked.stdout.startswith("leave.md: 100.00 % of ")
    assert "all rules hold" in checked.stderr
    assert "not checked" not in checked.stderr


def test_sizes_may_come_from_the_environment(
    here: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A flag wins over it."""
    (here / "leave.md").write_text(LEAVE, "utf-8")
    monkeypatch.setenv("SITUATE_CHUNKING_MAX_TOKENS", "32")

    smaller = situate("chunk", "leave.md")
    flagged = situate("chunk", "leave.md", "--max-tokens", "512")

    assert smaller.stdout.count("\n") > flagged.stdout.count("\n")


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        pytest.param(["bad.md"], "bad.md: found a PDF", id="bad input"),
        pytest.param(["none.md"], "none.md: cannot be read: No such", id="missing"),
        pytest.param(
            ["."], "it is a folder, a device or a pipe; name a file", id="folder"
        ),
        pytest.param(["leave.xyz"], "there is no reader for '.xyz'", id="format"),
        pytest.param(["leave.md", "bad.md"], "bad.md: found a PDF", id="second"),
        pytest.param(["leave.md", "leave.md"], "both have doc_id", id="twice"),
        pytest.param(
            ["leave.md", "--max-tokens", "8"],
            "--max-tokens: chunking.max_tokens is 8; allowed: a whole number from 32",
            id="too small",
        ),
        pytest.param(
            ["leave.md", "--granularity", "twig"],
            "--granularity: chunking.granularity is 'twig'; allowed: 'leaves' or",
            id="granularity",
        ),
        pytest.param(
            ["leave.md", "--min-tokens", "900"],
            "chunking.min_tokens is 900, above chunking.max_tokens",
            id="contradiction",
        ),
    ],
)
def test_bad_input_is_one_clear_line_and_no_chunks(
    here: Path, arguments: list[str], expected: str
) -> None:
    """Nothing is written unless every file can be read."""
    (here / "leave.md").write_text(LEAVE, "utf-8")
    (here / "leave.xyz").write_text(LEAVE, "utf-8")
    (here / "bad.md").write_bytes(b"%PDF-1.7 ...")

    result = situate("chunk", *arguments)

    assert result.exit_code == 2
    assert result.stdout == ""
    assert result.stderr.startswith("situate: ")
    assert result.stderr.count("\n") == 1
    assert expected in result.stderr


def test_a_message_cannot_steer_the_terminal(here: Path) -> None:
    """File names may hold anything."""
    result = situate("chunk", "\x1b[31mred\x07.md")

    assert "situate: ?[31mred?.md: cannot be read" in result.stderr


# ---------------------------------------------------------------- run and plan


def test_run_tells_what_it_wrote(tmp_path: Path) -> None:
    """On stderr: stdout is for data."""
    corpus = handbook(tmp_path)

    result = situate("run", corpus.config)

    assert result.exit_code == 0
    assert result.stdout == ""
    assert "handbook: 2 documents, " in result.stderr
    assert str(corpus.chunks) in result.stderr


def test_run_can_tell_it_as_json(tmp_path: Path, chat: Chat) -> None:
    """And nothing but JSON is on stdout."""
    corpus = handbook(tmp_path, enrichment=asking(chat.address))

    result = situate("run", corpus.config, "--json")

    (told,) = json.loads(result.stdout)
    assert (told["corpus"], told["exit_code"], told["reason"]) == ("handbook", 0, None)
    assert told["counts"]["statements"] == len(chat.bodies)
    assert told["spent"]["requests"] == told["forecast"]["estimate"]["requests"]


def test_run_prints_the_estimate_first(tmp_path: Path, chat: Chat) -> None:
    """What it will cost stands above what it did."""
    corpus = handbook(tmp_path, enrichment=asking(chat.address))

    result = situate("run", corpus.config)

    lines = result.stderr.splitlines()
    requests = [line for line in lines if line.startswith("  requests")]
    assert requests == [
        f"  requests   {len(chat.bodies)} for {len(chat.bodies)} chunks, 0 answered "
        "already",
        f"  requests   {len(chat.bodies)}, 0 answers from the cache",
    ]
    (repairs,) = (line for line in lines if line.startswith("  repairs"))
    assert f"the bound is {2 * len(chat.bodies)} requests" in repairs


def test_plan_sends_nothing_and_writes_nothing(tmp_path: Path, chat: Chat) -> None:
    """Not even a cache."""
    corpus = handbook(tmp_path, enrichment=asking(chat.address))
    before = set(tmp_path.rglob("*"))

    result = situate("plan", corpus.config)

    assert result.exit_code == 0
    assert chat.bodies == []
    assert set(tmp_path.rglob("*")) == before
    assert "requests   " in result.stdout
    assert "there is no price for local-model" in result.stdout


def test_plan_counts_what_a_run_sends(tmp_path: Path, chat: Chat) -> None:
    """And nothing once it is answered."""
    corpus = handbook(tmp_path, enrichment=asking(chat.address))

    before = json.loads(situate("plan", corpus.config, "--json").stdout)
    situate("run", corpus.config)
    after = json.loads(situate("plan", corpus.config, "--json").stdout)

    assert before[0]["estimate"]["requests"] == len(chat.bodies)
    assert after[0]["estimate"]["requests"] == 0
    assert after[0]["estimate"]["cached"] == len(chat.bodies)


def test_plan_prices_a_model(tmp_path: Path) -> None:
    """In dollars from low to high, each with the digits that matter."""
    corpus = handbook(
        tmp_path,
        enrichment={
            "enabled": True,
            "provider": "replay",
            "model": "claude-haiku-4-5",
            "prompt": "findable-v1",
            "replay": "none.jsonl",
        },
    )
    (tmp_path / "none.jsonl").touch()

    result = situate("plan", corpus.config)

    assert re.search(
        r"it would have cost \$0\.\d{4} to \$0\.\d{4} with claude", result.stdout
    )


def test_plan_needs_no_key_and_no_budget(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """E2: the price is told before anybody has a key or has set a limit."""
    monkeypatch.delenv("ANTHROPIC_API_KEY", raising=False)
    priced = {
        "enabled": True,
        "provider": "anthropic",
        "model": "claude-haiku-5-5",
        "prompt": "findable-v1",
    }
    corpus = handbook(tmp_path, enrichment=priced)

    planned = situate("plan", corpus.config)
    ran = situate("run", corpus.config)

    assert planned.exit_code == 0
    assert "$" in planned.stdout
    assert ran.exit_code == 2
    assert "enrichment.max_usd is required" in ran.stderr


def test_plan_where_enrichment_is_off_says_so(tmp_path: Path) -> None:
    """There is nothing to send."""
    result = situate("plan", handbook(tmp_path).config)

    assert "requests   none: enrichment is off" in result.stdout


# ---------------------------------------------------------------- check and show


def test_check_names_rule_and_chunk(tmp_path: Path) -> None:
    """One line for each, the sum below."""
    corpus = handbook(tmp_path)
    corpus.run()
    lines = corpus.chunks.read_text("utf-8").splitlines(keepends=True)
    corpus.chunks.write_text("".join(lines[1:]), "utf-8")

    result = situate("check", corpus.chunks)

    assert result.exit_code == 1
    assert any(
        line.startswith("C2-cover leave.md: no leaf holds block")
        for line in result.stdout.splitlines()
    )
    assert "times a rule is broken" in result.stderr


def test_check_can_tell_it_as_json(tmp_path: Path) -> None:
    """With what could not be checked."""
    path = tmp_path / "a.jsonl"
    path.write_bytes(b"{}\n")

    result = situate("check", path, "--json")

    told = json.loads(result.stdout)
    assert told["broken"] == {"record": 1}
    assert told["findings"][0]["rule"] == "record"
    assert len(told["not_checked"]) == 2


def test_show_gives_the_passage_of_the_source(tmp_path: Path) -> None:
    """As it stands there, below what situates it."""
    corpus = handbook(tmp_path, chunking={"min_tokens": 0})
    corpus.run()
    source = tmp_path / "docs" / "leave.md"

    result = situate(
        "show",
        "leave.md:leave/exceptions",
        *("--chunks", corpus.chunks),
        *("--source", source),
    )

    assert result.exit_code == 0
    assert result.stdout == (
        "[handbook] Leave policy > Leave > Exceptions\n\n"
        + LEAVE[LEAVE.index("## Exceptions") :]
    )


def test_show_without_a_source_gives_the_text(tmp_path: Path) -> None:
    """Which is what will be cited."""
    corpus = handbook(tmp_path)
    corpus.run()

    result = situate("show", "travel/abroad.md:travel", "--chunks", corpus.chunks)

    own, _, _ = TRAVEL.partition("\n## Abroad")
    assert result.stdout == f"Travel\n\n{own}"


def test_show_can_give_the_record(tmp_path: Path) -> None:
    """With the passage beside it."""
    corpus = handbook(tmp_path)
    corpus.run()

    result = situate(
        "show", "travel/abroad.md:travel", "--chunks", corpus.chunks, "--json"
    )

    told = json.loads(result.stdout)
    assert told["chunk_id"] == "travel/abroad.md:travel"
    assert told["passage"] is None


@pytest.mark.parametrize(
    "arguments",
    [
        pytest.param(["show", "nobody:knows", "--chunks", "a.jsonl"], id="no chunk"),
        pytest.param(["show", "x", "--chunks", "none.jsonl"], id="no file"),
        pytest.param(["check", "none.jsonl"], id="nothing to check"),
        pytest.param(["check", "a.jsonl", "--blocks", "none.jsonl"], id="no blocks"),
        pytest.param(["check", "a.jsonl", "--source", "none.md"], id="no source"),
        pytest.param(["run", "none.toml"], id="no config"),
        pytest.param(["plan", "none.toml"], id="nothing to plan"),
        pytest.param(["batch", "export", "none.toml", "-o", "x"], id="no export"),
        pytest.param(["batch", "import", "none.toml", "x"], id="no import"),
    ],
)
def test_a_file_that_is_not_there_is_one_line(here: Path, arguments: list[str]) -> None:
    """And exit code 2."""
    (here / "a.jsonl").touch()

    result = situate(*arguments)

    assert result.exit_code == 2
    assert result.stderr.startswith("situate: ")
    assert result.stderr.count("\n") == 1
    assert result.stdout == ""


# ---------------------------------------------------------------- what is kept


@pytest.mark.parametrize(
    "name",
    [
        pytest.param("docs/leave.md", id="document"),
        pytest.param("handbook.toml", id="config"),
        pytest.param("cache/cache.db", id="cache"),
        pytest.param("cassette.jsonl", id="cassette"),
        pytest.param("out/handbook.jsonl", id="chunks"),
        pytest.param("out/handbook.blocks.jsonl", id="blocks"),
        pytest.param("out/handbook.manifest.json", id="manifest"),
        pytest.param("out/handbook.ledger.jsonl", id="ledger"),
    ],
)
def test_an_export_replaces_nothing_it_is_made_from(tmp_path: Path, name: str) -> None:
    """Nor anything else of the corpus; a slip of the hand costs nothing."""
    replayed = {
        "enabled": True,
        "provider": "replay",
        "model": "claude-haiku-4-5",
        "prompt": "findable-v1",
        "replay": "cassette.jsonl",
        "max_fallback_share": 1,
    }
    corpus = handbook(tmp_path, enrichment=replayed, cache={"directory": "cache"})
    (tmp_path / "cassette.jsonl").touch()
    corpus.run()
    before = everything(tmp_path)

    result = situate("batch", "export", corpus.config, "-o", tmp_path / name)

    assert result.exit_code == 2
    assert "is not to be replaced; name another file" in result.stderr
    assert result.stderr.count("\n") == 1
    assert everything(tmp_path) == before


def test_the_blocks_do_not_replace_a_document(here: Path) -> None:
    """Nothing is written, neither there nor to stdout."""
    (here / "leave.md").write_text(LEAVE, "utf-8")

    result = situate("chunk", "leave.md", "--blocks", "./leave.md")

    assert (result.exit_code, result.stdout) == (2, "")
    assert everything(here) == {"leave.md": LEAVE.encode()}


@pytest.mark.parametrize("name", ["handbook.jsonl", "docs/data.jsonl"])
def test_a_run_replaces_nothing_it_is_made_from(tmp_path: Path, name: str) -> None:
    """Neither its config nor a file that its globs match."""
    corpus = handbook(
        tmp_path, corpus={"documents": ["docs/**/*"]}, output={"path": name}
    )
    corpus.document("data.jsonl", "not what a run wrote\n")
    corpus.config.rename(tmp_path / "handbook.jsonl")
    before = everything(tmp_path)

    result = situate("run", tmp_path / "handbook.jsonl")

    assert result.exit_code == 2
    assert "is not to be replaced; name another file" in result.stderr
    assert everything(tmp_path) == before


def everything(folder: Path) -> dict[str, bytes]:
    """Give every file below a folder, by name, but for locks."""
    return {
        path.relative_to(folder).as_posix(): path.read_bytes()
        for path in folder.rglob("*")
        if path.is_file() and path.suffix != ".lock"
    }


# ---------------------------------------------------------------- batch


def test_a_corpus_can_be_asked_about_by_file(tmp_path: Path) -> None:
    """Export, let somebody answer, import, and replay without asking."""
    corpus = handbook(
        tmp_path,
        enrichment={
            "enabled": True,
            "provider": "replay",
            "model": "claude-haiku-4-5",
            "prompt": "findable-v1",
            "view": "full",
            "replay": "cassettes/own.jsonl",
        },
    )
    requests, replies = tmp_path / "requests.jsonl", tmp_path / "replies.jsonl"

    exported = situate("batch", "export", corpus.config, "-o", requests)
    asked = [json.loads(line) for line in requests.read_text("utf-8").splitlines()]
    replies.write_text(
        "\n".join(
            json.dumps(
                {
                    "custom_id": request["custom_id"],
                    "text": f"It is the {('first', 'next', 'last')[n % 3]} rule here.",
                }
            )
            for n, request in enumerate(reversed(asked))
        ),
        "utf-8",
    )
    imported = situate(
        "batch", "import", corpus.config, replies, "--model", "a-writer", "--json"
    )
    again = situate("batch", "export", corpus.config, "-o", requests)
    ran = situate("run", corpus.config)

    assert exported.exit_code == imported.exit_code == ran.exit_code == 0
    assert json.loads(imported.stdout)["imported"] == len(asked) == len(corpus.records)
    assert "0 requests in" in again.stderr
    assert {r["metadata"]["enrichment"]["model"] for r in corpus.records} == {
        "a-writer"
    }
    assert "nothing; it would have cost $" in ran.stderr


def test_replies_may_begin_with_a_byte_order_mark(tmp_path: Path, chat: Chat) -> None:
    """Editors on Windows put one there; the first reply counts like the others."""
    corpus = handbook(tmp_path, enrichment=asking(chat.address))
    replies = tmp_path / "replies.jsonl"
    replies.write_text('\ufeff{"custom_id": "nobody"}\n', "utf-8")

    result = situate("batch", "import", corpus.config, replies, "--json")

    told = json.loads(result.stdout)
    assert (told["errored"], told["unknown"]) == ([], ["nobody"])


def test_replies_that_are_missing_are_told(tmp_path: Path, chat: Chat) -> None:
    """They go to the cache, and the run asks for the rest alone."""
    corpus = handbook(tmp_path, enrichment=asking(chat.address))
    requests, replies = tmp_path / "requests.jsonl", tmp_path / "replies.jsonl"
    situate("batch", "export", corpus.config, "-o", requests)
    asked = [json.loads(line) for line in requests.read_text("utf-8").splitlines()]
    reply = {
        "id": "x",
        "object": "chat.completion",
        "model": "local-model",
        "choices": [
            {
                "index": 0,
                "finish_reason": "stop",
                "message": {
                    "role": "assistant",
                    "content": "This rule of the company came by file.",
                },
            }
        ],
        "usage": {"prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2},
    }
    replies.write_text(
        json.dumps({"custom_id": asked[0]["custom_id"], "reply": reply}), "utf-8"
    )

    imported = situate("batch", "import", corpus.config, replies)
    situate("run", corpus.config)

    assert imported.exit_code == 3
    assert "1 replies taken in" in imported.stderr
    assert f"{len(asked) - 1} have no reply" in imported.stderr
    assert len(chat.bodies) == len(asked) - 1
    assert "came by file" in corpus.chunks.read_text("utf-8")


@pytest.mark.parametrize(
    ("enrichment", "expected"),
    [
        pytest.param({}, "enrichment.enabled is false", id="off"),
        pytest.param(
            {
                "enabled": True,
                "provider": "replay",
                "model": "m",
                "prompt": "findable-v1",
            },
            "enrichment.replay names no file",
            id="no cassette",
        ),
    ],
)
def test_batch_needs_to_know_where_replies_go(
    tmp_path: Path, enrichment: dict[str, object], expected: str
) -> None:
    """The shipped cassettes are nobody's to write."""
    corpus = Corpus(folder=tmp_path)
    corpus.document("a.md", "# A\n\nText.\n")
    corpus.configure(enrichment=enrichment)

    result = situate("batch", "export", corpus.config, "-o", tmp_path / "x.jsonl")

    assert result.exit_code == 2
    assert expected in result.stderr
