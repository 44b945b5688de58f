"""No request that leaves holds what a corpus hides, whatever way it leaves."""

from __future__ import annotations

import importlib
import json
import sys
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest

from situate.config import load
from situate.enrichment.redaction import MARK
from situate.errors import ConfigError
from situate.pipeline import batches
from situate.pipeline.by_file import export
from situate.pipeline.comparison.drafting import drafted
from situate.pipeline.egress import egress_plans
from situate.pipeline.jobs import ready
from situate.pipeline.living.decisive import config_of
from tests.compare.test_model_drafts import wanted
from tests.enrichment.scenes import VirtualTime
from tests.support.batches import asked_numbers, batching
from tests.support.chat import Answer, chatting
from tests.support.corpora import Corpus, Heard, asking, handbook
from tests.support.stores import Store, delivered, synced

if TYPE_CHECKING:
    from pathlib import Path

    from tests.support.batches import VendorName

HIDDEN = "Zebra 4711"

DOCUMENT = f"""\
---
title: Notes on {HIDDEN}
doc_type: notes of {HIDDEN}
---
# What {HIDDEN} is

The project {HIDDEN} is about the renewal of everything that the company has, and it
is known to few of those who work on it from day to day.

## Days of {HIDDEN}

| Project | Days |
| --- | --- |
| {HIDDEN} | 25 |
| Lion | 30 |

## Exceptions

Those who work on {HIDDEN} are excepted from the above, and keep their days until they
are back and for twelve months after that:

- {HIDDEN} in the north
- all others in the south
"""


def corpus(folder: Path, address: str, **keys: object) -> Corpus:
    """Write a corpus in which something is hidden, and one document holds nothing."""
    one = handbook(
        folder,
        chunking={"min_tokens": 0, "max_tokens": 48},
        enrichment=asking(
            address,
            **{"max_total_tokens": 10_000_000, "redact": [r"(?i)zebra\s*\d+"], **keys},
        ),
        cache={"directory": "cache"},
    )
    one.document("zebra.md", DOCUMENT)
    return one


def telling(body: dict[str, Any]) -> Answer:
    """Answer with what nobody has said: the secret itself."""
    told = f"The project {HIDDEN} is meant by what the rule says of the days."
    numbers = asked_numbers(body)
    return Answer(text=json.dumps({str(n): told for n in numbers}) if numbers else told)


def holding(bodies: list[bytes]) -> list[str]:
    """Give the bodies that hold the secret in any spelling."""
    texts = [body.decode() for body in bodies]
    return [text for text in texts if "zebra" in text.lower() or "4711" in text]


@pytest.mark.parametrize("view", ["marked", "full", "window"])
def test_live_requests_and_repairs_hold_nothing_of_it(
    tmp_path: Path, view: str
) -> None:
    """Also where a model says it by itself, and is asked for a better sentence."""
    with chatting() as chat:
        chat.answer = telling
        one = corpus(tmp_path, chat.address, view=view)
        one.run()

    assert holding(chat.bodies) == []
    assert any(MARK in body.decode() for body in chat.bodies)
    assert any("hidden from you" in body.decode() for body in chat.bodies)


def test_what_is_published_is_what_the_author_wrote(tmp_path: Path) -> None:
    """With reasons where a sentence held what was hidden."""
    with chatting() as chat:
        chat.answer = telling
        hiding = corpus(tmp_path / "a", chat.address)
        hiding.run()
    plain = handbook(tmp_path / "b", chunking={"min_tokens": 0, "max_tokens": 48})
    plain.document("zebra.md", DOCUMENT)
    plain.run()

    same = [(each["chunk_id"], each["text"]) for each in plain.records]
    assert [(each["chunk_id"], each["text"]) for each in hiding.records] == same
    about = [each for each in hiding.records if each["doc_id"] == "zebra.md"]
    reasons = {each["metadata"]["enrichment"]["reason"] for each in about}
    assert reasons == {"redacted"}


