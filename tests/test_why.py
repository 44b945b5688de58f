"""`situate why`: what made one chunk what it is."""

from __future__ import annotations

import json
import time
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest
from typer.testing import CliRunner

from situate.cli import app
from situate.enrichment.ledger import noted
from situate.records import from_line, from_record, to_line, to_record
from tests.support.chat import Answer, chatting
from tests.support.corpora import LEAVE, TRAVEL, asking, handbook

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from typer.testing import Result

    from tests.support.chat import Chat
    from tests.support.corpora import Corpus

DAYS = "leave.md:leave/days"
ROWS = "| Years | Days |\n| --- | --- |\n" + "| 1 | 25 |\n" * 60


@pytest.fixture
def chat() -> Iterator[Chat]:
    """Serve a model that answers at once."""
    with chatting() as server:
        yield server


@pytest.fixture
def corpus(tmp_path: Path) -> Corpus:
    """Run over two documents."""
    made = handbook(tmp_path, chunking={"min_tokens": 0})
    made.run()
    return made


def situate(*arguments: str | Path) -> Result:
    """Run a command."""
    return CliRunner().invoke(app, [str(argument) for argument in arguments])


def why(chunk_id: str, chunks: Path, *more: str | Path) -> dict[str, str]:
    """Ask why as a person does, and give the first line about each thing."""
    result = situate("why", chunk_id, "--chunks", chunks, *more)
    assert result.exit_code == 0, result.stderr
    lines = [line for line in result.stdout.splitlines() if line[:1].strip()]
    return {line[:12].strip(): line[12:] for line in lines}


def told(chunk_id: str, chunks: Path, *more: str | Path) -> dict[str, Any]:
    """Ask why as a machine does."""
    result = situate("why", chunk_id, "--chunks", chunks, "--json", *more)
    found: dict[str, Any] = json.loads(result.stdout)
    return found


def test_a_person_gets_all_there_is_to_say(corpus: Corpus) -> None:
    """Line by line, with the rules by their names."""
    result = situate("why", DAYS, "--chunks", corpus.chunks)

    version = corpus.records[0]["doc_version"]
    assert result.stderr == ""
    assert result.stdout.splitlines() == [
        f"chunk       {DAYS}: a leaf, one of those that hold every block once (C2)",
        f"document    leave.md, version {version}",
        "source      leave.md, characters 106 to 168",
        "in force    at all times: no date is named",
        "for         whoever sees the index: no acl_* or classification is named",
        "section     leave/days",
        "blocks      leave/days#0 heading, 106 to 113",
        "            leave/days#1 table, 115 to 168",
        "begins      C1: section boundary: leave ends and leave/days begins",
        "ends        C1: section boundary: leave/days ends and leave/exceptions begins",
        "prefix      [handbook] Leave policy > Leave > Days",
        "              doc_type 'handbook', whole: the document, its sidecar, the "
        "manifest or the config; --source tells more",
        "              title 'Leave policy', whole: the document, its sidecar, the "
        "manifest or the config; --source tells more",
        "              heading 'Leave', whole",
        "              heading 'Days', whole",
        "tokens      text 27 of 512, breadcrumb line 10 of 96, reading 15 of 1,280, "
        "embed_text 26",
        "reading     what is indexed is not the text as it is (C13) but:",
        "              ## Days",
        "              Years",
        "              1 Days 25.",
        "              10 Days 30.",
        "enrichment  off",
    ]


def test_with_its_source_title_and_type_are_traced_and_the_passage_shown(
    corpus: Corpus,
) -> None:
    """The document is read again, as its run did."""
    source = corpus.folder / "docs" / "leave.md"

    result = situate("why", DAYS, "--chunks", corpus.chunks, "--source", source)

    assert "title 'Leave policy', whole: the document says it itself" in result.stdout
    passage = LEAVE[LEAVE.index("## Days") : LEAVE.index("\n## Exc")]
    assert result.stdout.endswith(f"\n\n{passage}")


