"""Asking by way of a vendor's batch system, at a lower price and within a day.

Tickets on disk say which chunks are asked about. `Pending` tells a run what they
say of a chunk; `Office` hands batches in and takes their answers, which go
to the cache that live answers go to.
"""

from situate.enrichment.batches.allowance import Allowance
from situate.enrichment.batches.choosing import Chooser, Splitter, Wanted
from situate.enrichment.batches.collecting import Collected
from situate.enrichment.batches.filing import AskedRequest, file_reply, is_answered
from situate.enrichment.batches.office import Office, pauses
from situate.enrichment.batches.tickets import (
    Outlook,
    Pending,
    Ticket,
    Tickets,
    outstanding,
    tickets_folder,
)

__all__ = [
    "Allowance",
    "AskedRequest",
    "Chooser",
    "Collected",
    "Office",
    "Outlook",
    "Pending",
    "Splitter",
    "Ticket",
    "Tickets",
    "Wanted",
    "file_reply",
    "is_answered",
    "outstanding",
    "pauses",
    "tickets_folder",
]
