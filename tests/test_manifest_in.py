"""A corpus knows more of its documents than they say (S1)."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest

from situate.check import check
from situate.config import load
from situate.errors import ConfigError
from situate.pipeline import parallel
from situate.pipeline.jobs import ready
from situate.pipeline.run import run
from tests.support.corpora import Corpus, Heard, handbook

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path


def listed(
    folder: Path, *lines: Mapping[str, object], **sections: Mapping[str, object]
) -> Corpus:
    """Write the handbook with a manifest, which alone names its documents."""
    sections["corpus"] = {"documents": "docs/manifest.jsonl"} | dict(
        sections.get("corpus", {})
    )
    corpus = handbook(folder, **sections)
    corpus.document(
        "manifest.jsonl", "".join(f"{json.dumps(each)}\n" for each in lines)
    )
    return corpus


def metadata(corpus: Corpus) -> dict[str, dict[str, Any]]:
    """Give the metadata of each document's first chunk, by its id."""
    found: dict[str, dict[str, Any]] = {}
    for record in corpus.records:
        found.setdefault(record["doc_id"], record["metadata"])
    return found


def written(corpus: Corpus) -> dict[str, bytes]:
    """Give all that a run has written."""
    return {path.name: path.read_bytes() for path in corpus.chunks.parent.iterdir()}


# ----------------------------------------------------------------------- what travels


def test_a_manifest_names_documents_and_says_more_of_them(tmp_path: Path) -> None:
    """Id, version and metadata reach every chunk; paths are the manifest's."""
    corpus = listed(
        tmp_path,
        {
            "path": "travel/abroad.md",
            "doc_id": "T-1",
            "version": "7",
            "metadata": {
                "title": "Travelling",
                "effective_from": "2025-01-01",
                "source": "https://example.org/T-1",
                "acl_groups": ["staff"],
            },
        },
    )

    result = corpus.run()

    assert result.exit_code == 0
    assert {(each["doc_id"], each["doc_version"]) for each in corpus.records} == {
        ("T-1", "7")
    }
    found = metadata(corpus)["T-1"]
    assert (found["title"], found["effective_from"]) == ("Travelling", "2025-01-01")
    assert found["source"] == "https://example.org/T-1"
    assert found["custom"] == {"acl_groups": ["staff"]}
    assert check(corpus.chunks).findings == []


def test_the_document_keeps_its_word_and_the_outside_its_authority(
    tmp_path: Path,
) -> None:
    """A contradiction of the latter is told, with nothing of the machine in it."""
    corpus = handbook(tmp_path, corpus={"documents": ["docs/*.md", "m.jsonl"]})
    corpus.document(
        "leave.md", "---\ntitle: Leave\ndoc_id: L\nacl_groups: [all]\n---\nText.\n"
    )
    said = {"title": "Other", "acl_groups": ["hr"], "owner": "hr"}
    line = {"path": "docs/leave.md", "doc_id": "L-1", "metadata": said}
    (tmp_path / "m.jsonl").write_text(json.dumps(line), "utf-8")

    corpus.run()

    found = metadata(corpus)["L-1"]
    assert found["title"] == "Leave"
    assert found["custom"] == {"acl_groups": ["hr"], "owner": "hr"}
    assert [each["message"] for each in corpus.manifest["warnings"]] == [
        "acl_groups: m.jsonl:1 says ['hr'], the document says ['all']; the first holds",
        "doc_id: m.jsonl:1 says 'L-1', the document says 'L'; the first holds",
    ]


def test_a_sidecar_speaks_of_the_document_it_stands_beside(tmp_path: Path) -> None:
    """After the manifest where both speak, and with it where only one does."""
    corpus = listed(
        tmp_path,
        {"path": "leave.md", "metadata": {"classification": "secret"}},
        {"path": "travel/abroad.md"},
    )
    corpus.document("leave.md.meta.toml", 'classification = "public"\nowner = "hr"\n')
    corpus.document("travel/abroad.md.meta.toml", "effective_to = 2026-12-31\n")

    corpus.run()

    found = metadata(corpus)
    assert found["leave.md"]["custom"] == {"classification": "secret", "owner": "hr"}
    assert found["travel/abroad.md"]["effective_to"] == "2026-12-31"


