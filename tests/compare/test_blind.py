"""`compare.blind`: who judges does not know whose ranking it is."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest

from situate.compare import blind
from situate.errors import RecordError
from tests.support.browser import CHROMIUM, NO_CHROMIUM, browser
from tests.support.legibility import faint, too_wide

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from tests.support.browser import Browser, Page

ARMS = ("breadcrumb", "breadcrumb+statement findable-v1")
HOSTILE = "</script><script>document.title='owned'</script><img src=x onerror=alert(1)>"

needs_chromium = pytest.mark.skipif(CHROMIUM is None, reason=NO_CHROMIUM)


def passages(word: str, count: int) -> tuple[blind.Passage, ...]:
    """Make passages that say a word."""
    return tuple(
        blind.Passage(heading=f"Leave > Days > {place}", text=f"{word} {place}. " * 20)
        for place in range(count)
    )


def contests(count: int) -> list[blind.Contest]:
    """Make questions whose first arm retrieved apples and whose second pears."""
    return [
        blind.Contest(
            qid=f"log-{number}",
            query=f"What is asked in number {number}?",
            first=passages("Apples", 3),
            second=passages("Pears", 2),
            weight=1.5,
        )
        for number in range(count)
    ]


def seated(count: int = 4, seed: int = 7) -> tuple[tuple[blind.Pair, ...], blind.Key]:
    """Seat that many questions."""
    return blind.seat(contests(count), ARMS, seed=seed, differing_share=0.31)


# ---------------------------------------------------------------- seats


def test_the_same_seed_seats_everybody_the_same() -> None:
    """A page can be made again, and its key."""
    assert seated(seed=7) == seated(seed=7)
    assert seated(40, seed=7)[1].seats != seated(40, seed=8)[1].seats


def test_both_arms_sit_on_the_left_about_as_often() -> None:
    """A judge who likes one side helps nobody."""
    _, key = seated(1000)

    left = sum(seat.left == ARMS[0] for seat in key.seats)
    assert 450 < left < 550


def test_the_key_says_who_sits_where() -> None:
    """Apples are the first arm's."""
    pairs, key = seated(20)

    for pair, seat in zip(pairs, key.seats, strict=True):
        of = {"Apples": ARMS[0], "Pears": ARMS[1]}
        assert seat.qid == pair.qid
        assert of[pair.left[0].text.split()[0]] == seat.left
        assert of[pair.right[0].text.split()[0]] != seat.left


def test_where_an_arm_sits_does_not_depend_on_the_other_questions() -> None:
    """A question more or less leaves the others where they were."""
    assert seated(5)[1].seats == seated(9)[1].seats[:5]


def test_two_questions_of_one_id_cannot_be_told_apart() -> None:
    """Judgements name questions by their ids."""
    with pytest.raises(RecordError, match="two questions of a blind page have one id"):
        blind.seat(contests(1) * 2, ARMS, seed=1, differing_share=1.0)


# ---------------------------------------------------------------- the page


def view(html: bytes) -> Any:
    """Give what the page holds."""
    found = re.search(
        rb'<script type="application/json" id="view">(.*?)</script>', html
    )
    assert found is not None
    return json.loads(found[1])


def test_nothing_in_the_page_tells_the_arms() -> None:
    """Neither names, nor seed, nor an order that does not change with the seats."""
    pairs, key = seated(6)

    html = blind.page("Staff handbook", pairs)

    shown = view(html)
    assert not re.search(
        rb"breadcrumb|statement|findable|arm",
        html.partition(b"<body>")[2].partition(b'id="view"')[0],
    )
    assert set(shown) == {"page", "choices", "questions"}
    assert [set(each) for each in shown["questions"]] == [
        {"qid", "query", "left", "right"}
    ] * 6
    assert not re.search(r"breadcrumb|findable|seed", json.dumps(shown))
    assert html == blind.page("Staff handbook", pairs)
    assert shown["page"] == key.page


def test_a_page_of_other_seats_has_another_name() -> None:
    """Judgements cannot be read with the key of another page."""
    assert seated(20, seed=1)[1].page != seated(20, seed=2)[1].page


# ---------------------------------------------------------------- judgements


@pytest.fixture
def key_path(tmp_path: Path) -> Path:
    """Write the key of a page of four questions."""
    path = tmp_path / "key.json"
    path.write_bytes(seated()[1].to_json())
    return path


def judge(folder: Path, *choices: tuple[str, str], **changes: str) -> Path:
    """Write judgements of that page."""
    path = folder / "judgements.jsonl"
    lines = [
        {"page": seated()[1].page, "qid": qid, "choice": choice, **changes}
        for qid, choice in choices
    ]
    path.write_text("".join(f"{json.dumps(line)}\n" for line in lines), "utf-8")
    return path


