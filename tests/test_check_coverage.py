"""`check --source` tells how much of a source reached a leaf, and what did not."""

from __future__ import annotations

import itertools
import json
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st
from typer.testing import CliRunner

from situate import Rules, chunk, load_counter, read, to_line, to_record
from situate.check import check
from situate.check.coverage import Leaf, coverage
from situate.cli import app
from situate.readers import passages

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

    from typer.testing import Result

    from situate.check.coverage import Coverage
    from situate.model import Chunk

HANDBOOK = """\
# Handbook

Everybody who works here has leave. It is asked for in writing, a month before.

## Days

Table 1: Days of leave

| Years of service | Days of leave |
| --- | --- |
ROWS

## Days abroad

These are counted in full:

- the days of the road
- the days of the ship

## 休假

每个人都有假期。假期必须提前一个月以书面形式申请。
""".replace("ROWS", "\n".join(f"| after {n} years | {n + 20} |" for n in range(40)))

HTML = """\
<html><head><title>Leave</title></head><body>
<h1>Leave</h1><p>Everybody has <b>five</b> days.</p>
<h2>Abroad</h2><p>Nobody loses one.</p>
</body></html>
"""


def cut(text: str, name: str = "handbook.md", max_tokens: int = 64) -> list[Chunk]:
    """Cut a document small."""
    rules = Rules(max_tokens=max_tokens, min_tokens=8)
    document = read(text.encode(), name).document
    return list(chunk(document, rules, load_counter("cl100k_base")))


def measured(
    source: str, leaves: Sequence[str], crumbs: tuple[str, ...] = ()
) -> Coverage:
    """Measure a source against the texts of its leaves."""
    data = source.encode()
    return coverage(
        passages(data, "a.md"),
        read(data, "a.md"),
        [Leaf(text=text, breadcrumb=crumbs, doc_version="1") for text in leaves],
    )


def missing(found: Coverage) -> list[str]:
    """Give the words that are missing, passage by passage."""
    return [unplaced.missing for unplaced in found.passages]


@pytest.mark.parametrize("max_tokens", [16, 64, 512])
def test_all_of_a_document_that_was_cut_is_there(max_tokens: int) -> None:
    """Headers that are repeated, headings cut short and words cut in two or not."""
    leaves = cut(HANDBOOK, max_tokens=max_tokens)
    data = HANDBOOK.encode()

    found = coverage(
        passages(data, "a.md"),
        read(data, "a.md"),
        [
            Leaf(text=leaf.text, breadcrumb=leaf.breadcrumb, doc_version="1")
            for leaf in leaves
        ],
    )

    assert missing(found) == []
    assert found.share == 1.0
    assert (found.headings, found.headings_found) == (4, 4)


@pytest.mark.parametrize(
    ("source", "leaves", "expected"),
    [
        pytest.param("One day. Two days.", ["One day. Two days."], [], id="nothing"),
        pytest.param(
            "Ask first.\nThen wait.\nThen go.",
            ["Ask first.", "Then go."],
            ["Then wait"],
            id="a line, though one of its words stands elsewhere",
        ),
        pytest.param(
            "Ask at least twice.", ["Ask at twice."], ["least"], id="a word inside"
        ),
        pytest.param(
            "No dogs.\nNo cats.\nNo birds.",
            ["No dogs. No birds."],
            ["No cats"],
            id="what stands twice and is needed three times",
        ),
        pytest.param("All of it.", [], ["All of it"], id="all"),
        pytest.param("", ["More."], [], id="what a leaf has more is no loss"),
        pytest.param(
            "每个人都有假期。\n假期必须申请。",
            ["每个人都有假期。"],
            ["假 期 必 须 申 请"],
            id="letters of a script without spaces",
        ),
        pytest.param(
            "ทุกคนมีวันลา\nต้องขอล่วงหน้า", ["ทุกคนมีวันลา ต้องขอล่วงหน้า"], [], id="Thai"
        ),
        pytest.param(
            "the distri-\nbution of days", ["the distribution of days"], [], id="hyphen"
        ),
        pytest.param(
            "| H<sub>2</sub>O | **im**portant |",
            ["| H<sub>2</sub>O | important |"],
            [],
            id="markup inside a word",
        ),
        pytest.param(
            "First this sentence.\nThen that sentence.\nAt last the third one.",
            ["At last the third one.", "First this sentence.", "Then that sentence."],
            [],
            id="another order",
        ),
        pytest.param(
            f"head of table\n{'x' * 40}{'y' * 40} and more of it",
            [
                f"head of table {'x' * 40}",
                f"head of table {'y' * 40}",
                "head of table and more of it",
            ],
            [],
            id="a word cut in two around a header that is repeated",
        ),
        pytest.param(
            "[x\n1, y\n2]\nThe rest of it stands here.",
            ["The rest of it stands here.", "[x1, y2]"],
            [],
            id="words that are written as one elsewhere",
        ),
        pytest.param(
            "fees of the year\nfirst row\nsecond row\nfees of the year\nthird row",
            [
                "fees of the year\nfirst row",
                "fees of the year\nsecond row",
                "fees of the year\nthird row",
            ],
            [],
            id="what is repeated more often than needed",
        ),
    ],
)
def test_what_is_missing_is_named(
    source: str, leaves: list[str], expected: list[str]
) -> None:
    """Words count as often as they stand, wherever they stand."""
    found = measured(source, leaves)

    assert missing(found) == expected
    lost = sum(len(words.replace(" ", "")) for words in expected)
    assert found.characters - found.reached == lost
    assert found.unplaced == len(expected)


