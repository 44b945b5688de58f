"""The plan: what is asked, under which keys, for how much."""

from __future__ import annotations

from dataclasses import replace
from decimal import Decimal
from typing import TYPE_CHECKING, Any

import pytest

from situate.enrichment.estimate import estimate
from situate.enrichment.providers.scripted import ScriptedProvider
from situate.model import Metadata
from situate.prompts import load_prompt
from tests.enrichment.scenes import (
    COUNTER,
    PRICES,
    chunks_of,
    document,
    facts,
    planned,
    settings,
    texts,
)

if TYPE_CHECKING:
    from situate.model import Document

SOURCE = document(*texts(3))


def _keys(source: Document = SOURCE, **changes: Any) -> list[str]:
    return [each.chunk_key for each in planned(source, **changes).passages]


def test_every_leaf_is_asked_about_once_and_nothing_else() -> None:
    """Containers and records that are not embedded cost nothing."""
    leaves = chunks_of(SOURCE)
    container = replace(leaves[0], chunk_id="policy:_doc", embed=False)

    result = planned(SOURCE, (container, *leaves))

    assert [passage.index for passage in result.passages] == [1, 2, 3]


def test_all_requests_of_a_document_begin_alike() -> None:
    """Scene L18: the bytes before the chunk are the same in every request."""
    requests = planned(document(*texts(20))).requests

    assert len({request.rendered.system for request in requests}) == 1
    assert len({request.rendered.document for request in requests}) == 1
    assert len({request.rendered.chunk for request in requests}) == 20


def test_a_plan_is_the_same_every_time() -> None:
    """Nothing in a request is random, dated or counted."""
    first, second = planned(SOURCE), planned(SOURCE)

    assert first == second
    assert [r.reply_key for r in first.requests] == [
        r.reply_key for r in second.requests
    ]


def test_the_model_sees_title_type_headings_and_text_alone() -> None:
    """Source, language, dates and an author's own keys stay at home."""
    source = document(
        *texts(1),
        source="secret-path",
        language="xx-secret",
        effective_from="1999-01-01",
        custom={"owner": "secret-owner"},
    )

    (request,) = planned(source).requests

    shown = "".join((request.rendered.document, request.rendered.chunk))
    assert "Title: Travel\nType: policy\n" in shown
    assert "Headings: [policy] Travel > Part 0\n" in shown
    assert "secret" not in shown
    assert "1999" not in shown


@pytest.mark.parametrize(
    "text", ["{chunk} and {0}", "$chunk and $$", "<|endoftext|> and <|im_start|>system"]
)
def test_hostile_text_is_counted_and_shown_as_it_is(text: str) -> None:
    """Scenes L13 and L14: braces, dollars and special tokens are plain text."""
    (request,) = planned(document(text)).requests

    assert text in request.rendered.document
    assert text in request.rendered.chunk
    assert request.input_tokens > 0


@pytest.mark.parametrize(
    "change",
    [
        pytest.param({"model": "another-model"}, id="L31-model"),
        pytest.param({"prompt": "situating-v1"}, id="L33-prompt"),
        pytest.param({"statement_max_tokens": 61}, id="L33-output-limit"),
        pytest.param(
            {"provider": ScriptedProvider([], endpoint="elsewhere")}, id="L32-endpoint"
        ),
        pytest.param(
            {"provider": ScriptedProvider([], name="other")}, id="L32-provider"
        ),
    ],
)
def test_what_an_answer_depends_on_is_in_its_key(change: dict[str, Any]) -> None:
    """Another model, server, prompt or parameter is another question."""
    before, after = planned(SOURCE).requests[0], planned(SOURCE, **change).requests[0]

    assert before.passages[0].chunk_key != after.passages[0].chunk_key
    assert before.reply_key != after.reply_key


def test_a_letter_of_the_prompt_file_is_in_the_key() -> None:
    """Scene L33: an edited prompt is another prompt."""
    prompt = load_prompt("findable-v1")

    edited = replace(prompt, hash="0" * 32)

    assert _keys(prompt=prompt) != _keys(prompt=edited)


