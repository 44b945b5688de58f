"""A service without HTTP, as a process of its own: works on jobs until told to end.

python tests/service/process.py CONFIG STATE
"""

from __future__ import annotations

import os
import signal
import sys
import threading
from contextlib import closing
from pathlib import Path

from situate.config import load
from situate.service.engine.engine import Engine, EngineSettings
from situate.service.jobs.jobs import Jobs

_GRACE_SECONDS = 20


def main() -> None:
    """Serve one corpus out of a state directory."""
    told = threading.Event()
    signal.signal(signal.SIGTERM, lambda *_: told.set())
    configs = load([Path(sys.argv[1])], environment=os.environ)
    with closing(Jobs(Path(sys.argv[2]))) as jobs:
        engine = Engine(configs, jobs, EngineSettings(processes=1))
        engine.start()
        told.wait()
        engine.stop(_GRACE_SECONDS)


if __name__ == "__main__":
    main()