@pytest.mark.parametrize(
    ("name", "text", "where"),
    [
        ("leave.md", "# Pay {ACL_READ=hr}\n\nText.\n", "heading 'Pay'"),
        ("leave.md", "---\nACL_READ: hr\n---\nText.\n", "front matter"),
        ("leave.md.meta.toml", 'ACL_READ = "hr"\n', "leave.md.meta.toml"),
        (
            "manifest.jsonl",
            '{"path": "leave.md", "metadata": {"ACL_READ": "hr"}}\n',
            "docs/manifest.jsonl:1",
        ),
    ],
    ids=["heading", "front matter", "sidecar", "manifest"],
)
def test_a_key_that_only_looks_like_a_permission_is_told(
    tmp_path: Path, name: str, text: str, where: str
) -> None:
    """Whoever wrote it means to keep somebody out, and keeps out nobody."""
    corpus = listed(tmp_path, {"path": "leave.md"}, {"path": "travel/abroad.md"})
    corpus.document(name, text)

    corpus.run()

    (warning,) = corpus.manifest["warnings"]
    assert warning["doc_id"] == "leave.md"
    assert warning["message"].startswith(f"{where}: 'ACL_READ' is no permission")


def test_further_keys_may_be_of_authority(tmp_path: Path) -> None:
    """Beside those for which it is never asked."""
    corpus = listed(
        tmp_path,
        {"path": "leave.md", "metadata": {"title": "Ours", "doc_type": "policy"}},
        metadata={"authority": ["ti*"]},
    )

    corpus.run()

    found = metadata(corpus)["leave.md"]
    assert (found["title"], found["doc_type"]) == ("Ours", "handbook")


def test_who_may_see_a_document_travels_whatever_is_kept(tmp_path: Path) -> None:
    """Where it is said from outside; everything else has to be named."""
    said = {"acl_groups": ["hr"], "classification": "secret", "owner": "hr", "x": 1}
    corpus = listed(
        tmp_path,
        {"path": "leave.md", "metadata": said},
        metadata={"keep": ["owner"], "authority": ["x"]},
    )

    corpus.run()

    assert metadata(corpus)["leave.md"]["custom"] == {
        "acl_groups": ["hr"],
        "classification": "secret",
        "owner": "hr",
    }


def test_the_type_of_the_corpus_comes_after_what_is_given(tmp_path: Path) -> None:
    """It is for documents of which nobody says one."""
    corpus = listed(
        tmp_path,
        {"path": "leave.md", "metadata": {"doc_type": "rule"}},
        {"path": "travel/abroad.md", "metadata": {"doc_type": "rule"}},
        {"path": "other.md"},
        corpus={"doc_type": "policy"},
    )
    corpus.document("other.md", "Text.\n")

    corpus.run()

    types = {doc_id: each["doc_type"] for doc_id, each in metadata(corpus).items()}
    assert types == {
        "leave.md": "handbook",
        "other.md": "policy",
        "travel/abroad.md": "rule",
    }


def test_a_manifest_that_says_nothing_more_changes_nothing(tmp_path: Path) -> None:
    """Chunks are those of the glob, to the byte."""
    globbed = handbook(tmp_path / "globbed")
    named = listed(
        tmp_path / "named", {"path": "leave.md"}, {"path": "travel/abroad.md"}
    )

    globbed.run()
    named.run()

    assert globbed.chunks.read_bytes() == named.chunks.read_bytes()


