"""What an index goes through from night to night, and what a store is told of it."""

from __future__ import annotations

import os
import zipfile
from io import BytesIO
from typing import TYPE_CHECKING

import pytest
from typer.testing import CliRunner

from situate.cli import app
from tests.readers.docx_files import heading, p, word, zipped
from tests.support.corpora import LEAVE, Corpus, handbook
from tests.support.stores import Store, built, content, delivered, lines, synced

if TYPE_CHECKING:
    from pathlib import Path

    from situate.pipeline.living.sent import Sent

COUNT = 1_000

SHARE = {"output": {"max_delete_share": 0.01}, "chunking": {"min_tokens": 0}}


@pytest.fixture
def store() -> Store:
    """An empty store."""
    return Store()


def policy(number: int) -> str:
    """Write a document of two sections, which bears its own id."""
    return (
        f"---\ndoc_id: P-{number}\n---\n# Policy {number}\n\nIt holds for all.\n\n"
        f"## Notice\n\nNotice of {number + 2} days is given in writing.\n\n"
        f"## Appeal\n\nWhoever does not agree may appeal within {number + 9} days.\n"
    )


def thousand(folder: Path) -> Corpus:
    """Write a corpus of a thousand documents."""
    corpus = Corpus(folder=folder).configure(**SHARE)
    for number in range(COUNT):
        corpus.document(f"{number:04}.md", policy(number))
    return corpus


def told(sent: Sent) -> dict[str, set[str]]:
    """Give what a delta says of which chunks."""
    assert sent.folder is not None
    return {
        name.removesuffix(".jsonl"): {
            str(each["chunk_id"]) for each in lines(sent.folder / name)
        }
        for name in ("upserts.jsonl", "metadata_updates.jsonl", "deletes.jsonl")
    }


def test_a_night_tells_a_store_what_differs_and_nothing_else(
    tmp_path: Path, store: Store
) -> None:
    """Of 1,000 documents one is edited, one gone, one renamed, and five are touched."""
    corpus = thousand(tmp_path)
    delivered(corpus, store)
    docs = tmp_path / "docs"
    corpus.document("0000.md", policy(0).replace("2 days", "3 days"))
    (docs / "0001.md").unlink()
    (docs / "0002.md").rename(docs / "renamed.md")
    for number in range(3, 8):
        os.utime(docs / f"{number:04}.md", (1, 1))

    sent = delivered(corpus, store)

    assert sent.exit_code == 0
    assert told(sent) == {
        "upserts": {"P-0:policy-0/notice"},
        # Where it comes from is metadata of each of its chunks.
        "metadata_updates": {
            "P-2:policy-2",
            "P-2:policy-2/notice",
            "P-2:policy-2/appeal",
        },
        "deletes": {"P-1:policy-1", "P-1:policy-1/notice", "P-1:policy-1/appeal"},
    }
    assert store.records == built(corpus)


@pytest.mark.parametrize(
    ("misfortune", "code", "reason"),
    [
        ("a file is corrupt", 0, ""),
        ("the glob leads to an empty folder", 3, "matches nothing"),
        ("the listing is cut off", 3, "lists nothing"),
    ],
)
def test_a_misfortune_deletes_nothing(
    tmp_path: Path, store: Store, misfortune: str, code: int, reason: str
) -> None:
    """What cannot be read or is not heard of stays, and the reason is said (S3)."""
    corpus = handbook(tmp_path, corpus={"max_failed_share": 0.5}, **SHARE)
    if misfortune == "the listing is cut off":
        listing = tmp_path / "listing.jsonl"
        listing.write_text(
            '{"path": "docs/leave.md"}\n{"path": "docs/travel/abroad.md"}\n', "utf-8"
        )
        corpus.configure(corpus={"documents": "listing.jsonl"}, **SHARE)
    delivered(corpus, store)
    before = dict(store.records)
    match misfortune:
        case "a file is corrupt":
            corpus.document("leave.md", b"\0\x01\x02" * 500)
        case "the glob leads to an empty folder":
            (tmp_path / "empty").mkdir()
            documents = {"documents": ["empty/**/*.md"]}
            corpus.configure(corpus=documents, **SHARE)
        case _:
            listing.write_text("", "utf-8")

    ended = CliRunner().invoke(app, ["sync", str(corpus.config)])
    sent = delivered(corpus, store)

    assert ended.exit_code == sent.exit_code == code
    assert reason in ended.stderr
    assert sent.deletes == 0
    assert store.records == before


def test_two_nights_alike_write_the_same_bytes(tmp_path: Path) -> None:
    """On two machines as on one."""
    here, there = (
        synced(handbook(tmp_path / name, **SHARE)) for name in ("here", "there")
    )

    assert here.folder is not None
    assert there.folder is not None
    assert here.run == there.run
    assert content(here.folder) == content(there.folder)


def test_a_word_file_that_is_saved_again_is_nothing(
    tmp_path: Path, store: Store
) -> None:
    """Its bytes differ, and its tree does not."""
    corpus = handbook(
        tmp_path,
        corpus={"documents": ["docs/**/*.md", "docs/*.docx"]},
        **SHARE,
    )
    first = word(
        heading("Keys"),
        p("Keys are handed out against a signature."),
        properties={"core.xml": properties("2026-11-01T08:00:00Z")},
    )
    corpus.document("keys.docx", first)
    delivered(corpus, store)
    corpus.document("keys.docx", saved_again(first))

    sent = synced(corpus)

    assert sent.outcomes["keys.docx"] == "ok"
    assert sent.run is None
    assert synced(corpus).outcomes["keys.docx"] == "unchanged"


def properties(modified: str) -> str:
    """Say when a Word file was saved."""
    terms = "http://purl.org/dc/terms/"
    return (
        '<cp:coreProperties xmlns:cp="http://schemas.openxmlformats.org/package/2006/'
        f'metadata/core-properties" xmlns:dcterms="{terms}">'
        f"<dcterms:modified>{modified}</dcterms:modified></cp:coreProperties>"
    )


def saved_again(data: bytes) -> bytes:
    """Save a Word file as a program does that changes nothing of it."""
    with zipfile.ZipFile(BytesIO(data)) as archive:
        files = {name: archive.read(name) for name in reversed(archive.namelist())}
    files["docProps/core.xml"] = properties("2026-11-30T08:00:00Z").encode()
    main = files["word/document.xml"]
    files["word/document.xml"] = main.replace(b"<w:p>", b'<w:p w:rsidR="00A177F3">')
    return zipped(files, zipfile.ZIP_DEFLATED)


def test_a_title_is_a_matter_of_what_is_embedded(tmp_path: Path, store: Store) -> None:
    """It stands in the breadcrumb: `embed_hash` moves, `text` and ids do not."""
    corpus = handbook(tmp_path, **SHARE)
    delivered(corpus, store)
    before = {
        key: record for key, record in store.records.items() if key[:5] == "leave"
    }
    corpus.document(
        "leave.md", LEAVE.replace("title: Leave policy", "title: Leave rules")
    )

    sent = delivered(corpus, store)

    after = {key: store.records[key] for key in before}
    assert told(sent)["upserts"] == set(before)
    assert sent.deletes == 0
    for key, record in before.items():
        assert after[key]["text"] == record["text"]
        assert after[key]["metadata"]["embed_hash"] != record["metadata"]["embed_hash"]
