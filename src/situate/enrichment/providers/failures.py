"""Turns what a server answered into our errors, the same way for every vendor.

By status and code first; by words only where vendors have no code for what
matters: context length and parameters. Messages carry status, code and a few
words of the server, one line, never a header and never a secret.
"""

from __future__ import annotations

import datetime
import json
import re
from email.utils import parsedate_to_datetime
from typing import TYPE_CHECKING, Any

from situate.enrichment.providers.connection import masked
from situate.errors import (
    AuthenticationFailed,
    ConfigError,
    ContextTooLong,
    ModelUnknown,
    ProviderError,
    ProviderUnusable,
    QuotaExhausted,
    RateLimited,
    RequestRejected,
    TransientError,
    Unanswered,
    UnsupportedParameter,
)

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping

    import httpx2

    from situate.enrichment.providers.connection import Connection

_QUOTA_CODES = frozenset(
    {
        "billing_error",
        "billing_hard_limit_reached",
        "billing_not_active",
        "contract_spend_limit_reached",
        "enforced_spend_limit_reached",
        "insufficient_quota",
    }
)
_MODEL_CODES = frozenset({"invalid_model", "model_not_found", "unknown_model"})
_CONTEXT_CODES = frozenset({"context_length_exceeded", "exceed_context_size_error"})
_CONTEXT_WORDS = (
    "prompt is too long",
    "exceed context limit",
    "exceeds the available context size",
    "maximum context length",
    "context length exceeded",
    "context window",
)
_PARAMETER_CODES = frozenset(
    {"unknown_parameter", "unsupported_parameter", "unsupported_value"}
)
_PARAMETER_WORDS = (
    "deprecated",
    "does not support",
    "extra inputs are not permitted",
    "extra_forbidden",
    "input should be",
    "not supported",
    "unexpected",
    "unknown",
    "unrecognized",
    "unsupported",
)
# An SDK may pass these off as a lost connection; they are mistakes in a program.
_DEFECTS = (AssertionError, AttributeError, LookupError, NameError, TypeError)

# Of httpx2; anything else happens before a request is out.
_AFTER_SENDING = frozenset(
    {"DecodingError", "ReadError", "ReadTimeout", "RemoteProtocolError"}
)

_WORDS_SHOWN = 200

_LONGEST_WAIT_SECONDS = 1e9
"""About 30 years; a longer wait says no more, and dates have an end."""


def failure(
    connection: Connection,
    response: httpx2.Response,
    *,
    model: str,
    optional: Collection[str],
) -> ProviderError:
    """Give the error that a reply other than a success stands for.

    `model` is the one that was asked for, `optional` are the keys of the
    request that can be left out.
    """
    status = response.status_code
    answer = _Answer(response.content.decode("utf-8", "replace"))
    message = _message(connection, status, answer)
    return (
        _unusable(connection, status, answer, message, model)
        or _passing(status, response.headers, message)
        or _rejected(answer, message, optional)
    )


def unreached(
    connection: Connection, error: Exception, *, late: bool
) -> TransientError:
    """Give the error for a request that got no reply, in time or at all.

    Where the request may have arrived the error is `Unanswered`: a vendor may
    work on it, and bill it, though nobody hears the answer.

    A mistake in the program, or a refusal of ours, that an SDK passes off as a lost
    connection is raised as itself: asking again would hide it. A reply given up while
    it was read is passed off so, too, and stays what it is.
    """
    cause = error.__cause__
    if isinstance(cause, (*_DEFECTS, ConfigError)):
        raise cause from None
    if isinstance(cause, Unanswered):
        return Unanswered(str(cause), usage=cause.usage)
    where = f"{connection.vendor.name} at {connection.endpoint}"
    reason = error.__class__.__name__ if cause is None else cause.__class__.__name__
    message = f"{where} cannot be reached ({reason})"
    if late:
        message = f"{where} did not answer within {connection.timeout_seconds:g} s"
    if isinstance(error, TimeoutError) or reason in _AFTER_SENDING:
        return Unanswered(message, usage=None)
    return TransientError(message)


def retry_after_seconds(
    headers: Mapping[str, str], *, now: datetime.datetime
) -> float | None:
    """Read how long a server asks to wait; None when it does not say.

    `retry-after-ms` comes first, then `retry-after` in seconds or as a date. A
    time that has passed is 0, a longer one than anybody waits some 30 years; what
    cannot be read is as good as nothing.
    """
    precise = _seconds(headers.get("retry-after-ms", ""), per_second=1000)
    if precise is not None:
        return precise
    stated = headers.get("retry-after", "")
    seconds = _seconds(stated, per_second=1)
    if seconds is not None:
        return seconds
    try:
        moment = parsedate_to_datetime(stated)
    except (ValueError, TypeError, OverflowError):
        return None
    if moment.tzinfo is None:
        moment = moment.replace(tzinfo=datetime.UTC)
    return min(max(0.0, (moment - now).total_seconds()), _LONGEST_WAIT_SECONDS)


