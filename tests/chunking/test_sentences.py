"""Sentences are found a window at a time, as if the text were read at once."""

from __future__ import annotations

import pytest
import sentencex

from situate.chunking.sentences import sentence_spans

TEXTS = {
    "English": "Dr. Moss reads gauge No. 5, which stands at 3.2 m. It is signed. "
    * 400,
    "Chinese": "仓库管理员每天核对库存数量，并在系统中登记差异。未经批准，不得调整。"
    * 400,
    "one sentence": "and so on and on " * 2000,
    "short ones": "本。" * 9000,
}


@pytest.mark.parametrize("text", TEXTS.values(), ids=TEXTS.keys())
def test_a_window_cuts_no_sentence(text: str) -> None:
    """The same sentences come out as from the whole text."""
    whole = [
        said for segment in sentencex.segment("en", text) if (said := segment.strip())
    ]

    spans = sentence_spans(text, "en")

    assert [
        text[slice(*span)].strip() for span in spans if text[slice(*span)].strip()
    ] == whole


@pytest.mark.parametrize("text", TEXTS.values(), ids=TEXTS.keys())
def test_the_splitter_reads_a_text_a_few_times_at_most(
    text: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """C11: it needs the square of the time for a window without spaces."""
    read: list[int] = []
    segment = sentencex.segment

    def counted(language: str, window: str) -> list[str]:
        read.append(len(window))
        return list(segment(language, window))

    monkeypatch.setattr(sentencex, "segment", counted)

    sentence_spans(text, "en")

    assert sum(read) <= 4 * len(text)


@pytest.mark.parametrize(
    "blank", [chr(code) for code in range(0x80, 0x3001) if chr(code).isspace()]
)
def test_any_blank_may_stand_before_a_stop(blank: str) -> None:
    """French puts a narrow one there, and the splitter once stopped at it."""
    text = f"M{blank}. Dupont part{blank}! A{blank}. Il revient{blank}? Oui."

    spans = sentence_spans(text, "fr")

    assert "".join(text[start:end] for start, end in spans) == text
    assert len(spans) > 1
