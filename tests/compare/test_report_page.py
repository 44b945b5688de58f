"""`compare.report.page`: the verdict first, all said in words, nothing fetched."""

from __future__ import annotations

import base64
import hashlib
import json
import re
from dataclasses import replace
from functools import cache
from typing import TYPE_CHECKING, Any

import html5lib
import pytest

from situate.compare import report
from tests.support.comparisons import ARMS, BASE, MEASURES, RETRIEVERS, comparison

if TYPE_CHECKING:
    from xml.etree.ElementTree import Element

    from situate.compare.comparison import Comparison

HOSTILE = "</script><script>document.title='owned'</script><img src=x onerror=alert(1)>"


@cache
def parsed(html: bytes) -> Element:
    """Give the page as a browser's parser sees it; not to be changed."""
    root: Element = html5lib.parse(html.decode("utf-8"), namespaceHTMLElements=False)
    return root


def text_of(element: Element) -> str:
    """Give an element's words with single spaces between them."""
    return re.sub(r"\s+", " ", " ".join(element.itertext())).strip()


def section(root: Element, name: str) -> Element:
    """Give the section that a heading of this id names."""
    (found,) = root.findall(f".//section[@aria-labelledby='{name}']")
    return found


def view(html: bytes) -> Any:
    """Give what the browser of questions will show."""
    found = re.search(
        rb'<script type="application/json" id="view">(.*?)</script>', html
    )
    assert found is not None
    return json.loads(found[1])


def standing_of(made: Comparison, **wanted: str) -> Any:
    """Give the standing with these fields."""
    (found,) = [
        each
        for each in made.standings
        if all(getattr(each, name) == value for name, value in wanted.items())
    ]
    return found


# ---------------------------------------------------------------- what it says


def test_the_verdict_comes_first_then_what_to_know() -> None:
    """Nobody has to read figures to learn what to do."""
    root = parsed(report.page(comparison()))

    headings = [text_of(each) for each in root.iter("h2")]
    assert headings == [
        "Verdict",
        "What to know",
        "Measures",
        "Differences",
        "Which chunks to spend on",
        "Arms",
        "Questions",
    ]


def test_a_verdict_says_its_reason_and_its_price() -> None:
    """What a statistician and a payer want to know stands together."""
    made = comparison()

    verdicts = section(parsed(report.page(made)), "verdict")

    kept = next(each for each in made.verdicts if each.choice == "keep")
    (article, *_) = verdicts.findall(".//article[@class='verdict is-keep']")
    said = text_of(article)
    assert said.startswith("Keep breadcrumb+ statement situating-v1 against breadcrumb")
    assert kept.reason in said
    assert "per recovered question $0.15" in said
    assert "once, at most $1.37" in said
    assert "index growth +13 %" in said
    assert "after Holm p = 0.018" in said


def test_the_first_sentence_sums_the_verdicts_up() -> None:
    """By choice, with the retrievers it holds under."""
    verdicts = section(parsed(report.page(comparison())), "verdict")

    assert text_of(verdicts.findall("p")[0]) == (
        "Keep under hybrid (3 arms); skip under bm25 (3 arms); "
        "undecided under dense (3 arms)."
    )


def test_without_statements_there_is_no_verdict_and_it_says_so() -> None:
    """Breadcrumb against none is a comparison all the same."""
    root = parsed(report.page(replace(comparison(), verdicts=(), shown=(), entries=())))

    assert "There is none" in text_of(section(root, "verdict"))
    assert root.findall(".//table")


def test_what_to_know_names_origins_seed_embedder_and_notes() -> None:
    """Drafted questions are called that."""
    made = comparison()

    said = text_of(section(parsed(report.page(made)), "know"))

    assert all(note in said for note in made.notes)
    assert "13 questions about 38 documents" in said
    assert "9 given with gold; 3 drafted from the documents (drafted" in said
    assert "Seed 7" in said
    assert "wordllama" in said


