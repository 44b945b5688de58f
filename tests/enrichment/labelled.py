"""Statements whose faults are known, and how many of them are found."""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Literal, TypeAlias, cast

from situate.enrichment.grounding import evidence_of, ungrounded

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from situate.enrichment.grounding import Evidence

Label: TypeAlias = Literal[
    "true", "number", "date", "unit", "quotation", "name", "negation", "section"
]

GROUNDED: tuple[Label, ...] = ("number", "date", "unit", "quotation", "name")
"""What the gate looks for; it cannot find the rest."""

FOLDER = Path(__file__).parents[1] / "corpora" / "statements"


@dataclass(frozen=True, slots=True, kw_only=True)
class Passage:
    """A small document, with what was shown beside it."""

    text: str
    language: str
    evidence: Evidence


@dataclass(frozen=True, slots=True, kw_only=True)
class Labelled:
    """A statement about a passage, and what is wrong with it."""

    statement: str
    label: Label
    language: str
    passage: Passage


@dataclass(frozen=True, slots=True, kw_only=True)
class Score:
    """What was found among statements."""

    labelled: Mapping[str, int]
    """Statements of each label."""
    caught: Mapping[str, int]
    """Of these, those with any finding."""
    found: Mapping[str, int]
    """Findings of each kind, wherever."""
    right: Mapping[str, int]
    """Of these, those of the statement's own label."""

    @property
    def false_alarms(self) -> float:
        """Share of true statements with a finding."""
        return self.caught.get("true", 0) / max(1, self.labelled.get("true", 0))

    def recall(self, *labels: str) -> float:
        """Share of the statements of some labels that have a finding."""
        caught = sum(self.caught.get(label, 0) for label in labels)
        return caught / max(1, sum(self.labelled.get(label, 0) for label in labels))


def statements() -> list[Labelled]:
    """Read the labelled set."""
    passages = {
        row["passage"]: Passage(
            text=row["text"],
            language=row["language"],
            evidence=evidence_of(row["text"], row["title"], row["breadcrumb"]),
        )
        for row in _rows("passages.jsonl")
    }
    return [
        Labelled(
            statement=row["statement"],
            label=cast("Label", row["label"]),
            language=row["language"],
            passage=passages[row["passage"]],
        )
        for row in _rows("statements.jsonl")
    ]


def findings(each: Labelled, *, language: str | None) -> tuple[Label, ...]:
    """Say what the gate finds in a statement."""
    passage = each.passage
    found = ungrounded(each.statement, language, passage.evidence, passage.text)
    kinds = (found.numbers, found.dates, found.units, found.quotations, found.names)
    return tuple(label for label, texts in zip(GROUNDED, kinds, strict=True) if texts)


def score(each: Iterable[Labelled], *, named: bool) -> Score:
    """Judge statements; `named` says whether their documents tell their language."""
    labelled: Counter[str] = Counter()
    caught: Counter[str] = Counter()
    found: Counter[str] = Counter()
    right: Counter[str] = Counter()
    for one in each:
        labels = findings(one, language=one.language if named else None)
        labelled[one.label] += 1
        caught[one.label] += bool(labels)
        found.update(labels)
        right.update(label for label in labels if label == one.label)
    return Score(labelled=labelled, caught=caught, found=found, right=right)


def _rows(name: str) -> list[dict[str, str]]:
    lines = (FOLDER / name).read_text("utf-8").splitlines()
    return [json.loads(line) for line in lines]
