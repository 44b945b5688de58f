"""Nothing leaves for where the organisation does not allow, whatever a corpus says."""

from __future__ import annotations

import asyncio
import json
import threading
from contextlib import contextmanager
from functools import partial
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import TYPE_CHECKING, Any

import pytest

from situate.compare.embedders import open_embedder
from situate.config import load
from situate.enrichment.providers.batching import open_batches
from situate.enrichment.providers.connection import connect
from situate.enrichment.providers.openai import VENDOR
from situate.errors import ConfigError, ProviderError
from situate.organisation import VARIABLE
from situate.pipeline import batches
from situate.pipeline.by_file import export
from situate.pipeline.comparison.drafting import drafted
from situate.pipeline.egress import egress_plans
from situate.pipeline.jobs import forecasts
from situate.pipeline.run import run
from tests.compare.command import QUESTIONS, situate
from tests.compare.planted import write_questions
from tests.compare.test_model_drafts import wanted
from tests.support.batches import asked_numbers, reply_to
from tests.support.chat import Answer, chatting
from tests.support.corpora import Corpus, Heard, asking, handbook
from tests.support.vendors import VENDORS, Vendor

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

NOBODY = "http://127.0.0.1:9/v1"
"""Where nothing listens."""


def corpus(folder: Path, address: str, **keys: object) -> Corpus:
    """Write a corpus that asks a server for what it lacks."""
    return handbook(
        folder,
        chunking={"min_tokens": 0},
        enrichment=asking(address, max_total_tokens=10_000_000, **keys),
        cache={"directory": "cache"},
    )


@pytest.fixture
def bound(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[str], Path]:
    """Give what writes the organisation's file."""
    path = tmp_path / "organisation.toml"
    monkeypatch.setenv(VARIABLE, str(path))

    def write(text: str) -> Path:
        path.write_text(f"[egress]\n{text}", "utf-8")
        return path

    return write


REFUSING = [
    (f"base_urls = ['{NOBODY}/other']", "base_urls", "base URL"),
    ("base_urls = []", "base_urls", "base URL"),
    ("models = ['other-model']", "models", "model 'local-model'"),
]


@pytest.mark.parametrize(("text", "key", "what"), REFUSING)
def test_a_run_that_is_not_allowed_ends_before_any_work(
    tmp_path: Path, bound: Callable[[str], Path], text: str, key: str, what: str
) -> None:
    """Exit code 2, and a line that names the config, what was asked and the key."""
    path = bound(text)
    with chatting() as chat:
        one = corpus(tmp_path / "c", chat.address)
        result = situate("run", one.config)

    assert result.exit_code == 2
    assert chat.bodies == []
    assert not one.chunks.exists()
    assert not (tmp_path / "c" / "cache").exists()
    message = result.stderr.removeprefix("situate: ").rstrip("\n")
    assert message.startswith(f"{one.config}: {what}")
    assert f"egress.{key} of {str(path)!r}" in message
    assert "\n" not in message


