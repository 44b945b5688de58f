"""`compare` with arms from elsewhere, other levels, formats, embedders and judges."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from tests.compare import embedding_servers
from tests.compare.command import (
    LEXICAL,
    QUESTIONS,
    SMALL,
    arms,
    compare,
    compared,
    means,
    situate,
    small_handbook,
)
from tests.compare.planted import write_questions
from tests.readers.docx_files import heading, p, word
from tests.readers.pdf_files import column, pdf
from tests.support.chat import chatting
from tests.support.corpora import Corpus, asking

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from tests.support.chat import Chat

COUNTING = """\
def embed(texts):
    with open("called.txt", "a") as file:
        file.write(f"{len(texts)}\\n")
    return [[len(text), text.count("e"), 1] for text in texts]


def last_first(query, texts):
    return range(len(texts))
"""


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


def lines(file: Path, *rows: dict[str, Any]) -> Path:
    """Write JSON lines."""
    return write_questions(file, rows)


# ---------------------------------------------------------------- arms from elsewhere


def test_the_chunks_of_a_run_score_as_the_arm_they_are(
    corpus: Corpus, chat: Chat
) -> None:
    """The file is judged where its statements are: against the breadcrumb."""
    corpus.configure(chunking=SMALL, enrichment=asking(chat.address)).run()

    comparison = compared(corpus, "--chunks", f"mine={corpus.chunks}")

    theirs = means(comparison, "mine")
    arm = means(comparison, "breadcrumb+statement:findable-v1")
    assert arm
    assert {place: theirs[place] for place in arm} == arm
    verdict = next(each for each in comparison["verdicts"] if each["arm"] == "mine")
    assert verdict["against"] == "breadcrumb"


def test_chunks_of_another_chunker_are_placed_by_their_text(corpus: Corpus) -> None:
    """Gold is evidence, so that other boundaries compare."""
    theirs = lines(
        corpus.folder / "theirs.jsonl",
        {"doc_id": "travel/abroad.md", "text": "Ask the office in charge before a"},
        {"doc_id": "leave.md", "text": "something that stands nowhere in it at all"},
    )

    comparison = compared(corpus, "--chunks", f"theirs={theirs}", *LEXICAL)

    assert means(comparison, "theirs")["bm25", "rec@20"] == pytest.approx(1 / 3)
    assert "theirs: 1 of 2 chunks stand nowhere" in "\n".join(comparison["notes"])


def test_rankings_of_an_engine_count_as_a_retriever(corpus: Corpus) -> None:
    """A question that it leaves out brought nothing."""
    corpus.run()
    answers = {
        question: next(
            record["chunk_id"] for record in corpus.records if words in record["text"]
        )
        for question, words in (("days", "| 10 | 30 |"), ("abroad", "Ask the office"))
    }
    theirs = lines(
        corpus.folder / "run.jsonl",
        *({"qid": qid, "chunk_ids": [chunk]} for qid, chunk in answers.items()),
    )

    comparison = compared(corpus, "--run", f"engine={theirs}", *LEXICAL)

    assert arms(comparison) == ["none", "breadcrumb", "run:engine"]
    assert means(comparison, "run:engine")["run", "rec@1"] == pytest.approx(2 / 3)


@pytest.mark.parametrize(
    ("row", "message"),
    [
        ({"qid": "nobody", "chunk_ids": []}, "qid 'nobody' is no question"),
        ({"qid": "abroad", "chunk_ids": ["nothing"]}, "no chunk 'nothing' in any arm"),
    ],
    ids=["question", "chunk"],
)
def test_a_ranking_of_something_unknown_is_refused_with_its_line(
    corpus: Corpus, row: dict[str, Any], message: str
) -> None:
    """A wrong key would go on to say that the engine finds nothing."""
    theirs = lines(corpus.folder / "run.jsonl", {"qid": "days", "chunk_ids": []}, row)

    result = compare(corpus, "--run", f"engine={theirs}", *LEXICAL)

    assert result.exit_code == 2
    assert f"run.jsonl:2: {message}" in result.stderr


def test_token_windows_join_as_a_baseline(corpus: Corpus) -> None:
    """All of the documents in pieces of at most so many tokens, held against ours."""
    comparison = compared(corpus, "--baseline", "fixed:20", *LEXICAL)

    breadcrumb, windows = comparison["arms"][1:]
    standing = next(
        each for each in comparison["standings"] if each["arm"] == "fixed:20"
    )
    assert (windows["name"], windows["kind"]) == ("fixed:20", "windows")
    assert windows["text_tokens"] <= 20 * windows["entries"]
    assert windows["entries"] > breadcrumb["entries"]
    assert standing["against"] == "breadcrumb"
    assert comparison["verdicts"] == []


# ---------------------------------------------------------------- levels


@pytest.mark.parametrize("granularity", ["tree", "multi"])
def test_other_granularities_have_the_same_leaves(
    corpus: Corpus, granularity: str
) -> None:
    """Parents and paragraphs are indexed by nobody who compares leaves."""
    leaves = compared(corpus, *LEXICAL)
    corpus.configure(chunking={**SMALL, "granularity": granularity})

    comparison = compared(corpus, *LEXICAL)

    assert comparison["standings"] == leaves["standings"]
    assert comparison["arms"] == leaves["arms"]


def test_sections_are_handed_over_for_leaves(corpus: Corpus) -> None:
    """A section cut in two is read as one, once, whatever the config's granularity."""
    corpus.configure(chunking={"max_tokens": 32, "min_tokens": 0})

    leaves = compared(corpus, *LEXICAL)
    sections = compared(corpus, "--return", "section", *LEXICAL)

    def first(comparison: dict[str, Any]) -> list[str]:
        shown = next(one for one in comparison["shown"] if one["qid"] == "abroad")
        hits = shown["hits"]["bm25"]["breadcrumb"]
        return [comparison["entries"][entry]["entry_id"] for entry, _ in hits]

    whole = "travel/abroad.md:travel/abroad"
    assert {f"{whole}:0", f"{whole}:1"} <= set(first(leaves))
    assert first(sections).count(whole) == 1
    assert not [each for each in first(sections) if each.startswith(f"{whole}:")]


