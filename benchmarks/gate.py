"""What the gate finds and how fast: `python -m benchmarks.gate [FOLDER]`.

Judges the labelled set of the tests. FOLDER holds `docs.jsonl` and `chunks.jsonl`
with sentences of a capable model (`situating`, `findable`) about technical
documents: all findings in them are listed, to be looked at by a person, and
mechanical corruptions of them are counted.
"""

from __future__ import annotations

import argparse
import json
import random
import re
import time
from collections import Counter, defaultdict
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from benchmarks.measuring import table
from situate.enrichment.gate import Context, instructions_of, judge
from situate.enrichment.grounding import evidence_of, ungrounded
from situate.prompts import load_prompt
from tests.enrichment.labelled import GROUNDED, Labelled, score, statements
from tests.enrichment.scenes import COUNTER, chunks_of, document

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from situate.enrichment.grounding import Ungrounded
    from situate.model import Chunk

MOST_MICROSECONDS = 60
MOST_EVIDENCE_MILLISECONDS = 15
MOST_LONG_MILLISECONDS = 20
"""The budgets of the gate."""

_WINDOW_TOKENS = 8_000
_LONG_ANSWER = 10_000
"""Characters."""

_FIELDS = ("situating", "findable")
_KINDS = ("numbers", "dates", "units", "quotations", "names")


@dataclass(frozen=True, slots=True, kw_only=True)
class Sentence:
    """One sentence of a model, and what it was written about."""

    text: str
    chunk: Chunk
    context: Context
    shown: str


