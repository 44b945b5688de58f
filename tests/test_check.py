"""`check` finds every way in which a chunks file can break its contract."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from situate.check import check
from situate.chunking import Rules, chunk
from situate.errors import RecordError
from situate.model import Enrichment
from situate.readers import read
from situate.records import read_chunks, to_line, to_record
from situate.tokens import load_counter
from tests.support.corpora import Corpus

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

    from situate.check import Report
    from situate.model import Chunk

    Change = Callable[[list[Chunk]], Sequence[Chunk]]

LONG = "Nobody may do this without asking first, and asking takes a while. " * 30

POLICY = f"""\
# Policy

This is what holds for everybody who works here, wherever that may be, and at any
time of the day. Whoever is in doubt asks the office, which answers within a week.

## Long

{LONG}

## Table

| Case | Days |
| --- | --- |
"""


@pytest.fixture(scope="module", params=["leaves", "tree"])
def made(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Corpus:
    """Run once over two documents with a long paragraph and a long table."""
    corpus = Corpus(folder=tmp_path_factory.mktemp(request.param))
    rows = "".join(f"| Case number {n} of the list | {n} |\n" for n in range(60))
    corpus.document("policy.md", POLICY + rows)
    corpus.document("short.md", "# Short\n\nOne sentence.\n")
    corpus.configure(chunking={"max_tokens": 64, "granularity": request.param})
    assert corpus.run().exit_code == 0
    return corpus


@pytest.fixture(scope="module")
def leaves(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Give a chunks file of granularity `leaves`, blocks beside it, no manifest."""
    return _without_manifest(tmp_path_factory.mktemp("leaves"), "leaves")


