"""Prompts, model facts and demo replies are found wherever situate is installed."""

from __future__ import annotations

import re
import subprocess
import sys
import tarfile
import zipfile
from pathlib import Path

import pytest

from situate import shipped as module
from situate.errors import ConfigError
from situate.shipped import shipped
from tests.support.pages import README, prose

ROOT = Path(__file__).parents[1]


def test_data_is_found_from_an_editable_install() -> None:
    """There it stands at the root of the repository."""
    assert shipped("config", "models.toml").is_file()


def test_data_inside_the_package_comes_first(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """A wheel never picks up what happens to lie beside its packages."""
    wheel, beside = tmp_path / "wheel", tmp_path / "beside"
    for home in (wheel, beside):
        (home / "config").mkdir(parents=True)
        (home / "config" / "models.toml").touch()
    monkeypatch.setattr(module, "_HOMES", (wheel, beside))

    assert shipped("config", "models.toml") == wheel / "config" / "models.toml"


def test_what_is_not_shipped_is_a_config_error() -> None:
    """The message names what is missing."""
    with pytest.raises(ConfigError, match=r"'prompts/no-such-v1\.md' is not part of"):
        shipped("prompts", "no-such-v1.md")


def test_a_wheel_holds_prompts_facts_and_the_replies_of_the_demo(
    tmp_path: Path,
) -> None:
    """What an install needs is inside it; what only the repository needs is not."""
    command = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d"]
    subprocess.run([*command, tmp_path], cwd=ROOT, check=True, capture_output=True)

    (wheel,) = tmp_path.glob("*.whl")
    names = set(zipfile.ZipFile(wheel).namelist())

    assert {
        "situate/py.typed",
        "situate/_shipped/prompts/findable-v1.md",
        "situate/_shipped/prompts/situating-v1.md",
        "situate/_shipped/config/models.toml",
        "situate/inspect/assets/page.html",
        "situate/service/web/assets/reference.css",
        "situate/_shipped/cassettes/replay/handbook.jsonl",
    } <= names
    assert not [name for name in names if name.startswith(("tests/", "benchmarks/"))]


def test_a_source_archive_holds_all_that_its_readme_links_to(tmp_path: Path) -> None:
    """Whoever unpacks it has the pages as well."""
    command = [sys.executable, "-m", "hatchling", "build", "-t", "sdist", "-d"]
    subprocess.run([*command, tmp_path], cwd=ROOT, check=True, capture_output=True)

    (archive,) = tmp_path.glob("*.tar.gz")
    with tarfile.open(archive) as packed:
        names = {name.partition("/")[2] for name in packed.getnames()}
    linked = re.findall(r"\]\(([^)#]+)(?:#[^)]*)?\)", prose(README))

    assert "docs/living-index.md" in linked
    for name in linked:
        assert any(f"{each}/".startswith(f"{name}/") for each in names), name
