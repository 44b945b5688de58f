"""A config says everything in one file, and every mistake in it is named."""

from __future__ import annotations

import ast
import inspect
import sys
from dataclasses import MISSING, asdict, fields
from decimal import Decimal
from itertools import pairwise
from typing import TYPE_CHECKING

import pytest

from situate.config import SECTIONS, keys, load, load_cutting
from situate.errors import ConfigError
from situate.readers import Limits

if TYPE_CHECKING:
    from pathlib import Path

    from situate.config import Config

LEAST = """
[corpus]
name = "handbook"
documents = ["docs/*.md"]
[output]
path = "out/handbook.jsonl"
"""


def read(folder: Path, text: str, **environment: str) -> Config:
    """Load a config with this text."""
    path = folder / "handbook.toml"
    path.write_text(text, "utf-8")
    (config,) = load([path], environment=environment)
    return config


def complaint(folder: Path, text: str, **environment: str) -> str:
    """Give what loading this text complains about."""
    with pytest.raises(ConfigError) as caught:
        read(folder, text, **environment)
    return str(caught.value)


def test_a_corpus_needs_a_name_documents_and_an_output(tmp_path: Path) -> None:
    """Everything else has a default."""
    config = read(tmp_path, LEAST)

    assert config.corpus.name == "handbook"
    assert config.corpus.documents == ("docs/*.md",)
    assert config.chunking.max_tokens == 512
    assert config.enrichment.enabled is False


def test_missing_keys_are_named_together(tmp_path: Path) -> None:
    """One message tells all that a file lacks."""
    message = complaint(tmp_path, "")

    assert "handbook.toml: 3 problems" in message
    for key in ("corpus.name", "corpus.documents", "output.path"):
        assert f"{key} is missing" in message


def test_paths_are_relative_to_the_file(tmp_path: Path) -> None:
    """A config works from any working directory, defaults included."""
    config = read(tmp_path, LEAST)

    assert config.output.path == tmp_path / "out" / "handbook.jsonl"
    assert config.cache.directory == tmp_path / ".situate" / "cache"


def test_what_a_run_writes_stands_beside_the_chunks(tmp_path: Path) -> None:
    """Blocks, manifest and ledger bear the name of the chunks file."""
    config = read(tmp_path, LEAST)

    assert [path.name for path in config.output.files] == [
        "handbook.jsonl",
        "handbook.blocks.jsonl",
        "handbook.manifest.json",
        "handbook.ledger.jsonl",
    ]


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        pytest.param(
            "[chunking]\nmax_token = 64",
            "chunking.max_token is no key; nearest: chunking.max_tokens",
            id="misspelt key",
        ),
        pytest.param(
            "[chunking]\nmodel = 'x'",
            "chunking.model is no key; nearest: enrichment.model",
            id="key of another section",
        ),
        pytest.param(
            "[chunkin]\nmax_tokens = 64",
            "[chunkin] is no section; nearest: [chunking]",
            id="misspelt section",
        ),
        pytest.param(
            "[chunking]\nmax_tokens = 31",
            "chunking.max_tokens is 31; allowed: a whole number from 32 to 1,000,000",
            id="too small",
        ),
        pytest.param(
            "[chunking]\nmax_tokens = '64'",
            "chunking.max_tokens is '64'; allowed: a whole number",
            id="text for a number",
        ),
        pytest.param(
            "[chunking]\nmax_tokens = 64.0",
            "chunking.max_tokens is 64.0; allowed: a whole number",
            id="fraction for a whole number",
        ),
        pytest.param(
            "[chunking]\nmax_tokens = true",
            "chunking.max_tokens is True; allowed: a whole number",
            id="switch for a number",
        ),
        pytest.param(
            "[chunking]\ngranularity = 'leafs'",
            "chunking.granularity is 'leafs'; allowed: 'leaves' or 'tree'",
            id="none of the choices",
        ),
        pytest.param(
            "[enrichment]\nprovider = 'scripted'",
            "enrichment.provider is 'scripted'; allowed: 'anthropic' or 'openai' or",
            id="no provider",
        ),
        pytest.param(
            "[enrichment]\nenabled = 'yes'",
            "enrichment.enabled is 'yes'; allowed: true or false",
            id="text for a switch",
        ),
        pytest.param(
            "[enrichment]\nmax_usd = '5'",
            "enrichment.max_usd is '5'; allowed: dollars",
            id="text for dollars",
        ),
        pytest.param(
            "[enrichment]\nmax_usd = nan",
            "enrichment.max_usd is nan; allowed: dollars",
            id="no number",
        ),
        pytest.param(
            "[enrichment]\ntimeout_seconds = inf",
            "enrichment.timeout_seconds is inf; allowed: a number of seconds",
            id="endless",
        ),
        pytest.param(
            "[enrichment]\nmax_fallback_share = 1.5",
            "enrichment.max_fallback_share is 1.5; allowed: a number from 0 to 1",
            id="share above all",
        ),
        pytest.param(
            '[enrichment]\nmodel = "a\\nb"',
            "enrichment.model is 'a\\nb'; allowed: a text of one line",
            id="two lines",
        ),
        pytest.param(
            "[cache]\ndirectory = ' '",
            "cache.directory is ' '; allowed: the path of a folder",
            id="blank path",
        ),
        pytest.param(
            "[chunking]\nmin_tokens = 513",
            "chunking.min_tokens is 513, above chunking.max_tokens, which is 512",
            id="more than most",
        ),
        pytest.param(
            "[chunking]\ncontainer_max_tokens = 900",
            "chunking.container_max_tokens has no effect with",
            id="ignored size",
        ),
        pytest.param(
            "[enrichment]\nreplay = 'x.jsonl'",
            "enrichment.replay has no effect without provider 'replay'",
            id="ignored cassette",
        ),
        pytest.param(
            "[enrichment]\nprovider = 'replay'\nbase_url = 'http://localhost/v1'",
            "enrichment.base_url has no effect with provider 'replay'",
            id="ignored address",
        ),
        pytest.param(
            "[embedder]\nwindow = 669",
            "embedder.window is 669, but an embed text may take 670 tokens",
            id="above the window",
        ),
        pytest.param(
            "[corpus]\nname = 'again'",
            "is not TOML: ",
            id="section twice",
        ),
    ],
)
def test_a_mistake_is_named_with_what_is_allowed(
    tmp_path: Path, line: str, expected: str
) -> None:
    """The message holds file, key, what was found and what would do."""
    message = complaint(tmp_path, f"{LEAST}\n{line}")

    assert "handbook.toml: " in message
    assert expected in message
    assert "\n" not in message


