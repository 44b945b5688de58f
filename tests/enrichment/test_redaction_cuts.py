"""No part of what is hidden stays where a text was cut or shortened inside of it."""

from __future__ import annotations

from dataclasses import replace
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from situate.chunking import Rules, chunk
from situate.enrichment.redaction import MARK, Redaction, Shown, redacted
from situate.model import leaf_ids, walk
from situate.readers import read
from situate.tokens import load_counter
from tests.enrichment.scenes import planned
from tests.support.secret_documents import (
    EXPRESSIONS,
    SECRETS,
    TELLING,
    secret_document,
)

COUNTER = load_counter("cl100k_base")
ACCOUNT = "QX89 3704 0044 0532 0130 77"
HIDING = Redaction.of(EXPRESSIONS)
ROOMS = st.sampled_from([(32, 16), (32, 96), (48, 24), (96, 96)])
"""Tokens of a chunk and of a breadcrumb line."""


def shown(text: str, rooms: tuple[int, int], hiding: Redaction = HIDING) -> Shown:
    """Cut a Markdown document as told and hide what is secret in it."""
    document = read(text.encode(), "secret.md").document
    rules = Rules(max_tokens=rooms[0], min_tokens=0, prefix_max_tokens=rooms[1])
    chunks = chunk(document, rules, COUNTER, corpus="tests")
    return redacted(document, chunks, hiding, COUNTER)


def telling(found: Shown) -> list[tuple[str, str]]:
    """Give words of secrets that a model may be shown, each with where it stands."""
    texts: list[str] = []
    leaves = leaf_ids(found.chunks)
    for leaf in found.chunks:
        if leaf.chunk_id in leaves:
            texts += [leaf.text, leaf.breadcrumb_line, *leaf.breadcrumb]
            texts.append(leaf.metadata.title or "")
    for section, _ in walk(found.document.root):
        texts += [section.title, *(block.text for block in section.blocks)]
    return [(word, text) for text in texts for word in TELLING if word in text]


LABEL = f"{ACCOUNT} too the the large account of large"
TABLE = f"# Balances\n\n| {LABEL} |\n|---|\n| is |\n| and is |\n| others too |\n"


def test_a_label_that_is_shortened_inside_of_a_secret_shows_nothing_of_it() -> None:
    """Neither the chunk itself nor as a neighbour; the rest of the table may be seen.

    The first piece has the header whole, so that counting finds nothing missing.
    """
    found = shown(TABLE, (32, 96))

    requests = planned(found.document, found.chunks, view="window").requests

    assert telling(found) == []
    assert requests
    assert all("QX89" not in str(request.body) for request in requests)
    assert any("[redacted] too the" in leaf.text for leaf in found.chunks)


def test_a_heading_that_is_shortened_shows_nothing_where_a_line_has_it_whole() -> None:
    """A heading says a secret twice, and is cut inside of the second."""
    heading = f"{ACCOUNT} and on the ways of everybody {ACCOUNT} with the rest"
    text = f"# A\n\nText.\n\n# {heading}\n\nMore of it.\n"

    lines = [
        shown(text, (512, room)).chunks[-1].breadcrumb_line for room in range(16, 70)
    ]

    assert [line for line in lines for word in TELLING if word in line] == []
    assert {f"{MARK} and on the ways of everybody …", MARK} < set(lines[8:])


@pytest.mark.parametrize("words", [("the", "rule"), ("QX", "77", "00")])
def test_a_shortened_line_that_is_cut_elsewhere_stays(words: tuple[str, ...]) -> None:
    """A mark of what is left out says nothing of what was hidden."""
    heading = f"{ACCOUNT} " + " ".join(words * 30)
    text = f"# A\n\nText.\n\n# {heading}\n\nMore of it.\n"

    line = shown(text, (512, 32)).chunks[-1].breadcrumb_line

    assert line.startswith(MARK)
    assert line.endswith(" …")
    assert len(line) > len(MARK) + 10


def test_a_value_that_is_cut_shows_nothing_though_its_header_says_it_whole() -> None:
    """Pieces repeat their label, which stands for what is missing in a count."""
    value = f"{'balance ' * 20}{ACCOUNT} {'account ' * 20}"
    text = f"# A\n\n| {ACCOUNT} | b |\n|---|---|\n| {value} | 1 |\n| {value} | 2 |\n"

    for tokens in range(32, 64):
        assert telling(shown(text, (tokens, 96))) == []


@given(
    st.integers(0, 14), st.integers(0, 30), st.sampled_from(SECRETS), ROOMS, st.data()
)
def test_wherever_a_secret_stands_in_a_label_or_heading_nothing_of_it_is_shown(
    before: int,
    after: int,
    secret: str,
    rooms: tuple[int, int],
    data: st.DataObject,
) -> None:
    """However long what stands around it."""
    label = " ".join(["balance"] * before + [secret] + ["others"] * after)
    cells = data.draw(st.lists(st.integers(1, 30), min_size=1, max_size=3))
    rows = "".join(f"| {'and ' * cell}is |\n" for cell in cells)
    text = f"# {secret}\n\n| {label} |\n|---|\n{rows}\n\n## {label}\n\nWhat is left.\n"

    assert telling(shown(text, rooms)) == []


@given(st.integers(0, 2**32), ROOMS)
def test_nothing_of_any_secret_is_shown_of_any_document(
    seed: int, rooms: tuple[int, int]
) -> None:
    """Of headings, paragraphs, lists, tables, code and quotations."""
    chance = Random(seed)  # noqa: S311 - draws documents, not secrets

    text = secret_document(chance, lambda secret: secret)

    assert telling(shown(text, rooms)) == []


def test_a_document_of_whole_blocks_loses_nothing_else() -> None:
    """What ends as a secret begins stays where nothing was cut."""
    text = f"# A\n\nThe {ACCOUNT} is one.\n\nThis is of QX89\n\n- 77 of it\n"
    document = read(text.encode(), "secret.md").document
    document = replace(document, metadata=replace(document.metadata, title="QX89"))
    chunks = chunk(document, Rules(max_tokens=512), COUNTER, corpus="tests")

    (leaf,) = redacted(document, chunks, HIDING, COUNTER).chunks

    assert leaf.text == text.replace(ACCOUNT, MARK).strip()
