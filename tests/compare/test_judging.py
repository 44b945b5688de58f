"""What verdicts are given on, by which questions, and when they are left open."""

from __future__ import annotations

import json
from dataclasses import replace
from decimal import Decimal
from typing import TYPE_CHECKING, Any

import pytest

from situate.compare.arms import Arm, Entry, Statements
from situate.compare.comparison import Difference
from situate.compare.measures import Cuts
from situate.compare.questions import Excerpt, Question
from situate.compare.summary import (
    Terms,
    counted_of,
    judged_arms,
    rivals,
    summarize,
)
from situate.compare.trial import Result
from situate.compare.verdicts import Candidate, verdicts
from situate.config import load
from situate.pipeline.jobs import ready
from tests.compare.command import (
    LEXICAL,
    arms,
    compare,
    compared,
    situate,
    small_handbook,
)
from tests.compare.planted import THINGS, plant, record, write_questions
from tests.support.chat import Answer, chatting, statement
from tests.support.corpora import Corpus, Heard, asking

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from pathlib import Path

    from situate.compare.comparison import Origin, Verdict
    from tests.support.chat import Chat

SENTENCE = "People ask here what they have to do."
STATED = "breadcrumb+statement:findable-v1"
TERMS = Terms(cuts=Cuts(ks=(1,), budgets=(100,)), margin=0.02, seed=1)


@pytest.fixture
def chat() -> Iterator[Chat]:
    """Serve a chat model that answers every question."""
    with chatting() as server:
        yield server


def entry(text: str, said: str | None = None, line: str = "") -> Entry:
    """Make an entry of the only document."""
    return Entry(
        entry_id=f"a.md:{text}",
        doc_id="a.md",
        text=text,
        breadcrumb=line,
        statement=said,
        dense="\n".join(filter(None, (line, said, text))),
        lexical=(line, text),
        spans=((0, 10),),
        text_tokens=10,
        embed_tokens=20,
    )


def arm(kind: Any, *, said: str | None = None, name: str | None = None) -> Arm:
    """Make an arm of two entries, with sentences or without."""
    found = Arm(name=name or kind, kind=kind, entries=(entry("a", said), entry("b")))
    if said is None or kind == "file":
        return found
    statements = Statements(prompt="p-v1", by_chunk={"a.md:a": said}, usd=Decimal(2))
    return replace(found, statements=statements, placing="both")


CRUMB = arm("breadcrumb")
MERGED = arm("breadcrumb+statement", said="S.")


# ---------------------------------------------------------------- held against what


TITLED = ("--statement-in", "both", "--budget", "30", "--margin", "0.3", *LEXICAL)
"""One section is read; so few documents show what is larger than the margin."""


@pytest.fixture(scope="module")
def titled(tmp_path_factory: pytest.TempPathFactory) -> Corpus:
    """Write documents that only their title tells apart, and idle sentences."""
    folder = tmp_path_factory.mktemp("titled")
    corpus = Corpus(folder=folder).configure(
        chunking={"min_tokens": 0},
        enrichment={
            "enabled": True,
            "provider": "replay",
            "model": "claude-haiku-5-5",
            "prompt": "findable-v1",
            "view": "full",
            "replay": "cassette.jsonl",
        },
    )
    tools = [thing.split()[1] for thing in THINGS[:12]]
    late = "In the evening whoever is on duty looks after it and locks the room."
    for tool in tools:
        corpus.document(
            f"{tool}.md",
            f"# The {tool}\n\n## Morning\n\nIt is cleaned and counted when the day "
            f"begins, and put where others find it.\n\n## Evening\n\n{late}\n",
        )
    record(corpus, [SENTENCE] * (2 * len(tools)))
    write_questions(
        folder / "q.jsonl",
        [
            {
                "qid": tool,
                "query": f"Who on duty looks after the {tool} in the evening?",
                "gold": [{"doc_id": f"{tool}.md", "text": late}],
            }
            for tool in tools
        ],
    )
    return corpus


