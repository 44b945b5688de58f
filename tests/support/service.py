"""A service on loopback: in a thread of this process, or in a process of its own."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import threading
from contextlib import contextmanager
from typing import TYPE_CHECKING, Final

from situate.service.engine import EngineSettings
from situate.service.limits import Limits
from situate.service.serving import Serving, opened
from tests.support.corpora import Corpus

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path

ANNA: Final = "anna-key-of-32-letters-and-more-x"
BEN: Final = "ben-key-of-32-letters-and-more-xy"
KEYS: Final = {"SITUATE_SERVICE_KEYS": f"anna={ANNA}\nben={BEN}"}

_ADDRESS: Final = re.compile(r"at (http://\S+), ")


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


class Process:
    """`situate serve` in a process of its own."""

    def __init__(self, *options: str) -> None:
        command = [sys.executable, "-m", "situate", "serve", "--port", "0", *options]
        self._process = subprocess.Popen(
            command, env=dict(os.environ), stderr=subprocess.PIPE, text=True
        )
        self.said = ""
        """What it wrote to stderr."""

    def address(self) -> str:
        """Wait until it serves; give where."""
        assert self._process.stderr is not None
        while not (found := _ADDRESS.search(self.said)):
            line = self._process.stderr.readline()
            if not line:
                message = f"it ended: {self.said}"
                raise AssertionError(message)
            self.said += line
        return found[1]

    @property
    def pid(self) -> int:
        """Its number."""
        return self._process.pid

    def signal(self, number: int) -> None:
        """Send it a signal."""
        self._process.send_signal(number)

    def end(self, number: int) -> int:
        """Send it a signal and give how it ended."""
        self.signal(number)
        return self.wait()

    def wait(self) -> int:
        """Give how it ended, and keep what it said."""
        assert self._process.stderr is not None
        self.said += self._process.stderr.read()
        self._process.stderr.close()
        return self._process.wait(30)

    def kill(self) -> None:
        """End it if it has not ended."""
        if self._process.poll() is None:
            self._process.kill()
            self.wait()
