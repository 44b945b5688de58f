"""A listing is complete, or it says what it may have missed (S3)."""

from __future__ import annotations

import errno
import json
import os
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from situate.pipeline.jobs import Job
from tests.support.corpora import LEAVE, TRAVEL, Corpus
from tests.support.stores import Store, delivered, synced

if TYPE_CHECKING:
    from situate.corpus import Found

FREE: dict[str, dict[str, object]] = {
    "output": {"max_delete_share": 1},
    "chunking": {"min_tokens": 0},
}
ALL, DIRECT, ONE = "docs/**/*.md", "docs/*/*.md", "docs/*/policy.md"

Spoil = Callable[[Path, pytest.MonkeyPatch], None]


@pytest.fixture
def store() -> Store:
    """An empty store."""
    return Store()


def corpus_of(folder: Path, *globs: str, **documents: str) -> Corpus:
    """Write documents; `__` in a name stands for `/`."""
    folder.mkdir(exist_ok=True)
    corpus = Corpus(folder=folder)
    for name, text in documents.items():
        corpus.document(f"{name.replace('__', '/')}.md", text)
    return corpus.configure(
        corpus={"documents": list(globs) or ["docs/**/*.md"]}, **FREE
    )


def locked(docs: Path, patch: pytest.MonkeyPatch) -> None:
    """Let nobody look into a folder, as its rights or a stale mount do."""
    real = os.lstat

    def lstat(path: Any, *given: Any, **named: Any) -> Any:
        if Path(path).parent == docs / "hr":
            raise PermissionError(errno.EACCES, "Permission denied")
        return real(path, *given, **named)

    patch.setattr(os, "lstat", lstat)
    patch.setattr(Path, "lstat", lstat)


def gone_while_listed(docs: Path, patch: pytest.MonkeyPatch) -> None:
    """Remove a folder between its being listed and looked into."""
    real = os.scandir

    def scandir(path: Any) -> Any:
        if path == docs / "hr" and path.exists():
            path.rename(docs.parent / "away")
        return real(path)

    patch.setattr(os, "scandir", scandir)


def unmounted(docs: Path, _: pytest.MonkeyPatch) -> None:
    """Leave the place of a share that held folders of documents."""
    shutil.rmtree(docs / "hr" / "de")
    (docs / "hr" / "policy.md").unlink()


def marked(docs: Path, patch: pytest.MonkeyPatch) -> None:
    """Leave what no glob matches in the place of a share."""
    unmounted(docs, patch)
    (docs / "hr" / ".keep").write_text("", "utf-8")
    (docs / "hr" / "NOT_MOUNTED").write_text("", "utf-8")


def linked(docs: Path, _: pytest.MonkeyPatch) -> None:
    """Put a link in the place of a folder, which `**` does not follow."""
    shutil.move(docs / "hr", docs.parent / "away")
    (docs / "hr").symlink_to(docs.parent / "away")


def broken(docs: Path, patch: pytest.MonkeyPatch) -> None:
    """Lose what such a link leads to."""
    linked(docs, patch)
    shutil.rmtree(docs.parent / "away")


@pytest.mark.parametrize(
    ("glob", "spoil", "said"),
    [
        pytest.param(ONE, locked, "hr/policy.md' cannot be looked for", id="locked"),
        pytest.param(ALL, gone_while_listed, "hr' leads nowhere", id="gone"),
        pytest.param(DIRECT, gone_while_listed, "hr' leads nowhere", id="gone, by *"),
        pytest.param(ALL, unmounted, "'docs/hr' held documents", id="unmounted"),
        pytest.param(ALL, marked, "'docs/hr' held documents", id="unmounted, marked"),
        pytest.param(ALL, linked, "'docs/hr' held documents and is a link", id="link"),
        pytest.param(ALL, broken, "'docs/hr' held documents and is a link", id="dead"),
        pytest.param(DIRECT, broken, "hr' leads nowhere", id="dead, by *"),
    ],
)
def test_what_may_only_be_hidden_is_not_deleted(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    glob: str,
    spoil: Spoil,
    said: str,
) -> None:
    """Exit code 3 names the folder; whatever share may be deleted."""
    store = Store()
    corpus = corpus_of(
        tmp_path, glob, it__policy=LEAVE, hr__policy=TRAVEL, hr__de__policy=TRAVEL
    )
    delivered(corpus, store)
    before = dict(store.records)
    spoil(tmp_path / "docs", monkeypatch)

    sent = delivered(corpus, store)

    assert sent.deletes == 0
    assert sent.exit_code == 3
    assert said in sent.reasons[0]
    assert sent.outcomes["hr/policy.md"] == "kept"
    assert store.records == before


def test_what_a_link_led_to_may_be_anywhere(tmp_path: Path, store: Store) -> None:
    """A link may lead elsewhere tonight, and to nothing."""
    corpus = corpus_of(tmp_path, "docs/*/*.md", it__policy=LEAVE)
    (tmp_path / "share").mkdir()
    (tmp_path / "share" / "policy.md").write_text(TRAVEL, "utf-8")
    link = tmp_path / "docs" / "hr"
    link.symlink_to(tmp_path / "share")
    delivered(corpus, store)
    link.unlink()
    link.symlink_to(tmp_path / "other")

    sent = delivered(corpus, store)

    assert sent.outcomes["hr/policy.md"] == "kept"
    assert sent.reasons == (f"link {str(link)!r} leads nowhere",)


