"""Files that a comparison is given, and what it may not write over."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest

from situate import load_counter
from situate.compare import notes
from situate.compare.arms import Arm, Entry
from situate.compare.embedders import open_embedder, open_reranker
from situate.compare.grounds import Ground
from situate.compare.measures import Cuts
from situate.compare.outside import chunk_file, run_file
from situate.compare.questions import Excerpt, Question, load
from situate.compare.summary import judged_arms, rivals
from situate.compare.trial import Setting, try_run
from situate.errors import ConfigError, RecordError
from tests.compare.command import (
    LEXICAL,
    QUESTIONS,
    compare,
    compared,
    situate,
    small_handbook,
)
from tests.compare.planted import write_questions

if TYPE_CHECKING:
    from pathlib import Path

    from situate.compare.outside import Run
    from tests.support.corpora import Corpus

COUNTER = load_counter("cl100k_base")
LEAVE = "Thirty days are granted each year.\nUnused days lapse in March.\n"
FEES = "A copy costs two crowns.\nA seal costs five.\n"
GROUNDS = {
    "leave.md": Ground("leave.md", LEAVE, {}),
    "fees.md": Ground("fees.md", FEES, {}),
}
SETTING = Setting(retrievers=(), words=str.split, embedder=None, cuts=Cuts())


@pytest.fixture
def corpus(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Corpus:
    """Work in the folder of a corpus that asks nobody."""
    monkeypatch.chdir(tmp_path)
    return small_handbook(tmp_path)


def entry(entry_id: str, text: str, doc_id: str = "leave.md") -> Entry:
    """Make an entry of a place in a document."""
    start = GROUNDS[doc_id].text.find(text)
    return Entry(
        entry_id=entry_id,
        doc_id=doc_id,
        text=text,
        breadcrumb="",
        statement=None,
        dense=text,
        lexical=("", text),
        spans=((start, start + len(text)),) if start >= 0 else (),
        text_tokens=10,
        embed_tokens=10,
    )


def arm(name: str, *entries: Entry, kind: Any = None) -> Arm:
    """Make an arm, of a kind of its own name."""
    return Arm(name=name, kind=kind or name, entries=entries)


def question(qid: str, text: str, *excluded: str, doc_id: str = "leave.md") -> Question:
    """Ask for a text."""
    start = GROUNDS[doc_id].text.index(text)
    gold = (Excerpt(doc_id=doc_id, start=start, end=start + len(text)),)
    return Question(qid=qid, query="?", gold=gold, excluded=frozenset(excluded))


DAYS = entry("days", "Thirty days are granted each year.")
LAPSE = entry("lapse", "Unused days lapse in March.")
COPY = entry("copy", "A copy costs two crowns.", "fees.md")

ASKED = (
    question("q1", DAYS.text),
    question("q2", LAPSE.text, "fees.md"),
    question("q3", COPY.text, doc_id="fees.md"),
)


def ran(path: Path, *arms: Arm, **rankings: list[str]) -> Run:
    """Read a run over arms."""
    file = path / "run.jsonl"
    write_questions(
        file, [{"qid": qid, "chunk_ids": ids} for qid, ids in rankings.items()]
    )
    return run_file("engine", file, ASKED, arms)


# ---------------------------------------------------------------- rankings


def test_an_id_of_two_passages_names_both_arms(tmp_path: Path) -> None:
    """Nobody could tell which of them an engine found."""
    other = arm("theirs", replace(LAPSE, entry_id="days"), kind="file")

    with pytest.raises(RecordError) as caught:
        ran(tmp_path, arm("none", DAYS), arm("more", COPY), other, q1=["copy", "days"])

    assert str(caught.value).endswith(
        "run.jsonl:1: 'days' is one passage in 'none' and another in 'theirs'; give "
        "chunks ids of their own"
    )


def test_one_passage_in_several_arms_is_one(tmp_path: Path) -> None:
    """Arms over the same leaves differ in what is indexed alone."""
    crumb = arm("breadcrumb", replace(DAYS, dense="Leave\n\ndays", breadcrumb="Leave"))
    other = arm("theirs", replace(LAPSE, entry_id="unasked"), kind="file")

    run = ran(tmp_path, arm("none", DAYS), crumb, other, q1=["days"])

    assert run.rankings == {"q1": (DAYS,)}


def test_excluded_documents_are_dropped_from_a_run(tmp_path: Path) -> None:
    """What stands below them moves up, as under any retriever."""
    run = ran(tmp_path, arm("none", DAYS, LAPSE, COPY), q2=["copy", "lapse"])

    result = try_run(run, ASKED, SETTING)

    assert result.measures["rec@1"] == (0, 1, 0)
    assert result.measures["mrr@10"] == (0, 1, 0)
    assert result.first == ((), (LAPSE,), ())


@pytest.mark.parametrize(
    ("names", "against"),
    [
        (["run:none", "run:new"], {"run:none": None, "run:new": "run:none"}),
        (
            ["run:none", "run:breadcrumb", "run:new"],
            {
                "run:none": "run:breadcrumb",
                "run:breadcrumb": None,
                "run:new": "run:breadcrumb",
            },
        ),
        (["run:old", "run:new"], {"run:old": None, "run:new": None}),
    ],
    ids=["none", "breadcrumb", "neither"],
)
def test_a_run_is_judged_against_one_that_is_called_after_what_is_free(
    names: list[str], against: dict[str, str | None]
) -> None:
    """What an engine of the user's has indexed nobody knows here."""
    runs = [arm(name, DAYS, kind="run") for name in names]
    arms = [arm("none", DAYS), arm("breadcrumb", DAYS), *runs]

    found = rivals(arms)

    assert {name: found[name] for name in names} == against
    assert [each.name for each in judged_arms(arms)] == [
        name for name in names if against[name] is not None
    ]


