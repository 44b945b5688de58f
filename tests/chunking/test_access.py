"""What differs in permission or dates never meets in a chunk (S6)."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from situate.access import access_of, is_permission, resembles_permission
from situate.chunking import Rules, chunk
from situate.model import Metadata
from situate.readers import read
from situate.tokens import load_counter
from tests.support.documents import document, paragraph, section
from tests.support.mixed import mixed, named, strange, told

if TYPE_CHECKING:
    from collections.abc import Mapping

    from situate.model import Chunk, Document, JsonValue
    from tests.support.mixed import Mixed

COUNTER = load_counter("cl100k_base")

rules = st.builds(
    lambda limit, floor, granularity: Rules(
        max_tokens=limit, min_tokens=floor, granularity=granularity
    ),
    st.sampled_from([64, 200, 512]),
    st.sampled_from([0, 32, 64]),
    st.sampled_from(["leaves", "tree", "multi"]),
)


def chunks_of(source: str, **changes: object) -> Mapping[str, Chunk]:
    """Cut a source and give the records by the end of their ids."""
    read_so = read(source.encode(), "a.md").document
    chunks = chunk(read_so, Rules(**changes), COUNTER)  # type: ignore[arg-type]  # by name
    return {each.chunk_id.removeprefix("a.md:"): each for each in chunks}


def held(block_id: str) -> int:
    """Name the section that a block is of."""
    section_id = block_id.partition("#")[0]
    return int(section_id.rpartition("/head")[2].removeprefix("head")[:-1])


@given(mixed, rules)
def test_no_record_tells_what_is_for_others(mixed: Mixed, rules: Rules) -> None:
    """Neither text nor reading, lineage or outline, of leaves and containers alike."""
    chunks = chunk(mixed.document, rules, COUNTER)

    for each in chunks:
        access = mixed.access_of(each)
        sections = told(each.text) | told(each.reading)
        sections |= named(each.text) | named(each.reading)
        sections |= {held(block_id) for block_id in each.block_ids}
        assert strange(mixed, sections, access) == [], each.chunk_id


@given(mixed, rules)
def test_every_section_is_told_in_a_leaf_of_its_own_access(
    mixed: Mixed, rules: Rules
) -> None:
    """Keeping things apart loses nothing."""
    chunks = chunk(mixed.document, rules, COUNTER)

    leaves = [each for each in chunks if each.embed]
    for number, section_ in enumerate(mixed.sections):
        holding = [each for each in leaves if number in told(each.text)]
        assert bool(holding) == bool(section_.sentences)
        assert all(mixed.access_of(each) == mixed.access[number] for each in holding)


HIDDEN = """\
# Handbook

For all.

## Pay {acl_read=hr}

The bands are secret.

### Lunch {acl_read=all}

Lunch is free.

## Leave

Leave is long.
"""


def test_a_container_hands_over_what_is_like_itself() -> None:
    """The rest has its own chunks, which hang where they hung."""
    records = chunks_of(HIDDEN, min_tokens=0, granularity="tree")

    whole = records["_doc"]
    assert whole.text == "Handbook\n\nFor all.\n\n- Handbook\n  - Leave"
    assert whole.block_ids == (
        *("handbook#0", "handbook#1"),
        *("handbook/leave#0", "handbook/leave#1"),
    )
    assert records["handbook/pay"].parent_chunk_id == "a.md:handbook"


def test_below_a_section_that_differs_nothing_is_handed_over() -> None:
    """Not even what is like the container again: it lies in what is not."""
    source = "---\nacl_read: all\n---\n" + HIDDEN

    records = chunks_of(source, min_tokens=0, granularity="tree")

    whole, lunch = records["_doc"], records["handbook/pay/lunch"]
    assert lunch.metadata.custom == whole.metadata.custom == {"acl_read": "all"}
    assert whole.block_ids == (
        *("handbook#0", "handbook#1"),
        *("handbook/leave#0", "handbook/leave#1"),
    )


def test_breadcrumbs_name_what_stands_above_whoever_may_see_it() -> None:
    """A place without the headings around it would be none."""
    lunch = chunks_of(HIDDEN, min_tokens=0)["handbook/pay/lunch"]

    assert lunch.breadcrumb_line == "Handbook > Pay > Lunch"


def test_a_document_that_is_all_for_others_keeps_a_bare_record() -> None:
    """Its title would be a heading that is for them; parents still resolve."""
    source = "# Bands {acl_read=hr}\n\nSecret.\n\n## More\n\nStill secret.\n"

    records = chunks_of(source, min_tokens=0, granularity="tree")

    whole = records["_doc"]
    assert (whole.text, whole.block_ids, whole.token_count) == ("", (), 0)
    assert (whole.metadata.title, whole.breadcrumb_line) == (None, "")
    assert records["bands"].metadata.title == "Bands"


def test_headings_alone_do_not_meet_either() -> None:
    """C8: a document of headings is one chunk only where they agree."""
    records = chunks_of("# One\n\n# Two {acl_read=hr}\n\n# Three {acl_read=hr}\n")

    assert sorted(each.text for each in records.values()) == [
        "# One",
        "# Two {acl_read=hr}\n\n# Three {acl_read=hr}",
    ]


@pytest.mark.parametrize(
    ("one", "other"),
    [
        pytest.param(1, True, id="numbers and truth"),
        pytest.param(1, "1", id="numbers and words"),
        pytest.param(["hr"], "hr", id="lists and words"),
        pytest.param(["hr", "it"], ["it", "hr"], id="orders"),
        pytest.param({"read": ["hr"]}, {"read": ["it"]}, id="nested"),
        pytest.param(None, "hr", id="nothing"),
    ],
)
def test_values_that_are_not_the_same_keep_small_siblings_apart(
    one: JsonValue, other: JsonValue
) -> None:
    """In doubt sections differ: by type and order as well."""
    first, second = Metadata(custom={"acl_x": one}), Metadata(custom={"acl_x": other})

    chunks = chunk(_siblings(first, second), Rules(), COUNTER)

    assert access_of(first) != access_of(second)
    assert len(chunks) == 2


def test_equal_values_are_one_access_wherever_they_were_read() -> None:
    """By value, not by object, and in any order of keys."""
    one = Metadata(custom={"acl_x": {"a": [1], "b": 2}, "owner": "Ann"})
    other = Metadata(custom={"owner": "Ben", "acl_x": {"b": 2, "a": [1]}})

    assert access_of(one) == access_of(other) != access_of(Metadata())


@pytest.mark.parametrize(
    ("key", "expected"),
    [("acl_", True), ("acl_read", True), ("classification", True), ("acl", False)],
)
def test_permission_goes_by_the_name_of_its_key(key: str, *, expected: bool) -> None:
    """`acl_` and anything behind it, and `classification`."""
    assert is_permission(key) == expected


@pytest.mark.parametrize(
    ("key", "expected"),
    [
        *((key, True) for key in ("ACL_READ", "acl-read", "aclRead", "ACLRead")),
        *((key, True) for key in ("Classification", "classifications", "acl", "ACLs")),
        *((key, False) for key in ("acl_read", "acl_READ", "classification", "owner")),
        *((key, False) for key in ("aclu", "oracle", "classified", "miracl_e")),
    ],
)
def test_a_key_that_is_nearly_a_permission_is_told_from_one(
    key: str, *, expected: bool
) -> None:
    """By case, marks between words, and what is missing at the end."""
    assert resembles_permission(key) == expected


def _siblings(*metadata: Metadata) -> Document:
    return document(
        *(
            section(f"S{number}", paragraph("Few words."), metadata=each)
            for number, each in enumerate(metadata)
        )
    )
