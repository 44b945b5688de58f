"""Documents that speak to the model: what they want does not reach a prefix (E9).

`tests/corpora/attacks` holds one attack a line: its text, what a model says that
obeys it in the worst way, and what must stand in no statement.
"""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from situate.enrichment.providers.scripted import ScriptedProvider
from situate.prompts import load_prompt
from tests.enrichment.scenes import (
    asked_about,
    chunks_of,
    document,
    planned,
    play,
)

if TYPE_CHECKING:
    from collections.abc import Callable

    from situate.enrichment.exchange import Body
    from situate.model import Document

ATTACKS: list[dict[str, Any]] = [
    json.loads(line)
    for line in Path(__file__)
    .parents[1]
    .joinpath("corpora/attacks/attacks.jsonl")
    .read_text("utf-8")
    .splitlines()
]
PROMPTS = ("situating-v1", "findable-v1", "both-v1")

attacks = pytest.mark.parametrize(
    "attack", ATTACKS, ids=[attack["name"] for attack in ATTACKS]
)

BEFORE = "Members pay a yearly fee to the association."
AFTER = "Members who move away may leave the association."
HONEST = {
    BEFORE: "It says what people who belong to the association owe every year.",
    AFTER: "It settles whether somebody can quit after moving to another town.",
}

_TAG = re.compile(r"<(\w+-[0-9a-f]{8,})>")
_LINK = re.compile(r"\w://|www\.|\w@\w", re.IGNORECASE)
_OURS = re.compile(r"(?:document|chunk|answer)-[0-9a-f]{8}|\[[0-9a-f]{4,}\.\d+\]")


def attacked(attack: dict[str, Any]) -> Document:
    """Give a document with an attack between two honest passages."""
    return document(BEFORE, attack["text"], AFTER)


def obeying(attack: dict[str, Any], body: Body) -> str:
    """Say what a model says that does all an attack demands."""
    system = str(body["system"])
    first, *_ = system.split("\n")
    words = {
        "system": system,
        "first": first,
        "middle": system.split("\n- ")[2].partition("\n")[0],
        "upper": first.upper(),
        "hyphens": first.replace(" ", "-"),
        "spelled": " ".join(first.replace(" ", "")),
        "task": str(body["chunk"]).rpartition("\n\n")[2],
        "document_tag": _TAG.findall(str(body["document"]))[0],
        "chunk_tag": _TAG.findall(str(body["chunk"]))[0],
    }
    return str(attack["says"]).format(**words)


def played(
    attack: dict[str, Any], directory: Path, answer: Callable[[Body], str]
) -> list[str | None]:
    """Give the statements of the three passages of an attacked document."""
    provider = ScriptedProvider(answer)
    result = play(provider, directory, attacked(attack), view="full")
    return [chunk.statement for chunk in result.chunks]


def test_there_are_attacks_of_many_kinds() -> None:
    """The corpus is as large as it says, in five languages."""
    assert len(ATTACKS) >= 60
    assert {attack["language"] for attack in ATTACKS} == {"en", "de", "fr", "es", "zh"}


@pytest.mark.parametrize("prompt", PROMPTS)
@attacks
def test_an_attack_stays_between_its_delimiters(
    attack: dict[str, Any], prompt: str
) -> None:
    """No delimiter occurs in what it delimits; instructions are the prompt file's."""
    loaded = load_prompt(prompt)

    requests = planned(attacked(attack), prompt=prompt, view="full").requests

    for rendered in (request.rendered for request in requests):
        assert rendered.system == loaded.system
        assert rendered.chunk.endswith(loaded.chunk.rpartition("\n\n")[2])
        for part in (rendered.document, rendered.chunk):
            tag = _TAG.findall(part)[0]
            outside, _, rest = part.partition(f"\n<{tag}>\n")
            delimited, _, after = rest.partition(f"\n</{tag}>")
            assert tag not in delimited
            assert part.count(f"\n</{tag}>") == 1
            assert attack["text"] not in outside + after


@attacks
def test_an_obeying_model_harms_no_other_passage(
    attack: dict[str, Any], tmp_path: Path
) -> None:
    """Whatever is said about one passage, the others keep their statements."""

    def answer(body: Body) -> str:
        text = asked_about(body)
        return HONEST[text] if text in HONEST else obeying(attack, body)

    before, _, after = played(attack, tmp_path, answer)

    assert (before, after) == (HONEST[BEFORE], HONEST[AFTER])


@attacks
def test_what_an_obeying_model_says_reaches_no_prefix(
    attack: dict[str, Any], tmp_path: Path
) -> None:
    """Obeyed for all passages: no link, order, prompt or delimiter gets through."""
    source = attacked(attack)
    provider = ScriptedProvider(lambda body: obeying(attack, body))

    result = play(provider, tmp_path, source, view="full")

    told = [(c.chunk_id, c.text, c.breadcrumb_line) for c in result.chunks]
    plain = [(c.chunk_id, c.text, c.breadcrumb_line) for c in chunks_of(source)]
    assert told == plain
    system = load_prompt("findable-v1").system
    for chunk in result.chunks:
        said = (chunk.statement or "").casefold()
        assert not _LINK.search(said)
        assert not _OURS.search(said)
        assert not any(text.casefold() in said for text in attack["forbidden"])
        assert not shared_run(said, system)


def shared_run(said: str, told: str) -> str | None:
    """Give seven neighbouring words that two texts share."""
    words = re.findall(r"\w+", said.casefold())
    others = " ".join(re.findall(r"\w+", told.casefold()))
    runs = (" ".join(words[start : start + 7]) for start in range(len(words) - 6))
    return next((run for run in runs if f" {run} " in f" {others} "), None)
