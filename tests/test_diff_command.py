"""`situate diff`: one line for each chunk on stdout, counts on stderr."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest
from typer.testing import CliRunner

from situate.cli import app
from situate.records import from_line, from_record, to_line, to_record
from tests.support.corpora import LEAVE, TRAVEL

if TYPE_CHECKING:
    from pathlib import Path

    from typer.testing import Result


def situate(*arguments: str | Path) -> Result:
    """Run a command."""
    return CliRunner().invoke(app, [str(argument) for argument in arguments])


@pytest.fixture
def old(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Cut two documents, in a folder to work in."""
    monkeypatch.chdir(tmp_path)
    return cut(tmp_path, "old.jsonl", LEAVE)


def cut(folder: Path, name: str, leave: str) -> Path:
    """Write the documents and their chunks."""
    (folder / "leave.md").write_text(leave, "utf-8")
    (folder / "travel.md").write_text(TRAVEL, "utf-8")
    path = folder / name
    cutting = situate("chunk", "leave.md", "travel.md", "--min-tokens", "0")
    path.write_bytes(cutting.stdout_bytes)
    return path


def counts(**kinds: int) -> dict[str, int]:
    """Give the counts of a document; of what is not named there is none."""
    names = ("added", "removed", "changed", "moved", "unchanged")
    return dict.fromkeys(names, 0) | kinds


def test_every_chunk_that_differs_has_a_line(old: Path, tmp_path: Path) -> None:
    """Its sign, its ids and what is not the same; the counts are a message."""
    edited = LEAVE.replace("in writing", "aloud").replace(
        "## Except", "## Other except"
    )

    result = situate("diff", old, cut(tmp_path, "new.jsonl", edited))

    assert result.exit_code == 0
    assert result.stdout.splitlines() == [
        "~ leave.md:leave: text",
        "> leave.md:leave/exceptions -> leave.md:leave/other-exceptions: "
        "text, breadcrumb",
    ]
    assert result.stderr.splitlines() == [
        "situate: leave.md: 0 added, 0 removed, 1 changed, 1 moved, 1 unchanged",
        "situate: 0 added, 0 removed, 1 changed, 1 moved, 3 unchanged",
    ]


def test_machines_get_every_chunk(old: Path, tmp_path: Path) -> None:
    """Also those that are the same."""
    (tmp_path / "empty.jsonl").touch()
    edited = LEAVE.replace("in writing", "aloud")

    added = json.loads(situate("diff", "empty.jsonl", old, "--json").stdout)
    changed = json.loads(
        situate("diff", old, cut(tmp_path, "new.jsonl", edited), "--json").stdout
    )

    names = [
        "leave.md:leave",
        "leave.md:leave/days",
        "leave.md:leave/exceptions",
        "travel.md:travel",
        "travel.md:travel/abroad",
    ]
    assert added["added"] == names
    assert changed == {
        "added": [],
        "removed": [],
        "changed": [{"chunk_id": names[0], "changes": ["text"]}],
        "moved": [],
        "unchanged": names[1:],
        "documents": {
            "leave.md": counts(changed=1, unchanged=2),
            "travel.md": counts(unchanged=2),
        },
    }


def test_an_id_cannot_steer_a_terminal(old: Path, tmp_path: Path) -> None:
    """Whatever it holds, it is one line of printable characters."""
    record = from_line(old.read_bytes().splitlines()[0], "old")
    record["chunk_id"] = "a\x1b[2J\nb\u202e"
    path = tmp_path / "hostile.jsonl"
    path.write_bytes(to_line(to_record(from_record(record, "old"))))
    (tmp_path / "empty.jsonl").touch()

    result = situate("diff", "empty.jsonl", path)

    assert result.stdout == "+ a?[2J?b?\n"


@pytest.mark.parametrize(
    ("name", "content", "complaint"),
    [
        pytest.param("none.jsonl", None, "none.jsonl: cannot be read", id="no file"),
        pytest.param("bad.jsonl", b"{}\n", "bad.jsonl:1: schema is", id="no chunk"),
        pytest.param("bad.jsonl", b"\xff\n", "bad.jsonl:1: not a line", id="no text"),
    ],
)
def test_a_file_that_cannot_be_read_is_one_line(
    old: Path, tmp_path: Path, name: str, content: bytes | None, complaint: str
) -> None:
    """And exit code 2."""
    if content is not None:
        (tmp_path / name).write_bytes(content)

    result = situate("diff", old, name)

    assert result.exit_code == 2
    assert result.stdout == ""
    assert result.stderr.startswith(f"situate: {complaint}")
    assert result.stderr.count("\n") == 1
