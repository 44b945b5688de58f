"""What is hidden stands in nothing that a model is shown, and in no statement."""

from __future__ import annotations

import json
import sys
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from situate.chunking import Rules, chunk
from situate.enrichment import gate
from situate.enrichment.gate import forms_of, holds
from situate.enrichment.plan import DocumentPlan
from situate.enrichment.providers.scripted import ScriptedProvider
from situate.enrichment.redaction import (
    MARK,
    Redaction,
    RedactionFailed,
    Shown,
    redacted,
)
from situate.errors import ConfigError
from situate.readers import read
from situate.tokens import load_counter
from tests.enrichment.scenes import GOOD, chunks_of, document, planned, play, texts

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

    from situate.enrichment.gate import Context, Verdict
    from situate.model import Chunk, Document

COUNTER = load_counter("cl100k_base")
HIDDEN = "Zebra 4711"
HIDING = Redaction.of([r"Zebra\s\d+"])

VIEWS = ("marked", "full", "window")


def source(text: str, **metadata: Any) -> Document:
    """Read a Markdown document."""
    found = read(text.encode(), "policy.md").document
    return replace(found, metadata=replace(found.metadata, **metadata))


def shown(text: str, redaction: Redaction, *, max_tokens: int = 64) -> Shown:
    """Cut a Markdown document and hide what is to be hidden."""
    found = source(text)
    rules = Rules(max_tokens=max_tokens, min_tokens=0)
    chunks = chunk(found, rules, COUNTER, corpus="tests")
    return redacted(found, chunks, redaction, COUNTER)


def everything(found: Shown, view: str) -> str:
    """Give the requests about a document as one text."""
    plan = planned(found.document, found.chunks, view=view)
    assert plan.requests
    return "\n".join(
        json.dumps(request.body, default=dict) for request in plan.requests
    )


def requests(found: Document, view: str, redaction: Redaction, size: int = 64) -> str:
    """Give what would be sent about a document as one text."""
    chunks = chunk(found, Rules(max_tokens=size), COUNTER, corpus="tests")
    plan = planned(found, chunks, view=view, redaction=redaction)
    bodies = [json.dumps(each.body, ensure_ascii=False) for each in plan.requests]
    assert bodies
    return "\n".join(bodies)


EVERYWHERE = f"""\
# About {HIDDEN}

The project is called {HIDDEN} by everybody who works on it, day and night.

## What {HIDDEN} costs

| Name | Cost |
| --- | --- |
| {HIDDEN} | 12 |
| Lion | 13 |

- {HIDDEN} is an item of this list, and it is a long one.
- Lion is another.

> {HIDDEN} is quoted.

```
print("{HIDDEN}")
```

## Costs of others

The others cost less than that, which is known to everybody who works here.
"""


@pytest.mark.parametrize("view", VIEWS)
def test_nothing_that_is_sent_holds_what_is_hidden(view: str) -> None:
    """Headings, breadcrumbs, outline, title, type, tables, lists, code."""
    found = source(EVERYWHERE, title=f"{HIDDEN} for you", doc_type=f"of {HIDDEN}")

    sent = requests(found, view, HIDING, size=32)

    assert "zebra" not in sent.lower()
    assert "4711" not in sent
    assert MARK in sent


@pytest.mark.parametrize("view", VIEWS)
def test_where_nothing_is_hidden_requests_and_keys_are_the_same(view: str) -> None:
    """Switching it on asks nothing anew that holds nothing."""
    found = document(*texts(4))

    plain, hiding = (
        planned(found, view=view),
        planned(found, view=view, redaction=HIDING),
    )

    assert [each.body for each in plain.requests] == [
        each.body for each in hiding.requests
    ]
    assert plain.passages == hiding.passages
    assert hiding.chunks == chunks_of(found)


