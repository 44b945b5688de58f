"""Grounding: what a statement names was shown, in whatever form (E8)."""

from __future__ import annotations

from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from situate.enrichment.grounding import Ungrounded, evidence_of, ungrounded
from situate.enrichment.grounding.forms import Source
from tests.enrichment.labelled import GROUNDED, score, statements

LABELLED = statements()


def unshown(
    shown: str, statement: str, language: str | None = "en", passage: str | None = None
) -> Ungrounded:
    """Judge a statement about a text that was shown."""
    return ungrounded(
        statement, language, evidence_of(shown), shown if passage is None else passage
    )


def test_the_labelled_set_is_large_and_mostly_about_forms() -> None:
    """At least 300 statements in five languages, two of five true."""
    labels = Counter(each.label for each in LABELLED)

    assert labels.total() >= 300
    assert labels["true"] >= 0.4 * labels.total()
    assert {each.language for each in LABELLED} == {"en", "de", "fr", "es", "zh"}


@given(st.text(st.characters(max_codepoint=127)))
def test_plain_texts_have_the_words_they_have_beside_other_signs(text: str) -> None:
    """ASCII has a quicker way to its words, which is another way to the same."""
    plain, beside = Source.of(text), Source.of(f"{text}\n\u00e9")

    assert plain.identifiers == beside.identifiers - {"\u00e9"}
    assert plain.words == beside.words - {"\u00e9"}


@pytest.mark.parametrize("named", [True, False], ids=["named", "unnamed"])
def test_wrong_numbers_and_dates_are_found_and_true_ones_pass(*, named: bool) -> None:
    """Scene L09; floors: lowering one is an explicit act."""
    result = score(LABELLED, named=named)

    assert result.recall("number", "date") >= 0.98
    assert result.false_alarms <= 0.02
    assert result.recall("unit") >= 0.95
    assert result.recall("quotation") >= 0.95
    assert result.recall("name") >= 0.95


@pytest.mark.parametrize("language", ["en", "de", "fr", "es", "zh"])
def test_every_language_meets_the_floors(language: str) -> None:
    """None is carried by the others."""
    result = score((e for e in LABELLED if e.language == language), named=True)

    assert result.recall("number", "date") >= 0.98
    assert result.false_alarms <= 0.02
    assert result.recall(*GROUNDED) >= 0.95


SAME = {
    "point": ("en", "It costs 1,000.5 euros.", "1000.5"),
    "comma": ("en", "It costs 1,000.5 euros.", "1.000,5"),
    "blank": ("en", "It costs 1,000.5 euros.", "1 000,5"),
    "apostrophe": ("en", "It costs 1,000.5 euros.", "1'000.50"),
    "lakh": ("en", "It costs 1,00,000 rupees.", "100,000"),
    "millions": ("en", "It cost 1.5 million.", "1,500,000"),
    "Millionen": ("de", "Das sind 2,5 Mio. Euro.", "2.500.000 Euro"),
    "words": ("en", "It takes twenty-four steps.", "24"),
    "digits": ("en", "It takes 24 steps.", "twenty-four"),
    "hundreds": ("en", "It has one hundred and twenty rooms.", "120"),
    "german": ("de", "Es sind 121 Räume.", "einhunderteinundzwanzig"),
    "french": ("fr", "Il y a 97 salles.", "quatre-vingt-dix-sept"),
    "spanish": ("es", "Hay 45 salas.", "cuarenta y cinco"),
    "wide": ("zh", "共有\uff11\uff12个房间。", "12"),
    "ideographs": ("zh", "最多1200元。", "一千二百元"),
    "myriads": ("zh", "共计350万元。", "三百五十万元"),
    "yuan": ("zh", "共计350万元。", "3500000元"),
    "percent": ("en", "It rises by 10 %.", "10 percent"),
    "percent-zh": ("zh", "占10%。", "百分之十"),
    "half": ("en", "Of it 50 % is paid.", "half of"),
    "thirds": ("en", "It pays two thirds of it.", "2/3"),
    "tiers": ("fr", "Il paie les 2/3 de la somme.", "deux tiers"),
    "vulgar": ("en", "It takes 1½ cups.", "1.5"),
    "ordinal": ("en", "It stands on the 3rd floor.", "third"),
    "roman": ("en", "Article IV holds.", "article 4"),
    "arabic": ("en", "Article 4 holds.", "Article IV"),
    "range": ("en", "It takes 10 to 20 days.", "10 days"),
    "legal": ("en", "It takes thirty (30) days.", "30 days"),
    "adjective": ("de", "Es gilt eine vierzehntägige Frist.", "14 Tage"),
    "hyphen": ("en", "It has a 14-day limit.", "fourteen days"),
    "one": ("de", "Das ist jeden Monat und nicht auf einmal fällig.", "1 Monat"),
    "version": ("en", "Since 1.28.3 it holds.", "v1.28"),
    "dollars": ("en", "It costs $30.", "30 dollars"),
    "code": ("en", "It costs $30.", "USD 30"),
    "speed": ("en", "At most 50 km/h.", "50 kilometres per hour"),
    "degrees": ("en", "It has 65 °C.", "65 degrees"),
}


