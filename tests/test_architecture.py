"""Imports go one way, and what is slow is imported by those who need it."""

from __future__ import annotations

import ast
import subprocess
import sys
from functools import cache
from pathlib import Path

import pytest

import situate

ROOT = Path(situate.__file__).parent

LAYERS: tuple[tuple[str, ...], ...] = (
    ("access", "addresses", "collector", "errors", "model", "standalone", "usage"),
    ("validity",),
    ("fields", "files", "records", "tokens", "config", "prompts", "pricing", "shipped"),
    ("functions", "lines", "organisation", "parquet"),
    ("readers", "chunking"),
    ("given", "precedence"),
    (
        "enrichment.exchange",
        "enrichment.reasons",
        "enrichment.settings",
        "enrichment.language",
        "enrichment.audience",
        "enrichment.views",
        "enrichment.worth",
        "enrichment.keys",
        "enrichment.questions",
        "enrichment.redaction",
        "enrichment.plan",
        "enrichment.estimate",
        "enrichment.budget",
        "enrichment.statement",
        "enrichment.marked",
        "enrichment.gate",
        "enrichment.grounding",
    ),
    ("enrichment.providers",),
    (
        "enrichment",
        "enrichment.throttle",
        "enrichment.cache",
        "enrichment.ledger",
        "enrichment.wire",
        "enrichment.live",
        "enrichment.by_file",
    ),
    ("compare",),
    (*("manifest", "corpus", "listing", "output"),),
    ("index", "export"),
    (*("check", "diff", "pipeline", "inspect"),),
    ("integrations", "service"),
    ("cli", "__main__"),
)
"""From the ground up: a module may use its own layer and those below it."""

APART = (
    ("readers", "chunking"),
    ("enrichment", "readers"),
    ("enrichment", "chunking"),
    ("compare", "readers"),
    ("compare", "chunking"),
)
"""Neighbours that never see each other."""

SLOW = (
    "anthropic",
    "bm25s",
    "diskcache",
    "fastapi",
    "haystack",
    "langchain_core",
    "llama_index",
    "lxml",
    "numpy",
    "openai",
    "prometheus_client",
    "pyarrow",
    "pydantic",
    "pypdfium2",
    "pyromark",
    "python_multipart",
    "redis",
    "regex",
    "rich",
    "selectolax",
    "sentencex",
    "starlette",
    "tenacity",
    "tiktoken",
    "uvicorn",
    "yaml",
)
"""What `import situate` and `situate --help` have no use for."""

MODULES = sorted(
    ".".join(path.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__")
    for path in ROOT.rglob("*.py")
    if path != ROOT / "__init__.py"
)


@cache
def imported(module: str) -> frozenset[str]:
    """Give the modules of situate that a module imports, wherever in its text."""
    path = ROOT.joinpath(*module.split("."))
    path = path / "__init__.py" if path.is_dir() else path.with_suffix(".py")
    found = set()
    for node in ast.walk(ast.parse(path.read_text("utf-8"))):
        match node:
            case ast.Import(names=names):
                found |= {name.name for name in names}
            case ast.ImportFrom(module=str(source), names=names, level=0):
                # `from situate import pricing` and `from situate.errors import X`.
                found |= {f"{source}.{name.name}" for name in names}
            case ast.ImportFrom():
                pytest.fail(f"{module} has a relative import")
    return frozenset(
        known
        for name in found
        if name == "situate" or name.startswith("situate.")
        if (known := longest(name.removeprefix("situate").removeprefix(".")))
    )


def longest(name: str) -> str:
    """Give the module that a dotted name lies in; "" for the package itself."""
    while name and name not in MODULES:
        name = name.rpartition(".")[0]
    return name


def layer(module: str) -> int:
    """Give a module's place, by the longest name that a layer lists."""
    names = module.split(".")
    for length in range(len(names), 0, -1):
        prefix = ".".join(names[:length])
        for height, members in enumerate(LAYERS):
            if prefix in members:
                return height
    pytest.fail(f"{module} stands in no layer")


@pytest.mark.parametrize("module", MODULES)
def test_imports_go_down(module: str) -> None:
    """A module uses its own layer and those below it."""
    upwards = {other for other in imported(module) if layer(other) > layer(module)}

    assert not upwards


@pytest.mark.parametrize(("one", "other"), APART)
def test_neighbours_stay_apart(one: str, other: str) -> None:
    """Readers know no chunker, the chunker no format, enrichment neither."""

    def parts(name: str) -> list[str]:
        return [m for m in MODULES if m == name or m.startswith(f"{name}.")]

    crossings = {
        (module, used)
        for here, there in ((one, other), (other, one))
        for module in parts(here)
        for used in imported(module)
        if used in parts(there)
    }

    assert not crossings


def test_providers_do_not_know_each_other() -> None:
    """Adding one touches its own file, the registry and its tests."""
    vendors = {f"enrichment.providers.{n}" for n in ("anthropic", "openai", "replay")}

    crossings = {
        (vendor, other) for vendor in vendors for other in imported(vendor) & vendors
    }

    assert not crossings


def test_the_model_knows_nothing_but_the_standard_library() -> None:
    """Values hold no type of anybody else."""
    tree = ast.parse((ROOT / "model.py").read_text("utf-8"))
    names = {
        name
        for node in ast.walk(tree)
        if isinstance(node, ast.ImportFrom | ast.Import)
        for name in (
            [node.module or ""]
            if isinstance(node, ast.ImportFrom)
            else [alias.name for alias in node.names]
        )
    }

    assert {name.partition(".")[0] for name in names} <= sys.stdlib_module_names


def test_pydantic_stays_in_config_and_at_the_edge_of_the_service() -> None:
    """Nothing between them sees a third party's idea of a value."""
    users = {
        module.partition(".")[0]
        for module in MODULES
        for line in _source(module).splitlines()
        if line.lstrip().startswith(("import pydantic", "from pydantic"))
    }

    assert users == {"config", "service"}


def _source(module: str) -> str:
    path = ROOT.joinpath(*module.split("."))
    path = path / "__init__.py" if path.is_dir() else path.with_suffix(".py")
    return path.read_text("utf-8")


@pytest.mark.parametrize(
    "statement",
    [
        pytest.param("import situate", id="import"),
        pytest.param(
            "import sys; sys.argv = ['situate', '--help']\n"
            "from situate.cli import main\n"
            "try: main()\n"
            "except SystemExit: pass",
            id="help",
        ),
    ],
)
def test_nothing_slow_is_loaded_before_it_is_needed(statement: str) -> None:
    """Neither an SDK, nor a tokenizer, nor a format library."""
    program = (
        f"{statement}\n"
        "import sys\n"
        f"print('loaded:', sorted(sys.modules.keys() & set({SLOW!r})))"
    )

    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    )

    assert done.stdout.splitlines()[-1] == "loaded: []"


@pytest.mark.parametrize("module", MODULES)
def test_files_are_of_a_size_to_be_read(module: str) -> None:
    """Past 500 lines two jobs share a room."""
    assert len(_source(module).splitlines()) <= 500


@pytest.mark.parametrize("module", MODULES)
def test_nothing_prints_but_the_command_line(module: str) -> None:
    """A library that writes to stdout spoils the data there."""
    calls = {
        node.func.id
        for node in ast.walk(ast.parse(_source(module)))
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name)
    }

    assert "print" not in calls
