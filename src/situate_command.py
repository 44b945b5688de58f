"""Where the command begins: before anything that takes time to import.

Beside the package and not in it: importing any part of a package imports all that it
offers, and whoever types Ctrl-C meanwhile shall not read a traceback.
"""

from __future__ import annotations

import sys

_INTERRUPTED = 130


def main() -> None:
    """Run the command line; Ctrl-C ends it with a line, however early it comes."""
    try:
        from situate.cli import main as command

        command()
    except KeyboardInterrupt:
        sys.stderr.write("situate: interrupted\n")
        raise SystemExit(_INTERRUPTED) from None
