"""Finds, checks and fills prompt files.

A prompt is a file `<name>-v<N>.md` in parts, each below its mark:
`<!-- system -->`, `<!-- document -->`, `<!-- chunk -->` ask about one chunk;
`<!-- marked-system -->` and `<!-- marked-chunks -->` take the place of the first
and the last where many chunks are marked in the document. Placeholders are those
of `string.Template`. Text that is filled in is never looked at for
placeholders, so documents arrive byte for byte.
"""

from __future__ import annotations

import hashlib
import itertools
import re
import string
from dataclasses import dataclass
from difflib import get_close_matches
from typing import TYPE_CHECKING

from situate.errors import ConfigError
from situate.model import PromptReference
from situate.shipped import shipped

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

_NAME = re.compile(r"(?P<stem>[a-z][a-z0-9]*(?:-[a-z0-9]+)*?)-v(?P<number>[1-9]\d*)")
_MARK = re.compile(r"^<!-- ([\w-]+) -->[ \t]*\n", re.MULTILINE)
_QUESTIONS = "question-v"

_SINGLE = ("system", "document", "chunk")
_MARKED = ("marked-system", "marked-chunks")

_REQUIRED = {
    "system": frozenset[str](),
    "document": frozenset({"document", "document_tag"}),
    "chunk": frozenset({"chunk", "chunk_tag"}),
    "marked-system": frozenset[str](),
    "marked-chunks": frozenset({"marker", "numbers"}),
}
_ALLOWED = {
    "system": frozenset[str](),
    "document": _REQUIRED["document"] | {"title", "doc_type"},
    "chunk": _REQUIRED["chunk"] | {"breadcrumb"},
    "marked-system": frozenset[str](),
    "marked-chunks": _REQUIRED["marked-chunks"],
}

_AS_THEY_ARE = frozenset({"system", "marked-system"})

_TAG_DIGITS = 8
_MARKER_DIGITS = 4
"""Hexadecimal digits of a delimiter and a marker, unless the text holds it already."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Prompt:
    """A prompt file, checked and cut into its parts."""

    name: str
    """With its version: `findable-v1`."""
    hash: str
    """Of the file's bytes: the first 128 bits of SHA-256, in hexadecimal."""
    system: str
    """Instructions, the same for every request."""
    document: str
    """Template of what is the same for every chunk of a document."""
    chunk: str
    """Template of the chunk and the task."""
    marked_system: str = ""
    """Instructions where many chunks are marked; empty where there are none."""
    marked_chunks: str = ""
    """Template of the task then."""

    @property
    def parts(self) -> tuple[str, ...]:
        """All that a model may be told, placeholders as they stand."""
        return (
            self.system,
            self.document,
            self.chunk,
            self.marked_system,
            self.marked_chunks,
        )

    @property
    def can_mark(self) -> bool:
        """True when it can ask about many chunks at once."""
        return bool(self.marked_chunks)

    @property
    def reference(self) -> PromptReference:
        """What a record says about the prompt its statement came from."""
        return PromptReference(name=self.name, hash=self.hash)

    def render_document(self, text: str, *, title: str, doc_type: str) -> str:
        """Fill in the document, between delimiters it does not contain."""
        return string.Template(self.document).substitute(
            document=text,
            title=title,
            doc_type=doc_type,
            document_tag=delimiter("document", text, title, doc_type),
        )

    def render_chunk(self, text: str, *, breadcrumb: str) -> str:
        """Fill in a chunk, between delimiters it does not contain."""
        return string.Template(self.chunk).substitute(
            chunk=text,
            breadcrumb=breadcrumb,
            chunk_tag=delimiter("chunk", text, breadcrumb),
        )

    def render_marked(self, marker: str, numbers: str) -> str:
        """Ask for the chunks of some numbers, each behind its marker."""
        return string.Template(self.marked_chunks).substitute(
            marker=marker, numbers=numbers
        )


def refuse_questions(name: str) -> None:
    """Refuse a prompt that drafts questions where statements are wanted.

    Raises:
        ConfigError: it is one; its answers would be what the index is asked.
    """
    if name.startswith(_QUESTIONS):
        message = f"prompt {name!r} drafts questions for `queries make`, no statements"
        raise ConfigError(message)


