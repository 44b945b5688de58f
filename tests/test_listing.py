"""A manifest is right as a whole, or not used at all."""

from __future__ import annotations

import json
import sys
from typing import TYPE_CHECKING

import pytest

from situate.corpus import find
from situate.errors import ConfigError, ReadError, SituateError
from situate.given import read_sidecar
from situate.listing import check_together, read_listing

if TYPE_CHECKING:
    from pathlib import Path

    from situate.listing import Listing


def listing(folder: Path, *lines: object, name: str = "m.jsonl") -> Listing:
    """Read a manifest of these lines."""
    path = folder / name
    path.write_text("".join(f"{json.dumps(line)}\n" for line in lines), "utf-8")
    return read_listing(path, name)


def complaint(folder: Path, content: bytes) -> str:
    """Give what reading these bytes as a manifest complains about."""
    path = folder / "m.jsonl"
    path.write_bytes(content)
    with pytest.raises(ConfigError) as caught:
        check_together([read_listing(path, "m.jsonl")])
    return str(caught.value).removeprefix(f"{folder}/")


def found(folder: Path, *patterns: str, listings: tuple[Listing, ...]) -> list[str]:
    """Give the ids of what globs and manifests find."""
    return [each.named for each in find(patterns, folder, listings=listings)]


def lay_out(folder: Path, *names: str) -> None:
    """Write empty files."""
    for name in names:
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.touch()


# ------------------------------------------------------------------------ its lines


def test_a_line_says_all_that_is_said_of_a_document_outside_it(tmp_path: Path) -> None:
    """Fields are told from other keys as in front matter."""
    metadata = {"title": "T", "effective_to": "2025-12-31", "acl_groups": ["hr"]}

    (entry,) = listing(
        tmp_path,
        {"path": "docs/a.md", "doc_id": "A-1", "version": "7", "metadata": metadata},
    ).entries

    assert entry.source is not None
    assert (entry.source.path, entry.source.doc_id) == (
        tmp_path / "docs" / "a.md",
        "docs/a.md",
    )
    given = entry.source.given
    assert given is not None
    assert (given.where, given.doc_id, given.version) == ("m.jsonl:1", "A-1", "7")
    assert (given.metadata.title, given.metadata.effective_to) == ("T", "2025-12-31")
    assert given.metadata.custom == {"acl_groups": ["hr"]}


def test_null_says_nothing(tmp_path: Path) -> None:
    """An export of a table has a null in every empty cell."""
    line = {"path": "a.md", "doc_id": None, "version": None, "op": None}
    metadata = {"title": None, "owner": None}

    (entry,) = listing(tmp_path, {**line, "metadata": metadata}).entries

    assert (entry.op, entry.doc_id) == ("upsert", "a.md")
    assert entry.source is not None
    assert entry.source.given is not None
    assert entry.source.given.metadata.title is None
    assert entry.source.given.metadata.custom == {}


@pytest.mark.parametrize(
    "content",
    [
        pytest.param(b'\xef\xbb\xbf{"path": "a.md"}\n', id="byte-order mark"),
        pytest.param(b'{"path": "a.md"}\r\n{"path": "b.md"}\r\n', id="CRLF"),
        pytest.param(b'\n{"path": "a.md"}\n \n', id="blank lines"),
        pytest.param(b'{"path": "a.md"}', id="no line end"),
        pytest.param(b'{"path": "./a.md"}', id="dot"),
    ],
)
def test_what_editors_leave_in_files_is_no_mistake(
    tmp_path: Path, content: bytes
) -> None:
    """Nor are blank lines."""
    path = tmp_path / "m.jsonl"
    path.write_bytes(content)

    assert read_listing(path, "m.jsonl").entries[0].doc_id == "a.md"


