"""Starts Ray on this machine, or joins a cluster."""

from __future__ import annotations

import logging
import os
import signal
import tempfile
from contextlib import ExitStack, contextmanager
from typing import TYPE_CHECKING

from situate.errors import ConfigError

if TYPE_CHECKING:
    from collections.abc import Iterator

_STORE_BYTES = 256 * 1024 * 1024
"""Memory for batches on their way, taken from the machine when Ray starts."""

_LONGEST_FOLDER = 40
"""Characters of a folder in which Ray can still name its sockets (103 on macOS)."""


def require() -> None:
    """Make sure that Ray is here, and that it keeps to this machine if it can.

    Raises:
        ConfigError: a package is missing.
    """
    # What is run says nothing to Ray's makers unless somebody wants it to.
    os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")
    if "RAY_ADDRESS" not in os.environ:
        # Else it takes 127.0.0.1 for another name of an address that all can reach;
        # Ray 2.60 reads this on every system, and as it is imported.
        os.environ["RAY_ENABLE_WINDOWS_OR_OSX_CLUSTER"] = "0"
    try:
        import ray.data  # noqa: F401 - whether it can be is the question
    except ImportError as error:
        message = f"engine ray: {error.name} is missing; pip install 'situate[ray]'"
        raise ConfigError(message) from error


@contextmanager
def running(workers: int) -> Iterator[None]:
    """Start Ray on this machine, or join the cluster that RAY_ADDRESS names.

    Raises:
        ConfigError: there are too few processors.
    """
    import ray

    logging.getLogger("ray").setLevel(logging.ERROR)
    logging.getLogger("ray.data").setLevel(logging.ERROR)
    listener = signal.getsignal(signal.SIGTERM)
    with ExitStack() as stack:
        if "RAY_ADDRESS" in os.environ:
            ray.init(log_to_driver=False, logging_level=logging.ERROR)
        else:
            folder = stack.enter_context(_folder())
            ray.init(
                address="local",
                num_cpus=workers,
                object_store_memory=_STORE_BYTES,
                include_dashboard=False,
                log_to_driver=False,
                logging_level=logging.ERROR,
                _node_ip_address="127.0.0.1",
                _temp_dir=folder,
            )
        stack.callback(ray.shutdown)
        # Ray listens instead of whoever did, and would end without tidying up.
        signal.signal(signal.SIGTERM, listener)
        _refuse_scarce(workers)
        _set_context()
        yield


@contextmanager
def _folder() -> Iterator[str | None]:
    """Give Ray a folder that goes when it goes, for logs and what memory cannot hold.

    None, which lets Ray choose, where it could not name its sockets in it.
    """
    if len(tempfile.gettempdir()) > _LONGEST_FOLDER - len("/situate-12345678"):
        yield None
        return
    with tempfile.TemporaryDirectory(
        prefix="situate-", ignore_cleanup_errors=True
    ) as folder:
        yield folder


def _set_context() -> None:
    import ray.data

    context = ray.data.DataContext.get_current()
    context.execution_options.preserve_order = True
    context.enable_progress_bars = False
    context.print_on_execution_start = False


def _refuse_scarce(workers: int) -> None:
    """Refuse to wait for ever.

    Raises:
        ConfigError: the cluster has fewer processors than there are to be workers.
    """
    import ray

    processors = int(ray.cluster_resources().get("CPU", 0))
    if processors < workers:
        message = f"engine ray: {workers} workers need as many processors, the cluster "
        message += f"has {processors}; take fewer with --workers"
        raise ConfigError(message)
