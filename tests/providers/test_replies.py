"""Replies are data from outside: read with care, never trusted to be whole."""

from __future__ import annotations

import copy
import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from situate.enrichment.exchange import Reply
from situate.errors import Unanswered
from situate.usage import Usage
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
    "reason", ["tool_use", "pause_turn", "tool_calls", "eos", None, 7, ["stop"]]
)
@pytest.mark.parametrize(
    ("text", "stop"),
    [
        ("It is about meals.", "end"),
        ("Is it about meals?**\n", "end"),
        ("本节规定限额。", "end"),
        ("It is about", "length"),
        ("", "end"),
    ],
)
def test_a_reply_that_stopped_for_no_known_reason_is_judged_by_its_text(
    vendor: Vendor, reason: object, text: str, stop: str
) -> None:
    """It was paid for: a whole sentence is used, half a one counts as cut off."""
    changes = {
        "stop_reason": reason,
        "content": text,
        **answered(reason, content=text),
    }

    reply = parsed(vendor, **changes)

    assert (reply.text, reply.stop) == (text, stop)
    assert reply.usage == Usage(uncached_input=9, output=5)


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


@pytest.mark.parametrize("value", [-5, 1.5, "9", True, [9], None], ids=repr)
def test_a_count_that_is_none_makes_the_usage_unknown(
    vendor: Vendor, value: object
) -> None:
    """No bill is made up from it, and no sentence is thrown away for it."""
    usage = {
        "input_tokens": 9,
        "prompt_tokens": 9,
        "output_tokens": value,
        "completion_tokens": value,
    }

    reply = parsed(vendor, usage=usage)

    assert (reply.text, reply.usage) == ("It is about meals.", None)


@pytest.mark.parametrize(
    "detail",
    [
        {"cache_read_input_tokens": -1},
        {"prompt_tokens_details": {"cached_tokens": "all"}},
    ],
    ids=["anthropic", "openai"],
)
def test_a_detail_that_is_no_count_makes_the_usage_unknown(
    detail: dict[str, Any],
) -> None:
    """What it would have cost depends on it."""
    vendor = OPENAI if "prompt_tokens_details" in detail else ANTHROPIC

    assert parsed(vendor, usage={**vendor.reply["usage"], **detail}).usage is None


def test_a_whole_number_written_as_a_fraction_is_a_count(vendor: Vendor) -> None:
    """Not every language tells 5.0 from 5."""
    usage = {name: float(count) for name, count in vendor.reply["usage"].items()}

    reply = parsed(vendor, usage=usage)

    assert repr(reply.usage) == repr(Usage(uncached_input=9, output=5))


@pytest.mark.parametrize("usage", [None, [], "9", {}], ids=repr)
def test_a_reply_that_does_not_say_what_it_used_is_a_reply(
    vendor: Vendor, usage: object
) -> None:
    """Servers that count nothing can be used all the same."""
    reply = parsed(vendor, usage=usage)

    assert (reply.text, reply.stop, reply.usage) == ("It is about meals.", "end", None)


@pytest.mark.parametrize(
    ("changes", "usage"),
    [
        pytest.param({}, Usage(uncached_input=9, output=5), id="said"),
        pytest.param({"usage": {"prompt_tokens": -1}}, None, id="odd"),
        pytest.param({"usage": None}, Usage(), id="none"),
    ],
)
@pytest.mark.parametrize(
    "broken",
    [{"error": {"message": "busy"}}, {"type": "error"}],
    ids=["error", "typed"],
)
def test_an_error_sent_as_a_success_costs_what_it_says(
    vendor: Vendor,
    broken: dict[str, Any],
    changes: dict[str, Any],
    usage: Usage | None,
) -> None:
    """It is asked again, and both are on the bill."""
    with pytest.raises(Unanswered, match="it is an error") as caught:
        parsed(vendor, **broken, **changes)

    assert caught.value.usage == usage


def test_an_error_in_place_of_a_choice_is_one() -> None:
    """Gateways pass on a model's failure inside a reply of their own."""
    choices = answered("error", content="It is")
    choices["choices"][0]["error"] = {"code": 502, "message": "overloaded"}

    with pytest.raises(Unanswered, match="cannot be used"):
        parsed(OPENAI, **choices)


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
    with pytest.raises(Unanswered, match="cannot be used") as caught:
        vendor.provider().parse(raw)

    assert caught.value.usage == Usage()


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
    """Any JSON is a reply or `Unanswered`; nothing else is ever raised."""
    usual = {**vendor.reply, **answered(content="x")}
    fields = st.fixed_dictionaries({}, optional=dict.fromkeys(usual, json_values))
    reply = {**usual, **data.draw(fields)}

    try:
        result = vendor.provider().parse(json.dumps(reply))
    except Unanswered:
        return

    assert isinstance(result.text, str)
    assert result.usage is None or result.usage.uncached_input >= 0
