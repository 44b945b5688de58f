"""What goes over the wire: exactly the rendered body, to exactly one address."""

from __future__ import annotations

import dataclasses
import json
import subprocess
import sys
from typing import TYPE_CHECKING, Any

import httpx
import pytest

from situate.enrichment.exchange import Parameters, Rendered
from situate.enrichment.providers.connection import on_the_wire
from situate.errors import UnsupportedParameter
from tests.support.http import mocked
from tests.support.vendors import (
    ANTHROPIC,
    KEY,
    OPENAI,
    RENDERED,
    Vendor,
    failure_of,
)

if TYPE_CHECKING:
    from situate.enrichment.exchange import Body

LONG = Rendered(
    system="You place passages.",
    document="A sentence of the document. " * 400,
    chunk="The chunk.",
)


def sent_with(vendor: Vendor, body: Body | None = None, **settings: Any) -> Any:
    """Send a request and give what arrived."""
    url = settings.pop("url", vendor.url)
    with mocked() as router:
        route = router.post(url).mock(httpx.Response(200, json=vendor.reply))
        vendor.ask(body, **settings)
    assert route.call_count == 1
    return route.calls[0].request


def as_json(body: Body) -> Any:
    """Give a body as the other side reads it."""
    return json.loads(on_the_wire(body))


def test_the_body_on_the_wire_is_the_rendered_one(vendor: Vendor) -> None:
    """SDKs add, rename and leave out nothing: the body's hash names the request."""
    body = vendor.body()

    request = sent_with(vendor, body)

    assert request.content == on_the_wire(body)
    assert json.loads(request.content) == body


@pytest.mark.parametrize(
    "text",
    ["{chunk} $document {{x}} %s", "e\u0301 \U0001f600 \u4e2d\u6587", "a\ud83d b"],
    ids=["placeholders", "non-ascii", "half a surrogate pair"],
)
def test_hostile_text_arrives_unchanged(vendor: Vendor, text: str) -> None:
    """What stands in a document is data, to the last character."""
    rendered = Rendered(system="s", document=text, chunk="c")

    request = sent_with(vendor, vendor.body(rendered=rendered))

    assert text in json.dumps(json.loads(request.content), ensure_ascii=False)


def test_only_needed_headers_leave(vendor: Vendor) -> None:
    """Neither the machine nor the Python it runs on is told to anyone."""
    request = sent_with(vendor)

    assert set(request.headers) <= {
        "accept",
        "accept-encoding",
        "anthropic-version",
        "authorization",
        "connection",
        "content-length",
        "content-type",
        "host",
        "user-agent",
    }
    assert request.headers["authorization"] == f"Bearer {KEY}"


