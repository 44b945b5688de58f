"""`forget` after everything has been run: a search finds the document nowhere (S8)."""

from __future__ import annotations

import json
import re
import shutil
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from typer.testing import CliRunner

from situate.cli import app
from situate.enrichment.cache import Cache, User
from situate.output import Draft
from tests.compare import embedding_servers
from tests.compare.planted import write_questions
from tests.support.batches import batching
from tests.support.chat import chatting
from tests.support.corpora import Corpus, asking
from tests.support.memory_disk import memory_disk
from tests.support.planted import (
    NAME,
    PLANTED,
    TERMS,
    files_in,
    naming,
    planted,
    removed,
    statement,
)

if TYPE_CHECKING:
    from collections.abc import Iterator

    from typer.testing import Result

PAGE = Path(__file__).parents[2] / "docs" / "forgetting.md"

QUESTIONS: list[dict[str, object]] = [
    {
        "qid": "paid",
        "query": f"What is {NAME} paid?",
        "gold": [{"doc_id": PLANTED, "text": f"| {NAME} | 4,711 |"}],
    },
    {
        "qid": "abroad",
        "query": "Whom do I ask before I go on a journey abroad?",
        "gold": [{"doc_id": "travel/abroad.md", "text": "Ask the office in charge"}],
    },
]


def situate(*arguments: str | Path) -> Result:
    """Run a command that ends well."""
    result = CliRunner().invoke(app, [str(argument) for argument in arguments])
    assert result.exit_code in {0, 3}, (arguments, result.output)
    return result


@pytest.fixture(scope="module")
def once(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Corpus]:
    """Run everything that leaves something behind."""
    with (
        memory_disk(tmp_path_factory.mktemp("everything")) as folder,
        pytest.MonkeyPatch.context() as patch,
    ):
        patch.setenv("OPENAI_API_KEY", "a-key-for-loopback")
        yield _everything(folder)


@pytest.fixture
def ran(once: Corpus, tmp_path: Path) -> Corpus:
    """Give a copy of what everything has left."""
    shutil.copytree(once.folder, tmp_path / "here")
    return Corpus(folder=tmp_path / "here")


def _everything(folder: Path) -> Corpus:
    corpus = planted(folder)
    mine = folder / "mine"
    write_questions(mine / "q.jsonl", QUESTIONS)
    log: list[dict[str, object]] = [
        {"qid": str(each["qid"]), "query": each["query"]} for each in QUESTIONS
    ]
    write_questions(mine / "log.jsonl", log)
    with chatting() as chat, embedding_servers.speaking() as vectors:
        chat.answer = statement
        _ask(corpus, asking(chat.address, view="full", max_total_tokens=10_000_000))
        situate("run", corpus.config)
        situate("inspect", corpus.chunks, "-o", mine / "page.html")
        situate(
            *("compare", corpus.config, "--queries", mine / "q.jsonl"),
            *("--query-log", mine / "log.jsonl", "--statement-in", "both"),
            *("--embedder", "openai:e5", "--embedder-url", vectors.address),
        )
        situate(
            *("queries", "make", corpus.config, "--kinds", "headings,model"),
            *("--out", mine / "drafted.jsonl"),
        )
    _in_batches(corpus)
    _nights(corpus)
    _killed(corpus)
    return corpus


def _ask(corpus: Corpus, enrichment: dict[str, object]) -> None:
    corpus.configure(
        chunking={"max_tokens": 64, "min_tokens": 0},
        enrichment=enrichment,
        cache={"directory": "cache"},
        output={"parquet": True},
    )


def _in_batches(corpus: Corpus) -> None:
    """Have a vendor's batch system asked, one ticket closed."""
    with batching("openai") as vendor:
        _ask(
            corpus,
            asking(
                vendor.base_url,
                endpoint="batches",
                view="full",
                mode="batch",
                max_total_tokens=10_000_000,
            ),
        )
        situate("run", corpus.config)
        vendor.end_all()
        situate("batch", "collect", corpus.config)
        situate("run", corpus.config)


def _nights(corpus: Corpus) -> None:
    """Sync twice, the second time without a word from the store."""
    corpus.configure(
        chunking={"max_tokens": 64, "min_tokens": 0},
        cache={"directory": "cache"},
    )
    run = situate("sync", corpus.config).stdout.strip()
    situate("ack", run, "--config", corpus.config)
    corpus.document(PLANTED, TERMS.replace("15", "16"))
    situate("sync", corpus.config)


def _killed(corpus: Corpus) -> None:
    """Leave what a killed run leaves: a draft, half a line, a reply nobody read."""
    for path in (corpus.chunks, corpus.chunks.with_suffix(".parquet")):
        draft = Draft(path)
        draft.write(TERMS.encode())
        draft.finish()
    ledger = corpus.chunks.with_name("handbook.ledger.jsonl")
    with ledger.open("a", encoding="utf-8") as file:
        file.write('{"schema": 2, "chunk_ids": ["partners/quorv')
    with Cache(corpus.folder / "cache") as cache:
        user = User(corpus="handbook", doc_id=PLANTED)
        cache.store_reply("unread", json.dumps({"text": NAME}), user)


def test_what_is_forgotten_is_found_nowhere(ran: Corpus) -> None:
    """Not in a file's bytes, nor in its name, once the store has lost it."""
    before = naming(ran.folder)
    removed(ran)

    receipt = json.loads(
        situate("forget", PLANTED, "--config", ran.config, "--json").stdout
    )
    situate("ack", receipt["run"], "--config", ran.config)

    assert naming(ran.folder) == set()
    assert {
        "out/handbook.jsonl",
        "out/handbook.blocks.jsonl",
        "out/handbook.parquet",
        "out/handbook.ledger.jsonl",
        "out/handbook.compare.html",
        "out/handbook.compare.json",
        "out/handbook.compare.ledger.jsonl",
        "out/handbook.queries.ledger.jsonl",
        "out/handbook.index/pending.jsonl",
        "out/.handbook.jsonl.part",
        "out/.handbook.parquet.part",
        "cache/cache.db",
    } <= before


def test_every_file_there_is_stands_in_the_table(ran: Corpus) -> None:
    """Its page says of all that situate writes whether it can hold text."""
    rows = re.findall(r"^\| `([^`|]+)` \|", PAGE.read_text("utf-8"), re.MULTILINE)
    patterns = [re.compile(_pattern(row)) for row in rows]

    unnamed = {
        path.relative_to(ran.folder).as_posix()
        for path in files_in(ran.folder)
        if path.name != "handbook.toml"
        and not any(
            each.fullmatch(path.relative_to(ran.folder).as_posix()) for each in patterns
        )
    }

    assert unnamed == set()


def _pattern(row: str) -> str:
    """Turn a row into a pattern for paths; `*` stands for anything."""
    # A dot in front of NAME is that of a file beside the output.
    place = row.replace(".NAME", "out/.handbook").replace("NAME", "out/handbook")
    return re.escape(place.replace("CACHE", "cache")).replace(r"\*", ".*")
