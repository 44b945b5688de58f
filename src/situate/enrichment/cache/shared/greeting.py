"""Finds out, before anything is asked, what a server promises about what it keeps."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from situate.errors import ConfigError

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from situate.enrichment.cache.shared.connection import Connection


@dataclass(frozen=True, slots=True, kw_only=True)
class Promises:
    """What a server says about itself."""

    is_sealed: bool
    """It is a copy that takes no writes."""
    warnings: tuple[str, ...]


def promises(connection: Connection) -> Promises:
    """Ask a server whether it keeps what it is given.

    Raises:
        ConfigError: it cannot be asked, or throws rows away when memory is short.
    """
    name = str(connection.server)
    with connection.opening():
        connection.client.ping()
        told = _told(connection)
        saves = _saves(connection)
    policy = str(told.get("maxmemory_policy", ""))
    if policy.startswith("allkeys"):
        message = (
            f"cache {name!r} throws away what is paid for when memory is short "
            f"(maxmemory-policy {policy}); set it to noeviction, or name another server"
        )
        raise ConfigError(message)
    return Promises(
        is_sealed=told.get("role") == "slave" and bool(told.get("slave_read_only", 1)),
        warnings=tuple(
            f"cache {name!r} {problem}" for problem in _problems(told, policy, saves)
        ),
    )


def _problems(told: Mapping[str, Any], policy: str, saves: str | None) -> Iterator[str]:
    if policy.startswith("volatile"):
        yield (
            f"has maxmemory-policy {policy}: when memory is short, two may ask for the "
            "same; set it to noeviction"
        )
    if not policy:
        yield "does not say whether it throws rows away (INFO is not allowed)"
    if told.get("aof_enabled") == 0 and saves == "":
        yield (
            "writes nothing to its disk (no appendonly, no save): what is paid for "
            "dies with it"
        )


def _told(connection: Connection) -> dict[str, Any]:
    """Give what the server tells of itself; nothing where it may not."""
    import redis

    try:
        told: dict[str, Any] = {}
        for section in ("memory", "persistence", "replication"):
            told |= connection.client.info(section)
    except redis.exceptions.NoPermissionError:
        return {}
    return told


def _saves(connection: Connection) -> str | None:
    """Say when the server writes all of it to its disk; None where it does not say."""
    import redis

    try:
        # Servers that are managed for others often know no CONFIG.
        found = connection.client.config_get("save")
    except redis.ResponseError:
        return None
    told: str | None = found.get("save")
    return told
