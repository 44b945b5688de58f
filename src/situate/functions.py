"""Finds functions of the user's own by their name in a config or on a command line.

The module is found as Python finds modules, and in the working directory after that,
so that a file there hides no installed package. What the function does is its own
business.
"""

from __future__ import annotations

import importlib
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

from situate.errors import ConfigError

if TYPE_CHECKING:
    from collections.abc import Callable
    from types import ModuleType


def find_function(spec: str, kind: str) -> tuple[Callable[..., Any], ModuleType]:
    """Give the function that `spec` names as `module:function`, and its module.

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
    return function, module
