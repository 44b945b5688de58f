"""A provider that says what it is told to: for tests, ours and yours.

    provider = ScriptedProvider(["The first sentence.", TransientError("busy")])
    provider = ScriptedProvider(lambda body: f"About {len(body['chunk'])} letters.")

Nothing is sent anywhere. `bodies` holds every request in the order it came.
"""

from __future__ import annotations

import inspect
import json
from collections.abc import Awaitable, Callable, Iterable
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, TypeAlias, cast

from situate.enrichment.exchange import Body, Parameters, Rendered, Reply, Stop
from situate.errors import ProviderError, Unanswered
from situate.usage import Usage

if TYPE_CHECKING:
    from situate.model import JsonValue


@dataclass(frozen=True, slots=True, kw_only=True)
class Raw:
    """A raw reply body, sent back as it is: HTML, half a JSON text."""

    text: str


Answer: TypeAlias = str | Reply | Raw | ProviderError
"""A sentence, a whole reply, a raw one, or an error to raise."""

Script: TypeAlias = Callable[[Body], Answer | Awaitable[Answer]] | Iterable[Answer]
"""Gives the answer to a body, at once or awaited, or lists them in order."""


class ScriptedProvider:
    """Answers from a script and remembers what it was asked."""

    def __init__(
        self,
        script: Script,
        *,
        name: str = "scripted",
        endpoint: str = "scripted",
        model: str = "scripted-model",
    ) -> None:
        """Take the script; `model` is who answers, whoever is asked."""
        self.name = name
        self.endpoint = endpoint
        self.bodies: list[Body] = []
        self.closed = False
        self._model = model
        self._script = script if callable(script) else _in_turn(script)

    def render(self, rendered: Rendered, parameters: Parameters) -> Body:
        """Give the three parts and the parameters under their own names."""
        body: dict[str, JsonValue] = {
            "model": parameters.model,
            "max_output_tokens": parameters.max_output_tokens,
            "system": rendered.system,
            "document": rendered.document,
            "chunk": rendered.chunk,
        }
        if parameters.keys:
            body["keys"] = list(parameters.keys)
        return {k: value for k, value in body.items() if k not in parameters.dropped}

    def check(self) -> None:
        """Find nothing wrong: a script needs no key."""

    async def send(self, body: Body) -> str:
        """Give the next answer of the script, or raise it."""
        self.bodies.append(body)
        answer = self._script(body)
        if inspect.isawaitable(answer):
            answer = await answer
        match answer:
            case ProviderError():
                raise answer
            case Raw(text=text):
                return text
            case str():
                # About four letters to a token; no test should care.
                usage = Usage(
                    uncached_input=len(json.dumps(dict(body))) // 4,
                    output=len(answer) // 4,
                )
                answer = Reply(text=answer, stop="end", usage=usage, model=self._model)
        return json.dumps(asdict(answer), ensure_ascii=True)

    def parse(self, raw: str) -> Reply:
        """Read what `send` gave."""
        try:
            fields = json.loads(raw)
            usage = fields["usage"]
            return Reply(
                text=fields["text"],
                stop=cast("Stop", fields["stop"]),
                usage=None if usage is None else Usage(**usage),
                model=fields["model"],
            )
        except (ValueError, TypeError, KeyError) as error:
            message = f"the scripted reply is no reply: {error.__class__.__name__}"
            raise Unanswered(message, usage=Usage()) from error

    async def close(self) -> None:
        """Note that nobody will ask again."""
        self.closed = True


def _in_turn(answers: Iterable[Answer]) -> Callable[[Body], Answer]:
    remaining = iter(answers)

    def next_answer(body: Body) -> Answer:
        try:
            return next(remaining)
        except StopIteration:
            chunk = str(body.get("chunk"))
            message = f"the script has no answer left for {chunk[:60]!r}"
            raise AssertionError(message) from None

    return next_answer