def test_a_title_from_a_heading_and_a_type_from_the_config_are_told_apart(
    tmp_path: Path,
) -> None:
    """The document says neither."""
    corpus = handbook(tmp_path, corpus={"doc_type": "rules"})
    corpus.run()
    source = tmp_path / "docs" / "travel" / "abroad.md"

    doc_type, title, *_ = told(
        "travel/abroad.md:travel", corpus.chunks, "--source", source
    )["crumbs"]

    assert doc_type["said_by"].endswith(
        "corpus.doc_type of the config; the document says None"
    )
    assert title["said_by"] == "the only heading at the top, as the document names none"


def test_a_title_from_a_sidecar_is_not_the_documents(tmp_path: Path) -> None:
    """What the document says itself stands beside it."""
    corpus = handbook(tmp_path, metadata={"authority": ["title"]})
    corpus.document("leave.md.meta.toml", 'title = "Days off"')
    corpus.run()

    found = told(DAYS, corpus.chunks, "--source", tmp_path / "docs" / "leave.md")

    assert found["crumbs"][1]["said_by"] == (
        "a sidecar or a manifest; the document says 'Leave policy'"
    )


def test_another_version_of_the_source_is_pointed_out(corpus: Corpus) -> None:
    """Its passage may be another."""
    source = corpus.document("leave.md", LEAVE.replace("in writing", "aloud and soon"))

    result = situate("why", DAYS, "--chunks", corpus.chunks, "--source", source)

    assert result.exit_code == 0
    assert "is not the version that this chunk was cut from" in result.stderr


def test_a_piece_says_which_part_of_a_block_it_holds(tmp_path: Path) -> None:
    """And by which rule the block was cut."""
    corpus = handbook(tmp_path, chunking={"max_tokens": 64})
    corpus.document("fees.md", f"# Fees\n\n{ROWS}")
    corpus.run()

    found = told("fees.md:fees:1", corpus.chunks)

    (block,) = found["blocks"]
    first, end = block["parts"]
    assert (block["kind"], block["of"]) == ("table", 60)
    assert found["begins"]["rule"] == found["ends"]["rule"] == "C4"
    assert found["begins"]["words"].endswith(
        f"between its rows {first} and {first + 1}"
    )
    assert found["ends"]["words"].endswith(f"between its rows {end} and {end + 1}")


def test_the_ends_of_a_document_are_its_ends(corpus: Corpus) -> None:
    """What stands beside them in the file is of another document."""
    first = why("leave.md:leave", corpus.chunks)
    last = why("leave.md:leave/exceptions", corpus.chunks)

    assert first["begins"] == "C2: the document begins here: no leaf stands before it"
    assert last["ends"] == "C2: the document ends here: no leaf stands after it"


def test_a_heading_that_found_no_text_of_its_own_is_a_guest(tmp_path: Path) -> None:
    """C8 gave it to the chunk below."""
    corpus = handbook(tmp_path)
    corpus.document(
        "guest.md", "# Rules\n\n## Pay\n\n### Days\n\n" + "Ask the office. " * 20
    )
    corpus.run()

    found = told("guest.md:rules/pay/days", corpus.chunks)

    assert [block["is_guest"] for block in found["blocks"]] == [
        True,
        True,
        False,
        False,
    ]


@pytest.mark.parametrize(
    ("chunk_id", "role", "words"),
    [
        pytest.param("leave.md:_doc", "container", "a parent of what", id="document"),
        pytest.param(
            "travel/abroad.md:travel:p0",
            "paragraph",
            "of its leaf travel/abroad.md:travel ",
            id="block",
        ),
        pytest.param(DAYS, "leaf", "a leaf", id="leaf"),
    ],
)
def test_what_is_no_leaf_was_not_cut(
    tmp_path: Path, chunk_id: str, role: str, words: str
) -> None:
    """Parents and single blocks stand beside the cover."""
    corpus = handbook(tmp_path, chunking={"granularity": "multi", "min_tokens": 0})
    corpus.run()

    found = told(chunk_id, corpus.chunks)

    assert found["role"] == role
    assert words in why(chunk_id, corpus.chunks)["chunk"]
    assert (found["begins"] is None) == (found["ends"] is None) == (role != "leaf")