# ---------------------------------------------------------------- chunks


@pytest.mark.parametrize(
    "places",
    [
        {"spans": [[0, 34]]},
        {"start": 0, "end": 34},
        {"metadata": {"spans": [[0, 20], [20, 34]]}},
    ],
    ids=["spans", "start and end", "metadata"],
)
def test_places_that_say_other_words_are_refused_with_their_line(
    tmp_path: Path, places: dict[str, Any]
) -> None:
    """Bytes counted for characters would earn what the chunk does not hold."""
    file = tmp_path / "theirs.jsonl"
    wrong = {"doc_id": "leave.md", "text": LAPSE.text, **places}
    write_questions(file, [{"doc_id": "leave.md", "text": DAYS.text, **places}, wrong])

    with pytest.raises(RecordError) as caught:
        chunk_file("theirs", file, GROUNDS, COUNTER)

    assert "theirs.jsonl:2: " in str(caught.value)
    assert "is not what the chunk says" in str(caught.value)


def stated(name: str, *entries: Entry) -> Arm:
    """Make a file's arm with sentences."""
    said = (replace(each, statement="Says when days lapse.") for each in entries)
    return arm(name, *said, kind="file")


@pytest.mark.parametrize(
    ("arms", "against"),
    [
        ([arm("none", DAYS, LAPSE), arm("breadcrumb", DAYS, LAPSE)], "breadcrumb"),
        (
            [arm("breadcrumb", DAYS, LAPSE), arm("plain", DAYS, LAPSE, kind="file")],
            "plain",
        ),
        (
            [arm("breadcrumb", DAYS, LAPSE), stated("other", DAYS, LAPSE)],
            "breadcrumb",
        ),
    ],
    ids=["the breadcrumb", "a file without", "no file with sentences"],
)
def test_a_file_is_judged_against_the_same_texts_without_sentences(
    arms: list[Arm], against: str
) -> None:
    """A file of the same chunks comes first, then the breadcrumb."""
    mine = stated("mine", DAYS, LAPSE)

    assert rivals([*arms, mine])["mine"] == against
    assert mine in judged_arms([*arms, mine])


@pytest.mark.parametrize(
    "entries",
    [(DAYS, COPY), (DAYS,), (LAPSE, DAYS)],
    ids=["other chunks", "fewer", "another order"],
)
def test_a_file_of_other_chunks_gets_a_note_and_no_verdict(
    entries: tuple[Entry, ...],
) -> None:
    """A verdict would be on the chunks, and be told of the sentences."""
    mine = stated("mine", *entries)
    arms = [arm("none", DAYS, LAPSE), arm("breadcrumb", DAYS, LAPSE), mine]

    assert judged_arms(arms) == ()
    assert list(notes.of_arms(arms, SETTING)) == [
        "no verdict on mine: its sentences are held against other chunks; give the "
        "same chunks without them as a file, too"
    ]


