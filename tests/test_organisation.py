"""What an organisation allows, and that no spelling of an address gets around it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from situate import organisation
from situate.addresses import read_address
from situate.errors import ConfigError
from situate.organisation import VARIABLE, Egress, read_egress

if TYPE_CHECKING:
    from pathlib import Path

MODEL = "claude-haiku-5-5"
URL = "https://api.anthropic.com"


def egress(folder: Path, text: str) -> Egress:
    """Read what an organisation's file says."""
    path = folder / "organisation.toml"
    path.write_text(text, "utf-8")
    return read_egress({VARIABLE: str(path)})


def allows_url(folder: Path, listed: str, asked: str) -> bool:
    """Say whether a file that lists one address lets text go to another."""
    bounds = egress(folder, f"[egress]\nbase_urls = ['{listed}']")
    return bounds.about_address(asked) is None


SAME = [
    ("https://api.example.com", "https://api.example.com/"),
    ("https://api.example.com", "https://API.Example.COM"),
    ("https://api.example.com", "HTTPS://api.example.com"),
    ("https://api.example.com", "https://api.example.com:443"),
    ("https://api.example.com", "https://api.example.com:0443/v1"),
    ("https://api.example.com", "https://api.example.com:/v1"),
    ("https://api.example.com", "https://api.example.com./v1"),
    ("http://127.0.0.1:8080", "http://127.0.0.1:8080/v1/"),
    ("https://gate.example.com/team-a", "https://gate.example.com/team-a/v1"),
    ("https://gate.example.com/team-a/", "https://gate.example.com/team%2Da"),
    ("https://gate.example.com/%7Ea", "https://gate.example.com/~a/v1"),
    ("http://[::1]:8080", "http://[0:0:0:0:0:0:0:1]:8080/v1"),
    ("https://xn--bcher-kva.example", "https://XN--BCHER-KVA.example/v1"),
]

OTHER = [
    ("https://api.example.com", "http://api.example.com"),
    ("https://api.example.com", "https://api.example.com:8443"),
    ("https://api.example.com", "https://api.example.com.evil.test"),
    ("https://api.example.com", "https://evil.test/api.example.com"),
    ("https://api.example.com", "https://api.example.com@evil.test"),
    ("https://api.example.com", "https://user:word@api.example.com"),
    ("https://api.example.com", "https://api.example.com:443@evil.test"),
    ("https://api.example.com", "https://evil.test\\@api.example.com"),
    ("https://api.example.com", "https://evil.test\\.api.example.com"),
    ("https://api.example.com", "https:///api.example.com"),
    ("https://api.example.com", "https:api.example.com"),
    ("https://api.example.com", "//api.example.com"),
    ("https://api.example.com", "https://api.example.com%2eevil.test"),
    ("https://api.example.com", "https://evil.test#https://api.example.com"),
    ("https://api.example.com", "https://evil.test?https://api.example.com"),
    ("https://api.example.com", "https://api.example.com\t.evil.test"),
    ("https://api.example.com", " https://api.example.com"),
    ("https://api.example.com", "https://api.example.com\n"),
    ("https://api.example.com", "https://\u0430pi.example.com"),
    ("https://api.example.com", "https://api.example\u3002com"),
    ("https://api.example.com", "https://\uff41pi.example.com"),
    ("https://kelvin.example.com", "https://\u212aelvin.example.com"),
    ("https://strasse.example", "https://stra\u00dfe.example"),
    ("https://api.example.com", "https://api..example.com"),
    ("https://api.example.com", "https://api.example.com.."),
    ("https://api.example.com", "https://api.example.com:99999"),
    ("https://api.example.com", "https://api.example.com:\u0664\u0664\u0663"),
    ("https://api.example.com", "ftp://api.example.com"),
    ("https://api.example.com", "unix:///var/run/api.example.com"),
    ("https://api.example.com", ""),
    ("http://127.0.0.1:8080", "http://127.1:8080"),
    ("http://127.0.0.1:8080", "http://2130706433:8080"),
    ("http://127.0.0.1:8080", "http://0x7f000001:8080"),
    ("http://127.0.0.1:8080", "http://127.0.0.01:8080"),
    ("http://127.0.0.1:8080", "http://[::ffff:127.0.0.1]:8080"),
    ("http://127.0.0.1:8080", "http://localhost:8080"),
    ("http://[::1]:8080", "http://[::1%25eth0]:8080"),
    ("https://gate.example.com/team-a", "https://gate.example.com"),
    ("https://gate.example.com/team-a", "https://gate.example.com/team-ab"),
    ("https://gate.example.com/team-a", "https://gate.example.com/Team-A"),
    ("https://gate.example.com/team-a", "https://gate.example.com/team-a/../b"),
    ("https://gate.example.com/team-a", "https://gate.example.com/team-a/%2e%2E/b"),
    ("https://gate.example.com/team-a", "https://gate.example.com/team-a/.%2e/b"),
    ("https://gate.example.com/team-a", "https://gate.example.com/team-a/..%2fb"),
    ("https://gate.example.com/team-a", "https://gate.example.com/team-a/..;x/b"),
    ("https://gate.example.com/team-a", "https://gate.example.com/team-a/%252e/b"),
    ("https://gate.example.com/team-a", "https://gate.example.com/team-a%2f..%2fb"),
    ("https://gate.example.com/team-a", "https://gate.example.com/team-a%5c..%5cb"),
    ("https://gate.example.com/team-a", "https://gate.example.com//team-a"),
    ("https://gate.example.com/team-a", "https://gate.example.com/team-a//../b"),
    ("https://gate.example.com/team-a", "https://gate.example.com/b/../team-a"),
    ("https://gate.example.com/team-a", "https://gate.example.com/./team-a"),
    ("https://gate.example.com/team-a", "https://gate.example.com/team-a%00"),
    ("https://gate.example.com/team-a", "https://gate.example.com/team%"),
]