def _unusable(
    connection: Connection, status: int, answer: _Answer, message: str, model: str
) -> ProviderUnusable | None:
    if status < 400:
        return ProviderUnusable(f"{message}; it points elsewhere: correct base_url")
    if answer.says_quota(status):
        return QuotaExhausted(message)
    if status in {401, 403}:
        return AuthenticationFailed(f"{message}; check {connection.vendor.variable}")
    if status == 404 or answer.codes & _MODEL_CODES:
        if answer.names_a_model():
            return ModelUnknown(f"{message}; it was asked for {model!r}")
        return ProviderUnusable(f"{message}; no such route: check base_url")
    return None


def _passing(
    status: int, headers: Mapping[str, str], message: str
) -> TransientError | None:
    if status not in {408, 409, 429} and status < 500:
        return None
    wait = retry_after_seconds(headers, now=datetime.datetime.now(datetime.UTC))
    # Overloaded servers name a time to wait under other statuses, too.
    if status == 429 or wait is not None:
        return RateLimited(message, retry_after_seconds=wait)
    return TransientError(message)


def _rejected(
    answer: _Answer, message: str, optional: Collection[str]
) -> RequestRejected:
    if answer.says_context():
        return ContextTooLong(message)
    parameter = answer.refused_parameter(optional)
    if parameter is not None:
        return UnsupportedParameter(message, parameter=parameter)
    return RequestRejected(message)


def _seconds(text: str, *, per_second: int) -> float | None:
    try:
        number = float(text)
    except ValueError:
        return None
    # Python takes the words "inf" and "nan" for numbers.
    if not any(character.isdecimal() for character in text):
        return None
    return min(max(0.0, number / per_second), _LONGEST_WAIT_SECONDS)


class _Answer:
    """The body of an error reply, in whichever of the known shapes it came."""

    def __init__(self, text: str) -> None:
        try:
            data: Any = json.loads(text)
        except (ValueError, RecursionError):
            data = None
        top = data if isinstance(data, dict) else {}
        error = top.get("error", top)
        inner: dict[str, Any] = error if isinstance(error, dict) else {"message": error}
        details = inner.get("details")
        code = details.get("error_code") if isinstance(details, dict) else None
        stated = [code, inner.get("code"), inner.get("type")]
        names = [name for name in stated if isinstance(name, str) and name]
        self.code = names[0] if names else None
        self.codes = frozenset(name.lower() for name in names)
        said = inner.get("message") or top.get("detail") or ""
        self.words = (
            said if isinstance(said, str) else json.dumps(said, ensure_ascii=False)
        )
        parameter = inner.get("param")
        self.parameter = parameter if isinstance(parameter, str) else None

    def says_quota(self, status: int) -> bool:
        # The last is a 400 of Anthropic's that carries no code of its own.
        return (
            status == 402
            or (status in {403, 429} and bool(self.codes & _QUOTA_CODES))
            or (status == 400 and "credit balance is too low" in self.words.lower())
        )

    def names_a_model(self) -> bool:
        return bool(self.codes & _MODEL_CODES) or "model" in self.words.lower()

    def says_context(self) -> bool:
        words = self.words.lower()
        return bool(self.codes & _CONTEXT_CODES) or any(
            phrase in words for phrase in _CONTEXT_WORDS
        )

    def refused_parameter(self, optional: Collection[str]) -> str | None:
        """Find which of the optional keys is refused, if one is."""
        if self.parameter is not None and self.codes & _PARAMETER_CODES:
            key = re.split(r"[.\[]", self.parameter, maxsplit=1)[0]
            return key if key in optional else None
        if not any(word in self.words.lower() for word in _PARAMETER_WORDS):
            return None
        named = {
            found.start(): key
            for key in optional
            if (found := re.search(rf"(?<!\w){re.escape(key)}(?!\w)", self.words))
        }
        return named[min(named)] if named else None


def _message(connection: Connection, status: int, answer: _Answer) -> str:
    said = f"{connection.vendor.name} at {connection.endpoint} answered {status}"
    if answer.code is not None:
        said += f" ({_one_line(answer.code, connection)})"
    # Vendors repeat part of a wrong key in their words about it.
    if answer.words and status != 401:
        said += f": {_one_line(answer.words, connection)}"
    return said


def _one_line(words: str, connection: Connection) -> str:
    """Cut a server's words to a short printable line without a secret."""
    words = masked(words, connection.secrets)
    line = " ".join("".join(c if c.isprintable() else " " for c in words).split())
    return line if len(line) <= _WORDS_SHOWN else f"{line[:_WORDS_SHOWN]}..."
