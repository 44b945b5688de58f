"""Query logs: questions without labels, judged by a person who sees no names."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from tests.compare.command import compared, situate, small_handbook
from tests.compare.planted import write_questions
from tests.support.chat import chatting
from tests.support.corpora import Corpus, asking

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from tests.support.chat import Chat


@pytest.fixture
def corpus(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Corpus:
    """Work beside a small corpus."""
    monkeypatch.chdir(tmp_path)
    return small_handbook(tmp_path)


@pytest.fixture
def chat() -> Iterator[Chat]:
    """Serve a stand-in for the model."""
    with chatting() as server:
        yield server


def judge(folder: Path, key: Path, choose: Any) -> Path:
    """Say of every question of a page what `choose` says of its seat."""
    said = json.loads(key.read_text("utf-8"))
    file = folder / "judged.jsonl"
    rows = [
        {"page": said["page"], "qid": seat["qid"], "choice": choose(seat)}
        for seat in said["questions"]
    ]
    file.write_text("".join(json.dumps(row) + "\n" for row in rows), "utf-8")
    return file


def many_sections(folder: Path, chat: Chat) -> tuple[Corpus, Path]:
    """Write forty sections in one document, and a log that differs on all of them."""
    corpus = Corpus(folder=folder).configure(
        chunking={"min_tokens": 0}, enrichment=asking(chat.address)
    )
    sections = (
        f"## Shelf {number}\n\nBox {number} stands here.\n" for number in range(40)
    )
    corpus.document("shelves.md", "# Shelves\n\n" + "\n".join(sections))
    log = folder / "log.txt"
    words = ("early", "late", "short", "long", "rare")
    log.write_text("".join(f"{word} cases of a company\n" for word in words), "utf-8")
    return corpus, log


def written(folder: Path, kind: str) -> Path:
    """Give the only page to judge on, or its key."""
    (found,) = (folder / "out").glob(f"handbook.compare.blind-*.{kind}")
    return found


def test_a_query_log_gives_a_page_to_judge_on(tmp_path: Path, chat: Chat) -> None:
    """Page and key apart; no question has to be labelled."""
    corpus, log = many_sections(tmp_path, chat)

    result = situate("compare", corpus.config, "--query-log", log)

    assert result.exit_code == 0
    page = written(tmp_path, "html").read_text("utf-8")
    key = json.loads(written(tmp_path, "key.json").read_text("utf-8"))
    assert key["page"] in page
    assert "breadcrumb" not in page
    assert key["arms"] == [
        "hybrid: breadcrumb+statement:findable-v1",
        "hybrid: breadcrumb",
    ]
    assert {seat["qid"] for seat in key["questions"]} <= {f"log{n}" for n in range(6)}


def test_judgements_count_in_a_verdict_of_their_own(tmp_path: Path, chat: Chat) -> None:
    """Beside that on labelled questions, under the retriever's name."""
    corpus, log = many_sections(tmp_path, chat)
    situate("compare", corpus.config, "--query-log", log)
    key = written(tmp_path, "key.json")
    first = json.loads(key.read_text("utf-8"))["arms"][0]
    said = judge(
        tmp_path, key, lambda seat: "left" if seat["left"] == first else "right"
    )

    result = situate("compare", corpus.config, "--judged", f"{key}={said}", "--json")

    comparison = json.loads(result.stdout)
    (verdict,) = comparison["verdicts"]
    assert result.exit_code == 0
    assert verdict["retriever"] == "hybrid, judged"
    assert verdict["arm"] == "breadcrumb+statement:findable-v1"
    assert verdict["difference"]["lost"] == 0
    assert verdict["difference"]["won"] == comparison["origins"]["judged"] > 1


def test_judgements_of_another_page_are_refused(tmp_path: Path, chat: Chat) -> None:
    """They say nothing of these rankings."""
    corpus, log = many_sections(tmp_path, chat)
    situate("compare", corpus.config, "--query-log", log)
    key = written(tmp_path, "key.json")
    said = judge(tmp_path, key, lambda _: "same")
    said.write_text(said.read_text("utf-8").replace('"page": "', '"page": "0'), "utf-8")

    result = situate("compare", corpus.config, "--judged", f"{key}={said}")

    assert result.exit_code == 2
    assert "judged.jsonl:1: judged on the page" in result.stderr


def test_a_log_without_statements_leaves_nothing_to_judge(corpus: Corpus) -> None:
    """The report says so, and there is no page."""
    log = corpus.folder / "log.txt"
    log.write_text("whom to ask about the train\n", "utf-8")

    result = situate("compare", corpus.config, "--query-log", log)

    assert result.exit_code == 0
    assert "nothing to judge" in result.stdout
    assert not list((corpus.folder / "out").glob("*blind*"))


def test_questions_and_a_log_go_together(tmp_path: Path, chat: Chat) -> None:
    """One report, and a page beside it."""
    corpus, log = many_sections(tmp_path, chat)
    gold = [{"doc_id": "shelves.md", "text": "Box 7 stands here."}]
    write_questions(tmp_path / "q.jsonl", [{"qid": "a", "query": "7", "gold": gold}])

    comparison = compared(corpus, "--query-log", log)

    assert comparison["questions"] == 1
    assert written(tmp_path, "html").exists()


def test_a_page_that_is_being_judged_is_not_replaced(
    tmp_path: Path, chat: Chat
) -> None:
    """Another log, or another seed, gives another page beside it."""
    corpus, log = many_sections(tmp_path, chat)
    situate("compare", corpus.config, "--query-log", log)
    key = written(tmp_path, "key.json")
    before = key.read_bytes()
    log.write_text("where do the boxes stand\nhow long is a late case\n", "utf-8")

    situate("compare", corpus.config, "--query-log", log, "--seed", "4")

    assert key.read_bytes() == before
    assert len(list(key.parent.glob("*.key.json"))) == 2


def test_a_page_that_nobody_judged_yet_says_so(tmp_path: Path, chat: Chat) -> None:
    """Nothing judged is no verdict, and no crash."""
    corpus, log = many_sections(tmp_path, chat)
    situate("compare", corpus.config, "--query-log", log)
    said = tmp_path / "judged.jsonl"
    said.write_bytes(b"")

    key = written(tmp_path, "key.json")
    result = situate("compare", corpus.config, "--judged", f"{key}={said}")

    assert result.exit_code == 2
    assert "is judged yet" in result.stderr