def test_a_date_that_is_none_is_a_warning_and_no_date(tmp_path: Path) -> None:
    """Nobody guesses whether it is March or April."""
    metadata = {"effective_from": "03/04/2024"}

    (entry,) = listing(tmp_path, {"path": "a.md", "metadata": metadata}).entries

    assert entry.source is not None
    given = entry.source.given
    assert given is not None
    assert given.metadata.effective_from is None
    assert given.warnings == (
        "m.jsonl:1: effective_from '03/04/2024' is no ISO date (YYYY-MM-DD); "
        "kept under custom",
    )


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        pytest.param(b"{", "m.jsonl:1: not a line of JSON", id="no JSON"),
        pytest.param(b"[]", "m.jsonl:1: a JSON object was expected", id="a list"),
        pytest.param(b'{"path": "\xff.md"}', "m.jsonl:1: not a line", id="no UTF-8"),
        pytest.param(
            b'{"path": "a.md", "path": "b.md"}', "'path' stands twice", id="key twice"
        ),
        pytest.param(
            b'\n{"path": "a.md", "pth": 1}', "m.jsonl:2: 'pth' is no field", id="key"
        ),
        pytest.param(b"{}", "m.jsonl:1: path is missing", id="no path"),
        pytest.param(
            b'{"op": "delete"}', "path and doc_id are missing", id="deletes nothing"
        ),
        pytest.param(b'{"doc_id": "a"}', "path is missing", id="only an id"),
        pytest.param(
            b'{"path": "a.md", "op": "remove"}',
            "op is 'remove'; allowed: upsert, delete",
            id="op",
        ),
        pytest.param(b'{"path": 1}', "path: a text was expected", id="path is no text"),
        pytest.param(
            b'{"path": "a.md", "version": 2}',
            "version: a text was expected, not a whole number",
            id="version is no text",
        ),
        pytest.param(
            b'{"path": "a.md", "doc_id": " "}', "doc_id is blank", id="blank id"
        ),
        pytest.param(
            b'{"path": "a.md", "metadata": []}',
            "metadata: an object was expected, not a list",
            id="metadata is no object",
        ),
        pytest.param(
            b'{"path": "a.md", "metadata": {"title": 1}}',
            "title: a text was expected",
            id="title is no text",
        ),
        pytest.param(
            b'{"path": "a.md", "metadata": {"effective_to": 2025}}',
            "effective_to: a text was expected",
            id="date is no text",
        ),
        pytest.param(
            b'{"path": "a.md", "metadata": {"doc_id": "A"}}',
            "'doc_id' stands beside metadata, not in it",
            id="id in metadata",
        ),
        pytest.param(
            b'{"path": "a.md", "metadata": {"x": ' + b"[" * 40 + b"]" * 40 + b"}}",
            "m.jsonl:1: values nest deeper than 32 levels",
            id="deep",
        ),
        pytest.param(
            b'{"path": "a.md", "metadata": ' + b"[" * 100_000,
            "m.jsonl:1: not a line of JSON",
            id="deeper than JSON can be read",
        ),
        pytest.param(
            b'{"path": "' + b"a" * 2**20, "is longer than 1,048,576", id="endless line"
        ),
        pytest.param(
            b'{"path": "a.md"}\n{"path": "b.md", "doc_id": "a.md"}',
            "m.jsonl:2: doc_id 'a.md' stands in ",
            id="id twice",
        ),
        pytest.param(
            b'{"path": "a.md", "doc_id": "A"}\n{"path": "./a.md", "doc_id": "B"}',
            "m.jsonl:2: path 'a.md' stands in ",
            id="path twice",
        ),
        pytest.param(
            b'{"path": "a.md"}\n{"doc_id": "a.md", "op": "delete"}',
            "m.jsonl:2: doc_id 'a.md' stands in ",
            id="listed and deleted",
        ),
    ],
)
def test_a_wrong_line_is_an_error_naming_file_and_line(
    tmp_path: Path, content: bytes, expected: str
) -> None:
    """Before any work: nothing is done by half a manifest."""
    assert expected in complaint(tmp_path, content)


