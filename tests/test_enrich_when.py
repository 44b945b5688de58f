"""What a corpus keeps from models never reaches one, and who may see it travels."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from situate.compare.drafting import Limits
from situate.config import load
from situate.errors import ConfigError
from situate.pipeline.comparison.drafting import Wanted, drafted
from situate.pipeline.comparison.questioning import Questioning
from tests.support.chat import Answer, Chat, chatting
from tests.support.corpora import Heard, asking, handbook
from tests.support.stores import Store, delivered

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from tests.support.corpora import Corpus

PAY = """\
---
title: Pay
classification: public
---
# Pay

Salaries are paid on the last working day of each month, in the currency of the office.

## Slips

Slips are sent by post and stay in the portal of the company for seven years.

## Expenses

Receipts of the month are refunded with the salary that follows after their approval.

## Bands {classification=secret}

The Unmentionable band of the board begins where that of the managers has its end.

## Bonus {classification=secret}

Unmentionable sums are paid to those who have been with the board for some time.
"""

ALLOWED = {"classification": ["public", "internal"]}


QUESTIONS = {
    "Salaries": "On which day is my money there?",
    "Slips": "How long can I look at old slips?",
    "Receipts": "When do I get back what I spent on receipts?",
}


def answering(body: dict[str, Any]) -> Answer:
    """Ask about a chunk."""
    task = body["messages"][-1]["content"].rpartition("The passage stands")[2]
    return Answer(text=next(said for key, said in QUESTIONS.items() if key in task))


@pytest.fixture
def chat() -> Iterator[Chat]:
    """Serve a chat model."""
    with chatting() as server:
        yield server


def corpus_of(folder: Path, chat: Chat, **keys: object) -> Corpus:
    """Write a corpus of one document with parts that models are not to see."""
    corpus = handbook(
        folder,
        corpus={"documents": ["docs/pay.md"]},
        chunking={"min_tokens": 0},
        enrichment=asking(chat.address, **keys),
        **{"enrichment.enrich_when": ALLOWED},
        cache={"directory": "cache"},
    )
    corpus.document("pay.md", PAY)
    return corpus


@pytest.mark.parametrize("view", ["full", "window"])
def test_a_run_shows_no_model_what_is_not_allowed(
    tmp_path: Path, chat: Chat, view: str
) -> None:
    """The chunk says why, and nothing is missing: the run ends well."""
    corpus = corpus_of(tmp_path, chat, view=view)

    result = corpus.run()

    assert len(chat.bodies) == 3
    assert all(b"Unmentionable" not in body for body in chat.bodies)
    assert all(b"Bands" not in body for body in chat.bodies)
    reasons = {
        each["metadata"]["section_id"]: each["metadata"]["enrichment"]["reason"]
        for each in corpus.records
    }
    assert reasons == {
        "pay": None,
        "pay/slips": None,
        "pay/expenses": None,
        "pay/bands": "not_allowed",
        "pay/bonus": "not_allowed",
    }
    assert result.exit_code == 0


def test_questions_are_drafted_about_what_is_allowed_alone(
    tmp_path: Path, chat: Chat
) -> None:
    """What drafts them is a model as well, and it is asked for no more chunks."""
    corpus = corpus_of(tmp_path, chat)
    chat.answer = answering
    (config,) = load([corpus.config], environment={})
    limits = Limits(chunks=9, per_document=9, per_section=9)
    wanted = Wanted(
        kinds=(),
        per_document=9,
        per_section=9,
        seed=0,
        asked=Questioning(limits=limits, model=None),
    )
    heard = Heard()

    drafted(config, wanted, heard)

    assert chat.bodies
    assert all(b"Unmentionable" not in body for body in chat.bodies)
    assert heard.forecasts[0].chunks == 3


def test_who_may_see_a_section_travels_whatever_is_kept(tmp_path: Path) -> None:
    """Also where the document says it itself: `keep` is about all other keys."""
    corpus = handbook(
        tmp_path, metadata={"keep": ["owner"]}, chunking={"min_tokens": 0}
    )
    source = "---\nacl_read: [hr]\nowner: Ann\nteam: x\n---\n# A\n\nText.\n\n"
    corpus.document("leave.md", f"{source}## B {{acl_read=it team=y}}\n\nMore.\n")

    corpus.run()

    custom = {
        each["metadata"]["section_id"]: each["metadata"]["custom"]
        for each in corpus.records
        if each["doc_id"] == "leave.md"
    }
    assert custom == {
        "a": {"acl_read": ["hr"], "owner": "Ann"},
        "a/b": {"acl_read": "it", "owner": "Ann"},
    }


def test_a_sync_takes_away_what_is_not_allowed_any_more(
    tmp_path: Path, chat: Chat
) -> None:
    """Nothing but the condition has changed; what was said before goes."""
    corpus, store = corpus_of(tmp_path, chat), Store()
    wide = {"classification": ["public", "secret"]}
    allowed = {
        "chunking": {"min_tokens": 0},
        "enrichment": asking(chat.address, max_total_tokens=10**6),
        "output": {"max_delete_share": 1},
    }
    corpus.configure(**allowed, **{"enrichment.enrich_when": wide})
    delivered(corpus, store)
    before, asked = _stated(store, "pay.md"), len(chat.bodies)

    corpus.configure(**allowed, **{"enrichment.enrich_when": ALLOWED})
    delivered(corpus, store)

    assert before - _stated(store, "pay.md") == {
        "pay.md:pay/bands",
        "pay.md:pay/bonus",
    }
    assert len(chat.bodies) == asked


def _stated(store: Store, doc_id: str) -> set[str]:
    return {
        chunk_id
        for chunk_id, record in store.records.items()
        if record["doc_id"] == doc_id and record["metadata"]["enrichment"]["statement"]
    }


def config_of(folder: Path, value: str, **environment: str) -> Any:
    """Read a config with this value of the key."""
    corpus = handbook(folder)
    said = f"[enrichment]\nenrich_when = {value}\n" if value else ""
    corpus.config.write_text(f"{corpus.config.read_text('utf-8')}\n{said}", "utf-8")
    (config,) = load([corpus.config], environment=environment)
    return config.enrichment.enrich_when


def test_one_value_is_a_list_of_one(tmp_path: Path) -> None:
    """Texts, numbers and truth values, each as it is written."""
    found = config_of(tmp_path, '{classification = "public", tier = [1, true, "1"]}')

    assert found == {"classification": ("public",), "tier": (1, True, "1")}
    assert [type(each) for each in found["tier"]] == [int, bool, str]


def test_the_environment_holds_a_table(tmp_path: Path) -> None:
    """Written as in TOML, within one line."""
    table = '{classification = ["public"]}'

    found = config_of(tmp_path, "", SITUATE_ENRICHMENT_ENRICH_WHEN=table)

    assert found == {"classification": ("public",)}


@pytest.mark.parametrize(
    "value",
    ['"public"', "{}", "{a = []}", "{a = {b = 1}}", "{a = 2025-01-01}", '{" " = 1}'],
)
def test_a_condition_that_cannot_be_one_is_refused(tmp_path: Path, value: str) -> None:
    """None at all would ask about everything, or about nothing."""
    with pytest.raises(ConfigError) as caught:
        config_of(tmp_path, value)

    assert "enrichment.enrich_when is" in str(caught.value)
    assert "allowed: a table of metadata keys, each with values" in str(caught.value)


def test_a_condition_on_a_key_that_does_not_travel_is_refused(tmp_path: Path) -> None:
    """No chunk could meet it, and a run that asks about none would end well."""
    corpus = handbook(
        tmp_path,
        metadata={"keep": ["owner"]},
        **{"enrichment.enrich_when": {"owner": ["Ann"], "tier": ["1"]}},
    )

    with pytest.raises(ConfigError) as caught:
        load([corpus.config], environment={})

    said = str(caught.value)
    assert "enrichment.enrich_when asks for 'tier', which metadata.keep drops" in said
    assert "'owner'" not in said
    assert "\n" not in said


@pytest.mark.parametrize(
    "keep", [None, ["tier"]], ids=["keeps all", "keeps what is asked for"]
)
def test_a_condition_on_a_key_that_travels_is_taken(
    tmp_path: Path, keep: list[str] | None
) -> None:
    """Permissions and the keys of every record travel whatever is kept."""
    wanted = {"tier": ["1"], "classification": ["a"], "acl_x": ["b"], "language": "en"}
    corpus = handbook(
        tmp_path,
        metadata={} if keep is None else {"keep": keep},
        **{"enrichment.enrich_when": wanted},
    )

    (config,) = load([corpus.config], environment={})

    assert config.enrichment.enrich_when is not None
    assert config.enrichment.enrich_when.keys() == wanted.keys()