def test_an_empty_place_behind_a_link_hides_what_was_there(
    tmp_path: Path, store: Store
) -> None:
    """The share that the link leads to is not mounted."""
    corpus = corpus_of(tmp_path, "docs/*/*.md", it__policy=LEAVE)
    (tmp_path / "share").mkdir()
    (tmp_path / "share" / "policy.md").write_text(TRAVEL, "utf-8")
    (tmp_path / "docs" / "hr").symlink_to(tmp_path / "share")
    delivered(corpus, store)
    (tmp_path / "share" / "policy.md").unlink()
    (tmp_path / "share" / ".keep").write_text("", "utf-8")

    sent = delivered(corpus, store)

    assert sent.outcomes["hr/policy.md"] == "kept"


def test_a_document_behind_a_link_that_leads_somewhere_can_be_deleted(
    tmp_path: Path, store: Store
) -> None:
    """A link that was looked behind hides nothing."""
    corpus = corpus_of(tmp_path, "docs/*/*.md", hr__one=LEAVE, hr__two=TRAVEL)
    delivered(corpus, store)
    (tmp_path / "docs" / "hr").rename(tmp_path / "away")
    (tmp_path / "docs" / "hr").symlink_to(tmp_path / "away")
    (tmp_path / "away" / "two.md").unlink()

    sent = delivered(corpus, store)

    assert sent.exit_code == 0
    assert sent.outcomes["hr/two.md"] == "deleted"