def test_only_what_has_letters_or_digits_is_counted() -> None:
    """Rulers, marks and borders may come and go."""
    found = measured("---\n\n* five *days*\n\n***\n", ["- five days"])

    assert (found.characters, found.reached) == (8, 8)


def test_a_source_without_words_has_reached_its_leaves() -> None:
    """There is nothing to lose."""
    assert measured("***\n", []).share == 1.0


def test_a_passage_is_shown_short() -> None:
    """As are its missing words; all of them are counted."""
    found = measured("word " * 10_000, [])

    assert found.passages[0].characters == 40_000
    assert len(found.passages[0].passage) <= 201
    assert len(found.passages[0].missing) <= 201


def test_the_first_thousand_passages_are_kept() -> None:
    """All are counted."""
    found = measured("\n".join(f"line {n}" for n in range(1500)), [])

    assert (found.unplaced, len(found.passages)) == (1500, 1000)


@pytest.mark.parametrize(
    ("leaves", "crumbs", "expected"),
    [
        pytest.param(["# Leave\n\nA.", "## Days\n\nB."], (), 2, id="in texts"),
        pytest.param(["A."], ("Leave", "Days"), 2, id="in a breadcrumb"),
        pytest.param(["# Leave\n\nA.", "B."], ("Leave", "Days"), 2, id="in both"),
        pytest.param(["# Leave of days\n\nA."], ("Leave",), 1, id="in another line"),
        pytest.param([], (), 0, id="nowhere"),
    ],
)
def test_headings_are_looked_for_in_texts_and_breadcrumbs(
    leaves: list[str], crumbs: tuple[str, ...], expected: int
) -> None:
    """One that is cut short in a text is whole in the breadcrumb."""
    found = measured("# Leave\n\nA.\n\n## Days\n\nB.\n", leaves, crumbs)

    assert (found.headings, found.headings_found) == (2, expected)
    assert found.headings_missing == ("Leave", "Days")[expected:]


def test_a_heading_counts_as_often_as_it_stands() -> None:
    """The second of two equal ones is missed."""
    found = measured("# Notes\n\nA.\n\n# Notes\n\nB.\n", ["# Notes\n\nA.\n\nB."])

    assert (found.headings, found.headings_found) == (2, 1)


WORDS = st.lists(
    st.sampled_from(["the", "fee", "of", "a", "year", "is", "7", "days", "休", "假"])
)


@given(st.lists(WORDS, max_size=30), st.lists(st.integers(0, 200), max_size=20))
def test_wherever_a_text_is_cut_nothing_is_missing(
    lines: list[list[str]], cuts: list[int]
) -> None:
    """Cuts of passages and cuts of leaves have nothing to do with each other."""
    words = [word for line in lines for word in line]
    places = sorted({0, *(min(cut, len(words)) for cut in cuts), len(words)})
    leaves = [" ".join(words[start:end]) for start, end in itertools.pairwise(places)]

    found = measured("\n".join(" ".join(line) for line in lines), leaves)

    assert found.share == 1.0


