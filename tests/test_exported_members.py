"""The public names are those of `situate.__all__`, and no others."""

from __future__ import annotations

import inspect
import types

import situate


def test_everything_public_is_exported() -> None:
    """What is not in `__all__` may change without notice."""
    public = {
        name
        for name, value in vars(situate).items()
        if not name.startswith("_") and not isinstance(value, types.ModuleType)
    }

    assert public == set(situate.__all__)


def test_the_list_is_sorted_and_names_nothing_twice() -> None:
    """So that a diff shows one line for one name."""
    assert list(situate.__all__) == sorted(set(situate.__all__))


def test_every_public_name_says_what_it_is() -> None:
    """A class or function without a docstring is not finished."""
    silent = {
        name
        for name in situate.__all__
        if inspect.isroutine(value := getattr(situate, name)) or inspect.isclass(value)
        if not (value.__doc__ or "").strip()
    }

    assert not silent


def test_every_error_stands_in_the_tree_that_is_drawn() -> None:
    """The drawing at the top of the module is the whole truth."""
    drawing = inspect.getmodule(situate.SituateError).__doc__ or ""
    errors = {
        name
        for name in situate.__all__
        if inspect.isclass(value := getattr(situate, name))
        and issubclass(value, situate.SituateError)
    }

    assert {name for name in errors if name in drawing} == errors
