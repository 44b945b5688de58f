"""The step that reads and cuts: no client, no cache, nobody asked."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from situate.pipeline.documents import Prepared, Preparer
from situate.pipeline.written import written
from situate.ray.documents import documents
from situate.ray.rows import Rows

if TYPE_CHECKING:
    from collections.abc import Mapping

    import pyarrow as pa

    from situate.config import Config
    from situate.ray.documents import Batch


def chunk_batch(
    batch: Batch, *, config: Config, deleted: Mapping[str, str] | None = None
) -> pa.Table:
    """Cut the documents of a batch into rows of `schema`, in their order.

    A document that cannot be read, or a row that is none, is a row with status
    `error` and why. Whatever raises something that is not situate's own, as only a
    defect or a machine at its end does, stops the batch: its cause is not the
    document alone, and hiding it would lose documents. `deleted` has the ids that
    manifests delete, and where they do.

    Raises:
        ConfigError: no column holds documents, or the tokenizer cannot be loaded.
        SituateError: two documents of the batch name one id.
    """
    found = documents(batch)
    preparer = replace(
        Preparer.of(config), deleted=deleted or {}, at_hand=found.refused
    )
    rows = Rows()
    for outcome in preparer.prepare_all(found.sources):
        if isinstance(outcome, Prepared):
            rows.add(written(outcome, outcome.chunks), outcome.chunks)
        else:
            rows.add(outcome, ())
    return rows.table()
