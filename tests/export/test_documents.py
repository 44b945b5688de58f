"""What stands in a store for a record, and under which id."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from situate.errors import RecordError
from situate.export.documents import document, document_id
from situate.export.languages import analyser
from situate.model import Metadata
from tests.support.exports import a_record


def stored(**changes: Any) -> dict[str, Any]:
    """Give the document of a record."""
    return document(a_record(**changes), None)


def said(**metadata: Any) -> dict[str, Any]:
    """Give the document of a record with this metadata."""
    return stored(metadata=Metadata(**metadata))


def test_a_document_holds_its_whole_record() -> None:
    """What is searched stands beside it, so that a hit can be shown and checked."""
    record = a_record()

    found = document(record, None)

    assert found.items() >= record.items()
    assert found.keys() - record.keys() == {
        *("record_id", "parent_record_id", "group_id", "validity", "acl", "lexical"),
        "classification",
    }


def test_a_short_id_is_that_of_the_record() -> None:
    """A version's own record goes under its own id."""
    assert document_id({"chunk_id": "a.md:b"}) == "a.md:b"
    assert document_id({"chunk_id": "a.md:b", "record_id": "a.md:b@2"}) == "a.md:b@2"


@given(st.text(min_size=1, max_size=3), st.integers(1, 700))
def test_every_id_fits_and_stays_its_own(text: str, times: int) -> None:
    """512 bytes, however many bytes its characters have; equal ids are cut alike."""
    one, other = text * times, text * (times + 1)

    ids = [document_id({"chunk_id": each}) for each in (one, other, one)]

    assert max(len(each.encode()) for each in ids) <= 512
    assert ids[0] == ids[2] != ids[1]


def test_an_id_of_512_bytes_is_not_cut() -> None:
    """And one more byte is one too many."""
    fits, over = "ü" * 256, "ü" * 256 + "x"

    assert document_id({"chunk_id": fits}) == fits
    assert document_id({"chunk_id": over}).startswith("ü" * 239 + "~")


def test_the_id_that_was_cut_stands_in_the_document() -> None:
    """Nothing of a record is lost by the limits of a store."""
    long = "leave.md:" + "x" * 600

    assert stored(chunk_id=long)["chunk_id"] == long


def test_a_chunk_is_grouped_under_the_id_its_parent_has_in_the_store() -> None:
    """So that what is found leads to what may be handed over."""
    parent = "leave.md:" + "x" * 600

    found = stored(parent_chunk_id=parent)

    assert found["group_id"] == document_id({"chunk_id": parent})


def test_a_wording_is_grouped_under_the_record_of_its_parent() -> None:
    """Two wordings of one parent are two groups."""
    record = {
        **a_record(parent_chunk_id="leave.md:_doc"),
        "record_id": "leave.md:days@2",
        "parent_record_id": "leave.md:_doc@2",
    }

    assert document(record, None)["group_id"] == "leave.md:_doc@2"


def test_a_chunk_without_a_parent_is_a_group_of_its_own() -> None:
    """A store takes all that lack the field for one group."""
    assert stored(parent_chunk_id=None)["group_id"] == "leave.md:days"


@pytest.mark.parametrize(
    ("dates", "validity"),
    [
        pytest.param({}, ("0001-01-01", "9999-12-31"), id="always"),
        pytest.param(
            {"effective_from": "2025-01-01"}, ("2025-01-01", "9999-12-31"), id="since"
        ),
        pytest.param(
            {"effective_to": "2025-12-31"}, ("0001-01-01", "2025-12-31"), id="until"
        ),
        pytest.param(
            {"effective_from": "2025-01-01", "effective_to": "2025-01-01"},
            ("2025-01-01", "2025-01-01"),
            id="one day",
        ),
    ],
)
def test_open_ends_are_days_that_are_never_reached(
    dates: dict[str, str], validity: tuple[str, str]
) -> None:
    """One range filter finds records with dates and without."""
    found = said(**dates)

    assert (found["validity"]["gte"], found["validity"]["lte"]) == validity
    assert found["metadata"]["effective_from"] == dates.get("effective_from")


@pytest.mark.parametrize("day", ["03/04/2024", "2024", "2024-1-1", "20240101", ""])
def test_what_is_no_date_is_refused_by_name(day: str) -> None:
    """The store would refuse the record without saying whose."""
    with pytest.raises(RecordError, match=r"'leave\.md:days': effective_to is '"):
        said(effective_to=day)


def test_what_is_never_in_force_is_in_no_range() -> None:
    """A wording may end before a section of it begins."""
    found = said(effective_from="2025-02-01", effective_to="2025-01-01")

    assert found["validity"] is None


def test_permissions_are_terms_with_the_name_of_their_key() -> None:
    """Of lists every value, and nothing of what is no permission."""
    custom = {
        "acl_groups": ["hr", 7, "hr"],
        "acl_public": True,
        "acl_none": None,
        "classification": "secret",
        "owner": "hr",
    }

    assert said(custom=custom)["acl"] == [
        *("acl_groups=hr", "acl_groups=7", "acl_public=true")
    ]


@pytest.mark.parametrize(
    ("value", "classes"),
    [
        ("secret", ["secret"]),
        (["secret", "hr", "secret"], ["secret", "hr"]),
        (True, ["true"]),
        (3, ["3"]),
        ({"level": 2, "by": "hr"}, ['{"by": "hr", "level": 2}']),
        ("", [""]),
        (None, []),
        ([], []),
    ],
)
def test_a_class_is_a_term_of_its_own_whatever_it_is(
    value: Any, classes: list[str]
) -> None:
    """It lists nobody who may see something, and none of it gets lost."""
    found = said(custom={"classification": value})

    assert found["classification"] == classes
    assert found["acl"] == []


def test_a_class_is_never_too_long_to_be_a_term() -> None:
    """A store leaves out what is, and the record would count as open."""
    (found,) = said(custom={"classification": "x" * 40_000})["classification"]

    assert len(found) == 512


def test_a_chunk_without_permissions_has_no_term() -> None:
    """It is found by nobody who is asked for one: closed by default."""
    assert said(custom={"owner": "hr"})["acl"] == []


@pytest.mark.parametrize(
    ("language", "name"),
    [
        ("de", "german"),
        ("de-CH", "german"),
        ("EN_us", "english"),
        ("pt", "portuguese"),
        ("pt-BR", "brazilian"),
        ("zh-Hant", "cjk"),
        ("ja", "cjk"),
        ("pl", "standard"),
        ("", "standard"),
        (None, "standard"),
    ],
)
def test_a_language_has_its_analyser(language: str | None, name: str) -> None:
    """By its tag, whatever stands behind it; others have the standard one."""
    assert analyser(language) == name
    assert said(language=language)["lexical"] == {name: "Leave > Days\n\n25 days."}


def test_a_container_is_stored_and_not_searched() -> None:
    """Its text is there, under no analyser, and it takes no vector."""
    found = stored(embed=False)

    assert found["text"] == "25 `days`."
    assert found["lexical"] is None
    assert "vector" not in found
