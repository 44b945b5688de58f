"""Read Markdown: CommonMark with GitHub's tables, footnotes, alerts and math.

The text of every block is a slice of the source; nothing is rendered and nothing
the author typed is changed. Only headings of the document itself open sections,
not those inside quotations, lists or footnotes.
"""

from __future__ import annotations

import re
from dataclasses import replace
from itertools import tee
from typing import TYPE_CHECKING

from situate.model import Block, Code
from situate.readers import clauses, frontmatter
from situate.readers.decoding import blank_controls, clean, decode
from situate.readers.markdown.nodes import parse
from situate.readers.markdown.parts import build, complete, written
from situate.readers.markdown.passages import HOLE, Source
from situate.readers.options import DEFAULTS
from situate.readers.tree import Outline, Read

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from situate.model import Metadata
    from situate.readers.markdown.nodes import Node, Parsed
    from situate.readers.options import ReaderOptions

_DATA = re.compile(r"data:[\w/+.-]{0,80};base64,[\w+/=]*+")


def read(
    data: bytes,
    source: str,
    *,
    doc_type: str | None = None,
    options: ReaderOptions = DEFAULTS,
) -> Read:
    """Read a Markdown file.

    Raises:
        ReadError: `data` is no text.
    """
    decoded = decode(data, source)
    text = decoded.text
    front = frontmatter.split(text)
    described = frontmatter.describe(front.values, source=source, doc_type=doc_type)
    parsed = parse(text, front.body, controls=decoded.controls)
    outline = Outline()
    if front.unread is not None:
        _add_unread(outline, text, *front.unread)
    warnings = decoded.warnings + front.warnings + described.warnings
    seen = _source(text, parsed, controls=decoded.controls)
    nodes = complete(_taken(parsed.children), seen, front.body, len(text))
    pieces: Mapping[int, Sequence[clauses.Piece]] = {}
    if options.legal_numbering:
        nodes, paragraphs = tee(nodes)
        pieces = _clauses(seen, paragraphs)
    warnings += _add_blocks(outline, seen, nodes, pieces, described.metadata)
    if parsed.unclosed is not None:
        line = text.count("\n", 0, parsed.unclosed) + 1
        warnings += (f"the comment opened in line {line} never ends; it was kept",)
    return outline.read(
        doc_id=described.doc_id,
        version=described.version,
        metadata=described.metadata,
        warnings=warnings,
        markup="markdown",
    )


def passages(data: bytes, source: str) -> Iterator[str]:
    """Yield the lines below the front matter, without comments and data URIs.

    Raises:
        ReadError: `data` is no text.
    """
    text = decode(data, source).text
    body = text[frontmatter.split(text).body :]
    yield from clean(_DATA.sub(" ", " ".join(_outside_comments(body)))).split("\n")


def _outside_comments(text: str) -> Iterator[str]:
    position = 0
    while True:
        start = text.find("<!--", position)
        end = -1 if start < 0 else text.find("-->", start + 2)
        if end < 0:
            yield text[position:]
            return
        yield text[position:start]
        position = end + 3


def _source(text: str, parsed: Parsed, *, controls: bool) -> Source:
    """Put a hole in the place of every character that is not to be shown."""
    shown = blank_controls(text, HOLE) if controls else text
    if parsed.hidden:
        parts: list[str] = []
        position = 0
        for start, end in parsed.hidden:
            parts += (shown[position:start], HOLE * (end - start))
            position = end
        shown = "".join(parts) + shown[position:]
    return Source(
        shown=shown,
        has_holes=controls or bool(parsed.hidden),
        has_formulas="$" in shown and "$$" in shown,
    )


def _add_unread(outline: Outline, text: str, start: int, end: int) -> None:
    """Keep front matter that could not be read, line by line."""
    end = start + len(text[start:end].rstrip())
    shown = clean(text[start:end])
    if shown.strip():
        outline.add(
            Block(
                block_id=outline.block_id,
                kind="code",
                text=shown,
                span=(start, end),
                content=Code(lines=tuple(shown.split("\n"))),
            )
        )


def _taken(nodes: list[Node]) -> Iterator[Node]:
    """Yield nodes and let go of them, so that a tree is not held beside its blocks."""
    nodes.reverse()
    while nodes:
        yield nodes.pop()


def _clauses(source: Source, nodes: Iterable[Node]) -> dict[int, list[clauses.Piece]]:
    """Give what numbered clauses make of paragraphs and numbered lists.

    Pieces are found by where the block begins that they begin in; a block that
    belongs to a piece above has none. A list that is none of it is not among them.
    """
    numbered = [node for node in nodes if _may_hold_clauses(node, source)]
    spans = [(node.start, source.cut(node.start, node.end)[1]) for node in numbered]
    pieces: dict[int, list[clauses.Piece]] = {start: [] for start, _ in spans}
    found = clauses.find(source.shown, spans)
    for piece in found:
        start, _ = spans[piece.paragraph]
        pieces[start].append(piece)
    for place, (node, span) in enumerate(zip(numbered, spans, strict=True)):
        whole = clauses.Text(paragraph=place, span=span)
        if node.kind == "list" and pieces[span[0]] == [whole]:
            del pieces[span[0]]
    return pieces if found else {}


def _may_hold_clauses(node: Node, source: Source) -> bool:
    if node.kind == "list":
        return source.shown[node.start : node.start + 1].isdigit()
    return node.kind == "paragraph"


def _add_blocks(
    outline: Outline,
    source: Source,
    nodes: Iterable[Node],
    pieces: Mapping[int, Sequence[clauses.Piece]],
    metadata: Metadata,
) -> tuple[str, ...]:
    """Add the blocks below the front matter; give what headings say amiss."""
    warnings: tuple[str, ...] = ()
    above = 0
    for node in nodes:
        if node.start in pieces:
            for piece in pieces[node.start]:
                if isinstance(piece, clauses.Clause):
                    piece = replace(piece, level=above + piece.level)  # noqa: PLW2901 - clauses stand below the heading
                clauses.write(outline, piece, lambda *span: source.cut(*span)[0])
            continue
        if node.kind == "heading":
            text, span = written(node, source)
            if not text:
                continue
            above = node.level
            outline.heading(level=above, title=node.title, text=text, span=span)
            if node.attributes:
                said, wrong = frontmatter.override(
                    outline.inherited or metadata,
                    node.attributes,
                    where=f"heading {node.title!r:.60}",
                )
                outline.describe(said)
                warnings += wrong
        elif block := build(node, source, outline.block_id):
            outline.add(block)
    return warnings
