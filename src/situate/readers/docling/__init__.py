"""Read DoclingDocument JSON, the way in for scans, slides, sheets and layout models.

No package of Docling is needed. What stands in the furniture layer is no text of
the document: page headers and footers become metadata, the rest a warning.
Speaker notes and the text inside pictures are kept; reviewers' comments, hidden
sheets and watermarks are not.
"""

from __future__ import annotations

import re
from collections import Counter
from typing import TYPE_CHECKING

from situate.model import Metadata
from situate.readers.docling.export import load
from situate.readers.docling.passages import passages_of
from situate.readers.docling.values import mapping, words
from situate.readers.docling.walk import Walk
from situate.readers.options import DEFAULTS
from situate.readers.tree import Outline, Read

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from situate.model import JsonValue
    from situate.readers.docling.export import Export
    from situate.readers.docling.speech import Speech
    from situate.readers.options import ReaderOptions

__all__ = ["passages", "read"]

# Properties of the file that Docling read, for `options.keep`.
_ORIGIN = ("filename", "mimetype", "uri")

_DIGITS = re.compile(r"\d+")

# Running headers are few; what differs on every page runs along none.
_MOST_RUNNING_TEXTS = 20


def read(
    data: bytes,
    source: str,
    *,
    doc_type: str | None = None,
    options: ReaderOptions = DEFAULTS,
) -> Read:
    """Read a DoclingDocument of schema 1.

    Its title is the text of its first title; the name is the file's and no title.

    Raises:
        ReadError: it is no JSON, no DoclingDocument, or beyond a limit.
    """
    export = load(data, source, options.limits)
    outline = Outline()
    walk = Walk(export, outline)
    walk.run()
    return outline.read(
        doc_id=source,
        version=None,
        metadata=Metadata(
            title=walk.title,
            doc_type=doc_type,
            source=source,
            custom=_custom(export, walk.speech, options),
        ),
        warnings=export.warnings(),
    )


def passages(data: bytes, source: str) -> Iterator[str]:
    """Yield texts, cells and captions in the order of the file's lists.

    Raises:
        ReadError: as `read`.
    """
    yield from passages_of(load(data, source, DEFAULTS.limits).values)


def _custom(
    export: Export, speech: Speech, options: ReaderOptions
) -> Mapping[str, JsonValue]:
    custom: dict[str, JsonValue] = {}
    origin = mapping(export.values.get("origin"))
    properties = {name: words(origin.get(name)) for name in _ORIGIN}
    properties["name"] = words(export.values.get("name"))
    for name in options.keep:
        if properties.get(name):
            custom[name] = properties[name]
    for name, texts in (
        ("page_headers", speech.page_headers),
        ("page_footers", speech.page_footers),
    ):
        said = _running(tuple(texts))
        if said:
            custom[name] = said
    return custom


def _running(texts: Sequence[str]) -> list[JsonValue]:
    """Give the texts that run along the pages, without those that count them."""
    counted = Counter(_DIGITS.sub("0", text) for text in texts)
    said = [
        text
        for text in texts
        if any(map(str.isalpha, text)) and counted[_DIGITS.sub("0", text)] <= 2
    ]
    return list(said[:_MOST_RUNNING_TEXTS])