def test_the_window_may_be_filled_to_its_last_token(tmp_path: Path) -> None:
    """Text, breadcrumb line, statement and two joins fit exactly."""
    config = read(tmp_path, f"{LEAST}\n[embedder]\nwindow = 670")

    assert config.embedder.window == 670


def test_a_key_outside_a_section_is_told_where_to_stand(tmp_path: Path) -> None:
    """TOML takes keys above the first table for keys of the file."""
    message = complaint(tmp_path, f"tokenizer = 'x'\n{LEAST}")

    assert "tokenizer stands outside a section; put it under [chunking]" in message


def test_enrichment_needs_to_know_whom_and_what_to_ask(tmp_path: Path) -> None:
    """The switch alone is not enough."""
    message = complaint(tmp_path, f"{LEAST}\n[enrichment]\nenabled = true")

    for key in ("provider", "model", "prompt"):
        assert f"enrichment.{key} is missing; it is needed when enabled" in message


def test_a_number_of_dollars_keeps_its_digits(tmp_path: Path) -> None:
    """Money is decimal from the file on."""
    config = read(tmp_path, f"{LEAST}\n[enrichment]\nmax_usd = 5.10")

    assert config.enrichment.max_usd == Decimal("5.1")


@pytest.mark.parametrize(
    "key", ["api_key", "apikey", "token", "secret_key", "password", "authorization"]
)
def test_a_secret_is_refused_and_not_repeated(tmp_path: Path, key: str) -> None:
    """Keys come from the environment and are in no message."""
    message = complaint(tmp_path, f"{LEAST}\n[enrichment]\n{key} = 'sk-very-secret'")

    assert f"enrichment.{key} looks like a secret" in message
    assert "ANTHROPIC_API_KEY or OPENAI_API_KEY" in message
    assert "sk-very-secret" not in message


