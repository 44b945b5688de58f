"""Other chunkers, each set up as its own documentation says for this job.

Markdown to chunks of at most so many tokens, without overlap, and one tokenizer
for all: the same object of tiktoken wherever a chunker takes one. None of them is
a dependency; `requirements-peers.txt` names what was measured.
"""

from __future__ import annotations

from dataclasses import dataclass
from importlib import metadata
from typing import TYPE_CHECKING, Any, Literal

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    import tiktoken

Speed = Literal["whole corpus", "sample"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Splitter:
    """A chunker that stands ready."""

    split: Callable[[Any], Sequence[Any]]
    """Gives the chunks of what `prepare` gave."""
    text_of: Callable[[Any], str] = str
    """The text of a chunk that its limit is meant for."""
    prepare: Callable[[str], object] = str
    """Turns a document's text, untimed, into what `split` takes."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Peer:
    """A chunker of others, and what it does for its time."""

    name: str
    packages: tuple[str, ...]
    """Distributions it is made of, its own first."""
    reads: str
    """What it knows of Markdown."""
    counts: str
    """What it keeps to the limit."""
    context: str
    """Where the headings above a chunk stand."""
    make: Callable[[tiktoken.Encoding, int], Splitter]
    speed: Speed = "whole corpus"
    """One that takes ten seconds for a megabyte is given a sample."""
    does_it: bool = True
    """False where it does not read Markdown, or does not count tokens."""

    @property
    def missing(self) -> tuple[str, ...]:
        """The distributions that are not installed here."""
        return tuple(name for name in self.packages if _version(name) is None)

    @property
    def version(self) -> str:
        """The version of its own distribution."""
        return _version(self.packages[0]) or ""


def _version(package: str) -> str | None:
    try:
        return metadata.version(package.partition("[")[0])
    except metadata.PackageNotFoundError:
        return None


def _langchain(encoding: tiktoken.Encoding, limit: int) -> Splitter:
    from langchain_text_splitters import (
        MarkdownHeaderTextSplitter,
        RecursiveCharacterTextSplitter,
    )

    levels = [("#" * level, f"Header {level}") for level in range(1, 7)]
    by_heading = MarkdownHeaderTextSplitter(levels, strip_headers=False)
    by_size = RecursiveCharacterTextSplitter.from_tiktoken_encoder(
        encoding_name=encoding.name, chunk_size=limit, chunk_overlap=0
    )
    return Splitter(
        split=lambda text: by_size.split_documents(by_heading.split_text(text)),
        text_of=lambda found: found.page_content,
    )


def _semantic_text_splitter(encoding: tiktoken.Encoding, limit: int) -> Splitter:
    from semantic_text_splitter import MarkdownSplitter

    # It carries the vocabulary of this model, which is cl100k; a counter of
    # Python would slow it down.
    assert encoding.name.startswith("cl100k_base")
    splitter = MarkdownSplitter.from_tiktoken_model("gpt-3.5-turbo", limit)
    return Splitter(split=splitter.chunks)


def _mdkeychunker(encoding: tiktoken.Encoding, limit: int) -> Splitter:
    import mdkeychunker

    return Splitter(
        split=lambda text: mdkeychunker.chunk(
            text, max_tokens=limit, tokenizer=encoding
        ),
        # The limit holds for the text with its headings in front.
        text_of=lambda found: found.embed_text,
    )


def _chonkie(encoding: tiktoken.Encoding, limit: int) -> Splitter:
    from chonkie import RecursiveChunker, RecursiveLevel, RecursiveRules

    # `from_recipe("markdown")` downloads its rules; these are the local ones that
    # its documentation shows how to write: headings, then the built-in levels.
    headings = RecursiveLevel(
        delimiters=["\n" + "#" * level + " " for level in range(1, 7)],
        include_delim="next",
    )
    rules = RecursiveRules(levels=[headings, *RecursiveRules().levels])
    chunker = RecursiveChunker(tokenizer=encoding, chunk_size=limit, rules=rules)
    return Splitter(split=chunker.chunk, text_of=lambda found: found.text)


def _semchunk(encoding: tiktoken.Encoding, limit: int) -> Splitter:
    import semchunk

    return Splitter(split=semchunk.chunkerify(encoding, limit))


def _llama_index(encoding: tiktoken.Encoding, limit: int) -> Splitter:  # noqa: ARG001 - it has neither a tokenizer nor a limit
    from llama_index.core import Document
    from llama_index.core.node_parser import MarkdownNodeParser

    parser = MarkdownNodeParser()
    return Splitter(
        split=lambda text: parser.get_nodes_from_documents([Document(text=text)]),
        text_of=lambda found: found.text,
    )


def _docling(encoding: tiktoken.Encoding, limit: int) -> Splitter:
    chunker = _hybrid_chunker(encoding, limit)
    return Splitter(
        split=lambda text: list(chunker.chunk(_docling_document(text))),
        text_of=chunker.contextualize,
    )


def _docling_chunking(encoding: tiktoken.Encoding, limit: int) -> Splitter:
    chunker = _hybrid_chunker(encoding, limit)
    return Splitter(
        prepare=_docling_document,
        split=lambda document: list(chunker.chunk(document)),
        text_of=chunker.contextualize,
    )


def _hybrid_chunker(encoding: tiktoken.Encoding, limit: int) -> Any:
    from docling_core.transforms.chunker.hybrid_chunker import HybridChunker
    from docling_core.transforms.chunker.tokenizer.openai import OpenAITokenizer

    return HybridChunker(
        tokenizer=OpenAITokenizer(tokenizer=encoding, max_tokens=limit)
    )


def _docling_document(text: str) -> object:
    """Convert Markdown as docling does.

    By its own backend, since `DocumentConverter` of docling-slim 2.143.0 cannot be
    imported without PyTorch, which Markdown does not need.
    """
    from io import BytesIO

    from docling.backend.md_backend import MarkdownDocumentBackend
    from docling.datamodel.base_models import InputFormat
    from docling.datamodel.document import InputDocument

    data = text.encode()
    described = InputDocument(
        path_or_stream=BytesIO(data),
        format=InputFormat.MD,
        backend=MarkdownDocumentBackend,
        filename="document.md",
    )
    return MarkdownDocumentBackend(described, BytesIO(data)).convert()


# What the chunker of docling-core imports; its own extra wants an older tiktoken.
_DOCLING_CORE = ("docling-core", "semchunk", "tree-sitter", "huggingface-hub")
_DOCLING = ("docling-slim[format-markdown,format-html]", *_DOCLING_CORE)

PEERS: tuple[Peer, ...] = (
    Peer(
        name="LangChain, Markdown headers then recursive",
        packages=("langchain-text-splitters",),
        reads="headings and fences, by line",
        counts="tokens",
        context="metadata",
        make=_langchain,
    ),
    Peer(
        name="semantic-text-splitter, MarkdownSplitter",
        packages=("semantic-text-splitter",),
        reads="CommonMark parser",
        counts="tokens",
        context="none",
        make=_semantic_text_splitter,
    ),
    Peer(
        name="mdkeychunker",
        packages=("mdkeychunker",),
        reads="blocks, by line",
        counts="tokens",
        context="in front of the text",
        # Without headings it cuts windows that overlap by 32 tokens.
        make=_mdkeychunker,
    ),
    Peer(
        name="docling-slim's Markdown backend, docling-core's HybridChunker",
        packages=_DOCLING,
        reads="CommonMark parser",
        counts="tokens",
        context="in front of the text",
        make=_docling,
        speed="sample",
    ),
    Peer(
        name="docling-core's HybridChunker alone",
        packages=(*_DOCLING_CORE, _DOCLING[0]),
        reads="no: a DoclingDocument",
        counts="tokens",
        context="in front of the text",
        make=_docling_chunking,
        speed="sample",
        does_it=False,
    ),
    Peer(
        name="chonkie, RecursiveChunker by headings",
        packages=("chonkie",),
        reads="no: lines that begin with `#`, in code too",
        counts="tokens",
        context="none",
        make=_chonkie,
        does_it=False,
    ),
    Peer(
        name="semchunk",
        packages=("semchunk",),
        reads="no",
        counts="tokens",
        context="none",
        make=_semchunk,
        does_it=False,
    ),
    Peer(
        name="LlamaIndex, MarkdownNodeParser",
        packages=("llama-index-core",),
        reads="headings and fences, by line",
        counts="nothing",
        context="metadata",
        make=_llama_index,
        does_it=False,
    ),
)
