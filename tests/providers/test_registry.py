"""Config names a provider; what is wrong with it is said before any work."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from situate.enrichment.providers import open_provider
from situate.errors import AuthenticationFailed, ConfigError

if TYPE_CHECKING:
    from pathlib import Path

    from situate.enrichment.exchange import Provider
    from tests.support.vendors import Vendor


def opened(name: str, **settings: Any) -> Provider:
    """Open a provider with what config says by default."""
    usual: dict[str, Any] = {
        "model": "m",
        "base_url": None,
        "endpoint": None,
        "timeout_seconds": 60,
        "replay": None,
    }
    return open_provider(name, **(usual | settings))


def test_a_vendor_is_opened_by_its_name(vendor: Vendor) -> None:
    """The name in config is the name in records."""
    assert opened(vendor.name).name == vendor.name


@pytest.mark.parametrize(
    ("name", "hint"),
    [
        ("antropic", "did you mean 'anthropic'"),
        ("OpenAI", "did you mean 'openai'"),
        ("zzz", "there are anthropic, openai, replay"),
        ("scripted", "there are anthropic, openai, replay"),
        ("", "there are anthropic, openai, replay"),
    ],
)
def test_an_unknown_name_is_an_error_with_the_nearest(name: str, hint: str) -> None:
    """A slip in config is found before any work."""
    with pytest.raises(ConfigError, match=f"{name!r} is unknown; {hint}"):
        opened(name)


def test_a_missing_key_is_found_before_any_work(
    vendor: Vendor, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The message names the variable to set."""
    monkeypatch.delenv(vendor.variable)

    with pytest.raises(AuthenticationFailed, match=f"set {vendor.variable}, or"):
        opened(vendor.name).check()


@pytest.mark.parametrize(
    ("text", "words"),
    [(None, "cannot be read"), ("", "empty file"), ("\n ", "empty file")],
    ids=["missing", "empty", "blank"],
)
def test_a_key_file_without_a_key_is_found_before_any_work(
    vendor: Vendor,
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
    text: str | None,
    words: str,
) -> None:
    """A secret that was not mounted is no reason to send without one."""
    mounted = tmp_path / "key"
    if text is not None:
        mounted.write_text(text, encoding="utf-8")
    monkeypatch.delenv(vendor.variable)
    monkeypatch.setenv(f"{vendor.variable}_FILE", str(mounted))

    with pytest.raises(AuthenticationFailed, match=words):
        opened(vendor.name).check()


@pytest.mark.parametrize("key", ["sk-one\nsk-two", "sk one", "sk-\u00e4", "sk-\x00"])
def test_a_key_that_is_none_is_named_by_its_variable_only(
    vendor: Vendor, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, key: str
) -> None:
    """What cannot stand in a header is refused, and never repeated."""
    (tmp_path / "key").write_text(key, encoding="utf-8")
    monkeypatch.delenv(vendor.variable)
    monkeypatch.setenv(f"{vendor.variable}_FILE", str(tmp_path / "key"))

    with pytest.raises(AuthenticationFailed, match=vendor.variable) as caught:
        opened(vendor.name).check()

    assert "sk" not in str(caught.value)


@pytest.mark.parametrize(
    "base_url",
    [
        "localhost:8080",
        "127.0.0.1:8080/v1",
        "ftp://host/v1",
        "http://",
        "http://host:port/v1",
        "http://host/v1?key=x",
        "http://host/v1#x",
        "http://[::1/v1",
        "http://127.1/v1",
        "http://host/a/../v1",
        "",
    ],
)
def test_a_base_url_that_is_no_address_is_a_config_error(
    vendor: Vendor, base_url: str
) -> None:
    """Requests could only fail, one after the other."""
    with pytest.raises(ConfigError, match="base_url"):
        opened(vendor.name, base_url=base_url)


def test_a_base_url_holds_no_secret(vendor: Vendor) -> None:
    """The address goes into cache keys and messages; a password does not."""
    with pytest.raises(ConfigError) as caught:
        opened(vendor.name, base_url="https://me:hunter2@host/v1")

    assert "hunter2" not in str(caught.value)


@pytest.mark.parametrize(
    ("settings", "endpoint"),
    [
        ({"base_url": "http://127.0.0.1:8080/v1/"}, "http://127.0.0.1:8080/v1"),
        ({"base_url": "http://127.0.0.1:8080/v1"}, "http://127.0.0.1:8080/v1"),
        ({"base_url": "http://10.0.0.7:80", "endpoint": "cluster"}, "cluster"),
        ({"endpoint": "vendor"}, "vendor"),
    ],
    ids=["slash", "no slash", "named", "vendor named"],
)
def test_the_endpoint_is_the_configured_name_or_the_address(
    vendor: Vendor, settings: dict[str, str], endpoint: str
) -> None:
    """A name keeps the cache when a server moves to another address."""
    assert opened(vendor.name, **settings).endpoint == endpoint


def test_the_endpoint_of_a_vendor_is_its_own_address() -> None:
    """Cache keys say who answered when config says nothing."""
    assert opened("anthropic").endpoint == "https://api.anthropic.com"
    assert opened("openai").endpoint == "https://api.openai.com/v1"
