"""How long a server asks to wait, in whichever form it says so."""

from __future__ import annotations

import datetime
from email.utils import format_datetime
from typing import TYPE_CHECKING

import httpx
import pytest

from situate.enrichment.providers.failures import retry_after_seconds
from situate.errors import RateLimited
from tests.support.vendors import failure_of

if TYPE_CHECKING:
    from tests.support.vendors import Vendor

NOW = datetime.datetime(2026, 11, 30, 12, 0, tzinfo=datetime.UTC)


@pytest.mark.parametrize(
    ("headers", "seconds"),
    [
        ({}, None),
        ({"retry-after": "2"}, 2),
        ({"retry-after": "1.5"}, 1.5),
        ({"retry-after": "3600"}, 3600),
        ({"retry-after": "-3"}, 0),
        ({"retry-after": "soon"}, None),
        ({"retry-after": "nan"}, None),
        ({"retry-after": "inf"}, None),
        ({"retry-after": ""}, None),
        ({"retry-after": "9" * 400}, 1e9),
        ({"retry-after-ms": "250"}, 0.25),
        ({"retry-after-ms": "250", "retry-after": "7"}, 0.25),
        ({"retry-after-ms": "soon", "retry-after": "7"}, 7),
        ({"retry-after-ms": "-1"}, 0),
        ({"retry-after": "Mon, 30 Nov 2026 12:00:30 GMT"}, 30),
        ({"retry-after": "Mon, 30 Nov 2026 12:00:30"}, 30),
        ({"retry-after": "Mon, 30 Nov 2026 11:00:00 GMT"}, 0),
        ({"retry-after": "Mon, 99 Nov 2026 12:00:30 GMT"}, None),
    ],
    ids=str,
)
def test_the_time_to_wait_is_read_in_every_form(
    headers: dict[str, str], seconds: float | None
) -> None:
    """Milliseconds, seconds or a date; what is past is 0, what is garbage nothing."""
    assert retry_after_seconds(headers, now=NOW) == seconds


def test_a_rate_limit_carries_the_time_to_wait(vendor: Vendor) -> None:
    """What the server asked for reaches the one who waits."""
    soon = datetime.datetime.now(datetime.UTC) + datetime.timedelta(seconds=60)
    headers = {"retry-after": format_datetime(soon, usegmt=True)}

    error = failure_of(vendor, httpx.Response(429, headers=headers))

    assert isinstance(error, RateLimited)
    assert error.retry_after_seconds == pytest.approx(60, abs=5)


@pytest.mark.parametrize("status", [408, 500, 503, 529])
def test_an_overloaded_server_may_name_a_time_too(vendor: Vendor, status: int) -> None:
    """`retry-after` counts wherever asking again can help."""
    error = failure_of(vendor, httpx.Response(status, headers={"retry-after": "4"}))

    assert isinstance(error, RateLimited)
    assert error.retry_after_seconds == 4