@given(st.lists(WORDS, max_size=20), st.lists(WORDS, max_size=20))
def test_no_letter_is_found_twice(one: list[list[str]], other: list[list[str]]) -> None:
    """No more of a source is reached than its leaves have letters."""
    leaves = [" ".join(line) for line in other]

    found = measured("\n".join(" ".join(line) for line in one), leaves)

    letters = sum(len(word) for line in other for word in line)
    assert found.reached <= min(letters, found.characters)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        pytest.param("a" * 100_000, "b" * 100_000, id="two letters"),
        pytest.param("ab " * 30_000, "ba " * 30_000, id="words turned round"),
        pytest.param("x" * 100_000, "xxy" * 30_000, id="nearly the same"),
        pytest.param("a b c " * 15_000, "", id="nothing reached"),
        pytest.param("休假" * 30_000, "假休" * 30_000, id="letters that are words"),
    ],
)
def test_hostile_texts_are_measured_in_no_time(one: str, other: str) -> None:
    """Time grows with the length; a square of it would never end here."""
    found = measured(one, [other])

    assert 0 <= found.reached <= found.characters


# ------------------------------------------------------- in a report


def written(folder: Path, chunks: Sequence[Chunk], source: str, name: str) -> Path:
    """Write a source, and its chunks beside it."""
    (folder / name).write_text(source, "utf-8")
    path = folder / "chunks.jsonl"
    path.write_bytes(b"".join(to_line(to_record(chunk)) for chunk in chunks))
    return path


def test_without_a_source_nothing_is_measured(tmp_path: Path) -> None:
    """And nothing is said."""
    path = written(tmp_path, cut(HANDBOOK), HANDBOOK, "handbook.md")

    assert check(path).coverage is None


@pytest.mark.parametrize(
    ("name", "source"),
    [
        pytest.param("handbook.md", HANDBOOK, id="Markdown"),
        pytest.param("handbook.txt", HANDBOOK, id="text"),
        pytest.param("handbook.html", HTML, id="HTML, which has no spans"),
    ],
)
def test_what_was_cut_from_a_source_covers_it(
    tmp_path: Path, name: str, source: str
) -> None:
    """Whatever its format."""
    path = written(tmp_path, cut(source, name), source, name)

    found = check(path, source=tmp_path / name).coverage

    assert found is not None
    assert (found.share, found.unplaced) == (1.0, 0)
    assert found.headings == found.headings_found
    assert found.is_same_version


def test_a_format_without_spans_has_none_in_its_chunks(tmp_path: Path) -> None:
    """Nobody can say what they would count."""
    first, *rest = cut(HTML, "a.html")
    spans = ((0, 1), *first.spans[1:])
    path = written(tmp_path, [replace(first, spans=spans), *rest], HTML, "a.html")

    report = check(path, source=tmp_path / "a.html")

    assert [f.subject for f in report.findings if f.rule == "span"] == [first.chunk_id]


def without(text: str) -> Callable[[Chunk], Chunk]:
    """Take a text out of a chunk."""

    def change(leaf: Chunk) -> Chunk:
        said = leaf.text.replace(text, "")
        crumbs = tuple(crumb for crumb in leaf.breadcrumb if crumb not in text)
        return replace(leaf, text=said, reading=said, breadcrumb=crumbs)

    return change


@pytest.mark.parametrize("number", range(0, 40, 9))
def test_a_header_that_is_repeated_does_not_stand_in_for_a_row(
    tmp_path: Path, number: int
) -> None:
    """A lost row is lost to the letter, though every piece says some of its words."""
    source = HANDBOOK.replace("| after", "| Years of service").replace(" years |", " |")
    row = f"| Years of service {number} | {number + 20} |"
    chunks = list(map(without(row), cut(source)))
    path = written(tmp_path, chunks, source, "handbook.md")

    found = check(path, source=tmp_path / "handbook.md").coverage

    assert found is not None
    assert found.characters - found.reached == sum(map(str.isalnum, row))
    assert found.passages[0].passage == row


