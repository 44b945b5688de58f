"""A cache that can be read and not written: what is there is used (E10)."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

from situate.enrichment.cache import Cache, Kept, Located
from situate.enrichment.cache import store as stores
from situate.errors import CacheBroken
from tests.support.corpora import LEAVE, Corpus, asking, handbook
from tests.support.mock_model import speaking

if TYPE_CHECKING:
    from pathlib import Path

KEPT = Kept(
    statement="A sentence.", trimmed=False, model="m", reply="r", judged_by="rules"
)

SEAL = 'mount --bind "$0" "$0" && mount -o remount,ro,bind "$0" && exec "$@"'
"""Mounts a folder over itself, read-only, for one command."""


def _sealing(folder: Path) -> list[str]:
    """Give what to put before a command that is not to write in a folder."""
    flags = "-m" if os.geteuid() == 0 else "-rm"
    if shutil.which("unshare") is None:
        pytest.skip("nothing here mounts a folder for one command alone")
    start = ["unshare", flags, "sh", "-c", SEAL, str(folder)]
    if subprocess.run([*start, "true"], check=False, capture_output=True).returncode:
        pytest.skip("this user may not mount a folder for one command alone")
    return start


def _run(corpus: Corpus) -> subprocess.CompletedProcess[str]:
    start = _sealing(corpus.folder / "cache")
    return subprocess.run(
        [*start, sys.executable, "-m", "situate", "run", str(corpus.config)],
        check=False,
        capture_output=True,
        text=True,
    )


def test_a_read_only_cache_serves_what_it_holds(tmp_path: Path) -> None:
    """A full one serves a whole run; of what is missing nobody is asked."""
    with speaking() as model:
        corpus = handbook(
            tmp_path,
            enrichment=asking(
                model.openai_url, max_total_tokens=10**6, reuse="request"
            ),
            cache={"directory": "cache"},
        )
        assert corpus.run().exit_code == 0
        first, asked = corpus.records, model.statistics.calls

        whole = _run(corpus)
        again = corpus.records
        corpus.document("more.md", LEAVE.replace("Leave", "Absence"))
        partly = _run(corpus)

        assert whole.returncode == 0, whole.stderr
        assert again == first
        assert partly.returncode == 3
        assert "can be read and not written" in partly.stderr
        assert model.statistics.calls == asked
        found = [each["metadata"]["enrichment"] for each in corpus.records]
        assert [each["status"] for each in found].count("statement") == len(first)
        assert {each["reason"] for each in found} == {None, "cache"}


@pytest.fixture
def sealed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Fill a cache, and let nobody write there any more."""
    with Cache(tmp_path) as cache:
        cache.store_reply("r", '{"text": "A sentence."}')
        cache.store_answers("c", (Located("r"),), KEPT)
        with cache._store.transaction():
            cache._store._sql("UPDATE Cache SET tag = '2020-01-01'")
            cache._store._sql(
                "INSERT INTO Cache (key, raw, mode, value) "
                "VALUES ('reply:x', 1, 4, 'p')"
            )
    monkeypatch.setattr(stores.os, "access", lambda *_: False)
    return tmp_path


def test_a_sealed_cache_is_read_like_any_other(sealed: Path) -> None:
    """Rows of others are missing, as ever."""
    with Cache(sealed) as cache:
        assert cache.is_sealed
        assert cache.reply("r") == '{"text": "A sentence."}'
        assert cache.answers("c") == (Located("r"),)
        assert cache.kept("c") == KEPT
        assert cache.reply("x") is cache.reply("none") is cache.kept("none") is None
        assert cache.months().current().usd == 0


def test_a_sealed_cache_refuses_whatever_would_write(sealed: Path) -> None:
    """It says why; noting what was used is not worth an error."""
    before = {path: path.read_bytes() for path in sealed.iterdir()}

    with Cache(sealed) as cache:
        cache.reply("r")
        with pytest.raises(CacheBroken, match="it is read-only"):
            cache.store_reply("new", "{}")

    assert {path: path.read_bytes() for path in sealed.iterdir()} == before
