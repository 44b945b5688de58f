"""Prompts, model facts and demo replies are found wherever situate is installed."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from situate import shipped as module
from situate.errors import ConfigError
from situate.shipped import shipped

if TYPE_CHECKING:
    from pathlib import Path


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
