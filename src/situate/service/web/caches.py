"""Looks after whether caches can be used, for whoever asks often and must hear soon."""

from __future__ import annotations

import threading
import time
from typing import TYPE_CHECKING, Final

from situate.enrichment.cache import can_be_written

if TYPE_CHECKING:
    from collections.abc import Iterable

    from situate.enrichment.cache import Place

_KEPT_SECONDS: Final = 5.0
"""For how long one look will do: nobody is to be able to look as often as he likes."""

_PATIENCE_SECONDS: Final = 0.8
"""A cache that takes longer cannot be used; whoever asks gives up after a second."""


class Caches:
    """The places that answers are kept in; may be used from any thread."""

    def __init__(self, places: Iterable[Place]) -> None:
        self._places = frozenset(places)
        # Keeps two callers from looking at once.
        self._lock = threading.Lock()
        self._looking: threading.Thread | None = None
        self._began = 0.0
        self._are_well = True

    def are_well(self) -> bool:
        """Tell whether all of them can be used, as of some seconds ago at most.

        Waits for a second at most. A server that says nothing is looked at by one
        thread, which nobody has to wait for, also at the end of the service.
        """
        with self._lock:
            now = time.monotonic()
            looking = self._looking
            if looking is None or (
                not looking.is_alive() and now - self._began >= _KEPT_SECONDS
            ):
                looking = threading.Thread(target=self._look, daemon=True)
                self._looking, self._began = looking, now
                looking.start()
            patience = self._began + _PATIENCE_SECONDS - now
        looking.join(max(0.0, patience))
        return self._are_well and not looking.is_alive()

    def _look(self) -> None:
        self._are_well = all(map(can_be_written, self._places))
