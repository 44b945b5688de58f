"""What a run would send, cost and take, before anything is sent.

Prices are looked up, never known here. Low is what happens when nothing fails,
answers are one sentence and the vendor's cache serves as its rules say; high is
when the vendor counts more, answers run to their limit and no cache serves.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace
from decimal import Decimal
from typing import TYPE_CHECKING

from situate import pricing
from situate.enrichment.reasons import NOT_SHOWN
from situate.usage import Usage

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping

    from situate.enrichment.plan import DocumentPlan, Part
    from situate.enrichment.questions import Passage, PlannedRequest
    from situate.enrichment.settings import Settings, View
    from situate.organisation import Mode
    from situate.pricing import ModelFacts, Prices

INPUT_MARGIN = Decimal("1.3")
"""How far a vendor's own count may lie above ours. Vendors other than OpenAI
publish no tokenizer; a run raises the margin when a reply shows more."""

_SINGLE = 2
_MARKED = 3
"""Requests a chunk may need beside its planned one: a re-ask and a repair. One that
was marked may be asked about by itself before."""

REPAIR_TOKENS = 1_000
"""Most that a repair adds to a request: the answer it is about, and why."""

SECONDS_PER_REQUEST = 1.5
"""Hosted models answer one sentence in 0.5 to 3 s."""

_SECONDS_PER_OUTPUT_TOKEN = 0.015
"""What an answer of many sentences takes on top: about 65 tokens a second."""

_BATCH_HOURS = 24.0
"""Both vendors promise a batch within a day; most end within an hour."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Estimate:
    """What asking for all that is not at hand would send, cost and take."""

    chunks: int
    """Leaves that want a statement."""
    skipped: int
    """Leaves that none is asked for."""
    not_shown: int
    """Chunks that no model may see."""
    cached: int
    """Chunks whose answer is at hand already."""
    requests: int
    """Requests to send when nothing fails and nothing has to be repaired."""
    follow_ups: int
    """The allowance: re-asks and repairs are never more than this."""
    usage: Usage
    """Tokens by class, as the vendor's cache rules have it."""
    usd_low: Decimal | None
    """None when no price is known."""
    usd_high: Decimal | None
    usd_follow_ups: Decimal | None
    """What the allowance would cost at most, if every chunk needed all of it."""
    hours: float
    """Under the configured limits; at least the rates' and the workers' share."""

    @property
    def input_tokens(self) -> int:
        """All input, whatever it costs."""
        return self.usage.input

    @property
    def output_tokens(self) -> int:
        """All output."""
        return self.usage.output


@dataclass(frozen=True, slots=True, kw_only=True)
class Option:
    """One way of asking for everything, nothing of it at hand."""

    view: View
    mode: Mode
    chosen: bool
    """Whether all documents of the corpus are asked about this way."""
    estimate: Estimate


