"""Words are hidden however they are laid out: marks, line ends and escapes are none."""

from __future__ import annotations

import re
from random import Random
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from situate.enrichment.redaction import Redaction, quotable
from situate.enrichment.redaction.plain import Plain, folded
from tests.enrichment.test_redaction_cuts import ROOMS, shown, telling
from tests.support.secret_documents import EXPRESSIONS, SECRETS, secret_document

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from situate.model import Span

NAME = "Jane Smith"
BY_EXPRESSION = Redaction.of([NAME])


def by_function(text: str) -> Iterator[Span]:
    """Find a name as it is written with one blank."""
    yield from (found.span() for found in re.finditer(NAME, text))


BY_FUNCTION = Redaction(find=by_function, source="hash of a file")

SPELLINGS = {
    "bold": "Jane **Smith**",
    "bold-inside": "Ja**ne Smi**th",
    "italic": "*Jane* Smith",
    "underscores": "_Jane_ __Smith__",
    "struck": "~~Jane~~ Smith",
    "code": "Jane `Smith`",
    "wrapped": "Jane\nSmith",
    "wrapped-by-force": "Jane\\\nSmith",
    "wide-blanks": "Jane  \t Smith",
    "no-break": "Jane\u00a0Smith",
    "entity": "Jane&nbsp;Smith",
    "number": "Jane&#32;&#x53;mith",
    "soft-hyphen": "Ja\u00adne Smi\u200bth",
    "link": "Jane [Smith](https://example.com/Jane-Smith)",
    "link-with-title": "[Jane](<a b> 'of Jane') Smith",
    "reference": "Jane [Smith][1]",
    "footnote": "Jane[^1] Smith",
    "escape": "\\*Jane\\* Smith",
    "tag": "Jane <b class='x'>Smith</b>",
    "line-tag": "Jane<br/>Smith",
}


@pytest.mark.parametrize("hiding", [BY_EXPRESSION, BY_FUNCTION], ids=["list", "hook"])
@pytest.mark.parametrize("spelling", SPELLINGS.values(), ids=list(SPELLINGS))
def test_a_name_is_hidden_however_it_is_laid_out(
    hiding: Redaction, spelling: str
) -> None:
    """In headings, running text, lists, quotations and tables; the rest stays."""
    one = spelling.replace("\\\n", " ").replace("\n", " ")
    quoted = spelling.replace("\n", "\n> ")
    text = (
        f"# About {one} here\n\nSee {spelling} there.\n\n- An item of {spelling}.\n\n"
        f"> Said by {quoted}, often.\n\n| who |\n|---|\n| {one} |\n"
    )

    (leaf,) = shown(text, (512, 96), hiding).chunks

    seen = f"{leaf.text} {leaf.breadcrumb_line} {leaf.metadata.title}"
    assert not {"Jane", "Smith", "Ja", "mith"} & set(re.split(r"[\W_]+", seen))
    for words in ("About", "See", "there.", "An item of", "often.", "| who |"):
        assert words in leaf.text


def test_a_link_that_says_what_is_hidden_goes_with_its_target() -> None:
    """Targets repeat what links say, in a spelling of their own."""
    text = "# A\n\nAsk [our Jane Smith](https://example.com/j-smith) or [us](/us).\n"

    (leaf,) = shown(text, (512, 96), BY_EXPRESSION).chunks

    assert leaf.text == "# A\n\nAsk [redacted] or [us](/us)."


def test_a_word_that_is_known_from_elsewhere_is_hidden_however_it_is_laid_out() -> None:
    """What is hidden in one place of a document is hidden in all of it."""
    text = "# A\n\nPassword: hunter tree.\n\n# B\n\nType hunter *tree*, hunter\ntree.\n"
    found = shown(text, (512, 96), Redaction.of([r"(?<=Password: )\w+ \w+"]))

    assert all("tree" not in leaf.text for leaf in found.chunks)


