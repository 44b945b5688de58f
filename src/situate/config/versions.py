"""The keys of `[versions]`: which wordings of a document an index has."""

from dataclasses import dataclass

from pydantic import ConfigDict

from situate.validity import Keep


@dataclass(frozen=True, slots=True, kw_only=True)
class VersionsConfig:
    """Which wordings of a document an index has."""

    __pydantic_config__ = ConfigDict(extra="forbid")

    keep: Keep = "latest"
    """`latest`: a document's last wording; `all`: every wording that is in force from
    another day, side by side."""