@pytest.mark.parametrize(
    ("named", "made"),
    [
        ("none,breadcrumb+statement", ["none", "breadcrumb", STATED]),
        ("breadcrumb+statement", ["breadcrumb", STATED]),
    ],
    ids=["none", "no other"],
)
def test_sentences_are_not_credited_with_the_breadcrumb(
    titled: Corpus, named: str, made: list[str]
) -> None:
    """The breadcrumb answers everything here, so that the sentences gain nothing."""
    comparison = compared(titled, "--arms", named, *TITLED)

    (verdict,) = comparison["verdicts"]
    means = {
        each["arm"].removesuffix(":both"): each["mean"]
        for each in comparison["standings"]
        if each["measure"] == "rec@30r"
    }
    assert [name.removesuffix(":both") for name in arms(comparison)] == made
    assert means.get("none", 0) < means["breadcrumb"] == means[STATED] == 1
    assert (verdict["against"], verdict["choice"]) == ("breadcrumb", "skip")
    assert verdict["difference"]["mean"] == verdict["recovered"] == 0


@pytest.mark.parametrize("named", ["statement", "breadcrumb,statement"])
def test_sentences_alone_are_held_against_the_breadcrumb(
    titled: Corpus, named: str
) -> None:
    """What costs nothing is what they have to beat."""
    comparison = compared(titled, "--arms", named, *TITLED)

    (verdict,) = comparison["verdicts"]
    assert arms(comparison) == ["breadcrumb", "statement:findable-v1:both"]
    assert (verdict["against"], verdict["choice"]) == ("breadcrumb", "skip")
    assert verdict["difference"]["mean"] < 0


def test_a_sentence_below_a_breadcrumb_needs_one_to_be_held_against() -> None:
    """Against nothing in front it would be credited with both."""
    against = rivals([arm("none"), MERGED])

    assert against == {"none": None, "breadcrumb+statement": None}


def test_sentences_alone_are_judged_where_nothing_else_has_any() -> None:
    """Nobody indexes them without the breadcrumb."""
    alone = arm("statement", said="S.")

    assert judged_arms([CRUMB, alone, MERGED]) == (MERGED,)
    assert judged_arms([CRUMB, alone]) == (alone,)


# ---------------------------------------------------------------- which questions


def asked(origins: Sequence[Origin]) -> list[Question]:
    """Make questions, each about a document of its own."""
    return [
        Question(
            qid=f"q{number}",
            query="?",
            gold=(Excerpt(doc_id=f"{number}.md", start=0, end=5),),
            origin=origin,
        )
        for number, origin in enumerate(origins)
    ]


def results(ours: Sequence[float], theirs: Sequence[float]) -> list[Result]:
    """Give the same numbers for every measure."""
    return [
        Result(
            arm=name,
            retriever="bm25",
            measures=dict.fromkeys(TERMS.cuts.measures, tuple(values)),
            first=(),
            milliseconds=None,
        )
        for name, values in ((CRUMB.name, theirs), (MERGED.name, ours))
    ]


def decided(
    questions: Sequence[Question],
    ours: Sequence[float],
    theirs: Sequence[float],
    stated: Arm = MERGED,
) -> Verdict:
    """Decide on the only arm with sentences."""
    found = summarize([CRUMB, stated], results(ours, theirs), questions, (), TERMS)
    (verdict,) = found.verdicts
    return verdict


def test_verdicts_go_by_the_questions_that_were_given() -> None:
    """Drafted ones change neither the figures nor the choice beside them."""
    origins: list[Origin] = ["drafted", "given"] * 40

    verdict = decided(asked(origins), [0.0, 1.0] * 40, [1.0, 0.0] * 40)

    assert verdict.choice == "keep"
    assert (verdict.difference.mean, verdict.difference.questions) == (1, 40)
    assert (verdict.difference.won, verdict.difference.lost) == (40, 0)


def test_drafted_questions_decide_where_there_are_no_others() -> None:
    """A skip needs no better evidence; a keep is left undecided."""
    questions = asked(["drafted"] * 40)

    lost = decided(questions, [0.0] * 40, [1.0] * 40)
    won = decided(questions, [1.0] * 40, [0.0] * 40)

    assert (lost.choice, won.choice) == ("skip", "undecided")
    assert lost.difference.questions == 40