@pytest.fixture(scope="module")
def tree(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Give the same with parents."""
    return _without_manifest(tmp_path_factory.mktemp("tree"), "tree")


def _without_manifest(folder: Path, granularity: str) -> Path:
    corpus = Corpus(folder=folder)
    rows = "".join(f"| Case number {n} of the list | {n} |\n" for n in range(60))
    corpus.document("policy.md", POLICY + rows)
    corpus.configure(chunking={"max_tokens": 64, "granularity": granularity})
    corpus.run()
    corpus.chunks.with_name("handbook.manifest.json").unlink()
    return corpus.chunks


def changed(original: Path, change: Change, folder: Path) -> Report:
    """Check a copy of a chunks file in which something was changed."""
    path = folder / "changed.jsonl"
    chunks = change(list(read_chunks(original)))
    path.write_bytes(b"".join(to_line(to_record(chunk)) for chunk in chunks))
    return check(
        path, blocks=original.with_name("handbook.blocks.jsonl"), max_tokens=64
    )


def swap(one: int, other: int) -> Change:
    """Exchange two chunks, ordinals with them."""

    def change(chunks: list[Chunk]) -> list[Chunk]:
        chunks[one], chunks[other] = (
            replace(chunks[other], ordinal=one),
            replace(chunks[one], ordinal=other),
        )
        return chunks

    return change


def drop(place: int) -> Change:
    """Leave one out and number the others anew."""

    def change(chunks: list[Chunk]) -> list[Chunk]:
        del chunks[place]
        return [replace(chunk, ordinal=n) for n, chunk in enumerate(chunks)]

    return change


def with_(place: int, **fields: object) -> Change:
    """Give one chunk other values."""

    def change(chunks: list[Chunk]) -> list[Chunk]:
        chunks[place] = replace(chunks[place], **fields)  # type: ignore[arg-type]  # each test names its own
        return chunks

    return change


def test_what_a_run_wrote_breaks_no_rule(made: Corpus) -> None:
    """Cover, sizes, parents and hashes hold, and all were checked."""
    report = check(made.chunks)

    assert report.findings == []
    assert report.not_checked == []
    assert report.documents == 2
    assert report.chunks == len(made.records)


def test_without_blocks_and_sizes_it_says_what_it_left_out(
    leaves: Path, tmp_path: Path
) -> None:
    """A file alone is checked as far as it goes."""
    alone = tmp_path / "alone.jsonl"
    alone.write_bytes(leaves.read_bytes())

    report = check(alone)

    assert report.findings == []
    assert [message.split(":")[0] for message in report.not_checked] == [
        "sizes not checked",
        "cover not checked",
    ]


@pytest.mark.parametrize(
    ("change", "rules"),
    [
        pytest.param(lambda c: c, set(), id="nothing"),
        pytest.param(drop(0), {"C2-cover"}, id="a leaf is missing"),
        pytest.param(drop(2), {"C2-cover"}, id="a part is missing"),
        pytest.param(drop(-1), {"C2-cover"}, id="the last part is missing"),
        pytest.param(
            swap(0, 1), {"C2-order", "C2-overlap"}, id="two leaves are exchanged"
        ),
        pytest.param(
            lambda c: [*c, replace(c[-1], ordinal=len(c))],
            {"C2-unique", "C2-overlap", "C2-cover"},
            id="a leaf stands twice",
        ),
        pytest.param(with_(0, ordinal=7), {"C2-order"}, id="ordinal"),
        pytest.param(
            with_(0, block_ids=("policy#0", "policy#9")),
            {"C2-lineage", "C2-cover"},
            id="a block that is not there",
        ),
        pytest.param(with_(0, parts={"x#1": (0, 1)}), {"C2-lineage"}, id="part of it"),
        pytest.param(
            with_(0, spans=((5, 3), None)), {"span"}, id="a span that ends early"
        ),
        pytest.param(
            with_(0, spans=((0, 8), (10, 9999))),
            {"span", "C2-overlap"},
            id="a span beyond its block",
        ),
        pytest.param(
            with_(0, text=LONG, reading=LONG), {"C3-size"}, id="above the limit"
        ),
        pytest.param(with_(0, token_count=1), {"C3-size"}, id="a wrong count"),
        pytest.param(
            with_(0, text=" ", reading=" ", token_count=1),
            {"C2-lineage", "C13-form"},
            id="blank",
        ),
        pytest.param(
            with_(0, reading="lorem " * 5_000, embed_form="reading"),
            {"C3-size"},
            id="a reading above its bound",
        ),
        pytest.param(with_(0, chunk_id="policy:x"), {"identity"}, id="another id"),
        pytest.param(
            with_(0, section_ids=("policy",)),
            {"identity", "C7-breadcrumb"},
            id="merged with nothing",
        ),
        pytest.param(with_(0, doc_version="v9"), {"identity"}, id="another version"),
        pytest.param(
            with_(1, parent_chunk_id="policy.md:policy"),
            {"C9-root", "C9-container"},
            id="a parent among leaves",
        ),
        pytest.param(
            with_(0, enrichment=Enrichment(status="statement")),
            {"E10-status"},
            id="a statement without words",
        ),
        pytest.param(
            with_(0, enrichment=Enrichment(status="fallback")),
            {"E10-status"},
            id="no reason",
        ),
    ],
)
def test_a_broken_rule_among_leaves_is_named(
    leaves: Path, tmp_path: Path, change: Change, rules: set[str]
) -> None:
    """The rules that are broken are named, and no other."""
    report = changed(leaves, change, tmp_path)

    assert set(report.broken) == rules


@pytest.mark.parametrize(
    ("change", "rules"),
    [
        pytest.param(lambda c: c, set(), id="nothing"),
        pytest.param(drop(0), {"C9-parent", "C9-root"}, id="the root is missing"),
        pytest.param(
            with_(0, parent_chunk_id="policy.md:policy"),
            {"C9-cycle", "C9-root", "C9-level", "C2-order"},
            id="a circle",
        ),
        pytest.param(
            with_(-1, parent_chunk_id="policy.md:nowhere"),
            {"C9-parent"},
            id="a parent that is not there",
        ),
        pytest.param(
            with_(-1, level="document"), {"C9-level"}, id="a level that rises"
        ),
        pytest.param(with_(-1, parent_chunk_id=None), {"C9-root"}, id="two roots"),
        pytest.param(
            with_(0, enrichment=Enrichment(status="skipped", reason="budget")),
            {"E10-status"},
            id="a container that was asked about",
        ),
        pytest.param(
            with_(0, text=LONG * 2, reading=LONG * 2),
            {"C3-size"},
            id="a container above its limit",
        ),
    ],
)
def test_a_broken_rule_among_parents_is_named(
    tree: Path, tmp_path: Path, change: Change, rules: set[str]
) -> None:
    """Containers are no part of the cover and have rules of their own."""
    report = changed(tree, change, tmp_path)

    assert set(report.broken) == rules


def test_a_field_that_does_not_follow_is_named(leaves: Path, tmp_path: Path) -> None:
    """Derived texts and hashes are derived again."""
    path = tmp_path / "changed.jsonl"
    record = to_record(next(read_chunks(leaves)))
    record["embed_text"] = "x"
    path.write_bytes(to_line(record))

    report = check(path)

    assert {f"{f.rule} {f.message.split()[0]}" for f in report.findings} == {
        "derivation embed_text",
        "derivation lexical_text",
        "hash metadata.embed_hash",
        "hash metadata.lexical_hash",
    }


def test_lines_that_are_no_records_hide_no_others(leaves: Path, tmp_path: Path) -> None:
    """Each is named with its line, and the rest is checked."""
    path = tmp_path / "changed.jsonl"
    lines = leaves.read_bytes().splitlines(keepends=True)
    path.write_bytes(b"".join([b"{\n", *lines, b"[]\n"]))

    report = check(path)

    assert [f.subject for f in report.findings] == [
        f"{path}:1",
        f"{path}:{len(lines) + 2}",
    ]
    assert report.chunks == len(lines)


def test_documents_may_not_be_mixed(made: Corpus, tmp_path: Path) -> None:
    """The chunks of a document stand together."""
    path = tmp_path / "mixed.jsonl"
    chunks = list(read_chunks(made.chunks))
    path.write_bytes(
        b"".join(to_line(to_record(chunk)) for chunk in [*chunks[1:], chunks[0]])
    )

    report = check(path)

    assert "C2-order" in report.broken


def test_a_document_without_chunks_is_missed(made: Corpus, tmp_path: Path) -> None:
    """The blocks file names documents as well as blocks."""
    path = tmp_path / "fewer.jsonl"
    chunks = [c for c in read_chunks(made.chunks) if c.doc_id == "policy.md"]
    path.write_bytes(b"".join(to_line(to_record(chunk)) for chunk in chunks))

    report = check(path, blocks=made.chunks.with_name("handbook.blocks.jsonl"))

    assert [(f.rule, f.subject) for f in report.findings] == [("C2-cover", "short.md")]


def test_files_that_changed_since_the_run_are_named(tmp_path: Path) -> None:
    """The manifest stands for the files it was written with."""
    corpus = Corpus(folder=tmp_path)
    corpus.document("a.md", "# A\n\nText.\n")
    corpus.configure().run()
    corpus.chunks.write_bytes(b"")

    report = check(corpus.chunks)

    assert [(f.rule, f.subject) for f in report.findings] == [
        ("manifest", "handbook.jsonl"),
        ("C2-cover", "a.md"),
    ]


def test_spans_lie_inside_the_source(leaves: Path, tmp_path: Path) -> None:
    """The source is decoded as the reader did, its line ends made one."""
    source = leaves.parent.parent / "docs" / "policy.md"
    shorter = tmp_path / "policy.md"
    shorter.write_bytes(source.read_bytes()[:500])

    whole = check(leaves, source=source)
    cut = check(leaves, source=shorter)

    assert whole.findings == []
    assert set(cut.broken) == {"span", "identity"}


def test_a_source_that_belongs_to_no_document_is_refused(made: Corpus) -> None:
    """With several documents, its path has to tell which."""
    with pytest.raises(RecordError, match="name it so that its path ends with one"):
        check(made.chunks, source=made.config)


@pytest.mark.parametrize(
    ("name", "content"),
    [
        pytest.param("handbook.manifest.json", b"{}", id="empty manifest"),
        pytest.param("handbook.manifest.json", b'{"schema": 9}', id="later manifest"),
        pytest.param("handbook.blocks.jsonl", b"{}\n", id="empty blocks"),
        pytest.param("handbook.blocks.jsonl", b'{"schema": 9}\n', id="later blocks"),
    ],
)
def test_a_broken_file_beside_the_chunks_is_an_error(
    leaves: Path, tmp_path: Path, name: str, content: bytes
) -> None:
    """Half a check would look like a whole one."""
    chunks = tmp_path / "handbook.jsonl"
    chunks.write_bytes(leaves.read_bytes())
    chunks.with_name(name).write_bytes(content)

    with pytest.raises(RecordError, match=name):
        check(chunks)


def test_only_the_first_hundred_findings_are_kept(tmp_path: Path) -> None:
    """A file that is all wrong fits into memory all the same."""
    path = tmp_path / "wrong.jsonl"
    path.write_bytes(b"{}\n" * 250)

    report = check(path)

    assert len(report.findings) == 100
    assert report.broken == {"record": 250}


def test_a_leaf_above_its_limit_is_found_where_paragraphs_are_embedded(
    tmp_path: Path,
) -> None:
    """C3 speaks of leaves, whichever level is indexed."""
    document = read(b"# Leave\n\nOne paragraph.\n\nAnother one.\n", "a.md").document
    rules = Rules(granularity="multi", embed="paragraph", max_tokens=40)
    path = tmp_path / "a.jsonl"
    chunks = chunk(document, rules, load_counter("cl100k_base"))
    path.write_bytes(b"".join(to_line(to_record(one)) for one in chunks))

    report = check(path, max_tokens=8)

    assert [f.subject for f in report.findings if "the leaf has" in f.message] == [
        "a.md:leave"
    ]