def test_every_measure_of_every_arm_is_in_a_table_with_its_intervals() -> None:
    """And the difference below the mean."""
    made = comparison()

    tables = section(parsed(report.page(made)), "measures").findall(".//table")

    assert len(tables) == len(RETRIEVERS)
    rows = tables[1].findall("./tbody/tr")
    assert len(rows) == len(ARMS)
    assert {len(row) for row in rows} == {1 + len(MEASURES)}
    standing = standing_of(made, retriever="dense", arm="none", measure="mrr@10")
    cell = text_of(rows[0][1 + MEASURES.index("mrr@10")])
    assert cell.startswith(f"{standing.mean:.3f} {standing.low:.3f} to")
    assert f"{abs(standing.difference.high):.3f}" in cell


def test_significance_is_said_in_words_and_only_where_it_was_tested() -> None:
    """One measure decides; colour and weight alone say nothing."""
    made = comparison()

    tables = section(parsed(report.page(made)), "measures").findall(".//table")

    said = [
        [[text_of(cell) for cell in row] for row in table.findall("./tbody/tr")]
        for table in tables
    ]
    dense, hybrid = said[1], said[2]
    assert all(row[1].endswith(" not significant") for row in dense[3:])
    assert all(re.search(r"(?<!not) significant$", row[1]) for row in hybrid[3:])
    assert not [c for row in hybrid for c in row[2:] if "significant" in c]
    assert not [row[1] for row in hybrid[:3] if "significant" in row[1]]


def test_every_measure_has_a_plot_and_one_has_the_margin() -> None:
    """The margin is that of the measure verdicts go by."""
    plots = section(parsed(report.page(comparison())), "plots").findall(".//figure")

    assert len(plots) == len(MEASURES)
    banded = [plot for plot in plots if plot.findall(".//*[@class='margin']")]
    assert [text_of(plot.findall(".//caption")[0]) for plot in banded] == [
        "recall in 2,000 tokens of text · against breadcrumb · decides"
    ]
    assert "less is better" in text_of(plots[-1])


def test_a_plot_draws_an_interval_where_it_lies() -> None:
    """On the axis that its figure has."""
    made = comparison()
    plot = section(parsed(report.page(made)), "plots").findall(".//figure")[0]

    row = plot.findall(".//tbody/tr")[1]

    standing = standing_of(made, retriever="bm25", arm="none", measure="rec@2000r")
    at = {
        name: float(row.findall(f".//*[@class='{name}']")[0].attrib[where][:-1])
        for name, where in (("zero", "x1"), ("bar", "x1"))
    }
    margin = row.findall(".//*[@class='margin']")[0]
    unit = float(margin.attrib["width"][:-1]) / (2 * made.margin)
    assert (at["bar"] - at["zero"]) / unit == pytest.approx(
        standing.difference.low, abs=1e-3
    )


def test_arms_held_against_different_arms_say_so_row_by_row() -> None:
    """A caption cannot speak for all of them."""
    made = comparison()
    standings = tuple(
        replace(each, against="none") if each.arm == ARMS[4] else each
        for each in made.standings
    )

    plot = section(parsed(report.page(replace(made, standings=standings))), "plots")

    (figure, *_) = plot.findall(".//figure")
    rows = [text_of(row) for row in figure.findall(".//tbody/tr")]
    assert any("findable-v1 against none" in row for row in rows)
    assert any("situating-v1 against breadcrumb" in row for row in rows)


def test_the_frontier_says_in_words_which_score_beats_chance() -> None:
    """And gives the figures that it draws."""
    made = comparison()
    lifted = tuple(
        replace(each, mean=each.random_high + 0.01)
        if each.score == "rare words" and each.share == 0.5
        else replace(each, mean=each.random_mean)
        for each in made.frontier
    )

    drawn = section(parsed(report.page(replace(made, frontier=lifted))), "frontier")

    figures = drawn.findall(".//figure")
    assert len(figures) == 2
    assert "Above chance: rare words at 1 of 4 shares." in text_of(figures[0])
    assert "50 %" in text_of(figures[0].findall(".//table")[0])


def test_without_points_there_is_no_frontier() -> None:
    """An empty drawing would say that nothing helps."""
    root = parsed(report.page(replace(comparison(), frontier=())))

    assert not root.findall(".//section[@aria-labelledby='frontier']")


