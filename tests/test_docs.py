"""Documentation says what the code does, or the suite fails."""

from __future__ import annotations

import re
from dataclasses import MISSING, fields, is_dataclass
from pathlib import Path

import pytest
import typer.main

from situate.cli import app
from situate.config import SECTIONS
from situate.enrichment.reasons import REASONS

ROOT = Path(__file__).parents[1]
README = (ROOT / "README.md").read_text("utf-8")
CONFIGURATION = (ROOT / "docs" / "configuration.md").read_text("utf-8")
STATEMENTS = (ROOT / "docs" / "statements.md").read_text("utf-8")

KEYS = sorted(
    f"{section}.{field.name}"
    for section, cls in SECTIONS.items()
    for field in fields(cls)
)
DEFAULTS = {
    f"{section}.{field.name}": field.default
    for section, cls in SECTIONS.items()
    for field in fields(cls)
}


def commands() -> list[str]:
    """Give every command as it is typed."""
    found = []
    root = typer.main.get_command(app)
    for name, command in vars(root)["commands"].items():
        inner = vars(command).get("commands")
        found.extend([f"{name} {below}" for below in inner] if inner else [name])
    return sorted(found)


def reference() -> dict[str, str]:
    """Give the page's rows about keys: the key in code marks, then the rest."""
    row = re.compile(r"^\| `([a-z]+\.[a-z_]+)` \|(.*)\|$", re.MULTILINE)
    return dict(row.findall(CONFIGURATION))


def test_the_reference_lists_every_key_and_no_other() -> None:
    """A key is added to the page in the commit that adds it."""
    assert sorted(reference()) == KEYS


@pytest.mark.parametrize("key", KEYS)
def test_the_reference_tells_the_default(key: str) -> None:
    """As it is written in a config; a required key says so."""
    default = DEFAULTS[key]
    if default is MISSING:
        expected = "required"
    elif default is None:
        expected = "unset"
    elif isinstance(default, bool):
        expected = str(default).lower()
    elif is_dataclass(default):
        expected = "`{}`"
    elif isinstance(default, tuple):
        expected = "`[]`"
    elif isinstance(default, float):
        expected = f"{default:g}"
    else:
        expected = str(default)

    assert expected in reference()[key]


@pytest.mark.parametrize("command", commands())
def test_every_command_is_mentioned(command: str) -> None:
    """Nobody finds what README does not name."""
    assert f"situate {command}" in README


@pytest.mark.parametrize("path", sorted((ROOT / "config").glob("*.toml")))
def test_every_shipped_config_is_named_in_readme_or_is_data(path: Path) -> None:
    """An example nobody points to is not one."""
    assert path.name == "models.toml" or path.name in README


@pytest.mark.parametrize("reason", sorted(REASONS))
def test_every_reason_is_explained(reason: str) -> None:
    """In the words the program has for it."""
    assert f"| `{reason}` | {REASONS[reason]} |" in STATEMENTS
