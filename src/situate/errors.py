"""Everything situate raises, drawn as a tree.

    SituateError
    ├── ReadError                a document cannot be read
    ├── ConfigError              a config, manifest, prompt or tokenizer cannot be used
    ├── RecordError              a chunks, blocks or cassette file is not what it says
    ├── Locked                   another run holds the lock of this output
    ├── CacheBroken              the open cache can no longer be read or written
    ├── BudgetExceeded           the next request would cross a limit on spending
    └── ProviderError            a model could not be asked or did not answer
        ├── TransientError       worth asking again
        │   ├── RateLimited      told to wait, perhaps for how long
        │   └── Unanswered       perhaps worked on and billed, but no reply came
        ├── RequestRejected      this request, and only this one, is refused
        │   ├── ContextTooLong   it does not fit the model
        │   └── UnsupportedParameter   it names a parameter the model does not know
        └── ProviderUnusable     no request can succeed
            ├── AuthenticationFailed   the key is missing, wrong or not allowed
            ├── ModelUnknown     the provider does not serve the model
            ├── BatchesUnknown   the provider has no batch system
            └── QuotaExhausted   the account has nothing left to spend

Messages name the thing, what was found and what to do. They never hold a secret.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from situate.usage import Usage


Refusal = Literal[
    "unsupported",
    "legacy",
    "misnamed",
    "encrypted",
    "scan",
    "binary",
    "limit",
    "package",
    "unreadable",
    "deleted",
    "other",
]
"""Why a document is refused, where one knows: no reader is for it; a format older than
those that are; it is not what its name says; protected; pictures of pages; no text; too
large or an archive bomb; a package to read it with is missing; the file system does not
give it; a manifest deletes it, whatever it holds."""


class SituateError(Exception):
    """Root of every error raised on purpose."""


class ReadError(SituateError):
    """A document cannot be read; the message starts with its name."""

    def __init__(self, message: str, *, refusal: Refusal = "other") -> None:
        super().__init__(message)
        self.refusal = refusal


class ConfigError(SituateError):
    """A config, manifest, prompt or tokenizer cannot be used; nothing is done yet."""


class RecordError(SituateError):
    """A file of records is not what it says; the message names file and line."""


class Locked(SituateError):
    """Another run holds the lock of this output."""


class CacheBroken(SituateError):
    """The open cache can no longer be read or written."""


class BudgetExceeded(SituateError):
    """The next request would cross a limit on spending."""


class DeadlinePassed(SituateError):
    """The time that was given to ask in is over."""


class ProviderError(SituateError):
    """A model could not be asked or did not answer."""


class TransientError(ProviderError):
    """A failure that may pass: connection, timeout, 408, 409, 429, 5xx, 529."""


class RateLimited(TransientError):
    """The provider said to slow down.

    `retry_after_seconds` is what it asked for, None when it did not say.
    """

    def __init__(self, message: str, *, retry_after_seconds: float | None) -> None:
        super().__init__(message)
        self.retry_after_seconds = retry_after_seconds


class Unanswered(TransientError):
    """A request that a provider may have worked on brought no reply.

    `usage` is what may be billed for it: nothing, what a broken reply says it
    used, or None when nobody said.
    """

    def __init__(self, message: str, *, usage: Usage | None) -> None:
        super().__init__(message)
        self.usage = usage


class RequestRejected(ProviderError):
    """A 4xx that will not change by asking again."""


class ContextTooLong(RequestRejected):
    """The request does not fit the model's context."""


class UnsupportedParameter(RequestRejected):
    """The model does not know `parameter`, a top-level key of the request body."""

    def __init__(self, message: str, *, parameter: str) -> None:
        super().__init__(message)
        self.parameter = parameter


class ProviderUnusable(ProviderError):
    """No request to this provider can succeed as configured."""


class AuthenticationFailed(ProviderUnusable):
    """The key is missing, wrong or not allowed to do this."""


class ModelUnknown(ProviderUnusable):
    """The provider does not serve this model."""


class BatchesUnknown(ProviderUnusable):
    """Who answers at this address has no batch system."""


class QuotaExhausted(ProviderUnusable):
    """The account has nothing left to spend."""
