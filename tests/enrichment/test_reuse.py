"""What is asked again after an edit (E4): only the section that changed."""

from __future__ import annotations

import asyncio
import json
from typing import TYPE_CHECKING, Any

import pytest

from situate.chunking import Rules, chunk
from situate.enrichment.cache import Cache
from situate.enrichment.live import Session
from situate.enrichment.plan import plan
from situate.enrichment.providers.anthropic import AnthropicProvider
from situate.enrichment.providers.scripted import ScriptedProvider
from situate.pricing import load_models
from situate.prompts import load_prompt
from situate.readers import read
from tests.enrichment.scenes import COUNTER, facts, marked_texts, reply, settings

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

    from situate.enrichment.exchange import Body
    from situate.model import Chunk

SECTIONS = 100
_WORDS = "premium claim renewal notice deposit waiver transfer surcharge appeal refund"


def _source(*, edit: Callable[[list[str]], None] | None = None, above: str = "") -> str:
    parts = []
    for number in range(SECTIONS):
        word = _WORDS.split()[number % 10]
        parts.append(
            f"## Case {number}\n\n"
            + f"The {word} of case {number} is settled by the office in charge. " * 4
            + f"\n\n- It lists the {word} first.\n- It closes the case {number} then."
        )
    if edit is not None:
        edit(parts)
    return f"{above}# Handbook\n\n" + "\n\n".join(parts) + "\n"


class _Model:
    """Gives every chunk a sentence of its own and keeps what it was asked about."""

    def __init__(self) -> None:
        self.asked: list[str] = []
        self.provider = ScriptedProvider(self._answer)

    def _answer(self, body: Body) -> Any:
        if "keys" in body:
            shown = marked_texts(body)
            self.asked += shown.values()
            return reply(json.dumps({str(n): _said(t) for n, t in shown.items()}))
        text = str(body["chunk"]).split("\n\n", 2)[2].partition("\n</chunk-")[0]
        self.asked.append(text)
        return reply(_said(text))


def _said(text: str) -> str:
    heading = text.splitlines()[0].removeprefix("## ")
    return f"People who look for help with {heading} learn who decides about it."


def _run(
    directory: Path, source: str, **changes: Any
) -> tuple[list[str], Sequence[Chunk]]:
    """Enrich a source; give what was asked about and the chunks."""
    model = _Model()
    document = read(source.encode(), "handbook.md").document
    chunks = chunk(document, Rules(max_tokens=128), COUNTER)
    chosen = settings(**{"view": "marked", **changes})

    async def session(cache: Cache) -> Sequence[Chunk]:
        async with Session(
            settings=chosen,
            prompt=load_prompt(chosen.prompt),
            provider=model.provider,
            cache=cache,
            ledger=None,
            counter=COUNTER,
            facts=facts(),
        ) as open_session:
            return await open_session.enrich(document, chunks)

    with Cache(directory / "cache") as cache:
        return model.asked, asyncio.run(session(cache))


def _reword(parts: list[str]) -> None:
    parts[50] = parts[50].replace("is settled by", "is decided by", 1)


def _insert(parts: list[str]) -> None:
    parts.insert(
        30, "## A new case\n\n" + "Nobody knew of this case before today. " * 5
    )


def _remove(parts: list[str]) -> None:
    del parts[70]


@pytest.mark.parametrize(
    ("edit", "above", "expected"),
    [
        pytest.param(_reword, "", ["## Case 50"], id="sentence"),
        pytest.param(_insert, "", ["## A new case"], id="heading"),
        pytest.param(_remove, "", [], id="removed"),
        pytest.param(None, "---\neffective_to: 2027-01-01\n---\n", [], id="date"),
        pytest.param(None, "---\nowner: legal\n---\n", [], id="own-key"),
    ],
)
def test_an_edit_asks_about_its_section_alone(
    tmp_path: Path,
    edit: Callable[[list[str]], None] | None,
    above: str,
    expected: list[str],
) -> None:
    """With reuse = "section" the other 99 sections cost nothing."""
    first, _ = _run(tmp_path, _source())

    again, chunks = _run(tmp_path, _source(edit=edit, above=above))

    assert len(first) >= SECTIONS
    assert [text.splitlines()[0] for text in again] == expected
    assert all(each.statement for each in chunks)


def test_by_request_an_edit_asks_about_everything_that_was_shown_with_it(
    tmp_path: Path,
) -> None:
    """With reuse = "request" an answer serves for the same question alone."""
    first, _ = _run(tmp_path, _source(), view="full", reuse="request")

    again, _ = _run(tmp_path, _source(edit=_reword), view="full", reuse="request")

    assert len(again) == len(first)


def test_a_reused_answer_that_fails_the_gate_is_asked_anew(tmp_path: Path) -> None:
    """E4: E8 judges an old answer against what would be shown now."""
    _run(tmp_path, _source(), statement_max_tokens=60)
    said = _said("## Case 7")

    def copied(parts: list[str]) -> None:
        parts[8] += f"\n\n{said}"

    again, _ = _run(tmp_path, _source(edit=copied))

    assert [text.splitlines()[0] for text in again[:2]] == ["## Case 7", "## Case 8"]


def test_answers_of_an_accepted_model_serve(tmp_path: Path) -> None:
    """With accept_models a change of model is no reason to pay for everything again."""
    first, _ = _run(tmp_path, _source(), model="old-model")

    refused, _ = _run(tmp_path, _source(), model="new-model")
    accepted, chunks = _run(
        tmp_path, _source(), model="newest-model", accept_models=("old-model",)
    )

    assert len(refused) == len(first)
    assert accepted == []
    assert all(each.statement for each in chunks)


@pytest.mark.parametrize("before", ["claude-haiku-4-5", "claude-opus-5-5"])
def test_models_that_are_asked_differently_accept_each_other(before: str) -> None:
    """E4, E11: how a model wants to be asked is no part of what was answered."""
    one, other = (
        _section_keys(model=before),
        _section_keys(model="claude-haiku-5-5", accept_models=(before,)),
    )

    assert one[0] == other[1]
    assert one[0] != other[0]


def _section_keys(**changes: Any) -> tuple[str, ...]:
    document = read(_source().encode(), "handbook.md").document
    model = load_models().facts("anthropic", changes["model"])
    found = plan(
        chunk(document, Rules(max_tokens=128), COUNTER),
        document,
        settings=settings(provider="anthropic", **changes),
        prompt=load_prompt("findable-v1"),
        provider=AnthropicProvider(facts=model, base_url=None, timeout_seconds=1),
        facts=model,
        counter=COUNTER,
    )
    return found.passages[0].section_keys


def test_answers_serve_their_own_document_alone(tmp_path: Path) -> None:
    """E4: within one doc_id, in this key alone."""
    _run(tmp_path, _source())

    def everywhere(parts: list[str]) -> None:
        del parts[70], parts[5]

    other = _source(above="---\ndoc_id: other\n---\n", edit=everywhere)
    again, _ = _run(tmp_path, other)

    assert len(again) >= SECTIONS - 2
