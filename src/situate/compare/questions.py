"""Questions and where in the documents their answers stand.

A question file is JSON lines: `qid`, `query`, `gold` (a list of `doc_id` with the
evidence as `text`, or as characters `start` to `end`), and where they apply
`exclude_docs`, `kind` and `drafted`. A file that does not match its documents is
refused with the line, since a wrong key would go on to say that nothing is found.
"""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass
from difflib import get_close_matches
from typing import TYPE_CHECKING

from situate.errors import RecordError
from situate.fields import Fields
from situate.records import from_line, read_lines

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from situate.compare.comparison import Origin
    from situate.compare.grounds import Ground

_WORD = re.compile(r"\w+")


@dataclass(frozen=True, slots=True, kw_only=True)
class Excerpt:
    """One passage that answers a question: characters of a document's ground."""

    doc_id: str
    start: int
    end: int
    words: Mapping[str, int] | None = None
    """How often each word occurs where a passage counts as found by its words in one
    chunk, as a table's row does that a chunk says in another form; None elsewhere."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    """Something a reader would ask, and the passages that answer it."""

    qid: str
    query: str
    gold: tuple[Excerpt, ...]
    excluded: frozenset[str] = frozenset()
    """Documents left out of the ranking: those the question was taken from."""
    kind: str | None = None
    origin: Origin = "given"

    @property
    def cluster(self) -> str:
        """The document it counts with when uncertainty is reckoned."""
        return self.gold[0].doc_id


def load(path: Path, grounds: Mapping[str, Ground]) -> tuple[Question, ...]:
    """Read questions and find their gold in the documents.

    Raises:
        RecordError: a line is no question, or its gold is not in the documents; the
            message names file and line.
    """
    questions: dict[str, Question] = {}
    for where, line in read_lines(path):
        if not line.strip():
            continue
        question = _question(Fields(from_line(line, where), where), grounds, where)
        if question.qid in questions:
            message = f"{where}: qid {question.qid!r} stands there twice"
            raise RecordError(message)
        questions[question.qid] = question
    if not questions:
        message = f"{path}: no question in it"
        raise RecordError(message)
    return tuple(questions.values())


def _question(fields: Fields, grounds: Mapping[str, Ground], where: str) -> Question:
    """Read one question; keys it does not know are the user's own."""
    qid, query = fields.text("qid"), fields.text("query")
    if not query.strip():
        message = f"{where}: query is blank"
        raise RecordError(message)
    gold = fields.listed("gold", dict)
    if not gold:
        message = (
            f"{where}: gold is empty; questions without an answer go into --query-log"
        )
        raise RecordError(message)
    # One that is not in the corpus is left out already.
    excluded = fields.listed("exclude_docs", str) if "exclude_docs" in fields else ()
    drafted = "drafted" in fields and fields.flag("drafted")
    excerpts = tuple(
        _excerpt(Fields(passage, f"{where}: gold[{number}]"), grounds)
        for number, passage in enumerate(gold)
    )
    if all(excerpt.doc_id in excluded for excerpt in excerpts):
        message = f"{where}: exclude_docs leaves out every document of the gold"
        raise RecordError(message)
    return Question(
        qid=qid,
        query=query,
        gold=excerpts,
        excluded=frozenset(excluded),
        kind=fields.text_or_none("kind") if "kind" in fields else None,
        origin="drafted" if drafted else "given",
    )


def _excerpt(fields: Fields, grounds: Mapping[str, Ground]) -> Excerpt:
    where = fields.name("doc_id").removesuffix(": doc_id")
    doc_id = fields.text("doc_id")
    ground = _ground(doc_id, grounds, where)
    text = fields.text("text") if "text" in fields else None
    if "start" in fields or "end" in fields:
        start, end = fields.whole("start"), fields.whole("end")
        if not 0 <= start < end <= len(ground.text):
            message = (
                f"{where}: characters {start} to {end} are not in {doc_id!r}, "
                f"which has {len(ground.text)}"
            )
            raise RecordError(message)
        if text is not None and ground.text[start:end] != text:
            message = (
                f"{where}: characters {start} to {end} of {doc_id!r} are not the "
                "text given; the document has changed since the question was written"
            )
            raise RecordError(message)
    elif text is not None:
        found = ground.evidence(text)
        if found is None:
            message = f"{where}: {_shortened(text)!r} does not stand in {doc_id!r}"
            raise RecordError(message)
        if ground.evidence(text, after=found[1]) is not None:
            message = (
                f"{where}: {_shortened(text)!r} stands more than once in {doc_id!r}; "
                "quote more, or give start and end"
            )
            raise RecordError(message)
        start, end = found
    else:
        message = f"{where}: text, or start and end, is missing"
        raise RecordError(message)
    by_words = "match" in fields and fields.choice("match", ("tokens",)) == "tokens"
    words = word_counts(ground.text[start:end]) if by_words else None
    return Excerpt(doc_id=doc_id, start=start, end=end, words=words or None)


def word_counts(text: str) -> Counter[str]:
    """Count the words of a text, in lower case."""
    return Counter(word.lower() for word in _WORD.findall(text))


def _ground(doc_id: str, grounds: Mapping[str, Ground], where: str) -> Ground:
    ground = grounds.get(doc_id)
    if ground is None:
        near = get_close_matches(doc_id, grounds, n=1, cutoff=0.3)
        hint = f"; the nearest is {near[0]!r}" if near else ""
        message = f"{where}: no document {doc_id!r} in the corpus{hint}"
        raise RecordError(message)
    return ground


def _shortened(text: str, most: int = 60) -> str:
    return text if len(text) <= most else f"{text[:most]}..."
