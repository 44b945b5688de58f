"""`inspect` in a browser: filter, open a chunk, search; and nothing leaves the page."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from situate.inspect import of_chunks, page, view
from tests.support.browser import CHROMIUM, NO_CHROMIUM, browser
from tests.support.corpora import handbook
from tests.support.legibility import faint, too_wide

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from tests.support.browser import Browser, Page

pytestmark = pytest.mark.skipif(CHROMIUM is None, reason=NO_CHROMIUM)


@pytest.fixture(scope="module")
def chromium(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Browser]:
    """Start one browser for the module."""
    with browser(tmp_path_factory.mktemp("browser")) as started:
        yield started


@pytest.fixture(scope="module")
def path(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Write the page of a corpus of two documents."""
    folder = tmp_path_factory.mktemp("inspector")
    corpus = handbook(folder, chunking={"granularity": "tree", "min_tokens": 0})
    corpus.run()
    path = folder / "page.html"
    path.write_bytes(page(view(of_chunks(corpus.chunks))))
    return path


@pytest.fixture
def opened(chromium: Browser, path: Path) -> Iterator[Page]:
    """Open it; whatever was done, it asked for nothing and said nothing."""
    opened = chromium.open(path)
    # Chunks are drawn when they come near, which is a moment after loading.
    opened.until("document.querySelector('.band')")
    yield opened
    assert opened.requests == [path.as_uri()]
    assert opened.console == []
    chromium.close(opened)


def test_search_leaves_the_chunks_that_hold_the_words(opened: Page) -> None:
    """The words are marked, and the count is said."""
    before = opened.count(".band")
    opened.press("/")
    assert opened.focused() == "query"

    opened.type("parental leave")
    opened.until("document.querySelectorAll('#flow mark').length")

    assert 0 < opened.count(".band") < before
    assert opened.text("#flow mark") == "parental leave"
    assert "1 hit" in opened.text("#status")


def test_a_filter_leaves_chunks_of_its_kind(opened: Page) -> None:
    """Its button says how many before it is pressed."""
    name = "#filters fieldset:first-of-type button:nth-of-type(1)"
    left = int(opened.text(f"{name} span"))

    opened.click(name)
    opened.until("document.querySelector('.band')")

    assert opened.text(name).startswith("document")
    assert opened.run(f"document.querySelector('{name}').ariaPressed") == "true"
    assert opened.count(".band") == left == 2


def test_a_chosen_chunk_is_opened_beside_the_others(opened: Page) -> None:
    """With what the embedder gets and where it belongs."""
    opened.click(".band:nth-of-type(3) header a")

    panel = opened.text("#panel")
    assert "AS EMBEDDED" in panel.upper()
    assert "chunk_id" in panel
    assert opened.count(".band[aria-current]") == 1
    assert opened.run("location.hash").startswith("#leave.md:")


def test_keys_alone_lead_through_the_chunks(opened: Page) -> None:
    """Skip link, next, back, and away."""
    opened.press("Tab")
    assert opened.focused() == "Skip to the chunks"
    opened.press("Enter")

    opened.press("j", "j")
    second = opened.text("#panel h2")
    opened.press("k")
    first = opened.text("#panel h2")
    opened.press("Escape")

    assert first != second
    assert "One chunk at a time" in opened.text("#panel")


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [1280, 390])
def test_the_inspector_is_legible(opened: Page, width: int, scheme: str) -> None:
    """Contrast as WCAG AA asks, and no page that scrolls sideways."""
    opened.look(width, 900, scheme)
    opened.press("j")

    assert too_wide(opened) == []
    assert faint(opened) == []