@pytest.mark.parametrize(
    "path",
    ["/etc/passwd", "../a.md", "docs/../../a.md", "docs/../a.md", "", ".", "a\0.md"],
)
def test_a_path_leads_to_a_file_below_the_manifest(tmp_path: Path, path: str) -> None:
    """A manifest from elsewhere has no other file read."""
    message = complaint(tmp_path, json.dumps({"path": path}).encode())

    assert message.startswith("m.jsonl:1: path ")
    assert "name a file at or below the manifest's folder" in message


def test_a_name_that_no_file_can_have_is_refused(tmp_path: Path) -> None:
    """JSON can write half a character, file systems cannot."""
    assert "names no file" in complaint(tmp_path, rb'{"path": "\ud800.md"}')


@pytest.mark.skipif(sys.platform == "win32", reason="links need rights there")
def test_links_are_followed_and_links_to_files_are_documents(tmp_path: Path) -> None:
    """As for globs: who lays out the folder has decided what is in it."""
    lay_out(tmp_path, "elsewhere/a.md", "docs/b.md")
    (tmp_path / "docs" / "a.md").symlink_to(tmp_path / "elsewhere" / "a.md")
    lines = [{"path": "docs/a.md"}, {"path": "elsewhere/a.md"}]

    ids = found(tmp_path, listings=(listing(tmp_path, *lines),))

    assert ids == ["docs/a.md", "elsewhere/a.md"]


def test_two_manifests_may_not_speak_of_one_document(tmp_path: Path) -> None:
    """They may lead to it by different folders."""
    (tmp_path / "docs").mkdir()
    one = listing(tmp_path, {"path": "docs/a.md", "doc_id": "A"})
    other = listing(tmp_path / "docs", {"path": "a.md", "doc_id": "B"})

    with pytest.raises(ConfigError, match="stands in"):
        check_together([one, other])


def test_a_manifest_that_is_not_there_is_named(tmp_path: Path) -> None:
    """Like a config that is not there."""
    with pytest.raises(ConfigError, match=r"m\.jsonl: cannot be read"):
        read_listing(tmp_path / "m.jsonl", "m.jsonl")


# ------------------------------------------------------------ beside what globs find


def test_a_manifest_and_a_glob_may_find_one_file(tmp_path: Path) -> None:
    """It is one document, with the glob's id and what the manifest says of it."""
    lay_out(tmp_path, "docs/a.md", "docs/b.md")
    said = listing(tmp_path, {"path": "docs/a.md", "metadata": {"acl_groups": ["hr"]}})

    one, other = find(["docs/../docs/*.md"], tmp_path, listings=(said,))

    assert (one.doc_id, other.doc_id) == ("a.md", "b.md")
    assert one.given is not None
    assert one.given.metadata.custom == {"acl_groups": ["hr"]}
    assert other.given is None


@pytest.mark.parametrize(
    "line",
    [
        pytest.param({"path": "docs/a.md", "op": "delete"}, id="by path"),
        pytest.param({"doc_id": "a.md", "op": "delete"}, id="by id"),
    ],
)
def test_a_deleted_document_is_left_out(tmp_path: Path, line: object) -> None:
    """Though its file is still there."""
    lay_out(tmp_path, "docs/a.md", "docs/b.md")

    assert found(tmp_path, "docs/*.md", listings=(listing(tmp_path, line),)) == ["b.md"]


def test_a_deleted_document_needs_no_file(tmp_path: Path) -> None:
    """A tombstone says that it is gone."""
    lay_out(tmp_path, "b.md")
    lines = [{"path": "a.md", "op": "delete"}, {"path": "b.md"}]

    assert found(tmp_path, listings=(listing(tmp_path, *lines),)) == ["b.md"]


def test_a_missing_file_is_a_document_all_the_same(tmp_path: Path) -> None:
    """It has to fail by name, not to vanish."""
    assert found(tmp_path, listings=(listing(tmp_path, {"path": "a.md"}),)) == ["a.md"]


