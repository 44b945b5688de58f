"""What a model is shown: windows, neighbours, outlines, and who chooses."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from situate.chunking import Rules, chunk
from situate.enrichment import views
from situate.enrichment.plan import plan
from situate.enrichment.providers.scripted import ScriptedProvider
from situate.model import walk
from situate.prompts import load_prompt
from situate.readers import read
from tests.enrichment.scenes import (
    COUNTER,
    chunks_of,
    document,
    facts,
    planned,
    settings,
    texts,
)

if TYPE_CHECKING:
    from situate.enrichment.plan import DocumentPlan
    from situate.model import Chunk

LEAF = chunks_of(document(*texts(2)))[0]
WITH_OBJECTS = facts(structured_output="output_config")


def _leaves(sizes: list[tuple[int, int]]) -> list[Chunk]:
    return [
        replace(LEAF, token_count=size, breadcrumb=("Title",) * depth)
        for size, depth in sizes
    ]


def _plan(source: str, **changes: Any) -> DocumentPlan:
    read_document = read(source.encode(), "book.md").document
    return plan(
        chunk(read_document, Rules(max_tokens=256), COUNTER),
        read_document,
        settings=settings(**changes),
        prompt=load_prompt("findable-v1"),
        provider=ScriptedProvider([]),
        facts=WITH_OBJECTS,
        counter=COUNTER,
    )


def _book(sections: int, *, repeat: int = 12) -> str:
    parts = [
        f"## Case {number}\n\n"
        + f"The office settles case {number} by itself. " * repeat
        for number in range(sections)
    ]
    return "# Book\n\n" + "\n\n".join(parts)


@given(
    st.lists(st.tuples(st.integers(1, 2_000), st.integers(1, 4)), max_size=200),
    st.sampled_from([None, 4_000, 32_000, 1_000_000]),
)
def test_windows_tile_a_document_within_their_limits(
    sizes: list[tuple[int, int]], context: int | None
) -> None:
    """Every leaf is in exactly one window, in order, and none is too long."""
    leaves = _leaves(sizes)
    about = facts(context_window=context)

    found = views.windows(leaves, about)

    assert [index for window in found for index in window] == list(range(len(leaves)))
    most = min(views.WINDOW_TOKENS, (context or 10**9) // 3)
    for window in found:
        tokens = sum(leaves[i].token_count + views.MARKER_TOKENS for i in window)
        assert len(window) <= views.MOST_MARKED
        assert tokens <= most or len(window) == 1


def test_windows_are_about_equally_long() -> None:
    """A document a little above the limit is no window and a crumb."""
    leaves = _leaves([(500, 2)] * 18)

    first, second = views.windows(leaves, facts())

    assert abs(len(first) - len(second)) <= 2


@given(
    st.lists(
        st.tuples(st.integers(20, 512), st.integers(1, 4)), min_size=2, max_size=200
    )
)
def test_no_window_is_a_crumb(sizes: list[tuple[int, int]]) -> None:
    """As few windows as there can be, or one more; each with its share of the whole."""
    leaves = _leaves(sizes)

    found = views.windows(leaves, facts())

    tokens = [sum(leaves[i].token_count + 9 for i in window) for window in found]
    least = max(-(-sum(tokens) // views.WINDOW_TOKENS), -(-len(leaves) // 64))
    assert len(found) <= least + 1
    if len(found) == least:
        share = min(sum(tokens) / len(found), len(leaves) / len(found) * 29)
        assert min(tokens) >= share / 4


def test_a_window_closes_where_a_main_heading_begins() -> None:
    """Neighbours stay together where there is a choice."""
    leaves = _leaves([(100, 1 if index % 33 == 0 else 3) for index in range(66)])

    assert views.windows(leaves, facts()) == [range(33), range(33, 66)]


@pytest.mark.parametrize(
    ("structured", "length", "expected"),
    [
        ("output_config", 3, "marked"),
        ("response_format", 60, "marked"),
        ("none", 3, "full"),
        ("none", 60, "window"),
    ],
)
def test_auto_picks_by_length_and_model(
    structured: str, length: int, expected: str
) -> None:
    """Marking where a model can be held to an object, else what is cheapest."""
    source = document(*(" ".join(texts(8)) for _ in range(length)))

    about = facts(structured_output=structured)

    (part,) = planned(source, about=about).parts
    assert part.view == expected


@pytest.mark.parametrize("view", ["marked", "window"])
def test_a_long_document_is_never_shown_whole(view: str) -> None:
    """Scene L15: what is sent grows with the document, never with its square."""
    small, large = _plan(_book(29), view=view), _plan(_book(1_000), view=view)

    most = max(request.input_tokens for request in large.requests)
    assert most < views.WINDOW_TOKENS * 1.2
    assert large.input_tokens < 40 * small.input_tokens


def test_marked_pays_for_a_document_about_once() -> None:
    """Scene L15: instructions, markers and outline are little beside the text."""
    result = _plan(_book(300, repeat=25), view="marked")

    tokens = COUNTER.count(result.parts[0].document_text)
    assert tokens < result.input_tokens < 1.15 * tokens


def test_a_part_stands_below_the_headings_of_the_whole() -> None:
    """A model that sees a window knows what it is a window of."""
    first, *_, last = _plan(_book(120), view="marked").requests

    shown = [first.rendered.document, last.rendered.document]
    assert "Headings of the whole document:\n- Book" in shown[1]
    assert "[...]" not in shown[0].partition("].1]")[0].partition("Book")[0]
    assert shown[0].rstrip().splitlines()[-2:-1] != shown[1].splitlines()[-2:-1]
    assert "[...]" in shown[0]
    assert "[...]" in shown[1]


def test_too_many_headings_leave_the_deepest_out() -> None:
    """The outline is bounded whatever the document."""
    deep = "# Book\n\n" + "\n\n".join(
        f"## Part {n}\n\n"
        + "\n\n".join(f"### Case {n}.{m}\n\nText." for m in range(20))
        for n in range(20)
    )

    root = read(deep.encode(), "deep.md").document.root
    outline = views.outline_of([section for section, _ in walk(root)], COUNTER)

    assert "- Part 19" in outline
    assert "Case 3.3" not in outline
    assert COUNTER.count(outline) < 400


def test_a_chunk_alone_is_shown_between_its_neighbours() -> None:
    """The view `window` holds what is around the chunk, and the chunk once."""
    requests = _plan(_book(60), view="window").requests

    middle = requests[30].rendered
    assert "case 29 by itself" in middle.document
    assert "case 31 by itself" in middle.document
    assert "case 30 by itself" not in middle.document
    assert "case 30 by itself" in middle.chunk
    assert "case 10 by itself" not in middle.document


@pytest.mark.parametrize(
    ("chosen", "written"),
    [
        ([1], "1"),
        ([1, 2, 3], "1-3"),
        ([1, 3, 4, 5, 9], "1, 3-5, 9"),
        ([7, 8, 40], "7-8, 40"),
    ],
)
def test_numbers_are_written_as_people_do(chosen: list[int], written: str) -> None:
    """Ranges cost fewer tokens than lists."""
    assert views.numbers(chosen) == written


def test_nothing_binary_is_shown() -> None:
    """Scene L17: data URIs stay at home, and encoded data is not asked about."""
    encoded = "QUJD" * 200
    source = (
        f"# Logo\n\n![The logo](data:image/png;base64,{encoded})\n\n"
        f"It is shown on every page of the printed rules.\n\n## Key\n\n{encoded * 3}\n"
    )

    result = _plan(source, view="full")

    assert all(encoded not in r.rendered.chunk for r in result.requests)
    assert "data:" not in result.parts[0].document_text
    assert "no_prose" in result.skipped.values()
