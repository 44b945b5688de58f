"""Reads raw replies with care: what a server sends is data, and may be broken."""

from __future__ import annotations

import json
from typing import Any

from situate.errors import TransientError


def load(raw: str, provider: str) -> dict[str, Any]:
    """Decode a reply.

    Raises:
        TransientError: it is not a JSON object, or one that says error.
    """
    try:
        data = json.loads(raw)
    except (ValueError, RecursionError) as error:
        raise broken(provider, "it is not JSON") from error
    if not isinstance(data, dict):
        raise broken(provider, "it is not a JSON object")
    if data.get("error") or data.get("type") == "error":
        raise broken(provider, "it is an error sent as a success")
    return data


def count(usage: dict[str, Any], *path: str, provider: str) -> int:
    """Read a count of tokens; one that is absent or null is 0.

    Raises:
        TransientError: what stands there is no count.
    """
    value: Any = usage
    for key in path:
        value = value.get(key) if isinstance(value, dict) else None
    if value is None:
        return 0
    if isinstance(value, bool) or not isinstance(value, int) or value < 0:
        raise broken(provider, f"its usage has {'.'.join(path)} = {value!r:.40}")
    return value


def joined_text(content: object) -> str:
    """Join the text parts of a reply's content and leave out everything else."""
    if isinstance(content, str):
        return content
    if not isinstance(content, list):
        return ""
    return "".join(
        part["text"]
        for part in content
        if isinstance(part, dict)
        and part.get("type") == "text"
        and isinstance(part.get("text"), str)
    )


def broken(provider: str, what: str) -> TransientError:
    """Name what is wrong with a reply, without repeating it."""
    return TransientError(f"{provider} sent a reply that cannot be used: {what}")
