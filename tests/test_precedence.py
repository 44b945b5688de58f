"""Where several speak of one document, a rule says whose word counts."""

from __future__ import annotations

from fnmatch import fnmatchcase
from typing import TYPE_CHECKING

import pytest
from hypothesis import given as drawn
from hypothesis import strategies as st

from situate.given import Given
from situate.model import Metadata, walk
from situate.precedence import AUTHORITY, Policy, Settled, disorder, lacking, settle
from situate.readers import read

if TYPE_CHECKING:
    from situate.model import JsonValue

FIELDS = ("title", "doc_type", "effective_from", "effective_to", "source", "language")
CUSTOM = ("acl_groups", "classification", "owner", "region")
KEYS = (*FIELDS, *CUSTOM, "doc_id", "version")
VALUES = ("2024-01-01", "2025-01-01", "2026-01-01")

Said = dict[str, str]

said = st.dictionaries(st.sampled_from(KEYS), st.sampled_from(VALUES))


def voice(where: str, said: Said) -> Given:
    """Give somebody who says this."""
    return Given(
        where=where,
        doc_id=said.get("doc_id"),
        version=said.get("version"),
        metadata=Metadata(
            **{key: value for key, value in said.items() if key in FIELDS},  # type: ignore[arg-type]  # all are texts
            custom={key: value for key, value in said.items() if key in CUSTOM},
        ),
    )


def held(said: Given) -> Said:
    """Give what is said, key by key."""
    values: dict[str, JsonValue] = {
        **said.metadata.custom,
        **{name: getattr(said.metadata, name) for name in FIELDS},
        "doc_id": said.doc_id,
        "version": said.version,
    }
    return {key: str(value) for key, value in values.items() if value is not None}


def settled(
    text: str, *outside: Given, doc_type: str | None = None, own: Said | None = None
) -> Settled:
    """Settle a Markdown document that names neither id, version nor source."""
    document = read(text.encode(), "a.md").document
    said = document.metadata
    mine = Given(
        where="the document",
        metadata=Metadata(
            title=said.title,
            doc_type=said.doc_type,
            effective_from=said.effective_from,
            effective_to=said.effective_to,
            language=said.language,
            custom=said.custom,
        ),
    )
    if own is not None:
        mine = voice("the document", own)
    return settle(document, mine, outside, Policy(), doc_type=doc_type)


def sections(found: Settled) -> dict[str, Metadata]:
    """Give the metadata of sections that have their own."""
    return {
        section.section_id: section.metadata
        for section, _ in walk(found.document.root)
        if section.metadata is not None
    }


@drawn(
    own=said,
    manifest=said,
    sidecar=said,
    authority=st.lists(st.sampled_from([*KEYS, "own*"]), max_size=2).map(tuple),
)
def test_each_key_has_one_whose_word_counts(
    own: Said, manifest: Said, sidecar: Said, authority: tuple[str, ...]
) -> None:
    """From outside in for keys of authority, from inside out for all others."""
    outside = [voice("manifest", manifest), voice("sidecar", sidecar)]
    document = read(b"Text.\n", "a.md").document
    expected: Said = {}
    contradicted: set[str] = set()
    for key in KEYS:
        outranks = any(fnmatchcase(key, each) for each in (*AUTHORITY, *authority))
        order = [manifest, sidecar, own] if outranks else [own, sidecar, manifest]
        words = [each[key] for each in order if key in each]
        if words:
            expected[key] = words[0]
        if outranks and len(set(words)) > 1:
            contradicted.add(key)

    found = settle(
        document,
        voice("document", own),
        outside,
        Policy(authority=authority),
        doc_type=None,
    )

    assert held(found.said) == expected
    assert {each.partition(":")[0] for each in found.warnings} == contradicted


@drawn(own=said)
def test_where_nobody_else_speaks_nothing_changes(own: Said) -> None:
    """A corpus without manifest or sidecar is what it was."""
    found = settled("# A {effective_to=2020-01-01}\n\nText.\n", own=own)

    assert (
        found.document
        == read(b"# A {effective_to=2020-01-01}\n\nText.\n", "a.md").document
    )
    assert found.warnings == ()


