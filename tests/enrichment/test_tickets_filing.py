"""Replies are filed under the chunks they answer, whoever asked and however."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from situate.enrichment.batches import AskedRequest, file_reply
from situate.enrichment.cache import Cache, Located
from tests.enrichment.scenes import GOOD, document, marked_reply, planned, reply, texts

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from situate.enrichment.exchange import Reply
    from situate.enrichment.settings import ViewChoice

PLAN = planned(document(*texts(3)), view="marked")
RAW = '{"raw": true}'


@pytest.fixture
def cache(tmp_path: Path) -> Iterator[Cache]:
    """Open an empty cache."""
    with Cache(tmp_path / "cache") as opened:
        yield opened


def filed(cache: Cache, answer: Reply, *, view: ViewChoice = "marked") -> list[int]:
    """File a reply and say which of the three chunks it is taken to answer."""
    (request, *_) = planned(document(*texts(3)), view=view).requests
    asked = AskedRequest.of("the-key", request)

    found = file_reply(cache, asked, RAW, answer, corpus="handbook")

    return [n for n, each in enumerate(PLAN.passages) if each.chunk_key in found]


def known(cache: Cache) -> list[int]:
    """Say which of the three chunks are known to be answered."""
    return [n for n, passage in enumerate(PLAN.passages) if cache.knows(passage)]


def test_every_sentence_is_found_by_its_chunk_and_by_its_section(cache: Cache) -> None:
    """A later run that groups them in another way finds them all the same (E3, E4)."""
    found = filed(cache, marked_reply({1: GOOD, 2: GOOD, 3: GOOD}))

    assert found == known(cache) == [0, 1, 2]
    for passage in PLAN.passages:
        expected = (Located("the-key", str(passage.number)),)
        for key in (passage.chunk_key, *passage.section_keys):
            assert cache.answers(key) == expected


def test_a_chunk_whose_marker_is_missing_is_not_answered(cache: Cache) -> None:
    """The others are, and the reply is kept for them."""
    found = filed(cache, marked_reply({1: GOOD, 3: GOOD}))

    assert found == known(cache) == [0, 2]
    assert cache.reply("the-key") == RAW


def test_a_marker_of_another_text_is_none_of_ours(cache: Cache) -> None:
    """Documents may talk of markers; ours begin as the request says."""
    (request,) = PLAN.requests
    said = {f"[{request.begin}.1]": GOOD, "[beef.2]": GOOD}

    found = filed(cache, reply(json.dumps(said)))

    assert found == [0]


def test_a_reply_about_one_chunk_is_its_answer_as_a_whole(cache: Cache) -> None:
    """Also a refusal, so that it is not paid for again."""
    found = filed(cache, reply("", stop="refusal"), view="full")

    assert found == known(cache) == [0]
    assert cache.answers(PLAN.passages[0].chunk_key) == (Located("the-key"),)


def test_a_refusal_to_answer_for_many_answers_none(cache: Cache) -> None:
    """Each may be answered by itself."""
    assert filed(cache, reply("", stop="refusal")) == known(cache) == []


def test_an_answer_that_is_here_already_stays(cache: Cache) -> None:
    """It may have been repaired since; the reply is kept beside it."""
    passage = PLAN.passages[0]
    answers = (Located("earlier"), Located("its-repair"))
    cache.store_reply("earlier", RAW)
    cache.store_answers(passage.chunk_key, answers)

    filed(cache, marked_reply({1: GOOD, 2: GOOD, 3: GOOD}))

    assert cache.answers(passage.chunk_key) == answers
    assert known(cache) == [0, 1, 2]


def test_an_answer_whose_reply_is_gone_is_replaced(cache: Cache) -> None:
    """It says where to look, and nothing is there."""
    passage = PLAN.passages[0]
    cache.store_answers(passage.chunk_key, [Located("gone")])

    filed(cache, marked_reply({1: GOOD}))

    assert cache.answers(passage.chunk_key) == (Located("the-key", "1"),)
