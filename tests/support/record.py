"""Records cassettes: `python -m tests.support.record [SCENARIO...]`.

Plays the scenarios through situate's own providers against the real server on
loopback and writes what went over the wire. Without arguments it records all.
Review the difference like code: a changed request is a changed program.
"""

from __future__ import annotations

import argparse
import asyncio
import importlib.metadata
import json
import os
import sys
from typing import Any

import httpx2

from situate.errors import ProviderError
from tests.support.cassettes import (
    PATHS,
    REPLY_HEADERS,
    SCENARIOS,
    Scenario,
    cassette_path,
    provider_for,
)
from tests.support.server import MODEL, serving


class Recorder(httpx2.AsyncBaseTransport):
    """Sends requests on and keeps what was said, both ways."""

    def __init__(self) -> None:
        self.exchanges: list[dict[str, Any]] = []
        self._network = httpx2.AsyncHTTPTransport()

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        """Send a request and keep it with its reply."""
        response = await self._network.handle_async_request(request)
        await response.aread()
        kept = {
            name: response.headers[name]
            for name in REPLY_HEADERS
            if name in response.headers
        }
        self.exchanges.append(
            {
                "request": {
                    "method": request.method,
                    "path": request.url.path,
                    "body": json.loads(request.content),
                },
                "reply": {
                    "status": response.status_code,
                    "headers": kept,
                    "body": response.text,
                },
            }
        )
        return httpx2.Response(
            response.status_code, headers=kept, content=response.content
        )

    async def aclose(self) -> None:
        """Let go of connections."""
        await self._network.aclose()


async def record(
    name: str, scenario: Scenario, *, address: str
) -> list[dict[str, Any]]:
    """Play one scenario on one provider's routes; gives its exchanges."""
    recorder = Recorder()
    provider = provider_for(name, scenario, address=address, transport=recorder)
    for rendered in scenario.asked:
        try:
            await provider.send(provider.render(rendered, scenario.parameters))
        except ProviderError as error:
            sys.stdout.write(f"  {error.__class__.__name__}: {error}\n")
    await provider.close()
    return recorder.exchanges


def main() -> None:
    """Record the scenarios named on the command line, or all."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("scenario", nargs="*", help="default: all")
    names = parser.parse_args().scenario or list(SCENARIOS)
    if unknown := set(names) - set(SCENARIOS):
        parser.error(f"unknown: {sorted(unknown)}; there are {', '.join(SCENARIOS)}")
    # The server asks for no key, so none is on the wire.
    for variable in ("ANTHROPIC_API_KEY", "OPENAI_API_KEY"):
        os.environ.pop(variable, None)
    server = f"llama.cpp's, from xllamacpp {importlib.metadata.version('xllamacpp')}"
    for provider in PATHS:
        for name in names:
            path = cassette_path(provider, name)
            sys.stdout.write(f"{provider} {name}\n")
            # A server of its own, so that its cache holds nothing from before.
            with serving() as address:
                exchanges = asyncio.run(
                    record(provider, SCENARIOS[name], address=address)
                )
            cassette = {"server": server, "model": MODEL, "exchanges": exchanges}
            text = json.dumps(cassette, indent=2, ensure_ascii=False)
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(f"{text}\n", encoding="utf-8")


if __name__ == "__main__":
    main()
