"""Measure what the streams of a file unpack to, before pdfium does.

pdfium unpacks the content of a page whole: half a megabyte can be half a gigabyte.
Pictures are left out, for nobody unpacks them to read text.
"""

from __future__ import annotations

import re
import zlib
from typing import TYPE_CHECKING

from situate.errors import ReadError

if TYPE_CHECKING:
    from situate.readers.options import Limits

_STREAM = re.compile(rb"(?<!end)stream\r?\n")
_FLATE = re.compile(rb"/(?:FlateDecode|Fl)\b")
_PICTURE = re.compile(rb"/Subtype\s*/Image\b")

# A stream's dictionary is short; what stands further before belongs to another.
_LONGEST_DICTIONARY = 4_096

_STEP = 65_536


def refuse_bombs(data: bytes, source: str, limits: Limits) -> None:
    """Refuse a file whose streams unpack to more than an archive may.

    Raises:
        ReadError: they do.
    """
    left = limits.max_unpacked_bytes
    for found in _STREAM.finditer(data):
        start = max(0, found.start() - _LONGEST_DICTIONARY)
        about = data[start : found.start()].rpartition(b" obj")[2]
        layers = len(_FLATE.findall(about))
        if layers and not _PICTURE.search(about):
            left -= _unpacked(data, found.end(), layers, left)
        if left < 0:
            message = (
                f"{source}: unpacks to more than {limits.max_unpacked_bytes:,} bytes, "
                "which is the limit; it looks like a bomb"
            )
            raise ReadError(message, refusal="limit")


def _unpacked(data: bytes, start: int, layers: int, most: int) -> int:
    """Give how many bytes come out of a stream, counted to just above `most`."""
    unpackers = [zlib.decompressobj() for _ in range(layers)]
    waiting = [b""] * layers
    total = 0
    try:
        while total <= most:
            # The last layer that has something to do does it, a step at a time.
            layer = max((n for n in range(layers) if waiting[n]), default=0)
            if not waiting[layer]:
                waiting[0] = data[start : start + _STEP]
                start += _STEP
                if unpackers[0].eof or not waiting[0]:
                    break
                layer = 0
            out = unpackers[layer].decompress(waiting[layer], _STEP)
            ended = unpackers[layer].eof
            waiting[layer] = b"" if ended else unpackers[layer].unconsumed_tail
            if layer + 1 < layers:
                waiting[layer + 1] += out
            total += len(out)
    except zlib.error:
        # pdfium makes do with what it gets of a damaged stream.
        return total
    return total
