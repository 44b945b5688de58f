"""Chunks and rankings that were made elsewhere, as arms.

A chunk file is JSON lines with `doc_id` and `text` at least. What is indexed is
`embed_text`, else `context_prefix` and `text`; the lexical index gets `lexical_text`
where there is one. Where a chunk stands is read from `spans`, or `start` and `end`,
else looked for. situate's own files are such files.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from difflib import get_close_matches
from typing import TYPE_CHECKING

from situate.compare.arms import Arm, Entry, above
from situate.compare.grounds import union
from situate.compare.questions import word_counts
from situate.errors import RecordError
from situate.fields import Fields
from situate.records import from_line, read_lines

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from situate.compare.grounds import Ground
    from situate.compare.questions import Question
    from situate.model import Span
    from situate.tokens import TokenCounter


def chunk_file(
    name: str, path: Path, grounds: Mapping[str, Ground], counter: TokenCounter
) -> Arm:
    """Read a chunk file as an arm.

    Records that say `metadata.embed` is false are not indexed.

    Raises:
        RecordError: a line is no chunk, or is of a document that is not in the corpus.
    """
    reader = _Reader(grounds, counter)
    entries = [
        entry
        for where, line in read_lines(path)
        if line.strip()
        and (entry := reader.entry(Fields(from_line(line, where), where), where))
    ]
    if not entries:
        message = f"{path}: no chunk in it"
        raise RecordError(message)
    return Arm(name=name, kind="file", entries=tuple(entries))


class _Reader:
    """Reads the chunks of one file in their order."""

    def __init__(self, grounds: Mapping[str, Ground], counter: TokenCounter) -> None:
        self._grounds = grounds
        self._counter = counter
        self._last: dict[str, int] = defaultdict(int)
        """Where the last chunk of a document began: the next is not looked for
        before."""
        self._seen: set[str] = set()

    def entry(self, fields: Fields, where: str) -> Entry | None:
        doc_id, text = fields.text("doc_id"), fields.text("text")
        if doc_id not in self._grounds:
            near = get_close_matches(doc_id, self._grounds, n=1, cutoff=0.3)
            hint = f"; the nearest is {near[0]!r}" if near else ""
            message = f"{where}: no document {doc_id!r} in the corpus{hint}"
            raise RecordError(message)
        metadata = fields.nested("metadata") if "metadata" in fields else None
        if metadata is not None and "embed" in metadata and not metadata.flag("embed"):
            return None
        entry_id = fields.text("chunk_id") if "chunk_id" in fields else where
        if entry_id in self._seen:
            message = f"{where}: chunk_id {entry_id!r} stands there twice"
            raise RecordError(message)
        self._seen.add(entry_id)
        prefix = (_text(fields, "context_prefix") or "").rstrip("\n")
        statement = _statement(fields, metadata)
        dense = _text(fields, "embed_text") or above(prefix, text)
        lexical = _text(fields, "lexical_text")
        breadcrumb = prefix.removesuffix(statement or "").removesuffix("\n")
        return Entry(
            entry_id=entry_id,
            doc_id=doc_id,
            text=text,
            breadcrumb=breadcrumb,
            statement=statement,
            dense=dense,
            lexical=_parted(dense if lexical is None else lexical, breadcrumb),
            spans=self._spans(fields, metadata, doc_id, text),
            text_tokens=self._counter.count(text),
            embed_tokens=self._counter.count(dense),
        )

    def _spans(
        self, fields: Fields, metadata: Fields | None, doc_id: str, text: str
    ) -> tuple[Span, ...]:
        ground = self._grounds[doc_id]
        given: list[Span] = []
        if "start" in fields and "end" in fields:
            given.append((fields.whole("start"), fields.whole("end")))
        elif "spans" in fields:
            given.extend(filter(None, fields.spans("spans")))
        elif metadata is not None and "spans" in metadata:
            places = metadata.spans("spans")
            given.extend(place for place in places if place is not None)
            if len(given) < len(places):
                given = []
        for start, end in given:
            if not 0 <= start <= end <= len(ground.text):
                message = (
                    f"{fields.name('spans')}: {start} to {end} is not in {doc_id!r}, "
                    f"which has {len(ground.text)} characters"
                )
                raise RecordError(message)
        placed = union(given)
        if placed and not _says(text, [ground.text[a:b] for a, b in placed]):
            message = (
                f"{fields.name('spans')}: what stands there in {doc_id!r} is not what "
                "the chunk says; offsets count characters of the decoded text"
            )
            raise RecordError(message)
        found = placed or ground.search(text, after=self._last[doc_id])
        if found:
            self._last[doc_id] = found[0][0]
        return found


@dataclass(frozen=True, slots=True, kw_only=True)
class Run:
    """Rankings of a user's own engine."""

    arm: Arm
    """Of kind `run`; its entries are those that were retrieved."""
    rankings: Mapping[str, tuple[Entry, ...]]
    """By question, best first; a question that is missing brought nothing."""