def test_drilling_down_looks_into_the_best_documents_alone(tmp_path: Path) -> None:
    """An answer in a document whose outline says nothing of it is not found."""
    corpus = Corpus(folder=tmp_path).configure(chunking={"min_tokens": 0})
    for number in range(10):
        corpus.document(f"{number}.md", f"# Kettle {number}\n\nKeep it dry.\n")
    answer = "A kettle is descaled with vinegar."
    corpus.document("other.md", f"# Stores\n\nOpen daily.\n\n## Notes\n\n{answer}\n")
    write_questions(
        tmp_path / "q.jsonl",
        [
            {
                "qid": "descaling",
                "query": "kettle descaled vinegar",
                "gold": [{"doc_id": "other.md", "text": answer}],
            }
        ],
    )

    flat = compared(corpus, *LEXICAL)
    drilled = compared(corpus, "--levels", "document,leaf", *LEXICAL)

    assert means(flat, "none")["bm25", "rec@1"] == 1
    assert means(drilled, "none")["bm25", "rec@20"] == 0


# ---------------------------------------------------------------- documents


def test_formats_compare_side_by_side(tmp_path: Path) -> None:
    """Gold is found in Markdown, HTML, Word and PDF alike."""
    corpus = Corpus(folder=tmp_path).configure(
        corpus={"documents": ["docs/*"]}, chunking={"min_tokens": 0}
    )
    said = {
        "md": "A kettle is descaled with vinegar.",
        "html": "A stove is lit with dry kindling.",
        "docx": "A ladder is leant at a steady angle.",
        "pdf": "A hammer is hung above the bench.",
    }
    corpus.document("a.md", f"# Kettles\n\n{said['md']}\n")
    corpus.document("b.html", f"<h1>Stoves</h1><p>{said['html']}</p>")
    corpus.document("c.docx", word(heading("Ladders"), p(said["docx"])))
    corpus.document("d.pdf", pdf(column([said["pdf"]])))
    write_questions(
        tmp_path / "q.jsonl",
        [
            {"qid": end, "query": text, "gold": [{"doc_id": name, "text": text}]}
            for name, (end, text) in zip(
                ("a.md", "b.html", "c.docx", "d.pdf"), said.items(), strict=True
            )
        ],
    )

    comparison = compared(corpus, "--baseline", "fixed:30")

    assert comparison["documents"] == comparison["clusters"] == 4
    for arm in ("none", "breadcrumb", "fixed:30"):
        found = means(comparison, arm)
        assert {found[one, "rec@1"] for one in ("bm25", "dense", "hybrid")} == {1.0}


def test_a_bad_document_is_named_and_costs_nothing_else(corpus: Corpus) -> None:
    """The figures are those without it."""
    without = compared(corpus, *LEXICAL)
    corpus.document("bad.md", b"%PDF-1.7 ...")

    comparison = compared(corpus, *LEXICAL)

    (note,) = (note for note in comparison["notes"] if note not in without["notes"])
    assert note.startswith("not compared: bad.md: found a PDF")
    assert comparison["standings"] == without["standings"]
    assert comparison["documents"] == 2


