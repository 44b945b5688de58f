"""Builds HTML files that need nothing but themselves and allow nothing else.

A page is style, script, markup and values in one file, under a policy that names the
first two by their hashes. Values travel as JSON and stay text; whoever hands over
markup has escaped it, which `elements` does.
"""

from __future__ import annotations

import base64
import hashlib
import html
import json
from dataclasses import dataclass
from importlib.resources import files
from string import Template
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

    from situate.model import JsonValue


@dataclass(frozen=True, slots=True, kw_only=True)
class Design:
    """What all pages of one kind have in common."""

    tool: str
    """The command that writes them, named in the title."""
    style: str
    script: str


def asset(package: str, name: str) -> str:
    """Read a file of a package's `assets` folder, ASCII or UTF-8."""
    # Line ends are those of the repository, whatever a checkout made of them.
    return files(package).joinpath("assets", name).read_text("utf-8")


def page(design: Design, title: str, body: str, data: Mapping[str, JsonValue]) -> bytes:
    """Write a page: the same bytes for the same values.

    `title` is text, `body` is markup; a script finds `data` in the element `view`.
    """
    # The icon is data, so that no browser asks a server for one.
    policy = (
        f"default-src 'none'; style-src {_hash(design.style)}; "
        f"script-src {_hash(design.script)}; img-src data:; base-uri 'none'; "
        "form-action 'none'; require-trusted-types-for 'script'"
    )
    text = Template(asset("situate.standalone", "page.html")).substitute(
        policy=policy,
        tool=html.escape(design.tool),
        title=html.escape(title),
        style=design.style,
        body=body,
        data=_json(data),
        script=design.script,
    )
    # What UTF-8 has no bytes for becomes the escape that JSON reads it from.
    return text.encode("utf-8", "backslashreplace")


def _json(data: Mapping[str, JsonValue]) -> str:
    """Write JSON that no HTML parser takes for the end of its element."""
    text = json.dumps(data, ensure_ascii=False, separators=(",", ":"))
    return text.replace("<", r"\u003c")


def _hash(text: str) -> str:
    """Name a text as a content security policy does."""
    digest = hashlib.sha256(text.encode("utf-8")).digest()
    return f"'sha256-{base64.b64encode(digest).decode('ascii')}'"
