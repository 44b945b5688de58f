"""The registry: an embedder or a reranker by what config calls it."""

from __future__ import annotations

import difflib
from typing import TYPE_CHECKING

from situate.errors import ConfigError

if TYPE_CHECKING:
    from situate.compare.embedders.contract import Embedder, Reranker

_STATIC = "static"
_OPENAI = "openai"


def open_embedder(
    spec: str,
    *,
    base_url: str | None = None,
    endpoint: str | None = None,
    instruction: str | None = None,
) -> Embedder:
    """Give the embedder that `spec` names; nothing is sent.

    `static` looks token vectors up, offline. `openai:MODEL` asks an endpoint that
    speaks OpenAI's embeddings: OpenAI itself, or the server at `base_url`;
    `endpoint` names it in cache keys, by default the address. `module:function`
    calls a function of the user's. `base_url` and `endpoint` are of no account to
    the others. `instruction` is put right before documents, not before queries.

    Raises:
        ConfigError: there is no such embedder, or it cannot be used here.
    """
    kind, colon, name = spec.partition(":")
    if spec == _STATIC:
        from situate.compare.embedders.static import StaticEmbedder

        return StaticEmbedder(instruction=instruction)
    if kind == _OPENAI and name.strip():
        from situate.compare.embedders.openai import OpenAIEmbedder

        return OpenAIEmbedder(
            name, base_url=base_url, endpoint=endpoint, instruction=instruction
        )
    if colon and kind != _OPENAI:
        from situate.compare.embedders.callables import CallableEmbedder

        return CallableEmbedder(spec, instruction=instruction)
    raise ConfigError(_unknown(spec))


def open_reranker(spec: str) -> Reranker:
    """Give the reranker that `spec` names: a function, as `module:function`.

    It is called with a question and a list of n texts and gives n numbers, of
    which more is better.

    Raises:
        ConfigError: there is no such function.
    """
    from situate.compare.embedders.callables import CallableReranker

    return CallableReranker(spec)


def _unknown(spec: str) -> str:
    near = difflib.get_close_matches(spec.lower(), (_STATIC, _OPENAI), n=1)
    if spec.partition(":")[0] == _OPENAI:
        hint = "name its model, as in 'openai:text-embedding-3-small'"
    elif near:
        hint = f"did you mean {near[0]!r}?"
    else:
        hint = "there are 'static', 'openai:MODEL' and 'module:function'"
    return f"embedder {spec!r} is unknown; {hint}"
