"""Replies are data from outside: read with care, never trusted to be whole."""

from __future__ import annotations

import copy
import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from situate.enrichment.exchange import Reply, Usage
from situate.errors import TransientError
from tests.support.vendors import ANTHROPIC, OPENAI, VENDORS, Vendor


def parsed(vendor: Vendor, **changes: Any) -> Reply:
    """Parse the vendor's usual reply with some of its fields changed."""
    data = {**copy.deepcopy(vendor.reply), **changes}
    return vendor.provider().parse(json.dumps(data))


def answered(finish_reason: object = "stop", **message: Any) -> dict[str, Any]:
    """Give the choices of a reply of OpenAI's with this message."""
    said = {"role": "assistant", **message}
    return {"choices": [{"index": 0, "finish_reason": finish_reason, "message": said}]}


def test_a_usual_reply_is_read(vendor: Vendor) -> None:
    """Text, stop reason, usage and the model that answered."""
    assert parsed(vendor) == Reply(
        text="It is about meals.",
        stop="end",
        usage=Usage(uncached_input=9, output=5),
        model=vendor.model,
    )


@pytest.mark.parametrize(
    ("reason", "stop"),
    [
        ("end_turn", "end"),
        ("stop_sequence", "end"),
        ("max_tokens", "length"),
        ("model_context_window_exceeded", "length"),
        ("refusal", "refusal"),
    ],
)
def test_claude_says_why_it_stopped(reason: str, stop: str) -> None:
    """A sentence cut off or refused is told from one that ended."""
    assert parsed(ANTHROPIC, stop_reason=reason).stop == stop


@pytest.mark.parametrize(
    ("reason", "stop"),
    [("stop", "end"), ("length", "length"), ("content_filter", "refusal")],
)
def test_openai_says_why_it_stopped(reason: str, stop: str) -> None:
    """A sentence cut off or filtered is told from one that ended."""
    assert parsed(OPENAI, **answered(reason, content="x")).stop == stop


@pytest.mark.parametrize(
    "reason", ["tool_use", "pause_turn", "tool_calls", "new_reason", None, 7, ["stop"]]
)
def test_a_reply_that_stopped_for_no_known_reason_is_not_used(
    vendor: Vendor, reason: object
) -> None:
    """Nobody knows whether such a sentence is whole; asking again may help."""
    changes = {"stop_reason": reason, **answered(reason, content="x")}

    with pytest.raises(TransientError, match="reason is"):
        parsed(vendor, **changes)


def test_thinking_is_not_what_claude_said() -> None:
    """Thinking comes first and is left out; text may come in several blocks."""
    content = [
        {"type": "thinking", "thinking": "Hm.", "signature": "s"},
        {"type": "redacted_thinking", "data": "x"},
        {"type": "text", "text": "It is "},
        {"type": "text", "text": "about meals."},
        {"type": "new_kind", "text": "?"},
    ]

    assert parsed(ANTHROPIC, content=content).text == "It is about meals."


def test_reasoning_is_not_what_an_openai_model_said() -> None:
    """Compatible servers put thinking beside the content."""
    choices = answered(content="It is.", reasoning_content="Hm.", reasoning="Hm.")

    assert parsed(OPENAI, **choices).text == "It is."


@pytest.mark.parametrize(
    "content",
    [None, "", [], [{}], [None], [{"type": "thinking", "thinking": "Hm."}], 7, {}],
    ids=repr,
)
def test_a_reply_without_words_is_empty_text(vendor: Vendor, content: object) -> None:
    """Nothing said is nothing, not the word None; the gate decides about it."""
    changes = {"content": content, **answered(content=content)}

    assert parsed(vendor, **changes).text == ""


def test_text_in_parts_is_joined() -> None:
    """Some servers send a list of parts where OpenAI sends a text."""
    parts = [{"type": "text", "text": "It "}, {"type": "text", "text": "is."}]

    assert parsed(OPENAI, **answered(content=parts)).text == "It is."


def test_a_refusal_beside_the_content_is_a_refusal() -> None:
    """OpenAI refuses in a field of its own, under the usual stop reason."""
    reply = parsed(OPENAI, **answered(content=None, refusal="I cannot help."))

    assert (reply.stop, reply.text) == ("refusal", "I cannot help.")