@pytest.mark.parametrize(
    ("origins", "expected"),
    [
        (["drafted", "given", "drafted", "given"], [1, 3]),
        (["drafted", "drafted"], [0, 1]),
        ([], []),
    ],
    ids=["some given", "all drafted", "none"],
)
def test_given_questions_are_those_that_count(
    origins: list[Origin], expected: list[int]
) -> None:
    """By their places, in order."""
    assert counted_of(asked(origins)) == expected


def test_the_frontier_counts_given_questions_alone(tmp_path: Path) -> None:
    """Drafted ones move no point of it where others are given."""
    planted = plant(tmp_path, "wins", documents=3)
    rows = [json.loads(line) for line in planted.questions.read_text().splitlines()]
    options = (*planted.arguments, "--statement-in", "dense", "--json")

    def frontier(questions: list[dict[str, object]]) -> Any:
        write_questions(planted.questions, questions)
        result = situate(*options)
        assert result.exit_code == 0, result.output
        return json.loads(result.stdout)["frontier"]

    given = frontier(rows[:12])
    both = frontier(rows[:12] + [row | {"drafted": True} for row in rows[12:]])

    assert given
    assert both == given


# ---------------------------------------------------------------- what is lacking


def unpriced(chat: Chat, folder: Path, **keys: object) -> Corpus:
    """Write the handbook's config to ask the server."""
    return small_handbook(folder, enrichment=asking(chat.address, **keys))


def some(answer: Answer, but: int) -> Callable[[dict[str, Any]], Answer]:
    """Give the answer to every question but the first so many."""
    seen: list[object] = []

    def answers(body: dict[str, Any]) -> Answer:
        seen.append(body)
        return statement(body) if len(seen) <= but else answer

    return answers


@pytest.mark.parametrize(
    ("answer", "keys", "reason"),
    [
        (Answer(status=400, text="{}"), {}, "3 of 5 chunks got no statement, above"),
        (
            Answer(status=402, text='{"error": {"code": "insufficient_quota"}}'),
            {},
            "chunks were not asked about",
        ),
        (
            *(Answer(status=503, text="{}"), {"max_attempts": 1}),
            "findable-v1: 3 chunks have no statement",
        ),
        (None, {"max_total_tokens": 2_300}, "chunks were not asked about"),
    ],
    ids=["refused", "stopped", "outage", "budget"],
)
def test_sentences_that_could_not_be_had_leave_it_undecided(
    tmp_path: Path,
    chat: Chat,
    answer: Answer | None,
    keys: dict[str, object],
    reason: str,
) -> None:
    """Of what nobody wrote nothing can be said; 3 says so on stderr, too."""
    corpus = unpriced(chat, tmp_path, concurrency=1, **keys)
    if answer is not None:
        chat.answer = some(answer, 2)

    result = compare(corpus, "--json", "--retrievers", "dense")

    comparison = json.loads(result.stdout)
    (verdict,) = comparison["verdicts"]
    said = next(each for each in comparison["arms"] if each["name"] == STATED)
    assert result.exit_code == 3
    assert 0 < said["statements"] < 5
    assert verdict["choice"] == "undecided"
    assert f": only {said['statements']} of 5 chunks have" in verdict["reason"]
    assert "incomplete: findable-v1: " in result.stderr
    assert reason in result.stderr


def test_replies_that_a_cassette_lacks_leave_it_undecided(tmp_path: Path) -> None:
    """However much those it has would gain."""
    planted = plant(tmp_path, "wins", documents=10)
    cassette = planted.corpus.folder / "cassette.jsonl"
    replies = cassette.read_text("utf-8").splitlines(keepends=True)
    cassette.write_text("".join(replies[:45]), "utf-8")

    result = situate(*planted.arguments, "--json")

    found = json.loads(result.stdout)["verdicts"]
    assert result.exit_code == 3
    assert [each["choice"] for each in found] == ["undecided"] * 2
    assert all("only 45 of 60 chunks" in each["reason"] for each in found)
    assert "incomplete: findable-v1: 15 of 60 chunks got no statement" in result.stderr


def test_as_many_as_a_run_may_lack_are_no_matter(tmp_path: Path) -> None:
    """The verdict is given, and nothing is incomplete."""
    planted = plant(tmp_path, "wins", documents=10)
    cassette = planted.corpus.folder / "cassette.jsonl"
    replies = cassette.read_text("utf-8").splitlines(keepends=True)
    cassette.write_text("".join(replies[:45]), "utf-8")
    config = planted.corpus.config
    with config.open("a", encoding="utf-8") as file:
        file.write("\nmax_fallback_share = 0.25\n")

    result = situate(*planted.arguments, "--json")

    found = json.loads(result.stdout)["verdicts"]
    assert result.exit_code == 0, result.output
    assert [each["choice"] for each in found] == ["keep"] * 2


