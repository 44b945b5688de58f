"""Puts a view into one HTML file that needs no other and allows none."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from situate import standalone

if TYPE_CHECKING:
    from collections.abc import Mapping

    from situate.model import JsonValue

_SCRIPTS: Final = ("view", "text", "flow", "outline", "panel", "filters", "page")
_HERE: Final = "situate.inspect"
_SHARED: Final = "situate.standalone"


def page(view: Mapping[str, JsonValue]) -> bytes:
    """Write the page: the same bytes for the same view."""
    scripts = [standalone.asset(_HERE, f"{name}.js") for name in _SCRIPTS]
    design = standalone.Design(
        tool="situate inspect",
        style=standalone.asset(_SHARED, "theme.css")
        + standalone.asset(_HERE, "page.css"),
        script="\n".join([standalone.asset(_SHARED, "elements.js"), *scripts]),
    )
    body = standalone.asset(_HERE, "page.html")
    return standalone.page(design, str(view["name"]), body, view)
