"""`situate survey`: what lies there, before anything is configured."""

from __future__ import annotations

import errno
import json
import os
from typing import TYPE_CHECKING, Any

import pytest
from typer.testing import CliRunner

from situate.cli import app
from situate.corpus import find
from tests.readers import docx_files as docx
from tests.readers.pdf_files import Sheet, Text, pdf, prose
from tests.support.corpora import LEAVE, TRAVEL, handbook

if TYPE_CHECKING:
    from pathlib import Path

    from typer.testing import Result

OLD_OFFICE = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"
PASSWORD = OLD_OFFICE + bytes(600) + "EncryptedPackage".encode("utf-16-le")
NOISE = bytes(range(256)) * 8


@pytest.fixture(autouse=True)
def _folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Work in a folder of one's own."""
    monkeypatch.chdir(tmp_path)


def situate(*arguments: str | Path) -> Result:
    """Run `survey`."""
    return CliRunner().invoke(app, ["survey", *map(str, arguments)])


def surveyed(*arguments: str | Path) -> dict[str, Any]:
    """Survey as machines do, and give the files by path."""
    found = json.loads(situate(*arguments, "--json").stdout)
    return {each["path"]: each for each in found["files"]}


def write(folder: Path, **contents: bytes | str) -> None:
    """Write files; the last underscore of a name stands for its dot."""
    for name, content in contents.items():
        path = folder / ".".join(name.rsplit("_", 1))
        path.write_bytes(content.encode() if isinstance(content, str) else content)


def changed() -> bytes:
    """Write a Word file with a tracked insertion."""
    inserted = f'<w:ins w:id="1" w:author="A">{docx.r("new ")}</w:ins>'
    return docx.word(docx.heading("Rules"), docx.p(inserted, docx.r("words")))


@pytest.mark.parametrize(
    ("name", "content", "state"),
    [
        pytest.param("a.md", LEAVE.encode(), "readable", id="markdown"),
        pytest.param("a.docx", changed(), "readable", id="word"),
        pytest.param("a.pdf", pdf(prose("Words of a page.")), "readable", id="pdf"),
        pytest.param("a.pdf", pdf(Sheet(picture=True)), "scan", id="scan"),
        pytest.param("a.docx", PASSWORD, "encrypted", id="password"),
        pytest.param("a.docx", OLD_OFFICE, "legacy", id="old under a new name"),
        pytest.param("a.doc", OLD_OFFICE, "legacy", id="old"),
        pytest.param("a.PPT", b"", "empty", id="nothing under an old name"),
        pytest.param("a.txt", rb"{\rtf1 words}", "legacy", id="rtf under another name"),
        pytest.param("a.txt", b"%PDF-1.7", "misnamed", id="pdf called text"),
        pytest.param("a.pdf", b"words", "misnamed", id="text called pdf"),
        pytest.param("a.md", b"", "empty", id="no bytes"),
        pytest.param("a.docx", b"", "empty", id="no bytes where some are needed"),
        pytest.param("a.md", b"\n \n", "empty", id="no text"),
        pytest.param("a.txt", NOISE, "binary", id="noise"),
        pytest.param("a.mp3", NOISE, "unsupported", id="no reader"),
        pytest.param("a.json", b"{}", "unsupported", id="other json"),
        pytest.param("a.docx", docx.zipped({"x": "y"}), "misnamed", id="other zip"),
        pytest.param("a.json", b"{", "other", id="broken"),
    ],
)
def test_every_file_has_a_state(
    tmp_path: Path, name: str, content: bytes, state: str
) -> None:
    """Its reader's word, whatever the file is called."""
    (tmp_path / name).write_bytes(content)

    (found,) = surveyed(".").values()

    assert found["state"] == state


