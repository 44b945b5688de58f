"""Cleaning an answer: what models wrap around a sentence, and where it ends."""

from __future__ import annotations

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from situate.enrichment.statement import clean, first_sentence

SENTENCE = "This part sets the limits."

WRAPPED = {
    "announced": f"Here is a concise context for the chunk:\n\n{SENTENCE}",
    "announced-on-the-line": f"Here's the sentence: {SENTENCE}",
    "interjection": f"Sure! {SENTENCE}",
    "both": f"Certainly, here is the sentence:\n{SENTENCE}",
    "label": f"Context: {SENTENCE}",
    "bold-label": f"**Statement:** {SENTENCE}",
    "quoted": f'"{SENTENCE}"',
    "curly": f"“{SENTENCE}”",
    "stop-outside": '"This part sets the limits".',
    "bullet": f"- {SENTENCE}",
    "numbered": f"1) {SENTENCE}",
    "heading": f"## {SENTENCE}",
    "quotation": f"> {SENTENCE}",
    "bold": f"**{SENTENCE}**",
    "emphasis": "This *part* sets `the limits`.",
    "link": "This [part](https://example.com/x) sets the limits.",
    "fence": f"```text\n{SENTENCE}\n```",
    "tag": f"<statement>{SENTENCE}</statement>",
    "delimiter": f"<chunk-0123abcd>\n{SENTENCE}\n</chunk-0123abcd>",
    "rule": f"---\n{SENTENCE}\n---",
    "nested": f'Sure, here is the sentence:\n\n- **"{SENTENCE}"**',
    "folded": "This part\nsets\tthe\r\nlimits.",
    "thinking": f"<think>Let me\nsee.</think>\n{SENTENCE}",
    "thinking-without-start": f"Let me see.</think>{SENTENCE}",
    "thinking-in-capitals": f"<Thinking depth=1>x</Thinking>{SENTENCE}",
    "byte-order-mark": f"\ufeff{SENTENCE}",
    "controls": "This\x00 part\x07 sets the\x1b limits.",
    "bidi": "This \u202epart\u202c sets the \u2066limits\u2069.",
    "lone-surrogate": "This part\ud800 sets the limits.",
    "tag-characters": "This part sets the limits.\U000e0041\U000e0042",
    "zero-width": "This\u200b part\u2060 sets\u00ad the limits.",
}


@pytest.mark.parametrize("answer", WRAPPED.values(), ids=WRAPPED.keys())
def test_what_is_wrapped_around_a_sentence_comes_off(answer: str) -> None:
    """Scenes L01, L05 and L12: the sentence alone is kept."""
    assert clean(answer) == SENTENCE


@pytest.mark.parametrize(
    ("answer", "sentence"),
    [
        ("Natürlich, hier ist der Satz:\nDer Teil gilt.", "Der Teil gilt."),
        ("Hier ist die Einordnung: Der Teil gilt.", "Der Teil gilt."),
        ("„Der Teil gilt.“", "Der Teil gilt."),
        ("Bien sûr ! Voici le contexte : La partie vaut.", "La partie vaut."),
        ("Aquí está la frase: La parte vale.", "La parte vale."),
        ("Ecco la frase: La parte vale.", "La parte vale."),
        ("Claro, aqui está a frase:\nA parte vale.", "A parte vale."),
        ("以下是上下文：本节规定限额。", "本节规定限额。"),
        ("「本節は限度額を定める。」", "本節は限度額を定める。"),
        ("Вот контекст: Раздел задаёт пределы.", "Раздел задаёт пределы."),
    ],
)
def test_preambles_are_known_in_several_languages(answer: str, sentence: str) -> None:
    """Models announce their answer in the language of the document."""
    assert clean(answer) == sentence


@pytest.mark.parametrize(
    "sentence",
    [
        "“This” and “that” differ in price.",
        "Kubernetes object identity: can two things share a name?",
        "This is the rule for renewals: caps stay.",
        "1. Januar 2025 ist der Beginn der neuen Sätze.",
        "OK, Cancel and Apply are the buttons of the dialog.",
        "Costs grow if a < b and c > d, or 2 ** 10 times.",
        "Which __init__ method runs when snake_case_names are used?",
        "Joined: \u0645\u06cc\u200c\u062e\u0648\u0627\u0647\u0645 is kept.",
        "Thinking about leaving: how much notice is due?",
    ],
)
def test_a_sentence_with_nothing_around_it_stays(sentence: str) -> None:
    """Cleaning knows wrappings, not style."""
    assert clean(sentence) == sentence


@pytest.mark.parametrize(
    "answer", ["", "\n ", "<think>never closed", "```\n```", '""', "\u200b\ufeff"]
)
def test_an_answer_that_is_all_wrapping_is_empty(answer: str) -> None:
    """Scenes L03 and L05: nothing of it is a sentence."""
    assert clean(answer) == ""


@given(
    st.lists(
        st.sampled_from([*"*`_\"'>#-.:“”„<>[]() \n\r\t", *WRAPPED.values()])
        | st.text(max_size=8)
    ).map("".join)
)
def test_cleaning_settles_at_once_and_only_takes_away(answer: str) -> None:
    """Clean twice is clean; never longer, never a second line, nothing hidden."""
    once = clean(answer)

    assert clean(once) == once
    assert len(once) <= len(answer)
    assert once == " ".join(once.split())
    assert not {unicodedata.category(c) for c in once} & {"Cc", "Cs", "Zl", "Zp"}


@pytest.mark.parametrize(
    ("language", "text", "first"),
    [
        ("en", "It sets caps. It also lifts them.", "It sets caps."),
        (
            "en",
            "For No. 5, e.g. Dr. X, 3.2 % holds. Two.",
            "For No. 5, e.g. Dr. X, 3.2 % holds.",
        ),
        ("en", "Caps (see Art. 5. And 6) hold. Two.", "Caps (see Art. 5. And 6) hold."),
        ("en", "Version v1.2.3 of example.com. Two.", "Version v1.2.3 of example.com."),
        (
            "de",
            "Gilt z. B. für Nr. 5 nach Abs. 2. Zwei.",
            "Gilt z. B. für Nr. 5 nach Abs. 2.",
        ),
        ("zh", "本节规定限额。下一节不同。", "本节规定限额。"),
        (None, "What is due? Nothing.", "What is due?"),
        ("de-CH", "Eins gilt. Zwei.", "Eins gilt."),
        ("no such language", "It sets caps. Two.", "It sets caps."),
        ("en", "No end mark", "No end mark"),
    ],
)
def test_the_first_sentence_is_kept(
    language: str | None, text: str, first: str
) -> None:
    """Scene L02: abbreviations, decimals and versions end no sentence."""
    sentence = first_sentence(text, language)

    assert sentence.text == first
    assert sentence.trimmed is (first != text)


@given(st.text(max_size=60), st.sampled_from(["en", "de", "zh", "ar", None]))
def test_a_first_sentence_begins_the_text(text: str, language: str | None) -> None:
    """Nothing is made up, whatever the splitter is handed."""
    line = " ".join(text.split())

    assert line.startswith(first_sentence(line, language).text)
