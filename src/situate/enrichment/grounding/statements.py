"""Compares a statement with the evidence there is for it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from situate.enrichment import language as languages
from situate.enrichment.grounding import dates, numerals
from situate.enrichment.grounding.counts import counts
from situate.enrichment.grounding.forms import Source, normalised, readings
from situate.enrichment.grounding.mentions import mentions
from situate.enrichment.grounding.names import names
from situate.enrichment.grounding.quotations import quotations

if TYPE_CHECKING:
    from situate.enrichment.grounding.dates import Date, Moment
    from situate.enrichment.grounding.evidence import Evidence
    from situate.enrichment.grounding.mentions import Mention

_MOST_COUNTED = 20
"""Nobody counts longer lists in a sentence."""

_UNCOUNTED = frozenset({"loose", "part", "article"})

_YEARS = range(1900, 2100)


@dataclass(frozen=True, slots=True, kw_only=True)
class Ungrounded:
    """What a statement says that was not shown, as it stands there."""

    numbers: tuple[str, ...] = ()
    dates: tuple[str, ...] = ()
    """Also years, times of day and days of the week."""
    units: tuple[str, ...] = ()
    """Numbers that were shown, with other units."""
    quotations: tuple[str, ...] = ()
    names: tuple[str, ...] = ()
    reported: tuple[str, ...] = ()
    """Words that may be names; nothing marks them as such."""

    @property
    def offenders(self) -> tuple[str, ...]:
        """All that was not shown and should have been, kind by kind."""
        return (
            *self.numbers,
            *self.dates,
            *self.units,
            *self.quotations,
            *self.names,
        )


def ungrounded(
    statement: str, language: str | None, evidence: Evidence, passage: str
) -> Ungrounded:
    """Give what a statement says and `evidence` does not hold.

    Without a `language` that of the evidence is taken, or what the statement tells.
    `passage` is what the
    statement is about: how many conditions it lists may be said.
    """
    named = languages.code_of(language) or evidence.language
    source = Source.of(normalised(statement), named)
    moments = dates.moments(source)
    found = _apart(mentions(source, numerals.vocabulary(source.language)))
    told = _Told(source.text, evidence, passage)
    told.judge(moments, found)
    who = names(source.text, source.language, evidence)
    return Ungrounded(
        numbers=tuple(told.numbers),
        dates=tuple(told.dates),
        units=tuple(told.units),
        quotations=tuple(quotations(source.text, evidence)),
        names=who.unknown,
        reported=who.reported,
    )


class _Told:
    """What one statement tells, while it is compared."""

    def __init__(self, text: str, evidence: Evidence, passage: str) -> None:
        self._text = text
        self._evidence = evidence
        self._passage = passage
        self.numbers: list[str] = []
        self.dates: list[str] = []
        self.units: list[str] = []

    def judge(self, moments: list[Moment], found: list[Mention]) -> None:
        """Look for every date, and for every number that is no part of one."""
        inside: list[list[Mention]] = [[] for _ in moments]
        owner = {
            place: index
            for index, moment in enumerate(moments)
            for place in range(moment.start, moment.end)
        }
        for mention in found:
            index = owner.get(mention.start)
            if index is None:
                self._judge(mention)
            else:
                inside[index].append(mention)
        for moment, parts in zip(moments, inside, strict=True):
            self._judge_moment(moment, parts)

    def _judge_moment(self, moment: Moment, parts: list[Mention]) -> None:
        """Look for a date; what may be a section or a span may be one of these."""
        if any(_is_dated(date, self._evidence) for date in moment.dates):
            return
        if moment.is_unsure and parts and all(map(self._may_be_none, parts)):
            return
        self.dates.append(self._text[moment.start : moment.end].strip())

    def _may_be_none(self, mention: Mention) -> bool:
        if mention.units:  # 24 h
            return self._is_measured(mention)
        # 1.3. is the first of March or a section, 24/7 no day at all.
        return not self._evidence.numbers.isdisjoint(mention.values)

    def _judge(self, mention: Mention) -> None:
        known = self._is_known(mention)
        if mention.units:
            if self._is_measured(mention):
                return
            is_unit = known and mention.role != "one"
            kept = self.units if is_unit else self.numbers
        elif known or self._is_counted(mention) or self._is_apart(mention):
            return
        elif mention.digits.isdecimal() and int(mention.digits[:5]) in _YEARS:
            kept = self.dates
        else:
            kept = self.numbers
        kept.append(self._text[mention.start : mention.end].strip())

    def _is_known(self, mention: Mention) -> bool:
        if self._text[max(0, mention.start - 1) : mention.start] in {"v", "V"}:
            # v1.20 is not v1.2.
            return mention.digits in self._evidence.numbers
        return not self._evidence.numbers.isdisjoint(mention.values)

    def _is_measured(self, mention: Mention) -> bool:
        measures = self._evidence.measures
        return any((v, u) in measures for v in mention.values for u in mention.units)

    def _is_counted(self, mention: Mention) -> bool:
        """Say whether the passage lists as many, for a statement that counts."""
        value = mention.values[0]
        if not value.isdecimal() or int(value[:5]) > _MOST_COUNTED:
            return False
        counted = counts(self._passage)
        if mention.role == "ordinal":
            return max(counted, default=0) >= int(value)
        return mention.role == "cardinal" and int(value) in counted

    def _is_apart(self, mention: Mention) -> bool:
        """Say whether digits with blanks between are known as separate numbers."""
        parts = mention.digits.split(" ")
        numbers = self._evidence.numbers
        return len(parts) > 1 and all(
            not numbers.isdisjoint(readings(part)) for part in parts
        )


def _apart(found: list[Mention]) -> list[Mention]:
    """Give the numbers a statement tells, none of them a part of another."""
    kept: list[Mention] = []
    for mention in found:
        if mention.role in _UNCOUNTED or (kept and mention.start < kept[-1].end):
            continue
        kept.append(mention)
    return kept


def _is_dated(date: Date, evidence: Evidence) -> bool:
    year, month, day = date
    if date in evidence.dates:
        return True
    if year >= dates.CLOCK:
        return False
    is_year_known = str(year) in evidence.numbers
    return is_year_known and (not month or (0, month, day) in evidence.undated)
