"""`compare` with arms from elsewhere, other levels, formats, embedders and judges."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from tests.compare import embedding_servers
from tests.compare.command import (
    LEXICAL,
    SMALL,
    arms,
    compare,
    compared,
    means,
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
    """They are kept like replies; what they cost is not known."""
    with embedding_servers.speaking() as server:
        options = ("--embedder", "openai:e5", "--embedder-url", server.address)
        first = compare(corpus, *options)
        texts = len(server.texts)
        again = compare(corpus, *options)
        asked = len(server.texts)

    assert (first.exit_code, again.exit_code) == (0, 0)
    assert asked == texts == len(set(server.texts)) > 0
    assert "e5, whose price is not known" in first.stderr


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


@pytest.mark.parametrize("option", ["baseline", "chunks"])
def test_arms_without_a_level_above_are_ranked_as_they_are(
    corpus: Corpus, option: str
) -> None:
    """Windows and chunks from elsewhere know no documents to drill down from."""
    corpus.run()
    arm = {"baseline": "fixed:40", "chunks": f"mine={corpus.chunks}"}[option]

    comparison = compared(corpus, f"--{option}", arm, "--levels", "document,leaf")

    assert len(comparison["arms"]) == 3


def test_a_report_is_no_document_of_the_next_comparison(tmp_path: Path) -> None:
    """Globs may match what situate has written beside its output."""
    patterns = ["**/*.md", "**/*.html"]
    corpus = small_handbook(tmp_path, corpus={"documents": patterns})
    corpus.document("kind.html", "<h1>Rules</h1><p>Be kind to each other.</p>")
    gold = [{"doc_id": "docs/kind.html", "text": "Be kind"}]
    rows = [{"qid": "a", "query": "kind", "gold": gold}]
    write_questions(tmp_path / "q.jsonl", rows)

    counts = [compared(corpus, *LEXICAL)["documents"] for _ in range(2)]

    assert counts[0] == counts[1]


def test_statements_that_no_retriever_sees_are_not_paid_for(
    corpus: Corpus, chat: Chat
) -> None:
    """A lexical index does not hold what `run` puts into the dense one."""
    corpus.configure(chunking=SMALL, enrichment=asking(chat.address))

    unnamed = compare(corpus, *LEXICAL)
    named = compare(corpus, *LEXICAL, "--arms", "breadcrumb,breadcrumb+statement")

    assert (unnamed.exit_code, named.exit_code) == (0, 2)
    assert "--statement-in both" in named.stderr
    assert not chat.bodies


def test_a_prompt_for_questions_writes_no_statements(
    corpus: Corpus, chat: Chat
) -> None:
    """An index that holds the questions themselves answers every one of them."""
    corpus.configure(chunking=SMALL, enrichment=asking(chat.address))

    result = compare(corpus, "--prompts", "question-v1")

    assert result.exit_code == 2
    assert "drafts questions" in result.stderr
    assert not chat.bodies


def test_names_far_from_any_embedder_get_no_suggestion(corpus: Corpus) -> None:
    """A guess that is wrong is worse than the list."""
    result = compare(corpus, "--embedder", "nope")

    assert "there are 'static'" in result.stderr
    assert "did you mean" not in result.stderr