def test_a_judgement_is_for_the_arm_that_sat_there(
    tmp_path: Path, key_path: Path
) -> None:
    """Left and right mean nothing without the key."""
    key = seated()[1]
    path = judge(
        tmp_path,
        ("log-2", "left"),
        ("log-0", "right"),
        ("log-1", "same"),
        ("log-3", "neither"),
    )

    judged = blind.read(path, key_path)

    left = {seat.qid: seat.left for seat in key.seats}
    (other,) = {*ARMS} - {left["log-0"]}
    assert judged.key == key
    assert [(each.qid, each.winner) for each in judged.judgements] == [
        ("log-0", other),
        ("log-1", None),
        ("log-2", left["log-2"]),
        ("log-3", None),
    ]
    assert {each.said for each in judged.judgements[1::2]} == {"same", "neither"}
    assert judged.unjudged == ()


def test_a_page_need_not_be_judged_to_its_end(tmp_path: Path, key_path: Path) -> None:
    """What is left is named."""
    judged = blind.read(judge(tmp_path, ("log-1", "left")), key_path)

    assert len(judged.judgements) == 1
    assert judged.unjudged == ("log-0", "log-2", "log-3")


@pytest.mark.parametrize(
    ("choices", "changes", "expected"),
    [
        pytest.param(
            [("log-0", "left"), ("log-9", "left")],
            {},
            r"judgements.jsonl:2: 'log-9' is no question of .*key.json",
            id="unknown question",
        ),
        pytest.param(
            [("log-0", "left"), ("log-1", "left"), ("log-0", "right")],
            {},
            r"judgements.jsonl:3: 'log-0' is judged already, at .*judgements.jsonl:1",
            id="twice",
        ),
        pytest.param(
            [("log-0", "up")],
            {},
            r"judgements.jsonl:1: choice is 'up'; allowed: left, right, same, neither",
            id="no such choice",
        ),
        pytest.param(
            [("log-0", "left")],
            {"page": "another"},
            r"judgements.jsonl:1: judged on the page 'another'",
            id="another page",
        ),
        pytest.param(
            [("log-0", "left")],
            {"who": "me"},
            r"judgements.jsonl:1: 'who' is no field",
            id="a field too many",
        ),
    ],
)
def test_a_judgement_that_cannot_be_right_names_its_line(
    tmp_path: Path,
    key_path: Path,
    choices: list[tuple[str, str]],
    changes: dict[str, str],
    expected: str,
) -> None:
    """Nothing is guessed about what a person meant."""
    path = judge(tmp_path, *choices, **changes)

    with pytest.raises(RecordError, match=expected):
        blind.read(path, key_path)


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        pytest.param({"schema": 2}, "key.json: schema is 2", id="schema"),
        pytest.param({"arms": ["one", "one"]}, "arms: two names", id="one arm"),
        pytest.param(
            {"questions": [{"qid": "q", "left": "other", "weight": 1.0}]},
            r"questions\[0\]: left is 'other'",
            id="no such arm",
        ),
        pytest.param(
            {"questions": [{"qid": "q", "left": ARMS[0], "weight": -1}]},
            r"questions\[0\]: weight is -1",
            id="weight below nothing",
        ),
        pytest.param(
            {"questions": [{"qid": "q", "left": ARMS[0], "weight": True}]},
            "a number was expected, not true or false",
            id="weight of no number",
        ),
        pytest.param(
            {"questions": [{"qid": "q", "left": ARMS[0], "weight": 1}] * 2},
            r"questions\[1\]: 'q' is there already",
            id="question twice",
        ),
    ],
)
def test_a_key_that_is_none_is_refused(
    tmp_path: Path, key_path: Path, changes: dict[str, Any], expected: str
) -> None:
    """A wrong key would hand every judgement to the wrong arm."""
    key_path.write_text(json.dumps(json.loads(key_path.read_bytes()) | changes))

    with pytest.raises(RecordError, match=expected):
        blind.read(judge(tmp_path, ("log-0", "left")), key_path)


def test_a_missing_key_is_named(tmp_path: Path) -> None:
    """As every file that cannot be read."""
    with pytest.raises(RecordError, match=r"none\.json: cannot be read"):
        blind.read(judge(tmp_path, ("log-0", "left")), tmp_path / "none.json")


# ---------------------------------------------------------------- in a browser


@pytest.fixture(scope="module")
def chromium(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Browser]:
    """Start one browser for the module."""
    with browser(tmp_path_factory.mktemp("browser")) as started:
        yield started