def test_a_contradiction_names_both_values_and_places() -> None:
    """So that one of them can be put right."""
    found = settled(
        "---\nclassification: public\n---\nText.\n",
        voice("m.jsonl:3", {"classification": "secret"}),
        voice("a.md.meta.toml", {"classification": "internal"}),
    )

    assert found.document.metadata.custom == {"classification": "secret"}
    assert found.warnings == (
        "classification: m.jsonl:3 says 'secret', a.md.meta.toml says 'internal'; "
        "the first holds",
        "classification: m.jsonl:3 says 'secret', the document says 'public'; "
        "the first holds",
    )


def test_the_type_of_the_corpus_is_the_last_word() -> None:
    """Also for sections, which inherit it."""
    text = "# A {language=de}\n\nText.\n"

    nobody = settled(text, voice("m", {"title": "T"}), doc_type="policy")
    somebody = settled(text, voice("m", {"doc_type": "manual"}), doc_type="policy")

    assert nobody.document.metadata.doc_type == "policy"
    assert sections(nobody)["a"].doc_type == "policy"
    assert somebody.document.metadata.doc_type == "manual"
    assert sections(somebody)["a"].doc_type == "manual"


def test_what_nobody_says_keeps_its_default() -> None:
    """Id and source are the path, the version is the tree's hash."""
    document = settled("Text.\n", voice("m", {"title": "T"})).document

    assert (document.doc_id, document.metadata.source) == ("a.md", "a.md")
    assert document.version == read(b"Text.\n", "a.md").document.version


# ------------------------------------------------------------------------ sections


def test_sections_inherit_what_is_said_from_outside() -> None:
    """A heading that says one thing inherits all others (C12)."""
    found = settled(
        "# A {region=north}\n\nText.\n\n## B {region=south}\n\nText.\n",
        voice("m", {"acl_groups": "hr", "title": "T", "effective_to": "2025-01-01"}),
    )

    assert [
        (each.title, each.effective_to, each.custom)
        for each in sections(found).values()
    ] == [
        ("T", "2025-01-01", {"acl_groups": "hr", "region": "north"}),
        ("T", "2025-01-01", {"acl_groups": "hr", "region": "south"}),
    ]


def test_a_heading_that_says_otherwise_who_may_see_its_section_is_a_conflict() -> None:
    """It may open what a manifest closes, or close what it opens: both would leak."""
    found = settled(
        "# A {acl_groups=everyone}\n\nText.\n", voice("m:1", {"acl_groups": "hr"})
    )

    assert sections(found)["a"].custom == {"acl_groups": "hr"}
    assert found.warnings == ()
    assert found.conflicts == (
        "acl_groups: m:1 says 'hr', heading 'A' says 'everyone'",
    )


@pytest.mark.parametrize(
    ("heading", "outside", "is_within"),
    [
        ("acl_groups=hr", "hr", True),
        ("acl_groups=hr", ["hr", "board"], True),
        ("acl_groups=hr acl_groups=board", ["hr", "board", "staff"], True),
        ("acl_groups=hr acl_groups=all", ["hr", "board"], False),
        ("acl_groups=1", [1], False),
        ("acl_groups=hr", [], False),
        ("classification=secret", "public", False),
    ],
)
def test_a_heading_may_name_some_of_those_whom_its_document_is_for(
    heading: str, outside: JsonValue, is_within: bool
) -> None:
    """Then its section is for these alone."""
    key = heading.partition("=")[0]

    found = settled(f"# A {{{heading}}}\n\nText.\n", voice("m", {key: outside}))

    assert (found.conflicts == ()) is is_within
    if is_within:
        own = read(f"# A {{{heading}}}\n\nText.\n".encode(), "a.md").document
        (section,) = own.root.children
        assert section.metadata is not None
        assert sections(found)["a"].custom == section.metadata.custom