@pytest.mark.parametrize(
    "other",
    [
        pytest.param(document(*texts(3), "A new end."), id="document-around-it"),
        pytest.param(document(*texts(3), title="Trips"), id="title"),
        pytest.param(document(*texts(3), doc_type="guide"), id="type"),
    ],
)
def test_the_document_around_a_chunk_is_in_its_key(other: Document) -> None:
    """Scene L34: equal chunk text in another document is another question."""
    assert not set(_keys()) & set(_keys(other))


def test_equal_chunks_of_one_document_have_keys_of_their_own() -> None:
    """Scene L34: the second of two equal passages is not the first."""
    twin = replace(chunks_of(SOURCE)[0], chunk_id="policy:part-0~2")

    requests = planned(SOURCE, (chunks_of(SOURCE)[0], twin)).requests

    assert requests[0].passages[0].chunk_key != requests[1].passages[0].chunk_key
    assert requests[0].reply_key == requests[1].reply_key


def test_ids_names_dates_and_run_settings_are_in_no_key() -> None:
    """A renamed file, another version or another speed asks nothing anew."""
    moved = document(*texts(3), doc_id="archive/old", source="x", language="en")

    assert _keys(moved) == _keys()
    assert _keys(concurrency=1, max_attempts=9, max_usd=Decimal(1)) == _keys()


def test_a_parameter_inside_the_provider_is_in_the_key() -> None:
    """Scene L33: what is sent beside the prompt counts, whoever adds it."""

    class Warmer(ScriptedProvider):
        def render(self, *arguments: Any) -> Any:
            return {**super().render(*arguments), "temperature": 0.7}

    assert _keys(provider=Warmer([])) != _keys()


def test_marks_inside_messages_are_in_no_chunk_key() -> None:
    """How a request is cached by a vendor does not change what is asked."""

    class Marked(ScriptedProvider):
        def render(self, *arguments: Any) -> Any:
            body = dict(super().render(*arguments))
            return {**body, "document": [{"text": body["document"], "cache": True}]}

    assert _keys(provider=Marked([])) == _keys()


def test_an_estimate_is_a_price_before_anything_is_sent() -> None:
    """The low figure is one sentence each, the high one every limit reached."""
    result = estimate(
        [planned(SOURCE)],
        settings=settings(requests_per_minute=6),
        facts=facts(PRICES),
        known=lambda passage: passage.index == 0,
    )

    assert (result.chunks, result.cached, result.requests) == (3, 1, 2)
    assert result.follow_ups == 4
    assert result.usd_low == Decimal(result.input_tokens + result.output_tokens) / 1000
    assert result.usd_high is not None
    assert result.usd_high > result.usd_low * Decimal("1.2")
    assert result.hours == pytest.approx(2 / 6 / 60)


def test_equal_requests_are_priced_once() -> None:
    """Two corpora files with the same content are asked about once."""
    copies = [planned(SOURCE), planned(document(*texts(3), doc_id="copy"))]

    result = estimate(
        iter(copies), settings=settings(), facts=facts(), known=lambda _: False
    )

    assert (result.chunks, result.requests) == (6, 3)
    assert result.usd_low is None
    assert result.usd_high is None


def test_thinking_that_cannot_be_switched_off_is_in_the_high_figure() -> None:
    """Thinking is billed as output."""
    plain, thinking = (
        estimate(
            [planned(SOURCE)],
            settings=settings(),
            facts=facts(PRICES, thinking_reserve=reserve),
            known=lambda _: False,
        )
        for reserve in (0, 1000)
    )

    assert plain.usd_high is not None
    assert thinking.usd_high == plain.usd_high + 3
    assert thinking.usd_low == plain.usd_low


def test_estimated_input_is_close_to_a_real_count() -> None:
    """Sums of what the chunker counted stand in for counting every request."""
    source = document(*(" ".join(texts(12)) for _ in range(10)))

    for request in planned(source).requests:
        parts = request.rendered
        real = COUNTER.count(parts.system + parts.document + parts.chunk)
        assert request.input_tokens == pytest.approx(real, rel=0.05)


def test_a_document_without_title_and_type_is_planned() -> None:
    """Nothing is said where nothing is known."""
    source = replace(SOURCE, metadata=Metadata())

    (request, *_) = planned(source, chunks_of(SOURCE)).requests

    assert "None" not in request.rendered.document
