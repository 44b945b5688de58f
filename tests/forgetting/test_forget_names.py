"""What a person may call the document that `forget` is to remove."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest
from typer.testing import CliRunner

from situate.cli import app
from tests.support.corpora import Corpus
from tests.support.stores import Store, delivered, synced

if TYPE_CHECKING:
    from pathlib import Path

    from typer.testing import Result

NAMED = "---\ndoc_id: HR-7\n---\n# Zebraxx\n\nA text of its own.\n"

SPELLINGS = (
    *((" a ", "a"), ("a\nb", "a b"), ("x\ty", "x y")),
    *(("ZEB\u2028x", "ZEB x"), ("A\u00a0b", "A b"), ("a\x07b", "ab")),
)


def of(folder: Path, **files: str) -> Corpus:
    """Give a corpus of these documents, and one that stays."""
    corpus = Corpus(folder=folder).configure(
        corpus={"max_failed_share": 1}, output={"max_delete_share": 1}
    )
    corpus.document("always.md", "# Always\n\nIt holds.\n")
    for name, text in files.items():
        corpus.document(f"{name}.md", text)
    return corpus


def remove(corpus: Corpus, name: str) -> None:
    """Remove a document's file."""
    (corpus.folder / "docs" / f"{name}.md").unlink()


def situate(*arguments: str) -> Result:
    """Run a command."""
    return CliRunner().invoke(app, [*arguments])


def forgetting(corpus: Corpus, doc_id: str, *options: str) -> Result:
    """Run the command."""
    return situate("forget", doc_id, "--config", str(corpus.config), *options)


def ids(corpus: Corpus) -> set[str]:
    """Give the documents that are published."""
    return {record["doc_id"] for record in corpus.records}


# ---------------------------------------------------------------- spellings


@pytest.mark.parametrize(("spelled", "doc_id"), SPELLINGS, ids=ascii)
def test_an_id_is_known_by_its_spelling_in_a_manifest(
    tmp_path: Path, spelled: str, doc_id: str
) -> None:
    """Ids are cleaned on reading, and so is what is to be forgotten."""
    corpus = of(tmp_path, z="# Zebraxx\n\nA text.\n")
    line = {"path": "z.md", "doc_id": spelled}
    listing = corpus.document("m.jsonl", json.dumps(line))
    corpus.configure(corpus={"documents": ["docs/*.md", "docs/m.jsonl"]})
    corpus.run()
    before = ids(corpus)
    remove(corpus, "z")
    listing.write_text('{"path": "always.md"}', "utf-8")

    done = forgetting(corpus, spelled, "--json")

    assert before == {doc_id, "always.md"}
    assert done.exit_code == 0, done.stderr
    assert json.loads(done.stdout)["doc_id"] == doc_id
    assert ids(corpus) == {"always.md"}


def test_the_spelling_that_is_known_comes_first(tmp_path: Path) -> None:
    """Names of files are no cleaned ids: two blanks are not one."""
    corpus = of(tmp_path, **{"a  b": "# Zebraxx\n\nA text.\n", "a b": "# B\n\nMore.\n"})
    corpus.run()
    remove(corpus, "a  b")

    done = forgetting(corpus, "a  b.md")

    assert done.exit_code == 0, done.stderr
    assert ids(corpus) == {"a b.md", "always.md"}


def test_a_document_that_is_still_there_is_found_by_either_spelling(
    tmp_path: Path,
) -> None:
    """Neither is taken for one that is gone."""
    corpus = of(tmp_path, z='---\ndoc_id: " a "\n---\nA text.\n', **{"b  c": "Text."})
    corpus.run()

    refused = [forgetting(corpus, each) for each in (" a ", "b  c.md")]

    assert [each.exit_code for each in refused] == [2, 2]
    assert "document 'a' is still there" in refused[0].stderr
    assert "document 'b  c.md' is still there" in refused[1].stderr


@pytest.mark.parametrize("command", ["show", "why"])
@pytest.mark.parametrize("place", ["--chunks", "--config"])
def test_a_chunk_is_found_by_its_documents_spelling(
    tmp_path: Path, command: str, place: str
) -> None:
    """As it stands in a manifest, before the section's place."""
    corpus = of(tmp_path, z='---\ndoc_id: " a  b "\n---\n# Pay\n\nA text.\n')
    corpus.run()
    delivered(corpus, Store())
    where = str(corpus.chunks if place == "--chunks" else corpus.config)
    (chunk_id,) = [each["chunk_id"] for each in corpus.records if "a b:" in str(each)]

    found = situate(command, chunk_id.replace("a b", " a  b "), place, where)

    assert found.exit_code == 0, found.stderr


# ------------------------------------------------------------- wrong names


@pytest.mark.parametrize(
    ("holder", "called"),
    [
        ("chunks", "z.md"),
        *(("index", "z.md"), ("index", "docs/z.md")),
        *(("file", "z.md"), ("file", "docs/z.md")),
    ],
)
def test_a_path_is_answered_with_the_id_of_what_stood_there(
    tmp_path: Path, called: str, holder: str
) -> None:
    """Whoever takes it for the id must not believe that the document is gone."""
    corpus = of(tmp_path, z=NAMED)
    if holder == "index":
        delivered(corpus, Store())
    else:
        corpus.run()
    if holder != "file":
        remove(corpus, "z")

    done = forgetting(corpus, called)

    assert done.exit_code == 2
    assert (
        f"nothing is known under {called!r}; the document at that path has "
        "doc_id 'HR-7'"
    ) in done.stderr


