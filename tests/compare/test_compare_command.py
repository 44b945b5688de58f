"""`compare` as a user meets it: options, files, exit codes, money."""

from __future__ import annotations

import errno
import json
import sys
import time
from typing import TYPE_CHECKING

import pytest

from situate.output import Draft, Output
from tests.compare.command import (
    LEXICAL,
    QUESTIONS,
    SMALL,
    compare,
    compared,
    situate,
    small_handbook,
)
from tests.compare.planted import write_questions
from tests.support.chat import Answer, chatting
from tests.support.corpora import Corpus, asking

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from tests.support.chat import Chat

UNREACHABLE = asking("http://127.0.0.1:9/v1")
"""Whoever asks this server cannot go on."""


@pytest.fixture
def corpus(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Corpus:
    """Work in the folder of a corpus that asks nobody."""
    monkeypatch.chdir(tmp_path)
    return small_handbook(tmp_path)


@pytest.fixture
def chat() -> Iterator[Chat]:
    """Serve a chat model that answers every question."""
    with chatting() as server:
        yield server


# ---------------------------------------------------------------- what it writes


def test_the_report_stands_beside_the_chunks(corpus: Corpus) -> None:
    """A page for people and the same as JSON; the arms are said on stdout."""
    result = compare(corpus, *LEXICAL)

    assert result.exit_code == 0
    assert result.stdout.startswith("handbook: 3 questions about 2 of 2 documents")
    assert "breadcrumb" in result.stdout
    names = {path.name for path in (corpus.folder / "out").iterdir()}
    assert {"handbook.compare.html", "handbook.compare.json"} <= names
    assert result.stderr.count("written: ") == 2


def test_json_for_machines_is_the_file_beside_the_report(corpus: Corpus) -> None:
    """To the byte, under the name that was asked for."""
    result = compare(corpus, "--json", "--report", "reports/first.html", *LEXICAL)

    reports = corpus.folder / "reports"
    assert result.stdout_bytes == (reports / "first.json").read_bytes()
    assert (reports / "first.html").read_bytes().startswith(b"<!doctype html>")


def test_a_second_run_differs_in_measured_times_alone(corpus: Corpus) -> None:
    """In JSON they stand under a key of their own."""
    first, again = (compared(corpus) for _ in range(2))

    times = first.pop("measured"), again.pop("measured")
    assert times[0].keys() == times[1].keys() == {"milliseconds"}
    assert first == again


def test_a_second_run_writes_the_same_bytes(
    corpus: Corpus, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Where the clock stands still, page and JSON do."""
    monkeypatch.setattr(time, "perf_counter", lambda: 1.0)
    report = corpus.folder / "out" / "handbook.compare.html"
    written = []

    for _ in range(2):
        assert compare(corpus).exit_code == 0
        written.append((report.read_bytes(), report.with_suffix(".json").read_bytes()))

    assert written[0] == written[1]


def test_other_folders_and_machines_get_the_same_figures(tmp_path: Path) -> None:
    """No path stands in a report."""
    reports = []

    for name in ("one", "another"):
        found = compared(small_handbook(tmp_path / name), *LEXICAL)
        del found["measured"]
        reports.append(found)

    assert reports[0] == reports[1]
    assert str(tmp_path) not in json.dumps(reports)


def test_a_full_disk_leaves_the_last_report_whole(
    corpus: Corpus, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Page and JSON are put in place together, or neither is."""
    compare(corpus, *LEXICAL)
    out = corpus.folder / "out"
    before = {path.name: path.read_bytes() for path in out.iterdir()}
    write = Draft.write

    def filling(draft: Draft, data: bytes) -> None:
        if data.startswith(b"{"):
            raise OSError(errno.ENOSPC, "No space left on device")
        write(draft, data)

    monkeypatch.setattr(Draft, "write", filling)
    result = compare(corpus, "--baseline", "fixed:40", *LEXICAL)

    assert result.exit_code == 1
    assert "No space left on device" in result.stderr
    assert {path.name: path.read_bytes() for path in out.iterdir()} == before


def test_a_folder_that_cannot_be_made_is_said_in_words(corpus: Corpus) -> None:
    """Before anything is read or asked."""
    (corpus.folder / "taken").write_text("a file", "utf-8")

    result = compare(corpus, "--report", "taken/report.html", *LEXICAL)

    assert result.exit_code == 1
    assert "taken" in result.stderr
    assert result.stderr.count("\n") == 1


@pytest.mark.parametrize(
    "name",
    ["handbook.toml", "q.jsonl", "docs/leave.md", "out/handbook.jsonl", "mine.jsonl"],
)
def test_a_report_replaces_nothing_it_is_made_from(corpus: Corpus, name: str) -> None:
    """Nor the chunks of a run; a slip of the hand costs nothing."""
    corpus.run()
    mine = corpus.folder / "mine.jsonl"
    mine.write_bytes(corpus.chunks.read_bytes())
    before = (corpus.folder / name).read_bytes()

    result = compare(corpus, "--chunks", "mine=mine.jsonl", "--report", name, *LEXICAL)

    assert result.exit_code == 2
    assert "is not to be replaced; name another file" in result.stderr
    assert (corpus.folder / name).read_bytes() == before


# ---------------------------------------------------------------- exit codes


def test_no_readable_document_is_1(corpus: Corpus) -> None:
    """Each is named, and there is no report."""
    for path in (corpus.folder / "docs").rglob("*.md"):
        path.write_bytes(b"%PDF-1.7 ...")

    result = compare(corpus, *LEXICAL)

    assert result.exit_code == 1
    assert "failed: leave.md" in result.stderr
    assert "none of 2 documents could be read" in result.stderr
    assert not list(corpus.folder.rglob("*.html"))


def test_an_unknown_key_of_the_config_is_2(corpus: Corpus) -> None:
    """As for every command."""
    corpus.configure(chunking={"max_token": 64})

    result = compare(corpus)

    assert result.exit_code == 2
    assert "nearest: chunking.max_tokens" in result.stderr


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("--arms", "none,crumb"), "--arms: 'crumb' is not one of none, breadcrumb"),
        (("--prompts", "findable"), "findable-v1"),
        (("--prompts", "findable-v1,other-v9"), "prompt 'other-v9' is unknown"),
        (("--statement-in", "sparse"), "--statement-in: 'sparse' is not one of dense"),
        (("--retrievers", "bm52"), "--retrievers: 'bm52' is not one of bm25"),
        (("--k", "0"), "--k: '0'"),
        (("--budget", "many"), "--budget: 'many' is no list of whole numbers"),
        (("--baseline", "tokens:40"), "--baseline: 'tokens:40' is not fixed:TOKENS"),
        (("--chunks", "mine"), "--chunks: 'mine' is no NAME=FILE"),
        (("--chunks", "mine=none.jsonl"), "none.jsonl: cannot be read"),
        (("--run", "=none.jsonl"), "--run: '=none.jsonl' is no NAME=FILE"),
        (("--judged", "key.json"), "--judged: 'key.json' is no NAME=FILE"),
        (("--judged", "key.json=said.jsonl"), "key.json: cannot be read"),
        (("--return", "chapter"), "--return: 'chapter' is not one of leaf, section"),
        (("--levels", "leaf,document"), "--levels: 'leaf,document' is neither"),
        (("--margin", "0"), "--margin: 0.0 is not between 0 and 1"),
        (("--margin", "1"), "--margin: 1.0 is not between 0 and 1"),
        (("--margin", "nan"), "--margin: nan is not between 0 and 1"),
        (("--embedder", "wordvec"), "embedder 'wordvec' is unknown"),
        (("--embedder", "nowhere:embed"), "module 'nowhere' cannot be imported"),
        (("--reranker", "nowhere:rank"), "module 'nowhere' cannot be imported"),
        (("--report", "report.json"), "is where the JSON goes"),
        (("--queries", "none.jsonl"), "none.jsonl: cannot be read"),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, tuple) else "",
)
def test_a_mistake_is_2_before_anybody_is_asked(
    corpus: Corpus, options: tuple[str, str], message: str
) -> None:
    """In one line that says what was found; nothing is written."""
    corpus.configure(chunking=SMALL, enrichment=UNREACHABLE)

    result = compare(corpus, *options)

    assert (result.exit_code, result.stdout) == (2, "")
    assert message in result.stderr
    assert result.stderr.count("\n") == 1
    assert not list((corpus.folder / "out").glob("*.html"))


