"""Judges what `enrichment.base_url` holds."""

from __future__ import annotations

from urllib.parse import urlsplit


def http_address(value: object) -> object:
    """Accept the address of an HTTP server that carries no secret."""
    parts = urlsplit(value) if isinstance(value, str) else None
    if (
        parts is None
        or parts.scheme not in {"http", "https"}
        or not parts.hostname
        or "@" in parts.netloc
        or parts.query
        or parts.fragment
        or (parts.port or 1) < 1
    ):
        message = "not an address"
        raise ValueError(message)
    return value