def test_a_file_of_requests_holds_nothing_of_it(tmp_path: Path) -> None:
    """For any other batch system; ids of chunks stay on top, for whoever imports."""
    (config,) = load([corpus(tmp_path, "http://127.0.0.1:9/v1").config], environment={})
    path = tmp_path / "requests.jsonl"

    export(config, path, Heard())

    lines = [json.loads(line) for line in path.read_text("utf-8").splitlines()]
    assert lines
    for line in lines:
        del line["chunk_ids"]
    assert holding([json.dumps(line).encode() for line in lines]) == []


@pytest.mark.parametrize("name", ["anthropic", "openai"])
def test_a_batch_holds_nothing_of_it(tmp_path: Path, name: VendorName) -> None:
    """What a vendor takes in, byte for byte."""
    with batching(name) as vendor:
        one = corpus(tmp_path, vendor.base_url, provider=name, endpoint="loopback")
        (config,) = load([one.config], environment={})
        submission = batches.submit(config, Heard(), timing=VirtualTime().timing)

    assert submission.offer.requests > 0
    assert vendor.raw
    assert holding(vendor.raw) == []


def test_drafting_sends_nothing_of_it(tmp_path: Path) -> None:
    """Nor the repair of a question that names it."""
    with chatting() as chat:
        chat.answer = lambda _: Answer(text=f"What does {HIDDEN} say of days?")
        (config,) = load([corpus(tmp_path, chat.address).config], environment={})
        with pytest.raises(Exception, match="gives a question"):
            drafted(config, wanted(), Heard())

    assert len(chat.bodies) > 2
    assert holding(chat.bodies) == []
    assert any("hidden from you" in body.decode() for body in chat.bodies)