def test_only_the_copies_change() -> None:
    """What is published stays as the author wrote it."""
    found = document(f"The project {HIDDEN} is secret.", "Nothing is secret in here.")
    chunks = chunks_of(found)

    result = redacted(found, chunks, HIDING, COUNTER)

    assert HIDDEN in chunks[0].text
    assert result.chunks[0].text == f"The project {MARK} is secret."
    assert result.chunks[0].token_count == COUNTER.count(result.chunks[0].text)
    assert result.chunks[1] == chunks[1]
    assert result.hidden == {HIDDEN}


@pytest.mark.parametrize("view", VIEWS)
def test_who_may_be_shown_something_is_decided_by_what_documents_say(view: str) -> None:
    """S6: a type that is hidden from models still lets its document be shown."""
    found = document(
        f"The project {HIDDEN} is secret.", *texts(1), doc_type=f"of {HIDDEN}"
    )
    allowing = {"doc_type": (f"of {HIDDEN}",)}

    plan = planned(found, view=view, redaction=HIDING, enrich_when=allowing)

    assert {each.index for each in plan.passages} == {0, 1}
    assert all("4711" not in each.shown for each in plan.requests)
    assert all("4711" not in part.document_text for part in plan.parts)


def test_a_secret_over_the_border_of_blocks_is_hidden_in_both() -> None:
    """A pattern sees the whole document, a blank line between its blocks."""
    text = (
        "# One\n\nBEGIN of what is kept to ourselves.\n\n"
        "## Also ours alone\n\nStill kept to ourselves, and END of it.\n\n"
        "## Free\n\nEverybody may read what stands in this section here.\n"
    )
    result = shown(text, Redaction.of(["(?s)BEGIN.*?END"]), max_tokens=32)

    for view in VIEWS:
        sent = everything(result, view)
        assert "ourselves" not in sent
        assert "ours alone" not in sent
        assert "Everybody may read" in sent


def test_what_needs_its_surroundings_to_be_known_is_hidden_without_them_too() -> None:
    """What is hidden in one place of a document is hidden in all of it."""
    text = "# A\n\nThe password: hunter22 is old.\n\n# B\n\nType hunter22 and wait.\n"

    result = shown(text, Redaction.of([r"(?<=password: )\S+"]), max_tokens=32)

    assert "hunter22" not in everything(result, "full")
    assert result.hidden == {"hunter22"}


def test_a_name_inside_of_another_word_is_left() -> None:
    """`Mark` is no part of `Marketing`."""
    text = "# A\n\nMark asked for it.\n\n# B\n\nMarketing asked, not Mark alone.\n"

    result = shown(text, Redaction.of([r"\bMark\b"]), max_tokens=32)

    assert "Marketing" in everything(result, "full")
    assert "Mark " not in everything(result, "full")


def test_a_secret_that_a_chunk_ends_in_is_not_sent_by_halves() -> None:
    """Where a long paragraph is cut inside of it, both sides show a mark alone."""
    secret = " ".join(f"piece{number}" for number in range(12))
    around = "word " * 22, "more " * 40
    text = f"# A\n\n{around[0]}{secret} {around[1]}.\n\n# B\n\nPlain text of B here.\n"

    result = shown(text, Redaction.of(["piece0.*piece11"]), max_tokens=32)

    sent = "\n".join(everything(result, view) for view in VIEWS)
    assert "piece" not in sent
    assert "Plain text of B" in sent


def test_a_heading_that_is_shortened_in_a_breadcrumb_is_hidden_there() -> None:
    """A line that holds half of it is replaced whole."""
    secret = "Operation " + " ".join(["Nightingale"] * 12)
    found = source(
        f"# {secret}\n\nText of this part.\n\n## B\n\nText of the other part.\n"
    )
    rules = Rules(max_tokens=512, prefix_max_tokens=24, min_tokens=0)
    chunks = chunk(found, rules, COUNTER, corpus="tests")

    plan = planned(found, chunks, view="window", redaction=Redaction.of([secret]))

    assert len(plan.requests) == 2
    for request in plan.requests:
        assert "ightingale" not in json.dumps(request.body)