def load_prompt(name: str, *, directory: Path | None = None) -> Prompt:
    """Read the prompt called `name`, among the shipped ones by default.

    Raises:
        ConfigError: there is none of that name, the name has no version, or the
            file lacks a part or placeholder or has one nobody fills.
    """
    home = shipped("prompts") if directory is None else directory
    path = home / f"{name}.md"
    if not _NAME.fullmatch(name) or not path.is_file():
        raise ConfigError(_unknown(name, home))
    content = path.read_bytes()
    try:
        text = content.decode("utf-8").replace("\r\n", "\n")
    except UnicodeDecodeError as error:
        message = f"prompt {name!r} is not UTF-8 at byte {error.start}"
        raise ConfigError(message) from error
    return Prompt(
        name=name, hash=hashlib.sha256(content).hexdigest()[:32], **_parts(name, text)
    )


def delimiter(kind: str, *texts: str) -> str:
    """Name a tag that occurs in none of `texts`, derived from their hash."""
    tags = (f"{kind}-{name}" for name in _names(texts, _TAG_DIGITS))
    return next(tag for tag in tags if not any(tag in text for text in texts))


def marker(text: str) -> str:
    """Give what markers in a text begin with, derived from its hash.

    Short, since every chunk pays for one; it occurs nowhere in the text.
    """
    return next(
        name for name in _names((text,), _MARKER_DIGITS) if f"[{name}." not in text
    )


def _names(texts: tuple[str, ...], digits: int) -> Iterator[str]:
    """Yield longer and longer names of one hash, of `digits` or more."""
    seed = "\0".join(texts).encode("utf-8", "surrogatepass")
    name = ""
    for _ in itertools.count():
        seed = hashlib.sha256(seed).digest()
        for digit in seed.hex():
            name += digit
            if len(name) >= digits:
                yield name


def _parts(name: str, text: str) -> dict[str, str]:
    before, *rest = _MARK.split(text)
    found = tuple(rest[::2])
    if before.strip() or found not in {_SINGLE, (*_SINGLE, *_MARKED)}:
        message = (
            f"prompt {name!r} needs the marks <!-- system -->, <!-- document --> and "
            "<!-- chunk -->, each once, in this order, nothing before them and behind "
            "them <!-- marked-system --> and <!-- marked-chunks --> or nothing; "
            f"found {', '.join(found) or 'none'}"
        )
        raise ConfigError(message)
    parts = {
        part: body.strip("\n") for part, body in zip(found, rest[1::2], strict=True)
    }
    for part, body in parts.items():
        _check_placeholders(name, part, body)
    # Instructions are sent as they stand once `$$` is read as a dollar sign.
    for part in _AS_THEY_ARE & parts.keys():
        parts[part] = string.Template(parts[part]).substitute()
    return {part.replace("-", "_"): body for part, body in parts.items()}


def _check_placeholders(name: str, part: str, body: str) -> None:
    template = string.Template(body)
    if not template.is_valid():
        message = (
            f"prompt {name!r}, part {part!r}: a lone $ is no placeholder; "
            "write $$ for a dollar sign"
        )
        raise ConfigError(message)
    if not body.strip():
        message = f"prompt {name!r}: part {part!r} is empty"
        raise ConfigError(message)
    found = set(template.get_identifiers())
    if missing := sorted(_REQUIRED[part] - found):
        message = f"prompt {name!r}, part {part!r} lacks ${', $'.join(missing)}"
        raise ConfigError(message)
    if unknown := sorted(found - _ALLOWED[part]):
        known = ", ".join(f"${key}" for key in sorted(_ALLOWED[part])) or "none"
        message = (
            f"prompt {name!r}, part {part!r}: nobody fills ${', $'.join(unknown)}; "
            f"placeholders of this part: {known}"
        )
        raise ConfigError(message)


def _unknown(name: str, home: Path) -> str:
    names = sorted(
        path.stem for path in home.glob("*.md") if _NAME.fullmatch(path.stem)
    )
    versions = [known for known in names if known.rpartition("-v")[0] == name]
    if versions:
        return f"prompt {name!r} names no version; there are {', '.join(versions)}"
    near = get_close_matches(name, names, n=1)
    hint = f"; did you mean {near[0]!r}?" if near else ""
    return f"prompt {name!r} is unknown; there are {', '.join(names) or 'none'}{hint}"
