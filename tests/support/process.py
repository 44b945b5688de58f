"""A service in a process of its own, as people start it."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from typing import Final

_ADDRESS: Final = re.compile(r"at (http://\S+), ")


class Process:
    """`situate serve` in a process of its own."""

    def __init__(self, *options: str, **environment: str) -> None:
        command = [sys.executable, "-m", "situate", "serve", "--port", "0", *options]
        self._process = subprocess.Popen(
            command,
            env={**os.environ, **environment},
            stderr=subprocess.PIPE,
            text=True,
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
