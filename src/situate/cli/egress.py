"""What would leave the machine, in the words people read it in."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING

from situate.cli.figures import many

if TYPE_CHECKING:
    from collections.abc import Iterator

    from situate.pipeline.egress import EgressPlan

_SHOWN = 20
"""Documents that are named; `--json` gives them all."""


def as_values(found: EgressPlan) -> dict[str, object]:
    """Give all that is known, for machines."""
    return {**asdict(found), "requests": found.requests, "bytes": found.bytes}


def lines(found: EgressPlan) -> Iterator[str]:
    """Say what a corpus would send to whom, then its documents as a table."""
    if found.base_url is None:
        why = "enrichment is off" if found.model is None else "recorded replies answer"
        yield f"{found.corpus}: nothing leaves the machine: {why}"
        return
    yield f"{found.corpus}: to {found.host}"
    yield f"  base URL   {found.base_url}"
    if found.proxy is not None:
        yield f"  through    proxy {found.proxy}, which no organisation's file bounds"
    yield f"  model      {found.model}, {found.mode}"
    yield (
        f"  sends      {many(found.bytes, 'byte')} in "
        f"{many(found.requests, 'request')} about {len(found.documents):,} of "
        f"{many(found.read, 'document')}, repairs aside"
    )
    yield f"  bounded by {', '.join(map(str, found.organisation)) or 'no file'}"
    if found.objection is not None:
        yield f"  but        {found.objection}"
    shown, rest = found.documents[:_SHOWN], found.documents[_SHOWN:]
    rows = [(f"{each.bytes:,}", f"{each.requests:,}", each.doc_id) for each in shown]
    if rest:
        rest_bytes, rest_requests = (
            sum(each.bytes for each in rest),
            sum(each.requests for each in rest),
        )
        named = f"{many(len(rest), 'more document')}; --json gives every one"
        rows.append((f"{rest_bytes:,}", f"{rest_requests:,}", named))
    if rows:
        rows.insert(0, ("bytes", "requests", "document"))
    widths = [max((len(row[place]) for row in rows), default=0) for place in (0, 1)]
    for size, requests, name in rows:
        yield f"  {size.rjust(widths[0])}  {requests.rjust(widths[1])}  {name}"