@pytest.mark.parametrize(("listed", "asked"), SAME)
def test_an_address_is_known_in_every_harmless_spelling(
    tmp_path: Path, listed: str, asked: str
) -> None:
    """Case of the host, default ports, slashes at the end make no difference."""
    assert allows_url(tmp_path, listed, asked)


@pytest.mark.parametrize(("listed", "asked"), OTHER)
def test_no_spelling_of_another_address_slips_through(
    tmp_path: Path, listed: str, asked: str
) -> None:
    """What could be read in two ways is refused as well."""
    assert not allows_url(tmp_path, listed, asked)


@given(st.text("/.@:#?\\%2eE5cF;-ab 0[]\t\u3002", max_size=14))
def test_whatever_follows_a_host_stays_on_that_host(rest: str) -> None:
    """What is let through is read by the client's own parser as the same server."""
    import httpx2

    listed = read_address("https://api.example.com")
    url = f"https://api.example.com{rest}"
    try:
        is_covered = listed.covers(read_address(url))
    except ValueError:
        return

    if is_covered:
        parsed = httpx2.URL(url)
        origin = (parsed.scheme, parsed.host.removesuffix("."), parsed.port or 443)
        assert origin == ("https", "api.example.com", 443)


def test_without_a_file_everything_is_allowed() -> None:
    """Organisations that say nothing bound nothing."""
    found = read_egress({})

    assert found.objection(url=URL, model=MODEL, mode="batch") is None


def test_a_key_that_is_absent_bounds_nothing(tmp_path: Path) -> None:
    """Each key speaks for itself alone."""
    found = egress(tmp_path, "[egress]\nmodels = ['claude-*']")

    assert (
        found.objection(url="http://127.0.0.1:9/v1", model=MODEL, mode="batch") is None
    )
    assert found.about_model("gpt-6-luna", "live") is not None


@pytest.mark.parametrize("key", ["base_urls", "models"])
def test_an_empty_list_allows_nothing(tmp_path: Path, key: str) -> None:
    """It is not the same as saying nothing."""
    found = egress(tmp_path, f"[egress]\n{key} = []")

    assert found.objection(url=URL, model=MODEL, mode="live") is not None