def test_claude_counts_cached_input_apart() -> None:
    """`input_tokens` holds neither what was written nor what was read."""
    reply = parsed(
        ANTHROPIC,
        usage={
            "input_tokens": 10,
            "cache_creation_input_tokens": 200,
            "cache_read_input_tokens": 3000,
            "output_tokens": 50,
            "output_tokens_details": {"thinking_tokens": 20},
        },
    )

    assert reply.usage == Usage(
        uncached_input=10, cache_write=200, cache_read=3000, output=50, thinking=20
    )
    assert reply.usage.input == 3210


def test_openai_counts_cached_input_twice() -> None:
    """`prompt_tokens` holds what was written and what was read."""
    reply = parsed(
        OPENAI,
        usage={
            "prompt_tokens": 3210,
            "completion_tokens": 50,
            "prompt_tokens_details": {"cached_tokens": 3000, "cache_write_tokens": 200},
            "completion_tokens_details": {"reasoning_tokens": 20},
        },
    )

    assert reply.usage == Usage(
        uncached_input=10, cache_write=200, cache_read=3000, output=50, thinking=20
    )
    assert reply.usage.input == 3210


def test_counts_that_are_null_are_zero(vendor: Vendor) -> None:
    """Servers without a cache send null, or leave the detail out."""
    usage = {
        "input_tokens": 9,
        "cache_creation_input_tokens": None,
        "output_tokens": 5,
        "output_tokens_details": None,
        "prompt_tokens": 9,
        "completion_tokens": 5,
        "prompt_tokens_details": None,
    }

    assert parsed(vendor, usage=usage).usage == Usage(uncached_input=9, output=5)


def test_more_cached_than_sent_is_no_negative_count() -> None:
    """A server that counts wrongly cannot make a run look cheaper than free."""
    usage = {
        "prompt_tokens": 5,
        "completion_tokens": 1,
        "prompt_tokens_details": {"cached_tokens": 9},
    }

    assert parsed(OPENAI, usage=usage).usage.uncached_input == 0


@pytest.mark.parametrize("value", [-1, 1.5, "9", True, [9]], ids=repr)
def test_a_count_that_is_none_spoils_the_reply(vendor: Vendor, value: object) -> None:
    """A bill is never made up from what cannot be counted."""
    usage = {"output_tokens": value, "completion_tokens": value}

    with pytest.raises(TransientError, match="_tokens"):
        parsed(vendor, usage=usage)


@pytest.mark.parametrize("usage", [None, [], "9"], ids=repr)
def test_a_reply_without_usage_is_not_used(vendor: Vendor, usage: object) -> None:
    """What was paid for it could not be told."""
    with pytest.raises(TransientError, match="used"):
        parsed(vendor, usage=usage)


@pytest.mark.parametrize(
    "raw",
    [
        "",
        "<html><body>Bad gateway</body></html>",
        '{"choices": [{"finish',
        "null",
        "[]",
        '"It is about meals."',
        "[" * 100_000,
        '{"error": {"message": "rate limit", "code": 429}}',
        '{"error": "model is loading"}',
        '{"type": "error", "error": {"type": "overloaded_error"}}',
        "{}",
        '{"choices": []}',
        '{"choices": [null]}',
        '{"choices": {"0": {}}}',
        '{"choices": [{"finish_reason": "stop", "message": null}]}',
    ],
    ids=[
        "empty",
        "html",
        "half",
        "null",
        "list",
        "text",
        "deep",
        "error",
        "bare error",
        "typed error",
        "nothing",
        "no choice",
        "null choice",
        "odd choices",
        "null message",
    ],
)
def test_a_success_that_is_no_reply_is_worth_another_try(
    vendor: Vendor, raw: str
) -> None:
    """Status 200 alone makes no reply."""
    with pytest.raises(TransientError, match="cannot be used"):
        vendor.provider().parse(raw)


words = st.sampled_from(["", "type", "text", "error", "usage", "content", "stop", "x"])
json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | words,
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(words, inner, max_size=3)
    ),
    max_leaves=5,
)


@pytest.mark.parametrize("vendor", VENDORS, ids=lambda vendor: vendor.name)
@given(data=st.data())
def test_no_reply_whatever_its_shape_breaks_the_reader(
    vendor: Vendor, data: st.DataObject
) -> None:
    """Any JSON is a reply or a `TransientError`; nothing else is ever raised."""
    usual = {**vendor.reply, **answered(content="x")}
    fields = st.fixed_dictionaries({}, optional=dict.fromkeys(usual, json_values))
    reply = {**usual, **data.draw(fields)}

    try:
        result = vendor.provider().parse(json.dumps(reply))
    except TransientError:
        return

    assert isinstance(result.text, str)
    assert result.usage.uncached_input >= 0
