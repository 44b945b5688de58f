"""What a comparison may spend: said first, set aside, and never paid twice.

And what its reports say a question takes of the clock.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from situate import load_counter
from situate.compare import trial
from situate.compare.arms import Arm, Entry
from situate.compare.embedders import open_embedder
from situate.compare.questions import Excerpt, Question
from situate.compare.ranking import Index
from situate.compare.vectors import Vectors
from situate.enrichment.cache.store import Store
from situate.errors import CacheBroken
from tests.compare import embedding_servers
from tests.compare.command import LEXICAL, QUESTIONS, SMALL, compare, small_handbook
from tests.compare.planted import write_questions
from tests.support.chat import chatting
from tests.support.corpora import Corpus, asking

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    from typer.testing import Result

    from tests.compare.embedding_servers import Double
    from tests.support.chat import Chat

COUNTER = load_counter("cl100k_base")

PRICED = "text-embedding-3-large"
"""13 cents a million tokens."""

USD = 0.13 / 1_000_000

DENSE = ("--retrievers", "dense", "--statement-in", "both")

SEEN = (*LEXICAL, "--statement-in", "both")

INSTRUCTION = "Represent this passage of a handbook of rules for a search in it: "


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


@pytest.fixture
def vendor() -> Iterator[Double]:
    """Serve vectors."""
    with embedding_servers.speaking() as server:
        yield server


def embedded(vendor: Double, model: str = PRICED) -> tuple[str, ...]:
    """Give the options that ask for vectors there."""
    return ("--embedder", f"openai:{model}", "--embedder-url", vendor.address)


def said_tokens(result: Result) -> int:
    """Give the tokens that were said to be embedded at most."""
    found = re.search(r"embedding: at most ([\d,]+) tokens with ", result.stderr)
    assert found is not None, result.stderr
    return int(found[1].replace(",", ""))


def sent_tokens(vendor: Double) -> int:
    """Count the tokens that were sent to be embedded."""
    return sum(map(COUNTER.count, vendor.texts))


# ---------------------------------------------------------------- what vectors may cost


@pytest.mark.parametrize(
    ("embedder", "options"),
    [
        ({}, ()),
        ({}, ("--levels", "document,leaf")),
        ({"instruction": INSTRUCTION}, ()),
        ({"instruction": INSTRUCTION}, ("--levels", "document,leaf")),
        ({}, ("--baseline", "fixed:30")),
    ],
    ids=["entries", "documents", "instruction", "all of it", "windows"],
)
def test_what_vectors_may_cost_is_what_is_sent(
    corpus: Corpus, vendor: Double, embedder: dict[str, str], options: tuple[str, ...]
) -> None:
    """It is said to the token, but for what joining texts saves."""
    corpus.configure(chunking=SMALL, enrichment={"max_usd": 1}, embedder=embedder)

    result = compare(corpus, *embedded(vendor), *options, *DENSE)

    assert result.exit_code == 0, result.output
    said, sent = said_tokens(result), sent_tokens(vendor)
    assert 0.95 * said < sent <= said
    assert f"with {PRICED}, ${said * USD:.4f}" in result.stderr


def test_a_query_log_is_part_of_what_vectors_may_cost(
    corpus: Corpus, vendor: Double
) -> None:
    """Its queries are embedded as the questions are."""
    corpus.configure(chunking=SMALL, enrichment={"max_usd": 1})
    queries = [f"how many nights are there in month {number}" for number in range(9)]
    log = corpus.folder / "log.txt"
    log.write_text("\n".join(queries), "utf-8")

    without, with_log = (
        said_tokens(compare(corpus, *embedded(vendor), *options, *DENSE))
        for options in ((), ("--query-log", log))
    )

    assert with_log - without == sum(map(COUNTER.count, queries))


@pytest.mark.parametrize(
    ("options", "least"),
    [
        (("--arms", "breadcrumb+statement"), 0.9),
        (
            ("--arms", "breadcrumb+statement", "--prompts", "findable-v1,situating-v1"),
            0.9,
        ),
        (("--arms", "statement", "--levels", "document,leaf"), 0.8),
        (("--statement-in", "dense,both", "--levels", "document,leaf"), 0.3),
    ],
    ids=["one prompt", "two prompts", "documents", "all"],
)
def test_statements_that_are_to_come_are_counted_at_their_longest(
    corpus: Corpus, chat: Chat, options: tuple[str, ...], least: float, vendor: Double
) -> None:
    """Here that is 13 tokens; what two arms share is sent once."""
    priced = {"model": "gpt-6-luna", "max_usd": 1, "statement_max_tokens": 13}
    corpus.configure(
        chunking=SMALL,
        enrichment=asking(chat.address, **priced),
        embedder={"instruction": INSTRUCTION},
    )

    result = compare(corpus, *embedded(vendor), *DENSE, *options)

    assert result.exit_code == 0, result.output
    said = said_tokens(result)
    assert least * said < sent_tokens(vendor) <= said


def test_documents_of_arms_to_come_have_their_instruction_counted(
    corpus: Corpus, chat: Chat, vendor: Double
) -> None:
    """Without a breadcrumb they are other texts than those that are there."""
    priced = {"model": "gpt-6-luna", "max_usd": 1, "statement_max_tokens": 13}
    corpus.configure(
        chunking=SMALL,
        enrichment=asking(chat.address, **priced),
        embedder={"instruction": 20 * INSTRUCTION},
    )
    options = ("--arms", "statement", "--levels", "document,leaf")

    result = compare(corpus, *embedded(vendor), *DENSE, *options)

    assert sent_tokens(vendor) <= said_tokens(result)


@pytest.mark.parametrize("share", [0.9, 1.01], ids=["too low", "enough"])
def test_vectors_are_bought_when_all_of_them_can_be(
    corpus: Corpus, vendor: Double, share: float
) -> None:
    """A model with a known price has it at any address."""
    corpus.configure(chunking=SMALL, enrichment={"max_usd": 1})
    cost = said_tokens(compare(corpus, *embedded(vendor), *DENSE)) * USD
    vendor.bodies.clear()
    limit = f"{cost * share:.9f}"
    corpus.configure(
        chunking=SMALL,
        enrichment={"max_usd": float(limit)},
        cache={"directory": "another"},
    )

    result = compare(corpus, *embedded(vendor), *DENSE)

    if share < 1:
        assert result.exit_code == 2
        assert "enrichment.max_usd is" in result.stderr
        assert not vendor.bodies
    else:
        assert result.exit_code == 0, result.output
        assert vendor.bodies


@pytest.mark.parametrize(
    ("model", "limit"),
    [(PRICED, {"max_usd": 0.00000001}), ("e5", {"max_total_tokens": 200})],
    ids=["dollars", "tokens"],
)
def test_vectors_that_are_too_dear_are_found_before_statements_are_asked(
    corpus: Corpus,
    chat: Chat,
    vendor: Double,
    model: str,
    limit: dict[str, Any],
) -> None:
    """Nobody pays for sentences that cannot be measured."""
    priced = {"model": "gpt-6-luna"} if "max_usd" in limit else {}
    enrichment = asking(chat.address, **limit, **priced)
    corpus.configure(chunking=SMALL, enrichment=enrichment)

    result = compare(corpus, *embedded(vendor, model), *DENSE)

    assert result.exit_code == 2
    assert f"enrichment.{next(iter(limit))} is " in result.stderr
    assert not chat.bodies
    assert not vendor.bodies


# ---------------------------------------------------------------- one limit for all


def statements(result: Result) -> list[int]:
    """Give how many sentences each prompt's arms have."""
    comparison = json.loads(result.stdout)
    found = {
        arm["prompt"]: arm["statements"] for arm in comparison["arms"] if arm["prompt"]
    }
    return list(found.values())