@pytest.fixture
def opened(chromium: Browser, tmp_path: Path) -> Iterator[Page]:
    """Open a page of four; it asks for nothing but what it saves, and is silent."""
    path = tmp_path / "blind.html"
    path.write_bytes(blind.page("Staff handbook", seated()[0]))
    page = chromium.open(path)
    yield page
    assert [each for each in page.requests if not each.startswith("blob:")] == [
        path.as_uri()
    ]
    assert page.console == []
    # What is kept is kept for all files of a folder's browser.
    page.run("localStorage.clear()")
    chromium.close(page)


def chosen(page: Page) -> list[str]:
    """Give the judgements that are pressed."""
    pressed = page.run(
        "[...document.querySelectorAll('#choices [aria-pressed=true]')]"
        ".map((each) => each.value)"
    )
    assert isinstance(pressed, list)
    return pressed


@needs_chromium
def test_keys_judge_a_page_and_what_is_saved_can_be_read(
    opened: Page, tmp_path: Path, key_path: Path
) -> None:
    """From the first question to the verdict, without a mouse."""
    opened.save_into(tmp_path)

    opened.press("1", "2", "3", "4")
    assert (
        opened.text("#status") == "Question 4 of 4 · 4 judged · all judged: save them"
    )
    opened.click("#save")

    path = tmp_path / f"judgements-{seated()[1].page}.jsonl"
    for _ in range(200):
        if path.exists():
            break
        opened.run("new Promise((done) => setTimeout(done, 20))")
    judged = blind.read(path, key_path)
    assert [each.said for each in judged.judgements] == [
        "left",
        "right",
        "same",
        "neither",
    ]


@needs_chromium
def test_buttons_judge_and_go_on_to_what_is_not_judged(opened: Page) -> None:
    """The heading gets the focus, so that the next question is read out."""
    opened.click("#next")
    opened.click("#choices button:nth-of-type(2)")

    assert opened.text("#query") == "What is asked in number 2?"
    assert opened.focused() == "query"
    assert chosen(opened) == []
    opened.press("ArrowLeft")
    assert chosen(opened) == ["right"]
    assert opened.text("#status") == "Question 2 of 4 · 1 judged · not saved yet"


@needs_chromium
def test_a_judgement_can_be_changed(opened: Page) -> None:
    """The last word counts."""
    opened.press("1", "ArrowLeft", "4", "ArrowLeft")

    assert chosen(opened) == ["neither"]


@needs_chromium
def test_judgements_outlive_the_page_where_the_browser_keeps_them(
    chromium: Browser, tmp_path: Path
) -> None:
    """A tab that is closed by mistake costs nothing."""
    path = tmp_path / "blind.html"
    path.write_bytes(blind.page("Staff handbook", seated(5)[0]))
    first = chromium.open(path)
    first.press("1", "2")

    again = chromium.open(path)

    assert again.text("#status").startswith("Question 3 of 5 · 2 judged")
    again.run("localStorage.clear()")
    chromium.close(first)
    chromium.close(again)


@needs_chromium
def test_both_sides_are_shown_best_first(opened: Page) -> None:
    """Under headings that say nothing but the side."""
    assert opened.text("#left-title") == "Left"
    assert opened.text("#right-title") == "Right"
    assert {opened.count("#left > li"), opened.count("#right > li")} == {2, 3}
    assert opened.text("#left .heading") == "Leave > Days > 0"


@needs_chromium
@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [1280, 390])
def test_the_page_is_legible(opened: Page, width: int, scheme: str) -> None:
    """Contrast as WCAG AA asks, and no page that scrolls sideways."""
    opened.press("1", "ArrowLeft")
    opened.look(width, 900, scheme)

    assert too_wide(opened) == []
    assert faint(opened) == []


@needs_chromium
def test_hostile_passages_are_shown_and_not_run(
    chromium: Browser, tmp_path: Path
) -> None:
    """What a document says becomes text."""
    bad = blind.Passage(heading=HOSTILE, text=HOSTILE)
    contest = replace(contests(1)[0], query=HOSTILE, first=(bad,), second=(bad,))
    pairs, _ = blind.seat([contest], ARMS, seed=1, differing_share=1.0)
    (tmp_path / "bad.html").write_bytes(blind.page(HOSTILE, pairs))

    page = chromium.open(tmp_path / "bad.html")

    assert page.text("#query") == HOSTILE
    assert page.text("#left .text") == HOSTILE
    assert page.count("main img") == 0
    assert page.console == []
    chromium.close(page)