@given(
    st.lists(st.sampled_from(["alpha", "beta", "Zebra 4711", "gamma."]), min_size=3),
    st.integers(32, 64),
    st.sampled_from(VIEWS),
)
def test_however_a_text_is_cut_no_half_of_a_secret_is_sent(
    words: list[str], size: int, view: str
) -> None:
    """Cover, outline and neighbours together."""
    text = (
        f"# A\n\n{' '.join(words * 12)}\n\n# B\n\n- {' '.join(words)}\n- more of it\n"
    )
    found = source(text)
    chunks = chunk(found, Rules(max_tokens=size, min_tokens=0), COUNTER, corpus="t")

    plan = planned(found, chunks, view=view, redaction=HIDING)

    sent = "".join(json.dumps(request.body) for request in plan.requests)
    assert "4711" not in sent
    assert "Zebra" not in sent


@given(st.text(min_size=1, max_size=60), st.data())
def test_exactly_what_is_named_is_replaced(text: str, data: st.DataObject) -> None:
    """The rest of a text stays, character for character."""
    assume(text.strip())
    end = data.draw(st.integers(1, len(text)))
    start = data.draw(st.integers(0, end - 1))
    assume(text[start:end].strip())
    assume(text.count(text[start:end].strip()) == 1)
    found = document(text, "Nothing else is said in this other part.")

    def find(seen: str) -> Iterable[tuple[int, int]]:
        if seen == text:
            yield start, end

    result = redacted(found, chunks_of(found), Redaction(find=find), COUNTER)

    assert result.chunks[0].text == text[:start] + MARK + text[end:]


@pytest.mark.parametrize(
    ("find", "words"),
    [
        (lambda _: [(0, 10_000_000)], "places outside of the text"),
        (lambda _: [(-1, 2)], "places outside of the text"),
        (lambda _: [(3, 2)], "places outside of the text"),
        (lambda _: [(0.0, 1.0)], "no whole numbers"),
        (lambda _: [(True, 2)], "no whole numbers"),
        (lambda _: 5, "failed with TypeError"),
        (lambda _: [1, 2], "failed with TypeError"),
        (lambda _: {}["secret words"], "failed with KeyError"),
        (sys.exit, "failed with SystemExit"),
    ],
    ids=[
        "long",
        "negative",
        "reversed",
        "floats",
        "bools",
        "none",
        "flat",
        "key",
        "exit",
    ],
)
def test_a_hook_that_fails_keeps_a_document_to_itself(
    tmp_path: Path, find: Any, words: str
) -> None:
    """Nothing is sent, everything is published, and the reason holds no text."""
    found = document(*texts(3))
    provider = ScriptedProvider([])

    result = play(provider, tmp_path, found, redaction=Redaction(find=find))

    assert provider.bodies == []
    assert result.outcomes == ["redaction_failed"] * 3
    assert [each.text for each in result.chunks] == list(texts(3))
    (warning,) = result.summary.warnings
    assert words in warning
    assert "limits" not in warning
    assert result.summary.skipped == {"redaction_failed": 3}


