"""Which rule parted two leaves, as far as their records tell."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from situate.chunking import Rules, chunk
from situate.manifest import Sizes
from situate.model import Metadata, walk
from situate.pipeline.looking.edges import Surroundings, parted
from situate.tokens import load_counter
from tests.support.documents import bullets, code, document, paragraph, section, table
from tests.support.strategies import documents

if TYPE_CHECKING:
    from situate.model import Chunk, Document
    from situate.pipeline.looking.edges import Edge

COUNTER = load_counter("cl100k_base")
LONG = "The office decides about every case within a week. " * 12
SHORT = "Ask the office."


def sizes(rules: Rules) -> Sizes:
    """Give the sizes as a manifest has them."""
    return Sizes(
        tokenizer=COUNTER.name,
        granularity=rules.granularity,
        max_tokens=rules.max_tokens,
        min_tokens=rules.min_tokens,
        container_max_tokens=4 * rules.max_tokens,
        prefix_max_tokens=rules.prefix_max_tokens,
        reading_max_tokens=rules.reading_bound,
        statement_max_tokens=60,
    )


def edges(
    cut: Document, rules: Rules, *, known: bool = True
) -> list[tuple[Chunk, Chunk, Edge]]:
    """Cut a document, and explain every cut; not `known` is without files beside."""
    leaves = chunk(cut, rules, COUNTER)
    around = Surroundings(leaves=leaves)
    if known:
        around = Surroundings(
            leaves=leaves,
            kinds={
                block.block_id: block.kind
                for each, _ in walk(cut.root)
                for block in each.blocks
            },
            sizes=sizes(rules),
            counter=COUNTER,
        )
    return [
        (left, right, parted(left, right, around)) for left, right in pairwise(leaves)
    ]


RULES = Rules(max_tokens=100, min_tokens=32)

CUTS = {
    "sections": (
        document(
            section("One", paragraph(LONG[:400])),
            section("Two", table(["A"], [["b"]] * 20)),
        ),
        ("C1", "section boundary: s0 ends and s1 begins"),
    ),
    "table": (
        document(section("One", table(["Item", "Fee"], [["Bed", "12"]] * 60))),
        ("C4", "cut between its rows"),
    ),
    "list": (
        document(section("One", bullets(["Bring what is needed for it."] * 30))),
        ("C5", "cut between its items"),
    ),
    "code": (
        document(section("One", code(["run(what, is, needed)"] * 60))),
        ("C6", "cut between its lines"),
    ),
    "paragraph": (
        document(section("One", paragraph(LONG))),
        ("C1", "forced split inside paragraph s0#1: it alone does not fit"),
    ),
    "size": (
        document(section("One", paragraph(LONG[:400]), paragraph(LONG[:400]))),
        ("C3", "of section s0 fill chunks up to max_tokens 100"),
    ),
    "lead-in": (
        document(
            section(
                "One",
                paragraph(LONG[:350]),
                paragraph("Bring these things with you:"),
                bullets(["A bed that is long enough.", "A hat with a brim."] * 3),
            )
        ),
        ("C5", "s0#2 introduces list s0#3"),
    ),
    "run before a large section": (
        document(
            section("One", paragraph(SHORT)),
            section("Two", paragraph(SHORT)),
            section("Three", paragraph(LONG[:300])),
        ),
        ("C7", "a run of small sections closes at s2"),
    ),
    "small section below its parent": (
        document(
            section("One", paragraph(LONG[:300]), section("Below", paragraph(SHORT))),
        ),
        ("C7", "only below one parent"),
    ),
    "dates": (
        document(
            section(
                "One", paragraph(SHORT), metadata=Metadata(effective_to="2026-01-01")
            ),
            section("Two", paragraph(SHORT)),
        ),
        ("C12", "differs in effective_to"),
    ),
    "permissions": (
        document(
            section(
                "One", paragraph(SHORT), metadata=Metadata(custom={"acl_read": "a"})
            ),
            section("Two", paragraph(SHORT)),
        ),
        ("C12", "differs in acl_read"),
    ),
    "full run": (
        document(*[section(str(n), paragraph(SHORT * 6)) for n in range(5)]),
        ("C3", "of max_tokens 100"),
    ),
}


@pytest.mark.parametrize("name", CUTS)
def test_a_cut_is_told_by_its_rule(name: str) -> None:
    """In words that name what was cut and what it was held against."""
    cut, (rule, words) = CUTS[name]

    _, _, edge = edges(cut, RULES)[-1]

    assert edge.rule == rule
    assert words in edge.words


def test_what_records_leave_open_is_not_made_up() -> None:
    """Two blocks that would fit one chunk were parted by what no record tells."""
    wide = table(["Name", "Fee", "Date", "Place"], [["a", "b", "c", "d"]] * 9)
    cut = document(section("One", paragraph("Short words."), wide, wide))

    *_, (_, _, edge) = edges(cut, Rules(max_tokens=300, reading_max_tokens=200))

    assert edge.rule is None
    assert "do not say" in edge.words


@pytest.mark.parametrize("name", CUTS)
def test_without_the_files_beside_nothing_is_claimed_of_limits(name: str) -> None:
    """The rule is told where it needs none; no size is made up."""
    for _, _, edge in edges(CUTS[name][0], RULES, known=False):
        assert "100" not in edge.words
        assert edge.words


@given(
    documents,
    st.builds(
        lambda most, least: Rules(max_tokens=most, min_tokens=least),
        st.sampled_from([64, 100, 200]),
        st.sampled_from([0, 16, 32]),
    ),
)
def test_every_cut_of_every_document_is_told_by_where_it_is(
    cut: Document, rules: Rules
) -> None:
    """Inside a block, inside a section or between two; and sizes are true."""
    for left, right, edge in edges(cut, rules):
        ends, begins = left.block_ids[-1], right.block_ids[0]
        together = COUNTER.count(f"{left.text}\n\n{right.text}")
        if ends == begins:
            assert edge.rule in {"C1", "C4", "C5", "C6"}
        elif ends.rpartition("#")[0] == begins.rpartition("#")[0]:
            assert edge.rule in {"C3", "C5", None}
            assert (edge.rule is None) == (together <= rules.max_tokens)
        else:
            assert edge.rule in {"C1", "C3", "C7", "C12", None}
            assert edge.words.startswith("section boundary: ")
            assert edge.rule != "C3" or together > rules.max_tokens
