"""What README and docs show is what happens: blocks run, outputs and links are true."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from collections import Counter
from typing import TYPE_CHECKING

import pytest

from situate.compare.grounds import Ground
from situate.compare.questions import load as load_questions
from situate.config import load
from situate.listing import read_listing
from situate.organisation import VARIABLE, read_egress
from tests.support.following import followed
from tests.support.pages import (
    ELSEWHERE,
    PAGES,
    README,
    ROOT,
    all_blocks,
    blocks,
    prose,
)

if TYPE_CHECKING:
    from pathlib import Path

    from tests.support.pages import Block

BLOCKS = all_blocks()
SCRIPT = "#!/bin/sh\n"
LINKED = (*PAGES, *(ROOT / f"{name}.md" for name in ("CONTRIBUTING", "SECURITY")))


@pytest.mark.parametrize(
    "page",
    [page for page in PAGES if page.stem not in ELSEWHERE],
    ids=lambda page: page.stem,
)
def test_every_block_of_a_page_shows_what_happens(page: Path, clone: Path) -> None:
    """Commands and programs are run, and what stands below them compared."""
    shown, happens = followed(page, clone)

    assert shown == happens


@pytest.mark.parametrize(
    "block",
    [block for block in BLOCKS if block.kind == "toml"],
    ids=lambda block: f"{block.page.stem}-{block.name or 'shown'}",
)
def test_every_config_on_a_page_can_be_used(block: Block, tmp_path: Path) -> None:
    """Keys, values and what they ask of each other."""
    path = tmp_path / "shown.toml"
    path.write_text(block.text, "utf-8")

    if "[corpus]" in block.text:
        (config,) = load([path], environment={})
        assert config.enrichment.enabled is ("enabled = true" in block.text)
    else:
        bounds = read_egress({VARIABLE: str(path)})
        url = "https://gateway.example.com/team-a/v1"
        model = "claude-haiku-5-5"
        assert bounds.objection(url=url, model=model, mode="live") is None
        assert bounds.objection(url=url, model=model, mode="batch") is not None


def test_every_manifest_on_a_page_can_be_read(tmp_path: Path) -> None:
    """Documents that are listed, and one that is deleted; wordings of one document."""
    path = tmp_path / "manifest.jsonl"
    listed = {}
    for block in BLOCKS:
        if block.kind == "jsonl":
            path.write_text(block.text, "utf-8")
            entries = read_listing(path, path.name, "all").entries
            found = listed.setdefault(block.page.stem, [])
            found += [(each.doc_id, each.op) for each in entries]

    assert listed == {
        "documents": [("HR-7", "upsert"), ("old/leave-2019.md", "delete")],
        "versions": [("HR-7", "upsert"), ("HR-7", "upsert")],
    }


def test_every_question_on_a_page_can_be_read(tmp_path: Path) -> None:
    """Its gold is found in the document it names."""
    questions = [
        block.text for block in BLOCKS if block.kind == "json" and block.name is None
    ]

    path = tmp_path / "questions.jsonl"
    path.write_text("".join(questions), "utf-8")
    gold = [json.loads(line)["gold"][0] for line in questions]
    grounds = {
        each["doc_id"]: Ground(each["doc_id"], f"# Sickness\n\n{each['text']}\n", {})
        for each in gold
    }

    assert [one.origin for one in load_questions(path, grounds)] == ["given"]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_the_file_that_a_block_is_stands_in_the_text_above(page: Path) -> None:
    """Where a page is rendered, nobody sees what a block is called."""
    text, rest = "", page.read_text("utf-8")

    for block in blocks(page):
        above, _, rest = rest.partition(f"```{block.kind}")
        text += above
        _, _, rest = rest.partition("\n```\n")
        if block.name is not None:
            assert f"`{block.name}`" in text
            text = text.replace(f"`{block.name}`", "")


def test_what_is_not_run_names_a_target_of_the_makefile() -> None:
    """A suite cannot start itself; it can see that the target is there."""
    makefile = (ROOT / "Makefile").read_text("utf-8")

    targets = [
        line
        for block in BLOCKS
        if block.kind == "sh" and not block.text.startswith(SCRIPT)
        for line in block.text.split("\n")
        if line
    ]

    assert targets
    for line in targets:
        shown = re.fullmatch(r"make ([\w-]+)(?: [A-Z]+=\w+)?", line)
        assert shown
        assert f"\n{shown[1]}:" in makefile
    assert {block.kind for block in BLOCKS} <= {
        *("sh", "python", "text", "console", "toml", "json", "jsonl", "markdown"),
    }


class Night:
    """The script of README beside a corpus of one document."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        script = next(each for each in BLOCKS if each.text.startswith(SCRIPT))
        config = next(
            each
            for each in blocks(README)
            if each.kind == "toml" and "max_delete_share" in each.text
        )
        self.write("documents/leave.md", "# Leave\n\nThere are 25 days.\n")
        self.write("nightly.sh", script.text)
        self.write("handbook.toml", config.text)
        self.write("load", f"{SCRIPT}test ! -e down && echo loaded >>calls\n")
        self.write("alert", f"{SCRIPT}echo alert >>calls; cat >>calls\n")
        command = f'{SCRIPT}exec {sys.executable} -m situate "$@"\n'
        self.write("bin/situate", command)

    def write(self, name: str, text: str) -> Path:
        """Put a file there that can be run."""
        path = self._folder / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(text, "utf-8")
        path.chmod(0o755)
        return path

    def fall(self) -> tuple[int, list[str]]:
        """Let it become night; give how the script ended, and what it called."""
        calls = self.write("calls", "")
        path = f"{self._folder / 'bin'}{os.pathsep}{os.environ['PATH']}"
        done = subprocess.run(
            ["/bin/sh", "nightly.sh"],
            cwd=self._folder,
            env={**os.environ, "PATH": path},
            check=False,
        )
        return done.returncode, calls.read_text("utf-8").splitlines()


