"""Embedders give a unit vector for each text, or say why they cannot."""

from __future__ import annotations

import importlib.util
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from safetensors.numpy import load_file
from tokenizers import Tokenizer

from situate.compare.embedders import open_embedder, open_reranker
from situate.errors import ConfigError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from situate.compare.embedders.contract import Rows

STATIC = open_embedder("static")

TEXTS = [
    "The insurer pays for repairs of roofs that were damaged by storms.",
    "The member bears the first part of each claim.",
    "Pumpenwartung: Öl alle 500 Betriebsstunden wechseln.",
]


def unit(vectors: Sequence[Sequence[float]]) -> Rows:
    """Scale vectors to unit length, in the plainest way."""
    table = np.array(vectors, np.float64)
    return (table / np.linalg.norm(table, axis=1, keepdims=True)).astype(np.float32)


def test_static_vectors_are_means_of_the_package_s_table() -> None:
    """Computed here in the plainest way: no special tokens, no cut, no padding."""
    found = importlib.util.find_spec("wordllama")
    assert found is not None
    folder = Path(str(found.origin)).parent
    (table,) = load_file(folder / "weights/l2_supercat_256.safetensors").values()
    tokenizer = Tokenizer.from_file(
        str(folder / "tokenizers/l2_supercat_tokenizer_config.json")
    )
    texts = [*TEXTS, "| a | b |\n|---|---|\n" * 300, "<s> 政府 </s>"]
    ids = [tokenizer.encode(text, add_special_tokens=False).ids for text in texts]

    rows = STATIC.embed(texts, "document")

    expected = unit([table[each].astype(np.float64).mean(axis=0) for each in ids])
    assert np.abs(rows - expected).max() < 1e-6


def test_a_static_vector_is_the_mean_of_its_tokens() -> None:
    """Two words alone and together: the pair lies between them, at unit length."""
    storm, roof, both = STATIC.embed(["storm", "roof", "storm roof"], "document")

    assert np.allclose(np.linalg.norm([storm, roof, both], axis=1), 1)
    assert both @ storm > storm @ roof
    assert both @ roof > storm @ roof


def test_static_vectors_hold_meaning() -> None:
    """A question is nearer to the passage that answers it, in other words."""
    passages = STATIC.embed(TEXTS, "document")

    (question,) = STATIC.embed(["Does insurance cover storm damage?"], "query")

    assert int(np.argmax(passages @ question)) == 0


@given(st.lists(st.text(max_size=60), max_size=5), st.text(max_size=60))
def test_a_static_vector_depends_on_its_text_alone(
    others: list[str], text: str
) -> None:
    """Neither the texts beside it nor its role move a vector by a bit."""
    alone = STATIC.embed([text], "query")

    among = STATIC.embed([*others, text], "document")

    assert among.dtype == np.float32
    assert among.shape == (len(others) + 1, 256)
    assert np.array_equal(among[-1], alone[0])


@pytest.mark.parametrize("text", ["", "\x00", "\ud800"], ids=["empty", "nul", "half"])
def test_any_text_has_a_static_row(text: str) -> None:
    """What has no tokens is a row of zeros, which is near to nothing."""
    (row,) = STATIC.embed([text], "document")

    assert np.isfinite(row).all()
    assert float(np.linalg.norm(row)) == pytest.approx(1 if text else 0)


def test_a_long_static_text_counts_to_its_end() -> None:
    """There is no window: the last words of a long text move its vector."""
    long = "roof " * 9_000

    rows = STATIC.embed([long, long + "storm " * 9_000], "document")

    assert float(rows[0] @ rows[1]) < 0.95


def test_static_vectors_come_without_importing_what_trains_them() -> None:
    """Files of the package are read, its code is not run."""
    program = (
        "from situate.compare.embedders import open_embedder\n"
        "open_embedder('static').embed(['a'], 'query')\n"
        "import sys; print({'wordllama', 'torch', 'openai'} & set(sys.modules))"
    )

    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    )

    assert done.stdout.strip() == "set()"


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Work in a folder of the user's; nothing of it stays imported."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", [*sys.path])
    monkeypatch.setattr(sys, "modules", {**sys.modules})
    return tmp_path


def written(folder: Path, *lines: str) -> None:
    """Write a module `mine` with an import of another file beside it."""
    (folder / "width.py").write_text("WIDTH = 2\n", "utf-8")
    (folder / "mine.py").write_text("\n".join(lines), "utf-8")


def test_a_function_in_the_working_directory_embeds(here: Path) -> None:
    """It is found there, and so is what it imports when it is called."""
    written(
        here,
        "def embed(texts):",
        "    assert type(texts) is list and len(texts) <= 256",
        "    from width import WIDTH",
        "    return [[len(text), WIDTH] for text in texts]",
    )
    texts = ["x" * (1 + number % 7) for number in range(600)]

    rows = open_embedder("mine:embed").embed(["", *texts], "query")

    assert rows.dtype == np.float32
    assert not rows[0].any()
    assert np.allclose(rows[1:], unit([[len(text), 2] for text in texts]))