def test_a_statement_is_told_with_who_was_asked_when_and_for_how_much(
    chat: Chat, tmp_path: Path
) -> None:
    """The record knows the model, the ledger the request."""
    corpus = handbook(
        tmp_path, chunking={"min_tokens": 0}, enrichment=asking(chat.address)
    )
    corpus.run()
    corpus.run()

    asked, at_hand = told(DAYS, corpus.chunks)["requests"]
    result = situate("why", DAYS, "--chunks", corpus.chunks)

    assert (asked["source"], asked["outcome"]) == ("wire", "answered")
    assert (at_hand["source"], at_hand["cost_usd"]) == ("cache", None)
    assert "model local-model-7, prompt findable-v1 (" in result.stdout
    assert f"{asked['time']} answered by local-model-7 (wire), " in result.stdout
    assert result.stdout.splitlines()[-1].endswith("0 attempts, at no cost")
    assert "cases alone. (the model's sentence)" in result.stdout


def test_a_paragraph_has_the_request_of_its_leaf(chat: Chat, tmp_path: Path) -> None:
    """It was never asked about itself."""
    corpus = handbook(
        tmp_path,
        chunking={"min_tokens": 0, "granularity": "multi"},
        enrichment=asking(chat.address),
    )
    corpus.run()

    assert len(told("travel/abroad.md:travel:p0", corpus.chunks)["requests"]) == 1


def test_a_reason_is_told_in_words(chat: Chat, tmp_path: Path) -> None:
    """Those of README."""
    chat.answer = lambda _: Answer(text="See https://example.org for it all.")
    corpus = handbook(
        tmp_path, chunking={"min_tokens": 0}, enrichment=asking(chat.address)
    )
    corpus.run()

    assert why(DAYS, corpus.chunks)["enrichment"] == (
        "fallback: url, the answer holds a link or an e-mail address"
    )


def test_what_lies_beside_is_missed_by_name(tmp_path: Path) -> None:
    """Chunks of `chunk` have nothing beside them; what they tell is told."""
    (tmp_path / "leave.md").write_text(LEAVE)
    path = tmp_path / "a.jsonl"
    cut = situate("chunk", tmp_path / "leave.md", "--min-tokens", "0")
    path.write_bytes(cut.stdout_bytes)

    result = situate("why", DAYS, "--chunks", path)

    assert result.exit_code == 0
    assert result.stderr.splitlines() == [
        "situate: no manifest beside the chunks: limits are not known",
        "situate: no blocks file beside the chunks: kinds are not known",
    ]
    assert "tokens      text 27, breadcrumb line ?" in result.stdout
    assert "leave/days#1 of unknown kind" in result.stdout


@pytest.mark.parametrize(
    ("gone", "edge"),
    [pytest.param(0, "begins", id="before"), pytest.param(2, "ends", id="after")],
)
def test_a_neighbour_that_is_missing_is_not_made_up(
    corpus: Corpus, gone: int, edge: str
) -> None:
    """Somebody took a line out: nothing is known of that end."""
    lines = corpus.chunks.read_bytes().splitlines(keepends=True)
    corpus.chunks.write_bytes(b"".join(lines[:gone] + lines[gone + 1 :]))

    found = told(DAYS, corpus.chunks)

    assert found[edge]["rule"] is None
    assert "missing from this file" in found[edge]["words"]


