"""Shows a chunking as one HTML page that needs nothing but itself.

`gather` reads files, `view` turns chunks and documents into plain values, `page`
puts these into HTML. What a document says is data on the way and text at the end:
nothing of it becomes markup, and the page asks the network for nothing.
"""

from __future__ import annotations

from situate.inspect.gather import of_chunks, of_document
from situate.inspect.page import page
from situate.inspect.view import view

__all__ = ["of_chunks", "of_document", "page", "view"]