def test_no_variable_of_the_environment_changes_a_request(
    vendor: Vendor, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Config decides where text goes; only the key comes from the environment."""
    untouched = sent_with(vendor)
    for prefix in ("ANTHROPIC", "OPENAI"):
        monkeypatch.setenv(f"{prefix}_BASE_URL", "https://elsewhere.test/v1")
        monkeypatch.setenv(f"{prefix}_AUTH_TOKEN", "another-token")
        monkeypatch.setenv(
            f"{prefix}_CUSTOM_HEADERS",
            "Host: elsewhere.test\nAuthorization: Bearer other\nX-Extra: 1",
        )
    monkeypatch.setenv("OPENAI_ORG_ID", "org-1")
    monkeypatch.setenv("OPENAI_PROJECT_ID", "proj-1")
    monkeypatch.setenv("OPENAI_ADMIN_KEY", "sk-admin")

    touched = sent_with(vendor)

    assert touched.url == untouched.url
    assert dict(touched.headers) == dict(untouched.headers)
    assert touched.content == untouched.content


def test_a_key_may_stand_in_a_mounted_file(
    vendor: Vendor, monkeypatch: pytest.MonkeyPatch, tmp_path: Any
) -> None:
    """A secret mounted as a file is read from there, its line end cut off."""
    (tmp_path / "key").write_text("sk-from-the-file\n", encoding="utf-8")
    body = vendor.body()
    monkeypatch.delenv(vendor.variable)
    monkeypatch.setenv(f"{vendor.variable}_FILE", str(tmp_path / "key"))

    request = sent_with(vendor, body)

    assert request.headers["authorization"] == "Bearer sk-from-the-file"


@pytest.mark.parametrize(
    ("vendor", "url"),
    [
        (ANTHROPIC, "http://127.0.0.1:9/v1/messages"),
        (OPENAI, "http://127.0.0.1:9/chat/completions"),
    ],
    ids=["anthropic", "openai"],
)
def test_a_server_of_ones_own_needs_no_key(
    vendor: Vendor, url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Local servers ask for no key; a harmless word goes in its place."""
    body = vendor.body()
    monkeypatch.delenv(vendor.variable)

    request = sent_with(vendor, body, base_url="http://127.0.0.1:9/", url=url)

    assert request.headers["authorization"] == "Bearer no-key-needed"


def test_one_send_is_one_request(vendor: Vendor) -> None:
    """The SDK retries nothing: that happens once, above the provider."""
    with mocked() as router:
        route = router.post(vendor.url).mock(httpx.Response(503))

        with pytest.raises(Exception, match="503"):
            vendor.ask()

    assert route.call_count == 1


def test_claude_gets_the_document_first() -> None:
    """What all chunks share stands first, in a block of its own."""
    body = ANTHROPIC.body(rendered=LONG)

    assert body == {
        "model": "claude-haiku-5-5",
        "max_tokens": 60,
        "system": [{"type": "text", "text": LONG.system}],
        "messages": [
            {
                "role": "user",
                "content": [
                    {"type": "text", "text": LONG.document},
                    {"type": "text", "text": LONG.chunk},
                ],
            }
        ],
        "thinking": {"type": "disabled"},
    }


def shared_prefix(vendor: Vendor, model: str, chunk: str, **changes: Any) -> Body:
    """Render a request whose document the vendor is to keep."""
    return vendor.provider(model=model).render(
        dataclasses.replace(LONG, chunk=chunk),
        Parameters(model=model, max_output_tokens=60, cached=True, **changes),
    )


def test_claude_is_told_where_what_it_keeps_ends() -> None:
    """The mark stands behind the document; a request without one keeps nothing."""
    (message,) = as_json(shared_prefix(ANTHROPIC, ANTHROPIC.model, "c"))["messages"]

    document, chunk = message["content"]
    assert document["cache_control"] == {"type": "ephemeral"}
    assert document["text"] == LONG.document
    assert "cache_control" not in chunk
    assert "cache_control" not in json.dumps(ANTHROPIC.body(rendered=LONG))


def test_openai_keeps_nothing_that_nobody_reads() -> None:
    """From GPT-5.6 on whatever is written is billed, the last message by default."""
    body = OPENAI.body()

    assert body == {
        "model": "gpt-6-luna",
        "max_completion_tokens": 60,
        "messages": [
            {"role": "system", "content": RENDERED.system},
            {"role": "user", "content": f"{RENDERED.document}\n\n{RENDERED.chunk}"},
        ],
        "reasoning_effort": "none",
        "store": False,
        "prompt_cache_options": {"mode": "explicit"},
    }


@pytest.mark.parametrize("model", ["gpt-6-luna", "gpt-5.6-luna", "gpt-5.6-terra"])
def test_openai_is_told_where_what_it_keeps_ends(model: str) -> None:
    """From GPT-5.6 on a prefix is found only where a breakpoint ends it."""
    body = as_json(shared_prefix(OPENAI, model, "One."))
    other = as_json(shared_prefix(OPENAI, model, "Another."))

    mark = {"mode": "explicit"}
    assert body["prompt_cache_options"] == mark
    assert body["messages"] == [
        {"role": "system", "content": LONG.system},
        {
            "role": "user",
            "content": [
                {
                    "type": "text",
                    "text": LONG.document,
                    "prompt_cache_breakpoint": mark,
                },
                {"type": "text", "text": "One."},
            ],
        },
    ]
    assert other["messages"][-1]["content"][0] == body["messages"][-1]["content"][0]
    assert other["prompt_cache_key"] == body["prompt_cache_key"]


@pytest.mark.parametrize("model", ["gpt-5.4-mini", "gpt-5.5", "gpt-5", "gpt-4.1-mini"])
def test_older_models_of_openai_find_a_prefix_by_themselves(model: str) -> None:
    """They know no breakpoints; requests that share a document share a key."""
    body = as_json(shared_prefix(OPENAI, model, "One."))
    other = as_json(shared_prefix(OPENAI, model, "Another."))

    assert "prompt_cache_options" not in body
    assert body["messages"][-1]["content"] == f"{LONG.document}\n\nOne."
    assert other["prompt_cache_key"] == body["prompt_cache_key"]


def test_a_server_without_breakpoints_is_sent_none() -> None:
    """Where the options are refused, the marks that go with them stay away too."""
    body = as_json(
        shared_prefix(
            OPENAI, OPENAI.model, "One.", dropped=frozenset({"prompt_cache_options"})
        )
    )

    assert "prompt_cache_options" not in body
    assert body["messages"][-1]["content"] == f"{LONG.document}\n\nOne."


@pytest.mark.parametrize(
    "said",
    [
        {
            "message": "Unknown parameter: 'prompt_cache_options.mode'.",
            "type": "invalid_request_error",
            "param": "prompt_cache_options.mode",
            "code": "unknown_parameter",
        },
        {"message": "prompt_cache_options: Extra inputs are not permitted"},
    ],
    ids=["by name", "in words"],
)
def test_cache_options_that_are_refused_are_found(said: dict[str, str]) -> None:
    """What a server does not know is left out from then on, not given up."""
    body = shared_prefix(OPENAI, OPENAI.model, "One.")

    error = failure_of(OPENAI, httpx.Response(400, json={"error": said}), body=body)

    assert isinstance(error, UnsupportedParameter)
    assert error.parameter == "prompt_cache_options"


def test_an_unknown_server_is_asked_only_what_every_server_knows() -> None:
    """vLLM, Ollama and llama.cpp get no key that only one vendor has."""
    body = OPENAI.body(model="llama-3")

    assert set(body) == {"model", "max_tokens", "messages", "temperature"}
    assert body["temperature"] == 0


@pytest.mark.parametrize("part", ["system", "document"])
def test_an_empty_part_is_left_out(vendor: Vendor, part: str) -> None:
    """Views without a document, or prompts without instructions, send no blanks."""
    body = vendor.body(rendered=dataclasses.replace(RENDERED, **{part: ""}))

    text = json.dumps(body)
    assert '""' not in text
    assert r'"\n\n' not in text


def test_a_dropped_key_is_left_out(vendor: Vendor) -> None:
    """A key that the endpoint refused once is never sent again."""
    body = vendor.body()
    spare = max(body.keys() - {"model", "system", "messages", "max_tokens"})

    rendered = vendor.provider().render(
        RENDERED,
        Parameters(
            model=vendor.model, max_output_tokens=60, dropped=frozenset({spare})
        ),
    )

    assert rendered == {key: body[key] for key in body if key != spare}


@pytest.mark.parametrize(
    ("model", "refused", "instead"),
    [
        ("llama-3", "max_tokens", "max_completion_tokens"),
        ("gpt-6-luna", "max_completion_tokens", "max_tokens"),
    ],
)
def test_the_limit_on_output_is_renamed_and_never_dropped(
    model: str, refused: str, instead: str
) -> None:
    """Without a limit one request could cost anything."""
    body = OPENAI.provider(model=model).render(
        RENDERED,
        Parameters(model=model, max_output_tokens=60, dropped=frozenset({refused})),
    )

    assert refused not in body
    assert body[instead] == 60


def test_a_model_that_always_thinks_gets_room_for_it() -> None:
    """Thinking counts against the limit; an answer has to fit behind it."""
    body = ANTHROPIC.body(model="claude-opus-5-5")

    assert body["max_tokens"] == 60 + 1024


def test_building_a_provider_loads_no_sdk() -> None:
    """SDKs take seconds to load, and plans and dry runs never send."""
    program = (
        "import sys\n"
        "from situate.enrichment.providers import open_provider\n"
        "for name in ('anthropic', 'openai'):\n"
        "    open_provider(name, model='m', base_url='http://127.0.0.1:9',\n"
        "        endpoint=None, timeout_seconds=1, replay=None)\n"
        "print(*{'anthropic', 'openai', 'httpx2', 'pydantic'} & set(sys.modules))\n"
    )

    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    )

    assert done.stdout.strip() == ""
