"""Questions without labels: what people asked, and where two arms differ on it.

Where two arms hand over the same, a person's judgement cannot tell them apart; so
those questions alone are judged, and the others count as no difference.
"""

from __future__ import annotations

import json
import random
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Final

from situate.compare.blind import Contest, Passage, page, read, seat
from situate.compare.questions import Question
from situate.compare.statistics import difference, resample
from situate.compare.trial import handed_over, rankings_of
from situate.errors import RecordError
from situate.fields import Fields
from situate.model import digest
from situate.records import from_line, read_lines

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

    from situate.compare.arms import Arm, Entry
    from situate.compare.blind import Judged, Key
    from situate.compare.comparison import Difference
    from situate.compare.ranking import Retriever
    from situate.compare.trial import Setting

_SEEN: Final = 5
"""Passages of a ranking that a person reads."""

_JUDGED: Final = 50
"""Questions of a page: what a person judges in an hour."""


def load_log(path: Path) -> tuple[Question, ...]:
    """Read a query log: JSON lines with `query`, and `qid` if they have one.

    A line that is no JSON object is a query itself. Equal queries count once.

    Raises:
        RecordError: it cannot be read or has no query.
    """
    found: dict[str, Question] = {}
    qids: set[str] = set()
    for number, (where, line) in enumerate(read_lines(path), 1):
        if not line.strip():
            continue
        if line.lstrip().startswith(b"{"):
            fields = Fields(from_line(line, where), where)
            query = fields.text("query").strip()
            qid = fields.text("qid") if "qid" in fields else f"log{number}"
        else:
            try:
                query = line.decode("utf-8-sig").strip()
            except UnicodeDecodeError as error:
                message = f"{where}: not UTF-8: {error}"
                raise RecordError(message) from error
            qid = f"log{number}"
        if query:
            question = Question(qid=qid, query=query, gold=(), origin="judged")
            if query not in found and qid in qids:
                message = f"{where}: qid {qid!r} stands there twice"
                raise RecordError(message)
            found.setdefault(query, question)
            qids.add(qid)
    if not found:
        message = f"{path}: no query in it"
        raise RecordError(message)
    return tuple(found.values())


def contests(
    arms: tuple[Arm, Arm],
    log: Sequence[Question],
    setting: Setting,
    retriever: Retriever,
    *,
    seed: int,
) -> tuple[tuple[Contest, ...], float]:
    """Give questions on which two arms differ, and their share of the log.

    They differ where the passages they hand over first are not the same, whatever
    their order. Of more than a page holds, some are drawn by the seed.
    """
    first, second = (_first(arm, log, setting, retriever) for arm in arms)
    differing = [
        number
        for number in range(len(log))
        if {entry.text for entry in first[number]}
        != {entry.text for entry in second[number]}
    ]
    drawn = random.Random(seed).sample(differing, min(_JUDGED, len(differing)))  # noqa: S311 - a sample, no secret
    found = tuple(
        Contest(
            qid=log[number].qid,
            query=log[number].query,
            first=tuple(map(_passage, first[number])),
            second=tuple(map(_passage, second[number])),
            weight=len(differing) / len(drawn),
        )
        for number in sorted(drawn)
    )
    return found, len(differing) / len(log)


def blind_page(
    corpus: str,
    pair: tuple[str, str],
    found: tuple[tuple[Contest, ...], float],
    *,
    basis: str,
    seed: int,
) -> tuple[bytes, Key]:
    """Give the page to judge on and the key that says whose a ranking is."""
    questions, share = found
    pairs, key = seat(questions, pair, seed=seed, differing_share=share)
    return page(corpus, pairs), replace(key, basis=basis)


def basis(arm: Arm, rival: Arm) -> str:
    """Name what two arms index: judgements hold for that and for nothing else."""
    texts = [
        [entry.entry_id, entry.dense, *entry.lexical]
        for each in (arm, rival)
        for entry in each.entries
    ]
    return digest(json.dumps(texts, ensure_ascii=True))


def read_judged(files: Sequence[tuple[str, Path]]) -> tuple[Judged, ...]:
    """Read judgements, each with the key of its page.

    Raises:
        RecordError: a file is not what it says, a page is given twice, or nothing on
            one is judged yet.
    """
    found: dict[str, Judged] = {}
    for key, file in files:
        judged = read(file, Path(key))
        if judged.key.page in found:
            message = f"{key}: the page {judged.key.page!r} is given twice"
            raise RecordError(message)
        if not judged.judgements:
            message = f"{file}: nothing of {len(judged.unjudged)} is judged yet"
            raise RecordError(message)
        found[judged.key.page] = judged
    return tuple(found.values())


def check_judged(judged: Sequence[Judged], names: Collection[str]) -> None:
    """Refuse judgements of arms that will not be there, before these are paid for.

    Raises:
        RecordError: a page was about an arm of another name.
    """
    for each in judged:
        for said in each.key.arms:
            arm = said.partition(": ")[2]
            if arm not in names:
                message = (
                    f"what was judged is about the arm {arm!r}, which is not compared "
                    "here; name its prompt"
                )
                raise RecordError(message)


def judged_difference(judged: Judged, *, seed: int) -> Difference:
    """Give the share of the log that prefers the first arm, less the second's.

    What the judged questions show holds for all on which the arms differ, and the
    share of those is known: every question of the log was ranked.
    """
    first, _ = judged.key.arms
    ours = [_worth(judgement.winner, first) for judgement in judged.judgements]
    theirs = [1 - value for value in ours]
    clusters = [judgement.qid for judgement in judged.judgements]
    found = difference(ours, theirs, resample(clusters, seed=seed))
    share = judged.key.differing_share
    return replace(
        found,
        mean=found.mean * share,
        low=found.low * share,
        high=found.high * share,
        detectable=found.detectable * share,
    )


def _worth(winner: str | None, arm: str) -> float:
    if winner is None:
        return 0.5
    return 1.0 if winner == arm else 0.0


def _first(
    arm: Arm, log: Sequence[Question], setting: Setting, retriever: Retriever
) -> list[list[Entry]]:
    rankings = rankings_of(arm, log, setting)
    return [
        handed_over(ranking, arm, setting.returned)[:_SEEN]
        for _, one, ranking, _ in rankings
        if one == retriever
    ]


def _passage(entry: Entry) -> Passage:
    return Passage(heading=entry.breadcrumb or entry.doc_id, text=entry.text)
