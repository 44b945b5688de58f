"""Query logs: questions without labels, judged by a person who sees no names."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from decimal import Decimal
from typing import TYPE_CHECKING, Any

import pytest

from situate.compare.arms import Arm, Entry, Statements
from situate.compare.blind import Judged, Judgement, Key, Seat
from situate.compare.measures import Cuts
from situate.compare.querylog import (
    basis,
    check_judged,
    judged_difference,
    load_log,
    read_judged,
)
from situate.compare.summary import Terms, summarize
from situate.errors import RecordError
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


# ---------------------------------------------------------------- what was judged

OURS = "breadcrumb+statement:p-v1"
TERMS = Terms(cuts=Cuts(), margin=0.02, seed=1)


def arm_of(kind: Any, statement: str | None = None) -> Arm:
    """Make an arm of one entry."""
    entry = Entry(
        entry_id="a.md:a",
        doc_id="a.md",
        text="text",
        breadcrumb="A",
        statement=statement,
        dense="\n".join(filter(None, ("A", statement, "text"))),
        lexical=("A", "text"),
        spans=((0, 4),),
        text_tokens=1,
        embed_tokens=2,
    )
    if statement is None:
        return Arm(name=kind, kind=kind, entries=(entry,))
    said = Statements(prompt="p-v1", by_chunk={"a.md:a": statement}, usd=Decimal(3))
    return Arm(name=OURS, kind=kind, entries=(entry,), statements=said, placing="dense")


CRUMB = arm_of("breadcrumb")
MERGED = arm_of("breadcrumb+statement", "Says a.")


def judged(
    won: int, lost: int = 0, same: int = 0, *, unjudged: int = 0, share: float = 0.25
) -> Judged:
    """Judge the differing share of a log, each question of a page for itself alone."""
    arms = (f"dense: {OURS}", "dense: breadcrumb")
    winners = [arms[0]] * won + [arms[1]] * lost + [None] * same
    qids = [f"log{number}" for number in range(len(winners) + unjudged)]
    return Judged(
        key=Key(
            page="page",
            arms=arms,
            seed=1,
            differing_share=share,
            seats=tuple(Seat(qid=qid, left=arms[0], weight=1.0) for qid in qids),
            basis=basis(MERGED, CRUMB),
        ),
        judgements=tuple(
            Judgement(qid=qid, said="same", winner=winner)
            for qid, winner in zip(qids, winners, strict=False)
        ),
        unjudged=tuple(qids[len(winners) :]),
    )


def verdict_on(found: Judged, *arms: Arm) -> Any:
    """Decide on what was judged, and on nothing else."""
    return summarize(arms or (CRUMB, MERGED), (), (), [found], TERMS).verdicts[0]


@pytest.mark.parametrize("share", [1.0, 0.5, 0.1])
def test_what_is_judged_counts_for_the_share_that_differs(share: float) -> None:
    """Where both hand over the same, nobody is better off."""
    whole = judged_difference(judged(18, 6, 6, share=1.0), seed=1)

    found = judged_difference(judged(18, 6, 6, share=share), seed=1)

    assert whole.mean == pytest.approx((18 - 6) / 30)
    assert (found.mean, found.low, found.high, found.detectable) == pytest.approx(
        tuple(
            share * one for one in (whole.mean, whole.low, whole.high, whole.detectable)
        )
    )
    assert (found.questions, found.won, found.lost) == (30, 18, 6)
    assert found.p == whole.p


def test_what_is_recovered_is_of_the_log() -> None:
    """Of 160 queries 40 differ, and 30 of those are better off."""
    verdict = verdict_on(judged(35, 5))

    assert verdict.recovered == 30
    assert verdict.usd_per_recovered == Decimal("0.1")
    assert "40 judged questions, for a log of 160" in verdict.reason
    assert verdict.choice == "keep"


def test_a_sample_of_what_differs_speaks_for_all_of_the_log() -> None:
    """Each question of the page stands for as many as were not drawn beside it."""
    found = judged(35, 5)
    seats = tuple(replace(seat, weight=4.0) for seat in found.key.seats)
    drawn = replace(found, key=replace(found.key, seats=seats))

    verdict = verdict_on(drawn)

    assert verdict.difference.mean == pytest.approx(0.25 * 30 / 40)
    assert verdict.recovered == 120


def test_an_unfinished_page_is_undecided_and_says_how_much_is_left() -> None:
    """Whoever stops at what they like decides nothing by it."""
    verdict = verdict_on(judged(35, unjudged=5))

    assert verdict.choice == "undecided"
    assert verdict.reason.endswith("5 questions of the page are not judged yet.")


@pytest.mark.parametrize(
    "arms",
    [
        (CRUMB, arm_of("breadcrumb+statement", "Says b.")),
        (replace(CRUMB, entries=(replace(CRUMB.entries[0], dense="B"),)), MERGED),
        (replace(CRUMB, entries=CRUMB.entries * 2), MERGED),
        (MERGED,),
    ],
    ids=["other sentences", "other chunks", "more chunks", "no breadcrumb"],
)
def test_what_was_judged_of_other_texts_is_refused(arms: tuple[Arm, ...]) -> None:
    """Judgements hold for what was shown and for nothing else."""
    with pytest.raises(RecordError, match="about other chunks or sentences than these"):
        verdict_on(judged(3), *arms)


def test_what_was_judged_of_another_arm_is_refused() -> None:
    """The prompt that is missing is asked for, before any sentence is."""
    with pytest.raises(RecordError, match=re.escape(f"the arm {OURS!r}, which is not")):
        check_judged([judged(3)], {"breadcrumb"})


def saved(folder: Path, **changes: Any) -> tuple[str, Path]:
    """Write a key, with other values where they are given, and one judgement."""
    key = folder / "page.key.json"
    key.write_text(json.dumps(json.loads(judged(3).key.to_json()) | changes), "utf-8")
    file = folder / "judged.jsonl"
    write_questions(file, [{"page": "page", "qid": "log1", "choice": "left"}])
    return str(key), file


def test_a_page_that_is_given_twice_is_refused(tmp_path: Path) -> None:
    """Its questions would count twice."""
    once = saved(tmp_path)

    with pytest.raises(RecordError, match="the page 'page' is given twice"):
        read_judged([once, once])


@pytest.mark.parametrize("share", [0, -0.5, 1.5, float("nan"), float("inf"), True])
def test_a_share_that_is_none_is_refused(tmp_path: Path, share: float) -> None:
    """Every difference is multiplied by it."""
    with pytest.raises(RecordError, match=r"page\.key\.json"):
        read_judged([saved(tmp_path, differing_share=share)])


def test_all_of_a_log_may_differ(tmp_path: Path) -> None:
    """A share of 1 is one."""
    (found,) = read_judged([saved(tmp_path, differing_share=1)])

    assert found.key.differing_share == 1
    assert len(found.unjudged) == 2


# ---------------------------------------------------------------- logs


def test_a_log_with_one_qid_twice_is_refused(tmp_path: Path) -> None:
    """Judgements name questions by it."""
    rows: list[dict[str, object]] = [
        {"qid": "a", "query": "what is asked"},
        {"qid": "a", "query": "something else"},
    ]

    with pytest.raises(RecordError, match=r"log.jsonl:2: qid 'a' stands there twice"):
        load_log(write_questions(tmp_path / "log.jsonl", rows))


def test_equal_queries_of_a_log_count_once(tmp_path: Path) -> None:
    """Under the qid that came first."""
    log = tmp_path / "log.txt"
    log.write_text(
        'who pays\n{"qid": "b", "query": "who pays "}\n\nwho asks\n', "utf-8"
    )

    found = load_log(log)

    assert [(one.qid, one.query) for one in found] == [
        ("log1", "who pays"),
        ("log4", "who asks"),
    ]
