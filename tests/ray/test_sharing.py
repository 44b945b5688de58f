"""Several workers together keep what one config says, and tell what they spent."""

from __future__ import annotations

import json
from dataclasses import replace
from decimal import Decimal
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from situate.config import load
from situate.enrichment.budget import NOTHING, Committed
from situate.errors import ConfigError
from situate.manifest import NOTHING_SPENT, Spent
from situate.ray import shared
from situate.ray.register import Register
from situate.ray.spending import from_json, since, to_json, together
from situate.usage import Usage
from tests.support.corpora import Corpus, asking

if TYPE_CHECKING:
    from pathlib import Path

    from situate.config import Config

_WHOLE = st.integers(0, 10**6)
_USD = st.none() | st.decimals(-100, 100, places=6)
_SPENT = st.builds(
    Spent,
    requests=_WHOLE,
    attempts=_WHOLE,
    cache_hits=_WHOLE,
    usage=st.builds(Usage, uncached_input=_WHOLE, output=_WHOLE, thinking=_WHOLE),
    cost_usd=_USD,
    saved_usd=_USD,
    trimmed=_WHOLE,
    stopped=st.none() | st.just("budget: crossed"),
    warnings=st.lists(st.sampled_from("abc"), unique=True).map(sorted).map(tuple),
)


def configured(folder: Path, **keys: object) -> Config:
    """Give a config that asks."""
    corpus = Corpus(folder=folder).configure(enrichment=asking("http://[::1]/", **keys))
    (config,) = load([corpus.config], environment={})
    return config


@pytest.fixture(scope="module")
def limited(tmp_path_factory: pytest.TempPathFactory) -> Config:
    """A config with a limit of each kind."""
    return configured(
        tmp_path_factory.mktemp("corpus"), max_usd=1, model="gpt-5.4-mini"
    )


@given(
    whole=st.fixed_dictionaries(
        {
            "concurrency": st.integers(1, 100),
            "requests_per_minute": st.integers(1, 10_000),
            "tokens_per_minute": st.none() | st.integers(1, 10**9),
            "max_total_tokens": st.integers(1, 10**9),
            "max_usd": st.decimals("0.01", 1000, places=2),
        }
    ),
    workers=st.integers(1, 64),
)
def test_shares_together_are_no_more_than_the_whole(
    limited: Config, whole: dict[str, Any], workers: int
) -> None:
    """And no share is nothing: then it is said that there are too many."""
    config = replace(limited, enrichment=replace(limited.enrichment, **whole))
    limits = {name: most for name, most in whole.items() if most is not None}

    if any(most < workers for name, most in limits.items() if name != "max_usd"):
        with pytest.raises(ConfigError, match=f"among {workers} workers; take fewer"):
            shared(config, workers)
        return
    share = shared(config, workers).enrichment

    for name, most in limits.items():
        assert 0 < Fraction(getattr(share, name)) * workers <= Fraction(most)


def test_what_is_kept_beside_the_answers_is_not_divided(tmp_path: Path) -> None:
    """The limit of a month holds for everybody together."""
    config = configured(tmp_path, max_usd=1, max_usd_month=8, model="gpt-5.4-mini")

    share = shared(config, 4).enrichment

    assert (share.max_usd, share.max_usd_month) == (Decimal("0.25"), 8)


def test_a_rate_that_a_server_keeps_is_not_divided(tmp_path: Path) -> None:
    """What each worker has for itself is, all the same."""
    config = configured(tmp_path, requests_per_minute=90, max_total_tokens=90)
    server = replace(config, cache=replace(config.cache, backend="redis"))

    share = shared(server, 9).enrichment

    assert (share.requests_per_minute, share.max_total_tokens) == (90, 10)


def test_a_vendors_batch_is_not_for_several(tmp_path: Path) -> None:
    """One process hands in and fetches."""
    with pytest.raises(ConfigError, match=r"mode is 'batch': workers ask live"):
        shared(configured(tmp_path, mode="batch"), 2)


def test_who_asks_nobody_shares_nothing(tmp_path: Path) -> None:
    """There is no limit to divide."""
    (config,) = load([Corpus(folder=tmp_path).configure().config], environment={})

    assert shared(config, 1000) == config


@given(before=_SPENT, more=_SPENT)
def test_parts_of_what_was_spent_add_up(before: Spent, more: Spent) -> None:
    """What a worker tells in two parts is what it would tell in one."""
    now = together([before, more])

    parts = [before, since(now, before)]

    assert together(map(from_json, map(to_json, parts))) == now


def test_nothing_is_spent_where_nobody_works() -> None:
    """Dollars included: nobody knows a price."""
    assert together([]) == NOTHING_SPENT


class Ledger:
    """A ledger of a run, as far as a register reads it."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def note(self, usd: str | None, tokens: int) -> None:
        """Append what a request cost."""
        usage: dict[str, Any] = {"uncached_input": tokens, "output": 0}
        with self.path.open("a") as file:
            file.write(json.dumps({"cost_usd": usd, "usage": usage}) + "\n")


@pytest.fixture
def ledger(tmp_path: Path) -> Ledger:
    """A ledger with a request of an earlier run."""
    made = Ledger(tmp_path / "ledger.jsonl")
    made.note("50", 50)
    return made


def committed(usd: str, tokens: int) -> Committed:
    """Say what is gone of a share."""
    return Committed(usd=Decimal(usd), tokens=tokens)


def test_a_worker_in_the_place_of_a_dead_one_has_the_rest_of_its_share(
    ledger: Ledger,
) -> None:
    """E2: what it said, and what stands in the ledger and nobody said was theirs."""
    register = Register(ledger.path, 2)
    entered = [register.enter("a"), register.enter("b")]
    for usd, tokens in (("1", 10), ("2", 20), ("4", 40)):
        ledger.note(usd, tokens)
    register.report("a", committed("1", 10))
    register.report("b", committed("2", 20))

    again = register.enter("a")

    assert entered == [NOTHING, NOTHING]
    assert again == committed("5", 50)


def test_a_worker_of_a_new_name_is_taken_for_the_one_that_spent_most(
    ledger: Ledger,
) -> None:
    """Too much is withheld rather than too little."""
    register = Register(ledger.path, 2)
    register.enter("a")
    register.enter("b")
    ledger.note("3", 30)
    register.report("b", committed("3", 30))

    assert register.enter("c") == committed("3", 30)


def test_half_a_line_of_a_dead_worker_is_no_money(ledger: Ledger) -> None:
    """It was being written when its writer died."""
    register = Register(ledger.path, 1)
    register.enter("a")
    ledger.note("1", 10)
    with ledger.path.open("a") as file:
        file.write('{"cost_usd": "1')

    assert register.enter("a") == committed("1", 10)


def test_what_began_and_did_not_end_is_known(tmp_path: Path) -> None:
    """A document that ends its process is found by it."""
    register = Register(tmp_path / "none.jsonl", 1)

    first, second = register.begin("a.md"), register.begin("a.md")
    register.end("a.md")

    assert (first, second, register.begin("a.md")) == (0, 1, 0)