def test_a_file_beyond_a_limit_is_told_from_a_broken_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The limits are those of a run."""
    monkeypatch.setenv("SITUATE_READER_LIMITS", '{"max_bytes" = 20}')
    write(tmp_path, long_md="word " * 10, short_md="word")

    found = surveyed(".")

    assert found["long.md"]["state"] == "limit"
    assert found["short.md"]["state"] == "readable"


def test_one_bad_file_costs_no_other(tmp_path: Path) -> None:
    """Neither one that cannot be read nor one that cannot be opened."""
    write(tmp_path, a_md=LEAVE, b_pdf=b"%PDF-1.7 nothing", d_md=TRAVEL)
    (tmp_path / "c.md").symlink_to("nowhere.md")
    os.mkfifo(tmp_path / "e.md")

    result = situate(".")
    found = surveyed(".")

    assert result.exit_code == 0
    assert {path: each["state"] for path, each in found.items()} == {
        "a.md": "readable",
        "b.pdf": "other",
        "c.md": "unreadable",
        "d.md": "readable",
        "e.md": "unreadable",
    }


def test_a_closed_folder_is_named_and_costs_no_other(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What is in it is unknown, and that is said."""
    write(tmp_path, a_md=LEAVE)
    (tmp_path / "closed").mkdir()
    scan = os.scandir

    def refuse(path: Path) -> object:
        if path.name == "closed":
            raise PermissionError(errno.EACCES, "Permission denied", str(path))
        return scan(path)

    monkeypatch.setattr(os, "scandir", refuse)

    result = situate(".")

    assert result.exit_code == 0
    assert "folder 'closed' cannot be read" in result.stderr


def test_a_document_is_told_with_what_it_says_of_itself(tmp_path: Path) -> None:
    """Title, dates, permissions, language, sections and leaves."""
    front = "---\ntitle: Leave\neffective_from: 2026-01-01\nacl_read: [staff]\n---\n"
    write(tmp_path, a_md=front + LEAVE.partition("---\n# ")[2].join(["# ", ""]))

    (found,) = surveyed("a.md").values()

    contents = found["contents"]
    assert (contents["title"], contents["effective_from"]) == ("Leave", "2026-01-01")
    assert contents["acl"] == ["acl_read"]
    assert (contents["language"], contents["language_from"]) == ("en", "text")
    assert (contents["sections"], contents["leaves"]) == (3, 2)


def test_what_a_sidecar_says_is_not_missing(tmp_path: Path) -> None:
    """It stands beside its document and is no document itself."""
    write(tmp_path, a_md=TRAVEL)
    (tmp_path / "a.md.meta.toml").write_text(
        'effective_from = 2026-01-01\nacl_groups = ["staff"]\nlanguage = "en-GB"\n'
        'classification = "internal"\n'
    )

    (found,) = surveyed(".").values()

    assert found["sidecar"]
    assert found["contents"]["effective_from"] == "2026-01-01"
    assert found["contents"]["acl"] == ["acl_groups", "classification"]
    assert found["contents"]["language_from"] == "metadata"


@pytest.mark.parametrize(
    ("text", "language"),
    [
        pytest.param(LEAVE, "en", id="function words"),
        pytest.param("# 报销\n\n差旅费用在三十天内报销。\n", "zh", id="script"),
        pytest.param("# 12\n\n4711\n", None, id="neither"),
    ],
)
def test_a_language_nobody_names_is_told_by_the_text(
    tmp_path: Path, text: str, language: str | None
) -> None:
    """Where the text leaves no doubt."""
    write(tmp_path, a_md=text)

    (found,) = surveyed(".").values()

    assert found["contents"]["language"] == language
    assert found["contents"]["language_from"] == (language and "text")


