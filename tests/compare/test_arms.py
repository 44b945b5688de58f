"""Arms: the same leaves, indexed in other words."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from situate import Rules, chunk, load_counter, read
from situate.compare.arms import (
    Leaves,
    Statements,
    bare,
    name_of,
    stated,
    windows,
)
from situate.compare.grounds import Ground, lay
from situate.compare.trial import handed_over
from situate.model import leaf_ids

if TYPE_CHECKING:
    from situate.compare.arms import Arm, Kind, Placing

COUNTER = load_counter("cl100k_base")

POLICY = """\
# Leave

## Annual leave

Thirty days are granted in each calendar year to every employee of the company.

### Carry-over

Unused days lapse in March unless operational reasons kept them from being taken.

## Sick leave

A certificate is due on the third day, and is sent to the office by any means.
"""
SENTENCES = {"leave.md:leave/annual-leave": "Says how much holiday people get."}


def leaves_of(granularity: str = "leaves", max_tokens: int = 512) -> Leaves:
    """Cut the policy into a leaf for each section."""
    document = read(POLICY.encode(), "leave.md").document
    ground = lay(document, POLICY)
    rules = Rules(max_tokens=max_tokens, min_tokens=0, granularity=granularity)  # type: ignore[arg-type]  # a parameter's text
    records = chunk(document, rules, COUNTER)
    names = leaf_ids(records)
    return Leaves(
        chunks=tuple(one for one in records if one.chunk_id in names),
        spans={one.chunk_id: ground.place(one) for one in records},
        containers=tuple(one for one in records if one.chunk_id not in names),
    )


def arm_of(kind: Kind, placing: Placing = "dense") -> Arm:
    """Make an arm of the policy."""
    if "statement" not in kind:
        return bare(leaves_of(), kind, COUNTER)
    said = Statements(prompt="findable-v1", by_chunk=SENTENCES, usd=None)
    return stated(leaves_of(), kind, said, placing, COUNTER)


ALL: tuple[tuple[Kind, Placing], ...] = (
    ("none", "dense"),
    ("breadcrumb", "dense"),
    ("statement", "dense"),
    ("breadcrumb+statement", "dense"),
    ("breadcrumb+statement", "both"),
)


def test_every_arm_has_the_same_texts_in_the_same_places() -> None:
    """Arms differ in what is indexed and in nothing that is judged."""
    arms = [arm_of(kind, placing) for kind, placing in ALL]

    judged = [
        [
            (each.entry_id, each.text, each.spans, each.text_tokens)
            for each in arm.entries
        ]
        for arm in arms
    ]
    assert all(each == judged[0] for each in judged)


def test_an_arm_indexes_what_its_name_says() -> None:
    """Prefix, statement and reading, in the order that `run` writes them."""
    line, said = "Leave > Annual leave", SENTENCES["leave.md:leave/annual-leave"]

    indexed = {
        (kind, placing): next(
            (each.dense, each.lexical[0])
            for each in arm_of(kind, placing).entries
            if each.entry_id in SENTENCES
        )
        for kind, placing in ALL
    }

    prefixes = {key: dense.partition("\n\n")[0] for key, (dense, _) in indexed.items()}
    assert prefixes["breadcrumb", "dense"] == line
    assert prefixes["statement", "dense"] == said
    assert prefixes["breadcrumb+statement", "dense"] == f"{line}\n{said}"
    assert "Thirty days" in prefixes["none", "dense"]
    assert [lexical for _, lexical in indexed.values()] == [
        "", line, "", line, f"{line}\n{said}",
    ]  # fmt: skip


def test_breadcrumb_and_statement_are_indexed_as_a_run_writes_them() -> None:
    """What is measured is what is shipped."""
    written = {one.chunk_id: one for one in leaves_of().chunks}

    for entry in arm_of("breadcrumb").entries:
        chunk_ = written[entry.entry_id]
        assert entry.dense == chunk_.embed_text
        assert entry.embed_tokens == COUNTER.count(chunk_.embed_text)
        assert "\n\n".join(filter(None, entry.lexical)) == chunk_.lexical_text


def test_names_of_arms_say_prompt_and_place() -> None:
    """Two prompts, or two places of a sentence, are two arms."""
    assert name_of("breadcrumb", "findable-v1", "dense") == "breadcrumb"
    assert name_of("statement", "findable-v1", "dense") == "statement:findable-v1"
    assert name_of("statement", "findable-v1", "both") == "statement:findable-v1:both"


def test_the_section_that_holds_a_leaf_is_handed_over_once() -> None:
    """Two leaves of one section bring it in the place of the better one."""
    arm = bare(leaves_of("tree", max_tokens=32), "breadcrumb", COUNTER)
    annual = [each for each in arm.entries if "annual" in each.entry_id]
    sick = [each for each in arm.entries if "sick" in each.entry_id]

    handed = handed_over([*annual, *sick], arm, "section")

    assert len({each.entry_id for each in handed}) == len(handed)
    texts = [each.text for each in handed]
    assert all(any(leaf.text in text for text in texts) for leaf in [*annual, *sick])
    assert handed_over([*annual, *sick], arm, "leaf") == [*annual, *sick]


def test_a_section_cut_short_is_not_handed_over() -> None:
    """What is handed over holds what was found."""
    arm = bare(leaves_of("tree", max_tokens=32), "breadcrumb", COUNTER)

    for entry in arm.entries:
        (handed,) = handed_over([entry], arm, "section")
        assert entry.text.splitlines()[-1] in handed.text
        assert set(range(*entry.spans[0])) <= {
            place for span in handed.spans for place in range(*span)
        }


@pytest.mark.parametrize("size", [5, 40, 1000])
def test_token_windows_hold_every_word_once_and_no_more_than_they_may(
    size: int,
) -> None:
    """The baseline knows no structure and loses nothing either."""
    ground = Ground("leave.md", POLICY, {})

    arm = windows({"leave.md": ground}, size, COUNTER)

    assert arm.name == f"fixed:{size}"
    assert "".join(each.text for each in arm.entries) == POLICY.rstrip()
    assert all(each.text_tokens <= size for each in arm.entries)
    assert all(ground.text[slice(*each.spans[0])] == each.text for each in arm.entries)
