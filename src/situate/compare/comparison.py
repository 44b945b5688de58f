"""What a comparison found: values that statistics, verdict and report share.

Numbers of a question are those of `measures`, numbers of a difference those of
`statistics`; nothing here computes.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from collections.abc import Mapping
    from decimal import Decimal

Choice = Literal["keep", "skip", "undecided"]

Origin = Literal["given", "drafted", "judged"]
"""Where a question comes from: with labels of the user's, drafted by `queries make`,
or out of a query log and judged by a person."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Difference:
    """What an arm's mean has over that of the arm it is held against.

    Paired by question and clustered by document, so that questions about one
    document count as the relatives they are.
    """

    mean: float
    low: float
    """Lower end of the 95 % bootstrap interval."""
    high: float
    p: float
    """Two-sided p-value of the sign-flip test, not corrected."""
    detectable: float
    """The least true difference that a test at 5 % would find four times in five."""
    questions: int
    clusters: int
    """Documents that the questions are about."""
    won: int
    """Questions on which the arm did better."""
    lost: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Standing:
    """One measure of one arm under one retriever."""

    retriever: str
    arm: str
    measure: str
    mean: float
    low: float
    """Lower end of the 95 % bootstrap interval of the mean, clustered by document."""
    high: float
    against: str | None
    """The arm it is held against; None for the one that others are held against."""
    difference: Difference | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Verdict:
    """Whether one arm's sentences are worth their price under one retriever."""

    retriever: str
    arm: str
    against: str
    choice: Choice
    reason: str
    """A sentence a reader can sign: the figures that decided, in words."""
    difference: Difference
    """Of the primary measure."""
    p_adjusted: float
    """Holm's, over all verdicts of the comparison."""
    recovered: int
    """Questions answered with the arm and not without, less those lost."""
    usd: Decimal | None
    """What the arm's sentences cost once, at list price and with nothing cached."""
    usd_per_recovered: Decimal | None
    """None where nothing is recovered or no price is known."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ArmFacts:
    """What an arm is made of."""

    name: str
    kind: Literal[
        "none",
        "breadcrumb",
        "statement",
        "breadcrumb+statement",
        "windows",
        "file",
        "run",
    ]
    prompt: str | None
    """The prompt its statements were asked with."""
    statement_in: Literal["dense", "both"] | None
    """Which indexes hold the statement; None without one."""
    entries: int
    text_tokens: int
    """Tokens of all `text`."""
    embed_tokens: int
    """Tokens of all `embed_text`: what an embedder is paid for."""
    growth: float | None
    """`embed_tokens` over those of the arm it is held against; None for that one."""
    statements: int
    """Entries with a statement."""
    added_words: float | None
    """Share of the statements with a content word that neither the breadcrumb nor
    the text has; None without statements."""
    usd: Decimal | None
    unplaced: int = 0
    """Entries whose text was found nowhere in its document."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FrontierPoint:
    """The primary measure with a share of the chunks enriched, the rest not."""

    retriever: str
    arm: str
    score: str
    """How the share was chosen."""
    share: float
    """Of the chunks that have a statement, from 0 to 1."""
    mean: float
    random_mean: float
    """Mean over random choices of the same share."""
    random_low: float
    """The lower end of what 95 % of the random choices reach."""
    random_high: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Hit:
    """One retrieved entry of one question."""

    entry: int
    """Its index in the browser's entries."""
    covers: float
    """The largest share of a gold excerpt that it covers alone."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Shown:
    """One question as the report's browser shows it."""

    qid: str
    query: str
    kind: str | None
    origin: Origin
    gold: tuple[tuple[str, str], ...]
    """Document and words of each excerpt."""
    hits: Mapping[str, Mapping[str, tuple[Hit, ...]]]
    """By retriever, then arm: the first entries, best first."""
    primary: Mapping[str, Mapping[str, float]]
    """The primary measure, by retriever and arm."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ShownEntry:
    """One entry as the report's browser shows it."""

    entry_id: str
    doc_id: str
    breadcrumb: str
    statement: str | None
    text: str
    """Shortened where it is long."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Comparison:
    """Everything a report says."""

    corpus: str
    documents: int
    questions: int
    clusters: int
    origins: Mapping[Origin, int]
    primary: str
    """The measure verdicts go by: `rec@2000r`."""
    margin: float
    """The least gain of the primary measure that is worth paying for."""
    seed: int
    embedder: str | None
    verdicts: tuple[Verdict, ...]
    arms: tuple[ArmFacts, ...]
    standings: tuple[Standing, ...]
    frontier: tuple[FrontierPoint, ...]
    milliseconds: Mapping[str, float]
    """Median time to rank one question, by `retriever / arm`; of this machine, and
    the one thing here that differs between two runs."""
    notes: tuple[str, ...]
    """What a reader has to know: what was left out and why, what failed."""
    made: Mapping[str, str] = field(default_factory=dict)
    """How it was made, so that two reports can be told apart."""
    shown: tuple[Shown, ...] = ()
    entries: tuple[ShownEntry, ...] = field(default=())
