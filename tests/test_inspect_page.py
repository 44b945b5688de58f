"""`inspect`: the page, which needs nothing but itself and trusts no document."""

from __future__ import annotations

import base64
import hashlib
import json
import re
import shutil
import subprocess
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest
from typer.testing import CliRunner

from situate.cli import app
from situate.inspect import page
from situate.records import read_chunks, to_record
from tests.support.corpora import LEAVE, handbook

if TYPE_CHECKING:
    from pathlib import Path

    from typer.testing import Result

HOSTILE = """\
---
title: "</script><script>document.title = 'owned'</script>"
doc_type: "<!-- <script>"
---
# <img src=x onerror="document.title = 'owned'">

</script><script>document.title = 'owned'</script> <!-- <script> \u2028 \u202e ${view}

## </title></style><iframe src="https://example.com"></iframe>

Nothing of this is markup \N{GRINNING FACE}.
"""

BROWSER = next(
    filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))),
    None,
)


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Work in an empty folder."""
    monkeypatch.chdir(tmp_path)
    return tmp_path


def inspect(*arguments: str | Path) -> Result:
    """Run the command."""
    return CliRunner().invoke(app, ["inspect", *map(str, arguments)])


def values(html: str) -> Any:
    """Give what the page will show."""
    found = re.search(r'<script type="application/json" id="view">(.*?)</script>', html)
    assert found is not None
    return json.loads(found[1])


# ---------------------------------------------------------------- the page


def test_hostile_text_stays_text(here: Path) -> None:
    """No document ends the element that holds it, or begins one."""
    (here / "bad.md").write_text(HOSTILE, "utf-8")

    html = inspect("bad.md").stdout

    body = html.partition('id="view">')[2]
    assert body.count("<script") == 1
    assert body.count("</script>") == 2
    assert "<!--" not in html
    assert "<iframe" not in html
    assert "\N{GRINNING FACE}" in json.dumps(values(html), ensure_ascii=False)
    assert "${view}" in json.dumps(values(html))


@pytest.mark.parametrize(
    "text",
    [
        "\0",
        "\u2028\u2029",
        "\ud800",
        "]]>",
        "</SCRIPT >",
        "<!--<script>",
        "\r\n",
        "\ufeff",
    ],
    ids=ascii,
)
def test_any_text_comes_out_as_it_went_in(text: str) -> None:
    """Whatever HTML, JSON or UTF-8 think of it."""
    html = page({"name": "x", "documents": [text]}).decode("utf-8")

    assert values(html)["documents"] == [text]


def test_the_name_of_a_file_is_no_markup() -> None:
    """It stands in the title."""
    html = page({"name": "</title><script>"}).decode("utf-8")

    assert "<title>&lt;/title&gt;&lt;script&gt; · situate inspect</title>" in html


def test_the_policy_allows_what_the_page_holds_and_nothing_else(here: Path) -> None:
    """Its own style and script, by their hashes."""
    (here / "leave.md").write_text(LEAVE, "utf-8")

    html = inspect("leave.md").stdout

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


def test_the_page_names_nothing_outside_itself(here: Path) -> None:
    """It is opened without a network, from a mail, years later."""
    (here / "leave.md").write_text(LEAVE, "utf-8")

    html = inspect("leave.md").stdout

    addresses = re.findall(r"""(?:src|href|url)\s*[=(]\s*["']?([^"'\s>]+)""", html)
    assert {each.partition(",")[0] for each in addresses} == {
        "#flow",
        "data:image/svg+xml",
    }
    assert not re.search(r"fetch\(|XMLHttp|import\(|innerHTML|@import|eval\(", html)


def test_the_page_is_the_same_on_every_machine(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """No clock, no path, no order of chance."""
    pages = []
    for folder in ("one", "another"):
        (tmp_path / folder).mkdir()
        monkeypatch.chdir(tmp_path / folder)
        (tmp_path / folder / "leave.md").write_text(LEAVE, "utf-8")
        pages.append(inspect("leave.md", "--granularity", "tree").stdout_bytes)

    assert pages[0] == pages[1]
    assert str(tmp_path).encode() not in pages[0]


# ---------------------------------------------------------------- the command


def test_a_document_is_cut_and_shown(here: Path) -> None:
    """With the sizes and parents that were asked for."""
    (here / "leave.md").write_text(LEAVE, "utf-8")

    result = inspect("leave.md", "--max-tokens", "64", "--granularity", "tree")

    shown = values(result.stdout)
    assert result.exit_code == 0
    assert result.stderr == ""
    assert shown["max_tokens"] == 64
    assert shown["summary"]["levels"]["document"] == 1
    assert shown["documents"][0]["flow"]


def test_the_page_can_go_to_a_file(here: Path) -> None:
    """The same as on stdout; a sentence says what is in it."""
    (here / "leave.md").write_text(LEAVE, "utf-8")

    result = inspect("leave.md", "-o", "page.html")

    assert result.exit_code == 0
    assert result.stdout == ""
    assert re.search(r"\d chunks of 1 document in page.html", result.stderr)
    assert (here / "page.html").read_bytes() == inspect("leave.md").stdout_bytes


def test_what_a_reader_warns_of_comes_first(here: Path) -> None:
    """It stands above all numbers."""
    (here / "old.md").write_bytes("# Caf\xe9\n\nText.\n".encode("cp1252"))

    shown = values(inspect("old.md").stdout)

    ((warning),) = shown["warnings"]
    assert warning["doc_id"] == "old.md"
    assert "Windows-1252" in warning["message"]


def test_a_chunks_file_is_shown_with_what_lies_beside_it(tmp_path: Path) -> None:
    """Limits and warnings from its manifest, kinds from its blocks."""
    corpus = handbook(tmp_path)
    corpus.run()

    shown = values(inspect(corpus.chunks).stdout)

    assert [each["doc_id"] for each in shown["documents"]] == [
        "leave.md",
        "travel/abroad.md",
    ]
    assert shown["max_tokens"] == 512
    assert shown["documents"][0]["flow"] is None
    kinds = {
        block[1] for each in shown["documents"][0]["chunks"] for block in each["blocks"]
    }
    assert kinds == {"heading", "paragraph", "table"}


def test_a_chunks_file_may_come_alone(here: Path) -> None:
    """Then nothing says what it was cut to but the caller."""
    (here / "leave.md").write_text(LEAVE, "utf-8")
    chunked = CliRunner().invoke(app, ["chunk", "leave.md"])
    (here / "a.jsonl").write_bytes(chunked.stdout_bytes)

    alone, told = inspect("a.jsonl"), inspect("a.jsonl", "--max-tokens", "99")

    assert values(alone.stdout)["max_tokens"] is None
    assert values(told.stdout)["max_tokens"] == 99


@pytest.fixture
def cut(here: Path) -> Path:
    """Give a chunks file whose source lies beside it."""
    (here / "leave.md").write_text(LEAVE, "utf-8")
    chunked = CliRunner().invoke(app, ["chunk", "leave.md", "--min-tokens", "0"])
    (here / "a.jsonl").write_bytes(chunked.stdout_bytes)
    return here / "a.jsonl"


def test_a_source_is_drawn_beside_its_chunks(cut: Path) -> None:
    """As if the document had been cut just now."""
    shown = values(inspect(cut, "--source", "leave.md").stdout)["documents"][0]
    expected = values(inspect("leave.md", "--min-tokens", "0").stdout)["documents"][0]

    assert shown == expected


def test_another_version_of_the_source_is_a_warning(here: Path, cut: Path) -> None:
    """Boundaries may be drawn in wrong places."""
    (here / "leave.md").write_text(LEAVE.replace("25", "26"), "utf-8")

    shown = values(inspect(cut, "--source", "leave.md").stdout)

    assert "not the version" in shown["warnings"][0]["message"]
    assert shown["documents"][0]["flow"]


def test_a_source_too_short_for_its_chunks_is_not_drawn(here: Path, cut: Path) -> None:
    """Their own texts are shown in its place."""
    (here / "leave.md").write_text("# Leave\n", "utf-8")

    shown = values(inspect(cut, "--source", "leave.md").stdout)

    assert any("is shorter" in each["message"] for each in shown["warnings"])
    assert shown["documents"][0]["flow"] is None


def test_half_a_character_in_a_chunk_breaks_nothing(here: Path, cut: Path) -> None:
    """JSON can say what UTF-8 cannot."""
    chunk, *_ = read_chunks(cut)
    odd = replace(chunk, metadata=replace(chunk.metadata, custom={"odd": "\ud800"}))
    cut.write_text(json.dumps(to_record(odd)) + "\n", "ascii")

    result = inspect(cut)

    assert values(result.stdout)["documents"][0]["about"]["custom.odd"] == "\ud800"


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        pytest.param(["none.md"], "none.md: cannot be read", id="missing"),
        pytest.param(["none.jsonl"], "none.jsonl: cannot be read", id="no chunks"),
        pytest.param(["bad.jsonl"], "bad.jsonl:1: not a line of JSON", id="no JSON"),
        pytest.param(["leave.xyz"], "there is no reader for '.xyz'", id="format"),
        pytest.param(
            ["leave.md", "--source", "leave.md"],
            "--source: the document that is shown is its own source",
            id="source of a document",
        ),
        pytest.param(
            ["a.jsonl", "--granularity", "tree"],
            "--granularity: a chunks file is cut already",
            id="granularity of chunks",
        ),
        pytest.param(
            ["a.jsonl", "--source", "none.md"],
            "none.md: cannot be read",
            id="no source",
        ),
        pytest.param(
            ["leave.md", "--max-tokens", "8"], "chunking.max_tokens is 8", id="size"
        ),
        pytest.param(
            ["leave.md", "-o", "leave.md"], "not to be replaced", id="over the document"
        ),
        pytest.param(
            ["a.jsonl", "--source", "leave.md", "-o", "leave.md"],
            "not to be replaced",
            id="over the source",
        ),
    ],
)
def test_bad_input_is_one_clear_line_and_no_page(
    here: Path, cut: Path, arguments: list[str], expected: str
) -> None:
    """Exit code 2, and nothing on stdout."""
    (here / "leave.xyz").write_text(LEAVE, "utf-8")
    (here / "bad.jsonl").write_text("no\n", "utf-8")

    result = inspect(*arguments)

    assert result.exit_code == 2
    assert result.stdout == ""
    assert result.stderr.startswith("situate: ")
    assert result.stderr.count("\n") == 1
    assert expected in result.stderr
    assert (here / "leave.md").read_text("utf-8") == LEAVE


# ---------------------------------------------------------------- in a browser


def opened(html: Path, fragment: str = "") -> tuple[str, str]:
    """Give a page's elements as a browser made them, and what its console says."""
    done = subprocess.run(
        [
            str(BROWSER),
            *("--headless", "--no-sandbox", "--disable-gpu", "--no-first-run"),
            *("--disable-background-networking", "--disable-component-update"),
            "--host-resolver-rules=MAP * ~NOTFOUND",
            f"--user-data-dir={html.parent / 'profile'}",
            *("--enable-logging=stderr", "--virtual-time-budget=4000"),
            *("--window-size=1440,900", "--dump-dom"),
            f"{html.as_uri()}{fragment}",
        ],
        capture_output=True,
        text=True,
        check=True,
        timeout=60,
    )
    console = [line for line in done.stderr.splitlines() if "CONSOLE" in line]
    return done.stdout, "\n".join(console)


@pytest.mark.skipif(BROWSER is None, reason="there is no Chromium on PATH")
def test_a_browser_shows_hostile_text_and_runs_none_of_it(here: Path) -> None:
    """Under the page's own policy, without a word on the console."""
    (here / "bad.md").write_text(HOSTILE, "utf-8")
    inspect("bad.md", "-o", "page.html")

    html, console = opened(here / "page.html", "#bad.md:_doc")

    drawn = html.partition("<main")[2].partition("</main>")[0]
    assert console == ""
    assert "<title>bad.md · situate inspect</title>" in html
    assert "&lt;img src=x onerror=" in drawn
    assert not re.search(r"<(img|iframe|script|style)\b", drawn)


@pytest.mark.skipif(BROWSER is None, reason="there is no Chromium on PATH")
def test_a_browser_opens_the_chunk_an_address_names(here: Path) -> None:
    """A link to a chunk can be sent to somebody."""
    (here / "leave.md").write_text(LEAVE, "utf-8")
    inspect("leave.md", "--min-tokens", "0", "-o", "page.html")

    html, console = opened(here / "page.html", "#leave.md:leave/exceptions")

    panel = html.partition("<aside")[2]
    assert console == ""
    assert 'aria-current="true"' in html
    assert re.search(r"<h2[^>]*>Exceptions</h2>", panel)
    assert "The above limits do not apply" in panel