def test_a_survey_says_what_a_run_does(tmp_path: Path) -> None:
    """What it calls refused fails there, and nothing else."""
    corpus = handbook(tmp_path, corpus={"documents": ["docs/**/*"]})
    write(
        tmp_path / "docs",
        noise_txt=NOISE,
        scan_pdf=pdf(Sheet(picture=True)),
        none_md="",
        old_doc=OLD_OFFICE,
        said_md=TRAVEL,
    )
    (tmp_path / "docs" / "said.md.meta.toml").write_bytes(b"\xff")

    corpus.run()
    found = surveyed("docs")

    failed = {f"docs/{each['doc_id']}" for each in corpus.manifest["failed"]}
    refused = {path for path, each in found.items() if each["contents"] is None}
    assert refused == failed
    assert found["docs/said.md"]["reason"] == (
        "docs/said.md: docs/said.md.meta.toml is not UTF-8"
    )


def test_copies_are_known_by_their_bytes(tmp_path: Path) -> None:
    """The first by path is the original; empty files are no copies."""
    write(tmp_path, a_md=TRAVEL, b_md=TRAVEL, c_md=LEAVE, d_md="", e_md="")

    found = surveyed(".")

    assert {path: each["duplicate_of"] for path, each in found.items()} == {
        "a.md": None,
        "b.md": "a.md",
        "c.md": None,
        "d.md": None,
        "e.md": None,
    }


def test_tracked_changes_are_pointed_out(tmp_path: Path) -> None:
    """Somebody has to decide about them before a run does."""
    write(tmp_path, a_docx=changed())

    assert "a.docx: has tracked changes" in situate(".").stdout.splitlines()


@pytest.mark.parametrize(
    ("name", "content", "reason"),
    [
        pytest.param("a.pdf", pdf(Sheet(picture=True)), "pictures of text", id="scan"),
        pytest.param(
            "a.pdf",
            pdf(prose("Words of a page."), Sheet(picture=True)),
            "the pages that show pictures",
            id="a page without text",
        ),
        pytest.param(
            "a.pdf",
            pdf([Text(text="Heading", size=20), *prose("Words of a page.", y=200)]),
            "guessed from their look (confidence 0.5)",
            id="structure by fonts",
        ),
        pytest.param(
            "a.pdf", pdf(prose("Words of a page.")), "not found", id="no structure"
        ),
        pytest.param("a.xlsx", b"PK", "Docling reads .xlsx files", id="other format"),
        pytest.param("a.doc", OLD_OFFICE, "Docling reads .doc files", id="old format"),
    ],
)
def test_what_docling_does_better_is_said(
    tmp_path: Path, name: str, content: bytes, reason: str
) -> None:
    """Where text is in pictures, structure is guessed, or there is no reader."""
    (tmp_path / name).write_bytes(content)

    (found,) = surveyed(".").values()

    assert reason in found["docling"]


def test_markdown_and_noise_need_no_docling(tmp_path: Path) -> None:
    """It is advised for a reason only."""
    write(tmp_path, a_md=LEAVE, b_txt=NOISE, c_mp3=NOISE)

    assert {each["docling"] for each in surveyed(".").values()} == {None}


def test_an_author_cannot_pass_for_the_confidence_of_a_reader(tmp_path: Path) -> None:
    """The keys are a PDF's alone."""
    write(tmp_path, a_md="---\nstructure_confidence: 0.1\n---\n# Words\n\nof it\n")

    (found,) = surveyed(".").values()

    assert found["contents"]["structure_confidence"] is None
    assert found["docling"] is None


def test_folders_are_walked_like_globs(tmp_path: Path) -> None:
    """Linked folders, dot files and what an office program leaves are passed over."""
    (tmp_path / "in/side").mkdir(parents=True)
    (tmp_path / "in/.hidden").mkdir()
    (tmp_path / "away").mkdir()
    for name in ("in/a.md", "in/side/b.md", "in/.c.md", "in/.hidden/d.md", "away/e.md"):
        (tmp_path / name).write_text(name)
    (tmp_path / "in/~$a.md").write_text("lock")
    (tmp_path / "in/a.md.meta.toml").write_text("title = 'A'")
    (tmp_path / "in/link").symlink_to(tmp_path / "away")
    (tmp_path / "in/loop").symlink_to(tmp_path / "in")

    found = surveyed("in")

    globbed = find(["in/**/*"], tmp_path)
    assert list(found) == [f"in/{source.doc_id}" for source in globbed]
    assert list(found) == ["in/a.md", "in/side/b.md"]


