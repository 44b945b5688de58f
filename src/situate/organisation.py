"""What an organisation lets leave its machines, whatever a corpus wants.

Two files may say so: one at a fixed path, and one that an environment variable
names. Neither is a key of a corpus, and where both are there both have to allow what
is asked. A file that is named and cannot be read allows nothing.
"""

from __future__ import annotations

import difflib
import os
import tomllib
from dataclasses import dataclass, replace
from fnmatch import fnmatchcase
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from situate.addresses import read_address, read_server
from situate.errors import ConfigError
from situate.files import opened

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from situate.addresses import Address, Server

VARIABLE = "SITUATE_ORGANISATION"
"""The environment variable that names a file."""

FIXED_PATH = Path("/etc/situate/organisation.toml")
"""Read whenever it is there."""

_SECTION = "egress"
_KEYS = ("base_urls", "models", "batch")
_SERVERS = ("redis://", "rediss://")

Mode = Literal["live", "batch"]
"""How a model is asked: `batch` hands requests to the vendor's batch system, at half
the price."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Bounds:
    """What one file allows; None where it does not speak of something."""

    path: Path
    base_urls: tuple[Address, ...] | None = None
    """Of providers, and of servers that keep a cache."""
    models: tuple[str, ...] | None = None
    """Names, and patterns in which `*`, `?` and `[...]` stand for others."""
    batch: bool | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Egress:
    """What all files together allow; everything where there is none."""

    bounds: tuple[Bounds, ...] = ()

    @property
    def paths(self) -> tuple[Path, ...]:
        """The files that speak."""
        return tuple(each.path for each in self.bounds)

    def about_address(self, url: str) -> str | None:
        """Say why nothing may be sent to an address; None where it may."""
        for each in self.bounds:
            if each.base_urls is not None and not _is_covered(url, each.base_urls):
                return (
                    f"base URL {url!r} is refused: egress.base_urls of "
                    f"{str(each.path)!r} does not list it"
                )
        return None

    def about_cache(self, server: Server) -> str | None:
        """Say why replies may not be kept on a server; None where they may.

        A socket leads nowhere but to this machine.
        """
        address = server.address
        if address is None:
            return None
        asked = replace(address, folders=(str(server.database or 0),))
        for each in self.bounds:
            if each.base_urls is not None and not any(
                listed.covers(asked) for listed in each.base_urls
            ):
                return (
                    f"cache.url {str(server)!r} is refused: egress.base_urls of "
                    f"{str(each.path)!r} does not list it"
                )
        return None

    def about_model(self, model: str, mode: Mode) -> str | None:
        """Say why a model may not be asked so; None where it may."""
        for each in self.bounds:
            if each.models is not None and not _is_listed(model, each.models):
                return (
                    f"model {model!r} is refused: egress.models of "
                    f"{str(each.path)!r} does not list it"
                )
            if mode == "batch" and each.batch is False:
                return (
                    f"a batch is refused: egress.batch of {str(each.path)!r} is false"
                )
        return None

    def objection(self, *, url: str, model: str, mode: Mode) -> str | None:
        """Say why text may not be sent there for that; None where it may."""
        return self.about_address(url) or self.about_model(model, mode)


def read_egress(environment: Mapping[str, str]) -> Egress:
    """Read the organisation's files, those that there are.

    Raises:
        ConfigError: a file that is there, or that the variable names, cannot be read
            or used.
    """
    paths = [FIXED_PATH] if _is_there(FIXED_PATH) else []
    named = environment.get(VARIABLE)
    if named is not None:
        if not named.strip():
            message = f"{VARIABLE} is set and names no file; unset it or name one"
            raise ConfigError(message)
        paths.append(Path(named))
    return Egress(bounds=tuple(map(_read, paths)))


def _is_there(path: Path) -> bool:
    """Tell whether something has this name, readable or not."""
    try:
        os.lstat(path)
    except FileNotFoundError:
        return False
    except OSError:
        return True
    return True


def _is_covered(url: str, listed: Sequence[Address]) -> bool:
    try:
        address = read_address(url)
    except ValueError:
        return False
    return any(each.covers(address) for each in listed)


def _is_listed(model: str, listed: Iterable[str]) -> bool:
    return any(model == each or fnmatchcase(model, each) for each in listed)


def _read(path: Path) -> Bounds:
    """Read one file.

    Raises:
        ConfigError: it cannot be read, or says what nobody understands.
    """
    try:
        with opened(path) as file:
            tables = tomllib.loads(file.read().decode("utf-8-sig"))
    except OSError as error:
        raise _unusable(path, f"cannot be read: {error.strerror}") from error
    # tomllib walks nested arrays and tables by recursion.
    except (ValueError, RecursionError) as error:
        raise _unusable(path, f"is not TOML: {error}") from error
    for name in tables:
        if name != _SECTION:
            raise _unusable(path, f"{name!r} is no section; nearest: [{_SECTION}]")
    table = tables.get(_SECTION)
    if not isinstance(table, dict):
        raise _unusable(path, f"has no section [{_SECTION}], and allows nothing")
    for key in table:
        if key not in _KEYS:
            near = difflib.get_close_matches(key, _KEYS, n=1, cutoff=0)[0]
            problem = f"{_SECTION}.{key} is no key; nearest: {_SECTION}.{near}"
            raise _unusable(path, problem)
    batch = table.get("batch")
    if not isinstance(batch, bool | None):
        raise _unusable(path, f"egress.batch is {batch!r}; allowed: true or false")
    urls = _texts(path, table, "base_urls")
    return Bounds(
        path=path,
        base_urls=None if urls is None else tuple(_address(path, url) for url in urls),
        models=_texts(path, table, "models"),
        batch=batch,
    )


def _texts(path: Path, table: Mapping[str, object], key: str) -> tuple[str, ...] | None:
    """Give a list of texts; None where the key is not there.

    Raises:
        ConfigError: it holds something else.
    """
    value = table.get(key)
    if value is None:
        return None
    if not isinstance(value, list):
        raise _unusable(path, f"egress.{key} is {value!r}; allowed: a list of texts")
    texts = tuple(each for each in value if isinstance(each, str) and each.strip())
    if len(texts) < len(value):
        raise _unusable(path, f"egress.{key} holds what is no text, or a blank one")
    return texts


def _address(path: Path, url: str) -> Address:
    try:
        if not url.lower().startswith(_SERVERS):
            return read_address(url)
        server = read_server(url)
    except ValueError as error:
        shown = "an address with a user" if "@" in url else repr(url)
        raise _unusable(path, f"egress.base_urls holds {shown}: {error}") from error
    if server.address is None or server.user or server.password:
        problem = "egress.base_urls holds the address of a server with a user or secret"
        raise _unusable(path, problem)
    return server.address


def _unusable(path: Path, problem: str) -> ConfigError:
    return ConfigError(f"{path}: {problem}; nothing is sent until the file is right")