@pytest.mark.parametrize(("language", "shown", "form"), SAME.values(), ids=SAME.keys())
def test_a_number_is_the_same_in_all_its_forms(
    language: str, shown: str, form: str
) -> None:
    """Nobody is accused of writing a number differently."""
    assert unshown(shown, f"x {form} x", language).offenders == ()


DATES = {
    "iso": "2024-03-03",
    "german": "3. März 2024",
    "german-digits": "03.03.2024",
    "short": "3.3.24",
    "english": "3 March 2024",
    "american": "March 3, 2024",
    "ordinal": "the 3rd of March 2024",
    "slashes": "03/03/2024",
    "french": "le 3 mars 2024",
    "spanish": "3 de marzo de 2024",
    "chinese": "2024年3月3日",
    "ideographs": "二〇二四年三月三日",
}


@pytest.mark.parametrize("said", DATES.values(), ids=DATES.keys())
@pytest.mark.parametrize("shown", DATES.values(), ids=DATES.keys())
def test_a_date_is_the_same_in_all_its_forms(shown: str, said: str) -> None:
    """The day counts, not how it is written."""
    assert unshown(f"Ends {shown}.", f"Over {said}.", None).dates == ()


@pytest.mark.parametrize("verb", ["may", "May"])
def test_only_a_capital_makes_a_month_of_a_verb(verb: str) -> None:
    """What may be done under Annex 3 is not done on the third of May."""
    found = unshown("See Annex 3.", f"Firms of Annex 3 {verb} process data from it.")

    assert bool(found.dates) == verb.istitle()


@pytest.mark.parametrize("said", DATES.values(), ids=DATES.keys())
def test_another_day_is_another_date(said: str) -> None:
    """In every form."""
    assert unshown("Ends 4 March 2024, not 5 April 2023.", said, None).dates


@pytest.mark.parametrize(
    ("shown", "said", "is_shown"),
    [
        ("Due 03/04/2024.", "3 April 2024", True),
        ("Due 03/04/2024.", "4 March 2024", True),
        ("Due 03/04/2024.", "4 May 2024", False),
        ("Report 2024. Due 3 March.", "3 March 2024", True),
        ("Due 3 March 2024.", "in March 2024", True),
        ("Due 3 March 2024.", "in 2024", True),
        ("Due 3 March 2024.", "in 2025", False),
        ("From 1 to 15 March 2024.", "from 1 March to 15 March", True),
        ("Open 17:00.", "at 5 p.m.", True),
        ("Open 17:00.", "at 6 p.m.", False),
        ("Von 8 bis 17 Uhr.", "8:00", True),
        ("In Q3 2025.", "in the third quarter of 2025", True),
        ("In Q3 2025.", "in the fourth quarter of 2025", False),
        ("Closed on Mondays.", "on Monday", True),
        ("Closed on Mondays.", "on Tuesday", False),
        ("It lasts 24 hours.", "it lasts 24 h", True),
        ("See section 1.3 first.", "as in 1.3.", True),
    ],
)
def test_dates_match_as_far_as_they_go(
    shown: str, said: str, *, is_shown: bool
) -> None:
    """What is not said is not compared; what may be read twice fits either way."""
    assert (unshown(shown, said).dates == ()) is is_shown


@pytest.mark.parametrize(
    ("shown", "said", "offender"),
    [
        ("It takes 30 hours.", "It takes 30 minutes.", "30 minutes"),
        ("It takes 10 business days.", "It takes 10 days.", "10 days"),
        ("It takes 10 days.", "It takes ten working days.", "ten working days"),
        ("It holds 10 MB.", "It holds 10 GB.", "10 GB"),
        ("It holds 10 MiB.", "It holds 10 MB.", "10 MB"),
        ("It costs 5 EUR.", "It costs $5.", "5"),
        ("It rises by 5 %.", "It rises by 5 percentage points.", "5 percentage points"),
    ],
)
def test_a_number_with_another_unit_is_another_measure(
    shown: str, said: str, offender: str
) -> None:
    """Thirty minutes are not grounded by thirty hours."""
    found = unshown(shown, said)

    assert found.units == (offender,)
    assert found.numbers == ()


