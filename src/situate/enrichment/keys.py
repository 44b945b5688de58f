"""What answers are found by (E3, E4): hashes of all they depend on.

Grouping, markers, paths, times and modes are in no key; ids in that of a section
alone.
"""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from typing import TYPE_CHECKING

from situate.enrichment.exchange import Parameters, Rendered
from situate.model import digest, walk

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from situate.enrichment.exchange import Body, Provider
    from situate.enrichment.questions import Brief
    from situate.model import Chunk, Document, JsonValue

_SCHEMA = 2
"""Part of every key; raise it when the meaning of a key's parts changes."""


def canonical(value: JsonValue | Body) -> str:
    """Write JSON in the one form that hashes alike everywhere."""
    return _ENCODER.encode(value)


_ENCODER = json.JSONEncoder(
    ensure_ascii=True, sort_keys=True, separators=(",", ":"), default=dict
)


def reply_key(body: Body, *, provider: str, endpoint: str) -> str:
    """Give the key a raw reply is stored under."""
    text = canonical([dict(body), provider, endpoint])
    return hashlib.sha256(text.encode("ascii")).hexdigest()


def identity_of(chunk: Chunk) -> str:
    """Hash what of a chunk itself a model sees."""
    return digest(canonical([chunk.breadcrumb_line, chunk.text]))


class ChunkKeys:
    """Gives the keys of chunks that are seen in one text (E3).

    `asked` is what `asked_with` gives, once for a document.
    """

    def __init__(self, asked: str, text: str) -> None:
        self._shared = digest(f"[{asked},{canonical(digest(text))}]")
        self._seen: Counter[str] = Counter()

    def of(self, identity: str) -> str:
        """Give the key of the next chunk with this breadcrumb and text."""
        occurrence = self._seen[identity]
        self._seen[identity] += 1
        return _hashed([self._shared, identity, occurrence])


class SectionKeys:
    """Gives the keys of chunks while their sections stay the same (E4)."""

    def __init__(self, brief: Brief, hidden: Mapping[int, str]) -> None:
        """Take what all leaves share, and what `audience.hidden_from` says of each."""
        settings, doc_id = brief.settings, brief.document.doc_id
        self._hidden = hidden
        # How each model wants to be asked is a fact about it, not about the answer.
        self._shared = tuple(
            digest(canonical([_asked(brief, model), doc_id]))
            for model in (settings.model, *settings.accept_models)
        )
        self._own = _own_blocks(brief.document)
        self._seen: Counter[str] = Counter()

    def of(self, leaf: int, chunk: Chunk, identity: str) -> tuple[str, ...]:
        """Give the keys of the next such chunk, that of the model asked first."""
        own = _of_section(self._own, chunk)
        occurrence = self._seen[own + identity]
        self._seen[own + identity] += 1
        parts: list[JsonValue] = [own, identity, occurrence]
        # Divided documents alone, so that no other key has changed since there are any.
        if leaf in self._hidden:
            parts.append(self._hidden[leaf])
        return tuple(_hashed([shared, *parts]) for shared in self._shared)


def bases(
    document: Document, leaves: Sequence[Chunk], hidden: Mapping[int, str]
) -> dict[str, str]:
    """Give a hash of what each leaf's statement is about, by its id.

    While that stays the same a statement of before is one about this chunk, whoever
    wrote it and whatever they were asked with: text, breadcrumb, section, title, type,
    and what it may not be shown with, as `audience.hidden_from` says.
    """
    own = _own_blocks(document)
    seen: Counter[str] = Counter()
    found = {}
    for number, leaf in enumerate(leaves):
        said = leaf.metadata
        parts = [_of_section(own, leaf), identity_of(leaf), said.title, said.doc_type]
        about = canonical([*parts, hidden.get(number, "")])
        found[leaf.chunk_id] = digest(f"{about}{seen[about]}")
        seen[about] += 1
    return found


def asked_with(brief: Brief) -> str:
    """Give what an answer depends on beside what is shown, in canonical form.

    The parameters are those of a question about one chunk: how many are asked
    about at once is in no key.
    """
    parameters = Parameters(
        model=brief.settings.model,
        max_output_tokens=2 * brief.settings.statement_max_tokens,
    )
    beside = _beside_the_prompt(brief.provider, parameters)
    return canonical([_asked(brief, brief.settings.model), beside])


def _own_blocks(document: Document) -> dict[str, str]:
    """Hash the blocks of every section, those below it left out."""
    return {
        section.section_id: digest("\0".join(each.text for each in section.blocks))
        for section, _ in walk(document.root)
    }


def _of_section(own: Mapping[str, str], chunk: Chunk) -> str:
    ids = chunk.section_ids or (chunk.section_id,)
    return digest(canonical([own.get(each, "") for each in ids]))


def _asked(brief: Brief, model: str) -> JsonValue:
    return {
        "schema": _SCHEMA,
        "prompt": brief.prompt.hash,
        "provider": brief.provider.name,
        "endpoint": brief.provider.endpoint,
        "model": model,
        "statement_max_tokens": brief.settings.statement_max_tokens,
        "title": brief.title,
        "doc_type": brief.doc_type,
    }


def _beside_the_prompt(provider: Provider, parameters: Parameters) -> JsonValue:
    """Give the part of a body that does not depend on what is shown.

    Two bodies are compared instead of one being taken apart, so that no
    knowledge of a provider's format is needed here, and marks a provider sets
    inside messages are left out.
    """
    one, other = (
        provider.render(Rendered(system=x, document=x, chunk=x), parameters)
        for x in ("a", "b")
    )
    return {key: value for key, value in one.items() if other.get(key) == value}


def _hashed(parts: JsonValue) -> str:
    return hashlib.sha256(canonical(parts).encode("ascii")).hexdigest()