def test_arms_are_told_with_growth_added_words_and_time() -> None:
    """What an index grows by is paid for on every day."""
    made = comparison()

    rows = section(parsed(report.page(made)), "arms").findall(".//tbody/tr")

    said = text_of(rows[5])
    assert "statement in the dense index alone" in said
    assert " 197,455 +13 % 699 93 % $1.37 " in said
    assert f"{made.milliseconds[f'bm25 / {ARMS[5]}']:.1f}" in said


def test_questions_start_where_a_sentence_pays() -> None:
    """With the first keep, against the arm it was held against."""
    shown = view(report.page(comparison()))

    assert shown["opening"] == [["hybrid", ARMS[3]]]
    assert shown["against"][ARMS[3]] == BASE


def test_a_comparison_of_nothing_has_a_page() -> None:
    """Sections without content are left out."""
    empty = replace(
        comparison(), verdicts=(), standings=(), frontier=(), shown=(), entries=(),
        notes=(), embedder=None, milliseconds={},
    )  # fmt: skip

    root = parsed(report.page(empty))

    assert [text_of(each) for each in root.iter("h2")] == [
        "Verdict",
        "What to know",
        "Arms",
    ]


# ---------------------------------------------------------------- what it is


def test_the_page_is_the_same_for_the_same_comparison() -> None:
    """No clock, no order of chance."""
    assert report.page(comparison()) == report.page(comparison())


def test_hostile_text_stays_text_wherever_it_stands() -> None:
    """Names of arms and corpora are as little trusted as documents."""
    made = comparison()
    arm = replace(made.arms[0], name=HOSTILE)
    verdict = replace(made.verdicts[0], retriever=HOSTILE, arm=HOSTILE, reason=HOSTILE)
    standing = replace(made.standings[0], retriever=HOSTILE, arm=HOSTILE)
    shown = replace(made.shown[0], query=HOSTILE, gold=((HOSTILE, HOSTILE),))
    bad = replace(
        made, corpus=HOSTILE, notes=(HOSTILE,), arms=(arm,), verdicts=(verdict,),
        standings=(standing,), shown=(shown,),
    )  # fmt: skip

    html = report.page(bad)

    root = parsed(html)
    assert len(list(root.iter("script"))) == 2
    assert not root.findall(".//img")
    assert HOSTILE in text_of(section(root, "verdict")).replace("> <", "><")
    assert view(html)["questions"][0]["query"] == HOSTILE


def test_the_policy_allows_what_the_page_holds_and_nothing_else() -> None:
    """Its own style and script, by their hashes."""
    html = report.page(comparison()).decode("utf-8")

    policy = re.search(r'http-equiv="Content-Security-Policy" content="([^"]+)"', html)
    assert policy is not None
    for element in ("style", "script"):
        content = re.search(rf"<{element}>(.*?)</{element}>", html, re.DOTALL)
        assert content is not None
        digest = hashlib.sha256(content[1].encode("utf-8")).digest()
        allowed = f"{element}-src 'sha256-{base64.b64encode(digest).decode()}';"
        assert allowed in policy[1]
    assert policy[1].startswith("default-src 'none';")
    assert "unsafe" not in policy[1]
    assert not re.search(r"""\sstyle\s*=\s*["']""", html)


def test_the_page_names_nothing_outside_itself() -> None:
    """It is opened without a network, from a mail, years later."""
    html = report.page(comparison()).decode("utf-8")

    addresses = re.findall(r"""(?:src|href|url)\s*[=(]\s*["']?([^"'\s>]+)""", html)
    assert {each.partition(",")[0] for each in addresses} == {
        "#questions",
        "data:image/svg+xml",
    }
    assert not re.search(r"fetch\(|XMLHttp|import\(|innerHTML|@import|eval\(", html)


def test_every_table_has_heads_and_every_control_a_name() -> None:
    """What a screen reader needs of what needs no script."""
    root = parsed(report.page(comparison()))

    for table in root.iter("table"):
        assert table.findall(".//th[@scope='row']")
        assert table.findall(".//th[@scope='col']")
    for region in root.findall(".//*[@role='region']"):
        assert region.attrib["aria-label"]
        assert region.attrib["tabindex"] == "0"
    assert len(root.findall(".//main")) == 1