def test_statements_stop_at_what_vectors_leave_of_the_dollars(
    corpus: Corpus, chat: Chat, vendor: Double
) -> None:
    """What is set aside for vectors is there when they are asked for."""
    # Five sentences are within it, five sentences and the vectors are not.
    limited = asking(chat.address, model="gpt-6-luna", max_usd=0.0005, concurrency=1)
    corpus.configure(chunking=SMALL, enrichment=limited)
    free = compare(corpus, "--json", *DENSE)
    corpus.configure(chunking=SMALL, enrichment=limited, cache={"directory": "another"})

    result = compare(corpus, *embedded(vendor), "--json", *DENSE)

    assert (free.exit_code, statements(free)) == (0, [5])
    assert result.exit_code == 3
    assert 0 < statements(result)[0] < 5
    assert vendor.bodies


def test_statements_stop_at_what_vectors_leave_of_the_tokens(
    corpus: Corpus, chat: Chat, vendor: Double
) -> None:
    """Models without a price have tokens for a limit."""
    limited = asking(chat.address, max_total_tokens=3_800, concurrency=1)
    corpus.configure(chunking=SMALL, enrichment=limited)
    free = compare(corpus, "--json", *DENSE)
    corpus.configure(chunking=SMALL, enrichment=limited, cache={"directory": "another"})

    result = compare(corpus, *embedded(vendor, "e5"), "--json", *DENSE)

    assert (free.exit_code, statements(free)) == (0, [5])
    assert result.exit_code == 3
    assert 0 < statements(result)[0] < 5


