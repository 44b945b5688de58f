"""A service on loopback, in a thread of this process."""

from __future__ import annotations

import threading
from contextlib import contextmanager
from typing import TYPE_CHECKING, Final

from situate.service.engine.engine import EngineSettings
from situate.service.web.limits import Limits
from situate.service.web.serving import Serving, opened
from tests.support.corpora import Corpus

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path

ANNA: Final = "anna-key-of-32-letters-and-more-x"
BEN: Final = "ben-key-of-32-letters-and-more-xy"
KEYS: Final = {"SITUATE_SERVICE_KEYS": f"anna={ANNA}\nben={BEN}"}


def corpora(folder: Path, *, asking: Mapping[str, object]) -> Path:
    """Write two corpora, one of which asks a model; give their folder."""
    folder.mkdir(parents=True, exist_ok=True)
    Corpus(folder=folder, name="notes").configure(
        corpus={"documents": ["notes/*.md"]},
        chunking={"min_tokens": 0},
    )
    Corpus(folder=folder, name="handbook").configure(
        corpus={"documents": ["docs/*.md"]}, enrichment=asking
    )
    return folder


@contextmanager
def served(
    config: Path,
    state: Path,
    *,
    environment: Mapping[str, str],
    limits: Limits | None = None,
) -> Iterator[str]:
    """Serve until the block ends; gives the address."""
    serving = Serving(
        config_directory=config,
        state=state,
        port=0,
        grace_seconds=5.0,
        limits=limits or Limits(requests_per_minute=1_000_000),
        engine=EngineSettings(processes=1),
    )
    with opened(serving, environment, lambda _: None) as service:
        thread = threading.Thread(target=service.run)
        thread.start()
        try:
            yield service.address
        finally:
            service.server.should_exit = True
            thread.join()
