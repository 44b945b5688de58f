"""What docs/parquet.md shows, with the libraries that it names."""

from __future__ import annotations

import re
import shutil
import textwrap
from typing import TYPE_CHECKING, Any

import polars as pl
import pytest

from tests.support.corpora import Corpus
from tests.support.pages import ROOT, blocks, prose

if TYPE_CHECKING:
    from pathlib import Path

PAGE = ROOT / "docs" / "parquet.md"
SHOWN = re.compile(r"(?:^    .*\n|^\n(?=    ))+", re.MULTILINE)


@pytest.fixture
def corpus(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Corpus:
    """Do what stands on the page before the libraries."""
    shutil.copytree(ROOT / "tests" / "corpora", tmp_path / "tests" / "corpora")
    config = next(block for block in blocks(PAGE) if block.kind == "toml")
    (tmp_path / str(config.name)).write_text(config.text, "utf-8")
    monkeypatch.chdir(tmp_path)
    corpus = Corpus(folder=tmp_path, name="tables")
    assert corpus.run().exit_code == 0
    return corpus


def shown(library: str) -> dict[str, Any]:
    """Run what the page shows of a library; give the names it has set."""
    (code,) = [
        textwrap.dedent(each)
        for each in SHOWN.findall(prose(PAGE))
        if f"import {library}" in each
    ]
    names: dict[str, Any] = {}
    exec(code, names)  # noqa: S102 - the page's own words
    return names


def test_pandas_reads_the_texts(corpus: Corpus) -> None:
    """Those to be embedded, in the order of the lines."""
    chunks = shown("pandas")["chunks"]

    assert chunks.to_dict("records") == [
        {key: record[key] for key in ("chunk_id", "embed_text")}
        for record in corpus.records
    ]


def test_duckdb_finds_what_is_in_force(corpus: Corpus) -> None:
    """Dates compare as days, and `metadata` can be looked into."""
    rows = shown("duckdb")["in_force"].fetchall()

    assert rows == [
        (record["chunk_id"], record["text"], record["metadata"]["custom"]["product"])
        for record in corpus.records
    ]


def test_polars_has_the_types_of_the_page(corpus: Corpus) -> None:
    """Though no chunk has an end."""
    schema = pl.read_parquet(corpus.chunks.with_suffix(".parquet")).schema

    assert schema["effective_to"] == pl.Date
    assert schema["breadcrumb"] == pl.List(pl.String)
    assert schema["embed"] == pl.Boolean
    assert schema["enrichment_statement"] == pl.String