def test_a_failure_under_a_path_is_not_the_document(tmp_path: Path) -> None:
    """Notes of failures go by paths, as nobody could read the id."""
    corpus = of(tmp_path, z=NAMED)
    delivered(corpus, Store())
    corpus.document("z.md", b"\x00\x01")
    corpus.run()
    corpus.document("always.md", "# Always\n\nIt holds, and more.\n")
    synced(corpus)
    remove(corpus, "z")

    done = forgetting(corpus, "z.md")

    assert done.exit_code == 2
    assert "has doc_id 'HR-7'" in done.stderr


def test_an_id_that_was_forgotten_before_is_told_as_unknown(tmp_path: Path) -> None:
    """Exit code 0, in words that nobody takes for an erasure."""
    corpus = of(tmp_path, z=NAMED)
    corpus.run()
    remove(corpus, "z")
    first = forgetting(corpus, "HR-7")

    again = forgetting(corpus, "HR-7")
    path = forgetting(corpus, "z.md")

    assert "nothing is known" not in first.stdout
    for doc_id, result in (("HR-7", again), ("z.md", path)):
        assert result.exit_code == 0
        assert (
            f"nothing is known under {doc_id!r}, nothing was removed" in result.stdout
        )
        assert "removed  " not in result.stdout
    assert not json.loads(forgetting(corpus, "HR-7", "--json").stdout)["is_known"]


# -------------------------------------------------------- notes of failures


@pytest.mark.parametrize("index", [True, False], ids=["index", "no index"])
def test_a_failure_of_a_file_that_is_gone_is_not_told_any_more(
    tmp_path: Path, *, index: bool
) -> None:
    """It names the path of what nobody could read, and so whose nobody can say."""
    corpus = of(tmp_path, zebraxx=NAMED, broken="Text.")
    corpus.run()
    if index:
        delivered(corpus, Store())
    for name in ("zebraxx", "broken"):
        corpus.document(f"{name}.md", b"\x00\x01")
    corpus.run()
    if index:
        corpus.document("always.md", "# Always\n\nIt holds, and more.\n")
        synced(corpus)
    remove(corpus, "zebraxx")

    done = forgetting(corpus, "HR-7")

    assert done.exit_code == 0, done.stderr
    assert not [each for each in _files(corpus) if b"zebraxx.md" in each]
    assert [each["doc_id"] for each in corpus.manifest["failed"]] == ["broken.md"]
    assert corpus.manifest["counts"]["failed"] == 1
    assert corpus.manifest["counts"]["documents"] == 2


def test_a_failure_of_a_file_that_is_gone_leaves_the_deltas_too(
    tmp_path: Path,
) -> None:
    """Also where no sync has ever read the document."""
    corpus = of(tmp_path, zebraxx="\x00\x01", broken="\x00\x01")
    sent = synced(corpus)
    remove(corpus, "zebraxx")

    forgetting(corpus, "HR-7")

    assert sent.folder is not None
    summary = json.loads((sent.folder / "summary.json").read_text("utf-8"))
    assert [each["doc_id"] for each in summary["failed"]] == ["broken.md"]
    assert summary["documents"] == {"always.md": "ok", "broken.md": "failed"}
    assert summary["counts"] == {"failed": 1, "ok": 1}
    assert not [each for each in _files(corpus) if b"zebraxx.md" in each]


def test_a_file_that_is_gone_is_no_reason_any_more(tmp_path: Path) -> None:
    """A summary names what it may have been, and where that stood."""
    corpus = of(tmp_path, z=NAMED)
    delivered(corpus, Store())
    remove(corpus, "z")
    corpus.document("zebraxx.md", b"\x00\x01")
    corpus.document("always.md", "# Always\n\nIt holds, and more.\n")
    (reason,) = synced(corpus).reasons
    remove(corpus, "zebraxx")

    forgetting(corpus, "HR-9")

    assert reason.startswith("docs/zebraxx.md cannot be read; it may be 'HR-7'")
    assert not [each for each in _files(corpus) if b"zebraxx.md" in each]


def test_a_file_that_stays_but_is_deleted_in_a_manifest_is_not_told_of(
    tmp_path: Path,
) -> None:
    """Where the index knows that it was the document."""
    corpus = of(tmp_path, zebraxx=NAMED)
    delivered(corpus, Store())
    corpus.document("zebraxx.md", b"\x00\x01")
    corpus.document("m.jsonl", '{"op": "delete", "doc_id": "HR-7"}')
    corpus.configure(
        corpus={"documents": ["docs/*.md", "docs/m.jsonl"], "max_failed_share": 1}
    )
    corpus.run()

    done = forgetting(corpus, "HR-7")

    assert done.exit_code == 0, done.stderr
    assert corpus.manifest["failed"] == []


def _files(corpus: Corpus) -> list[bytes]:
    """Give the bytes of all that situate has written."""
    paths = (corpus.folder / "out").rglob("*")
    return [path.read_bytes() for path in paths if path.is_file()]