def test_a_corpus_cannot_widen_it(
    tmp_path: Path, bound: Callable[[str], Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Neither by its environment nor by a section of the same name."""
    bound("models = ['small']")
    with chatting() as chat:
        one = corpus(tmp_path / "c", chat.address, model="small")
        monkeypatch.setenv("SITUATE_ENRICHMENT_MODEL", "large")
        by_environment = situate("run", one.config)
        monkeypatch.delenv("SITUATE_ENRICHMENT_MODEL")
        one.config.write_text(
            one.config.read_text("utf-8") + "\n[egress]\nmodels = ['large']\n", "utf-8"
        )
        by_section = situate("run", one.config)

    assert (by_environment.exit_code, by_section.exit_code) == (2, 2)
    assert "model 'large' is refused" in by_environment.stderr
    assert "[egress] is no section" in by_section.stderr
    assert chat.bodies == []


def test_a_run_that_is_allowed_is_as_if_there_were_no_file(
    tmp_path: Path, bound: Callable[[str], Path]
) -> None:
    """The same chunks, byte for byte."""
    with chatting() as chat:
        plain = corpus(tmp_path / "a", chat.address)
        bound(f"base_urls = ['{chat.address}']\nmodels = ['local-*']\nbatch = false")
        bounded = corpus(tmp_path / "b", chat.address)
        results = [plain.run(), bounded.run()]

    assert [result.exit_code for result in results] == [0, 0]
    assert plain.chunks.read_bytes() == bounded.chunks.read_bytes()
    assert chat.bodies


@pytest.mark.parametrize(("text", "key", "what"), REFUSING)
def test_a_plan_says_what_a_run_would_refuse(
    tmp_path: Path, bound: Callable[[str], Path], text: str, key: str, what: str
) -> None:
    """A plan sends nothing, and may be made."""
    bound(text)
    configs = load([corpus(tmp_path / "c", NOBODY).config], environment={})

    (forecast,) = forecasts(configs, Heard())
    (leaving,) = egress_plans(configs, Heard())

    for objection in (forecast.objection, leaving.objection):
        assert str(objection).startswith("run would refuse this: ")
        assert what in str(objection)
        assert f"egress.{key}" in str(objection)


def test_the_vendor_itself_has_to_be_listed(
    tmp_path: Path, bound: Callable[[str], Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    """A config without an address asks at the vendor's own."""
    monkeypatch.setenv("SITUATE_ENRICHMENT_PROVIDER", "anthropic")
    bound("base_urls = ['https://api.anthropic.com.example']")
    one = handbook(
        tmp_path / "c",
        enrichment={
            "enabled": True,
            "provider": "anthropic",
            "model": "claude-haiku-5-5",
            "prompt": "findable-v1",
            "max_usd": 1,
        },
    )
    configs = load([one.config], environment={})

    with pytest.raises(ConfigError, match=r"'https://api\.anthropic\.com' is refused"):
        run(configs, Heard())
    bound("base_urls = ['https://api.anthropic.com']")
    (forecast,) = forecasts(configs, Heard())

    assert forecast.objection is None


@pytest.mark.parametrize("way", ["mode", "submit"])
def test_batches_can_be_refused_apart(
    tmp_path: Path, bound: Callable[[str], Path], way: str
) -> None:
    """By the mode of a config, and by the command whatever the mode."""
    bound("batch = false")
    mode = "batch" if way == "mode" else "live"
    (config,) = load([corpus(tmp_path, NOBODY, mode=mode).config], environment={})

    ask = partial(run, [config]) if way == "mode" else partial(batches.submit, config)
    with pytest.raises(
        ConfigError, match=r"a batch is refused: egress\.batch"
    ) as caught:
        ask(Heard())

    assert str(caught.value).startswith(f"{config.path}: ")


def test_writing_requests_to_a_file_and_replaying_are_no_egress(
    tmp_path: Path, bound: Callable[[str], Path]
) -> None:
    """Nothing leaves the machine."""
    bound("base_urls = []\nmodels = []\nbatch = false")
    (config,) = load([corpus(tmp_path / "a", NOBODY).config], environment={})
    replayed = handbook(
        tmp_path / "b",
        enrichment={
            "enabled": True,
            "provider": "replay",
            "model": "claude-haiku-5-5",
            "prompt": "findable-v1",
        },
    )

    assert export(config, tmp_path / "requests.jsonl", Heard()) > 0
    assert replayed.run().counts is not None


def test_drafting_is_bounded(tmp_path: Path, bound: Callable[[str], Path]) -> None:
    """Also the model that a flag names."""
    bound("models = ['local-model']")
    with chatting() as chat:
        (config,) = load([corpus(tmp_path, chat.address).config], environment={})
        with pytest.raises(ConfigError, match="model 'other' is refused"):
            drafted(config, wanted(model="other"), Heard())

    assert chat.bodies == []


def test_statements_for_a_comparison_are_bounded(
    tmp_path: Path, bound: Callable[[str], Path]
) -> None:
    """Before any is asked for."""
    bound("models = ['other-model']")
    with chatting() as chat:
        one = corpus(tmp_path / "c", chat.address)
        write_questions(one.folder / "q.jsonl", QUESTIONS)
        result = situate(
            *("compare", one.config, "--queries", one.folder / "q.jsonl"),
            *("--retrievers", "dense", "--embedder", "static"),
        )

    assert result.exit_code == 2
    assert "model 'local-model' is refused" in result.output
    assert chat.bodies == []


@pytest.mark.parametrize(
    ("text", "what"),
    [("base_urls = []", "base URL"), ("models = ['local-*']", "model 'vectors'")],
)
def test_embedders_are_bounded(
    bound: Callable[[str], Path], text: str, what: str
) -> None:
    """They get the chunks themselves."""
    bound(text)
    embedder: Any = open_embedder("openai:vectors", base_url=NOBODY)

    with pytest.raises(ConfigError, match=what):
        embedder.check()
    with pytest.raises(ConfigError, match=what):
        embedder.embed(["a"], "document")


@pytest.mark.parametrize("vendor", VENDORS, ids=lambda vendor: vendor.name)
def test_a_client_sends_nothing_that_is_not_allowed_whoever_asks_it(
    bound: Callable[[str], Path], vendor: Vendor
) -> None:
    """Where a caller forgets to ask before."""
    address = NOBODY.removesuffix("/v1")
    bound("models = ['other']")
    with pytest.raises(ConfigError, match=r"model .* is refused"):
        vendor.ask(base_url=address)
    bound("base_urls = ['http://127.0.0.1:9/elsewhere']")
    with pytest.raises(ConfigError, match=r"base URL .* is refused"):
        vendor.ask(base_url=address)


@pytest.mark.parametrize("name", ["anthropic", "openai"])
def test_no_entry_of_a_batch_is_written_where_batches_are_refused(
    bound: Callable[[str], Path], name: str
) -> None:
    """A file that is not there is handed to nobody."""
    bound("batch = false")
    system = open_batches(name, base_url=NOBODY, endpoint=None, timeout_seconds=5)

    with pytest.raises(ConfigError, match="a batch is refused"):
        system.encode("a", {"model": "local-model"})


def test_a_client_of_a_connection_reaches_no_other_address(
    bound: Callable[[str], Path],
) -> None:
    """Every single request is looked at, also those to elsewhere on the host."""
    import httpx2

    bound("base_urls = ['http://127.0.0.1:9/v1']")
    connection = connect(VENDOR, base_url=NOBODY, endpoint=None, timeout_seconds=1)

    async def post(url: str) -> None:
        async with httpx2.AsyncClient(**connection.client_options(None)) as client:
            await client.post(url, content=b"{}")

    for url in ("http://127.0.0.1:9/v2", "http://127.0.0.1:8/v1", "http://[::1]:9/v1"):
        with pytest.raises(ConfigError, match=r"base URL .* is refused"):
            asyncio.run(post(url))
    with pytest.raises(httpx2.ConnectError):
        asyncio.run(post("http://127.0.0.1:9/v1/chat/completions?x=1"))


@contextmanager
def listening(status: int, location: str = "") -> Iterator[tuple[str, list[str]]]:
    """Serve one answer to everything; give the address and what arrived."""
    arrived: list[str] = []

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.do_POST()

        def do_POST(self) -> None:
            arrived.append(self.path)
            self.rfile.read(int(self.headers.get("content-length", 0)))
            self.send_response(status)
            if location:
                self.send_header("location", location + self.path)
            self.send_header("content-length", "0")
            self.end_headers()

        def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - named so by the class above
            """Stay silent."""

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        thread = threading.Thread(target=server.serve_forever, args=(0.01,))
        thread.start()
        try:
            yield f"http://127.0.0.1:{server.server_port}", arrived
        finally:
            server.shutdown()
            thread.join()


@pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
def test_no_text_follows_a_redirect(status: int) -> None:
    """Models, embedders and batch systems alike: the other server hears nothing."""
    with (
        listening(200) as (other, arrived_there),
        listening(status, other) as (address, arrived),
    ):
        for vendor in VENDORS:
            with pytest.raises(ProviderError):
                vendor.ask(base_url=address)
            system = open_batches(
                vendor.name, base_url=address, endpoint=None, timeout_seconds=5
            )
            with pytest.raises(ProviderError):
                asyncio.run(system.poll("b1"))
        embedder = open_embedder("openai:vectors", base_url=address)
        with pytest.raises(ProviderError):
            embedder.embed(["a text"], "document")

    assert len(arrived) >= 5
    assert arrived_there == []


def grouped(body: dict[str, Any]) -> Answer:
    """Answer for every marked passage, or with a sentence."""
    return Answer(text=reply_to(str(len(asked_numbers(body))), body))


@pytest.mark.parametrize("view", ["marked", "full", "window"])
def test_what_is_said_to_leave_is_what_arrives(tmp_path: Path, view: str) -> None:
    """To the byte, with the cache as it is, and nothing once all is answered."""
    with chatting() as chat:
        chat.answer = grouped
        one = corpus(tmp_path, chat.address, view=view)
        configs = load([one.config], environment={})
        (before,) = egress_plans(configs, Heard())
        assert chat.bodies == []
        one.run()
        (after,) = egress_plans(configs, Heard())

    assert len(chat.bodies) == before.requests > 0
    assert before.bytes == sum(map(len, chat.bodies))
    assert {each.doc_id for each in before.documents} <= {
        "leave.md",
        "travel/abroad.md",
    }
    assert (after.requests, after.bytes, after.documents) == (0, 0, ())


def test_the_list_of_what_leaves_is_for_people_and_for_machines(
    tmp_path: Path, bound: Callable[[str], Path]
) -> None:
    """Host, address, model, file and every document."""
    path = bound("models = ['local-model']")
    one = corpus(tmp_path / "c", NOBODY)

    told = situate("plan", "--egress", one.config)
    (found,) = json.loads(situate("plan", "--egress", "--json", one.config).stdout)

    assert told.exit_code == 0
    for words in ("to 127.0.0.1:9", NOBODY, "local-model, live", f"bounded by {path}"):
        assert words in told.stdout
    assert found["host"] == "127.0.0.1:9"
    assert found["organisation"] == [str(path)]
    assert found["bytes"] == sum(each["bytes"] for each in found["documents"]) > 0
    assert found["documents"][0]["doc_id"] in told.stdout


def test_the_list_of_what_leaves_names_the_proxy_it_goes_through(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A proxy is bounded by no file, and its password is nobody's business."""
    monkeypatch.setenv("HTTP_PROXY", "http://me:password@proxy.test:3128")
    one = corpus(tmp_path / "c", NOBODY)

    told = situate("plan", "--egress", one.config)
    (found,) = json.loads(situate("plan", "--egress", "--json", one.config).stdout)

    assert "through    proxy http://proxy.test:3128," in told.stdout
    assert found["proxy"] == "http://proxy.test:3128"
    assert "password" not in told.output + json.dumps(found)


def test_where_nothing_leaves_the_list_says_so(tmp_path: Path) -> None:
    """Enrichment is off."""
    told = situate("plan", "--egress", handbook(tmp_path).config)

    assert "nothing leaves the machine: enrichment is off" in told.stdout