@dataclass(slots=True)
class Tally:
    """Adds plans up, one document after another; keeps none."""

    settings: Settings
    facts: ModelFacts
    chunks: int = 0
    skipped: int = 0
    not_shown: int = 0
    open: int = 0
    follow_ups: int = 0
    usage: Usage = field(default_factory=Usage)
    low: Decimal = Decimal(0)
    high: Decimal = Decimal(0)
    later: Decimal = Decimal(0)
    seconds: float = 0.0
    _asked: set[str] = field(default_factory=set)

    def add(
        self,
        plan: DocumentPlan,
        known: Callable[[Passage], bool],
        stored: Callable[[PlannedRequest], bool] | None = None,
    ) -> None:
        """Count a document; what is `known` of a chunk costs nothing.

        Nor does a request whose reply is `stored`. Equal ones are sent once and
        counted once.
        """
        self.chunks += len(plan.passages)
        not_shown = sum(why in NOT_SHOWN for why in plan.skipped.values())
        self.not_shown += not_shown
        self.skipped += len(plan.skipped) - not_shown
        for part in plan.parts:
            warmed = False
            for asked in to_send(part, known, stored, self._asked):
                self.open += len(asked.passages)
                self._request(asked, warmed=warmed)
                warmed = True

    def estimate(self) -> Estimate:
        """Give what has come together."""
        prices = self.facts.prices
        is_priced = prices is not None
        factor = Decimal(1)
        if prices is not None and self.settings.mode == "batch":
            factor = prices.batch_factor
        return Estimate(
            chunks=self.chunks,
            skipped=self.skipped,
            not_shown=self.not_shown,
            cached=self.chunks - self.open,
            requests=len(self._asked),
            follow_ups=self.follow_ups,
            usage=self.usage,
            usd_low=self.low * factor if is_priced else None,
            usd_high=self.high * factor if is_priced else None,
            usd_follow_ups=self.later if is_priced else None,
            hours=self._hours(),
        )

    def _request(self, request: PlannedRequest, *, warmed: bool) -> None:
        usage = _expected(request, warmed=warmed)
        self.usage += usage
        self.seconds += (
            SECONDS_PER_REQUEST + _SECONDS_PER_OUTPUT_TOKEN * request.output_tokens
            if len(request.passages) > 1
            else SECONDS_PER_REQUEST
        )
        count = len(request.passages)
        is_marked = request.view == "marked"
        singles = (_MARKED if is_marked else _SINGLE) * count
        # A group that is too much is halved down to single chunks.
        halves = 2 * (count - 1) if is_marked else 0
        self.follow_ups += singles + halves
        if self.facts.prices is not None:
            self._price(request, usage, singles, self.facts.prices)

    def _price(
        self, request: PlannedRequest, usage: Usage, singles: int, prices: Prices
    ) -> None:
        self.low += pricing.cost(usage, prices)
        most_in, most_out = bounds(request, facts=self.facts)
        most = pricing.estimate(most_in, most_out, prices)
        self.high += most
        if request.view == "marked":
            # All halves of one size together show the window once more.
            self.later += math.ceil(math.log2(len(request.passages))) * 2 * most
            most_in = math.ceil(request.most_alone_tokens * INPUT_MARGIN)
            most_out = 2 * self.settings.statement_max_tokens
        self.later += singles * pricing.estimate(
            most_in + REPAIR_TOKENS, 2 * most_out, prices
        )

    def _hours(self) -> float:
        settings = self.settings
        if settings.mode == "batch":
            return _BATCH_HOURS if self._asked else 0.0
        minutes = [self.seconds / settings.concurrency / 60]
        if settings.requests_per_minute is not None:
            minutes.append(len(self._asked) / settings.requests_per_minute)
        if settings.tokens_per_minute is not None:
            used = self.usage.input + self.usage.output
            minutes.append(used / settings.tokens_per_minute)
        return max(minutes) / 60


def to_send(
    plan: DocumentPlan | Part,
    known: Callable[[Passage], bool],
    stored: Callable[[PlannedRequest], bool] | None,
    seen: set[str],
) -> Iterator[PlannedRequest]:
    """Yield the requests of a document, or a part, that have no answer yet.

    What is `known` of a chunk is not asked, nor a request whose reply is `stored`.
    Equal ones are sent once: `seen` holds those of before, and is added to.
    """
    for request in plan.requests:
        missing = [each for each in request.passages if not known(each)]
        if not missing or (stored is not None and stored(request)):
            continue
        asked = request.about(missing)
        if asked.identity not in seen:
            seen.add(asked.identity)
            yield asked


def estimate(
    plans: Iterable[DocumentPlan],
    *,
    settings: Settings,
    facts: ModelFacts,
    known: Callable[[Passage], bool],
    stored: Callable[[PlannedRequest], bool] | None = None,
) -> Estimate:
    """Price plans without sending anything; what is at hand costs nothing.

    `known` says of which chunks there is an answer, `stored` of which requests
    there is a reply: `cache.knows` and `cache.holds`. Plans may come from a
    generator: none is kept.
    """
    tally = Tally(settings=settings, facts=facts)
    for plan in plans:
        tally.add(plan, known, stored)
    return tally.estimate()


def compared(tallies: Mapping[View, Tally], chosen: View | None) -> tuple[Option, ...]:
    """Give every way of asking there is, live and in batch."""
    modes: tuple[Mode, ...] = ("live", "batch")
    return tuple(
        Option(
            view=view,
            mode=mode,
            chosen=view == chosen and mode == tally.settings.mode,
            estimate=replace(
                tally, settings=replace(tally.settings, mode=mode)
            ).estimate(),
        )
        for view, tally in tallies.items()
        for mode in modes
    )


def bounds(
    request: PlannedRequest, *, facts: ModelFacts, margin: Decimal = INPUT_MARGIN
) -> tuple[int, int]:
    """Give the most input and output tokens a request may be billed for."""
    return (
        math.ceil(request.input_tokens * margin),
        request.parameters.max_output_tokens + facts.thinking_reserve,
    )


def _expected(request: PlannedRequest, *, warmed: bool) -> Usage:
    """Give the usage of a request when the vendor's cache keeps its rules."""
    if not request.parameters.cached:
        return Usage(uncached_input=request.input_tokens, output=request.output_tokens)
    prefix = request.prefix_tokens
    return Usage(
        uncached_input=request.input_tokens - prefix,
        cache_write=0 if warmed else prefix,
        cache_read=prefix if warmed else 0,
        output=request.output_tokens,
    )
