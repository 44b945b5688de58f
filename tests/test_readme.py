"""What README shows is what happens: every block runs, every output is true."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from situate.compare.grounds import Ground
from situate.compare.questions import load as load_questions
from situate.config import load
from situate.listing import read_listing
from situate.organisation import VARIABLE, read_egress
from tests.support.fixtures import regenerating

ROOT = Path(__file__).parents[1]
README = ROOT / "README.md"
FENCE = re.compile(r"^```(\w*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
BLOCKS = FENCE.findall(README.read_text("utf-8"))


@pytest.fixture(scope="module")
def clone(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Give a folder with what a reader of README has in a clone."""
    folder = tmp_path_factory.mktemp("clone")
    for name in ("config", "cassettes", "tests/corpora"):
        shutil.copytree(ROOT / name, folder / name)
    return folder


def shown(command: str, folder: Path) -> str:
    """Run a `situate` command and give what a terminal would show."""
    done = subprocess.run(
        [sys.executable, "-m", *re.findall(r'"[^"]*"|\S+', command.replace('"', ""))],
        cwd=folder,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
    )
    return done.stdout.rstrip("\n")


def console(block: str, folder: Path) -> str:
    """Give a console block with what its commands show today."""
    commands = [line for line in block.splitlines() if line.startswith("$ ")]
    return "".join(f"{line}\n{shown(line[2:], folder)}\n" for line in commands)


def python(block: str) -> str:
    """Give what a Python block prints today."""
    done = subprocess.run(
        [sys.executable, "-c", block], capture_output=True, text=True, check=True
    )
    return done.stdout


def test_every_block_of_readme_shows_what_happens(clone: Path) -> None:
    """Commands and programs are run, and what stands below them compared."""
    expected: list[tuple[str, str]] = []
    printed = ""
    for kind, block in BLOCKS:
        match kind:
            case "console":
                expected.append((kind, console(block, clone)))
            case "text":
                expected.append((kind, printed))
            case "python":
                printed = python(block)
                expected.append((kind, block))
            case _:
                expected.append((kind, block))

    if regenerating():
        blocks = iter(expected)
        text = FENCE.sub(
            lambda _: "```{}\n{}```".format(*next(blocks)), README.read_text("utf-8")
        )
        README.write_text(text, "utf-8")
        pytest.skip("README was rewritten; review its diff")
    assert expected == BLOCKS


def test_every_config_in_readme_can_be_used(tmp_path: Path) -> None:
    """Keys, values and what they ask of each other."""
    configs = [
        block for kind, block in BLOCKS if kind == "toml" and "[corpus]" in block
    ]

    path = tmp_path / "corpus.toml"
    enabled = []
    for block in configs:
        path.write_text(block, "utf-8")
        (config,) = load([path], environment={})
        enabled.append(config.enrichment.enabled)

    assert enabled == [False, True, False, True]


def test_the_organisations_file_in_readme_can_be_used(tmp_path: Path) -> None:
    """It allows what it lists."""
    (block,) = [
        block for kind, block in BLOCKS if kind == "toml" and "[corpus]" not in block
    ]

    path = tmp_path / "organisation.toml"
    path.write_text(block, "utf-8")
    bounds = read_egress({VARIABLE: str(path)})

    url = "https://gateway.example.com/team-a/v1"
    assert bounds.objection(url=url, model="claude-haiku-5-5", mode="live") is None
    assert bounds.objection(url=url, model="claude-haiku-5-5", mode="batch") is not None


def test_every_manifest_in_readme_can_be_read(tmp_path: Path) -> None:
    """A document that is listed, and one that is deleted."""
    manifests = [block for kind, block in BLOCKS if kind == "jsonl"]

    path = tmp_path / "manifest.jsonl"
    path.write_text("".join(manifests), "utf-8")
    listed = [(each.doc_id, each.op) for each in read_listing(path, path.name).entries]

    assert listed == [("HR-7", "upsert"), ("old/leave-2019.md", "delete")]


def test_every_question_in_readme_can_be_read(tmp_path: Path) -> None:
    """Its gold is found in the document it names."""
    questions = [block for kind, block in BLOCKS if kind == "json"]

    path = tmp_path / "questions.jsonl"
    path.write_text("".join(questions), "utf-8")
    gold = [json.loads(line)["gold"][0] for line in questions]
    grounds = {
        each["doc_id"]: Ground(each["doc_id"], f"# Sickness\n\n{each['text']}\n", {})
        for each in gold
    }

    assert [one.origin for one in load_questions(path, grounds)] == ["given"]


def test_what_is_not_run_names_a_target_of_the_makefile() -> None:
    """A suite cannot start itself; it can see that the target is there."""
    makefile = (ROOT / "Makefile").read_text("utf-8")

    targets = [
        line
        for kind, block in BLOCKS
        if kind == "sh"
        for line in block.split("\n")
        if line
    ]

    assert targets
    for line in targets:
        assert re.fullmatch(r"make \w+", line)
        assert f"\n{line.removeprefix('make ')}:" in makefile
    assert {kind for kind, _ in BLOCKS} <= {
        *("sh", "python", "text", "console", "toml", "json", "jsonl"),
    }
