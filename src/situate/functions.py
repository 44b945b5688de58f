"""Finds functions of the user's own by their name in a config or on a command line.

The module is found as Python finds modules, and in the working directory after that,
so that a file there hides no installed package. What the function does is its own
business.
"""

from __future__ import annotations

import functools
import hashlib
import importlib
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from situate.errors import ConfigError

if TYPE_CHECKING:
    from collections.abc import Callable
    from types import ModuleType


@dataclass(frozen=True, slots=True, kw_only=True)
class Found:
    """A function of the user's own."""

    call: Callable[..., Any]
    source: str | None
    """Hash (SHA-256) of the file it was found in, as it was when that was imported;
    None where there is no such file. What it calls in other files is not seen."""


def find_function(spec: str, kind: str) -> Found:
    """Give the function that `spec` names as `module:function`.

    `kind` says in messages what it is for.

    Raises:
        ConfigError: there is no such module or function.
    """
    module_name, _, function_name = spec.partition(":")
    if not all(part.isidentifier() for part in module_name.split(".")) or not (
        function_name.isidentifier()
    ):
        message = f"{kind} {spec!r} is no function; name it as in 'mymodule:embed'"
        raise ConfigError(message)
    here = str(Path.cwd())
    if here not in sys.path:
        # For good: what the function imports when it is called may lie here, too.
        sys.path.append(here)
    try:
        module = importlib.import_module(module_name)
    # Importing runs code of the user's, which may raise anything, or end the program
    # without meaning to. Ctrl-C passes.
    except (Exception, SystemExit) as error:
        message = (
            f"{kind} {spec!r}: module {module_name!r} cannot be imported: "
            f"{type(error).__name__}: {error}"
        )
        raise ConfigError(message) from error
    function = getattr(module, function_name, None)
    if not callable(function):
        message = f"{kind} {spec!r}: {module_name!r} has no function {function_name!r}"
        raise ConfigError(message)
    return Found(call=function, source=_hash_of(module))


# Once for each module: it stays as it was imported when its file is edited later.
@functools.cache
def _hash_of(module: ModuleType) -> str | None:
    path = getattr(module, "__file__", None)
    if path is None:
        return None
    try:
        return hashlib.sha256(Path(path).read_bytes()).hexdigest()
    except OSError:
        return None
