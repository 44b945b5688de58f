"""Judges what `enrichment.redact` holds: it says nothing of what it hides."""

from __future__ import annotations

import re

ALLOWED = "a list of regular expressions, or a function like 'mymodule:spans'"
"""What it may hold, in words."""

_FUNCTION = re.compile(r"[^\W\d]\w*(?:\.[^\W\d]\w*)*:[^\W\d]\w*")
"""As Python names one, behind its module."""


def expressions_or_function(value: object) -> object:
    """Accept the name of a function, or a list of expressions that can be compiled.

    Raises:
        ValueError: it is neither.
    """
    if isinstance(value, str):
        if not _FUNCTION.fullmatch(value):
            message = "not a function"
            raise ValueError(message)
        return value
    import regex

    for pattern in value if isinstance(value, list) else ():
        if isinstance(pattern, str):
            try:
                regex.compile(pattern)
            except regex.error as error:
                raise ValueError(str(error)) from error
    return value
