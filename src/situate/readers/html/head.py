"""Read what a page says about itself, in its head."""

from __future__ import annotations

from typing import TYPE_CHECKING

from situate.readers.decoding import clean
from situate.readers.frontmatter import Described, describe
from situate.readers.yaml_values import Values

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping

    from selectolax.lexbor import LexborHTMLParser

_KEYS = frozenset({"doc_type", "effective_from", "effective_to", "doc_id", "version"})


def describe_page(
    tree: LexborHTMLParser, source: str, *, doc_type: str | None, keep: Collection[str]
) -> Described:
    """Turn title, language and named `meta` elements into metadata."""
    named = []
    for meta in tree.css("meta"):
        attributes = meta.attributes
        name = attributes.get("name") or attributes.get("property") or ""
        named.append((name, attributes.get("content") or ""))
    fields = {"title": title(tree), "language": language(tree)}
    return describe_named(fields, named, source, doc_type=doc_type, keep=keep)


def describe_named(
    fields: Mapping[str, str],
    named: Iterable[tuple[str, str]],
    source: str,
    *,
    doc_type: str | None,
    keep: Collection[str],
) -> Described:
    """Turn names and values into metadata; the first of equal names counts.

    Of the names without a field only those in `keep` travel, under `custom`.
    """
    written = {key: text for key, text in fields.items() if text}
    spelled = {name.lower(): name for name in keep} | {key: key for key in _KEYS}
    for name, text in named:
        lowered = name.strip().lower()
        key = spelled.get(lowered) or spelled.get(lowered.replace("-", "_"))
        said = one_line(text)
        if key is not None and said:
            written.setdefault(key, said)
    values = Values(values=dict(written), written=written)
    return describe(values, source=source, doc_type=doc_type, where="metadata")


def title(tree: LexborHTMLParser) -> str:
    """Give the title of a page, "" when it has none."""
    found = tree.css_first("head > title")
    return "" if found is None else one_line(found.text())


def language(tree: LexborHTMLParser) -> str:
    """Give the language a page is in, as a tag of BCP 47, "" when it says none."""
    attributes = tree.root.attributes if tree.root is not None else {}
    found = one_line(attributes.get("lang") or attributes.get("xml:lang"))
    return found if found.replace("-", "").isalnum() else ""


def one_line(text: str | None) -> str:
    """Give a text without line ends, controls and soft hyphens."""
    return " ".join(clean((text or "").replace("\xad", "")).split())