def test_a_document_that_moves_while_folders_are_listed_is_not_deleted(
    tmp_path: Path, store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It is in neither place when that is looked at; a second look finds it."""
    own = {
        f"{name}__own": f"---\ndoc_id: HR-{name}\n---\n{TRAVEL}" for name in ("1", "2")
    }
    corpus = corpus_of(tmp_path, always=LEAVE, **own)
    delivered(corpus, store)
    seen: list[Path] = []
    real = os.scandir

    def scandir(path: Any) -> Any:
        if path.name in {"1", "2"} and path not in seen:
            seen.append(path)
            if len(seen) == 2:
                (path / "own.md").rename(seen[0] / "moved.md")
        return real(path)

    monkeypatch.setattr(os, "scandir", scandir)

    sent = synced(corpus)

    assert sent.deletes == 0
    assert sent.outcomes[f"HR-{seen[1].name}"] == "kept"
    assert "documents moved while they were listed" in sent.reasons


def test_a_second_list_that_cannot_be_made_hides_everything(
    tmp_path: Path, store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Two files of one id have come meanwhile: nobody knows what moved."""
    corpus = corpus_of(
        tmp_path, "docs/a/*.md", "docs/b/*.md", a__one=LEAVE, b__two=LEAVE
    )
    delivered(corpus, store)
    (tmp_path / "docs" / "a" / "one.md").unlink()
    corpus.document("a/three.md", TRAVEL)
    real = Job.survey

    def survey(job: Job) -> Found:
        found = real(job)
        corpus.document("b/three.md", TRAVEL)
        return found

    monkeypatch.setattr(Job, "survey", survey)

    sent = synced(corpus)

    assert sent.outcomes["one.md"] == "kept"
    assert "doc_id 'three.md'" in sent.reasons[0]


# ------------------------------------------------------------- what a gap is about


def test_a_gap_hides_only_what_could_be_there(tmp_path: Path, store: Store) -> None:
    """A folder emptied on purpose does not keep all else that is gone."""
    own = f"---\ndoc_id: HR-7\n---\n{TRAVEL}"
    corpus = corpus_of(
        tmp_path, hr__policy=LEAVE, it__policy=LEAVE, it__own=own, it__last=TRAVEL
    )
    delivered(corpus, store)
    for name in ("hr/policy", "it/policy", "it/own"):
        (tmp_path / "docs" / f"{name}.md").unlink()

    sent = delivered(corpus, store)

    assert sent.exit_code == 3
    assert sent.outcomes == {
        "hr/policy.md": "kept",
        "it/policy.md": "deleted",
        "it/last.md": "unchanged",
        # It may have been called otherwise, and stand anywhere.
        "HR-7": "kept",
    }


def test_a_glob_that_matches_nothing_hides_what_it_would_match(
    tmp_path: Path, store: Store
) -> None:
    """What stood elsewhere is gone."""
    corpus = corpus_of(tmp_path, "docs/**/*.md", "more/**/*.md", a=LEAVE, b=TRAVEL)
    (tmp_path / "more").mkdir()
    (tmp_path / "more" / "c.md").write_text(LEAVE, "utf-8")
    delivered(corpus, store)
    (tmp_path / "more" / "c.md").unlink()
    (tmp_path / "docs" / "b.md").unlink()

    sent = delivered(corpus, store)

    assert "'more/**/*.md' matches nothing" in sent.reasons[0]
    assert sent.outcomes == {"a.md": "unchanged", "b.md": "deleted", "c.md": "kept"}


def test_a_file_that_is_named_and_not_there_hides_only_itself(
    tmp_path: Path, store: Store
) -> None:
    """Its folder was looked into by nobody."""
    corpus = corpus_of(tmp_path, "docs/one.md", "docs/b/*.md", one=LEAVE, b__x=LEAVE)
    corpus.document("b/y.md", TRAVEL)
    delivered(corpus, store)
    (tmp_path / "docs" / "one.md").unlink()
    (tmp_path / "docs" / "b" / "y.md").unlink()

    sent = delivered(corpus, store)

    assert sent.outcomes == {"one.md": "kept", "x.md": "unchanged", "y.md": "deleted"}


def test_what_no_glob_names_any_more_is_deleted(tmp_path: Path, store: Store) -> None:
    """The files are there, and nobody asks for them: that is no accident."""
    corpus = corpus_of(tmp_path, "docs/**/*.md", "docs/**/*.txt", hr__a=LEAVE)
    corpus.document("it/b.txt", "Rules of the office.\n")
    delivered(corpus, store)
    corpus.configure(**FREE)

    sent = delivered(corpus, store)

    assert sent.exit_code == 0
    assert sent.outcomes["it/b.txt"] == "deleted"


def test_what_is_gone_where_no_glob_looks_is_deleted(
    tmp_path: Path, store: Store
) -> None:
    """Nobody wants to find anything there."""
    corpus = corpus_of(tmp_path, "docs/a/*.md", "docs/b/*.md", a__one=LEAVE)
    corpus.document("b/two.md", TRAVEL)
    corpus.document("b/three.md", TRAVEL)
    delivered(corpus, store)
    (tmp_path / "docs" / "b" / "two.md").unlink()
    corpus.configure(corpus={"documents": ["docs/a/*.md"]}, **FREE)

    sent = delivered(corpus, store)

    assert sent.exit_code == 0
    assert sent.outcomes["two.md"] == sent.outcomes["three.md"] == "deleted"


@pytest.mark.parametrize("by", ["path", "doc_id"])
def test_a_file_that_a_manifest_deletes_fills_its_folder(
    tmp_path: Path, store: Store, by: str
) -> None:
    """Whoever can see it can see the share it is on."""
    corpus = corpus_of(tmp_path, "docs/**/*.md", "docs/m.jsonl", always=LEAVE)
    corpus.document("hr/a.md", LEAVE)
    corpus.document("hr/b.md", TRAVEL)
    corpus.document("m.jsonl", '{"path": "always.md"}\n')
    delivered(corpus, store)
    told = json.dumps({by: "hr/a.md", "op": "delete"})
    corpus.document("m.jsonl", f'{{"path": "always.md"}}\n{told}\n')
    (tmp_path / "docs" / "hr" / "b.md").unlink()

    sent = delivered(corpus, store)

    assert sent.exit_code == 0
    assert sent.outcomes["hr/a.md"] == sent.outcomes["hr/b.md"] == "deleted"


def test_a_file_that_a_manifest_lists_in_vain_does_not_fill_a_folder(
    tmp_path: Path, store: Store
) -> None:
    """A share is not mounted though somebody says what is on it."""
    corpus = corpus_of(tmp_path, "docs/**/*.md", "docs/m.jsonl", always=LEAVE)
    corpus.document("share/a.md", LEAVE)
    corpus.document("share/hr/b.md", TRAVEL)
    corpus.document("m.jsonl", '{"path": "share/a.md"}\n')
    delivered(corpus, store)
    shutil.rmtree(tmp_path / "docs" / "share")
    (tmp_path / "docs" / "share").mkdir()
    (tmp_path / "docs" / "share" / "NOT_MOUNTED").write_text("", "utf-8")

    sent = delivered(corpus, store)

    assert sent.outcomes["share/a.md"] == "failed"
    assert sent.outcomes["share/hr/b.md"] == "kept"


def test_a_folder_that_is_gone_with_its_documents_hides_nothing(
    tmp_path: Path, store: Store
) -> None:
    """Somebody removed it, beside others that are as they were."""
    corpus = corpus_of(tmp_path, hr__de__a=LEAVE, hr__fr__b=TRAVEL)
    delivered(corpus, store)
    shutil.rmtree(tmp_path / "docs" / "hr" / "fr")

    sent = delivered(corpus, store)

    assert sent.exit_code == 0
    assert sent.outcomes["hr/fr/b.md"] == "deleted"


def test_a_run_does_without_what_may_be_hidden(tmp_path: Path) -> None:
    """It deletes nothing, and says nothing it did not say before."""
    corpus = corpus_of(tmp_path, "docs/*/*.md", it__policy=LEAVE)
    (tmp_path / "docs" / "hr").symlink_to(tmp_path / "nowhere")

    result = corpus.run()

    assert result.exit_code == 0