def test_an_expression_that_never_ends_is_given_up(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A document waits for nobody's backtracking."""
    monkeypatch.setattr("situate.enrichment.redaction.hook._SECONDS", 0.05)
    endless = Redaction.of([r"(a|aa)+$(?<!x)(?:b|c)"])

    with pytest.raises(RedactionFailed, match="TimeoutError"):
        endless.spans("a" * 5_000 + "!")


def test_a_hook_is_found_by_its_name(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """In the working directory, too."""
    (tmp_path / "our_hook.py").write_text("def spans(text):\n    return [(0, 1)]\n")
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(str(tmp_path))

    assert Redaction.of("our_hook:spans").spans("abc") == [(0, 1)]
    with pytest.raises(ConfigError, match="has no function 'missing'"):
        Redaction.of("our_hook:missing")


@pytest.mark.parametrize(
    "said",
    [
        "The project Zebra 4711 is kept secret by all.",
        "The project ZEBRA  4711 is kept secret by all.",
        "The project zebra-4711 is kept secret by all.",
        "The project \uff3aebra \uff14711 is kept secret by all.",
        "The project Ze\u200bbra 4711 is kept secret by all.",
        "The project Zebra4711 is kept secret by all.",
        "The project Z.e.b.r.a 4711 is kept secret by all.",
        "The project Zebra\u00a04711's budget is kept secret.",
    ],
)
def test_a_statement_that_holds_what_was_hidden_is_known(said: str) -> None:
    """Case, blanks, signs between and forms of letters make no difference."""
    assert holds(said, forms_of([HIDDEN]))
    assert not holds(said, forms_of(["Zebra 4712"]))


@pytest.mark.parametrize("spelling", [HIDDEN, "ZEBRA-4711", "Z e b r a 4711"])
def test_a_statement_that_holds_what_was_hidden_is_refused(
    tmp_path: Path, spelling: str
) -> None:
    """Twice, and the repair does not say what it was."""
    found = document(f"The limits of {HIDDEN} do not apply to renewals.", *texts(1))
    told = f"Renewals of {spelling} keep the limits of the first year."
    provider = ScriptedProvider([told, GOOD, told, told])

    result = play(
        provider, tmp_path, found, redaction=HIDING, view="window", concurrency=1
    )

    assert result.outcomes.count("redacted") + result.outcomes.count(GOOD) == 2
    assert "redacted" in result.outcomes
    assert len(provider.bodies) >= 3
    for body in provider.bodies:
        assert "4711" not in json.dumps(body, default=dict)


def test_answers_are_judged_by_what_was_shown(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The chunk as the author wrote it is no evidence of what it hides."""
    seen: list[str] = []

    def judge(answer: str, about: Chunk, context: Context) -> Verdict:
        seen.append(f"{about.text} {about.breadcrumb_line} {context.known}")
        return gate.judge(answer, about, context)

    judged = replace(gate.STATEMENTS, judge=judge)
    monkeypatch.setattr("situate.enrichment.live.STATEMENTS", judged)
    found = document(f"The limits of {HIDDEN} do not apply to renewals.", *texts(1))

    play(ScriptedProvider([GOOD] * 2), tmp_path, found, redaction=HIDING, view="window")

    assert len(seen) == 2
    assert "4711" not in " ".join(seen)


def test_a_plan_says_by_which_chunks_answers_are_judged() -> None:
    """Without any, the chunks as the author wrote them would serve in their place."""
    with pytest.raises(TypeError, match="'chunks'"):
        DocumentPlan(doc_id="a.md", parts=())  # type: ignore[call-arg] # the rule


def test_the_mark_itself_is_no_part_of_a_statement(tmp_path: Path) -> None:
    """It says nothing to whoever searches."""
    found = document(f"The limits of {HIDDEN} do not apply to renewals.", *texts(1))
    told = f"Renewals of the {MARK} cover keep the limits of the first year."
    provider = ScriptedProvider([told] * 4)

    result = play(provider, tmp_path, found, redaction=HIDING, view="window")

    assert result.outcomes == ["markup", "markup"]


def test_an_answer_of_before_that_holds_it_now_is_asked_anew(tmp_path: Path) -> None:
    """What was kept without redaction is judged by what is hidden now."""
    found = document("The limits do not apply to renewals of Zebra cover.", *texts(1))
    told = "Employees who renew a Zebra cover keep the limits of the first year."
    play(ScriptedProvider([told, told]), tmp_path, found, view="window")
    provider = ScriptedProvider([GOOD, GOOD])

    result = play(
        provider, tmp_path, found, view="window", redaction=Redaction.of(["Zebra"])
    )

    assert result.outcomes == [GOOD, GOOD]
