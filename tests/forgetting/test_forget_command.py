"""`forget` as a person uses it: what it refuses, what it says, what it leaves alone."""

from __future__ import annotations

import json
from collections import Counter
from contextlib import closing
from typing import TYPE_CHECKING

import pytest
from typer.testing import CliRunner

from situate.cli import app
from situate.enrichment.cache.store import Store
from situate.enrichment.ledger import Ledger, rewriting
from situate.errors import ConfigError
from situate.organisation import VARIABLE
from situate.output import held
from situate.pipeline.living.forgetting import forget
from tests.support.batch_corpora import BatchCorpus
from tests.support.batches import batching
from tests.support.chat import chatting
from tests.support.corpora import asking
from tests.support.planted import NAME, PLANTED, SMALL, TERMS, naming, planted, removed
from tests.support.stores import Store as Index
from tests.support.stores import config_of, delivered, synced

if TYPE_CHECKING:
    from pathlib import Path

    from typer.testing import Result

    from tests.support.corpora import Corpus

NOBODY = "http://127.0.0.1:9/v1"
"""Where no server is."""


@pytest.fixture
def corpus(tmp_path: Path) -> Corpus:
    """A corpus that has been run over with the document."""
    corpus = planted(tmp_path)
    assert corpus.run().exit_code == 0
    return corpus


def forgetting(corpus: Corpus, doc_id: str = PLANTED, *options: str) -> Result:
    """Run the command."""
    arguments = ["forget", doc_id, "--config", str(corpus.config), *options]
    return CliRunner().invoke(app, arguments)


# ----------------------------------------------------------------- refused


def test_a_document_that_is_still_there_is_refused(corpus: Corpus) -> None:
    """The next run would derive it again."""
    before = naming(corpus.folder)

    result = forgetting(corpus)

    assert result.exit_code == 2
    assert "is still there and would be derived again" in result.stderr
    assert "partners/quorvexia.md" in result.stderr
    assert naming(corpus.folder) == before


def test_a_document_that_names_itself_is_found_among_the_sources(
    corpus: Corpus,
) -> None:
    """Whatever its file is called."""
    corpus.document("moved.md", f"---\ndoc_id: {PLANTED}\n---\n{TERMS}")
    removed(corpus)

    result = forgetting(corpus)

    assert result.exit_code == 2
    assert "moved.md" in result.stderr


def test_a_file_that_cannot_be_read_now_is_still_there(corpus: Corpus) -> None:
    """Where the index knows that it was this document."""
    corpus.document("odd.md", f"---\ndoc_id: odd\n---\n# {NAME}\n\nA text.\n")
    synced(corpus)
    corpus.document("odd.md", b"\x00\x01\x02")

    result = forgetting(corpus, "odd")

    assert result.exit_code == 2
    assert "odd.md" in result.stderr


def test_a_document_that_a_manifest_deletes_is_forgotten(corpus: Corpus) -> None:
    """Its file may stay."""
    line = {"doc_id": PLANTED, "path": f"docs/{PLANTED}", "op": "delete"}
    (corpus.folder / "listed.jsonl").write_text(json.dumps(line), "utf-8")
    corpus.configure(
        corpus={"documents": ["docs/**/*.md", "listed.jsonl"]},
        chunking={"max_tokens": 64, "min_tokens": 0},
    )

    result = forgetting(corpus)

    assert result.exit_code == 0, result.stderr
    assert {path.split("/")[0] for path in naming(corpus.folder)} == {"listed.jsonl"}


