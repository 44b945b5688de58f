"""Wordings of one document stand side by side and follow each other (S5)."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from situate.index.names import chunk_id_of, doc_id_of, key_of, record_id, wording_key
from situate.index.state import DocumentState
from situate.index.wordings import label_of
from situate.validity import in_force, said_validity, successions

texts = st.text(st.sampled_from("a1@:%~. é"), min_size=1, max_size=8)
days = st.dates().map(lambda day: day.isoformat())
wordings = st.lists(st.none() | days, min_size=1, max_size=5, unique=True)


def wording(label: str | None, effective_from: str | None) -> DocumentState:
    """Give a wording of a document, as a state knows it."""
    return DocumentState(
        doc_id="leave",
        path="leave.md",
        names_itself=True,
        input="",
        config="",
        version="9",
        metadata_hash="",
        records="",
        chunks={},
        label=label,
        effective_from=effective_from,
    )


@given(doc_id=texts, label=st.none() | texts)
def test_a_name_says_whose_record_it_is(doc_id: str, label: str | None) -> None:
    """Whatever stands in ids and versions."""
    quoted = doc_id.replace("%", "%25").replace(":", "%3A")
    chunk_id = f"{quoted}:leave/days:0"

    name = record_id(chunk_id, label)

    assert key_of(name) == wording_key(doc_id, label)
    assert chunk_id_of(name) == chunk_id
    assert doc_id_of(key_of(name)) == doc_id


@given(one=st.tuples(texts, st.none() | texts), other=st.tuples(texts, st.none()))
def test_no_two_wordings_have_one_key(
    one: tuple[str, str | None], other: tuple[str, str | None]
) -> None:
    """A document may be called what a wording of another might be."""
    assert (wording_key(*one) == wording_key(*other)) == (one == other)


def test_a_record_without_wordings_has_the_id_of_its_chunk() -> None:
    """Stores that hold one wording need to know of no other name."""
    assert record_id("leave@home.md:leave", None) == "leave@home.md:leave"
    assert chunk_id_of("leave@home.md:leave") == "leave@home.md:leave"


def test_a_new_wording_is_named_by_its_version() -> None:
    """As S5 says."""
    others = [wording("1", "2024-01-01")]

    assert label_of("2", "2025-01-01", others) == "2"


def test_a_correction_keeps_the_name_that_its_wording_has() -> None:
    """So that its records are put in the place of those that it corrects."""
    others = [wording("1", "2024-01-01"), wording("2", "2025-01-01")]

    assert label_of("3", "2024-01-01", others) == "1"


def test_what_was_there_before_wordings_were_kept_keeps_the_ids_of_chunks() -> None:
    """Keeping all from today on renames no record, and so deletes none."""
    others = [wording(None, None)]

    assert label_of("2", None, others) is None
    assert label_of("2", "2025-01-01", others) == "2"


def test_wordings_of_one_version_are_numbered() -> None:
    """A text that is put in force again is the same version."""
    others = [wording("1", "2023-01-01"), wording("1~2", "2024-01-01")]

    assert label_of("1", "2025-01-01", others) == "1~3"


@given(begins=wordings, day=days)
def test_on_each_day_one_wording_is_in_force(
    begins: list[str | None], day: str
) -> None:
    """From the first day of the first one; the last one stays."""
    found = {
        first
        for first, last in successions(begins).items()
        if (first is None or first <= day) and (last is None or day <= last)
    }

    begun = [first for first in begins if first is None or first <= day]
    if day > "0001-01-01":
        assert found == (
            {max(begun, key=lambda first: first or "")} if begun else set()
        )


@pytest.mark.parametrize(
    ("first", "last", "expected"),
    [
        (None, None, True),
        ("2026-01-31", "2026-01-31", True),
        ("2026-02-01", None, False),
        (None, "2026-01-30", False),
        ("2026-03-01", "2025-12-31", False),
    ],
)
def test_both_ends_of_a_validity_are_in_it(
    first: str | None, last: str | None, expected: bool
) -> None:
    """Open where nobody names one."""
    record = {"metadata": {"effective_from": first, "effective_to": last}}

    assert in_force(record, "2026-01-31") is expected


def test_a_validity_that_ends_before_it_begins_is_none() -> None:
    """As of a section that would have come into force after its wording had ended."""
    record = {
        "metadata": {"effective_from": "2026-03-01", "effective_to": "2025-12-31"}
    }

    assert said_validity(record) == "never in force"


def test_a_state_says_of_wordings_only_what_there_is_to_say() -> None:
    """Lines of corpora that keep the latest are as they were."""
    plain = replace(wording(None, None), label=None)
    whole = replace(wording("1", "2024-01-01"), until="2024-12-31", since="2024-01-01")

    assert not {"label", "effective_from", "until", "since"} & plain.to_record().keys()
    for each in (plain, whole):
        assert DocumentState.from_record(each.to_record(), "state") == each