def test_nothing_to_compare_on_is_2(corpus: Corpus) -> None:
    """The options that would help are named."""
    result = situate("compare", corpus.config)

    assert result.exit_code == 2
    assert "name --queries, --query-log or --judged" in result.stderr


def test_an_arm_with_statements_needs_a_prompt(corpus: Corpus) -> None:
    """A config that asks nobody names none."""
    result = compare(corpus, "--arms", "none,statement")

    assert result.exit_code == 2
    assert "arm 'statement' needs statements: name --prompts" in result.stderr


def test_a_prompt_needs_somebody_who_is_asked(corpus: Corpus) -> None:
    """The config says whom."""
    result = compare(corpus, "--prompts", "findable-v1")

    assert result.exit_code == 2
    assert "enrichment needs a provider" in result.stderr


@pytest.mark.parametrize(
    ("row", "message"),
    [
        ({"gold": [{"doc_id": "leaf.md", "text": "x"}]}, "nearest is 'leave.md'"),
        (
            {"gold": [{"doc_id": "leave.md", "text": "Forty days"}]},
            "gold[0]: 'Forty days' does not stand in 'leave.md'",
        ),
        ({"gold": []}, "gold is empty"),
        ({"qid": "days"}, "qid 'days' stands there twice"),
    ],
    ids=["document", "evidence", "no gold", "twice"],
)
def test_a_question_file_that_does_not_fit_is_refused_with_its_line(
    corpus: Corpus, row: dict[str, object], message: str
) -> None:
    """A wrong key would go on to say that nothing is found."""
    odd: dict[str, object] = {**QUESTIONS[1], "qid": "odd", **row}
    write_questions(corpus.folder / "q.jsonl", [QUESTIONS[0], odd])

    result = compare(corpus, *LEXICAL)

    assert result.exit_code == 2
    assert "q.jsonl:2: " in result.stderr
    assert message in result.stderr


