"""Keeps raw replies, so that no answer is ever paid for twice.

Replies, where the answers about each chunk stand in them, and what was spent in a
month lie in one database per directory, shared by all runs and processes on it, or on a
server that many machines share.
"""

from situate.enrichment.cache.answers import Cache
from situate.enrichment.cache.mounts import refuse_network
from situate.enrichment.cache.rows import Kept, Located, User
from situate.enrichment.cache.storage import (
    Claims,
    Place,
    Schedule,
    can_be_written,
    check_place,
)

__all__ = [
    "Cache",
    "Claims",
    "Kept",
    "Located",
    "Place",
    "Schedule",
    "User",
    "can_be_written",
    "check_place",
    "refuse_network",
]
