"""The steps of a pipeline over many machines: documents in, rows of chunks out.

`chunk_batch` reads and cuts; `Enricher` asks for statements as well. Both are plain
functions of a batch, so that Ray Data calls them, and so may others. `engine` is what
`situate run --engine ray` is made of, and the only one that knows Ray.
"""

from situate.ray.cutting import chunk_batch
from situate.ray.enriching import Enricher
from situate.ray.rows import records, schema
from situate.ray.shares import shared

__all__ = ["Enricher", "chunk_batch", "records", "schema", "shared"]
