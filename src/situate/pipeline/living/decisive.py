"""Hashes what decides what comes out of a corpus: no config says all of it."""

from __future__ import annotations

import json
from dataclasses import asdict, replace
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from typing import TYPE_CHECKING

from situate.model import digest

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from situate.config import Config
    from situate.enrichment.redaction import Redaction
    from situate.pipeline.jobs import Job

_PROGRAMS = (
    "situate",
    "lxml",
    "pypdfium2",
    "pyromark",
    "pyyaml",
    "regex",
    "selectolax",
    "sentencex",
    "tiktoken",
)
"""What reads and cuts documents: another version of one may do it otherwise."""


def config_of(job: Job) -> Config:
    """Give a corpus's config, whose hash also tells the file of the hook it names."""
    redaction = None if job.asking is None else job.asking.settings.redaction
    hook = None if redaction is None else redaction.source
    return replace(job.config, hook=hook)


def hash_of(job: Job) -> str:
    """Hash what decides what a document's chunks are, this program included."""
    corpus, asking = job.config.corpus, job.asking
    decisive: dict[str, object] = {
        "programs": {name: _version(name) for name in _PROGRAMS},
        "doc_type": corpus.doc_type,
        "cutting": asdict(job.config.cutting),
    }
    if asking is not None:
        asked = asking.settings
        decisive["asking"] = [
            asking.prompt.hash,
            asked.provider,
            asked.endpoint or asked.base_url,
            asked.model,
            asked.accept_models,
            asked.view,
            asked.reuse,
            *_hidden_by(job.config.enrichment.redact, asked.redaction),
            *([asked.enrich_when] if asked.enrich_when else []),
        ]
    return digest(json.dumps(decisive, sort_keys=True))


def _hidden_by(
    said: Sequence[str] | str | None, redaction: Redaction | None
) -> Iterator[object]:
    """Yield what says what is hidden; of a function its name and its file."""
    if said:
        source = None if redaction is None else redaction.source
        yield said if source is None else [said, source]


@cache
def _version(program: str) -> str | None:
    """Give the version of a program, as it was loaded; None where it is not there."""
    try:
        return version(program)
    except PackageNotFoundError:
        return None