@pytest.mark.parametrize(
    ("expression", "text", "expected"),
    [
        ("Jane Smith", "Jane\n  Smith", "[redacted]"),
        (r"Jane\ Smith", "Jane\tSmith", "[redacted]"),
        ("Jane *Smith", "Jane \n Smith", "[redacted]"),
        ("Jane[ -]Smith", "Jane\u2009Smith", "[redacted]"),
        ("(?x) Jane [ ] Smith", "Jane Smith", "[redacted]"),
        (r"a \N{LATIN SMALL LETTER B}", "a\nb", "[redacted]"),
        ("(?m)^key: .*$", "key: a b\nnext", "[redacted]\nnext"),
        ("key: .*", "a\nkey: a **b**\nnext", "a\n[redacted]\nnext"),
        ("Jane.Smith", "a Jane\nSmith b", "a [redacted] b"),
        ("Jane( Smith)?", "a Jane *Smith* b", "a [redacted]* b"),
        ("two  blanks", "two blanks", "[redacted]"),
        ("Jane Smith", "Jane\n\nSmith", "Jane\n\nSmith"),
        ("x: [a-z ]+", "x: *a b*\nc d\n\ne f", "[redacted]\n\ne f"),
        (r"x:[^\n a]", "x:b x: x:\n", "[redacted] x: x:\n"),
    ],
)
def test_blanks_of_expressions_match_any_white_space(
    expression: str, text: str, expected: str
) -> None:
    """Lines stay lines for what asks for the rest of one."""
    assert quotable(text, Redaction.of([expression])) == expected


def test_blanks_that_may_be_many_do_not_take_for_ever() -> None:
    """An expression keeps the time it takes when its blanks match more."""
    text = "Jane" + " \n" * 5_000 + "Smyth"

    for expression in (
        "Jane *Smith",
        "Jane( )*Smith",
        "Jane(  )+Smith",
        "Jane  +Smith",
    ):
        assert Redaction.of([expression]).all_spans(text, on_one_line=True) == []


@given(st.text(st.sampled_from("ab  \n*_`[](u)!&;<>\\-#\u00ad|"), max_size=60))
def test_every_sign_of_a_reading_has_a_place_in_its_text(text: str) -> None:
    """In order, and a letter is the letter that stands there."""
    plain = Plain(text)

    places = [plain._source(place) for place in range(len(plain.text))]

    assert all(0 <= start < end <= len(text) for start, end in places)
    assert places == sorted(places)
    assert len(plain.line) == len(plain.text)
    for sign, (start, end) in zip(plain.text, places, strict=True):
        assert sign in " \n" or sign == text[start:end] or text[start] in "\\&"


@pytest.mark.parametrize(
    "said",
    [
        "<!--",
        "[",
        '](x "',
        "](x (",
        "*",
        "\n- ",
        "<a ",
        "&amp",
        "[^a",
        "\\",
        " ",
        "`",
        "](",
    ],
)
def test_a_reading_takes_no_longer_for_what_is_made_to_be_slow(said: str) -> None:
    """A hundred thousand signs that open something and never close it."""
    text = said * (100_000 // len(said))

    assert len(folded(text)) <= len(text)


LAYOUTS: tuple[Callable[[str], str], ...] = (
    lambda secret: secret.replace(" ", "\n", 1),
    lambda secret: f"**{secret[:1]}**{secret[1:]}",
    lambda secret: secret.replace(" ", "&nbsp;"),
    lambda secret: f"[{secret}](https://example.com/{secret.replace(' ', '-')})",
    lambda secret: secret.replace(" ", " *", 1) + "*" * (" " in secret),
    lambda secret: f"{secret[:2]}\u00ad{secret[2:]}",
)


@given(st.integers(0, 2**32), ROOMS)
def test_nothing_of_any_secret_is_shown_however_it_is_laid_out_and_cut(
    seed: int, rooms: tuple[int, int]
) -> None:
    """Found by expressions that know one spelling of each."""
    chance = Random(seed)  # noqa: S311 - draws documents, not secrets

    def laid_out(words: str) -> str:
        return chance.choice(LAYOUTS)(words) if words in SECRETS else words

    text = secret_document(chance, laid_out)

    assert telling(shown(text, rooms, Redaction.of(EXPRESSIONS))) == []