@pytest.mark.parametrize(
    "shown",
    [
        "| Item | Fee (EUR) |\n| --- | --- |\n| Visa | 30 |",
        "Fees in euros\n\n| Item | Fee |\n| --- | --- |\n| Visa | 30 euros |",
        "fee_euros: 30",
    ],
    ids=["header", "cell", "key"],
)
def test_a_bare_number_has_the_unit_of_its_table_or_key(shown: str) -> None:
    """Tables name their units once."""
    assert unshown(shown, "A visa costs 30 €.").offenders == ()
    assert unshown(shown, "A visa costs 30 kg.").units == ("30 kg",)


@pytest.mark.parametrize(
    ("language", "said"),
    [
        ("en", "One of the rules applies twice to a member."),
        ("en", "A third party pays for it once."),
        ("de", "Ein Antrag gilt für einen Dritten."),
        ("fr", "Une demande suffit pour un véhicule neuf."),
        ("es", "Una solicitud basta para un tercero."),
        ("zh", "一般情况下统一由第三方处理。"),
    ],
)
def test_articles_and_parties_are_no_numbers(language: str, said: str) -> None:
    """Words that could count and do not."""
    found = unshown("Nothing is counted here at all.", said, language)

    assert (found.numbers, found.units) == ((), ())


def test_a_statement_may_count_what_its_passage_lists() -> None:
    """Three conditions are three when the list has three items."""
    listed = "A claim needs:\n\n- a receipt\n- an order\n- a name"

    assert unshown(listed, "A claim has three conditions.").numbers == ()
    assert unshown(listed, "A claim has four conditions.").numbers == ("four",)


@pytest.mark.parametrize(
    ("said", "is_shown"),
    [
        ("It says “no receipt, no refund” to all.", True),
        ("It says 'No receipt; no refund' to all.", True),
        ("It says «no receipt … refund» to all.", True),
        ("It says “every receipt counts” to all.", False),
        ("It says “refunded” to all.", True),
        ("The member's and the traveller's duties.", True),
    ],
)
def test_quotations_stand_word_for_word(said: str, *, is_shown: bool) -> None:
    """Case, blanks and marks aside; a single word is no quotation."""
    found = unshown("In short: no receipt, no refund.", said)

    assert (found.quotations == ()) is is_shown


@pytest.mark.parametrize(
    ("language", "said", "names"),
    [
        ("en", "It is paid by Northfield's desk.", ()),
        ("en", "It is paid by Southfield Ltd.", ("Southfield Ltd",)),
        ("en", "Southfield pays for it.", ()),
        ("en", "The CRD is served by GitHub.", ("GitHub",)),
        ("de", "Der Antrag geht an die Behörde.", ()),
        ("de", "Der Antrag geht an das BAMF.", ("BAMF",)),
        ("zh", "申请在系统SAP中提交。", ("SAP",)),
        ("zh", "申请在Northfield提交。", ()),
        (None, "Xyz Qrs tlm Vwx.", ()),
    ],
)
def test_names_are_judged_where_something_marks_them(
    language: str | None, said: str, names: tuple[str, ...]
) -> None:
    """Capitals inside a sentence, in other scripts Latin letters."""
    shown = "Northfield pays. See the Custom Resource Definition."

    assert unshown(shown, said, language).names == names


@given(st.text(max_size=80), st.sampled_from(["en", "de", "fr", "es", "zh", None]))
def test_what_was_shown_is_grounded(text: str, language: str | None) -> None:
    """A text accuses itself of no number, date or name, whatever stands in it."""
    found = ungrounded(text, language, evidence_of(text), text)

    assert found.names == ()


@given(
    st.lists(
        st.sampled_from(
            ["3", "1.000", "1,5", "twenty", "hundred", "三", "March", "2024", "EUR",
             "%", "-", "/", ".", " ", "Uhr", "XIV", "“", "”", "½", "万", "年", "h"]
        )
    ).map("".join),
    st.sampled_from(["en", "de", "fr", "zh", None]),
)  # fmt: skip
def test_offenders_stand_in_the_statement(text: str, language: str | None) -> None:
    """Whatever is named to the model, it can find in its answer."""
    found = ungrounded(text, language, evidence_of(""), "")

    assert all(offender in text for offender in found.offenders)
