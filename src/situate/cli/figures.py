"""Numbers in the words people read them in."""

from __future__ import annotations

import math
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from decimal import Decimal

    from situate.compare.comparison import Comparison, Verdict
    from situate.enrichment.estimate import Estimate, Option
    from situate.manifest import Spent
    from situate.pipeline.run import Result
    from situate.pipeline.watching import Forecast
    from situate.usage import Usage

_REPLAY = "replay"


def forecast_lines(forecast: Forecast) -> list[str]:
    """Say what a corpus would send, cost and take."""
    lines = [
        f"{forecast.corpus}: {many(forecast.documents, 'document')}, "
        f"{many(forecast.chunks, 'chunk')}"
    ]
    if forecast.failed:
        lines.append(f"failed     {many(len(forecast.failed), 'document')}")
    estimate = forecast.estimate
    if estimate is None:
        return [*lines, "requests   none: enrichment is off"]
    replayed = forecast.provider == _REPLAY
    skipped = f", {estimate.skipped:,} more need none" if estimate.skipped else ""
    if estimate.not_shown:
        skipped += f", {estimate.not_shown:,} may not be shown"
    return [
        *lines,
        f"requests   {estimate.requests:,} for {many(estimate.chunks, 'chunk')}"
        + ("" if replayed else f", {estimate.cached:,} answered already")
        + skipped,
        f"tokens     {estimate.input_tokens:,} input{_by_class(estimate.usage)}, "
        f"{estimate.output_tokens:,} output",
        f"cost       {_cost(forecast)}",
        *_repair_lines(estimate),
        f"time       {_duration(estimate.hours)}",
        *([f"but        {forecast.objection}"] if forecast.objection else []),
        *_option_lines(forecast.options),
    ]


def _option_lines(options: Sequence[Option]) -> list[str]:
    """Put the ways of asking side by side, nothing of it answered yet."""
    if not options:
        return []
    head = ("", "requests", "input", "cached", "output", "low", "high", "hours")
    rows = [head]
    for option in options:
        estimate, mark = option.estimate, " *" if option.chosen else ""
        cached = estimate.usage.cache_write + estimate.usage.cache_read
        rows.append(
            (
                f"{option.view} {option.mode}{mark}",
                f"{estimate.requests:,}",
                f"{estimate.usage.uncached_input:,}",
                f"{cached:,}",
                f"{estimate.usage.output:,}",
                "" if estimate.usd_low is None else dollars(estimate.usd_low),
                "" if estimate.usd_high is None else dollars(estimate.usd_high),
                f"{estimate.hours:.2f}",
            )
        )
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    lines = [
        "  ".join(
            [row[0].ljust(widths[0])]
            + [cell.rjust(n) for cell, n in zip(row[1:], widths[1:], strict=True)]
        ).rstrip()
        for row in rows
    ]
    is_one = any(option.chosen for option in options)
    how = "* is how" if is_one else "each document in the view that suits it is how"
    return [f"for all of it, {how} it would be asked:", *lines]


def _by_class(usage: Usage) -> str:
    if not usage.cache_write and not usage.cache_read:
        return ""
    return (
        f" ({usage.uncached_input:,} plain, {usage.cache_write:,} written to and "
        f"{usage.cache_read:,} read from the vendor's cache)"
    )


def result_lines(result: Result) -> list[str]:
    """Say what became of a corpus."""
    counts, spent = result.counts, result.spent
    if counts is None or spent is None:
        return [f"{result.corpus}: nothing published: {result.reason}"]
    lines = [
        f"{result.corpus}: {many(counts.documents - counts.failed, 'document')}, "
        f"{many(sum(counts.chunks.values()), 'chunk')} in {_near(result.path)}"
    ]
    if counts.failed:
        lines.append(f"failed     {many(counts.failed, 'document')}")
    if result.forecast is not None:
        lines.append(
            f"statements {counts.statements:,}, "
            f"{spent.distinct_statements:,} different; "
            f"fallbacks {_reasons(counts.fallbacks)}; "
            f"skipped {_reasons(counts.skipped)}"
        )
        replayed = result.forecast.provider == _REPLAY
        missing = counts.fallbacks.get("not_recorded", 0)
        sent = spent.requests - missing
        lines.append(
            f"requests   {sent:,}{' replayed' if replayed else ''}, "
            + (f"{missing:,} not recorded, " if missing else "")
            + f"{spent.cache_hits:,} answers from the cache"
        )
        cost = "unknown" if spent.cost_usd is None else dollars(spent.cost_usd)
        if spent.prefix_writes or spent.prefix_reads:
            lines.append(_about_cache(spent))
        lines.append(
            f"cost       nothing; {_cost(result.forecast)}"
            if replayed
            else f"cost       {cost}"
        )
    if result.reason is not None:
        lines.append(f"incomplete {result.reason}")
    return lines


