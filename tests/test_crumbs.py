"""A breadcrumb line taken apart: what stands in it whole, cut, or not at all."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from situate.chunking import Rules, chunk
from situate.model import Metadata
from situate.pipeline.looking.crumbs import crumbs_of
from situate.tokens import load_counter
from tests.support.documents import document, paragraph, section
from tests.support.strategies import documents

if TYPE_CHECKING:
    from situate.model import Document

COUNTER = load_counter("cl100k_base")
NESTED = document(
    section(
        "Everything there is to know about leave",
        section("Days", section("Abroad", paragraph("The office decides."))),
    ),
    metadata=Metadata(title="Handbook of the company", doc_type="policy"),
)


def crumbs(cut: Document, prefix: int) -> tuple[str, list[tuple[str, str, str]]]:
    """Give the line of the last leaf, and its parts."""
    last = chunk(cut, Rules(prefix_max_tokens=prefix, min_tokens=0), COUNTER)[-1]
    return last.breadcrumb_line, [
        (each.kind, each.text, each.shown) for each in crumbs_of(last)
    ]


def test_a_line_that_fits_is_whole() -> None:
    """Type, title and headings in their order."""
    assert crumbs(NESTED, 96)[1] == [
        ("doc_type", "policy", "whole"),
        ("title", "Handbook of the company", "whole"),
        ("heading", "Everything there is to know about leave", "whole"),
        ("heading", "Days", "whole"),
        ("heading", "Abroad", "whole"),
    ]


def test_outer_crumbs_that_gave_way_are_named() -> None:
    """The line holds an ellipsis in their place."""
    line, found = crumbs(NESTED, 10)

    assert line == "[policy] … > Days > Abroad"
    assert [shown for _, _, shown in found] == [
        *("whole", "left out", "left out", "whole", "whole"),
    ]


def test_a_title_that_is_the_first_heading_is_one_part() -> None:
    """As it stands in the line once."""
    cut = document(
        section("Leave", paragraph("Ask.")), metadata=Metadata(title="Leave")
    )

    assert crumbs(cut, 96)[1] == [("title", "Leave", "whole")]


@pytest.mark.parametrize("prefix", [4, 6])
def test_a_heading_that_was_cut_is_told_from_one_that_was_not(prefix: int) -> None:
    """It ends in an ellipsis."""
    cut = document(
        section("Everything there is to know about leave", paragraph("Ask."))
    )

    line, found = crumbs(cut, prefix)

    assert line.endswith("…")
    assert found[-1][2] == "shortened"


@given(documents, st.integers(0, 60), st.sampled_from([None, "policy", "a b"]))
def test_the_parts_of_any_line_make_it_up(
    cut: Document, prefix: int, doc_type: str | None
) -> None:
    """What is whole stands in it in order; a line of whole parts is their join."""
    typed = replace(cut, metadata=Metadata(doc_type=doc_type, title="The handbook"))
    for each in chunk(typed, Rules(prefix_max_tokens=prefix), COUNTER):
        found = crumbs_of(each)

        at = 0
        for crumb in found:
            if crumb.shown == "whole":
                text = " ".join(crumb.text.split())
                at = each.breadcrumb_line.index(text, at) + len(text)
        if all(crumb.shown == "whole" for crumb in found):
            held = each.metadata.doc_type
            bracket = [f"[{held}]"] if held else []
            names = [" ".join(c.text.split()) for c in found if c.kind != "doc_type"]
            assert each.breadcrumb_line == " ".join([*bracket, " > ".join(names)])