def test_a_record_without_blocks_leaves_its_ends_unknown(corpus: Corpus) -> None:
    """Whoever wrote it: it is no reason to give up."""
    lines = corpus.chunks.read_bytes().splitlines(keepends=True)
    bare = from_record(from_line(lines[0], "first"), "first")
    bare = replace(bare, block_ids=(), spans=(), parts={})
    corpus.chunks.write_bytes(b"".join([to_line(to_record(bare)), *lines[1:]]))

    found = told(DAYS, corpus.chunks)

    assert found["begins"]["rule"] is None
    assert found["ends"]["rule"] == "C1"


def test_a_line_broken_by_a_kill_costs_only_itself(tmp_path: Path) -> None:
    """A ledger may hold half a line, a mark at its start, and what others wrote."""
    path = tmp_path / "a.ledger.jsonl"
    whole = {
        "time": "2026-11-30T10:00:00.000+00:00",
        "chunk_ids": ["a:ü", "a:b"],
        "view": "marked",
        "provider": "openai",
        "model_asked": "m",
        "model_answered": None,
        "attempts": 2,
        "outcome": "refusal",
        "cost_usd": "0.0031",
        "source": "wire",
    }
    line = json.dumps(whole)
    others = json.dumps({**whole, "chunk_ids": ["a:ü:1"]})
    odd = json.dumps({**whole, "cost_usd": "much"})
    path.write_bytes(
        b"\xef\xbb\xbf"
        + f"{line}\r\n{others}\n{odd}\n\xff\n{line[:-20]}\n".encode("latin-1")
    )

    found, broken = noted(path, "a:ü")

    (one,) = found
    assert (one.model, one.chunks, str(one.cost_usd)) == ("m", 2, "0.0031")
    assert broken == 2


def test_one_chunk_among_many_is_found_within_seconds(
    corpus: Corpus, tmp_path: Path
) -> None:
    """A file of 20,000 chunks is read once, line by line."""
    line = corpus.chunks.read_bytes().splitlines(keepends=True)[-1]
    last = from_record(from_line(line, "last"), "last")
    with corpus.chunks.open("ab") as file:
        for number in range(20_000):
            file.write(line.replace(b"travel/abroad.md", b"d%d.md" % number))
        file.write(to_line(to_record(replace(last, chunk_id="z:z", doc_id="z"))))
    began = time.monotonic()

    result = situate("why", "z:z", "--chunks", corpus.chunks)

    assert result.exit_code == 0
    assert time.monotonic() - began < 10


@pytest.mark.parametrize(
    "arguments",
    [
        pytest.param(["nobody:knows", "--chunks", "a.jsonl"], id="no chunk"),
        pytest.param(["x", "--chunks", "none.jsonl"], id="no file"),
        pytest.param(["x", "--chunks", "twice.jsonl"], id="a key twice"),
        pytest.param(["x", "--chunks", "."], id="a folder"),
    ],
)
def test_what_cannot_be_explained_is_one_line_and_exit_code_2(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, arguments: list[str]
) -> None:
    """As for `show`."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "a.jsonl").touch()
    (tmp_path / "twice.jsonl").write_text('{"chunk_id": "x", "chunk_id": "y"}\n')

    result = situate("why", *arguments)

    assert result.exit_code == 2
    assert result.stdout == ""
    assert result.stderr.count("\n") == 1


def test_a_source_that_is_not_there_is_exit_code_2(corpus: Corpus) -> None:
    """Whatever else could be said."""
    result = situate("why", DAYS, "--chunks", corpus.chunks, "--source", "none.md")

    assert result.exit_code == 2
    assert "none.md: cannot be read" in result.stderr


def test_show_does_not_need_the_lines_behind_its_chunk(corpus: Corpus) -> None:
    """It stops reading at the chunk."""
    with corpus.chunks.open("ab") as file:
        file.write(b"half a li")

    result = situate(
        "show", "travel/abroad.md:travel/abroad", "--chunks", corpus.chunks
    )

    assert result.exit_code == 0
    assert TRAVEL.strip().splitlines()[-1] in result.stdout