def test_a_file_without_sentences_is_nothing_to_decide_on() -> None:
    """It is held against the breadcrumb in the tables."""
    arms = [arm("breadcrumb", DAYS), arm("plain", COPY, kind="file")]

    assert judged_arms(arms) == ()
    assert rivals(arms)["plain"] == "breadcrumb"
    assert not list(notes.of_arms(arms, SETTING))


# ---------------------------------------------------------------- questions


@pytest.mark.parametrize(
    "text",
    ["days", "costs", "Unused days lapse in March."],
    ids=["a word", "another document's word", "a sentence"],
)
def test_evidence_that_stands_twice_is_refused(tmp_path: Path, text: str) -> None:
    """The wrong one would be looked for as often as the right one."""
    twice = {
        "leave.md": Ground("leave.md", f"{LEAVE}\n{LEAVE}", {}),
        "fees.md": GROUNDS["fees.md"],
    }
    doc_id = "fees.md" if text == "costs" else "leave.md"
    file = write_questions(
        tmp_path / "q.jsonl",
        [{"qid": "a", "query": "?", "gold": [{"doc_id": doc_id, "text": text}]}],
    )

    with pytest.raises(RecordError) as caught:
        load(file, twice)

    assert f"q.jsonl:1: gold[0]: {text!r} stands more than once" in str(caught.value)
    assert "give start and end" in str(caught.value)


def test_places_tell_equal_evidence_apart(tmp_path: Path) -> None:
    """As the message says."""
    gold = {"doc_id": "fees.md", "text": "costs", "start": 32, "end": 37}
    file = tmp_path / "q.jsonl"
    write_questions(file, [{"qid": "a", "query": "?", "gold": [gold]}])

    (loaded,) = load(file, GROUNDS)

    assert (loaded.gold[0].start, loaded.gold[0].end) == (32, 37)


@pytest.mark.parametrize(
    ("excluded", "refused"),
    [(["leave.md"], False), (["leave.md", "fees.md"], True)],
    ids=["one of two", "both"],
)
def test_a_question_needs_gold_that_may_be_found(
    tmp_path: Path, excluded: list[str], refused: bool
) -> None:
    """One whose documents are all left out counts as lost in every arm."""
    gold = [
        {"doc_id": one.doc_id, "text": one.text}
        for one in (DAYS, COPY)
    ]  # fmt: skip
    file = tmp_path / "q.jsonl"
    row = {"qid": "a", "query": "?", "gold": gold, "exclude_docs": excluded}
    write_questions(file, [row])

    if refused:
        with pytest.raises(
            RecordError, match=r"jsonl:1: exclude_docs leaves out every"
        ):
            load(file, GROUNDS)
    else:
        assert len(load(file, GROUNDS)) == 1


# ---------------------------------------------------------------- functions


LEAVING = """\
import sys


def embed(texts):
    sys.exit("no weights here")


def rank(query, texts):
    raise SystemExit(0)
"""