def test_two_arms_of_one_name_are_refused(corpus: Corpus) -> None:
    """Nobody could tell them apart in the report."""
    corpus.run()

    result = compare(corpus, "--chunks", f"breadcrumb={corpus.chunks}", *LEXICAL)

    assert result.exit_code == 2
    assert "two arms are called 'breadcrumb'" in result.stderr


def test_another_comparison_of_the_same_report_is_4(corpus: Corpus) -> None:
    """It is waited for by nobody."""
    with Output(corpus.folder / "out" / "handbook.compare.html"):
        result = compare(corpus, *LEXICAL)

    assert result.exit_code == 4


@pytest.mark.parametrize(
    ("package", "command"),
    [
        ("bm25s", "pip install 'situate[compare]'"),
        ("Stemmer", "pip install 'situate[compare]'"),
        ("wordllama", "pip install"),
    ],
    ids=["bm25s", "Stemmer", "wordllama"],
)
def test_a_missing_package_is_named_with_what_installs_it(
    corpus: Corpus, monkeypatch: pytest.MonkeyPatch, package: str, command: str
) -> None:
    """Before anybody is asked: the extra is called like the command."""
    corpus.configure(chunking=SMALL, enrichment=UNREACHABLE)
    monkeypatch.setitem(sys.modules, package, None)

    result = compare(corpus)

    assert result.exit_code == 2
    assert package in result.stderr
    assert command in result.stderr


# ---------------------------------------------------------------- statements and money


def test_statements_are_asked_for_once(corpus: Corpus, chat: Chat) -> None:
    """Neither the next comparison nor a run pays again."""
    corpus.configure(chunking=SMALL, enrichment=asking(chat.address))

    first = compare(corpus)
    asked = len(chat.bodies)
    again = compare(corpus, "--statement-in", "both")
    ran = situate("run", corpus.config)

    assert (first.exit_code, again.exit_code, ran.exit_code) == (0, 0, 0)
    assert asked == len(corpus.records)
    assert len(chat.bodies) == asked


