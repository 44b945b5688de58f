"""What a model is shown together is for the same people and days (S6)."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from situate.chunking import Rules, chunk
from situate.enrichment.estimate import estimate
from situate.enrichment.providers.scripted import ScriptedProvider
from situate.model import Metadata, leaf_ids
from tests.enrichment.scenes import (
    COUNTER,
    GOOD,
    PRICES,
    asked_about,
    chunks_of,
    document,
    facts,
    planned,
    play,
    settings,
    texts,
)
from tests.support.mixed import mixed, named, strange, told

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path

    from situate.enrichment.exchange import Body
    from situate.enrichment.plan import DocumentPlan
    from situate.enrichment.questions import PlannedRequest
    from situate.enrichment.settings import View
    from situate.model import Document
    from tests.support.mixed import Mixed

VIEWS: tuple[View, ...] = ("marked", "full", "window")
HR = Metadata(title="Travel", doc_type="policy", custom={"acl_read": "hr"})
PUBLIC = Metadata(
    title="Travel", doc_type="policy", custom={"classification": "public"}
)


def divided(source: Document, said: Mapping[int, Metadata]) -> Document:
    """Give a document some of whose sections say what holds of them."""
    sections = tuple(
        replace(section, metadata=said.get(number))
        for number, section in enumerate(source.root.children)
    )
    return replace(source, root=replace(source.root, children=sections))


def follow_ups(request: PlannedRequest) -> Iterator[PlannedRequest]:
    """Yield a request and all that may be asked in its place."""
    yield request
    for passage in request.passages:
        yield request.alone(passage)
    if request.view == "marked" and len(request.passages) > 1:
        for half in request.halves():
            yield from follow_ups(half)


@given(
    mixed,
    st.sampled_from(VIEWS),
    st.sampled_from(["leaves", "multi"]),
    st.sampled_from([None, 600, 100_000]),
)
def test_no_request_tells_what_is_for_others(
    mixed: Mixed, view: View, granularity: Any, context: int | None
) -> None:
    """Whatever is asked first, by itself or in halves; headings above a chunk stay."""
    chunks = chunk(
        mixed.document, Rules(max_tokens=64, granularity=granularity), COUNTER
    )
    about = facts(context_window=context)

    result = planned(mixed.document, chunks, view=view, about=about)

    title = named(chunks[0].metadata.title or "")
    for request in (each for first in result.requests for each in follow_ups(first)):
        asked = [chunks[passage.index] for passage in request.passages]
        (access,) = {tuple(sorted(mixed.access_of(each).items())) for each in asked}
        above = {
            around
            for each in asked
            for number in told(each.text) | named(each.text)
            for around in mixed.above[number]
        }
        shown = "\n".join((request.rendered.document, request.rendered.chunk))
        headings = named(shown) - above - title
        assert strange(mixed, told(shown) | headings, dict(access)) == []
        assert strange(mixed, told(request.shown), dict(access)) == []


@given(mixed, st.sampled_from(VIEWS))
def test_every_leaf_is_asked_about_or_said_to_be_left_out(
    mixed: Mixed, view: View
) -> None:
    """Dividing a document loses none of its chunks, and doubles none."""
    chunks = chunk(mixed.document, Rules(max_tokens=64), COUNTER)

    result = planned(mixed.document, chunks, view=view)

    found = [*(each.index for each in result.passages), *result.skipped]
    assert sorted(found) == [
        index for index, each in enumerate(chunks) if each.chunk_id in leaf_ids(chunks)
    ]


@pytest.mark.parametrize("view", VIEWS)
def test_each_part_is_asked_about_as_a_document_of_its_own(view: View) -> None:
    """Requests, keys and estimates are those of the part alone."""
    source = divided(document(*texts(6)), {1: HR, 3: HR, 4: HR})
    of_hr = replace(
        source,
        root=replace(
            source.root, children=tuple(source.root.children[n] for n in (1, 3, 4))
        ),
    )

    whole = planned(source, chunks_of(source), view=view)
    alone = planned(of_hr, chunks_of(of_hr), view=view)

    (part,) = alone.parts
    assert [each.body for each in whole.parts[1].requests] == [
        each.body for each in part.requests
    ]
    assert [each.chunk_key for each in whole.parts[1].passages] == [
        each.chunk_key for each in part.passages
    ]
    assert sum(each.input_tokens for each in whole.parts[1].requests) == sum(
        each.input_tokens for each in part.requests
    )


def test_parts_come_in_the_order_of_their_first_chunks() -> None:
    """The order of requests is the same on every run."""
    source = divided(document(*texts(5)), {0: HR, 3: HR})

    result = planned(source, chunks_of(source))

    assert [each.index for each in result.passages] == [0, 3, 1, 2, 4]


def test_what_keeps_chunks_apart_and_hides_nothing_divides_no_plan() -> None:
    """A region is no permission: its chunks are shown with all others."""
    north = Metadata(title="Travel", doc_type="policy", custom={"region": "north"})
    plain = document(*texts(4))
    source = divided(plain, {2: north})

    result = planned(source, chunks_of(source))

    assert [each.body for each in result.requests] == [
        each.body for each in planned(plain).requests
    ]


def test_a_view_is_chosen_for_each_part() -> None:
    """`auto` goes by the length of what may be shown."""
    long = [" ".join(texts(8)) for _ in range(60)]
    source = divided(document(*long), {3: HR, 4: HR})

    result = planned(source, chunks_of(source))

    assert [part.view for part in result.parts] == ["window", "full"]


def test_a_chunk_that_is_alone_of_its_kind_is_not_asked_about() -> None:
    """Nothing may be shown beside it: as for a document that is one chunk (E13)."""
    source = divided(document(*texts(4)), {2: HR})

    result = planned(source, chunks_of(source))

    assert result.skipped == {2: "one_chunk"}
    assert [each.index for each in result.passages] == [0, 1, 3]


def test_equal_chunks_for_different_people_have_section_keys_of_their_own() -> None:
    """An answer about one would tell the readers of the other what it was told."""
    text = "The same words stand in two places of this handbook."
    source = divided(document(text, text, *texts(4)), {1: HR, 3: HR})
    twins = [
        replace(leaf, breadcrumb_line="Travel", section_id="part-0")
        for leaf in chunks_of(source)[:2]
    ]
    chunks = (*twins, *chunks_of(source)[2:])
    both = replace(source, root=replace(source.root, children=source.root.children))

    result = planned(both, chunks)

    keys = {each.index: each.section_keys for each in result.passages}
    assert keys[0]
    assert keys[0] != keys[1]


class _Model:
    """Answers every question by itself, as a table of texts says."""

    def __init__(self, said: Mapping[str, str] | None = None) -> None:
        self.asked: list[str] = []
        self._said = said or {}
        self.provider = ScriptedProvider(self._answer)

    def _answer(self, body: Body) -> str:
        text = asked_about(body)
        self.asked.append(text)
        return self._said.get(text, GOOD)


def test_a_change_of_permission_of_a_whole_document_asks_nothing(
    tmp_path: Path,
) -> None:
    """What was shown together still is; parts that differed differ as before."""
    for number, differs in enumerate([{}, {1: HR, 2: HR, 5: HR}]):
        source = divided(document(*texts(6)), differs)
        locked = replace(
            source, metadata=replace(source.metadata, custom={"acl_read": ["staff"]})
        )
        first, second = _Model(), _Model()

        before = play(first.provider, tmp_path / str(number), source)
        after = play(second.provider, tmp_path / str(number), locked)

        assert len(first.asked) == 6
        assert second.asked == []
        assert after.outcomes == before.outcomes


def test_what_was_said_beside_a_section_that_is_locked_is_asked_anew(
    tmp_path: Path,
) -> None:
    """It may tell of it in words that no judge takes for a name or a number."""
    plain = document(*texts(6))
    moved = divided(plain, {1: HR, 2: HR, 5: HR})
    first, second = _Model(), _Model()

    play(first.provider, tmp_path, plain)
    after = play(second.provider, tmp_path, moved)

    assert sorted(second.asked) == sorted(texts(6))
    assert after.outcomes == [GOOD] * 6


def test_what_others_alone_may_see_is_edited_without_a_question(
    tmp_path: Path,
) -> None:
    """No sentence outside can tell of it."""
    source = divided(document(*texts(6)), {1: HR, 2: HR, 5: HR})
    other = [*texts(6)]
    other[2] = other[2].replace("of", "from")
    edited = divided(document(*other), {1: HR, 2: HR, 5: HR})
    first, second = _Model(), _Model()

    play(first.provider, tmp_path, source)
    play(second.provider, tmp_path, edited)

    assert second.asked == [other[2]]


def test_an_answer_is_judged_by_what_its_own_part_was_shown(tmp_path: Path) -> None:
    """What stands on the other side grounds nothing here."""
    source = divided(document(*texts(5)), {3: HR, 4: HR})
    cited = "People of tier 4 have other caps than those who renew their cover."
    model = _Model({texts(5)[0]: cited})

    result = play(model.provider, tmp_path, source, reuse="request")

    assert result.outcomes == ["number", GOOD, GOOD, GOOD, GOOD]


def test_a_copy_is_one_of_what_its_own_part_says(tmp_path: Path) -> None:
    """A sentence that its readers have before them already tells them nothing."""
    words = texts(6)
    source = divided(document(*words), {1: HR, 2: HR, 5: HR})
    model = _Model({words[1]: words[2]})

    result = play(model.provider, tmp_path, source)

    assert result.outcomes[1] == "copy"
    assert result.outcomes.count(GOOD) == 5


def test_an_estimate_expects_one_write_for_each_part() -> None:
    """What differs at its beginning is read from no vendor's cache."""
    source = divided(document(*texts(8)), {1: HR, 2: HR, 5: HR})
    about = facts(prices=PRICES, cache="marked")
    result = planned(source, chunks_of(source), view="full", about=about)

    found = estimate([result], settings=settings(), facts=about, known=lambda _: False)

    firsts = [part.requests[0].prefix_tokens for part in result.parts]
    assert len(firsts) == 2
    assert found.usage.cache_write == sum(firsts)