def test_a_function_that_ends_the_program_is_a_mistake_of_the_config(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Else a comparison would end without a word, and with a code of its own."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(tmp_path)
    (tmp_path / "leaving_functions.py").write_text(LEAVING, "utf-8")
    embedder = open_embedder("leaving_functions:embed")
    reranker = open_reranker("leaving_functions:rank")

    with pytest.raises(ConfigError, match="failed: SystemExit: no weights here"):
        embedder.embed(["a text"], "query")
    with pytest.raises(ConfigError, match="'leaving_functions:rank' failed"):
        reranker.score("a question", ["a text"])


def test_a_module_that_ends_the_program_is_a_mistake_of_the_config(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As scripts do that were never meant to be imported."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(tmp_path)
    (tmp_path / "leaving_script.py").write_text("raise SystemExit(0)", "utf-8")

    with pytest.raises(ConfigError, match="'leaving_script' cannot be imported"):
        open_embedder("leaving_script:embed")


# ---------------------------------------------------------------- what is not replaced


@pytest.mark.parametrize(
    "name",
    [
        "handbook.toml", "docs/leave.md", "cassette.jsonl",
        "cache/questions.jsonl", "out/handbook.jsonl", "out/handbook.blocks.jsonl",
        "link/leave.md",
    ],
)  # fmt: skip
def test_drafted_questions_replace_nothing_that_is_read_or_kept(
    corpus: Corpus, name: str
) -> None:
    """Neither documents nor what has been paid for."""
    folder = corpus.folder
    corpus.configure(
        cache={"directory": "cache"},
        enrichment={
            "enabled": True,
            "provider": "replay",
            "model": "claude-haiku-5-5",
            "prompt": "findable-v1",
            "replay": "cassette.jsonl",
        },
    )
    (folder / "cassette.jsonl").write_text("", "utf-8")
    (folder / "cache").mkdir()
    (folder / "out").mkdir(exist_ok=True)
    (folder / "link").symlink_to(folder / "docs")
    before = files_in(folder)

    result = situate("queries", "make", corpus.config, "--out", folder / name)

    assert result.exit_code == 2
    assert "is not to be replaced; name another file" in result.stderr
    assert files_in(folder) == before


def files_in(folder: Path) -> dict[str, bytes]:
    """Give what files say, but for locks."""
    return {
        str(path.relative_to(folder)): path.read_bytes()
        for path in folder.rglob("*")
        if path.is_file() and not path.name.endswith(".lock")
    }


def test_a_report_through_a_link_replaces_nothing_that_is_read(corpus: Corpus) -> None:
    """The JSON beside it would stand where the questions are."""
    given = corpus.folder / "given"
    given.mkdir()
    (corpus.folder / "link").symlink_to(given)
    file = write_questions(given / "q.json", QUESTIONS)
    before = file.read_bytes()

    result = compare(corpus, "--queries", file, "--report", "link/q.html", *LEXICAL)

    assert result.exit_code == 2
    assert "is not to be replaced; name another file" in result.stderr
    assert file.read_bytes() == before
    assert not (given / "q.html").exists()


def test_a_report_that_is_a_link_is_written_where_it_leads(corpus: Corpus) -> None:
    """Page and JSON side by side, under the name that stands there."""
    given = corpus.folder / "given"
    given.mkdir()
    (corpus.folder / "page.html").symlink_to(given / "first.html")
    file = write_questions(given / "page.json", QUESTIONS)
    before = file.read_bytes()

    compared(corpus, "--queries", file, "--report", "page.html", *LEXICAL)

    assert file.read_bytes() == before
    assert {path.name for path in given.iterdir()} >= {"first.html", "first.json"}


# ---------------------------------------------------------------- what is no value


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("--report", "."), "--report: '.' is no file; name an HTML file"),
        (("--report", ""), "is no file; name an HTML file"),
        (("--report", "docs"), "--report: 'docs' is no file"),
        (("--return", "leaf,section"), "--return: 'leaf,section' is more than one"),
        (("--baseline", "fixed:1,2"), "--baseline: 'fixed:1,2' is several"),
        (("--baseline", "fixed:"), "--baseline: '' is no list of whole numbers"),
        (("--k", "100000"), "--k: '100000' goes beyond 1 to 150"),
        (("--k", "9" * 5_000), "is no list of whole numbers"),
        (("--budget", "1," + "9" * 5_000), "is no list of whole numbers"),
        (("--baseline", "fixed:" + "9" * 5_000), "is no list of whole numbers"),
        (("--k", "²"), "--k: '²' is no list of whole numbers"),
    ],
    ids=[
        "here", "nothing", "a folder", "two returns", "two windows", "no window",
        "too deep", "endless k", "endless budget", "endless window", "no digit",
    ],
)  # fmt: skip
def test_a_value_that_is_none_is_refused_in_one_line(
    corpus: Corpus, options: tuple[str, str], message: str
) -> None:
    """With the option and what was found, before anything is read."""
    result = compare(corpus, *options, *LEXICAL)

    assert (result.exit_code, result.stdout) == (2, "")
    assert message in result.stderr
    assert result.stderr.count("\n") == 1
    assert not list(corpus.folder.rglob("*.html"))


@pytest.mark.parametrize("seed", ["9" * 5_000, "-1", "1.5"])
def test_a_seed_that_is_no_whole_number_is_a_mistake_of_usage(
    corpus: Corpus, seed: str
) -> None:
    """Of both commands that draw."""
    comparing = compare(corpus, "--seed", seed, *LEXICAL)
    drafting = situate("queries", "make", corpus.config, "--seed", seed)

    assert (comparing.exit_code, drafting.exit_code) == (2, 2)
    assert comparing.stdout == drafting.stdout == ""
