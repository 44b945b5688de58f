"""Finds the data that ships with situate: prompts, model facts, demo replies.

A wheel carries them inside the package, an editable install leaves them at the
root of the repository. Nothing else in situate knows the difference.
"""

from __future__ import annotations

from pathlib import Path

from situate.errors import ConfigError

_PACKAGE = Path(__file__).resolve().parent
_HOMES = (_PACKAGE / "_shipped", _PACKAGE.parents[1])


def shipped(*parts: str) -> Path:
    """Give the path of shipped data, as in `shipped("config", "models.toml")`.

    Raises:
        ConfigError: this installation does not carry it.
    """
    for home in _HOMES:
        path = home.joinpath(*parts)
        if path.exists():
            return path
    message = f"{'/'.join(parts)!r} is not part of this installation of situate"
    raise ConfigError(message)