def test_records_name_the_view_of_their_own_part(tmp_path: Path) -> None:
    """What was asked of a long part another way than of a short one says so."""
    long = [" ".join(texts(8)) for _ in range(60)]
    source = divided(document(*long), {3: HR, 4: HR, 5: PUBLIC})

    result = play(_Model().provider, tmp_path, source)

    views = [each.enrichment.view for each in result.chunks[2:7]]
    assert views == ["window", "full", "full", "full", "window"]
    assert result.chunks[5].enrichment.reason == "one_chunk"


def _conditions(**said: Any) -> dict[str, Any]:
    return {"enrich_when": said}


def _reasons(source: Document, **conditions: Any) -> DocumentPlan:
    return planned(source, chunks_of(source), **_conditions(**conditions))


def test_only_what_is_allowed_is_asked_about_and_shown() -> None:
    """The rest is no neighbour, no heading of an outline and no text either."""
    secret = replace(PUBLIC, custom={"classification": "secret"})
    words = [*texts(4), "Unmentionable bands.", "Unmentionable rates."]
    source = replace(divided(document(*words), {4: secret, 5: secret}), metadata=PUBLIC)

    result = _reasons(source, classification=("public", "internal"))

    assert result.skipped == {4: "not_allowed", 5: "not_allowed"}
    assert len(result.passages) == 4
    assert all("Unmentionable" not in each.shown for each in result.requests)


