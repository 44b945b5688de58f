"""Globs find the same documents, with the same ids, on every machine."""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING, Any

import pytest

from situate.corpus import find, survey
from situate.errors import SituateError

if TYPE_CHECKING:
    from pathlib import Path


def lay_out(folder: Path, *names: str) -> Path:
    """Write empty files."""
    for name in names:
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.touch()
    return folder


def ids(folder: Path, *patterns: str) -> list[str]:
    """Give the ids of what globs match."""
    return [source.doc_id for source in find(patterns, folder)]


@pytest.mark.parametrize(
    ("pattern", "expected"),
    [
        pytest.param("docs/*.md", ["a.md"], id="one folder"),
        pytest.param("docs/**/*.md", ["a.md", "b/c.md", "b/d/e.md"], id="all folders"),
        pytest.param("docs/*/*.md", ["b/c.md"], id="the folder below"),
        pytest.param("**/e.md", ["docs/b/d/e.md"], id="any depth"),
        pytest.param("docs/b/**", ["c.md", "d/e.md"], id="everything below"),
        pytest.param("docs/a.md", ["a.md"], id="no wildcard"),
        pytest.param("docs/[ab].md", ["a.md"], id="a choice of letters"),
        pytest.param("docs/**/d/*.md", ["b/d/e.md"], id="a name after any depth"),
        pytest.param("docs/**/**/e.md", ["b/d/e.md"], id="any depth twice"),
        pytest.param("./docs/../docs/*.md", ["a.md"], id="dots in the fixed part"),
    ],
)
def test_an_id_is_the_path_below_the_fixed_part(
    tmp_path: Path, pattern: str, expected: list[str]
) -> None:
    """Moving a corpus to another folder moves no id."""
    folder = lay_out(
        tmp_path, "docs/a.md", "docs/A.txt", "docs/b/c.md", "docs/b/d/e.md"
    )

    assert ids(folder, pattern) == expected


def test_what_an_office_program_has_open_is_no_document(tmp_path: Path) -> None:
    """Its lock stands beside it under nearly the same name."""
    folder = lay_out(tmp_path, "a.docx", "~$a.docx")

    assert ids(folder, "*") == ["a.docx"]


def test_case_counts(tmp_path: Path) -> None:
    """A file system that ignores it would change the corpus."""
    folder = lay_out(tmp_path, "a.md", "b.MD")

    assert ids(folder, "*.md") == ["a.md"]


def test_names_that_start_with_a_dot_are_asked_for_by_dot(tmp_path: Path) -> None:
    """Nobody means the insides of `.git`."""
    folder = lay_out(tmp_path, "a.md", ".b.md", ".git/c.md")

    assert ids(folder, "**/*.md") == ["a.md"]
    assert ids(folder, ".*.md") == [".b.md"]
    assert ids(folder, ".git/*.md") == ["c.md"]


def test_documents_come_in_the_order_of_their_ids(tmp_path: Path) -> None:
    """Whatever order the file system lists them in."""
    folder = lay_out(tmp_path, "b.md", "a/z.md", "B.md", "a.md", "ä.md")

    assert ids(folder, "**/*.md") == ["B.md", "a.md", "a/z.md", "b.md", "ä.md"]


def test_a_file_that_two_globs_match_is_one_document(tmp_path: Path) -> None:
    """The first glob gives the id."""
    folder = lay_out(tmp_path, "docs/special/a.md")

    assert ids(folder, "docs/**/*.md", "docs/special/*.md") == ["special/a.md"]


def test_two_files_with_one_id_are_an_error_naming_both(tmp_path: Path) -> None:
    """Their chunks would overwrite each other."""
    folder = lay_out(tmp_path, "one/a.md", "two/a.md")

    with pytest.raises(SituateError) as caught:
        ids(folder, "one/*.md", "two/*.md")

    for name in ("one/a.md", "two/a.md"):
        assert repr(str(folder / name)) in str(caught.value)


@pytest.mark.parametrize(
    "pattern", ["*.txt", "none/*.md", "a.md/*.md", "b.md", ".", "..", "/"]
)
def test_a_glob_that_matches_nothing_is_an_error(tmp_path: Path, pattern: str) -> None:
    """A misspelt folder is no empty corpus."""
    folder = lay_out(tmp_path, "a.md")

    with pytest.raises(SituateError, match="matches nothing"):
        ids(folder, "a.md", pattern)


@pytest.mark.skipif(sys.platform == "win32", reason="links need rights there")
def test_linked_folders_are_not_walked(tmp_path: Path) -> None:
    """A loop of links has no end, and a link out has no bound."""
    folder = lay_out(tmp_path, "docs/a.md", "docs/b/c.md")
    (folder / "docs" / "b" / "loop").symlink_to(folder / "docs")

    assert ids(folder, "docs/**/*.md") == ["a.md", "b/c.md"]


