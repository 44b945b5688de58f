"""Somebody who does what a page says, and sees whether it happens."""

from __future__ import annotations

import os
import re
import shlex
import signal
import subprocess
import sys
from contextlib import ExitStack
from typing import TYPE_CHECKING, Final

import pytest
from typer.testing import CliRunner

from situate.cli import app
from tests.support.fixtures import regenerating
from tests.support.pages import blocks, rewrite
from tests.support.process import Process
from tests.support.redis import serving

if TYPE_CHECKING:
    from pathlib import Path

    from tests.support.pages import Block

SHOWN_ADDRESS: Final = "http://127.0.0.1:8000"
"""What pages show for wherever a service listens."""

SHOWN_SERVER: Final = "127.0.0.1:6379"
"""And for a server of the Redis protocol."""

RUN: Final = re.compile(r"\b[0-9a-f]{16}\b")
JOB: Final = re.compile(r"\b[0-9a-f]{32}\b")


def followed(page: Path, folder: Path) -> tuple[list[str], list[str]]:
    """Follow a page in a folder; give what its blocks show, and what happens."""
    reader = Reader(folder)
    try:
        happens = [reader.follow(block) for block in blocks(page)]
    finally:
        reader.leave()
    if regenerating():
        texts = iter(happens)
        rewrite(page, lambda _: next(texts))
        pytest.skip(f"{page.name} was rewritten; review its diff")
    return [block.text for block in blocks(page)], happens


class Reader:
    """Somebody who does what a page says, block by block, in one folder."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._run = "RUN"
        self._job = "JOB"
        self._printed = ""
        self._service: Process | None = None
        self._address = SHOWN_ADDRESS
        self._server = SHOWN_SERVER
        self._started = ExitStack()

    def follow(self, block: Block) -> str:
        """Give a block with what it shows today."""
        if block.name is not None:
            path = self._folder / block.name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(block.text, "utf-8")
        match block.kind:
            case "console":
                return self._console(block.text)
            case "python":
                self._printed = python(block.text)
            case "text":
                return self._printed
        return block.text

    def _console(self, text: str) -> str:
        commands = [line for line in text.splitlines() if line.startswith("$ ")]
        return "".join(f"{line}\n{self._shown(line[2:])}" for line in commands)

    def leave(self) -> str:
        """End what was started in the background; give what a service says then."""
        self._started.close()
        if self._service is None:
            return ""
        service, self._service = self._service, None
        before = len(service.said)
        assert service.end(signal.SIGTERM) == 0, service.said
        return service.said[before:]

    def _keep(self) -> str:
        """Start a server to keep answers on; what it says goes into its log."""
        server = self._started.enter_context(serving(self._folder))
        self._server = f"127.0.0.1:{server.port}"
        return ""

    def _serve(self, options: list[str], environment: dict[str, str]) -> str:
        """Start a service, at whatever port is free; give what it says."""
        self._service = Process(*options, **environment)
        self._address = self._service.address()
        return self._service.said.replace(self._address, SHOWN_ADDRESS)

    def _shown(self, command: str) -> str:
        """Run a command and give what a terminal would show.

        RUN stands for a delta's name, JOB for that of a service's job.
        """
        if command == "kill %1":
            return self.leave()
        command = command.replace(SHOWN_ADDRESS, self._address)
        command = command.replace(SHOWN_SERVER, self._server)
        command = command.replace("RUN", self._run).replace("/JOB", f"/{self._job}")
        words = shlex.split(command)
        environment: dict[str, str] = {}
        while "=" in words[0]:
            key, _, value = words.pop(0).partition("=")
            environment[key] = value
        if words[0] == "redis-server":
            return self._keep()
        if words[-1] == "&":
            return self._serve(words[2:-1], environment)
        if words[0] == "situate":
            output = CliRunner().invoke(app, words[1:], env=environment).output
        else:
            output = subprocess.run(
                words, cwd=self._folder, capture_output=True, text=True, check=True
            ).stdout
        if runs := RUN.findall(output):
            self._run = runs[-1]
        if jobs := JOB.findall(output):
            self._job = jobs[-1]
        output = JOB.sub("JOB", output)
        shown = RUN.sub("RUN", output.replace(f"{self._folder}{os.sep}", ""))
        return shown if not shown or shown.endswith("\n") else f"{shown}\n"


def python(block: str) -> str:
    """Give what a Python block prints today."""
    done = subprocess.run(
        [sys.executable, "-c", block], capture_output=True, text=True, check=True
    )
    return done.stdout
