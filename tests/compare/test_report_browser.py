"""The report in a browser: filter, open a question, search; nothing leaves the page."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from situate.compare import report
from tests.support.browser import CHROMIUM, NO_CHROMIUM, browser
from tests.support.comparisons import ARMS, BASE, comparison
from tests.support.legibility import faint, too_wide

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from tests.support.browser import Browser, Page

pytestmark = pytest.mark.skipif(CHROMIUM is None, reason=NO_CHROMIUM)

HOSTILE = "</script><script>document.title='owned'</script><img src=x onerror=alert(1)>"


@pytest.fixture(scope="module")
def chromium(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Browser]:
    """Start one browser for the module."""
    with browser(tmp_path_factory.mktemp("browser")) as started:
        yield started


@pytest.fixture(scope="module")
def path(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Write a report of 200 questions."""
    path = tmp_path_factory.mktemp("report") / "report.html"
    path.write_bytes(report.page(comparison(questions=200, entries=300)))
    return path


@pytest.fixture
def opened(chromium: Browser, path: Path) -> Iterator[Page]:
    """Open the report; whatever was done, it asked for nothing and said nothing."""
    page = chromium.open(path)
    yield page
    assert page.requests == [path.as_uri()]
    assert page.console == []
    chromium.close(page)


def outcome_count(page: Page, outcome: int) -> int:
    """Give the number on a button: all, won, lost, tied."""
    return int(page.text(f".outcomes button:nth-of-type({outcome}) span"))


def test_every_verdict_can_be_seen(opened: Page) -> None:
    """With its choice as a word."""
    assert opened.count("article.verdict") == 9
    assert opened.count(".is-skip .choice") == 3
    assert opened.text(".is-keep .choice").startswith("Keep")


def test_outcomes_part_the_questions(opened: Page) -> None:
    """Won, lost and tied are all there is, and the list shows what is chosen."""
    everything, won, lost, tied = (
        outcome_count(opened, place) for place in range(1, 5)
    )

    opened.click(".outcomes button:nth-of-type(3)")

    assert everything == 200 == won + lost + tied
    assert opened.text("#status").startswith(f"{lost} of 200 questions")
    results = opened.run(
        "[...document.querySelectorAll('.row .result')].map((r)=>r.textContent)"
    )
    assert results
    assert all("lost \N{MINUS SIGN}1.000" in each for each in results)
    assert opened.run(
        "document.querySelector('.row').getAttribute('aria-setsize')"
    ) == str(lost)


def test_a_question_is_lost_when_the_other_arm_has_more(opened: Page) -> None:
    """The scores stand above what was retrieved for them."""
    opened.click(".outcomes button:nth-of-type(3)")
    opened.click(".row")

    assert opened.text("#opened > .result") == f"{ARMS[3]}: lost, \N{MINUS SIGN}1.000"
    assert opened.text(".column:nth-of-type(1) small").endswith(": 0.000")
    assert opened.text(".column:nth-of-type(2) small").endswith(": 1.000")


def test_search_finds_questions_by_their_words(opened: Page) -> None:
    """And says how many are left, for those who only hear the page."""
    opened.run("document.querySelector('#filters input[type=search]').focus()")
    opened.type("question 199:")

    opened.until("document.querySelectorAll('.row').length === 1")

    assert opened.text("#status").startswith("1 of 200 questions")
    assert (
        opened.run("document.getElementById('status').getAttribute('role')") == "status"
    )
    assert opened.text(".row .query").startswith("Question 199:")


@pytest.mark.parametrize(
    ("label", "option", "left"),
    [
        pytest.param("Kind", "lookup", 100, id="kind"),
        pytest.param("Origin", "drafted from the documents", 50, id="origin"),
    ],
)
def test_questions_are_filtered_by_kind_and_origin(
    opened: Page, label: str, option: str, left: int
) -> None:
    """Where there is more than one."""
    opened.run(
        "[...document.querySelectorAll('.field')].find((each) =>"
        f"each.firstChild.textContent === '{label}').lastChild.id = 'wanted'"
    )

    opened.choose("#wanted", option)

    assert opened.text("#status").startswith(f"{left} of 200 questions")