def test_a_heading_that_is_nowhere_breaks_the_cover(tmp_path: Path) -> None:
    """Every heading is findable in a leaf's text or breadcrumb (C2)."""
    chunks = list(map(without("## Days abroad"), cut(HANDBOOK)))
    path = written(tmp_path, chunks, HANDBOOK, "handbook.md")

    report = check(path, source=tmp_path / "handbook.md")

    assert "heading 'Days abroad' is in no leaf's text or breadcrumb" in {
        finding.message for finding in report.findings if finding.rule == "C2-cover"
    }


def test_another_version_is_measured_all_the_same(tmp_path: Path) -> None:
    """Its headings are then no matter of the rules."""
    later = HANDBOOK.replace("## Days abroad", "## Days of others")
    path = written(tmp_path, cut(HANDBOOK), later, "handbook.md")

    report = check(path, source=tmp_path / "handbook.md")

    assert report.coverage is not None
    assert not report.coverage.is_same_version
    assert report.coverage.headings_missing == ("Days of others",)
    assert "C2-cover" not in report.broken
    assert "identity" in report.broken


# ------------------------------------------------------- on the command line


def situate(*arguments: str | Path) -> Result:
    """Run a command."""
    return CliRunner().invoke(app, [str(argument) for argument in arguments])


@pytest.fixture
def partly(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Write chunks that lack a sentence, in a folder to work in."""
    monkeypatch.chdir(tmp_path)
    chunks = list(map(without("It is asked for in writing, "), cut(HANDBOOK)))
    return written(tmp_path, chunks, HANDBOOK, "handbook.md")


def test_check_tells_what_reached_a_leaf(partly: Path) -> None:
    """One line for the source, one for each passage that did not."""
    result = situate("check", partly, "--source", "handbook.md")

    told = [line for line in result.stdout.splitlines() if "handbook.md: " in line]
    assert told == [
        "handbook.md: 97.21 % of 754 characters reached a leaf; 4 of 4 headings; "
        "1 passage not placed",
        "handbook.md: not placed: 'It is asked for in writing' of 'Everybody who "
        "works here has leave. It is asked for in writing, a month before.'",
    ]


def test_machines_get_the_coverage(partly: Path) -> None:
    """With every figure."""
    result = situate("check", partly, "--source", "handbook.md", "--json")

    told = json.loads(result.stdout)["coverage"]
    assert told["characters"] - told["reached"] == 21
    assert told["share"] == told["reached"] / told["characters"]
    assert [passage["characters"] for passage in told["passages"]] == [21]


def test_what_is_lost_is_never_rounded_away(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One letter of a hundred thousand is not 100 %."""
    monkeypatch.chdir(tmp_path)
    source = "word " * 30_000 + "x"
    (leaf,) = cut("word", "a.txt")
    written(tmp_path, [replace(leaf, text="word " * 30_000)], source, "a.txt")

    result = situate("check", "chunks.jsonl", "--source", "a.txt")

    assert "a.txt: 99.99 % of 120,001 characters reached a leaf" in result.stdout


def test_what_a_reader_doubts_is_said_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Losses may be explained by it."""
    monkeypatch.chdir(tmp_path)
    source = "caf\xe9 and more of it"
    (tmp_path / "a.txt").write_bytes(source.encode("cp1252"))
    path = written(tmp_path, cut(source, "a.txt"), source, "b.txt")

    result = situate("check", path, "--source", "a.txt")

    assert "a.txt: is not UTF-8 (byte 3 does not fit)" in result.stderr


def test_show_gives_the_text_where_a_source_has_no_spans(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its passage cannot be told."""
    monkeypatch.chdir(tmp_path)
    chunks = cut(HTML, "a.html")
    path = written(tmp_path, chunks, HTML, "a.html")

    result = situate(
        *("show", chunks[-1].chunk_id, "--chunks", path, "--source", "a.html")
    )

    assert result.exit_code == 0
    assert result.stdout.endswith(f"{chunks[-1].text}\n")


def test_a_finding_cannot_steer_a_terminal(tmp_path: Path) -> None:
    """Ids of a hostile file are one line of printable characters."""
    (leaf, *_) = cut("# A\n\nText.", "a.md")
    path = written(tmp_path, [replace(leaf, chunk_id="a\x1b[2J\nb")], "", "a.md")

    result = situate("check", path)

    assert "identity a?[2J?b: should be 'a.md:a'" in result.stdout
