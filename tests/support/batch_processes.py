"""Batch commands in processes that are killed.

Such a process is forked from one that has imported this module, and with it all
that a command takes seconds to load.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

import anthropic
import diskcache
import openai
import tenacity

from situate.config import load
from situate.pipeline import batches
from situate.tokens import load_counter
from tests.enrichment.scenes import VirtualTime
from tests.support.corpora import Heard

if TYPE_CHECKING:
    from pathlib import Path

Command = Literal["submit", "collect"]

LOADED = (
    anthropic.AsyncAnthropic,
    diskcache.Cache,
    openai.AsyncOpenAI,
    tenacity.AsyncRetrying,
    load_counter("cl100k_base"),
)
"""What is loaded for whoever is forked from here."""


def command(name: Command, config: Path) -> None:
    """Do what a command does, but wait for nothing."""
    (loaded,) = load([config], environment={})
    work = {"submit": batches.submit, "collect": batches.collect}[name]
    work(loaded, Heard(), timing=VirtualTime().timing)