def test_the_ids_of_a_manifest_tell_files_of_one_name_apart(tmp_path: Path) -> None:
    """Their paths alone would be one id."""
    lay_out(tmp_path, "one/a.md", "two/a.md")
    said = listing(tmp_path, {"path": "two/a.md", "doc_id": "B"})

    ids = found(tmp_path, "one/*.md", "two/*.md", listings=(said,))

    assert sorted(ids) == ["B", "a.md"]


@pytest.mark.parametrize(
    ("lines", "expected"),
    [
        pytest.param([], "lists nothing", id="empty"),
        pytest.param(
            [{"doc_id": "a", "op": "delete"}], "list no document", id="all deleted"
        ),
    ],
)
def test_a_manifest_that_lists_nothing_is_an_error(
    tmp_path: Path, lines: list[object], expected: str
) -> None:
    """An export that broke off is no empty corpus."""
    with pytest.raises(SituateError, match=expected):
        found(tmp_path, listings=(listing(tmp_path, *lines),))


# ------------------------------------------------------------------------- sidecars


def test_a_sidecar_is_found_beside_its_document_and_is_none(tmp_path: Path) -> None:
    """Whatever a glob would match."""
    lay_out(tmp_path, "a.md", "a.md.meta.toml", "b.md")

    one, other = find(["*"], tmp_path)

    assert (one.sidecar, other.sidecar) == (tmp_path / "a.md.meta.toml", None)


@pytest.mark.skipif(sys.platform == "win32", reason="links need rights there")
def test_a_sidecar_that_leads_nowhere_is_missed(tmp_path: Path) -> None:
    """What it was to say may be who is allowed to read."""
    lay_out(tmp_path, "a.md")
    (tmp_path / "a.md.meta.toml").symlink_to(tmp_path / "nowhere")

    (source,) = find(["*.md"], tmp_path)

    assert source.sidecar is not None
    with pytest.raises(ReadError, match=r"a\.md\.meta\.toml cannot be read"):
        read_sidecar(source.sidecar, "a.md")


def test_a_sidecar_says_what_front_matter_may_say(tmp_path: Path) -> None:
    """By the same rules: dates of TOML are ISO dates."""
    path = tmp_path / "a.md.meta.toml"
    path.write_bytes(
        b'\xef\xbb\xbfdoc_id = "A-1"\r\nversion = "7"\r\ntitle = "T"\r\n'
        b'effective_to = 2025-12-31\r\nacl_groups = ["hr"]\r\n'
    )

    given = read_sidecar(path, "docs/a.md")

    assert (given.where, given.doc_id, given.version) == (
        "docs/a.md.meta.toml",
        "A-1",
        "7",
    )
    assert (given.metadata.title, given.metadata.effective_to) == ("T", "2025-12-31")
    assert given.metadata.custom == {"acl_groups": ["hr"]}


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        pytest.param(b"title = ", "is not TOML", id="no TOML"),
        pytest.param(b"a = 1\na = 2", "is not TOML", id="key twice"),
        pytest.param(b'title = "\xff"', "is not UTF-8", id="no UTF-8"),
        pytest.param(b"# " + b"x" * 70_000, "is longer than 65,536 bytes", id="long"),
        pytest.param(b"version = 1.10", "version: a text was expected", id="version"),
        pytest.param(b"title = 1", "title: a text was expected", id="title"),
        pytest.param(b'op = "delete"', "'op' belongs into a manifest", id="op"),
        pytest.param(
            b'[metadata]\nacl_groups = ["hr"]',
            "'metadata' belongs into a manifest",
            id="metadata",
        ),
    ],
)
def test_a_wrong_sidecar_names_its_document(
    tmp_path: Path, content: bytes, expected: str
) -> None:
    """It fails alone."""
    path = tmp_path / "a.md.meta.toml"
    path.write_bytes(content)

    with pytest.raises(ReadError) as caught:
        read_sidecar(path, "a.md")

    assert str(caught.value).startswith("a.md: ")
    assert expected in str(caught.value)
