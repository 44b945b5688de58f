"""Vectors that somebody has made of `embed_text`, found by `embed_hash`.

Only where each stands is kept in memory: they may be larger than all the texts.
"""

from __future__ import annotations

import json
import math
from typing import TYPE_CHECKING, Final

from situate.errors import RecordError
from situate.fields import Fields, kind_of
from situate.files import opened
from situate.records import from_line

if TYPE_CHECKING:
    from pathlib import Path
    from types import TracebackType
    from typing import Self


_LARGEST: Final = 3.4028234e38
"""All stores keep numbers of 32 bits."""


class Vectors:
    """A file of JSON lines `{"embed_hash": ..., "vector": [...]}`, open to look up.

    Of lines with one hash the first counts: the text is the same.
    """

    def __init__(self, path: Path, dimensions: int) -> None:
        self._path = path
        self._dimensions = dimensions
        self._places: dict[str, int] = {}

    def __enter__(self) -> Self:
        """Find and check all of them.

        Raises:
            RecordError: the file cannot be read, or a line is none of a vector of
                this size with a direction.
        """
        try:
            self._file = opened(self._path)
        except OSError as error:
            message = f"{self._path}: cannot be read: {error.strerror}"
            raise RecordError(message) from error
        try:
            self._find()
        except BaseException:
            self._file.close()
            raise
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._file.close()

    def get(self, embed_hash: str) -> list[float] | None:
        """Give the vector of a text, None where the file has none."""
        place = self._places.get(embed_hash)
        if place is None:
            return None
        self._file.seek(place)
        vector: list[float] = json.loads(self._file.readline())["vector"]
        return vector

    def _find(self) -> None:
        place = 0
        for number, line in enumerate(self._file, 1):
            where = f"{self._path}:{number}"
            found = Fields(from_line(line, where), where)
            embed_hash = found.text("embed_hash")
            self._check(found.take("vector"), where)
            found.end()
            self._places.setdefault(embed_hash, place)
            place += len(line)

    def _check(self, vector: object, where: str) -> None:
        if not isinstance(vector, list):
            message = f"{where}: vector: a list was expected, not {kind_of(vector)}"
            raise RecordError(message)
        if len(vector) != self._dimensions:
            message = (
                f"{where}: vector has {len(vector):,} numbers, not the "
                f"{self._dimensions:,} of --dimensions"
            )
            raise RecordError(message)
        numbers = [each for each in vector if type(each) in {int, float}]
        if len(numbers) != len(vector) or not all(map(math.isfinite, numbers)):
            message = f"{where}: vector holds what is no number"
            raise RecordError(message)
        if max(map(abs, numbers)) > _LARGEST:
            message = f"{where}: vector holds a number beyond those of 32 bits"
            raise RecordError(message)
        # Stores refuse it where the measure is the angle.
        if not any(numbers):
            message = f"{where}: vector is all zeros, which has no direction"
            raise RecordError(message)