@pytest.mark.parametrize(
    ("said", "is_asked"),
    [("en", True), ("en-US", True), ("EN", True), ("eng", False), (None, False)],
)
def test_a_language_is_allowed_with_its_regions(
    said: str | None, is_asked: bool
) -> None:
    """Word says `en-US` where an author says `en`."""
    source = document(*texts(2))
    source = replace(source, metadata=replace(source.metadata, language=said))

    result = _reasons(source, language=("en",))

    assert bool(result.passages) is is_asked


@pytest.mark.parametrize(
    ("said", "is_asked"),
    [
        pytest.param("public", True, id="a value that is named"),
        pytest.param("secret", False, id="another one"),
        pytest.param(None, False, id="none"),
        pytest.param(["public", "internal"], True, id="a list of named ones"),
        pytest.param(["public", "secret"], False, id="a list with another"),
        pytest.param([], False, id="an empty list"),
        pytest.param({"public": True}, False, id="a table"),
        pytest.param(1, True, id="a number that is named"),
        pytest.param(True, False, id="the truth is no number"),
    ],
)
def test_metadata_has_to_be_among_what_is_allowed(said: Any, *, is_asked: bool) -> None:
    """Of a list each value; what is missing or no value is not allowed."""
    source = document(*texts(3), custom={"classification": said})

    result = _reasons(source, classification=("public", "internal", 1))

    assert bool(result.requests) == is_asked
    assert set(result.skipped.values()) == (set() if is_asked else {"not_allowed"})


def test_every_key_counts_also_those_with_a_field() -> None:
    """`doc_type` and `language` are named like an author's own keys."""
    source = document(*texts(3), language="en", custom={"tier": 2})

    allowed = _reasons(source, doc_type=("policy",), language=("en", "de"), tier=(2,))
    refused = _reasons(source, doc_type=("policy",), language=("de",), tier=(2,))

    assert len(allowed.passages) == 3
    assert set(refused.skipped.values()) == {"not_allowed"}


def test_what_lies_in_something_that_is_not_allowed_is_not_either() -> None:
    """Title and headings above it would be shown with it."""
    source = divided(document(*texts(4)), {0: PUBLIC, 1: PUBLIC})

    result = _reasons(source, classification=("public",))

    assert result.requests == ()
    assert result.skipped == dict.fromkeys(range(4), "not_allowed")


def test_naming_chunks_does_not_open_what_is_closed() -> None:
    """Also what drafts questions is not shown what no model is to see."""
    secret = replace(PUBLIC, custom={"classification": "secret"})
    source = replace(divided(document(*texts(4)), {3: secret}), metadata=PUBLIC)
    chunks = chunks_of(source)

    result = planned(
        source,
        chunks,
        asked={each.chunk_id for each in chunks},
        **_conditions(classification=("public",)),
    )

    assert [each.index for each in result.passages] == [0, 1, 2]
