"""`why`: what made one chunk what it is."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from situate.cli import console
from situate.cli.corpora import Json  # noqa: TC001 - typer reads annotations
from situate.cli.files import ChunkId, Holding, Indexed, Source, held, needed
from situate.cli.options import AsOf, read_as_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from situate.enrichment.ledger import Noted
    from situate.model import Metadata
    from situate.pipeline.looking.edges import Edge
    from situate.pipeline.looking.explaining import Explanation, HeldBlock, Measured

_BLOCKS_SHOWN = 20

_AT_HAND = frozenset({"cache", "replay"})
"""Sources of answers that nobody was asked for."""

_LABEL = 12
"""Columns of what stands in front of a line."""


def why(  # noqa: PLR0913 - an argument for each option
    chunk_id: ChunkId,
    *,
    chunks: Holding = None,
    config: Indexed = None,
    source: Source = None,
    as_of: AsOf = None,
    as_json: Json = False,
) -> None:
    """Say why a chunk is as it is.

    Where it comes from, when it is in force and for whom; its blocks, and which rule
    cut it where it begins and ends; the parts of its breadcrumb line and who says
    them; its tokens against the limits; its reading, where that is not its text; what
    enrichment did, when and at what cost in dollars. Blocks file, manifest and ledger
    are taken from beside the chunks file, or the output of CONFIG. What they do not
    tell is said to be unknown.
    With --source, also its passage, and who says title and type. Of several wordings
    in an index the one in force on --as-of, else the one that begins last.

    Exit codes: 0 said; 2 there is no such chunk, it is not in force then, or a file
    cannot be read.
    """
    from situate.pipeline.looking.explaining import explain
    from situate.pipeline.looking.showing import chosen, find_among

    with console.errors():
        day = read_as_of(as_of)
        if config is not None:
            chunk, document, place = held(chunk_id, chunks, config, day)
        else:
            place = needed(chunks)
            chunk, document = find_among(chunk_id, place)
            chosen([chunk], day)
        found = explain(chunk, document, place, source=source)
    for note in found.notes:
        console.say(note)
    if as_json:
        console.as_json(_as_json(found))
        return
    for label, values in _lines(found):
        for number, value in enumerate(values):
            console.line(f"{'' if number else label:{_LABEL}}{value}")
    if found.passage is not None:
        console.text(f"\n{found.passage}")


def _as_json(found: Explanation) -> dict[str, object]:
    from situate.records import to_record

    return {
        "record": to_record(found.chunk),
        "role": found.role,
        "blocks": found.blocks,
        "begins": found.begins,
        "ends": found.ends,
        "crumbs": [
            {
                "kind": each.crumb.kind,
                "text": each.crumb.text,
                "shown": each.crumb.shown,
                "said_by": each.said_by,
            }
            for each in found.crumbs
        ],
        "tokens": found.tokens,
        "reads_as_text": found.reads_as_text,
        "reading": found.chunk.reading,
        "reason": found.reason,
        "requests": found.requests,
        "passage": found.passage,
        "notes": found.notes,
    }


def _lines(found: Explanation) -> Iterator[tuple[str, Iterable[str]]]:
    """Yield what is said, by what it is about."""
    chunk = found.chunk
    yield "chunk", [f"{chunk.chunk_id}: {_role(found)}"]
    yield "document", [f"{chunk.doc_id}, version {chunk.doc_version}"]
    yield "source", [_place(found)]
    yield "in force", [_days(chunk.metadata)]
    yield "for", _audience(chunk.metadata)
    sections = chunk.section_ids or (chunk.section_id,)
    yield "section", [", ".join(sections)]
    yield "blocks", _blocks(found)
    if found.begins is not None and found.ends is not None:
        yield "begins", [_edge(found.begins)]
        yield "ends", [_edge(found.ends)]
    yield "prefix", _prefix(found)
    yield "tokens", [", ".join(map(_tokens, found.tokens))]
    yield "reading", _reading(found)
    yield "enrichment", _enrichment(found)
    if found.requests:
        yield "requests", map(_request, found.requests)


def _role(found: Explanation) -> str:
    if found.role == "paragraph":
        return f"one block of its leaf {found.chunk.parent_chunk_id} (C9)"
    if found.role == "container":
        return "a parent of what stands below it, not embedded (C9)"
    return "a leaf, one of those that hold every block once (C2)"


def _place(found: Explanation) -> str:
    chunk = found.chunk
    name = chunk.metadata.source or chunk.doc_id
    spans = [span for span in chunk.spans if span is not None]
    if spans:
        ends = max(end for _, end in spans)
        return f"{name}, characters {min(spans)[0]:,} to {ends:,}"
    if chunk.pages:
        return f"{name}, pages {', '.join(map(str, chunk.pages))}"
    return f"{name}; its reader knows no place in it"


def _days(metadata: Metadata) -> str:
    first, last = metadata.effective_from, metadata.effective_to
    if first is None and last is None:
        return "at all times: no date is named"
    return f"from {first or 'the beginning'} to {last or 'no end'}"


def _audience(metadata: Metadata) -> Iterator[str]:
    from situate.access import is_permission

    said = {key: metadata.custom[key] for key in metadata.custom if is_permission(key)}
    if not said:
        yield "whoever sees the index: no acl_* or classification is named"
    for key, value in sorted(said.items()):
        yield f"{key} {json.dumps(value, ensure_ascii=False)}"


def _blocks(found: Explanation) -> Iterator[str]:
    for block in found.blocks[:_BLOCKS_SHOWN]:
        yield _block(block)
    if len(found.blocks) > _BLOCKS_SHOWN:
        yield f"and {len(found.blocks) - _BLOCKS_SHOWN:,} more; --json gives all"


def _block(block: HeldBlock) -> str:
    said = f"{block.block_id} {block.kind or 'of unknown kind'}"
    if block.parts is not None:
        first, end = block.parts
        said += f", parts {first + 1} to {end} of {block.of or 'an unknown number'}"
    if block.span is not None:
        said += f", {block.span[0]:,} to {block.span[1]:,}"
    if block.is_guest:
        said += ", of a section that has a heading alone (C8)"
    return said


def _edge(edge: Edge) -> str:
    return f"{edge.rule or 'unknown'}: {edge.words}"


def _prefix(found: Explanation) -> Iterator[str]:
    line = found.chunk.breadcrumb_line
    yield line or "none"
    for each in found.crumbs:
        crumb = each.crumb
        said = f"  {crumb.kind} {crumb.text!r}, {crumb.shown}"
        yield said if crumb.kind == "heading" else f"{said}: {each.said_by}"
    if found.chunk.statement:
        yield f"{found.chunk.statement} (the model's sentence)"


def _tokens(measured: Measured) -> str:
    tokens = "?" if measured.tokens is None else f"{measured.tokens:,}"
    limit = "" if measured.limit is None else f" of {measured.limit:,}"
    return f"{measured.part} {tokens}{limit}"


def _reading(found: Explanation) -> Iterator[str]:
    if found.reads_as_text:
        yield "the text as it is"
        return
    yield "what is indexed is not the text as it is (C13) but:"
    for line in found.chunk.reading.split("\n"):
        yield f"  {line}"


def _enrichment(found: Explanation) -> Iterator[str]:
    enrichment = found.chunk.enrichment
    reason = ""
    if enrichment.reason is not None:
        words = found.reason or "a reason this situate does not know"
        reason = f": {enrichment.reason}, {words}"
    yield f"{enrichment.status}{reason}"
    prompt = enrichment.prompt
    told = [
        *([f"model {enrichment.model}"] if enrichment.model else []),
        *([f"prompt {prompt.name} ({prompt.hash})"] if prompt else []),
        *([f"view {enrichment.view}"] if enrichment.view else []),
    ]
    if told:
        yield ", ".join(told)


def _request(noted: Noted) -> str:
    from situate.cli.figures import dollars, many

    if noted.source in _AT_HAND or noted.cost_usd == 0:
        cost = "at no cost"
    elif noted.cost_usd is None:
        cost = "its price is unknown"
    else:
        cost = f"for {dollars(noted.cost_usd)}"
    return (
        f"{noted.time} {noted.outcome} by {noted.model} ({noted.source}), "
        f"{many(noted.chunks, 'chunk')} in one request, "
        f"{many(noted.attempts, 'attempt')}, {cost}"
    )
