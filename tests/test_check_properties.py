"""What situate writes breaks no rule that `check` knows, whatever the document."""

from __future__ import annotations

import json
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from situate.check import check
from situate.chunking import Embedded, Rules, chunk
from situate.readers import read
from situate.readers.options import DEFAULTS
from situate.records import blocks_record, to_line, to_record
from situate.tokens import load_counter
from tests.readers.strategies import documents as lines
from tests.support.corpora import Corpus
from tests.support.mixed import mixed
from tests.support.strategies import documents

if TYPE_CHECKING:
    from situate.check import Report
    from situate.model import Document
    from tests.support.mixed import Mixed

HANDBOOK = Path(__file__).parent / "corpora" / "handbook"
COUNTER = load_counter("cl100k_base")
SENTENCE = "Nobody may do this without asking, and asking takes a while. "

rules = st.builds(
    lambda limit, floor, granularity, embed, prefix: Rules(
        max_tokens=limit,
        min_tokens=min(floor, limit),
        granularity=granularity,
        embed=embed,
        prefix_max_tokens=prefix,
    ),
    st.sampled_from([32, 64, 512]),
    st.sampled_from([0, 32]),
    st.sampled_from(["leaves", "tree", "multi"]),
    st.sampled_from(["leaf", "paragraph"]),
    st.sampled_from([10, 96]),
)
tables = st.integers(1, 20).map(
    lambda count: (
        "| case | days |\n| --- | --- |\n"
        + "".join(f"| {'word ' * (n % 9)}| {n} |\n" for n in range(count))
    )
)
fences = st.integers(0, 30).map(
    lambda count: (
        "```\n"
        + "".join(f"line {n}\n" if n % 4 else "\n" for n in range(count))
        + "\n" * count
        + "```\n"
    )
)
lists = st.integers(1, 15).map(
    lambda count: (
        "Such as:\n\n"
        + "".join(f"- item {n} {SENTENCE * (n % 4)}\n" for n in range(count))
    )
)
paragraphs = st.integers(1, 9).map(lambda count: SENTENCE * count + "\n")
quotes = paragraphs.map(lambda text: f"> {text}>\n> - one\n> - two\n")
headings = st.builds(
    lambda level, title: f"{'#' * level} {title}\n",
    st.integers(1, 4),
    st.sampled_from(["A", "B", "5", "A heading that goes on and on " * 4]),
)
front = st.sampled_from(["", "---\ntitle: Leave\ndoc_type: policy\n---\n"])
sources = st.builds(
    lambda front, parts: front + "\n".join(parts),
    front,
    st.lists(
        st.one_of(tables, fences, lists, paragraphs, quotes, headings, lines()),
        max_size=10,
    ),
)


def examined(
    folder: Path, document: Document, rules: Rules, source: Path | None = None
) -> Report:
    """Cut a document, write what a run would, and check it."""
    chunks = chunk(document, rules, COUNTER)
    path = folder / "a.jsonl"
    path.write_bytes(b"".join(to_line(to_record(one)) for one in chunks))
    (folder / "a.blocks.jsonl").write_bytes(to_line(blocks_record(document)))
    sizes = {
        "tokenizer": COUNTER.name,
        "granularity": rules.granularity,
        "max_tokens": rules.max_tokens,
        "min_tokens": rules.min_tokens,
        "container_max_tokens": rules.container_max_tokens or 4 * rules.max_tokens,
        "prefix_max_tokens": rules.prefix_max_tokens,
        "reading_max_tokens": rules.reading_bound,
        "statement_max_tokens": 60,
    }
    manifest = json.dumps(
        {"schema": 1, "sizes": sizes, "reader": asdict(DEFAULTS), "files": []}
    )
    (folder / "a.manifest.json").write_text(manifest, "utf-8")
    return check(path, source=source if chunks else None)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Give a folder that every example writes anew."""
    return tmp_path_factory.mktemp("examples")


@given(documents, rules)
def test_any_tree_is_cut_by_the_rules(
    folder: Path, document: Document, rules: Rules
) -> None:
    """Whatever a reader may give one day."""
    assert examined(folder, document, rules).findings == []


@given(mixed, rules)
def test_sections_for_different_people_are_cut_by_the_rules(
    folder: Path, mixed: Mixed, rules: Rules
) -> None:
    """S6: containers name what is like themselves, and leaves still cover it all."""
    assert examined(folder, mixed.document, rules).findings == []


def test_a_container_that_names_what_is_for_others_is_found(folder: Path) -> None:
    """S6: its lineage would lead where its readers may not go."""
    source = "# A\n\nAll.\n\n## B {acl_read=hr}\n\nSome.\n"
    rules = Rules(min_tokens=0, granularity="tree")
    examined(folder, read(source.encode(), "a.md").document, rules)
    path = folder / "a.jsonl"
    whole, *others = map(json.loads, path.read_text("utf-8").splitlines())
    whole["block_ids"].append("a/b#0")
    whole["metadata"]["spans"].append([15, 32])
    path.write_text(
        "".join(json.dumps(one) + "\n" for one in (whole, *others)), "utf-8"
    )

    report = check(path)

    assert [
        found.message for found in report.findings if found.rule == "C2-lineage"
    ] == ["names 3 blocks, not the 2 of its section and below"]


@given(sources, rules)
def test_any_source_is_cut_by_the_rules(
    folder: Path, source: str, rules: Rules
) -> None:
    """Also held against the source, word by word, none of which is lost."""
    path = folder / "a.md"
    path.write_text(source, "utf-8")
    document = read(source.encode(), "a.md").document

    report = examined(folder, document, rules, path)

    assert report.findings == []
    if report.coverage is not None:
        assert report.coverage.passages == ()
        assert report.coverage.headings_found == report.coverage.headings


@pytest.mark.parametrize("granularity", ["leaves", "tree", "multi"])
@pytest.mark.parametrize(("limit", "floor"), [(32, 32), (64, 0), (512, 32)])
def test_the_demo_corpus_is_cut_by_the_rules(
    tmp_path: Path, granularity: str, limit: int, floor: int
) -> None:
    """Documents as people write them, down to chunks nobody would want."""
    corpus = Corpus(folder=tmp_path)
    sizes = {"max_tokens": limit, "min_tokens": floor, "granularity": granularity}
    corpus.configure(
        corpus={"documents": [f"{HANDBOOK.as_posix()}/**/*.md"]}, chunking=sizes
    )

    corpus.run()
    report = check(corpus.chunks)

    assert (report.findings, report.not_checked) == ([], [])
    assert report.documents == 13


@pytest.mark.parametrize("embed", ["leaf", "paragraph"])
def test_leaves_may_be_larger_than_containers(tmp_path: Path, embed: Embedded) -> None:
    """Each has a bound of its own, whichever is indexed."""
    text = "# A\n\n" + SENTENCE * 3 + "\n\n" + SENTENCE + "\n\n## B\n\n" + SENTENCE * 2
    document = read(text.encode(), "a.md").document
    rules = Rules(
        max_tokens=128, granularity="multi", embed=embed, container_max_tokens=32
    )

    assert examined(tmp_path, document, rules).findings == []


def test_a_long_heading_among_headings_alone_can_be_found(tmp_path: Path) -> None:
    """C2: it stands whole in a breadcrumb, though its text is cut."""
    path = tmp_path / "a.md"
    path.write_text("# A\n\n## " + "word and another " * 20 + "\n", "utf-8")
    document = read(path.read_bytes(), "a.md").document

    report = examined(tmp_path, document, Rules(max_tokens=32), path)

    assert report.findings == []
