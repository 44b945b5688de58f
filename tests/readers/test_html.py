"""HTML: reading order, headings, blocks, and what is not content."""

from __future__ import annotations

import os
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from situate.readers import ReaderOptions, passages, read
from tests.readers.trees import Case, blocks, load, show

FIXTURES = Path(__file__).parent.parent / "fixtures" / "html"

CASES = [
    pytest.param(path, case, id=f"{path.stem}: {case.name}")
    for path in sorted(FIXTURES.glob("*.md"))
    for case in load(path)
]


def tree(case: Case) -> str:
    """Read a case's page and write its tree."""
    return show(read(case.source.encode(), "doc.html").document)


@pytest.mark.parametrize(("path", "case"), CASES)
def test_a_page_gives_the_tree_beside_it(path: Path, case: Case) -> None:
    """The fixture files say what is expected, in words and by example."""
    if os.environ.get("SITUATE_REGENERATE") == "1":
        written = [replace(one, expected=tree(one)) for one in load(path)]
        path.write_text(
            "\n".join(
                f"{one.name}\n.\n{one.source}\n.\n{one.expected}\n.\n"
                for one in written
            ),
            encoding="utf-8",
        )

    assert tree(case) == case.expected or os.environ.get("SITUATE_REGENERATE") == "1"


def texts(page: str) -> list[str]:
    """Give the text of a page's blocks."""
    return [block.text for block in blocks(read(page.encode(), "doc.html").document)]


def warnings(page: str) -> tuple[str, ...]:
    """Give what the reader has to say about a page."""
    return read(page.encode(), "doc.html").warnings


@pytest.mark.parametrize(
    "hidden",
    [
        "<script>let a</script>",
        "<style>a { color: red }</style>",
        "<template><p>row</p></template>",
        "<!-- remark <p>more</p> -->",
    ],
    ids=["script", "style", "template", "comment"],
)
def test_what_is_never_drawn_is_left_out_in_silence(hidden: str) -> None:
    """Nobody misses it."""
    page = f"<p>before</p>{hidden}<p>after</p>"

    assert texts(page) == ["before", "after"]
    assert warnings(page) == ()


@pytest.mark.parametrize(
    ("left_out", "warning"),
    [
        ("<nav><a>Home</a> Jobs</nav>", "2 words of navigation"),
        ('<div role="navigation">Home Jobs</div>', "2 words of navigation"),
        ("<footer><p>Copyright Elm</p></footer>", "2 words of navigation"),
        ('<div role="contentinfo">Copyright</div>', "1 word of navigation"),
        ("<noscript>Enable scripts</noscript>", "2 words of what stands in"),
        ("<video>No video here</video>", "3 words of what stands in"),
        ("<p hidden>secret word</p>", "2 words of hidden elements"),
        ('<p style="DISPLAY : none">secret</p>', "1 word of hidden elements"),
        ('<p aria-hidden="true">secret</p>', "1 word of hidden elements"),
        ("<dialog>Closed now</dialog>", "2 words of hidden elements"),
    ],
)
def test_what_is_no_content_is_left_out_and_counted(
    left_out: str, warning: str
) -> None:
    """One warning for each kind says how many words it had."""
    page = f"<p>before</p>{left_out}{left_out}<p>after</p>"

    assert texts(page) == ["before", "after"]
    (said,) = warnings(page)
    doubled = int(warning[0]) * 2
    assert said.startswith(f"left out {doubled} words {warning.split(' ', 2)[2]}")


@pytest.mark.parametrize(
    "content",
    [
        "<header>word</header>",
        "<aside>word</aside>",
        "<article><footer>word</footer></article>",
        "<main><footer>word</footer></main>",
        "<dialog open>word</dialog>",
        '<div hidden="until-found">word</div>',
        '<div role="tabpanel" hidden>word</div>',
        "<nav><main>word</main></nav>",
        '<div aria-hidden="true"><main>word</main></div>',
        "<noframes></noframes>word",
        "<object>word</object>",
        "<del>word</del>",
    ],
)
def test_what_only_looks_like_boilerplate_is_kept(content: str) -> None:
    """A footer of a part, a closed tab and a menu around everything are content."""
    assert texts(f"<p>before</p>{content}") == ["before", "word"]