def _about_cache(spent: Spent) -> str:
    """Say what became of what the vendor was asked to keep."""
    asked = spent.prefix_writes + spent.prefix_reads
    saved = "" if spent.saved_usd is None else f", saved {dollars(spent.saved_usd)}"
    return (
        f"cached     {spent.prefix_reads / asked:.0%} of {asked:,} prefixes read from "
        f"the vendor's cache, {spent.wasted_writes:,} written twice{saved}"
    )


def dollars(amount: Decimal) -> str:
    """Give an amount with the digits that matter."""
    return f"${amount:,.2f}" if amount >= 1 else f"${amount:.4f}"


def _cost(forecast: Forecast) -> str:
    """Say what a corpus costs, or would if it were asked for and not replayed."""
    estimate = forecast.estimate
    if estimate is None or estimate.usd_low is None or estimate.usd_high is None:
        return f"unknown: there is no price for {forecast.model}"
    between = f"{dollars(estimate.usd_low)} to {dollars(estimate.usd_high)}"
    if forecast.provider == _REPLAY:
        return f"it would have cost {between} with {forecast.model}"
    return f"{between} with {forecast.model}"


def _repair_lines(estimate: Estimate) -> list[str]:
    """Say what may be asked again: the most there can be is far from what is usual."""
    if not estimate.follow_ups:
        return []
    most = many(estimate.follow_ups, "request")
    if estimate.usd_follow_ups is not None:
        most += f" for {dollars(estimate.usd_follow_ups)}"
    return [
        "repairs    usually a few percent more, within the limits on spending; "
        f"the bound is {most}, were every answer to fail every time"
    ]


def _near(path: Path) -> Path:
    """Give a path from here, where it lies below."""
    here = Path.cwd()
    return path.relative_to(here) if path.is_relative_to(here) else path


def _duration(hours: float) -> str:
    if hours >= 1:
        return f"{hours:.1f} hours"
    return many(math.ceil(hours * 60), "minute")


def many(number: int, thing: str) -> str:
    """Give a number with its noun."""
    return f"{number:,} {thing}{'' if number == 1 else 's'}"


def _reasons(counts: Mapping[str, int]) -> str:
    total = sum(counts.values())
    if not total:
        return "0"
    return f"{total:,} ({', '.join(f'{name} {n:,}' for name, n in counts.items())})"


def comparison_lines(comparison: Comparison) -> list[str]:
    """Say what a comparison came to: the verdicts, then the arms side by side."""
    lines = [
        f"{comparison.corpus}: {comparison.questions:,} questions about "
        f"{comparison.clusters:,} of {comparison.documents:,} documents, judged by "
        f"{comparison.primary}"
    ]
    lines.extend(
        f"{verdict.choice.upper():9} {verdict.retriever}: {verdict.arm} against "
        f"{verdict.against}. {verdict.reason}{_price(verdict)}"
        for verdict in comparison.verdicts
    )
    lines.extend(
        f"  {standing.retriever:12} {standing.arm:40} {standing.mean:.3f}"
        + (
            f"  {standing.difference.mean:+.3f} "
            f"[{standing.difference.low:+.3f}, {standing.difference.high:+.3f}] "
            f"against {standing.against}"
            if standing.difference is not None
            else ""
        )
        for standing in comparison.standings
        if standing.measure == comparison.primary
    )
    lines.extend(f"note: {note}" for note in comparison.notes)
    return lines


def _price(verdict: Verdict) -> str:
    if verdict.usd is None:
        return ""
    told = f" The sentences cost at most {dollars(verdict.usd)} once"
    if verdict.usd_per_recovered is None:
        return f"{told}."
    return f"{told}: {dollars(verdict.usd_per_recovered)} a recovered question."
