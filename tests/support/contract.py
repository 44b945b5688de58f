"""Holds a service to its own OpenAPI document with schemathesis.

python -m tests.support.contract [EXAMPLES] serves two corpora and does it at length.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any, Final

import httpx

from tests.support.chat import chatting
from tests.support.corpora import asking
from tests.support.service import ANNA, KEYS, corpora, served

AUTHORIZATION: Final = {"Authorization": f"Bearer {ANNA}"}

CONFIG: Final[dict[str, Any]] = {
    "checks": {
        "positive_data_acceptance": {
            # Whether a document can be read is for its reader to say, and no schema:
            # 422. A job that is not done has no result: 409.
            "expected-statuses": ["2xx", "401", "403", "404", "409", "422", "429"]
        }
    }
}
"""Every check there is."""

_EXAMPLES: Final = "200"


def document(address: str) -> dict[str, Any]:
    """Fetch the OpenAPI document, and name the corpora in it.

    It names none itself: it is shown to whoever asks. Without names almost every
    request would end with 404.
    """
    found: dict[str, Any] = httpx.get(f"{address}/openapi.json").json()
    shapes = [
        found["components"]["schemas"]["DocumentFields"],
        found["components"]["schemas"]["JobFields"],
        *(
            methods["post"]["requestBody"]["content"]["multipart/form-data"]["schema"]
            for methods in found["paths"].values()
            if "post" in methods
        ),
    ]
    for shape in shapes:
        shape["properties"]["corpus"]["enum"] = ["notes", "handbook"]
    return found


def _main(examples: str = _EXAMPLES) -> int:
    with tempfile.TemporaryDirectory() as name, chatting() as chat:
        folder = Path(name)
        corpora(folder / "config", asking=asking(chat.address))
        settings = folder / "schemathesis.toml"
        expected = CONFIG["checks"]["positive_data_acceptance"]["expected-statuses"]
        settings.write_text(
            "[checks.positive_data_acceptance]\n"
            f"expected-statuses = {json.dumps(expected)}\n",
            "utf-8",
        )
        with served(folder / "config", folder / "state", environment=KEYS) as address:
            schema = folder / "openapi.json"
            schema.write_text(json.dumps(document(address)), "utf-8")
            command = [sys.executable, "-m", "schemathesis.cli"]
            options = ["--config-file", str(settings), "run", str(schema)]
            options += ["--url", address, "--max-examples", examples]
            options += ["--header", f"Authorization: Bearer {ANNA}"]
            # It keeps what it found in the folder where it runs.
            run = subprocess.run([*command, *options], cwd=folder, check=False)
            return run.returncode


if __name__ == "__main__":
    sys.exit(_main(*sys.argv[1:]))
