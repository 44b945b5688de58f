"""Several tasks say the same of one cause; it is what counts."""

from __future__ import annotations


def cause(error: BaseException) -> BaseException:
    """Give the first error of a group, and of groups in it; else the error itself."""
    while isinstance(error, BaseExceptionGroup):
        error = error.exceptions[0]
    return error
