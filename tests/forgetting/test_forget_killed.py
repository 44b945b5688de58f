"""A `forget` that is killed anywhere is completed by the next one (S8)."""

from __future__ import annotations

import json
import os
import shutil
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from situate.enrichment.cache import Cache, Located, User, rows
from situate.enrichment.cache.store import Store
from situate.pipeline.living.forgetting import forget
from situate.pipeline.living.indexing import acknowledge
from tests.support.corpora import Corpus
from tests.support.planted import NAME, PLANTED, naming, planted, removed
from tests.support.stores import Store as Index
from tests.support.stores import built, config_of, delivered

if TYPE_CHECKING:
    from collections.abc import Callable

STEPS_IN_THE_SUITE = 9


class KilledError(BaseException):
    """What nobody catches."""


class Disk:
    """Counts the steps by which a disk changes; from one of them on nothing does."""

    def __init__(self, last: int | None = None) -> None:
        self.steps = 0
        self._last = last

    def watch(self, patch: pytest.MonkeyPatch) -> None:
        """Stand in front of everything that changes it."""
        for holder, names in (
            (Path, ("replace", "unlink")),
            (os, ("fsync",)),
            (shutil, ("rmtree",)),
            (Store, ("change", "rebuild")),
        ):
            for name in names:
                patch.setattr(holder, name, self._stepping(getattr(holder, name)))

    def _stepping(self, act: Callable[..., object]) -> Callable[..., object]:
        def stepping(*given: object, **named: object) -> object:
            if self._last is not None and self.steps >= self._last:
                raise KilledError
            self.steps += 1
            return act(*given, **named)

        return stepping


def start_of(folder: Path) -> tuple[Corpus, Index]:
    """Leave something of the document everywhere."""
    own = {"cache": {"directory": "cache"}, "output": {"parquet": True}}
    corpus = planted(folder, **own)
    store = Index()
    delivered(corpus, store)
    built(corpus)
    with Cache(folder / "cache") as cache:
        for key, users in (
            ("noted", [PLANTED]),
            ("before", []),
            ("other", ["leave.md"]),
        ):
            uses = [User(corpus="handbook", doc_id=each) for each in users]
            text = "of somebody else" if key == "other" else NAME
            cache.store_reply(key, json.dumps({"text": text}), *uses)
            cache.store_answers(f"about-{key}", [Located(key)])
    line = {"schema": 2, "request": "before", "chunk_ids": [f"{PLANTED}:terms"]}
    path = corpus.chunks.with_name("handbook.ledger.jsonl")
    path.write_text(json.dumps(line) + "\n", "utf-8")
    report = corpus.chunks.with_name("handbook.compare.html")
    report.write_text(NAME, "utf-8")
    removed(corpus)
    return corpus, store


def copied(start: Corpus, folder: Path) -> Corpus:
    """Copy a corpus with all it has left."""
    shutil.copytree(start.folder, folder)
    return Corpus(folder=folder)


def steps_of(start: Corpus, folder: Path) -> int:
    """Count the steps of a `forget` that nobody kills."""
    disk = Disk()
    with pytest.MonkeyPatch.context() as patch:
        disk.watch(patch)
        forget(config_of(copied(start, folder)), PLANTED)
    return disk.steps


def test_whoever_is_killed_does_it_again(
    tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    """At any step; `--kills 100` tries them all."""
    start, filled = start_of(tmp_path / "start")
    steps = steps_of(start, tmp_path / "whole")
    most = max(STEPS_IN_THE_SUITE, int(request.config.getoption("--kills")))

    for number in range(min(most, steps)):
        last = number * steps // min(most, steps)
        corpus = copied(start, tmp_path / f"{number}")
        store = Index(records=dict(filled.records))
        with pytest.MonkeyPatch.context() as patch:
            Disk(last).watch(patch)
            with pytest.raises(KilledError):
                forget(config_of(corpus), PLANTED)

        receipt = forget(config_of(corpus), PLANTED)
        assert receipt.folder is not None
        store.take_in(receipt.folder)
        acknowledge(config_of(corpus), str(receipt.run))

        assert naming(corpus.folder) == set(), f"step {last} of {steps}"
        assert store.records == built(corpus), f"step {last} of {steps}"
        with Cache(corpus.folder / "cache") as cache:
            assert cache.reply("other") is not None


def test_a_cache_is_rewritten_though_its_rows_are_gone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Their bytes may not be, when somebody was killed after removing them."""
    corpus, _ = start_of(tmp_path)
    rebuild, rebuilt = Store.rebuild, []
    with monkeypatch.context() as patch:
        patch.setattr(Store, "rebuild", _killed)
        with pytest.raises(KilledError):
            forget(config_of(corpus), PLANTED)
    monkeypatch.setattr(
        Store, "rebuild", lambda store: rebuilt.append(store) or rebuild(store)
    )
    _drop(tmp_path / "cache", "noted")

    forget(config_of(corpus), PLANTED)

    assert rebuilt


def _drop(directory: Path, reply: str) -> None:
    """Leave what a ledger alone told of."""
    with closing(Store(directory)) as store, store.transaction():
        for key in store.keys(rows.USE):
            if key.endswith(f":{reply}"):
                store.change("DELETE FROM Cache WHERE key = :key", {"key": key})


def _killed(_: Store) -> bool:
    raise KilledError