def test_a_page_of_nothing_but_menus_is_read() -> None:
    """Better a menu than an empty document, and a warning says so."""
    page = "<nav><ul><li>Home</li></ul></nav><footer>Elm</footer>"

    assert texts(page) == ["- Home", "Elm"]
    assert warnings(page) == (
        "all text stands in menus or hidden elements and was read",
    )
    assert list(passages(page.encode(), "doc.html")) == ["Home", "Elm"]


def test_deleted_text_is_kept_and_warned_of() -> None:
    """Without its line through, a reader has to know that it is there."""
    page = "<p>Within <del>30</del> <s>20</s> 14 days</p>"

    assert texts(page) == ["Within 30 20 14 days"]
    assert warnings(page) == ("kept 2 passages marked as deleted as text",)


def test_an_empty_page_has_no_blocks() -> None:
    """That is no error."""
    assert texts("") == texts(" \n") == texts("<html><body></body></html>") == []


def test_title_language_and_named_properties_are_metadata() -> None:
    """The names are those of front matter; others travel when they are asked for."""
    page = """<html lang="de-CH"><head><title> Water
      rates &amp; fees</title><meta name="Doc-Type" content="policy">
      <meta name="effective_from" content="2025-01-01">
      <meta name="effective_to" content="2025-12-31T00:00">
      <meta name="version" content="3"><meta name="doc_id" content="rates">
      <meta name="author" content="A"><meta name="keywords" content="k"></head>"""

    document = read(
        page.encode(), "doc.html", options=ReaderOptions(keep=("author",))
    ).document

    metadata = document.metadata
    assert metadata.title == "Water rates & fees"
    assert metadata.language == "de-CH"
    assert metadata.doc_type == "policy"
    assert (metadata.effective_from, metadata.effective_to) == (
        "2025-01-01",
        "2025-12-31",
    )
    assert metadata.custom == {"author": "A"}
    assert (document.doc_id, document.version) == ("rates", "3")


def test_a_date_that_is_none_stays_a_property() -> None:
    """The warning says where it stood."""
    result = read(b'<meta name="effective_to" content="soon">', "doc.html")

    assert result.document.metadata.custom == {"effective_to": "soon"}
    assert result.warnings == (
        "metadata: effective_to 'soon' is no ISO date (YYYY-MM-DD); kept under custom",
    )


@pytest.mark.parametrize("extension", ["html", "htm", "xhtml", "HTML"])
def test_the_extensions_of_html(extension: str) -> None:
    """The same reader serves them all."""
    found = blocks(read(b"<h2>Head</h2>", f"a.{extension}").document)

    assert [(block.kind, block.text) for block in found] == [("heading", "## Head")]


def test_xhtml_may_close_any_element_in_its_own_tag() -> None:
    """A title or script without content does not swallow the page."""
    page = """<?xml version="1.0"?>
      <html xmlns="http://www.w3.org/1999/xhtml" xml:lang="en">
      <head><title/><script src="x.js"/></head>
      <body><a id="p1"/><p/><p>one <![CDATA[<two> & three]]></p></body></html>"""

    result = read(page.encode(), "doc.xhtml")

    assert [block.text for block in blocks(result.document)] == ["one <two> & three"]
    assert result.document.metadata.language == "en"


def test_reading_loads_the_parser_only_when_it_reads() -> None:
    """`situate --help` does not wait for it."""
    code = "import sys, situate.readers; print('selectolax' in sys.modules)"

    shown = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    )

    assert shown.stdout.strip() == "False"


def test_a_raised_link_to_a_note_does_not_end_the_word_before_it() -> None:
    """`See1` is no word; a power is one."""
    data = b'<p>See<sup><a href="#n1">1</a></sup> and x<sup>2</sup>.</p>'

    (block,) = blocks(read(data, "doc.html").document)

    assert block.text == "See[1] and x2."
    assert list(passages(data, "doc.html")) == ["See[1] and x2."]


def test_boxes_to_tick_are_read_as_in_markdown() -> None:
    """What is done is part of what a list says."""
    data = (
        b"<ul><li><input type=checkbox checked> done<li><input type=checkbox>open</ul>"
    )

    (block,) = blocks(read(data, "doc.html").document)

    assert block.text == "- [x] done\n- [ ] open"
