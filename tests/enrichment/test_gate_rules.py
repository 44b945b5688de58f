"""Statements that were judged by other rules are judged again."""

from __future__ import annotations

import hashlib
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from situate.enrichment import gate
from situate.enrichment.providers.scripted import ScriptedProvider
from tests.enrichment.scenes import GOOD, document, play

if TYPE_CHECKING:
    import pytest

JUDGES = "b5504951ae2b0b13"
"""Of the code that judges as it stands under `gate.RULES`. When this test fails,
raise `RULES` if anything is now accepted or refused that was not, and put the new
hash here."""

ONE = document("The above limits do not apply to renewals of the cover.")


def _code() -> str:
    home = Path(gate.__file__).parent
    names = ("gate.py", "language.py", "marked.py", "statement.py")
    files = [*(home / name for name in names), *sorted(home.glob("grounding/*.py"))]
    return hashlib.sha256(b"".join(path.read_bytes() for path in files)).hexdigest()


def test_a_change_of_the_judges_is_noticed() -> None:
    """Kept statements depend on the code that accepted them."""
    assert (gate.RULES, _code()[:16]) == (2, JUDGES)


def test_stricter_rules_take_back_what_looser_ones_accepted(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """E3: nothing is asked for it but the repair."""
    accepted = play(ScriptedProvider([GOOD]), tmp_path, ONE)
    again = play(ScriptedProvider([]), tmp_path, ONE)
    stricter = replace(gate.STATEMENTS, rules=gate.RULES + 1)
    monkeypatch.setattr("situate.enrichment.live.STATEMENTS", stricter)
    judged = play(ScriptedProvider([GOOD]), tmp_path, ONE, statement_max_tokens=60)
    strict = play(
        ScriptedProvider([GOOD, GOOD, GOOD]), tmp_path, ONE, statement_max_tokens=8
    )

    assert accepted.outcomes == again.outcomes == judged.outcomes == [GOOD]
    assert strict.outcomes == ["too_long"]
