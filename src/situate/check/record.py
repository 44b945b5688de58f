"""The rules a single record keeps or breaks on its own."""

from __future__ import annotations

from datetime import date
from typing import TYPE_CHECKING, Any, get_args

from situate.check.findings import Finding, number_of
from situate.enrichment.reasons import ChunkReason, GateReason, SkipReason, StopReason
from situate.model import DOCUMENT, quoted
from situate.records import HASHES, OF_DELTAS, disagreements, to_record

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from situate.check.findings import Limits, Rule
    from situate.model import Chunk, JsonValue

_REASONS: Mapping[str, frozenset[str | None]] = {
    "off": frozenset({None}),
    "statement": frozenset({None}),
    "skipped": frozenset(get_args(StopReason) + get_args(SkipReason)),
    "fallback": frozenset(get_args(GateReason) + get_args(ChunkReason)),
}

_ROUNDING = 4
"""Tokens by which sums over parts of a breadcrumb line may be off."""


def examine_record(
    record: Mapping[str, JsonValue], chunk: Chunk, limits: Limits | None
) -> Iterator[Finding]:
    """Yield the rules one record breaks, whatever stands around it."""
    expected = to_record(chunk)
    for name in disagreements(record, expected):
        yield Finding(
            rule="hash" if name.removeprefix("metadata.") in HASHES else "derivation",
            subject=chunk.chunk_id,
            message=f"{name} is not what follows from the record",
        )
    faults = [*_order(record, expected), *_identity(chunk), *_described(chunk)]
    faults += [*_held(chunk), *_status(chunk), *_line(chunk, limits)]
    if limits is not None:
        faults += _sizes(chunk, limits)
    for rule, message in faults:
        yield Finding(rule=rule, subject=chunk.chunk_id, message=message)


_Fault = tuple["Rule", str]


def _order(
    record: Mapping[str, Any], expected: Mapping[str, Any], name: str = "the record"
) -> Iterator[_Fault]:
    """Keys stand in the order of the contract; the author's have none."""
    if [key for key in record if key not in OF_DELTAS] != list(expected):
        yield "record", f"the keys of {name} are not in the order of the contract"
    for key in ("metadata", "enrichment", "prompt"):
        if expected.get(key) is not None and key in record:
            yield from _order(record[key], expected[key], key)


def _identity(chunk: Chunk) -> Iterator[_Fault]:
    """A record is named for its section, and its level follows from its name."""
    whole = f"{quoted(chunk.doc_id)}:{chunk.section_id}"
    is_whole = chunk.chunk_id == whole
    number = chunk.chunk_id.removeprefix(f"{whole}:")
    if not is_whole and number_of(number.removeprefix("p")) is None:
        yield "identity", f"should be {whole!r}, or that with a colon and a number"
    else:
        of_whole = "document" if chunk.section_id == DOCUMENT else "section"
        level = of_whole if is_whole else "block"
        if chunk.level != level:
            yield "C9-level", f"is of level {chunk.level!r}, its id of {level!r}"
    if chunk.section_ids is not None and (
        len(chunk.section_ids) < 2 or chunk.section_ids[0] != chunk.section_id
    ):
        message = "section_ids should be two or more, section_id the first of them"
        yield "identity", message


def _described(chunk: Chunk) -> Iterator[_Fault]:
    """Dates are dates."""
    for name in ("effective_from", "effective_to"):
        value = getattr(chunk.metadata, name)
        if value is not None and not _is_day(value):
            yield "C12-metadata", f"{name} is {value!r}, no ISO date (YYYY-MM-DD)"


def _is_day(value: str) -> bool:
    try:
        return date.fromisoformat(value).isoformat() == value
    except ValueError:
        return False


def _held(chunk: Chunk) -> Iterator[_Fault]:
    """A chunk has a text, and says of which blocks."""
    # A document whose sections are all for others than itself hands nothing over.
    is_bare = chunk.level == "document" and not chunk.embed and not chunk.block_ids
    if not chunk.text.strip() and not is_bare:
        yield "C2-lineage", "text is blank"
    if chunk.embed and not chunk.reading.strip():
        yield "C13-form", "nothing of it is indexed"
    if not chunk.block_ids and not is_bare:
        yield "C2-lineage", "holds no block"
    for block_id in chunk.parts.keys() - set(chunk.block_ids):
        message = f"holds a part of {block_id}, which is not among its blocks"
        yield "C2-lineage", message


def _status(chunk: Chunk) -> Iterator[_Fault]:
    """What became of the wish for a statement is told in a closed vocabulary."""
    told = chunk.enrichment
    status, statement = told.status, told.statement
    if (status == "statement") != bool(statement):
        yield "E10-status", f"enrichment is {status!r}, the statement {statement!r}"
    if told.reason not in _REASONS[status]:
        yield "E10-status", f"enrichment is {status!r}, the reason {told.reason!r}"
    if (status == "off") != (told.prompt is None) or (status == "off") != (
        told.view is None
    ):
        message = f"enrichment is {status!r}, the prompt {told.prompt!r}"
        yield "E10-status", f"{message}, the view {told.view!r}"
    if statement and statement != " ".join(statement.splitlines()).strip():
        yield "E8-statement", "the statement is more than one line"


def _line(chunk: Chunk, limits: Limits | None) -> Iterator[_Fault]:
    """The breadcrumb line tells type, title and headings, whole where they fit."""
    crumbs = [" ".join(heading.split()) for heading in chunk.breadcrumb]
    title = " ".join((chunk.metadata.title or "").split())
    if title not in crumbs[:1]:
        crumbs.insert(0, title)
    path = " > ".join(crumb for crumb in crumbs if crumb)
    kind = " ".join((chunk.metadata.doc_type or "").split())
    whole = " ".join(part for part in (kind and f"[{kind}]", path) if part)
    line = chunk.breadcrumb_line
    if line == whole:
        return
    shortened = "…" in line or whole.endswith(line)
    if not shortened or _surely_fits(whole, kind, crumbs, limits):
        yield "derivation", f"the breadcrumb line should be {whole!r}"


def _surely_fits(
    whole: str, kind: str, crumbs: list[str], limits: Limits | None
) -> bool:
    if limits is None or limits.prefix_max_tokens is None:
        return False
    count, most = limits.counter.count, limits.prefix_max_tokens
    return (
        count(whole) + _ROUNDING + len(crumbs) <= most
        and count(f"[{kind}]") <= most // 2
        and all(
            len(crumb.encode("utf-8", "surrogatepass")) <= limits.max_tokens // 4
            for crumb in crumbs
        )
    )


def _sizes(chunk: Chunk, limits: Limits) -> Iterator[_Fault]:
    count = limits.counter.count
    tokens = count(chunk.text)
    if tokens != chunk.token_count:
        yield "C3-size", f"token_count is {chunk.token_count}, the text has {tokens}"
    bounds = (
        # What is not embedded is a leaf or a container: its document tells which.
        ("text", tokens, limits.max_tokens if chunk.embed else None),
        ("breadcrumb line", count(chunk.breadcrumb_line), limits.prefix_max_tokens),
        ("statement", count(chunk.statement or ""), limits.statement_max_tokens),
        ("reading", count(_indexed(chunk)), limits.reading_max_tokens),
    )
    for name, size, most in bounds:
        if most is not None and size > most:
            yield "C3-size", f"the {name} has {size} tokens, {most} are allowed"


def _indexed(chunk: Chunk) -> str:
    """Give what has the bound of readings; a text has its own."""
    return chunk.reading if chunk.embed and chunk.embed_form == "reading" else ""