def main() -> None:
    """Print every table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", nargs="?", type=Path)
    folder = parser.parse_args().folder
    labelled = statements()
    _labelled("labelled set", labelled, named=True)
    _labelled("labelled set, languages not named", labelled, named=False)
    _labelled("  even lines (developed on)", labelled[::2], named=False)
    _labelled("  odd lines (held out)", labelled[1::2], named=False)
    for language in ("en", "de", "fr", "es", "zh"):
        own = [each for each in labelled if each.language == language]
        _labelled(f"  {language}", own, named=False)
    if folder is not None:
        sentences = list(_sentences(folder))
        _alarms(sentences)
        _corruptions(sentences)
        _speed(sentences)


def _labelled(name: str, labelled: list[Labelled], *, named: bool) -> None:
    result = score(labelled, named=named)
    rows = [
        [
            label,
            str(result.labelled.get(label, 0)),
            f"{result.recall(label):.3f}",
            _share(result.right.get(label, 0), result.found.get(label, 0)),
        ]
        for label in (*GROUNDED, "negation", "section")
    ]
    true = result.labelled["true"]
    print(f"\n{name}: {100 * result.false_alarms:.1f} % of {true} true ones refused")
    table(["wrong", "statements", "recall", "precision"], rows)


def _share(part: int, whole: int) -> str:
    return f"{part / whole:.3f}" if whole else "-"


def _sentences(folder: Path) -> Iterable[Sentence]:
    documents = {row["doc_id"]: row for row in _rows(folder / "docs.jsonl")}
    chunks = _rows(folder / "chunks.jsonl")
    headings = defaultdict(list)
    for chunk in chunks:
        headings[chunk["doc_id"]].append(chunk["context_prefix"])
    contexts = {name: _context(row, headings[name]) for name, row in documents.items()}
    plain = chunks_of(document("A passage."))[0]
    for chunk in chunks:
        for field in _FIELDS:
            yield Sentence(
                text=chunk[field],
                chunk=replace(
                    plain, text=chunk["text"], breadcrumb_line=chunk["context_prefix"]
                ),
                context=contexts[chunk["doc_id"]],
                shown=documents[chunk["doc_id"]]["text"],
            )


def _context(row: dict[str, str], headings: list[str]) -> Context:
    prompt = load_prompt("findable-v1")
    return Context(
        counter=COUNTER,
        max_tokens=60,
        language=None,
        script="LATIN",
        known=f"\n {row['text'].casefold()} \n",
        evidence=evidence_of(row["text"], row["title"], *headings),
        instructions=instructions_of(prompt.system, prompt.chunk),
    )


def _rows(path: Path) -> list[dict[str, str]]:
    return [json.loads(line) for line in path.read_text("utf-8").splitlines()]


def _found(sentence: Sentence, text: str | None = None) -> Ungrounded:
    told = sentence.text if text is None else text
    return ungrounded(told, None, sentence.context.evidence, sentence.chunk.text)


def _alarms(sentences: list[Sentence]) -> None:
    kinds: Counter[str] = Counter()
    refused = absent = 0
    print("\nfindings in sentences of a model:")
    for sentence in sentences:
        found = _found(sentence)
        if not found.offenders:
            continue
        refused += 1
        kinds.update(kind for kind in _KINDS if getattr(found, kind))
        shown = sentence.shown.casefold()
        is_absent = all(
            word.casefold() not in shown
            for offender in found.offenders
            for word in re.findall(r"\w+", offender)
        )
        absent += is_absent
        mark = "absent" if is_absent else "LOOK"
        print(f"  {mark:6} {', '.join(found.offenders)} << {sentence.text[:90]}")
    total = len(sentences)
    print(
        f"{refused} of {total} refused ({100 * refused / total:.2f} %), {absent} for "
        f"words that occur nowhere in the document; the rest "
        f"({100 * (refused - absent) / total:.2f} %) may be false alarms"
    )
    print(dict(kinds))


def _corruptions(sentences: list[Sentence]) -> None:
    """Change one thing in every sentence that has one; count what is found."""
    chance = random.Random(4)  # noqa: S311 - the same corruptions every time
    names = sorted(
        {
            name
            for each in sentences
            for name in re.findall(r"(?<=\w )[A-Z][a-z]+[A-Z]\w+", each.text)
        }
    )
    kinds: dict[str, Callable[[Sentence], str | None]] = {
        "number": lambda each: _swapped(
            each, r"(?<![\w.-])\d+(?![\w.-])", lambda old: str(int(old) * 7 + 13)
        ),
        "number in words": lambda each: _swapped(
            each, r"\b(?:two|three|four|five|six)\b", lambda _: "seventeen"
        ),
        "unit": lambda each: _swapped(
            each,
            r"(?<=\d )(?:seconds|minutes|hours|days)\b|(?<=\d)(?:s|m|h)\b",
            lambda old: " weeks" if len(old) == 1 else "weeks",
        ),
        "version": lambda each: _swapped(
            each, r"(?<=v1\.)\d+", lambda old: str(int(old) + 61)
        ),
        "date added": lambda each: each.text.rstrip(".") + " since 14 May 2019.",
        "name": lambda each: _swapped(
            each, r"(?<=\w )[A-Z][a-z]+[A-Z]\w+", lambda _: chance.choice(names)
        ),
    }
    rows = []
    for kind, corrupt in kinds.items():
        tried = caught = 0
        for sentence in sentences:
            text = corrupt(sentence)
            if text is None or _found(sentence).offenders:
                continue
            tried += 1
            caught += bool(_found(sentence, text).offenders)
        rows.append([kind, str(tried), _share(caught, tried)])
    print()
    table(["corrupted", "sentences", "recall"], rows)


def _swapped(each: Sentence, pattern: str, new: Callable[[str], str]) -> str | None:
    """Replace the first match, by something that was not shown."""
    match = re.search(pattern, each.text)
    if match is None:
        return None
    put = new(match[0])
    is_shown = re.search(rf"\b{re.escape(put.strip())}\b", each.shown, re.IGNORECASE)
    if is_shown and put.strip() != "weeks":
        return None
    return each.text[: match.start()] + put + each.text[match.end() :]


def _speed(sentences: list[Sentence]) -> None:
    shown = "\n\n".join(dict.fromkeys(each.shown for each in sentences))
    window = shown[: _WINDOW_TOKENS * len(shown) // COUNTER.count(shown)]
    first = sentences[0]
    whole = replace(first.context, evidence=evidence_of(window))
    long = ("Members pay 5 EUR by 3 March 2024, as “the rules” of Globex say; " * 200)[
        :_LONG_ANSWER
    ]
    microseconds = 1e6 / len(sentences)
    compared = _seconds(lambda: [_found(each) for each in sentences])
    judged = _seconds(lambda: [judge(s.text, s.chunk, s.context) for s in sentences])
    gathered = _seconds(lambda: evidence_of(window))
    endless = _seconds(lambda: judge(long, first.chunk, whole))
    rows = [
        [
            "comparing a sentence, µs",
            f"{microseconds * compared:.0f}",
            f"at most {MOST_MICROSECONDS}",
        ],
        ["the whole gate, µs", f"{microseconds * judged:.0f}", ""],
        [
            f"evidence of {_WINDOW_TOKENS:,} tokens, ms",
            f"{1e3 * gathered:.1f}",
            f"at most {MOST_EVIDENCE_MILLISECONDS}",
        ],
        [
            f"an answer of {_LONG_ANSWER:,} characters, ms",
            f"{1e3 * endless:.1f}",
            f"at most {MOST_LONG_MILLISECONDS}",
        ],
    ]
    print()
    table(["CPU time", "measured", "budget"], rows)


def _seconds(work: Callable[[], object]) -> float:
    """Give the least CPU time of five rounds; the first warms up."""
    least = float("inf")
    for _ in range(6):
        before = time.process_time()
        work()
        least = min(least, time.process_time() - before)
    return least


if __name__ == "__main__":
    main()
