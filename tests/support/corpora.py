"""Corpora on disk: a few documents, a config beside them, and runs over both."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from situate.config import load
from situate.pipeline.run import run

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from pathlib import Path

    from situate.pipeline.run import Result
    from situate.pipeline.watching import Forecast

LEAVE = """\
---
title: Leave policy
doc_type: handbook
---
# Leave

Everybody has leave. It is asked for in writing.

## Days

| Years | Days |
| --- | --- |
| 1 | 25 |
| 10 | 30 |

## Exceptions

The above limits do not apply to people on parental leave, who keep their days
until they are back and for twelve months after that.
"""

TRAVEL = """\
# Travel

Book the train. Keep the receipts:

- of hotels
- of meals

## Abroad

Ask the office in charge before a journey to another country, so that it can see to
the insurance, the tickets and the allowance that is paid for every day away from home.
"""


@dataclass(slots=True)
class Heard:
    """A watcher that remembers what it heard."""

    notes: list[str] = field(default_factory=list)
    forecasts: list[Forecast] = field(default_factory=list)
    advanced: int = 0
    when_told: Callable[[], None] = lambda: None
    """Called when a forecast is heard."""

    def note(self, message: str) -> None:
        """Remember a sentence."""
        self.notes.append(message)

    def forecast(self, forecast: Forecast) -> None:
        """Remember a forecast."""
        self.when_told()
        self.forecasts.append(forecast)

    def begin(self, task: str, documents: int) -> None:
        """Take no note of it."""

    def advance(self) -> None:
        """Count a document."""
        self.advanced += 1


@dataclass(frozen=True, slots=True, kw_only=True)
class Corpus:
    """A folder with documents and a config file."""

    folder: Path
    name: str = "handbook"

    @property
    def config(self) -> Path:
        """The config file."""
        return self.folder / f"{self.name}.toml"

    @property
    def chunks(self) -> Path:
        """The chunks file."""
        return self.folder / "out" / f"{self.name}.jsonl"

    @property
    def manifest(self) -> dict[str, Any]:
        """What the manifest says."""
        path = self.chunks.with_name(f"{self.name}.manifest.json")
        manifest: dict[str, Any] = json.loads(path.read_text("utf-8"))
        return manifest

    @property
    def records(self) -> list[dict[str, Any]]:
        """The chunks file, read."""
        lines = self.chunks.read_text("utf-8").splitlines()
        return [json.loads(line) for line in lines]

    def document(self, name: str, text: str | bytes) -> Path:
        """Write a document."""
        path = self.folder / "docs" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(text if isinstance(text, bytes) else text.encode())
        return path

    def configure(self, **sections: Mapping[str, object]) -> Corpus:
        """Write the config: what every corpus needs, and these keys."""
        tables: dict[str, dict[str, object]] = {
            "corpus": {"name": self.name, "documents": ["docs/**/*.md"]},
            "output": {"path": f"out/{self.name}.jsonl"},
        }
        for section, keys in sections.items():
            tables[section] = tables.get(section, {}) | keys
        lines = []
        for section, keys in tables.items():
            lines.append(f"[{section}]")
            # JSON's texts, numbers and lists are TOML's.
            lines.extend(f"{key} = {json.dumps(value)}" for key, value in keys.items())
        self.config.write_text("\n".join(lines), "utf-8")
        return self

    def run(self, watcher: Heard | None = None) -> Result:
        """Run over it alone."""
        configs = load([self.config], environment={})
        (result,) = run(configs, watcher or Heard())
        return result


def asking(address: str, **keys: object) -> dict[str, object]:
    """Give an enrichment section that asks a server at this address."""
    return {
        "enabled": True,
        "provider": "openai",
        "model": "local-model",
        "base_url": address,
        "prompt": "findable-v1",
        **keys,
    }


def handbook(folder: Path, **sections: Mapping[str, object]) -> Corpus:
    """Write a corpus of two documents."""
    folder.mkdir(parents=True, exist_ok=True)
    corpus = Corpus(folder=folder)
    corpus.document("leave.md", LEAVE)
    corpus.document("travel/abroad.md", TRAVEL)
    return corpus.configure(**sections)