def test_a_batch_that_asks_about_it_has_to_end_first(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its answers would come back to a document that is forgotten."""
    monkeypatch.setenv("OPENAI_API_KEY", "a-key-for-loopback")
    with batching("openai") as vendor:
        desk = BatchCorpus.of(tmp_path, vendor, mode="batch")
        desk.submit()
        (tmp_path / "docs" / "0.md").unlink()

        refused = forgetting(desk.corpus, "0.md")
        vendor.end_all()
        desk.collect()
        done = forgetting(desk.corpus, "0.md")

    assert refused.exit_code == 2
    assert f"ticket {desk.tickets[0].ticket} asks about '0.md'" in refused.stderr
    assert "collect or cancel it first" in refused.stderr
    assert done.exit_code == 0, done.stderr
    assert not [
        key for line in desk.ledger for key in line["chunk_ids"] if "0.md" in key
    ]


@pytest.mark.parametrize(
    "asked",
    [
        pytest.param(asking(NOBODY), id="no leave"),
        pytest.param(asking(NOBODY, redact="nowhere:spans"), id="no hook"),
        pytest.param(asking(NOBODY, prompt="situating-v99"), id="no prompt"),
        pytest.param(
            {
                "enabled": True,
                "provider": "replay",
                "model": "local-model",
                "prompt": "findable-v1",
                "replay": "gone.json",
            },
            id="no cassette",
        ),
    ],
)
def test_to_forget_needs_nobody_who_could_be_asked(
    corpus: Corpus, monkeypatch: pytest.MonkeyPatch, asked: dict[str, object]
) -> None:
    """Nor the leave of an organisation, whose file may be broken."""
    broken = corpus.folder / "mine" / "organisation.toml"
    broken.write_text("[egress", "utf-8")
    monkeypatch.setenv(VARIABLE, str(broken))
    removed(corpus)
    corpus.configure(chunking=SMALL, enrichment=asked)

    with pytest.raises(ConfigError):
        corpus.run()
    result = forgetting(corpus)

    assert result.exit_code == 0, result.stderr
    assert naming(corpus.folder) == set()


@pytest.mark.parametrize("name", ["handbook.jsonl", "handbook.compare.html"])
def test_nobody_else_may_write_meanwhile(corpus: Corpus, name: str) -> None:
    """Neither a run nor a comparison."""
    removed(corpus)

    with held(corpus.chunks.with_name(name)):
        result = forgetting(corpus)

    assert result.exit_code == 4


@pytest.mark.parametrize("kind", ["ledger", "compare.ledger", "queries.ledger"])
def test_what_others_note_meanwhile_is_not_lost(corpus: Corpus, kind: str) -> None:
    """A ledger that is open would be noted in where nobody reads it any more."""
    path = corpus.chunks.with_name(f"handbook.{kind}.jsonl")
    path.write_text(f'{{"chunk_ids": ["{PLANTED}:terms"]}}\n', "utf-8")
    before = naming(corpus.folder)
    removed(corpus)

    with Ledger(path):
        result = forgetting(corpus)

    assert result.exit_code == 4
    assert f"handbook.{kind}.jsonl" in result.stderr
    assert naming(corpus.folder) == before
    assert forgetting(corpus).exit_code == 0
    assert naming(corpus.folder) == set()


def test_nobody_is_asked_for_questions_while_their_ledger_is_rewritten(
    tmp_path: Path,
) -> None:
    """What they cost could not be noted."""
    with chatting() as chat:
        limits = {"view": "full", "max_total_tokens": 10_000_000}
        corpus = planted(tmp_path, enrichment=asking(chat.address, **limits))
        command = ["queries", "make", str(corpus.config), "--kinds", "model"]
        command += ["--out", str(tmp_path / "mine" / "q.jsonl")]

        with rewriting(corpus.chunks.with_name("handbook.queries.ledger.jsonl")):
            result = CliRunner().invoke(app, command)
        asked = len(chat.bodies)
        CliRunner().invoke(app, command)

    assert result.exit_code == 4
    assert "handbook.queries.ledger.jsonl" in result.stderr
    assert asked == 0
    assert chat.bodies


# ------------------------------------------------------------------- done


def test_what_is_left_is_what_a_run_without_it_would_have_written(
    corpus: Corpus,
) -> None:
    """Chunks, blocks and manifest, byte for byte."""
    removed(corpus)
    result = forgetting(corpus)
    left = _outputs(corpus)

    corpus.run()

    assert result.exit_code == 0
    assert left == _outputs(corpus)


def _outputs(corpus: Corpus) -> dict[str, bytes]:
    return {
        path.name: path.read_bytes()
        for path in corpus.chunks.parent.glob("handbook.*")
        if path.is_file()
    }


def test_sentences_that_name_it_leave_the_manifest(corpus: Corpus) -> None:
    """Also where they are about another document and quote its id."""
    corpus.document(PLANTED, TERMS + "\n![Odd](data:image/png;base64,AAAA)\n")
    corpus.document("broken.md", b"\x00\x01")
    corpus.run()
    path = corpus.chunks.with_name("handbook.manifest.json")
    manifest = corpus.manifest
    about = {"doc_id": "leave.md", "message": f"is the same as {PLANTED!r}, it seems"}
    manifest["warnings"].append(about)
    manifest["spent"]["warnings"] = [f"document {PLANTED!r}: all the same"]
    path.write_text(json.dumps(manifest), "utf-8")
    removed(corpus)

    forgetting(corpus)

    assert naming(corpus.folder) == set()
    assert [each["doc_id"] for each in corpus.manifest["failed"]] == ["broken.md"]
    assert corpus.manifest["counts"]["documents"] == 3


def test_pages_that_do_not_say_whose_they_are_go_whole(corpus: Corpus) -> None:
    """Reports, pages to judge on and keys; not what a person has put beside them."""
    names = ("html", "json", "blind-ab.html", "blind-ab.key.json", "mine.jsonl")
    for name in names:
        corpus.chunks.with_name(f"handbook.compare.{name}").write_text("{}", "utf-8")
    removed(corpus)

    receipt = forget(config_of(corpus), PLANTED)

    gone = Counter(each.artefact for each in receipt.removed)
    assert gone["comparison"] == 4
    assert corpus.chunks.with_name("handbook.compare.mine.jsonl").exists()


def test_sentences_about_others_stay(corpus: Corpus) -> None:
    """Whatever word of theirs the document is called by, or says it comes from."""
    corpus.document("the.md", f"---\nsource: Intranet\ndoc_id: the\n---\n{TERMS}")
    corpus.document("broken.md", b"\x00\x01")
    corpus.document("leave.md", "# Leave\n\n![](data:image/png;base64,AAAA)\n")
    corpus.run()
    path = corpus.chunks.with_name("handbook.manifest.json")
    manifest = corpus.manifest
    about = {"doc_id": "leave.md", "message": "the Intranet has it, as quorvexia.md"}
    manifest["warnings"].append(about)
    path.write_text(json.dumps(manifest), "utf-8")
    (corpus.folder / "docs" / "the.md").unlink()

    result = forgetting(corpus, "the")

    assert result.exit_code == 0, result.stderr
    assert corpus.manifest["warnings"] == manifest["warnings"]
    assert corpus.manifest["failed"] == manifest["failed"]
    assert corpus.manifest["counts"]["failed"] == 1


SLIPS = ("leav", "eave.md", "partners", "travel", "none", "statement", "d", "*")
"""Parts of ids that are known, the path of a folder, and words that reports have."""


@pytest.mark.parametrize("waits", [False, True], ids=["taken in", "waits"])
def test_an_id_that_nothing_is_known_of_costs_nothing(
    corpus: Corpus, *, waits: bool
) -> None:
    """A slip of the pen changes no file, and is told that nothing was found."""
    delivered(corpus, Index())
    if waits:
        corpus.document("travel/new.md", "# New\n\nSomething that came since.\n")
        synced(corpus)
    _remember(corpus)
    before = _files(corpus)

    results = [forgetting(corpus, each) for each in SLIPS]

    assert {result.exit_code for result in results} == {0}
    for doc_id, result in zip(SLIPS, results, strict=True):
        told = f"nothing is known under {doc_id!r}, nothing was removed"
        assert told in result.stdout
        assert "\ndelta " not in result.stdout
    assert _files(corpus) == before


def _remember(corpus: Corpus) -> None:
    """Leave a comparison, vectors, a ledger and a sentence, all about others."""
    said = {"arms": ["none", "statement"], "shown": [["leave.md", "leave.md:leave"]]}
    for kind in ("html", "json"):
        path = corpus.chunks.with_name(f"handbook.compare.{kind}")
        path.write_text(json.dumps(said), "utf-8")
    with closing(Store(_vectors(corpus))) as store, store.transaction():
        store.put("vector:a", {"schema": 1, "vector": ""}, day=None)
    path = corpus.chunks.with_name("handbook.ledger.jsonl")
    path.write_text('{"request": "r", "chunk_ids": ["leave.md:leave"]}\n', "utf-8")
    manifest = corpus.manifest
    about = {"doc_id": "leave.md", "message": "no 'statement', none of travel d"}
    manifest["warnings"].append(about)
    path = corpus.chunks.with_name("handbook.manifest.json")
    path.write_text(json.dumps(manifest), "utf-8")


def _vectors(corpus: Corpus) -> Path:
    return config_of(corpus).cache.directory / "vectors"


def _files(corpus: Corpus) -> dict[str, bytes]:
    """Give what there is, but for locks and what SQLite has open."""
    return {
        path.relative_to(corpus.folder).as_posix(): path.read_bytes()
        for path in corpus.folder.rglob("*")
        if path.is_file() and not path.name.endswith((".lock", "-shm", "-wal"))
    }


def test_a_comparison_alone_is_left_and_named(corpus: Corpus) -> None:
    """What quotes an id may have another reason to, and cannot be had again."""
    report = corpus.chunks.with_name("handbook.compare.json")
    report.write_text('{"doc_id": "long/gone.md"}', "utf-8")

    quoted = forget(config_of(corpus), "long/gone.md")
    part = forget(config_of(corpus), "gone.md")

    assert report.exists()
    assert "comparisons, one of which quotes this id" in quoted.kept[0]
    assert "handbook.compare.json" in quoted.kept[0]
    assert (quoted.removed, part.kept) == ((), ())


def test_vectors_go_whole_and_only_with_a_document_that_is_found(
    corpus: Corpus,
) -> None:
    """They do not say whose they are, and can be had again for cents."""
    place = _vectors(corpus)
    with closing(Store(place)) as store, store.transaction():
        store.put("vector:a", {"schema": 1, "vector": ""}, day=None)
    removed(corpus)

    unknown = forget(config_of(corpus), "unknown.md")
    known = forget(config_of(corpus), PLANTED)

    assert (unknown.removed, known.kept) == ((), ())
    assert "vectors, which do not say whose they are" in unknown.kept[0]
    assert {each.artefact: each.count for each in known.removed}["vectors"] == 1
    with closing(Store(place)) as store:
        assert not store.holds("vector:a")


def test_forgetting_twice_is_forgetting_once(corpus: Corpus) -> None:
    """The second receipt says that nothing was left."""
    removed(corpus)

    first = json.loads(forgetting(corpus, PLANTED, "--json").stdout)
    again = forgetting(corpus, PLANTED, "--json")

    assert {each["artefact"] for each in first["removed"]} == {"chunks", "blocks"}
    assert again.exit_code == 0
    assert json.loads(again.stdout)["removed"] == []


def test_a_receipt_says_what_is_out_of_reach(corpus: Corpus) -> None:
    """The store until it says so, what cannot be read, and what is the user's own."""
    synced(corpus)
    corpus.document("broken.md", b"\x00\x01")
    removed(corpus)

    result = forgetting(corpus)

    assert result.exit_code == 0
    lines = [each for each in result.stdout.splitlines() if each.startswith("beyond")]
    assert "situate ack" in lines[1]
    assert "1 sources that cannot be read, which may be this one" in lines[0]
    assert "query logs" in result.stdout
    assert "| 4,711 |" not in result.stdout
