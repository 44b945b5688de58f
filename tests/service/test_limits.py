"""Who may come in, how often and with how much, before anybody reads a body."""

from __future__ import annotations

import asyncio
import json
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from situate.errors import ConfigError
from situate.service.web.gate import Gate
from situate.service.web.limits import (
    ANYBODY,
    Keys,
    Limits,
    Rates,
    Shares,
    check_host,
    read_keys,
)
from situate.service.web.metrics import Metrics
from situate.service.web.problems import Refused

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from starlette.types import Message, Receive, Scope, Send

SECRET = "s" * 16
SMALL = Limits(body_bytes=10, job_bytes=100, in_hand_bytes=25, body_seconds=0.05)


@dataclass(slots=True)
class Inside:
    """The app behind the gate: reads a body and answers with its length."""

    bodies: list[int] = field(default_factory=list)
    owners: list[str] = field(default_factory=list)
    let_go: asyncio.Event | None = None
    """Waited for before it answers."""

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve a request."""
        size, more = 0, True
        while more:
            message = await receive()
            size += len(message.get("body", b""))
            more = message.get("more_body", False)
        self.bodies.append(size)
        self.owners.append(scope["state"]["owner"])
        if self.let_go is not None:
            await self.let_go.wait()
        await send({"type": "http.response.start", "status": 200, "headers": []})
        await send({"type": "http.response.body", "body": b""})


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """What came back."""

    status: int
    headers: dict[str, str]
    problem: dict[str, Any]
    """Empty where it was let in."""


def gate(
    inside: Inside,
    *,
    limits: Limits = SMALL,
    keys: Keys | None = None,
    ending: asyncio.Event | None = None,
) -> Gate:
    """Make a gate."""
    return Gate(
        app=inside,
        keys=keys or Keys({}),
        limits=limits,
        rates=Rates(limits.requests_per_minute, clock=lambda: 0.0),
        shares=Shares(limits),
        metrics=Metrics(),
        ending=ending or asyncio.Event(),
    )


async def ask(
    at: Gate,
    *pieces: bytes,
    path: str = "/v1/chunk",
    headers: Sequence[tuple[bytes, bytes]] = ((b"transfer-encoding", b"chunked"),),
    pause_seconds: float = 0.0,
) -> Answer:
    """Send a body piece by piece; one of no pieces never ends."""
    left = list(pieces)
    sent: list[Message] = []

    async def receive() -> Message:
        await asyncio.sleep(pause_seconds)
        if not left:
            await asyncio.sleep(10)
        body = left.pop(0)
        return {"type": "http.request", "body": body, "more_body": bool(left)}

    async def send(message: Message) -> None:
        sent.append(message)

    scope = {"type": "http", "method": "POST", "path": path, "headers": list(headers)}
    await at(scope, receive, send)
    start, body = sent[0], b"".join(each.get("body", b"") for each in sent[1:])
    return Answer(
        status=start["status"],
        headers={name.decode(): text.decode() for name, text in start["headers"]},
        problem=json.loads(body) if body else {},
    )


def test_a_body_that_says_it_is_too_long_is_not_read() -> None:
    """413 for a Content-Length beyond the limit; the app sees none of it."""
    inside = Inside()

    answer = asyncio.run(
        ask(gate(inside), b"x" * 11, headers=[(b"content-length", b"11")])
    )

    assert (answer.status, answer.problem["title"]) == (413, "Content Too Large")
    assert answer.problem["detail"] == "the body has more than 10 bytes"
    assert inside.bodies == []


def test_a_body_that_says_nothing_is_cut_off_where_it_becomes_too_long() -> None:
    """413 for a body in pieces, at the piece that goes beyond."""
    inside = Inside()

    answer = asyncio.run(ask(gate(inside), b"x" * 6, b"x" * 6, b"x"))

    assert answer.status == 413
    assert inside.bodies == []


@pytest.mark.parametrize("pieces", [(b"x" * 10,), (b"x" * 5, b"x" * 5)])
def test_a_body_that_just_fits_is_let_in(pieces: tuple[bytes, ...]) -> None:
    """The limit is the last length that is taken."""
    inside = Inside()

    answer = asyncio.run(ask(gate(inside), *pieces))

    assert (answer.status, inside.bodies) == (200, [10])


@pytest.mark.parametrize("sign", ["\n", "\r", "\x00", "\x7f", "\x85"])
def test_a_path_with_a_control_character_is_none(sign: str) -> None:
    """Routing forgives a line end behind a path, and bounds must not depend on it."""
    inside = Inside()

    answer = asyncio.run(ask(gate(inside), b"x", path=f"/v1/chunk{sign}"))

    assert (answer.status, inside.bodies) == (404, [])
    assert "control character" in answer.problem["detail"]


def test_a_body_counts_wherever_it_goes() -> None:
    """What a route is called has no say in how many bodies are under way."""
    inside = Inside()

    async def two() -> tuple[Answer, Answer]:
        inside.let_go = asyncio.Event()
        at = gate(inside, limits=Limits(uploads=1))
        first = asyncio.ensure_future(ask(at, b"x", path="/v1/other"))
        await asyncio.sleep(0.01)
        second = await ask(at, b"x", path="/v1/another")
        inside.let_go.set()
        return await first, second

    first, second = asyncio.run(two())

    assert (first.status, second.status) == (200, 429)


def test_a_job_may_be_larger_than_a_document() -> None:
    """Its body lies on the disk and is gone through."""
    inside = Inside()

    answer = asyncio.run(ask(gate(inside), b"x" * 100, path="/v1/jobs"))

    assert (answer.status, inside.bodies) == (200, [100])


def test_a_client_that_sends_nothing_is_let_go() -> None:
    """408 once the time for a body is over, and the connection is closed."""
    answer = asyncio.run(ask(gate(Inside()), pause_seconds=1))

    assert (answer.status, answer.headers["connection"]) == (408, "close")
    assert "after 0.05 seconds" in answer.problem["detail"]


def test_a_client_that_drips_is_let_go_as_well() -> None:
    """The time is for the whole body: pieces do not prolong it."""
    answer = asyncio.run(ask(gate(Inside()), *[b""] * 50, pause_seconds=0.01))

    assert answer.status == 408


@pytest.mark.parametrize(
    ("limits", "told"),
    [
        pytest.param(
            Limits(uploads=1), "this key has 1 uploads under way", id="places"
        ),
        pytest.param(
            Limits(body_bytes=10, in_hand_bytes=19),
            "bodies of 10 bytes are under way",
            id="bytes",
        ),
    ],
)
def test_what_there_is_no_room_for_is_sent_away(limits: Limits, told: str) -> None:
    """429 with when to come again, and room once another has gone."""
    inside = Inside()

    async def three() -> tuple[Answer, Answer, Answer]:
        inside.let_go = asyncio.Event()
        at = gate(inside, limits=limits)
        first = asyncio.ensure_future(ask(at, b"x"))
        await asyncio.sleep(0.01)
        second = await ask(at, b"x")
        inside.let_go.set()
        return await first, second, await ask(at, b"x")

    first, second, third = asyncio.run(three())

    assert (first.status, second.status, third.status) == (200, 429, 200)
    assert told in second.problem["detail"]
    assert int(second.headers["retry-after"]) == second.problem["retry_after_seconds"]


def test_a_request_too_many_is_told_when_there_is_room() -> None:
    """Two a minute, then one every half minute."""
    at = gate(Inside(), limits=Limits(requests_per_minute=2))

    async def three() -> list[Answer]:
        return [await ask(at, b"x") for _ in range(3)]

    *first, last = asyncio.run(three())

    assert [each.status for each in first] == [200, 200]
    assert (last.status, last.headers["retry-after"]) == (429, "30")


@given(st.lists(st.floats(0, 100), max_size=60), st.integers(1, 20))
def test_no_minute_has_more_than_twice_what_a_key_may(
    pauses: list[float], per_minute: int
) -> None:
    """A full bucket and what flows into it meanwhile, whatever the rhythm."""
    now, taken = 0.0, []
    rates = Rates(per_minute, clock=lambda: now)

    for pause in pauses:
        now += pause
        try:
            rates.take("anna")
        except Refused:
            continue
        taken.append(now)

    for moment in taken:
        assert sum(moment <= each < moment + 60 for each in taken) <= 2 * per_minute


def test_a_key_opens_and_says_whose_it_is() -> None:
    """Whose it is comes from the key, not from the request."""
    inside = Inside()
    keys = Keys({"anna": SECRET, "ben": SECRET * 2})
    header = (b"authorization", f"Bearer {SECRET * 2}".encode())

    answer = asyncio.run(
        ask(gate(inside, keys=keys), b"", headers=[(b"content-length", b"0"), header])
    )

    assert (answer.status, inside.owners) == (200, ["ben"])


@pytest.mark.parametrize(
    "header", [None, "", "Bearer", "Bearer ", f"Basic {SECRET}", f"Bearer {SECRET}x"]
)
def test_nobody_gets_in_without_a_key(header: str | None) -> None:
    """401 with the scheme that is expected, before the body."""
    inside = Inside()
    headers = [(b"content-length", b"11")]
    if header is not None:
        headers.append((b"authorization", header.encode()))

    answer = asyncio.run(
        ask(gate(inside, keys=Keys({"anna": SECRET})), b"x" * 11, headers=headers)
    )

    assert (answer.status, inside.bodies) == (401, [])
    assert answer.headers["www-authenticate"] == 'Bearer realm="situate"'


def test_health_needs_no_key() -> None:
    """Whoever watches over the service is not given one."""
    inside = Inside()

    answer = asyncio.run(
        ask(gate(inside, keys=Keys({"anna": SECRET})), b"", path="/healthz")
    )

    assert (answer.status, inside.owners) == (200, [ANYBODY])


def test_a_service_that_ends_takes_nothing_new() -> None:
    """503 with when to come again; whether it lives is still said."""
    ending = asyncio.Event()
    ending.set()

    async def two() -> tuple[Answer, Answer]:
        at = gate(Inside(), ending=ending)
        return await ask(at, b"x"), await ask(at, b"", path="/healthz")

    work, health = asyncio.run(two())

    assert (work.status, health.status) == (503, 200)
    assert work.headers["retry-after"] == "5"


def test_a_client_that_is_told_no_hears_it() -> None:
    """What it still sends is taken and dropped: the connection goes on."""
    at = gate(Inside(), keys=Keys({"anna": SECRET}))

    answer = asyncio.run(ask(at, *[b"x" * 2_000] * 100))

    assert answer.status == 401
    assert "connection" not in answer.headers


def test_a_client_that_does_not_stop_is_let_go() -> None:
    """A mebibyte is dropped, not more."""
    at = gate(Inside(), keys=Keys({"anna": SECRET}))

    answer = asyncio.run(ask(at, *[b"x" * 200_000] * 10))

    assert (answer.status, answer.headers["connection"]) == (401, "close")


def test_keys_come_from_the_environment_and_from_a_file(tmp_path: Path) -> None:
    """Named, between any white space."""
    path = tmp_path / "keys"
    path.write_text(f"  ben={SECRET}b\n\ncarl={SECRET}c\n", "utf-8")
    environment = {
        "SITUATE_SERVICE_KEYS": f"anna={SECRET}a",
        "SITUATE_SERVICE_KEYS_FILE": str(path),
    }

    keys = read_keys(environment)

    owners = [keys.owner(f"bearer {SECRET}{each}") for each in "abcd"]
    assert owners == ["anna", "ben", "carl", None]


@pytest.mark.parametrize(
    ("text", "told"),
    [
        pytest.param(f"anna={SECRET[1:]}", "'anna' has 15 characters", id="short"),
        pytest.param(SECRET, "entry 1 is no NAME=KEY", id="nameless"),
        pytest.param(f"a={SECRET} b=", "entry 2 is no NAME=KEY", id="empty"),
        pytest.param(f"a={SECRET} a={SECRET}x", "'a' stands there twice", id="twice"),
        pytest.param(f"a={SECRET} b={SECRET}", "'b' stands there twice", id="shared"),
    ],
)
def test_keys_that_are_none_stop_the_start(text: str, told: str) -> None:
    """The line names whose key it is, and holds no key."""
    with pytest.raises(ConfigError) as error:
        read_keys({"SITUATE_SERVICE_KEYS": text})

    assert told in str(error.value)
    assert SECRET[1:] not in str(error.value)


@pytest.mark.parametrize("host", ["0.0.0.0", "::", "192.0.2.1", "example.com", ""])  # noqa: S104 - the addresses that are refused
def test_without_a_key_only_this_machine_is_served(host: str) -> None:
    """An open door to a model that costs money is a mistake."""
    with pytest.raises(ConfigError, match="no key is set"):
        check_host(host, Keys({}))

    check_host(host, Keys({"anna": SECRET}))


@pytest.mark.parametrize("host", ["127.0.0.1", "127.8.0.1", "::1", "localhost"])
def test_this_machine_needs_no_key(host: str) -> None:
    """Whoever is on it can read its files anyway."""
    check_host(host, Keys({}))