def test_a_file_that_is_named_twice_is_told_once(tmp_path: Path) -> None:
    """By itself and in its folder, or by two ways to one folder."""
    (tmp_path / "in").mkdir()
    write(tmp_path / "in", a_md=LEAVE)
    (tmp_path / "link").symlink_to(tmp_path / "in")

    assert len(surveyed("in/a.md", "in", "link")) == 1


def test_people_get_a_table_what_is_lacking_and_what_to_look_at(
    tmp_path: Path,
) -> None:
    """All on stdout, the same on every run."""
    write(tmp_path, a_md=LEAVE, b_md=TRAVEL, c_doc=OLD_OFFICE, d_mp3=NOISE)

    result = situate(".")

    assert result.stdout.splitlines() == [
        "state        format    files    size",
        "readable     markdown      2   571 B",
        "legacy       .doc          1     8 B",
        "unsupported  .mp3          1  2.0 kB",
        "total                      4  2.6 kB",
        "2 readable files: 5 sections, 4 leaves",
        "without title 0, without effective_from 2, without ACL 2",
        "languages en 2",
        "c.doc: there is no reader for '.doc' files, a format of old; save it as "
        ".docx; Docling reads .doc files",
    ]
    assert result.stderr == ""


def test_machines_get_the_same_counts(tmp_path: Path) -> None:
    """And every file, however many there are."""
    for number in range(150):
        (tmp_path / f"{number:03}.doc").write_text("words")
    write(tmp_path, a_md=LEAVE)

    shown = situate(".")
    found = json.loads(situate(".", "--json").stdout)

    assert found["kinds"] == [
        {"state": "readable", "kind": "markdown", "files": 1, "bytes": len(LEAVE)},
        {"state": "legacy", "kind": ".doc", "files": 150, "bytes": 750},
    ]
    assert len(found["files"]) == 151
    assert "50 more are not shown" in shown.stderr


def test_nothing_readable_is_exit_code_1(tmp_path: Path) -> None:
    """Also where there is nothing at all."""
    (tmp_path / "empty").mkdir()
    write(tmp_path, a_mp3=NOISE)

    assert situate("empty").exit_code == 1
    assert situate("a.mp3").exit_code == 1


def test_a_path_to_nothing_is_exit_code_2(tmp_path: Path) -> None:
    """One line, and nothing is surveyed."""
    write(tmp_path, a_md=LEAVE)

    result = situate("a.md", "none")

    assert result.exit_code == 2
    assert result.stdout == ""
    assert result.stderr == "situate: none: there is no such file or folder\n"


def test_files_that_nothing_here_is_meant_to_read_are_counted_alone(
    tmp_path: Path,
) -> None:
    """A thousand pictures and programs would hide what matters."""
    write(tmp_path, a_py="run()", b_py="run()", c_xlsx=b"PK", d_json="{}")

    *counts, workbook, other = situate(".").stdout.splitlines()

    assert [line.split()[0] for line in counts] == [
        "state",
        *["unsupported"] * 3,
        "total",
    ]
    assert workbook == "c.xlsx: there is no reader for it; Docling reads .xlsx files"
    assert other.startswith("d.json: is JSON but no DoclingDocument")


def test_a_name_cannot_steer_a_terminal(tmp_path: Path) -> None:
    """Nor end its line, nor break the JSON."""
    os.close(os.open(b"a\x1b[2J\n\xff.xyz", os.O_CREAT | os.O_WRONLY))

    result = situate(".")

    assert "a?[2J?\\xff.xyz: is empty" in result.stdout
    assert "\x1b" not in result.stdout
    assert len(surveyed(".")) == 1