@pytest.mark.parametrize(
    "limit",
    [
        {"model": "gpt-6-luna", "max_usd": 0.0008},
        {"max_total_tokens": 4_500},
    ],
    ids=["dollars", "tokens"],
)
def test_what_one_prompt_has_spent_another_cannot_spend(
    corpus: Corpus, chat: Chat, limit: dict[str, Any]
) -> None:
    """Each alone is within the limit, together they stop at it."""
    corpus.configure(
        chunking=SMALL, enrichment=asking(chat.address, concurrency=1, **limit)
    )
    alone = compare(corpus, "--prompts", "situating-v1", "--json", *SEEN)
    corpus.configure(
        chunking=SMALL,
        enrichment=asking(chat.address, concurrency=1, **limit),
        cache={"directory": "another"},
    )

    both = compare(corpus, "--prompts", "findable-v1,situating-v1", "--json", *SEEN)

    assert (alone.exit_code, statements(alone)) == (0, [5])
    assert both.exit_code == 3
    first, second = statements(both)
    assert first == 5
    assert second < 5


# ---------------------------------------------------------------- once


KEEPING = """\
def embed(texts):
    with open("called.txt", "a") as file:
        file.writelines(f"{text!r}\\n" for text in texts)
    return [[len(text), text.count("e"), 1] for text in texts]
"""