@pytest.fixture
def night(tmp_path: Path) -> Night:
    """The script of README, with a store and somebody to be told."""
    return Night(tmp_path)


def test_the_nightly_script_loads_what_is_new_until_it_is_loaded(night: Night) -> None:
    """What a store has not taken in is not acknowledged, and comes again."""
    down = night.write("down", "")

    without_store = night.fall()
    down.unlink()
    with_store = night.fall()
    without_news = night.fall()

    assert without_store == (1, [])
    assert with_store == (0, ["loaded"])
    assert without_news == (0, [])


def test_the_nightly_script_loads_and_tells_what_is_missing(night: Night) -> None:
    """Exit code 3 is no reason to keep the rest from a store."""
    dates = "effective_from: 2026-01-01\neffective_to: 2025-01-01"
    night.write("documents/never.md", f"---\n{dates}\n---\n# Never\n")

    ended, (first, second, *said) = night.fall()

    assert (ended, first, second) == (0, "loaded", "alert")
    assert "1 of 2 documents failed" in "\n".join(said)


def test_the_nightly_script_tells_where_nothing_was_sent(night: Night) -> None:
    """It ends as `sync` did."""
    night.write("handbook.toml", "[corpus]\n")

    ended, (first, *said) = night.fall()

    assert (ended, first) == (2, "alert")
    assert "handbook.toml: 3 problems" in said[0]


def anchors(page: Path) -> set[str]:
    """Give what can be linked to of a page, as GitHub names it."""
    seen: Counter[str] = Counter()
    found = set()
    for heading in re.findall(r"^#+ (.+)$", prose(page), re.MULTILINE):
        slug = re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-")
        found.add(f"{slug}-{seen[slug]}" if seen[slug] else slug)
        seen[slug] += 1
    return found


@pytest.mark.parametrize("page", LINKED, ids=lambda page: page.stem)
def test_every_link_leads_somewhere(page: Path) -> None:
    """To a file of the repository, and to a heading in it."""
    for target in re.findall(r"\]\(([^)]+)\)", prose(page)):
        if not re.match(r"https?://", target):
            name, _, anchor = target.partition("#")
            path = (page.parent / name).resolve() if name else page
            assert path.exists(), target
            assert path.is_relative_to(ROOT), target
            assert not anchor or anchor in anchors(path), target


@pytest.mark.parametrize("page", PAGES[1:], ids=lambda page: page.stem)
def test_readme_links_to_every_page(page: Path) -> None:
    """Nobody looks into a folder that nothing points to."""
    assert f"](docs/{page.name})" in prose(README)
