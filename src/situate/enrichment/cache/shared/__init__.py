"""A cache on a server of the Redis protocol, shared by many machines.

Rows are hashes of a `value`, the JSON text that a database would hold, and a `day`.
What is only known for a while, claims and rates, stands under names of its own and is
no row.
"""

from situate.enrichment.cache.shared.connection import Connection
from situate.enrichment.cache.shared.looking import server_at
from situate.enrichment.cache.shared.store import ServerStore

__all__ = ["Connection", "ServerStore", "server_at"]