@pytest.mark.parametrize("broken", ["made", "written"])
def test_each_text_is_embedded_once_where_nothing_can_be_kept(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, broken: str
) -> None:
    """A cache that cannot be made or written costs the next comparison, not this."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "keeping_embedder.py").write_text(KEEPING, "utf-8")
    directory = tmp_path / "cache"
    if broken == "made":
        directory.write_text("a file", "utf-8")

    def refuse(*_: object, **__: object) -> None:
        message = "the disk is full"
        raise CacheBroken(message)

    monkeypatch.setattr(Store, "put", refuse)
    with Vectors(open_embedder("keeping_embedder:embed"), directory) as vectors:
        first = vectors.embed(["an", "entry"], "document")
        more = vectors.embed(["entry", "another", "an"], "document")
        notes = vectors.notes

    asked = (tmp_path / "called.txt").read_text("utf-8").split()
    assert asked == ["'an'", "'entry'", "'another'"]
    assert more[[2, 0]].tolist() == first.tolist()
    assert [note[:21] for note in notes] == ["vectors are not kept:"]


# ---------------------------------------------------------------- checked before


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("--run", "engine=bad.jsonl"), "bad.jsonl:1: "),
        (("--run", "engine=missing.jsonl"), "missing.jsonl: cannot be read"),
        (("--query-log", "twice.jsonl"), "twice.jsonl:2: qid 'a' stands there twice"),
        (("--query-log", "empty.txt"), "no query in it"),
        (("--judged", "bad.jsonl=bad.jsonl"), "bad.jsonl"),
        (("--chunks", "theirs=bad.jsonl"), "bad.jsonl:1: "),
        (("--embedder", "nowhere:embed"), "cannot be imported"),
        (("--reranker", "nowhere:rank"), "cannot be imported"),
        (("--prompts", "findable-v1,other-v9"), "prompt 'other-v9' is unknown"),
        (("--prompts", "findable-v1,question-v1"), "drafts questions"),
        (("--prompts", "findable-v1", "--chunks", "breadcrumb=q.jsonl"), "two arms"),
    ],
    ids=[
        "run", "missing run", "query log", "empty log", "judgements", "chunks",
        "embedder", "reranker", "unknown prompt", "prompt for questions", "names",
    ],
)  # fmt: skip
def test_nobody_is_asked_before_everything_is_checked(
    corpus: Corpus, chat: Chat, options: tuple[str, ...], message: str
) -> None:
    """What is wrong is found while it costs nothing."""
    enrichment = asking(chat.address, model="gpt-6-luna", max_usd=1)
    corpus.configure(chunking=SMALL, enrichment=enrichment)
    write_questions(corpus.folder / "bad.jsonl", [{"qid": "nobody", "schema": 1}])
    rows: list[dict[str, object]] = [{"qid": "a", "query": q} for q in ("b", "c")]
    write_questions(corpus.folder / "twice.jsonl", rows)
    (corpus.folder / "empty.txt").write_text("\n\n", "utf-8")

    result = compare(corpus, *options)

    assert result.exit_code == 2
    assert message in result.stderr
    assert not chat.bodies
    assert not list((corpus.folder / "out").glob("*.html"))


def test_a_key_for_vectors_is_missed_before_statements_are_asked(
    corpus: Corpus, chat: Chat
) -> None:
    """As a wrong key for statements it ends everything."""
    enrichment = asking(chat.address, model="gpt-6-luna", max_usd=1)
    corpus.configure(chunking=SMALL, enrichment=enrichment)

    result = compare(corpus, "--embedder", "openai:text-embedding-3-small")

    assert result.exit_code == 1
    assert "set OPENAI_API_KEY" in result.stderr
    assert not chat.bodies


def test_a_question_file_that_does_not_fit_costs_nothing(
    corpus: Corpus, chat: Chat
) -> None:
    """It is read before anybody is asked."""
    corpus.configure(chunking=SMALL, enrichment=asking(chat.address))
    write_questions(corpus.folder / "q.jsonl", [QUESTIONS[0], QUESTIONS[0]])

    result = compare(corpus, "--retrievers", "dense")

    assert result.exit_code == 2
    assert not chat.bodies


# ---------------------------------------------------------------- time


@dataclass
class Clock:
    """Stands still but for what is said to take time."""

    now: float = 0.0

    def perf_counter(self) -> float:
        """Give the time."""
        return self.now


@pytest.mark.parametrize("drilled", [False, True], ids=["leaves", "documents first"])
def test_a_retriever_takes_what_its_parts_and_its_ranking_take(
    monkeypatch: pytest.MonkeyPatch, drilled: bool
) -> None:
    """The other retrievers that were asked at the same time are not counted."""
    clock = Clock()
    takes = {"bm25": 1.0, "bm25-fields": 3.0, "dense": 10.0}
    score = Index.score

    def slow_score(index: Index, part: Any, *rest: Any) -> Any:
        clock.now += takes[part]
        return score(index, part, *rest)

    class Slow:
        name = "slow"

        def score(self, query: str, texts: Sequence[str]) -> Any:  # noqa: ARG002 - as it is called
            clock.now += 0.25
            return np.zeros(len(texts))

    monkeypatch.setattr(trial, "time", clock)
    monkeypatch.setattr(Index, "score", slow_score)
    entries = tuple(entry(text) for text in ("dogs", "fees"))
    setting = trial.Setting(
        retrievers=("bm25", "bm25-fields", "dense", "hybrid", "hybrid-fields"),
        words=str.split,
        embedder=open_embedder("static"),
        reranker=Slow(),
        drilled=drilled,
    )
    asked = Question(
        qid="q", query="dogs", gold=(Excerpt(doc_id="dogs.md", start=0, end=4),)
    )
    arm = Arm(name="none", kind="none", entries=entries, documents=entries)

    found = trial.try_arm(arm, [asked], setting)

    levels = 2 if drilled else 1
    assert {one.retriever: one.milliseconds for one in found} == {
        "bm25": 1_000 * (levels * 1 + 0.25),
        "bm25-fields": 1_000 * (levels * 3 + 0.25),
        "dense": 1_000 * (levels * 10 + 0.25),
        "hybrid": 1_000 * (levels * 11 + 0.25),
        "hybrid-fields": 1_000 * (levels * 13 + 0.25),
    }


def entry(text: str) -> Entry:
    """Make an entry of a document of its own."""
    return Entry(
        entry_id=text,
        doc_id=f"{text}.md",
        text=text,
        breadcrumb="",
        statement=None,
        dense=text,
        lexical=("", text),
        spans=((0, len(text)),),
        text_tokens=1,
        embed_tokens=1,
    )
