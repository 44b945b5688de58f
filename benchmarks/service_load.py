"""Many clients upload to a real service for a while: what they hear, what it holds.

    python -m benchmarks.service_load [--seconds 120] [--clients 50]

Counts answers by status, takes throughput and waiting times, and samples the memory
of all its processes. Stops with an error where an answer was neither chunks nor "come
again", where one of those did not say when, or where memory grew.
"""

from __future__ import annotations

import argparse
import asyncio
import re
import signal
import statistics
import subprocess
import sys
import tempfile
import time
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

import httpx

HANDBOOK: Final = Path(__file__).parents[1] / "tests" / "corpora" / "handbook"

_CONFIG: Final = """\
[corpus]
name = "load"
documents = ["none/*.md"]

[output]
path = "out/load.jsonl"
"""

_COME_AGAIN: Final = frozenset({429, 503})

_GROWTH: Final = 1.1
_SLACK_MB: Final = 20
"""Memory is flat where its mean in the last third is at most that in the first, times
the one and plus the other: an allocator keeps what was free for a moment."""

_RUNNING_IN: Final = 0.1
"""Share of the time that is not counted: processes start, libraries load."""

_SERVING: Final = re.compile(r"at (http://\S+), ")


@dataclass(slots=True)
class Load:
    """What came of it."""

    clients: int
    seconds: float
    statuses: Counter[int] = field(default_factory=Counter)
    waits: list[float] = field(default_factory=list)
    """Seconds from a request to its chunks."""
    silent: int = 0
    """Answers that said to come again, and not when."""
    uploaded: int = 0
    """Bytes of documents that came back as chunks."""
    memory: list[float] = field(default_factory=list)
    """MB of all processes, one sample after the other."""

    def lines(self) -> list[str]:
        """Give a table."""
        waits = sorted(self.waits)
        first, last = self.thirds()
        answers = ", ".join(f"{n:,} x {s}" for s, n in sorted(self.statuses.items()))
        return [
            f"clients     {self.clients}, for {self.seconds:.0f} s",
            f"answers     {answers}",
            f"throughput  {len(waits) / self.seconds:,.1f} documents/s, "
            f"{self.uploaded / self.seconds / 1e6:.2f} MB/s",
            f"waited      p50 {_at(waits, 0.5):.2f} s, p99 {_at(waits, 0.99):.2f} s",
            f"memory      {first:.0f} MB in the first third, {last:.0f} MB in the "
            f"last, {max(self.memory):.0f} MB at most",
        ]

    def thirds(self) -> tuple[float, float]:
        """Give the mean of memory in the first and the last third."""
        counted = self.memory[int(len(self.memory) * _RUNNING_IN) :]
        third = max(1, len(counted) // 3)
        return statistics.fmean(counted[:third]), statistics.fmean(counted[-third:])

    def check(self) -> None:
        """Hold it to what is promised."""
        assert self.waits, "nobody got chunks"
        assert set(self.statuses) <= {200, *_COME_AGAIN}, self.statuses
        assert self.silent == 0, f"{self.silent} answers did not say when to come again"
        first, last = self.thirds()
        assert last <= first * _GROWTH + _SLACK_MB, f"{first:.0f} to {last:.0f} MB"


def _at(values: list[float], share: float) -> float:
    return values[min(len(values) - 1, int(len(values) * share))] if values else 0.0


def measured(clients: int, seconds: float, *options: str) -> Load:
    """Serve in a process of its own, and let clients upload to it."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        folder.joinpath("load.toml").write_text(_CONFIG, "utf-8")
        command = [sys.executable, "-m", "situate", "serve", "--port", "0"]
        command += ["--config-dir", name, "--state", str(folder / "state")]
        command += ["--requests-per-minute", "1000000", *options]
        process = subprocess.Popen(command, stderr=subprocess.PIPE, text=True)
        assert process.stderr is not None
        try:
            while not (serving := _SERVING.search(process.stderr.readline())):
                assert process.poll() is None, "it did not start"
            load = Load(clients=clients, seconds=seconds)
            asyncio.run(_uploaded(load, serving[1], process.pid))
        finally:
            process.send_signal(signal.SIGTERM)
            ended = process.wait(60)
            process.stderr.close()
    assert ended == 0, ended
    return load


async def _uploaded(load: Load, address: str, pid: int) -> None:
    documents = [path.read_bytes() for path in sorted(HANDBOOK.rglob("*.md"))]
    end = time.monotonic() + load.seconds
    limits = httpx.Limits(max_connections=load.clients)
    async with (
        httpx.AsyncClient(base_url=address, timeout=120, limits=limits) as client,
        asyncio.TaskGroup() as group,
    ):
        group.create_task(_sample(load, pid, end))
        for number in range(load.clients):
            group.create_task(
                _client(load, client, documents[number:] + documents, end)
            )


async def _client(
    load: Load, client: httpx.AsyncClient, documents: list[bytes], end: float
) -> None:
    """Upload one document after the other, and come again when told to."""
    turn = 0
    while (begun := time.monotonic()) < end:
        document = documents[turn % len(documents)]
        answer = await client.post(
            "/v1/chunk",
            data={"corpus": "load"},
            files={"file": (f"{turn}.md", document)},
        )
        load.statuses[answer.status_code] += 1
        if answer.status_code == 200:
            load.waits.append(time.monotonic() - begun)
            load.uploaded += len(document)
            turn += 1
        else:
            wait = answer.headers.get("retry-after")
            load.silent += wait is None
            await asyncio.sleep(min(float(wait or 1), max(0.0, end - begun)))


async def _sample(load: Load, pid: int, end: float) -> None:
    while time.monotonic() < end:
        load.memory.append(_memory_mb(pid))
        await asyncio.sleep(min(1.0, load.seconds / 20))


def _memory_mb(pid: int) -> float:
    """Add up what a process and those below it hold of the memory."""
    try:
        status = Path(f"/proc/{pid}/status").read_text("ascii")
        threads = Path(f"/proc/{pid}/task").iterdir()
        below = " ".join((each / "children").read_text("ascii") for each in threads)
    except OSError:
        # It ended meanwhile.
        return 0.0
    held = re.search(r"^VmRSS:\s+(\d+) kB$", status, re.MULTILINE)
    own = int(held[1]) / 1e3 if held else 0.0
    return own + sum(_memory_mb(int(each)) for each in below.split())


def _main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seconds", type=float, default=120)
    parser.add_argument("--clients", type=int, default=50)
    arguments = parser.parse_args()
    load = measured(arguments.clients, arguments.seconds)
    print("\n".join(load.lines()))
    load.check()


if __name__ == "__main__":
    _main()