@pytest.mark.parametrize(
    "address",
    [
        "http://user:hidden@localhost/v1",
        "http://localhost/v1?key=hidden",
        "http://localhost/v1#hidden",
    ],
)
def test_an_address_with_a_secret_is_refused_unseen(
    tmp_path: Path, address: str
) -> None:
    """An address may carry a password; then it is not quoted."""
    message = complaint(tmp_path, f"{LEAST}\n[enrichment]\nbase_url = '{address}'")

    assert "enrichment.base_url is an address with a user, query or fragment" in message
    assert "hidden" not in message


@pytest.mark.parametrize(
    "address",
    [
        *("localhost:80", "ftp://localhost", "http://", "x"),
        *("http://127.1:80/v1", "http://localhost/a/../v1", "http://b\u00fccher.test"),
    ],
)
def test_an_address_has_to_be_one(tmp_path: Path, address: str) -> None:
    """Only http and https servers can be asked, by an address with one reading."""
    message = complaint(tmp_path, f"{LEAST}\n[enrichment]\nbase_url = '{address}'")

    assert f"enrichment.base_url is {address!r}; allowed: an address" in message


def test_the_environment_wins_over_the_file(tmp_path: Path) -> None:
    """Variables are named for section and key and written as in TOML."""
    config = read(
        tmp_path,
        f"{LEAST}\n[chunking]\nmax_tokens = 100",
        SITUATE_CHUNKING_MAX_TOKENS="200",
        SITUATE_CORPUS_NAME="2024",
        SITUATE_CORPUS_DOCUMENTS='["a.md", "b.md"]',
        SITUATE_ENRICHMENT_MAX_USD="0.5",
    )

    assert config.chunking.max_tokens == 200
    assert config.corpus.name == "2024"
    assert config.corpus.documents == ("a.md", "b.md")
    assert config.enrichment.max_usd == Decimal("0.5")


def test_one_glob_in_the_environment_needs_no_brackets(tmp_path: Path) -> None:
    """A list of one is written as the one."""
    config = read(tmp_path, LEAST, SITUATE_CORPUS_DOCUMENTS="docs/**/*.md")

    assert config.corpus.documents == ("docs/**/*.md",)


