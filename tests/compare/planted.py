"""Corpora in which it is known what a model's sentence is worth.

Every section of every document is about one thing of its own, named in two words
that no other section has together. Where the text names the thing, a question about
it is answered without any sentence; where it does not, nothing but a sentence can
answer it. The sentences come in as a model's would: from a cassette, through the
gate, below the headings.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from itertools import product
from typing import TYPE_CHECKING, Literal

from situate.config import load
from situate.enrichment.providers.replay import cassette_key
from situate.pipeline.jobs import ready
from tests.support.corpora import Corpus, Heard

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

Truth = Literal["wins", "loses", "ties"]
"""What the sentences are worth."""

SECTIONS = 6
"""Of each document."""

BUDGET = "40"
"""Tokens: one section and a part of the next, so that the first place decides."""

_COLOURS = (
    "amber", "azure", "black", "brown", "golden", "green", "grey", "orange", "pink",
    "purple", "scarlet", "silver", "white", "yellow",
)  # fmt: skip
_TOOLS = (
    "anvil", "bucket", "candle", "drum", "funnel", "hammer", "kettle", "ladder",
    "mirror", "nail", "oven", "pillow", "rope", "saw", "umbrella",
)  # fmt: skip
THINGS = tuple(f"{colour} {tool}" for colour, tool in product(_COLOURS, _TOOLS))

_ROUNDS = ("first", "second", "third", "fourth", "fifth", "sixth")


@dataclass(frozen=True, slots=True, kw_only=True)
class Planted:
    """A corpus with its questions, and what `compare` is to be called with."""

    corpus: Corpus
    questions: Path

    @property
    def arguments(self) -> tuple[str, ...]:
        """Of the command: both indexes hold the sentence, so both may profit."""
        return (
            "compare",
            str(self.corpus.config),
            *("--queries", str(self.questions)),
            *("--arms", "breadcrumb,breadcrumb+statement"),
            *("--statement-in", "both"),
            *("--retrievers", "bm25,dense"),
            *("--budget", BUDGET),
        )


def plant(
    folder: Path,
    truth: Truth,
    *,
    documents: int = 30,
    asked: int | None = None,
    drafted: bool = False,
) -> Planted:
    """Write documents, cassette and questions: one for each section, or `asked`.

    Those that the sentence decides come first, spread over the documents.
    """
    corpus = Corpus(folder=folder, name="planted").configure(
        chunking={"min_tokens": 0},
        enrichment={
            "enabled": True,
            "provider": "replay",
            "model": "claude-haiku-5-5",
            "prompt": "findable-v1",
            "view": "full",
            "replay": "cassette.jsonl",
        },
    )
    things = THINGS[: documents * SECTIONS]
    for number in range(documents):
        here = things[number * SECTIONS : (number + 1) * SECTIONS]
        corpus.document(f"{number:02}.md", _document(number, here, truth))
    record(corpus, [_sentence(number, things, truth) for number in range(len(things))])
    order = sorted(range(len(things)), key=lambda number: (number - 1) % SECTIONS)
    return Planted(
        corpus=corpus,
        questions=write_questions(
            folder / "questions.jsonl",
            [
                _question(number, things[number], truth) | {"drafted": drafted}
                for number in order[:asked]
            ],
        ),
    )


def write_questions(file: Path, rows: Sequence[dict[str, object]]) -> Path:
    """Write a question file."""
    file.write_text("".join(json.dumps(row) + "\n" for row in rows), "utf-8")
    return file


def record(corpus: Corpus, sentences: Sequence[str]) -> None:
    """Write the corpus's cassette: one sentence for each chunk, in reading order."""
    cassette = corpus.folder / "cassette.jsonl"
    cassette.touch()
    (job,) = ready(load([corpus.config], environment={}))
    plans = job.plans(job.sources(), Heard())
    requests = [request for plan in plans for request in plan.requests]
    replies = [
        {"key": cassette_key(request.body), "model": "planted", "text": sentence}
        for request, sentence in zip(requests, sentences, strict=True)
    ]
    cassette.write_text("".join(json.dumps(each) + "\n" for each in replies), "utf-8")


def _document(number: int, things: Sequence[str], truth: Truth) -> str:
    sections = "\n".join(
        f"## The {each} round\n\n{_evidence(number * SECTIONS + at, thing, truth)}\n"
        for at, (each, thing) in enumerate(zip(_ROUNDS, things, strict=True))
    )
    return f"# House {number + 1}\n\n{sections}"


def _evidence(number: int, thing: str, truth: Truth) -> str:
    """Give a section's words; every third names its thing whatever is planted."""
    named = truth != "wins" or number % 3 == 0
    it = f"the {thing}" if named else "it"
    return (
        f"In the {_ROUNDS[number % SECTIONS]} round whoever is on duty looks after "
        f"{it} and notes down what was done about {it}."
    )


def _sentence(number: int, things: Sequence[str], truth: Truth) -> str:
    """Give what a model says of a section."""
    if truth == "ties":
        return "People ask here what they have to do."
    said = things[number]
    if truth == "loses" and number % 3:
        # What a section of another document is about.
        said = things[(number + len(things) // 2) % len(things)]
    return f"People ask here for the {said}: who takes the {said}, the {said} again?"


def _question(number: int, thing: str, truth: Truth) -> dict[str, object]:
    evidence = _evidence(number, thing, truth)
    return {
        "qid": thing.replace(" ", "-"),
        "query": f"Who looks after the {thing}?",
        "gold": [{"doc_id": f"{number // SECTIONS:02}.md", "text": evidence}],
    }
