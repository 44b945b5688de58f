"""The forms in which Word writes the numbers of lists."""

from __future__ import annotations

import pytest

from situate.readers.docx.numerals import numeral


@pytest.mark.parametrize(
    ("form", "values"),
    [
        ("decimal", {1: "1", 27: "27"}),
        ("decimalZero", {1: "01", 12: "12", 100: "100"}),
        ("lowerLetter", {1: "a", 26: "z", 27: "aa", 28: "bb", 780: "z" * 30}),
        ("upperLetter", {3: "C"}),
        ("lowerRoman", {1: "i", 4: "iv", 1994: "mcmxciv", 3999: "mmmcmxcix"}),
        ("upperRoman", {9: "IX"}),
        ("ordinal", {1: "1st", 2: "2nd", 3: "3rd", 11: "11th", 21: "21st"}),
        ("cardinalText", {1: "One", 20: "Twenty", 42: "Forty-two"}),
        (
            "ordinalText",
            {1: "First", 12: "Twelfth", 20: "Twentieth", 42: "Forty-second"},
        ),
        ("chicago", {1: "*", 2: "†", 5: "**"}),
        ("decimalEnclosedCircle", {1: "①", 20: "⑳", 21: "21"}),
        ("chineseCounting", {1: "一", 10: "十", 21: "二十一"}),
        ("russianLower", {28: "я"}),
        ("hex", {255: "FF"}),
        ("unheardOf", {7: "7"}),
    ],
)
def test_numbers_have_many_forms(form: str, values: dict[int, str]) -> None:
    """Letters repeat after the last; what is unknown is decimal."""
    assert {value: numeral(value, form) for value in values} == values


@pytest.mark.parametrize(
    "form", ["lowerLetter", "upperRoman", "cardinalText", "chicago"]
)
@pytest.mark.parametrize("value", [-1, 0, 999_999_999])
def test_numbers_beyond_a_form_stay_short(form: str, value: int) -> None:
    """A billion in Roman numerals would have a million letters."""
    assert len(numeral(value, form)) <= 10