def test_a_path_in_the_environment_is_relative_to_the_working_directory(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whoever sets a variable thinks of where they stand."""
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    monkeypatch.chdir(elsewhere)

    config = read(tmp_path, LEAST, SITUATE_OUTPUT_PATH="x.jsonl")

    assert config.output.path == elsewhere / "x.jsonl"


@pytest.mark.parametrize(
    ("variable", "value", "expected"),
    [
        pytest.param(
            "SITUATE_CHUNKING_MAX_TOKEN",
            "64",
            "SITUATE_CHUNKING_MAX_TOKEN: chunking.max_token is no key; "
            "nearest: chunking.max_tokens",
            id="unknown",
        ),
        pytest.param(
            "SITUATE_CHUNKING_MAX_TOKENS",
            "many",
            "SITUATE_CHUNKING_MAX_TOKENS: chunking.max_tokens is 'many'; allowed",
            id="not allowed",
        ),
        pytest.param(
            "SITUATE_CHUNKING_MAX_TOKENS",
            "64\nmin_tokens = 1",
            "SITUATE_CHUNKING_MAX_TOKENS: chunking.max_tokens is '64\\nmin_tokens",
            id="two keys in one",
        ),
        pytest.param(
            "SITUATE_ENRICHMENT_API_KEY",
            "sk-very-secret",
            "SITUATE_ENRICHMENT_API_KEY: enrichment.api_key looks like a secret",
            id="secret",
        ),
    ],
)
def test_a_mistake_in_the_environment_names_the_variable(
    tmp_path: Path, variable: str, value: str, expected: str
) -> None:
    """A misspelt variable would otherwise be ignored in silence."""
    message = complaint(tmp_path, LEAST, **{variable: value})

    assert expected in message
    assert "sk-very-secret" not in message


def test_variables_that_name_no_section_are_not_ours(tmp_path: Path) -> None:
    """Tests and other tools may use the same first word."""
    config = read(tmp_path, LEAST, SITUATE_REGENERATE="1", SITUATE_HOME="/x")

    assert config.chunking == keys.ChunkingConfig()


def test_a_flag_wins_over_the_environment() -> None:
    """The nearest word counts; what was not given does not."""
    cutting = load_cutting(
        {"max_tokens": 100, "min_tokens": None},
        environment={
            "SITUATE_CHUNKING_MAX_TOKENS": "200",
            "SITUATE_CHUNKING_MIN_TOKENS": "10",
            "SITUATE_PREFIX_MAX_TOKENS": "20",
        },
    )

    assert cutting.chunking.max_tokens == 100
    assert cutting.chunking.min_tokens == 10
    assert cutting.prefix.max_tokens == 20


def test_a_flag_that_is_not_allowed_is_named() -> None:
    """The message names what was typed."""
    with pytest.raises(ConfigError, match=r"^--max-tokens: chunking.max_tokens is 5"):
        load_cutting({"max_tokens": 5}, environment={})


def test_several_configs_are_checked_before_any_is_used(tmp_path: Path) -> None:
    """A mistake in the last is found with that in the first."""
    first, second = tmp_path / "first.toml", tmp_path / "second.toml"
    first.write_text(LEAST.replace("name", "nam"), "utf-8")
    second.write_text(f"{LEAST}\n[prefix]\nmax_tokens = -1", "utf-8")

    with pytest.raises(ConfigError) as caught:
        load([first, second], environment={})

    assert "first.toml: 2 problems" in str(caught.value)
    assert "second.toml: prefix.max_tokens is -1" in str(caught.value)


def test_two_configs_may_not_share_a_name_or_an_output(tmp_path: Path) -> None:
    """The second would overwrite the first."""
    first, second = tmp_path / "first.toml", tmp_path / "second.toml"
    first.write_text(LEAST, "utf-8")
    second.write_text(LEAST.replace("handbook.jsonl", "../out/handbook.jsonl"), "utf-8")

    with pytest.raises(ConfigError) as caught:
        load([first, second], environment={})

    assert "second.toml: corpus.name is 'handbook', as in" in str(caught.value)
    assert "second.toml: output.path would write" in str(caught.value)


def test_what_belongs_to_an_output_is_nobody_elses(tmp_path: Path) -> None:
    """The blocks of one corpus may not be the chunks of another."""
    first, second = tmp_path / "first.toml", tmp_path / "second.toml"
    first.write_text(LEAST, "utf-8")
    second.write_text(
        LEAST.replace('"handbook"', '"other"').replace(
            "handbook.jsonl", "handbook.blocks.jsonl"
        ),
        "utf-8",
    )

    with pytest.raises(ConfigError, match=r"output\.path would write"):
        load([first, second], environment={})


def test_two_names_that_may_be_one_file_are_one_output(tmp_path: Path) -> None:
    """Some file systems ignore case; a config is meant for any machine."""
    first, second = tmp_path / "first.toml", tmp_path / "second.toml"
    first.write_text(LEAST, "utf-8")
    second.write_text(
        LEAST.replace('"handbook"', '"other"').replace(
            "handbook.jsonl", "Handbook.jsonl"
        ),
        "utf-8",
    )

    with pytest.raises(ConfigError, match=r"output\.path would write"):
        load([first, second], environment={})


@pytest.mark.skipif(sys.platform == "win32", reason="links need rights there")
def test_a_link_as_output_is_the_file_it_leads_to(tmp_path: Path) -> None:
    """What belongs to the chunks stands beside them, not beside the link."""
    (tmp_path / "real").mkdir()
    (tmp_path / "link.jsonl").symlink_to(tmp_path / "real" / "a.jsonl")

    config = read(tmp_path, LEAST.replace("handbook.jsonl", "../link.jsonl"))

    assert config.output.beside("blocks.jsonl") == tmp_path / "real" / "a.blocks.jsonl"


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        pytest.param(b"\xff\xfe", "is not UTF-8", id="bytes"),
        pytest.param(b"[corpus\n", "is not TOML: ", id="broken"),
        pytest.param(b"x = " + b"[" * 5000, "is not TOML: ", id="nested"),
    ],
)
def test_a_file_that_is_no_toml_is_named(
    tmp_path: Path, content: bytes, expected: str
) -> None:
    """Whatever stands in the file, one sentence says what is wrong."""
    path = tmp_path / "bad.toml"
    path.write_bytes(content)

    with pytest.raises(ConfigError, match=f"bad.toml: {expected}"):
        load([path], environment={})


def test_a_file_that_is_not_there_is_named(tmp_path: Path) -> None:
    """So is a folder."""
    missing = tmp_path / "none.toml"

    with pytest.raises(ConfigError) as caught:
        load([missing, tmp_path], environment={})

    assert f"{missing}: cannot be read: No such file" in str(caught.value)
    assert f"{tmp_path}: cannot be read: it is a folder, a d" in str(caught.value)


def test_a_byte_order_mark_is_no_mistake(tmp_path: Path) -> None:
    """Editors on Windows put one there."""
    config = read(tmp_path, f"\ufeff{LEAST}")

    assert config.corpus.name == "handbook"


def test_the_hash_tells_what_decides_the_output(tmp_path: Path) -> None:
    """Where output goes and how fast it is made are no part of it."""
    plain = read(tmp_path, LEAST).hash
    elsewhere = read(
        tmp_path,
        LEAST.replace("out/", "other/")
        + "[cache]\ndirectory = 'x'\n[enrichment]\nconcurrency = 1",
    ).hash
    smaller = read(tmp_path, f"{LEAST}\n[chunking]\nmax_tokens = 100").hash

    assert plain == elsewhere
    assert plain != smaller


@pytest.mark.parametrize("section", SECTIONS)
def test_every_key_is_explained(section: str) -> None:
    """Each key has a sentence below it in the source."""
    (definition,) = ast.parse(inspect.getsource(SECTIONS[section])).body
    assert isinstance(definition, ast.ClassDef)

    body = definition.body
    explained = {
        above.target.id
        for above, below in pairwise(body)
        if isinstance(above, ast.AnnAssign)
        and isinstance(above.target, ast.Name)
        and isinstance(below, ast.Expr)
    }

    assert explained == {field.name for field in fields(SECTIONS[section])}


def test_only_what_cannot_be_guessed_is_required() -> None:
    """Name, documents and output are the three."""
    required = {
        f"{section}.{field.name}"
        for section, cls in SECTIONS.items()
        for field in fields(cls)
        if field.default is MISSING
    }

    assert required == {"corpus.name", "corpus.documents", "output.path"}


def test_the_limits_of_readers_are_those_of_the_config() -> None:
    """Stated once for those who read files, once for those who configure them."""
    assert asdict(keys.LimitsConfig()) == asdict(Limits())


# ---------------------------------------------------------------- a shared cache

SHARED = f"{LEAST}\n[cache]\nbackend = 'redis'\n"


def test_a_password_of_a_server_is_refused_in_a_file_and_not_repeated(
    tmp_path: Path,
) -> None:
    """It belongs into the environment, which is named (E14)."""
    message = complaint(tmp_path, f"{SHARED}url = 'redis://:very-secret@host/0'")

    assert "cache.url holds a password" in message
    assert "SITUATE_CACHE_URL" in message
    assert "very-secret" not in message


def test_a_password_of_a_server_comes_from_the_environment(tmp_path: Path) -> None:
    """The whole address stands there, and no text shows the password."""
    url = "rediss://situate:very-secret@cache.example.com/2"

    config = read(tmp_path, SHARED, SITUATE_CACHE_URL=url)

    assert str(config.cache.place) == "rediss://situate@cache.example.com:6379/2"
    assert "very-secret" not in repr(config)


@pytest.mark.parametrize(
    "url",
    [
        "redis//:very-secret@host",
        "http://:very-secret@host",
        "redis://:very-secret@host/0?ssl_cert_reqs=none",
        "redis://:very-secret@a@host",
        "redis://very-secret@host/0",
    ],
)
def test_an_address_of_a_server_that_is_none_is_refused_unseen(
    tmp_path: Path, url: str
) -> None:
    """It may carry a password all the same."""
    message = complaint(tmp_path, SHARED, SITUATE_CACHE_URL=url)

    assert "cache.url is an address with a user" in message
    assert "very-secret" not in message


@pytest.mark.parametrize(
    ("keys", "problem"),
    [
        ("backend = 'redis'", "cache.url is missing"),
        ("url = 'redis://host'", "cache.url has no effect with backend 'disk'"),
        ("backend = 'memcached'", "'disk' or 'redis'"),
        ("backend = 'redis'\nurl = 'redis://host/zero'", "redis://host:6379/0"),
        ("backend = 'redis'\nurl = 'redis://host:70000'", "redis://host:6379/0"),
    ],
)
def test_a_shared_cache_that_contradicts_itself_is_refused(
    tmp_path: Path, keys: str, problem: str
) -> None:
    """Nobody believes that machines share what they do not."""
    assert problem in complaint(tmp_path, f"{LEAST}\n[cache]\n{keys}")