def test_sentences_that_the_gate_refuses_are_part_of_what_is_judged(
    tmp_path: Path, chat: Chat
) -> None:
    """It is what this model makes of this corpus."""
    corpus = unpriced(chat, tmp_path, concurrency=1)
    chat.answer = some(Answer(text="See https://example.org"), 2)

    result = compare(corpus, "--json", "--retrievers", "dense")

    (verdict,) = json.loads(result.stdout)["verdicts"]
    assert "url 3" in result.stderr
    assert "chunks have their sentence" not in verdict["reason"]


def test_an_arm_that_lacks_sentences_is_never_kept() -> None:
    """Neither kept nor skipped, whatever the figures say."""
    assert MERGED.statements is not None
    lacking = replace(MERGED, statements=replace(MERGED.statements, unanswered=1))
    questions = asked(["given"] * 40)

    choices = {
        decided(questions, [ours] * 40, [1 - ours] * 40, lacking).choice
        for ours in (0.0, 1.0)
    }

    assert choices == {"undecided"}


# ---------------------------------------------------------------- what can be shown


OPEN = Candidate(
    retriever="dense",
    arm=STATED,
    against="breadcrumb",
    measure="rec@2000r",
    difference=Difference(
        mean=0.01,
        low=-0.03,
        high=0.05,
        p=0.6,
        detectable=0.06,
        questions=120,
        clusters=40,
        won=4,
        lost=3,
    ),
    drafted=False,
    usd=None,
    baseline=0.5,
)


def reason(candidate: Candidate) -> str:
    """Say why there is no decision on it."""
    (verdict,) = verdicts([candidate])
    assert verdict.choice == "undecided"
    return verdict.reason


def test_a_baseline_that_leaves_nothing_to_gain_is_said() -> None:
    """No number of questions would show a gain there is no room for."""
    assert reason(replace(OPEN, baseline=0.962)).endswith(
        "no difference shown. breadcrumb alone reaches 0.962, which leaves 0.038 to "
        "gain: less than so many questions can show. A smaller budget leaves more."
    )


def test_a_baseline_with_room_above_it_asks_for_questions() -> None:
    """As long as what is left could be shown."""
    assert "it takes about" in reason(replace(OPEN, baseline=0.93))


def test_a_verdict_knows_what_its_baseline_reaches() -> None:
    """The mean of the arm it is held against, on the questions that count."""
    origins: list[Origin] = ["given"] * 30 + ["drafted"] * 30

    ours = [1.0] * 27 + [0.0, 0.0, 1.0]
    theirs = [1.0] * 29 + [0.0]

    verdict = decided(asked(origins), ours + [0.0] * 30, theirs + [0.0] * 30)

    assert verdict.choice == "undecided"
    assert "breadcrumb alone reaches 0.967, which leaves 0.033" in verdict.reason


def test_drafted_questions_are_not_asked_for_by_the_thousand() -> None:
    """Undecided on them is not decided by more of them."""
    assert reason(replace(OPEN, drafted=True)).endswith(
        "no difference shown. Drafted questions earn no keep, however many: give or "
        "judge some."
    )


# ---------------------------------------------------------------- what it costs


def test_sentences_are_priced_at_most_and_as_if_nothing_were_at_hand(
    tmp_path: Path,
) -> None:
    """The upper end of what a plan says, whatever a cassette or cache has."""
    planted = plant(tmp_path, "wins", documents=3)
    (job,) = ready(load([planted.corpus.config], environment={}))
    estimate = job.forecast(job.sources(), Heard()).estimate
    assert estimate is not None
    assert estimate.usd_low is not None
    assert estimate.usd_high is not None

    result = situate(*planted.arguments, "--json")

    prices = {each["usd"] for each in json.loads(result.stdout)["verdicts"]}
    assert prices == {str(estimate.usd_high)}
    assert estimate.usd_low < estimate.usd_high