@pytest.mark.skipif(sys.platform == "win32", reason="links need rights there")
def test_linked_files_and_broken_links_are_documents(tmp_path: Path) -> None:
    """What cannot be read has to fail by name, not to vanish."""
    folder = lay_out(tmp_path, "elsewhere/a.md", "docs/b.md")
    (folder / "docs" / "a.md").symlink_to(folder / "elsewhere" / "a.md")
    (folder / "docs" / "c.md").symlink_to(folder / "nowhere")

    assert ids(folder, "docs/*.md") == ["a.md", "b.md", "c.md"]


@pytest.mark.skipif(sys.platform == "win32", reason="links need rights there")
def test_a_link_to_itself_is_a_document(tmp_path: Path) -> None:
    """It fails by name like a broken one, and blocks nobody."""
    folder = lay_out(tmp_path, "docs/b.md", "out/o.jsonl")
    (folder / "docs" / "a.md").symlink_to("a.md")

    sources = find(["docs/*.md"], folder, excluded={folder / "out"})

    assert [source.doc_id for source in sources] == ["a.md", "b.md"]


@pytest.mark.parametrize(
    "pattern", ["x" * 5000, "x" * 5000 + "/*.md", "*/" + "x" * 300]
)
def test_a_name_too_long_for_the_system_is_an_error(
    tmp_path: Path, pattern: str
) -> None:
    """It matches nothing, or cannot be looked into."""
    folder = lay_out(tmp_path, "docs/a.md")

    with pytest.raises(SituateError, match=r"matches nothing|cannot be read"):
        ids(folder, pattern)


def test_folders_are_no_documents(tmp_path: Path) -> None:
    """Whatever their names end in."""
    folder = lay_out(tmp_path, "a.md", "b.md/c.txt")

    assert ids(folder, "*.md") == ["a.md"]


def test_what_situate_writes_is_no_document(tmp_path: Path) -> None:
    """Neither files nor anything in an excluded folder."""
    folder = lay_out(tmp_path, "a.md", "out.md", "cache/b/c.md")

    sources = find(["**/*.md"], folder, excluded={folder / "out.md", folder / "cache"})

    assert [source.doc_id for source in sources] == ["a.md"]


@pytest.mark.skipif(sys.platform != "linux", reason="other systems refuse such names")
def test_a_name_that_is_no_text_still_has_an_id(tmp_path: Path) -> None:
    """File names are bytes on Linux; ids go into UTF-8 files."""
    with open(os.path.join(os.fsencode(tmp_path), b"\xff.md"), "wb"):  # noqa: PTH118, PTH123 - pathlib has no names in bytes
        pass

    (name,) = ids(tmp_path, "*.md")

    assert name == r"\xff.md"


# ------------------------------------------------------------------ what is not seen


def test_what_is_missing_says_where_it_would_be(tmp_path: Path) -> None:
    """A glob that matches nothing is about what lies below its fixed part."""
    folder = lay_out(tmp_path, "docs/a.md")

    found = survey(["docs/*.md", "more/x/*.md", "docs/b.md"], folder)

    assert [gap.below for gap in found.gaps] == [
        folder / "more" / "x",
        folder / "docs" / "b.md",
    ]
    assert found.doubts == ()


@pytest.mark.skipif(sys.platform == "win32", reason="links need rights there")
def test_a_link_that_leads_nowhere_may_have_been_a_folder(tmp_path: Path) -> None:
    """Documents may be missed, which is no reason not to run over the others."""
    folder = lay_out(tmp_path, "docs/a/b.md")
    (folder / "docs" / "c").symlink_to(folder / "nowhere")

    found = survey(["docs/*/*.md", "docs/*/*.txt"], folder)

    assert [gap.below for gap in found.doubts] == [folder / "docs" / "c"]
    assert ids(folder, "docs/*/*.md") == ["a/b.md"]


def test_an_entry_of_which_nobody_can_say_what_it_is_is_a_gap(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It may be a folder of documents, on a disk that fails."""
    folder = lay_out(tmp_path, "docs/a.md", "docs/b/c.md")
    real = os.scandir

    class Entry:
        name = "b"

        def is_dir(self, *, follow_symlinks: bool) -> bool:
            raise OSError(5, f"Input/output error, links followed: {follow_symlinks}")

    class Entries:
        def __enter__(self) -> list[object]:
            return [*real(folder / "docs"), Entry()]

        def __exit__(self, *_: object) -> None:
            pass

    monkeypatch.setattr(
        os, "scandir", lambda path: Entries() if path == folder / "docs" else real(path)
    )

    with pytest.raises(SituateError, match=r"docs/b' cannot be read: Input/output"):
        ids(folder, "docs/**/*.md")


def test_a_folder_is_looked_into_once_by_a_glob(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What it holds cannot change between two looks."""
    folder = lay_out(tmp_path, "docs/a.md", "docs/b/c.md", "docs/b/d/e.md")
    seen: list[Any] = []
    real = os.scandir

    def scandir(path: Any) -> Any:
        seen.append(path)
        return real(path)

    monkeypatch.setattr(os, "scandir", scandir)

    ids(folder, "docs/**/*.md")

    assert len(seen) == len(set(seen)) == 3
