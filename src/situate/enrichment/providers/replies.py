"""Reads raw replies with care: what a server sends is data, and may be broken.

A reply may have been paid for, so it is used as far as it goes: odd counts and
unknown words for why it stopped do not spoil a sentence.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from situate.errors import Unanswered
from situate.usage import Usage

if TYPE_CHECKING:
    from collections.abc import Mapping

    from situate.enrichment.exchange import Stop

_SENTENCE_ENDS = ".!?…。！？।؟"
_CLOSING_MARKS = "\"'”’»」』)]*_`"

_MOST_TOKENS = 999_999_999_999
"""A count above is none: a million times what models can read."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Counters:
    """Where a vendor's `usage` holds its counts, as paths of keys."""

    input: tuple[str, ...]
    cache_write: tuple[str, ...]
    cache_read: tuple[str, ...]
    output: tuple[str, ...]
    thinking: tuple[str, ...]
    input_includes_cached: bool


def load(raw: str, provider: str) -> dict[str, Any]:
    """Decode a reply.

    Raises:
        Unanswered: it is not a JSON object.
    """
    try:
        data = json.loads(raw)
    except (ValueError, RecursionError):
        data = None
    if not isinstance(data, dict):
        raise Unanswered(_unusable(provider, "it is no JSON object"), usage=Usage())
    return data


def usage_of(data: Mapping[str, Any], counters: Counters) -> Usage | None:
    """Read what a reply says it used; None when that is not known.

    Input and output have to be there. Details that are absent or null are 0.
    Counts that no request comes to are not known either.
    """
    usage = data.get("usage")
    counts = [
        count
        for count in (
            _count(usage, counters.input, absent=None),
            _count(usage, counters.cache_write, absent=0),
            _count(usage, counters.cache_read, absent=0),
            _count(usage, counters.output, absent=None),
            _count(usage, counters.thinking, absent=0),
        )
        if count is not None
    ]
    if len(counts) < 5:
        return None
    inward, written, read, output, thinking = counts
    if counters.input_includes_cached:
        inward = max(0, inward - written - read)
    if max(inward + written + read, output, thinking) > _MOST_TOKENS:
        return None
    return Usage(
        uncached_input=inward,
        cache_write=written,
        cache_read=read,
        output=output,
        thinking=thinking,
    )


def says_error(part: Mapping[str, Any]) -> bool:
    """Say whether a reply, or a part of it, is an error sent as a success."""
    return bool(part.get("error")) or part.get("type") == "error"


def no_reply(
    data: Mapping[str, Any], counters: Counters, *, provider: str
) -> Unanswered:
    """Name what is wrong with a reply that holds no message, without repeating it.

    It costs nothing unless it speaks of usage.
    """
    what = "it is an error" if says_error(data) else "it holds no message"
    return Unanswered(
        _unusable(provider, what),
        usage=usage_of(data, counters) if data.get("usage") else Usage(),
    )


def stop_of(reason: object, known: Mapping[str, Stop], text: str) -> Stop:
    """Read why a reply stopped.

    Servers have words of their own, and no tools are offered that it could have
    stopped for. What stopped for no known reason has ended where a sentence
    ends, or before it began; anywhere else it counts as cut off.
    """
    if isinstance(reason, str) and reason in known:
        return known[reason]
    last = text.rstrip().rstrip(_CLOSING_MARKS)[-1:]
    return "end" if last in _SENTENCE_ENDS else "length"


def joined_text(content: object) -> str:
    """Join the text parts of a reply's content and leave out everything else."""
    if isinstance(content, str):
        return content
    if not isinstance(content, list):
        return ""
    return "".join(
        part["text"]
        for part in content
        if isinstance(part, dict)
        and part.get("type") == "text"
        and isinstance(part.get("text"), str)
    )


def _count(usage: object, path: tuple[str, ...], *, absent: int | None) -> int | None:
    """Read a count of tokens; None when what stands there is none."""
    value: Any = usage
    for key in path:
        value = value.get(key) if isinstance(value, dict) else None
    if value is None:
        return absent
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    is_count = isinstance(value, int) and not isinstance(value, bool) and value >= 0
    return value if is_count else None


def _unusable(provider: str, what: str) -> str:
    return f"{provider} sent a reply that cannot be used: {what}"
