"""A corpus with a document that names somebody who can be searched for afterwards."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pyarrow.parquet as pq

from tests.support.chat import Answer
from tests.support.corpora import Corpus, handbook

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path

NAME = "Quorvexia"
"""Stands in a heading, a paragraph, a table, an id and a path, and nowhere else."""

PLANTED = "partners/quorvexia.md"

TERMS = f"""\
# Terms of {NAME}

{NAME} delivers on every working day of the year, and says a week before when it cannot,
so that somebody else can be asked in time by the office in charge of deliveries.

## What {NAME} is paid

| Partner | Euros |
| --- | --- |
| {NAME} | 4,711 |
| Others | 15 |

## Disputes

They are settled between the office in charge and the partner within one month, and by
the court of the town after that. The above limits do not apply to small claims.
"""

OWN = ("docs", "mine")
"""Folders that are not situate's: sources, and what the user has named."""

SMALL = {"max_tokens": 64, "min_tokens": 0}


def planted(folder: Path, **sections: Mapping[str, object]) -> Corpus:
    """Write a handbook with the document among its own."""
    corpus = handbook(folder, **{"chunking": SMALL, **sections})
    corpus.document(PLANTED, TERMS)
    (folder / "mine").mkdir(exist_ok=True)
    return corpus


def removed(corpus: Corpus) -> None:
    """Remove the document from the sources."""
    path = corpus.folder / "docs" / PLANTED
    path.unlink()
    path.parent.rmdir()


def statement(body: dict[str, Any]) -> Answer:
    """Answer with a sentence that names whom the question is about."""
    shown = json.dumps(body["messages"])
    word = ("early", "late", "short", "long", "rare")[sum(shown.encode()) % 5]
    who = NAME if NAME in shown else "the company"
    return Answer(text=f"This rule of {who} holds for {word} cases alone.")


def naming(folder: Path) -> set[str]:
    """Give the files whose bytes or names hold the name, whatever its case."""
    return {
        path.relative_to(folder).as_posix()
        for path in files_in(folder)
        if NAME.lower().encode() in _bytes(path).lower()
        or NAME.lower() in path.relative_to(folder).as_posix().lower()
    }


def _bytes(path: Path) -> bytes:
    """Give what a file holds, and of a table what its packed columns hold as well."""
    content = path.read_bytes()
    if path.suffix == ".parquet":
        content += str(pq.read_table(path).to_pylist()).encode()
    return content


def files_in(folder: Path) -> Iterator[Path]:
    """Yield what is not the user's own."""
    for path in sorted(folder.rglob("*")):
        if path.is_file() and path.relative_to(folder).parts[0] not in OWN:
            yield path