def test_a_function_gets_documents_with_their_instruction(here: Path) -> None:
    """It is not told which is which."""
    written(here, "def embed(texts):", "    return [[len(t), 1] for t in texts]")
    embedder = open_embedder("mine:embed", instruction="12345")

    document, query = (
        embedder.embed(["x"], "document"),
        embedder.embed(["x"], "query"),
    )

    assert np.allclose(document, unit([[6, 1]]))
    assert np.allclose(query, unit([[1, 1]]))


def test_an_edited_function_is_another_embedder(here: Path) -> None:
    """Vectors of its former self are not taken for its own."""
    identities = []
    for width in (1, 2):
        written(here, "def embed(texts):", f"    return [[{width}]]")
        sys.modules.pop("mine", None)
        embedder: Any = open_embedder("mine:embed")
        identities.append(embedder.identity)

    assert identities[0] != identities[1]


def test_huge_and_tiny_vectors_have_unit_length(here: Path) -> None:
    """Squares that no number can hold do not spoil a direction."""
    written(here, "def embed(texts):", "    return [[3e200, 4e200], [3e-200, 4e-200]]")

    rows = open_embedder("mine:embed").embed(["a", "b"], "document")

    assert np.allclose(rows, [[0.6, 0.8]] * 2)


@pytest.mark.parametrize(
    ("body", "says"),
    [
        pytest.param("return [[1, 2]]", "2 texts brought vectors", id="too few"),
        pytest.param("return [1, 2]", "shape", id="numbers"),
        pytest.param("return [[1], [1, 2]]", "no numbers", id="ragged"),
        pytest.param("return [[], []]", "shape", id="no dimensions"),
        pytest.param("return [[1], [float('nan')]]", "finite", id="not a number"),
        pytest.param("return None", "finite|shape|no numbers", id="nothing"),
        pytest.param("return [['a'], ['b']]", "no numbers", id="words"),
        pytest.param("raise KeyError('weights')", "KeyError", id="failure"),
    ],
)
def test_a_function_that_gives_no_vectors_is_named(
    here: Path, body: str, says: str
) -> None:
    """Whatever is wrong with it, the message says which function it was."""
    written(here, "def embed(texts):", f"    {body}")

    with pytest.raises(ConfigError, match=says) as caught:
        open_embedder("mine:embed").embed(["a", "b"], "document")

    assert "'mine:embed'" in str(caught.value)


@pytest.mark.parametrize(
    ("spec", "says"),
    [
        pytest.param("statik", "did you mean 'static'", id="misspelt"),
        pytest.param("openai:", "name its model", id="no model"),
        pytest.param("openai", "name its model", id="no colon"),
        pytest.param("minilm", "module:function", id="unknown"),
        pytest.param("no_such_module:embed", "cannot be imported", id="no module"),
        pytest.param("mine:rank", "no function 'rank'", id="no function"),
        pytest.param("mine:WIDTH", "no function", id="no callable"),
        pytest.param("mine.py:embed", "cannot be imported", id="a file"),
        pytest.param("./mine:embed", "is no function", id="a path"),
        pytest.param("broken:embed", "ZeroDivisionError", id="broken"),
    ],
)
def test_what_names_no_embedder_is_refused(here: Path, spec: str, says: str) -> None:
    """Before anything is embedded, with what would have been right."""
    written(here, "WIDTH = 1", "def embed(texts): ...")
    (here / "broken.py").write_text("1 / 0\n", "utf-8")

    with pytest.raises(ConfigError, match=says) as caught:
        open_embedder(spec)

    assert repr(spec) in str(caught.value)


# ---------------------------------------------------------------- rerankers --


def test_a_reranker_scores_texts_for_a_question(here: Path) -> None:
    """One number for each text, as the function gives it; none for no texts."""
    written(here, "def score(query, texts): return [t.count(query) for t in texts]")
    reranker = open_reranker("mine:score")

    scores = reranker.score("a", ["banana", "fig", "date"])
    nothing = reranker.score("a", [])

    assert scores.tolist() == [3, 0, 1]
    assert nothing.shape == (0,)


@pytest.mark.parametrize(
    ("body", "says"),
    [
        pytest.param("return [1.0]", "2 texts brought scores", id="too few"),
        pytest.param("return [[1], [2]]", "shape", id="a table"),
        pytest.param("return [1, float('inf')]", "finite", id="infinite"),
        pytest.param("return texts[0]", "no numbers", id="a text"),
        pytest.param("raise ValueError('no')", "ValueError: no", id="failure"),
    ],
)
def test_a_reranker_that_gives_no_scores_is_named(
    here: Path, body: str, says: str
) -> None:
    """Whatever is wrong with it, the message says which function it was."""
    written(here, "def score(query, texts):", f"    {body}")

    with pytest.raises(ConfigError, match=says) as caught:
        open_reranker("mine:score").score("q", ["a", "b"])

    assert "reranker 'mine:score'" in str(caught.value)