@pytest.mark.parametrize(
    ("listed", "asked", "is_allowed"),
    [
        ("claude-haiku-5-5", "claude-haiku-5-5", True),
        ("claude-*", "claude-haiku-5-5", True),
        ("claude-haiku-5-?", "claude-haiku-5-5", True),
        ("odd[1]", "odd[1]", True),
        ("claude-haiku-5-5", "Claude-Haiku-5-5", False),
        ("claude-haiku-5-5", "claude-haiku-5-5-preview", False),
        ("claude-*", "gpt-6/claude-haiku", False),
        ("claude-haiku-5-5", " claude-haiku-5-5", False),
    ],
)
def test_models_are_names_or_patterns(
    tmp_path: Path, listed: str, asked: str, is_allowed: bool
) -> None:
    """Case counts, and nothing but a pattern stands for more than itself."""
    found = egress(tmp_path, f"[egress]\nmodels = ['{listed}']")

    assert (found.about_model(asked, "live") is None) is is_allowed


def test_batch_false_refuses_batches_alone(tmp_path: Path) -> None:
    """Files of a batch stay with a vendor for longer than a question does."""
    found = egress(tmp_path, "[egress]\nbatch = false")

    assert found.about_model(MODEL, "live") is None
    assert "egress.batch" in str(found.about_model(MODEL, "batch"))


def test_where_there_are_two_files_both_have_to_allow(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A variable that anybody sets does not widen what the machine's file says."""
    fixed = tmp_path / "fixed.toml"
    fixed.write_text("[egress]\nmodels = ['claude-*', 'gpt-*']", "utf-8")
    monkeypatch.setattr(organisation, "FIXED_PATH", fixed)

    found = egress(tmp_path, "[egress]\nmodels = ['gpt-*', 'qwen-*']")

    assert found.about_model("gpt-6", "live") is None
    assert str(fixed) in str(found.about_model("qwen-3", "live"))
    assert "organisation.toml" in str(found.about_model("claude-5", "live"))


def test_the_fixed_file_counts_without_any_variable(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Unsetting a variable widens nothing."""
    fixed = tmp_path / "fixed.toml"
    fixed.write_text("[egress]\nbase_urls = []", "utf-8")
    monkeypatch.setattr(organisation, "FIXED_PATH", fixed)

    assert read_egress({}).about_address(URL) is not None


def test_a_fixed_file_that_cannot_be_read_allows_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A link to nowhere is there, and is no reason to send."""
    fixed = tmp_path / "fixed.toml"
    fixed.symlink_to(tmp_path / "gone.toml")
    monkeypatch.setattr(organisation, "FIXED_PATH", fixed)

    with pytest.raises(ConfigError, match=r"fixed\.toml: cannot be read"):
        read_egress({})


@pytest.mark.parametrize("named", ["", "  ", "missing.toml", "."])
def test_a_variable_that_names_no_file_closes(tmp_path: Path, named: str) -> None:
    """Set but unreadable is closed, not open."""
    path = str(tmp_path / named) if named.strip() else named

    with pytest.raises(ConfigError):
        read_egress({VARIABLE: path})


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", "has no section [egress]"),
        ("egress = 1", "has no section [egress]"),
        ("[egres]\nbatch = false", "'egres' is no section; nearest: [egress]"),
        ("[egress]\nmodel = []", "egress.model is no key; nearest: egress.models"),
        ("[egress]\nbase_url = []", "nearest: egress.base_urls"),
        ("[egress]\nbatch = 0", "egress.batch is 0; allowed: true or false"),
        ("[egress]\nmodels = 'gpt-6'", "allowed: a list of texts"),
        ("[egress]\nmodels = [1]", "egress.models holds what is no text"),
        ("[egress]\nmodels = [' ']", "or a blank one"),
        ("[egress]\nbase_urls = ['api.openai.com']", "not a plain http(s) address"),
        ("[egress]\nbase_urls = ['https://*.openai.com']", "not a plain http(s)"),
        ("[egress]\nbase_urls = ['https://b\u00fccher.example']", "xn-- form"),
        ("[egress", "is not TOML"),
    ],
)
def test_a_file_that_says_what_nobody_understands_closes(
    tmp_path: Path, text: str, words: str
) -> None:
    """One line names the file, what is wrong and what would be right."""
    with pytest.raises(ConfigError) as caught:
        egress(tmp_path, text)

    message = str(caught.value)
    assert words in message
    assert message.startswith(str(tmp_path / "organisation.toml"))
    assert "\n" not in message
