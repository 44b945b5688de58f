"""Open a PDF with pdfium, and ask pdfium for texts.

pdfium is C++ and works on files nobody vouches for: what it cannot parse is
an error here, what would crash it takes the process along. Where documents come
from strangers, read them in a process that may die.
"""

from __future__ import annotations

import ctypes
import threading
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from situate.errors import ReadError
from situate.readers.decoding import clean
from situate.readers.pdf.bombs import refuse_bombs

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from situate.readers.options import Limits

PDFIUM = threading.RLock()
"""Held around every call into pdfium, which shares state between documents."""

# Adobe's readers accept the signature within the first kilobyte, and so does pdfium.
_SIGNATURE_WITHIN = 1024

# No title, alternative text or field value needs more; a hostile one may claim it.
_LONGEST_TEXT = 1_000_000


@contextmanager
def opened(data: bytes, source: str, limits: Limits) -> Iterator[Any]:
    """Open a document and close it, with everything it gave out.

    Raises:
        ReadError: pypdfium2 is missing, or it is no PDF, broken, encrypted, or
            beyond a limit.
    """
    try:
        import pypdfium2
        from pypdfium2 import raw
    except ImportError as error:
        message = (
            f"{source}: reading .pdf files needs pypdfium2; install it with: "
            "pip install 'situate[pdf]'"
        )
        raise ReadError(message, refusal="package") from error
    if b"%PDF-" not in data[:_SIGNATURE_WITHIN]:
        message = f"{source}: is no PDF, it does not begin with '%PDF-'"
        raise ReadError(message, refusal="misnamed")
    refuse_bombs(data, source, limits)
    with PDFIUM:
        try:
            document = pypdfium2.PdfDocument(data)
        except pypdfium2.PdfiumError as error:
            if error.err_code == raw.FPDF_ERR_PASSWORD:
                message = f"{source}: is encrypted; save it without a password"
                raise ReadError(message, refusal="encrypted") from error
            message = f"{source}: is a broken PDF that pdfium cannot open"
            raise ReadError(message) from error
        try:
            pages = len(document)
            if pages > limits.max_pages:
                message = (
                    f"{source}: has {pages:,} pages, the limit is "
                    f"{limits.max_pages:,}; split it"
                )
                raise ReadError(message, refusal="limit")
            yield document
        finally:
            document.close()


def text_of(function: Callable[..., int], *arguments: object) -> str:
    """Give a text that pdfium writes into a buffer as UTF-16, cleaned."""
    size = function(*arguments, None, 0)
    if not 2 < size <= _LONGEST_TEXT:
        return ""
    buffer = (ctypes.c_ushort * (size // 2 + 1))()
    written = function(*arguments, buffer, size)
    if written > size:
        return ""
    raw = bytes(buffer)[: written - written % 2]
    return clean(raw.decode("utf-16-le", errors="replace")).strip()