# ---------------------------------------------------------------- embedders


def test_an_embedder_may_be_a_function_of_the_users(corpus: Corpus) -> None:
    """What it gave is kept, and it is not called again."""
    (corpus.folder / "counting_embedder.py").write_text(COUNTING, "utf-8")

    first = compared(corpus, "--embedder", "counting_embedder:embed")
    called = (corpus.folder / "called.txt").read_text("utf-8")
    again = compared(corpus, "--embedder", "counting_embedder:embed")

    assert first["embedder"] == "counting_embedder:embed"
    assert called
    assert (corpus.folder / "called.txt").read_text("utf-8") == called
    assert means(again, "none") == means(first, "none")


def test_a_reranker_orders_what_was_found(corpus: Corpus) -> None:
    """Here the other way round."""
    (corpus.folder / "reversing_reranker.py").write_text(COUNTING, "utf-8")

    plain = compared(corpus, *LEXICAL)
    turned = compared(corpus, "--reranker", "reversing_reranker:last_first", *LEXICAL)

    for one, other in zip(plain["shown"], turned["shown"], strict=True):
        before = [plain["entries"][at] for at, _ in one["hits"]["bm25"]["none"]]
        after = [turned["entries"][at] for at, _ in other["hits"]["bm25"]["none"]]
        assert after == before[::-1]
        assert len(after) > 1


def test_a_server_is_asked_for_vectors_once(corpus: Corpus) -> None:
    """They are kept like replies; a server of one's own has no price."""
    with embedding_servers.speaking() as server:
        options = ("--embedder", "openai:e5", "--embedder-url", server.address)
        first = compare(corpus, *options)
        texts = len(server.texts)
        again = compare(corpus, *options)
        asked = len(server.texts)

    assert (first.exit_code, again.exit_code) == (0, 0)
    assert asked == texts == len(set(server.texts)) > 0
    assert "embedding: at most" not in first.stderr


@pytest.mark.parametrize(
    ("limit", "message"),
    [
        ({}, "enrichment.max_usd is unset"),
        ({"max_usd": 0.0000001}, "enrichment.max_usd is 1E-7"),
    ],
    ids=["no limit", "too low"],
)
def test_vectors_with_a_price_need_a_limit_that_holds_it(
    corpus: Corpus, limit: dict[str, float], message: str
) -> None:
    """What they may cost is said, and nothing is sent."""
    corpus.configure(chunking=SMALL, enrichment=limit)

    result = compare(corpus, "--embedder", "openai:text-embedding-3-small")

    assert result.exit_code == 2
    assert "embedding: at most" in result.stderr
    assert "tokens with text-embedding-3-small, $" in result.stderr
    assert message in result.stderr


def test_lexical_retrievers_need_no_vectors(corpus: Corpus) -> None:
    """Nor a limit for what nobody asks for."""
    result = compare(corpus, "--embedder", "openai:text-embedding-3-small", *LEXICAL)

    assert result.exit_code == 0
    assert "embedding" not in result.stderr


# ---------------------------------------------------------------- people judge


def judge(folder: Path, key: Path, choose: Any) -> Path:
    """Say of every question of a page what `choose` says of its seat."""
    said = json.loads(key.read_text("utf-8"))
    return lines(
        folder / "judged.jsonl",
        *(
            {"page": said["page"], "qid": seat["qid"], "choice": choose(seat)}
            for seat in said["questions"]
        ),
    )


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


def test_a_query_log_gives_a_page_to_judge_on(tmp_path: Path, chat: Chat) -> None:
    """Page and key apart; no question has to be labelled."""
    corpus, log = many_sections(tmp_path, chat)

    result = situate("compare", corpus.config, "--query-log", log)

    out = tmp_path / "out"
    assert result.exit_code == 0
    page = (out / "handbook.compare.blind-1.html").read_text("utf-8")
    key = json.loads((out / "handbook.compare.blind-1.key.json").read_text("utf-8"))
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
    key = tmp_path / "out" / "handbook.compare.blind-1.key.json"
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
    key = tmp_path / "out" / "handbook.compare.blind-1.key.json"
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


def test_questions_and_a_log_go_together(corpus: Corpus, chat: Chat) -> None:
    """One report, and a page beside it."""
    corpus.configure(chunking=SMALL, enrichment=asking(chat.address))
    log = lines(corpus.folder / "log.jsonl", {"qid": "mine", "query": "a rare case"})

    comparison = compared(corpus, "--query-log", log)

    assert comparison["questions"] == len(QUESTIONS)
    assert (corpus.folder / "out" / "handbook.compare.blind-1.html").exists()