def test_what_a_run_asked_for_is_not_asked_for_again(
    corpus: Corpus, chat: Chat
) -> None:
    """The arm has the statements of the records, to the letter."""
    corpus.configure(chunking=SMALL, enrichment=asking(chat.address)).run()
    asked = len(chat.bodies)

    comparison = compared(corpus, "--retrievers", "dense")

    assert len(chat.bodies) == asked
    enriched = [each["metadata"]["enrichment"] for each in corpus.records]
    said = sum(each["status"] == "statement" for each in enriched)
    (arm,) = (each for each in comparison["arms"] if each["kind"] == "statement")
    assert arm["statements"] == said > 0


def test_the_price_is_said_before_anything_is_sent(corpus: Corpus, chat: Chat) -> None:
    """A model with a price needs a limit, and nothing is sent without."""
    priced = asking(chat.address, model="gpt-6-luna")
    corpus.configure(chunking=SMALL, enrichment=priced)

    result = compare(corpus)

    assert result.exit_code == 2
    assert "enrichment.max_usd is required" in result.stderr
    assert not chat.bodies


def test_prompts_share_what_may_be_spent(corpus: Corpus, chat: Chat) -> None:
    """The second is asked with what the first left over; 3 says that it was less."""
    limited = asking(chat.address, model="gpt-6-luna", max_usd=0.0005, concurrency=1)
    corpus.configure(chunking=SMALL, enrichment=limited)

    result = compare(
        corpus, "--json", "--prompts", "findable-v1,situating-v1", "--margin", "0.1"
    )

    comparison = json.loads(result.stdout)
    said = {arm["prompt"]: arm["statements"] for arm in comparison["arms"]}
    assert result.exit_code == 3
    assert said == {None: 0, "findable-v1": 5, "situating-v1": 0}
    assert "cost       $0.000" in result.stderr
    assert "may cross max_usd" in result.stderr
    assert [note for note in comparison["notes"] if "situating-v1: 0 of 5" in note]


@pytest.mark.parametrize(
    ("answer", "code", "message"),
    [
        (Answer(status=401, text="{}"), 1, "check OPENAI_API_KEY"),
        (
            Answer(status=400, text="{}"),
            3,
            "5 chunks have no answer of use: rejected 5",
        ),
        (Answer(text="See https://example.org"), 3, "no answer of use: url 5"),
    ],
    ids=["wrong key", "refused", "useless"],
)
def test_answers_that_cannot_be_had_are_said(
    corpus: Corpus, chat: Chat, answer: Answer, code: int, message: str
) -> None:
    """A wrong key is found at once; a chunk without an answer costs no other."""
    corpus.configure(chunking=SMALL, enrichment=asking(chat.address))
    chat.answer = lambda _: answer

    result = compare(corpus)

    assert result.exit_code == code
    assert message in result.stderr
    if code == 3:
        report = corpus.folder / "out" / "handbook.compare.json"
        comparison = json.loads(report.read_text("utf-8"))
        assert comparison["verdicts"] == []
        assert "findable-v1: 0 of 5 chunks have a statement" in " ".join(
            comparison["notes"]
        )


def test_a_config_that_asks_is_compared_on_its_prompt(
    corpus: Corpus, chat: Chat
) -> None:
    """Without --prompts and --arms all four arms are there."""
    corpus.configure(chunking=SMALL, enrichment=asking(chat.address))

    comparison = compared(corpus, "--statement-in", "dense,both")

    assert [arm["name"] for arm in comparison["arms"]] == [
        "none",
        "breadcrumb",
        "statement:findable-v1",
        "statement:findable-v1:both",
        "breadcrumb+statement:findable-v1",
        "breadcrumb+statement:findable-v1:both",
    ]
    judged = [(each["retriever"], each["arm"]) for each in comparison["verdicts"]]
    merged = "breadcrumb+statement:findable-v1"
    assert sorted(judged) == [
        ("bm25", f"{merged}:both"),
        ("dense", merged),
        ("dense", f"{merged}:both"),
        ("hybrid", merged),
        ("hybrid", f"{merged}:both"),
    ]
