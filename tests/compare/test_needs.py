"""Need scores say before anything is paid for where a sentence might help."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from benchmarks.frontier import expected_shift
from situate.compare.arms import Arm, Entry
from situate.compare.mixing import Pair
from situate.compare.needs import (
    asked_about,
    missing_words,
    needs,
    neighbourhoods,
)


def entry(number: int, *, doc_id: str = "a.md", **changes: str) -> Entry:
    """Make an entry that is as long as its number."""
    text = changes.get("text", "words")
    return Entry(
        entry_id=f"entry-{number}",
        doc_id=doc_id,
        text=text,
        breadcrumb=changes.get("breadcrumb", ""),
        statement=None,
        dense=text,
        lexical=("", text),
        spans=(),
        text_tokens=number,
        embed_tokens=number,
    )


def unit(rows: list[list[float]]) -> np.ndarray:
    """Give rows the length 1."""
    table = np.array(rows, np.float32)
    table /= np.linalg.norm(table, axis=1, keepdims=True)
    return table


def paired(
    *, documents: int, each: int, stated: bool = True, seed: int = 0
) -> tuple[Pair, np.ndarray]:
    """Make a pair whose vectors shift by what one feature says, and that feature."""
    generator = np.random.default_rng(seed)
    count = documents * each
    feature = generator.random(count)
    free = unit(generator.standard_normal((count, 6)).tolist())
    aside = unit(generator.standard_normal((count, 6)).tolist())
    aside -= (aside * free).sum(axis=1, keepdims=True) * free
    entries = tuple(entry(at + 1, doc_id=f"{at // each}.md") for at in range(count))
    said = tuple(replace(one, statement="s" if stated else None) for one in entries)
    pair = Pair(
        free=Arm(name="free", kind="none", entries=entries),
        stated=Arm(name="stated", kind="statement", entries=said, placing="dense"),
        free_rows=free,
        stated_rows=unit((free + feature[:, None] * aside).tolist()),
    )
    return pair, feature


@pytest.mark.parametrize(
    ("breadcrumb", "text", "share"),
    [
        ("Leave > Parents", "Parents may take leave.", 0.0),
        ("Leave > Parents", "They may take it twice.", 1.0),
        ("Leave > Parents", "All parents may.", 0.5),
        ("", "Nobody says what this is about.", 0.0),
    ],
    ids=["all said", "none said", "half said", "no breadcrumb"],
)
def test_words_of_the_breadcrumb_that_a_text_lacks_are_missing(
    breadcrumb: str, text: str, share: float
) -> None:
    """Where a text does not name its subject a sentence would."""

    def words(line: str) -> list[str]:
        return [word.strip(".,>").lower() for word in line.split() if word != ">"]

    found = missing_words([entry(1, breadcrumb=breadcrumb, text=text)], words)

    assert found.tolist() == [share]


def test_a_sibling_is_the_nearest_of_the_same_document() -> None:
    """However like something elsewhere is, its title tells it apart."""
    entries = [entry(1), entry(2), entry(3), entry(4, doc_id="b.md")]
    rows = unit([[1, 0], [1, 1], [0, 1], [1, 0]])

    found = neighbourhoods(entries, rows)

    assert found.sibling.tolist() == pytest.approx([0.5**0.5, 0.5**0.5, 0.5**0.5, -1])


def test_neighbours_are_counted_among_the_ten_nearest() -> None:
    """Of two dozen around a middle one only the last is near to nobody."""
    angles = np.append(np.linspace(0, 0.1, 24), 2.0)
    rows = unit(np.stack((np.cos(angles), np.sin(angles)), axis=1).tolist())

    found = neighbourhoods([entry(at) for at in range(25)], rows)

    assert found.neighbour_of[-1] == 0
    assert found.neighbour_of.sum() == pytest.approx(25 * 10, abs=3)


def test_neighbourhoods_are_the_same_in_blocks() -> None:
    """More entries than are held against all others at a time."""
    generator = np.random.default_rng(2)
    rows = unit(generator.standard_normal((300, 4)).tolist())
    entries = [entry(at, doc_id=f"{at % 7}.md") for at in range(300)]

    found = neighbourhoods(entries, rows)

    likeness = rows @ rows.T
    np.fill_diagonal(likeness, -1)
    nearest = np.argsort(-likeness, axis=1)[:, :10]
    assert found.neighbour_of.tolist() == np.bincount(nearest.ravel()).tolist()
    related = np.arange(300)[:, None] % 7 == np.arange(300)[None, :] % 7
    siblings = np.where(related, likeness, -1).max(axis=1)
    assert found.sibling == pytest.approx(siblings, abs=1e-6)


def test_a_shift_that_features_tell_is_learnt_from_other_documents() -> None:
    """What held elsewhere is expected here."""
    pair, feature = paired(documents=20, each=20)

    found = expected_shift(pair, feature[:, None])

    assert found is not None
    assert np.corrcoef(found, feature)[0, 1] > 0.8


def test_no_entry_has_a_say_in_what_is_expected_of_it() -> None:
    """The sentences of a document change what is expected of others alone."""
    pair, feature = paired(documents=6, each=10)
    rows = pair.stated_rows.copy()
    rows[:10] = -pair.free_rows[:10]

    before = expected_shift(pair, feature[:, None])
    after = expected_shift(replace(pair, stated_rows=rows), feature[:, None])

    assert before is not None
    assert after is not None
    assert (before[:10] == after[:10]).all()
    assert (before[10:20] != after[10:20]).all()


@pytest.mark.parametrize(
    ("documents", "stated"), [(1, True), (5, False)], ids=["one", "nothing said"]
)
def test_nothing_is_expected_without_other_documents(
    documents: int, stated: bool
) -> None:
    """One document says nothing about others, and no sentence nothing at all."""
    pair, feature = paired(documents=documents, each=8, stated=stated)

    assert expected_shift(pair, feature[:, None]) is None


def test_what_a_log_asks_about_comes_first() -> None:
    """Two questions about one passage weigh more than one about another."""
    rows = unit([[1, 0, 0], [0, 1, 0], [0, 0, 1]])
    log = unit([[1, 0.2, 0.1], [1, 0.1, 0.2], [0.1, 1, 0]])

    found = asked_about(rows, log)

    assert np.argsort(-found).tolist() == [0, 1, 2]


def test_every_score_has_a_finite_number_for_each_entry() -> None:
    """Names are those that reports show; the log's is there when there is a log."""
    pair, _ = paired(documents=3, each=4)

    without = needs(pair, str.split)
    found = needs(pair, str.split, pair.free_rows[:2])

    assert list(found) == [
        "short text",
        "missing heading words",
        "near a sibling",
        "near to few",
        "asked about",
    ]
    assert without == {name: found[name] for name in list(found)[:-1]}
    assert all(len(scores) == 12 for scores in found.values())
    assert np.isfinite(list(found.values())).all()


def test_a_lone_entry_is_scored() -> None:
    """A corpus may be one chunk."""
    pair, _ = paired(documents=1, each=1)

    found = needs(pair, str.split)

    assert found["near a sibling"] == (-1.0,)
    assert found["near to few"] == (0.0,)
    assert "asked about" not in found
