"""What a report shows of single questions: what each arm retrieved."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from situate.compare.comparison import Hit, Shown, ShownEntry
from situate.compare.measures import covers

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from situate.compare.arms import Entry
    from situate.compare.grounds import Ground
    from situate.compare.questions import Question
    from situate.compare.trial import Result

MOST_SHOWN: Final = 300
"""Questions of a report: those on which arms differ, then others. A page of all
questions of a large comparison would take a browser minutes to open."""

_MOST_CHARACTERS = 800
"""Of an entry's text, and of a gold excerpt."""


def browse(
    questions: Sequence[Question],
    results: Sequence[Result],
    grounds: Mapping[str, Ground],
    primary: str,
) -> tuple[tuple[Shown, ...], tuple[ShownEntry, ...]]:
    """Give the questions a report shows and the entries they point at."""
    entries = _Entries()
    shown = []
    for number in _chosen(results, len(questions), primary):
        question = questions[number]
        hits: dict[str, dict[str, tuple[Hit, ...]]] = {}
        values: dict[str, dict[str, float]] = {}
        for result in results:
            hits.setdefault(result.retriever, {})[result.arm] = tuple(
                Hit(entry=entries.place(entry), covers=covers(entry, question.gold))
                for entry in result.first[number]
            )
            values.setdefault(result.retriever, {})[result.arm] = result.measures[
                primary
            ][number]
        shown.append(
            Shown(
                qid=question.qid,
                query=question.query,
                kind=question.kind,
                origin=question.origin,
                gold=tuple(
                    (
                        excerpt.doc_id,
                        _shortened(
                            grounds[excerpt.doc_id].text[excerpt.start : excerpt.end]
                        ),
                    )
                    for excerpt in question.gold
                ),
                hits=hits,
                primary=values,
            )
        )
    return tuple(shown), tuple(entries.shown)


def _chosen(results: Sequence[Result], count: int, primary: str) -> list[int]:
    """Give the questions to show, in their order."""

    def spread(number: int) -> float:
        values: dict[str, list[float]] = {}
        for result in results:
            value = result.measures[primary][number]
            values.setdefault(result.retriever, []).append(value)
        return max((max(each) - min(each) for each in values.values()), default=0.0)

    ranked = sorted(range(count), key=lambda number: (-spread(number), number))
    return sorted(ranked[:MOST_SHOWN])


class _Entries:
    """The entries shown so far; one that arms have in common stands once."""

    def __init__(self) -> None:
        self.shown: list[ShownEntry] = []
        self._places: dict[tuple[str, str, str | None], int] = {}

    def place(self, entry: Entry) -> int:
        key = (entry.entry_id, entry.breadcrumb, entry.statement)
        if key not in self._places:
            self._places[key] = len(self.shown)
            self.shown.append(
                ShownEntry(
                    entry_id=entry.entry_id,
                    doc_id=entry.doc_id,
                    breadcrumb=entry.breadcrumb,
                    statement=entry.statement,
                    text=_shortened(entry.text),
                )
            )
        return self._places[key]


def _shortened(text: str) -> str:
    if len(text) <= _MOST_CHARACTERS:
        return text
    return f"{text[:_MOST_CHARACTERS]}…"