def test_an_opened_question_shows_both_arms_with_gold_marked(opened: Page) -> None:
    """Breadcrumb, statement, text, and the words that count."""
    opened.click(".row:nth-of-type(2)")

    columns = opened.run(
        "[...document.querySelectorAll('.column > h4')].map((h) => h.firstChild.data)"
    )
    gold = opened.text(".gold .text")
    marked = opened.run(
        "[...document.querySelectorAll('mark')].map((m) => m.textContent)"
    )
    assert columns == [ARMS[3], BASE]
    assert opened.count(".hit .breadcrumb") == 10
    assert opened.count(".hit .statement") > 0
    assert opened.count(".covering .covers") == opened.count(".covering") > 0
    assert gold.rstrip(".") in marked
    assert opened.run("location.hash") == "#q1"


def test_all_arms_can_stand_side_by_side(opened: Page) -> None:
    """Six columns scroll in their own frame."""
    opened.click(".row")
    opened.click(".check input")

    assert opened.count(".column") == len(ARMS)
    assert too_wide(opened) == []


def test_another_retriever_and_arm_change_what_is_won(opened: Page) -> None:
    """Against itself an arm ties every question."""
    opened.choose(".field:nth-of-type(1) select", "bm25")
    opened.choose(".field:nth-of-type(2) select", BASE)

    assert outcome_count(opened, 4) == 200
    assert f"{BASE} against {BASE} under bm25" in opened.text("#status")


def test_keys_alone_lead_to_any_question(opened: Page) -> None:
    """Skip link, tab, arrows; the last row of a long list is drawn when it is near."""
    opened.press("Tab")
    assert opened.focused() == "Skip to the questions"

    opened.press("Enter")
    for _ in range(20):
        opened.press("Tab")
        if opened.focused() == "list":
            break
    opened.press("ArrowDown", "ArrowDown")

    assert opened.text("#opened h3").startswith("Question 1:")
    assert (
        opened.run(
            "document.getElementById(document.getElementById('list')"
            ".getAttribute('aria-activedescendant')).getAttribute('aria-selected')"
        )
        == "true"
    )
    outline = opened.run("getComputedStyle(document.activeElement).outlineStyle")
    assert outline == "solid"

    opened.press("End")
    assert opened.text("#opened h3").startswith("Question 199:")
    opened.press("Enter")
    assert opened.focused() == "opened"


def test_an_address_opens_its_question(chromium: Browser, path: Path) -> None:
    """It can be sent to somebody."""
    page = chromium.open(path, fragment="#q150")

    assert page.text("#opened h3").startswith("Question 150:")
    chromium.close(page)


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [1280, 390])
def test_the_report_is_legible(opened: Page, width: int, scheme: str) -> None:
    """Contrast as WCAG AA asks, and no page that scrolls sideways."""
    opened.look(width, 900, scheme)
    opened.click(".row")

    assert too_wide(opened) == []
    assert faint(opened) == []


def test_legibility_can_fail(opened: Page) -> None:
    """Pale text and a wide box are found: the judge is no yes-man."""
    opened.run("document.body.style.setProperty('--soft', '#b0b0b0')")
    opened.run("document.querySelector('h1').style.setProperty('width', '2000px')")

    assert faint(opened)
    assert too_wide(opened)


def test_hostile_questions_are_shown_and_not_run(
    chromium: Browser, tmp_path: Path
) -> None:
    """What a document says becomes text, in the list and opened."""
    made = comparison()
    entries = tuple(
        replace(each, text=HOSTILE, statement=HOSTILE, breadcrumb=HOSTILE)
        for each in made.entries
    )
    shown = replace(made.shown[0], qid="\ud800", query=HOSTILE)
    bad = replace(made, corpus=HOSTILE, shown=(shown,), entries=entries)
    (tmp_path / "bad.html").write_bytes(report.page(bad))

    page = chromium.open(tmp_path / "bad.html")
    page.click(".row")

    assert page.text("#opened h3") == HOSTILE
    assert page.count(".hit img") == 0
    assert page.run("document.title").startswith("</script>")
    assert page.console == []
    chromium.close(page)
