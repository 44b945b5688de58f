"""Answers that say no, all in the one shape of RFC 9457.

The sentence in `detail` names the thing, what was found and what to do. It repeats
what the request says of names, never what a document says, and never a key.
"""

from __future__ import annotations

import json
import math
from http import HTTPStatus
from typing import TYPE_CHECKING, Any, Final

from situate.errors import SituateError

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

MEDIA_TYPE: Final = "application/problem+json"

_TITLES: Final = {413: "Content Too Large", 422: "Unprocessable Content"}
"""As RFC 9110 has them, and Python from 3.13 on."""

_LONGEST: Final = 500
"""Characters of a detail; a name in a request may be as long as it likes."""


class Refused(SituateError):
    """A request that gets no more than a reason.

    `status` is that of HTTP. `retry_after_seconds` is when asking again makes sense,
    None where it makes none. `problems` are parts of the request and what is wrong
    with each.
    """

    def __init__(
        self,
        status: int,
        detail: str,
        *,
        retry_after_seconds: float | None = None,
        problems: Sequence[tuple[str, str]] = (),
        headers: Mapping[str, str] | None = None,
    ) -> None:
        super().__init__(detail)
        self.status = status
        self.detail = detail
        self.retry_after_seconds = retry_after_seconds
        self.problems = problems
        self.headers = dict(headers or {})
        if retry_after_seconds is not None:
            self.headers["retry-after"] = str(_whole(retry_after_seconds))

    @property
    def body(self) -> bytes:
        """The answer as JSON."""
        values: dict[str, object] = {
            "type": "about:blank",
            "title": _TITLES.get(self.status) or HTTPStatus(self.status).phrase,
            "status": self.status,
            "detail": _shown(self.detail),
        }
        if self.retry_after_seconds is not None:
            values["retry_after_seconds"] = _whole(self.retry_after_seconds)
        if self.problems:
            values["problems"] = [
                {"where": _shown(where), "message": _shown(message)}
                for where, message in self.problems
            ]
        # ASCII: a name may hold half of a character, which UTF-8 has no bytes for.
        return json.dumps(values).encode("ascii")


def _whole(seconds: float) -> int:
    """Give whole seconds, as the header has them, at least one."""
    return max(1, math.ceil(seconds))


def _shown(text: str) -> str:
    return text if len(text) <= _LONGEST else f"{text[:_LONGEST]}..."


_SAID: Final[Mapping[int, tuple[str, str]]] = {
    400: (
        "The body is not what its type says.",
        "the body is no JSON: expected value at line 1 column 1",
    ),
    401: (
        "No key, or one that is not known.",
        "name a key: Authorization: Bearer KEY",
    ),
    404: (
        "There is no such thing, or it is not yours.",
        "there is no corpus 'handbok'; there are 'handbook', 'manuals'",
    ),
    405: ("The route has no such method.", "/v1/corpora has GET alone"),
    408: (
        "The body took too long to come.",
        "the body was not there after 60 seconds",
    ),
    409: (
        "Not in this state of the job.",
        "the job is not done; ask again later, or for ?partial=true",
    ),
    413: (
        "The body, or a part of it, is larger than what is taken in.",
        "the body has more than 33,554,432 bytes",
    ),
    415: (
        "The body is of a type that is not taken in.",
        "the body is 'text/plain'; send application/json or multipart/form-data",
    ),
    422: (
        "The request makes no sense, or a document cannot be read.",
        "travel.docx: is no Word document: File is not a zip file",
    ),
    429: (
        "Too much at once: come again after so many seconds.",
        "all places in the queue are taken",
    ),
    500: ("The service failed; its log says where.", "the service failed"),
    503: (
        "Not now: the service is about to end, or cannot write.",
        "the service is about to end",
    ),
}
"""What an answer of each status means, and one such detail."""

_HEADERS: Final[Mapping[int, Mapping[str, str]]] = {
    401: {"WWW-Authenticate": "The scheme that is expected: `Bearer`."},
    405: {"Allow": "The methods there are."},
    429: {"Retry-After": "Whole seconds."},
    503: {"Retry-After": "Whole seconds."},
}


def documented(
    *statuses: int, shown: Mapping[int, str] | None = None
) -> dict[int | str, dict[str, Any]]:
    """Describe refusals as an OpenAPI document does, with an example of each.

    `shown` has details that fit a route better than those of all routes.
    """
    better = shown or {}
    return {status: _documented(status, better) for status in sorted(statuses)}


def _documented(status: int, better: Mapping[int, str]) -> dict[str, Any]:
    meaning, common = _SAID[status]
    detail = better.get(status, common)
    waits = 1 if status in {429, 503} else None
    example = json.loads(Refused(status, detail, retry_after_seconds=waits).body)
    headers = {
        name: {"description": said, "schema": {"type": "string"}}
        for name, said in _HEADERS.get(status, {}).items()
    }
    return {
        "description": meaning,
        **({"headers": headers} if headers else {}),
        "content": {
            MEDIA_TYPE: {
                "schema": {"$ref": "#/components/schemas/Problem"},
                "example": example,
            }
        },
    }
