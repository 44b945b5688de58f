"""States are read back as they were written, or not at all."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from situate.errors import RecordError
from situate.index.lines import (
    pending_lines,
    read_pending,
    read_state,
    state_lines,
)
from situate.index.state import DocumentState, Hashes, Pending, State

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

texts = st.text(st.characters(exclude_categories=["Cs"]), max_size=8)
hashes = st.builds(Hashes, texts, texts, texts, texts, texts, st.booleans())
states = st.builds(
    DocumentState,
    doc_id=texts,
    path=texts,
    names_itself=st.booleans(),
    input=texts,
    config=texts,
    version=texts,
    metadata_hash=texts,
    records=texts,
    chunks=st.dictionaries(texts, hashes, max_size=3),
    access=st.dictionaries(texts, texts | st.lists(texts, max_size=2), max_size=2),
    withheld=st.frozensets(texts, max_size=2),
)
documents = st.lists(states, max_size=3).map(
    lambda found: {each.doc_id: each for each in found}
)
unsure = st.dictionaries(texts, st.frozensets(st.none() | hashes, max_size=3))


def numbered(lines: Iterable[bytes]) -> Iterator[tuple[str, bytes]]:
    """Give lines as they are read."""
    for number, line in enumerate(lines, 1):
        yield f"state:{number}", line


@given(known=documents, number=st.integers(0, 9), run=st.none() | texts, beside=unsure)
def test_a_state_survives_its_file(
    known: dict[str, DocumentState],
    number: int,
    run: str | None,
    beside: dict[str, frozenset[Hashes | None]],
) -> None:
    """All of it, in one line for each document and each chunk beside them."""
    state = State(number=number, run=run, corpus=run, documents=known, surplus=beside)

    lines = list(state_lines(state))

    assert read_state(numbered(lines), "state") == state
    assert len(lines) == 2 + len(known) + len(beside)


@given(known=documents, doubts=unsure, allowed=st.integers(0, 9))
def test_a_pending_delta_survives_its_file(
    known: dict[str, DocumentState],
    doubts: dict[str, frozenset[Hashes | None]],
    allowed: int,
) -> None:
    """What a store may have is part of it."""
    pending = Pending(
        base=3,
        run="abc",
        corpus="handbook",
        documents=known,
        unsure=doubts,
        surplus=frozenset(list(doubts)[:1]),
        allowed=allowed,
    )

    assert read_pending(numbered(pending_lines(pending)), "state") == pending


STATE = list(
    state_lines(
        State(
            number=1,
            run="abc",
            documents={
                "a.md": DocumentState(
                    doc_id="a.md",
                    path="docs/a.md",
                    names_itself=False,
                    input="1",
                    config="2",
                    version="3",
                    metadata_hash="4",
                    records="5",
                    chunks={"a.md:a": Hashes("1", "2", "3", "4", "5")},
                )
            },
        )
    )
)


@pytest.mark.parametrize(
    ("lines", "told"),
    [
        pytest.param([], "state: ends too early", id="empty"),
        pytest.param(STATE[:1], "state: ends too early", id="cut"),
        pytest.param(STATE[:-1], "state: ends too early", id="cut at a line"),
        pytest.param([*STATE, STATE[1]], "more lines", id="longer"),
        pytest.param(
            [STATE[0], STATE[1].replace(b'"path":"docs', b'"path":"dogs'), STATE[2]],
            "state:3: the lines before it are not what was written",
            id="another byte",
        ),
        pytest.param(
            [*STATE[:2], STATE[2].replace(b"}", b" }")],
            "state:3: the lines before it",
            id="another last line",
        ),
        pytest.param(
            [STATE[0].replace(b'"schema":1', b'"schema":2'), STATE[1]],
            "schema is 2; this situate reads 1",
            id="other schema",
        ),
        pytest.param(
            [STATE[0], STATE[1].replace(b'"path"', b'"doc_id"')],
            "stands twice",
            id="a key twice",
        ),
        pytest.param(
            [STATE[0], STATE[1].replace(b'["1",', b"[")],
            "five hashes",
            id="a hash less",
        ),
        pytest.param(
            [STATE[0], STATE[1].replace(b'"5",true]', b'"5"]')],
            "five hashes",
            id="no word of embedding",
        ),
        pytest.param([STATE[0], STATE[1][:-5]], "not a line of JSON", id="half"),
        pytest.param([STATE[0], b"\xff\n"], "not a line of JSON", id="no text"),
    ],
)
def test_a_state_that_is_not_whole_is_refused(lines: list[bytes], told: str) -> None:
    """Guessing what a store holds is worse than asking a person."""
    with pytest.raises(RecordError, match=told):
        read_state(numbered(lines), "state")


@given(place=st.integers(0, len(b"".join(STATE)) - 1), bit=st.integers(0, 7))
def test_a_bit_that_flips_is_noticed(place: int, bit: int) -> None:
    """Wherever it is: a hash that is not that of a chunk would be sent, or not."""
    content = bytearray(b"".join(STATE))
    content[place] ^= 1 << bit

    with pytest.raises(RecordError):
        read_state(numbered(bytes(content).splitlines(keepends=True)), "state")