@pytest.mark.parametrize(
    ("said", "expected"),
    [
        pytest.param(
            "effective_from=2024-06-01", ("2024-06-01", "2024-12-31"), id="later"
        ),
        pytest.param(
            "effective_to=2024-06-01", ("2024-01-01", "2024-06-01"), id="shorter"
        ),
        pytest.param(
            "effective_from=2023-01-01", ("2024-01-01", "2024-12-31"), id="before"
        ),
        pytest.param(
            "effective_to=2026-01-01", ("2024-01-01", "2024-12-31"), id="after"
        ),
    ],
)
def test_a_section_is_in_force_while_its_document_is(
    said: str, expected: tuple[str, str]
) -> None:
    """A heading's dates hold within those from outside."""
    found = settled(
        f"# A {{{said}}}\n\nText.\n",
        voice("m", {"effective_from": "2024-01-01", "effective_to": "2024-12-31"}),
    )

    section = sections(found)["a"]
    assert (section.effective_from, section.effective_to) == expected
    within = expected != ("2024-01-01", "2024-12-31")
    assert bool(found.warnings) is not within


def test_what_is_refused_is_told_of_the_heading_that_says_it() -> None:
    """Headings below inherit it, and say nothing of it."""
    found = settled(
        "# A {acl_groups=all}\n\nText.\n\n## B {region=south}\n\nText.\n",
        voice("m", {"acl_groups": "hr"}),
    )

    assert sections(found)["a/b"].custom == {"acl_groups": "hr", "region": "south"}
    assert len(found.conflicts) == 1


def test_a_heading_says_what_its_document_leaves_open() -> None:
    """For other keys the nearest word counts, and a heading's is the nearest."""
    found = settled("# A {owner=legal}\n\nText.\n", voice("m", {"owner": "hr"}))

    assert found.document.metadata.custom == {"owner": "hr"}
    assert sections(found)["a"].custom == {"owner": "legal"}
    assert found.warnings == ()


# ----------------------------------------------------------------- dates and demands


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        pytest.param(
            "---\neffective_from: 2025-01-02\neffective_to: 2025-01-01\n---\nText.\n",
            "effective_from 2025-01-02 is after effective_to 2025-01-01",
            id="document",
        ),
        pytest.param(
            "---\neffective_to: 2024-12-31\n---\n# B {effective_from=2025-01-01}\n",
            "heading 'B': effective_from 2025-01-01 is after effective_to 2024-12-31",
            id="section",
        ),
        pytest.param(
            "---\neffective_from: 2025-01-01\neffective_to: 2025-01-01\n---\nText.\n",
            None,
            id="one day",
        ),
        pytest.param("---\neffective_from: 2025-01-01\n---\nText.\n", None, id="open"),
    ],
)
def test_a_validity_that_ends_before_it_begins_is_named(
    text: str, expected: str | None
) -> None:
    """Both ends are inclusive, and either may be open."""
    assert disorder(read(text.encode(), "a.md").document) == expected


def test_what_is_no_date_gives_way_to_one() -> None:
    """Whoever says either, and it does not stay beside it."""
    wrong = Given(where="m", metadata=Metadata(custom={"effective_to": "03/04/2024"}))

    before = settled("---\neffective_to: 2024-04-03\n---\nText.\n", wrong)
    after = settled(
        "---\neffective_to: 03/04/2024\n---\nText.\n",
        voice("m", {"effective_to": "2024-04-03"}),
    )
    below = settled("# A {effective_to=2024-04-03}\n\nText.\n", wrong)

    for metadata in (before.document.metadata, after.document.metadata):
        assert (metadata.effective_to, metadata.custom) == ("2024-04-03", {})
    assert sections(below)["a"].effective_to == "2024-04-03"


@pytest.mark.parametrize("blank", [None, "", " ", [], {}], ids=repr)
def test_a_key_without_a_value_is_lacking(blank: JsonValue) -> None:
    """An empty list of groups is nobody's permission."""
    said = Given(where="the document")

    assert lacking(["acl_groups"], said, Metadata(custom={"acl_groups": blank}), None)


@pytest.mark.parametrize("value", [0, False, "hr", ["hr"]], ids=repr)
def test_a_key_with_a_value_is_there(value: JsonValue) -> None:
    """Nought and false say something."""
    said = Given(where="the document")

    assert not lacking(["level"], said, Metadata(custom={"level": value}), None)


def test_what_is_only_a_default_is_lacking() -> None:
    """Except the type, which the config says, and a title that is the heading's."""
    required = ("doc_id", "version", "source", "title", "doc_type", "effective_to")
    metadata = Metadata(source="a.md", doc_type="policy")

    found = lacking(required, Given(where="the document"), metadata, "Heading")

    assert found == ("doc_id", "version", "source", "effective_to")