def test_all_processors_know_what_is_given(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A corpus of some size is cut by several processes, to the same bytes."""
    lines = [
        {"path": "leave.md", "doc_id": "L", "metadata": {"acl_groups": ["hr"]}},
        {"path": "travel/abroad.md"},
        {"doc_id": "gone", "op": "delete"},
        {"path": "named.md"},
    ]
    one, several = (
        listed(tmp_path / name, *lines, corpus={"max_failed_share": 1})
        for name in ("one", "several")
    )
    for corpus in (one, several):
        corpus.document("named.md", "---\ndoc_id: gone\n---\nText.\n")
        corpus.document("travel/abroad.md.meta.toml", 'owner = "office"\n')

    one.run()
    monkeypatch.setattr(parallel, "SMALLEST", 0)
    several.run()

    assert written(one) == written(several)
    assert metadata(one)["L"]["custom"] == {"acl_groups": ["hr"]}


# ---------------------------------------------------------------- documents that fail


@pytest.mark.parametrize(
    ("name", "content", "expected"),
    [
        pytest.param(
            "missing.md", None, "missing.md: cannot be read: No", id="missing"
        ),
        pytest.param(
            "old.md",
            "---\ndoc_id: gone\n---\nText.\n",
            "old.md: names doc_id 'gone', which docs/manifest.jsonl:1 deletes; "
            "remove the file or that line",
            id="deleted",
        ),
        pytest.param(
            "late.md",
            "---\neffective_to: 2024-12-31\n---\n# A {effective_from=2025-01-01}\n",
            "late.md: heading 'A': effective_from 2025-01-01 is after "
            "effective_to 2024-12-31",
            id="never in force",
        ),
    ],
)
def test_a_listed_document_fails_alone_and_by_name(
    tmp_path: Path, name: str, content: str | None, expected: str
) -> None:
    """The rest is published."""
    corpus = listed(
        tmp_path,
        {"doc_id": "gone", "op": "delete"},
        {"path": "leave.md"},
        {"path": name},
    )
    if content is not None:
        corpus.document(name, content)

    result = corpus.run()

    assert result.exit_code == 3
    (failed,) = corpus.manifest["failed"]
    assert failed["doc_id"] == name
    assert failed["message"].startswith(expected)
    assert set(metadata(corpus)) == {"leave.md"}


def test_a_document_with_a_wrong_sidecar_fails_alone(tmp_path: Path) -> None:
    """What the sidecar was to say may be who is allowed to read."""
    corpus = handbook(tmp_path)
    corpus.document("leave.md.meta.toml", "acl_groups = ")

    corpus.run()

    (failed,) = corpus.manifest["failed"]
    assert failed["message"].startswith("leave.md: leave.md.meta.toml is not TOML")


def test_a_document_without_a_required_key_fails(tmp_path: Path) -> None:
    """Closed by default: what says nothing of who may see it is not published."""
    corpus = handbook(tmp_path, metadata={"required": ["title", "acl_groups"]})
    corpus.document("leave.md.meta.toml", 'acl_groups = ["hr"]\n')

    corpus.run()

    assert set(metadata(corpus)) == {"leave.md"}
    (failed,) = corpus.manifest["failed"]
    assert failed["message"] == (
        "travel/abroad.md: lacks acl_groups, which metadata.required names"
    )


def test_a_required_key_need_not_travel(tmp_path: Path) -> None:
    """What is demanded and what is kept are two lists."""
    corpus = handbook(tmp_path, metadata={"required": ["owner"], "keep": []})
    for name in ("leave.md", "travel/abroad.md"):
        corpus.document(f"{name}.meta.toml", 'owner = "hr"\n')

    result = corpus.run()

    assert result.exit_code == 0
    assert {str(each["custom"]) for each in metadata(corpus).values()} == {"{}"}


def test_a_manifest_may_put_wrong_dates_right(tmp_path: Path) -> None:
    """What holds is judged, not what somebody said."""
    corpus = listed(
        tmp_path,
        {"path": "leave.md", "metadata": {"effective_to": "2026-12-31"}},
    )
    corpus.document(
        "leave.md",
        "---\neffective_from: 2026-01-01\neffective_to: 2025-12-31\n---\nText.\n",
    )

    result = corpus.run()

    assert result.exit_code == 0
    found = metadata(corpus)["leave.md"]
    assert (found["effective_from"], found["effective_to"]) == (
        "2026-01-01",
        "2026-12-31",
    )


# ----------------------------------------------------------------- manifests that fail


def test_a_wrong_manifest_is_found_before_any_work(tmp_path: Path) -> None:
    """Of no corpus is anything written."""
    right = handbook(tmp_path / "right")
    wrong = listed(tmp_path / "wrong", {"path": "../leave.md"})
    wrong.config.write_text(
        wrong.config.read_text("utf-8").replace('"handbook"', '"wrong"'), "utf-8"
    )

    with pytest.raises(ConfigError, match=r"docs/manifest\.jsonl:1: path "):
        run(load([right.config, wrong.config], environment={}), Heard())

    assert not right.chunks.exists()


def test_manifests_are_no_documents_of_any_corpus(tmp_path: Path) -> None:
    """A glob may be wide enough to hold them, and sidecars."""
    one = listed(tmp_path, {"path": "leave.md"})
    other = Corpus(folder=tmp_path, name="other").configure(
        corpus={"documents": ["docs/**/*"]}
    )
    one.document("leave.md.meta.toml", 'owner = "hr"\n')

    results = run(load([one.config, other.config], environment={}), Heard())

    assert [result.exit_code for result in results] == [0, 0]
    assert other.manifest["counts"]["documents"] == 2


@pytest.mark.parametrize("name", ["manifest.jsonl", "leave.md.meta.toml"])
def test_manifests_and_sidecars_are_never_replaced(tmp_path: Path, name: str) -> None:
    """By nothing that is written."""
    corpus = listed(tmp_path, {"path": "leave.md"})
    corpus.document("leave.md.meta.toml", 'owner = "hr"\n')
    (config,) = load([corpus.config], environment={})
    (job,) = ready([config])

    assert tmp_path / "docs" / name in job.kept(job.sources())


def test_an_output_in_the_place_of_its_manifest_is_refused(tmp_path: Path) -> None:
    """And the manifest stays as it was."""
    corpus = listed(
        tmp_path, {"path": "leave.md"}, output={"path": "docs/manifest.jsonl"}
    )
    before = (tmp_path / "docs" / "manifest.jsonl").read_bytes()

    result = corpus.run()

    assert result.exit_code == 2
    assert "is not to be replaced" in str(result.reason)
    assert (tmp_path / "docs" / "manifest.jsonl").read_bytes() == before


# ----------------------------------------------------------------------------- config


@pytest.mark.parametrize(
    ("name", "is_manifest"),
    [
        ("manifest.jsonl", True),
        ("docs/list.jsonl", True),
        ("docs/*.jsonl", False),
        ("docs/[m]anifest.jsonl", False),
        ("docs/manifest.json", False),
    ],
)
def test_a_manifest_is_told_by_its_name(
    tmp_path: Path, name: str, *, is_manifest: bool
) -> None:
    """No reader reads `.jsonl`, so no document is mistaken for one."""
    corpus = handbook(tmp_path, corpus={"documents": name})

    (config,) = load([corpus.config], environment={})

    assert config.corpus.documents == (name,)
    assert (config.corpus.manifests == (name,)) is is_manifest
    assert (config.corpus.globs == (name,)) is not is_manifest


def test_the_hash_counts_new_keys_only_where_they_are_set(tmp_path: Path) -> None:
    """Indexes of before are not cut anew for a key that says nothing."""
    (plain,) = load([handbook(tmp_path).config], environment={})

    required = replace(plain, metadata=replace(plain.metadata, required=("title",)))
    authority = replace(plain, metadata=replace(plain.metadata, authority=("title",)))

    assert len({plain.hash, required.hash, authority.hash}) == 3
