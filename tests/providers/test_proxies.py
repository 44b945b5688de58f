"""The proxy that is named is the one that clients go through."""

from __future__ import annotations

import httpx2
import pytest

from situate.enrichment.providers.proxies import proxy_for

HOST = "https://api.example.com/v1"


@pytest.mark.parametrize(
    ("variables", "url", "expected"),
    [
        ({}, HOST, None),
        ({"HTTPS_PROXY": "http://proxy.test:3128"}, HOST, "http://proxy.test:3128"),
        ({"https_proxy": "proxy.test:3128"}, HOST, "http://proxy.test:3128"),
        ({"ALL_PROXY": "socks5://proxy.test"}, HOST, "socks5://proxy.test"),
        ({"HTTP_PROXY": "http://proxy.test"}, HOST, None),
        ({"HTTPS_PROXY": "http://me:pass@proxy.test:1/"}, HOST, "http://proxy.test:1"),
    ],
    ids=["none", "https", "without-scheme", "all", "other-scheme", "with-password"],
)
def test_a_proxy_of_the_environment_is_named_without_its_password(
    monkeypatch: pytest.MonkeyPatch,
    variables: dict[str, str],
    url: str,
    expected: str | None,
) -> None:
    """Scheme, host and port are all that is said of it."""
    for name, value in variables.items():
        monkeypatch.setenv(name, value)

    assert proxy_for(url) == expected


@pytest.mark.parametrize(
    "url",
    [
        HOST,
        "https://example.com",
        "https://otherexample.com",
        "http://localhost:8000/v1",
        "http://a.localhost/v1",
        "http://127.0.0.1:8000/v1",
        "http://10.1.2.3/v1",
        "http://[::1]:8000/v1",
    ],
)
@pytest.mark.parametrize(
    "exceptions",
    [
        "*",
        "example.com",
        ".example.com",
        "*.example.com",
        "EXAMPLE.com, localhost",
        "https://example.com",
        "https://*example.com",
        "http://",
        "all://localhost:8000",
        "example.com:443",
        "127.0.0.1",
        "10.0.0.0/8,::1",
        "::/0",
        "localhost:8000",
    ],
)
def test_exceptions_are_those_of_the_client(
    monkeypatch: pytest.MonkeyPatch, exceptions: str, url: str
) -> None:
    """Held to httpx2 itself, which both vendors' SDKs send with."""
    monkeypatch.setenv("ALL_PROXY", "http://proxy.test:3128")
    monkeypatch.setenv("NO_PROXY", exceptions)

    with httpx2.Client() as client:
        is_direct = client._transport_for_url(httpx2.URL(url)) is client._transport

    assert (proxy_for(url) is None) == is_direct
