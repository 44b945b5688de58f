"""Puts a view into one HTML file that needs no other and allows none."""

from __future__ import annotations

import base64
import hashlib
import html
import json
from importlib.resources import files
from string import Template
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

    from situate.model import JsonValue


_SCRIPTS = ("view", "text", "flow", "outline", "panel", "filters", "page")


def page(view: Mapping[str, JsonValue]) -> bytes:
    """Write the page: the same bytes for the same view."""
    style = _asset("page.css")
    script = "\n".join(_asset(f"{name}.js") for name in _SCRIPTS)
    # The icon is data, so that no browser asks a server for one.
    policy = (
        f"default-src 'none'; style-src {_hash(style)}; script-src {_hash(script)}; "
        "img-src data:; base-uri 'none'; form-action 'none'; "
        "require-trusted-types-for 'script'"
    )
    text = Template(_asset("page.html")).substitute(
        policy=policy,
        title=html.escape(str(view["name"])),
        style=style,
        script=script,
        view=_json(view),
    )
    # What UTF-8 has no bytes for becomes the escape that JSON reads it from.
    return text.encode("utf-8", "backslashreplace")


def _json(view: Mapping[str, JsonValue]) -> str:
    """Write JSON that no HTML parser takes for the end of its element."""
    text = json.dumps(view, ensure_ascii=False, separators=(",", ":"))
    return text.replace("<", r"\u003c")


def _asset(name: str) -> str:
    # Line ends are those of the repository, whatever a checkout made of them.
    return files("situate.inspect").joinpath("assets", name).read_text("utf-8")


def _hash(text: str) -> str:
    """Name a text as a content security policy does."""
    digest = hashlib.sha256(text.encode("utf-8")).digest()
    return f"'sha256-{base64.b64encode(digest).decode('ascii')}'"