def run_file(
    name: str, path: Path, questions: Sequence[Question], arms: Sequence[Arm]
) -> Run:
    """Read rankings: lines of `qid` and `chunk_ids`, best first.

    Ids name passages of `arms`; one that stands twice in a line counts once.

    Raises:
        RecordError: a line names a question or a chunk that nobody knows, or a chunk
            that is another passage in another arm.
    """
    asked = {question.qid for question in questions}
    known, several = _passages(arms)
    rankings: dict[str, tuple[Entry, ...]] = {}
    for where, line in read_lines(path):
        if not line.strip():
            continue
        fields = Fields(from_line(line, where), where)
        qid, ids = fields.text("qid"), fields.listed("chunk_ids", str)
        if qid not in asked or qid in rankings:
            trouble = "stands there twice" if qid in rankings else "is no question"
            message = f"{where}: qid {qid!r} {trouble}"
            raise RecordError(message)
        unknown = next((one for one in ids if one not in known), None)
        if unknown is not None:
            message = f"{where}: no chunk {unknown!r} in any arm"
            raise RecordError(message)
        if (unclear := next((one for one in ids if one in several), None)) is not None:
            message = (
                f"{where}: {unclear!r} is one passage in {several[unclear][0]!r} and "
                f"another in {several[unclear][1]!r}; give chunks ids of their own"
            )
            raise RecordError(message)
        rankings[qid] = tuple(known[one] for one in dict.fromkeys(ids))
    if not rankings:
        message = f"{path}: no ranking in it"
        raise RecordError(message)
    retrieved = {
        entry.entry_id: entry for ranking in rankings.values() for entry in ranking
    }
    arm = Arm(name=f"run:{name}", kind="run", entries=tuple(retrieved.values()))
    return Run(arm=arm, rankings=rankings)


def _says(text: str, passages: Sequence[str]) -> bool:
    """Tell whether a text has most of the words of passages, in whatever form."""
    wanted = word_counts(" ".join(passages))
    said = word_counts(text)
    found = sum(min(count, said[word]) for word, count in wanted.items())
    return 2 * found >= wanted.total()


def _passages(
    arms: Sequence[Arm],
) -> tuple[dict[str, Entry], dict[str, tuple[str, str]]]:
    """Give passages by id, and for ids of several passages two arms that have them."""
    known: dict[str, Entry] = {}
    owner: dict[str, str] = {}
    several: dict[str, tuple[str, str]] = {}
    for arm in arms:
        for entry in arm.entries:
            other = known.setdefault(entry.entry_id, entry)
            first = owner.setdefault(entry.entry_id, arm.name)
            if (other.doc_id, other.spans, other.text) != (
                entry.doc_id,
                entry.spans,
                entry.text,
            ):
                several.setdefault(entry.entry_id, (first, arm.name))
    return known, several


def _text(fields: Fields, key: str) -> str | None:
    return fields.text_or_none(key) if key in fields else None


def _statement(fields: Fields, metadata: Fields | None) -> str | None:
    if metadata is not None and "enrichment" in metadata:
        return _text(metadata.nested("enrichment"), "statement")
    return _text(fields, "statement")


def _parted(lexical: str, breadcrumb: str) -> tuple[str, str]:
    """Part what the lexical index gets into breadcrumb and the rest."""
    start = f"{breadcrumb}\n\n"
    if breadcrumb and lexical.startswith(start):
        return breadcrumb, lexical.removeprefix(start)
    return "", lexical
