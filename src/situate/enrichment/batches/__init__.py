"""Asking by way of a vendor's batch system, at a lower price and within a day.

Tickets on disk say which requests are on their way. `Pending` tells a run what
they say of a request; `Office` hands batches in and takes their answers, which go
to the cache that live answers go to.
"""

from situate.enrichment.batches.choosing import Chooser, Splitter, Wanted
from situate.enrichment.batches.collecting import Collected
from situate.enrichment.batches.office import Office, pauses
from situate.enrichment.batches.tickets import (
    Outlook,
    Pending,
    Ticket,
    Tickets,
    tickets_folder,
)

__all__ = [
    "Chooser",
    "Collected",
    "Office",
    "Outlook",
    "Pending",
    "Splitter",
    "Ticket",
    "Tickets",
    "Wanted",
    "pauses",
    "tickets_folder",
]