def test_a_hook_is_asked_by_every_way(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A function that a config names, found beside the corpus."""
    hook = (
        "def spans(text):\n"
        "    at = text.lower().find('zebra 4711')\n"
        "    return [(at, at + 10)] if at >= 0 else []\n"
    )
    (tmp_path / "zebra_hook.py").write_text(hook)
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(str(tmp_path))
    with chatting() as chat:
        one = corpus(tmp_path / "c", chat.address, redact="zebra_hook:spans")
        one.run()

    assert chat.bodies
    assert holding(chat.bodies) == []


def hook_file(folder: Path, hidden: str) -> None:
    """Write a hook that hides words, as a file that nobody has imported yet."""
    sys.modules.pop("edited_hook", None)
    importlib.invalidate_caches()
    folder.joinpath("edited_hook.py").write_text(
        f"def spans(text):\n    at = text.find({hidden!r})\n"
        f"    return [(at, at + {len(hidden)})] if at >= 0 else []\n"
    )


def test_an_edited_hook_is_a_change_of_all_documents(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What it hides now stays in no sentence, though no document has changed."""
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.setattr(sys, "dont_write_bytecode", True)
    hook_file(tmp_path, "nothing of this")
    store = Store()
    with chatting() as chat:
        one = corpus(tmp_path / "c", chat.address, redact="edited_hook:spans")
        chat.answer = telling
        delivered(one, store)
        same = synced(one)
        before = [said for said in sentences(store) if HIDDEN in said]
        hook_file(tmp_path, HIDDEN)
        edited = delivered(one, store, allow_deletes=100)

    assert before
    assert set(same.outcomes.values()) == {"unchanged"}
    assert set(edited.outcomes.values()) == {"ok"}
    assert [said for said in sentences(store) if HIDDEN in said] == []


def sentences(store: Store) -> list[str]:
    """Give the statements that a store has."""
    return [
        said
        for record in store.records.values()
        if (said := record["metadata"]["enrichment"]["statement"])
    ]


def test_the_hash_of_a_config_tells_an_edited_hook(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What `run` and `sync` note of how their output came to be."""
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.setattr(sys, "dont_write_bytecode", True)
    one = corpus(tmp_path / "c", "http://127.0.0.1:9/v1", redact="edited_hook:spans")

    def hashed() -> str:
        (job,) = ready(load([one.config], environment={}))
        return config_of(job).hash

    hook_file(tmp_path, HIDDEN)
    first, again = hashed(), hashed()
    hook_file(tmp_path, "Lion")
    edited = hashed()

    assert first == again != edited


def test_a_hook_that_fails_sends_nothing_of_its_document(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The others are asked about; everything is published, and the exit code is 3."""
    hook = (
        "def spans(text):\n"
        "    if 'zebra' in text.lower():\n"
        "        raise ValueError(text)\n"
        "    return []\n"
    )
    (tmp_path / "failing_hook.py").write_text(hook)
    monkeypatch.syspath_prepend(str(tmp_path))
    heard = Heard()
    with chatting() as chat:
        one = corpus(tmp_path / "c", chat.address, redact="failing_hook:spans")
        result = one.run(heard)
        (leaving,) = egress_plans(load([one.config], environment={}), Heard())

    assert result.exit_code == 3
    assert "enrichment.redact failed for the document" in str(result.reason)
    assert holding(chat.bodies) == []
    assert any("Exceptions" in body.decode() for body in chat.bodies)
    told = [note for note in heard.notes if "'zebra.md'" in note]
    assert told == [
        "document 'zebra.md': enrichment.redact failed with ValueError; nothing of it "
        "is sent"
    ]
    about = [each for each in one.records if each["doc_id"] == "zebra.md"]
    assert {each["metadata"]["enrichment"]["reason"] for each in about} == {
        "redaction_failed"
    }
    assert "zebra.md" not in {each.doc_id for each in leaving.documents}


def test_nothing_is_asked_anew_about_documents_that_hold_nothing(
    tmp_path: Path,
) -> None:
    """Switching it on later pays only for what it changes."""
    with chatting() as chat:
        corpus(tmp_path, chat.address, redact=["never found"], reuse="request").run()
        first = len(chat.bodies)
        corpus(tmp_path, chat.address, reuse="request").run()

    later = [body.decode() for body in chat.bodies[first:]]
    assert later
    assert all(MARK in body for body in later)


@pytest.mark.parametrize(
    ("redact", "words"),
    [
        (["("], "allowed: a list of regular expressions, or a function like"),
        ("no function", "allowed: a list of regular expressions, or a function like"),
        ([""], "allowed: a list of regular expressions"),
        (5, "enrichment.redact is 5"),
    ],
)
def test_what_cannot_be_a_hook_is_refused_with_the_config(
    tmp_path: Path, redact: object, words: str
) -> None:
    """One line says what would be allowed."""
    one = corpus(tmp_path, "http://127.0.0.1:9/v1", redact=redact)

    with pytest.raises(ConfigError) as caught:
        load([one.config], environment={})

    assert words in str(caught.value)
    assert str(caught.value).count("\n") == 0


def test_a_hook_that_is_not_there_is_found_before_any_work(tmp_path: Path) -> None:
    """As any other part of a config that cannot be used."""
    one = corpus(tmp_path, "http://127.0.0.1:9/v1", redact="nowhere_at_all:spans")

    with pytest.raises(ConfigError, match="'nowhere_at_all' cannot be imported"):
        one.run()


@pytest.mark.parametrize(
    ("value", "expected"),
    [("mine:spans", "mine:spans"), ('["a+", "b"]', ("a+", "b"))],
)
def test_the_environment_names_a_hook_or_expressions(
    tmp_path: Path, value: str, expected: object
) -> None:
    """Written as in TOML, a text without quotes."""
    one = corpus(tmp_path, "http://127.0.0.1:9/v1")

    (config,) = load([one.config], environment={"SITUATE_ENRICHMENT_REDACT": value})

    assert config.enrichment.redact == expected
    plain = replace(config, enrichment=replace(config.enrichment, redact=None))
    assert plain.hash != config.hash
