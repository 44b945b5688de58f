"""Questions drafted from a corpus: what asks, what answers, what is left out."""

from __future__ import annotations

import json
from time import process_time
from typing import TYPE_CHECKING

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from situate.compare.drafting import draft_corpus
from situate.compare.grounds import lay
from situate.compare.questions import load
from situate.readers import decode, read
from situate.records import to_line
from tests.support import documents as by_hand
from tests.support import strategies

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from situate.compare.drafting import Draft, Source
    from situate.model import Document

FILLER = "Lorem ipsum dolor sit amet, consectetur adipiscing elit, sed do eiusmod.\n"


def documents(**texts: str) -> list[Document]:
    """Read Markdown documents; `guide` stands in `guide.md`."""
    return [read(text.encode(), f"{name}.md").document for name, text in texts.items()]


def drafts(kind: Source, **texts: str) -> tuple[Draft, ...]:
    """Draft one kind of questions from Markdown documents."""
    return draft_corpus(documents(**texts), kinds=[kind])


def answer(draft: Draft, text: str) -> str:
    """Cut the answer of a question out of its source."""
    span = draft.gold[0].span
    assert span is not None
    return text[slice(*span)]


def manual(sentence: str, number: str = "4.2", heading: str = "Dry running") -> str:
    """Write a manual whose first section refers to its last."""
    return (
        f"# Manual\n\n## 1 Use\n\n{sentence}\n\n## 2 Care\n\n{FILLER}\n"
        f"## 3 Parts\n\n{FILLER}\n## {number} {heading}\n\n"
        "The pump stops after 20 seconds without water.\n"
    )


def linked(sentence: str) -> tuple[Draft, ...]:
    """Draft from a page with a sentence that may link to a section of another."""
    limits = "# Limits\n\n## Upload size\n\nFiles of up to 40 MB are taken at once.\n"
    return drafts("references", guide=f"# Guide\n\n{sentence}\n", limits=limits)


@pytest.mark.parametrize(
    ("sentence", "query"),
    [
        pytest.param(
            "Never let the pump run without any water (see section 4.2).",
            "Never let the pump run without any water.",
            id="English, in brackets",
        ),
        pytest.param(
            "The protection of the pump reacts as described in section 4.2.",
            "The protection of the pump reacts.",
            id="English, a clause",
        ),
        pytest.param(
            "Die Pumpe darf niemals ohne Wasser laufen (siehe Abschnitt 4.2).",
            "Die Pumpe darf niemals ohne Wasser laufen.",
            id="German",
        ),
        pytest.param(
            "La pompe ne doit jamais fonctionner sans eau (voir chapitre 4.2).",
            "La pompe ne doit jamais fonctionner sans eau.",
            id="French",
        ),
        pytest.param(
            "La bomba no debe funcionar nunca sin agua (véase el apartado 4.2).",
            "La bomba no debe funcionar nunca sin agua.",
            id="Spanish",
        ),
    ],
)
def test_a_reference_by_number_asks_with_what_is_left(
    sentence: str, query: str
) -> None:
    """The words that point to a section are no part of the question."""
    text = manual(sentence)

    (draft,) = drafts("references", manual=text)

    assert draft.query == query
    assert answer(draft, text) == "The pump stops after 20 seconds without water."


@pytest.mark.parametrize(
    "sentence",
    [
        pytest.param(
            "Never let the pump run dry, for which section 7.1 has reasons.",
            id="a section that is not there",
        ),
        pytest.param(
            "Never let the pump run without water (see section 4.2 of the Act).",
            id="another document's section",
        ),
        pytest.param(
            "Never let the pump run without water (see sections 2 to 4.2).",
            id="several sections",
        ),
        pytest.param(
            "This is never done while it runs without water (see section 4.2).",
            id="a sentence that points back",
        ),
        pytest.param("Dry running (see section 4.2).", id="too few words"),
        pytest.param(
            "Every pump whose model is not listed in section 4.2 may run dry.",
            id="a sentence that would lose its verb",
        ),
    ],
)
def test_a_reference_that_leaves_no_question_asks_none(sentence: str) -> None:
    """A question that nobody could answer is worse than none."""
    assert drafts("references", manual=manual(sentence)) == ()


def test_a_reference_to_the_next_section_asks_nothing() -> None:
    """Where one chunk may hold a sentence and its answer, it would answer itself."""
    text = manual("Never let the pump run without any water (see section 2).")

    assert drafts("references", manual=text) == ()


@pytest.mark.parametrize(
    ("sentence", "query"),
    [
        pytest.param(
            "How much may be sent at once depends on the plan, see "
            "[Upload size](limits.md#upload-size).",
            "How much may be sent at once depends on the plan.",
            id="a link that points is taken out",
        ),
        pytest.param(
            "Everybody has to keep the *largest* [upload size](limits.md#upload-size) "
            "in mind.",
            "Everybody has to keep the largest upload size in mind.",
            id="a link that is part of the sentence stays",
        ),
        pytest.param(
            "See [Upload size][size] for more information about sending very large "
            "files in one go.\n\n[size]: /docs/limits#upload-size",
            "Sending very large files in one go.",
            id="a link by reference, to an absolute path",
        ),
    ],
)
def test_a_link_asks_with_its_sentence(sentence: str, query: str) -> None:
    """Marks go, and so does a link that only points."""
    (draft,) = linked(sentence)

    assert draft.query == query


def test_a_link_that_is_the_sentence_asks_nothing() -> None:
    """What is left has to be long enough to be looked for."""
    assert linked("See [Upload size](limits.md#upload-size) for sending files.") == ()


def test_the_linking_document_is_left_out_of_the_ranking() -> None:
    """The sentence stands there word for word and would be found first."""
    (draft,) = linked(
        "Everybody has to keep the largest [size](limits.md#upload-size) in mind."
    )

    assert draft.record == {
        "qid": draft.qid,
        "query": "Everybody has to keep the largest size in mind.",
        "gold": [{"doc_id": "limits.md", "start": 26, "end": 65}],
        "exclude_docs": ["guide.md"],
        "kind": "reference",
        "drafted": True,
    }


@pytest.mark.parametrize(
    ("anchor", "heading"),
    [
        pytest.param("upload-size", "Upload size", id="its words"),
        pytest.param("the-size-field", "The `size` field", id="code in it"),
        pytest.param("own", "Upload size {#own}", id="its own"),
        pytest.param("taille-d%C3%A9mesur%C3%A9e", "Taille démesurée", id="quoted"),
        pytest.param("old", 'Upload size <a id="old"></a>', id="a tag"),
    ],
)
def test_anchors_lead_to_headings(anchor: str, heading: str) -> None:
    """Anchors are compared by letters and digits, however a site makes them."""
    text = f"# Limits\n\n## {heading}\n\nFiles of up to 40 MB are taken at once.\n"
    sentence = f"Everybody has to keep the largest [size](limits.md#{anchor}) in mind."

    (draft,) = drafts("references", guide=f"# Guide\n\n{sentence}\n", limits=text)

    assert answer(draft, text) == "Files of up to 40 MB are taken at once."


@pytest.mark.parametrize(
    ("language", "text", "query"),
    [
        ("en", '"**Annual Fees**" means all fees of the last year.', "Annual Fees"),
        ("en", "- **Excess**: what the member has to bear first.", "Excess"),
        ("en", "A *Pod* is a group of one or more containers.", "Pod"),
        ("en", "Renewal means that nothing at all changes. The term Renewal fee "
         "refers to the price of a renewal.", "Renewal fee"),
        ("en", "Excess\n: What the member has to bear first.", "Excess"),
        ("de", "**Auftragswert** bezeichnet den Nettowert aller Leistungen.",
         "Auftragswert"),
        ("de", "Unter Direktvergabe versteht man eine Vergabe ohne Angebote.",
         "Direktvergabe"),
        ("fr", "- **Affilié** : tout salarié inscrit au régime.", "Affilié"),
        ("fr", "On entend par plafond la limite du salaire annuel brut.", "plafond"),
        ("es", "Se entiende por siniestro todo hecho que cause daños.", "siniestro"),
        ("es", "«Prima» significa el precio anual del seguro contratado.", "Prima"),
        ("zh", "“保险标的”是指作为保险对象的财产及其有关利益, "
         "包括被保险人依法应当承担的责任。", "保险标的"),
    ],
)  # fmt: skip
def test_a_definition_asks_for_its_term(language: str, text: str, query: str) -> None:
    """The question is in the document's language, the definition answers."""
    asked = {
        "en": f"What does {query} mean?",
        "de": f"Was bedeutet {query}?",
        "fr": f"Que signifie {query}\u00a0?",
        "es": f"¿Qué significa {query}?",
        "zh": f"{query}是什么意思？",
    }
    source = f"---\nlanguage: {language}\n---\n# Terms\n\n{text}\n"

    (draft,) = drafts("definitions", terms=source)

    assert draft.query == asked[language]
    assert query in answer(draft, source)


@pytest.mark.parametrize(
    "text",
    [
        pytest.param("This means the pump has run dry for too long.", id="pointing"),
        pytest.param("- **Note**: the pump must not run dry at all.", id="a label"),
        pytest.param("Commands often need to refer to a package by id.", id="a verb"),
        pytest.param("**Going back.** A long time ago pumps ran dry.", id="a heading"),
        pytest.param("- `s`: optimise for the size of binaries.", id="a value"),
    ],
)
def test_what_only_looks_like_a_definition_asks_nothing(text: str) -> None:
    """Labels, values and sentences about sentences before them define no term."""
    source = f"---\nlanguage: en\n---\n# Terms\n\n{text}\n"

    assert drafts("definitions", terms=source) == ()


def test_a_term_defined_twice_is_not_asked_for() -> None:
    """Either definition would be right, and only one would count."""
    source = (
        "---\nlanguage: en\n---\n# Terms\n\n- **Excess**: what is borne first {}.\n"
    )

    assert (
        drafts("definitions", a=source.format("here"), b=source.format("there")) == ()
    )


def test_headings_that_say_something_ask() -> None:
    """A heading asks when its own text speaks of the same."""
    text = (
        f"# Manual\n\n## Introduction\n\n{FILLER}\n"
        "## 2.1 Dry running protection\n\nThe protection stops the pump at once.\n"
    )

    (draft,) = drafts("headings", manual=text)

    assert draft.query == "Dry running protection"
    assert answer(draft, text) == "The protection stops the pump at once."
    assert draft.record["kind"] == "heading"


def test_a_heading_shared_by_sections_is_asked_with_what_stands_above() -> None:
    """Two sections called Limits are told apart as their documents do."""
    plan = (
        "## {0} plan\n\n### Limits\n\nThe limits of this plan are {0} ones, per year.\n"
    )
    text = "# Cover\n\n" + plan.format("Basic") + "\n" + plan.format("Plus")

    asked = {draft.query for draft in drafts("headings", cover=text)}

    assert {"Basic plan: Limits", "Plus plan: Limits"} <= asked


def test_an_answer_ends_with_a_paragraph_within_600_characters() -> None:
    """A section answers with its first paragraphs, cut at none of them."""
    paragraph = "A pump must not run dry." + " Water cools the seal." * 10
    body = "\n\n".join([paragraph] * 3)
    text = f"# Manual\n\n## Dry running\n\n{body}\n\n## Filling\n\n{FILLER}"

    (draft,) = drafts("headings", manual=text)

    assert answer(draft, text) == f"{paragraph}\n\n{paragraph}"


def test_a_caption_answers_with_the_first_rows_of_its_table() -> None:
    """What introduces a long table is no answer without some of it."""
    rows = "".join(f"| item {n} | {n}.00 EUR per year of use |\n" for n in range(40))
    table = f"Table 1: Fees\n\n| Item | Fee |\n|------|-----|\n{rows}"
    text = f"# Manual\n\n## Fees per item\n\n{table}\n## Filling\n\n{FILLER}"

    (draft,) = drafts("headings", manual=text)

    assert answer(draft, text).startswith("Table 1: Fees")
    assert answer(draft, text).endswith("EUR per year of use |")
    assert 400 < len(answer(draft, text)) <= 600


def test_where_no_characters_are_counted_the_words_are_the_evidence() -> None:
    """An HTML page has no places in a text, so its answer is quoted."""
    page = (
        b'<html lang="en"><title>T</title><h1>T</h1><h2>One pump</h2><p>Lorem ipsum.'
        b"</p><h2>Dry running</h2><p>Dry pumps stop after about 20 seconds.</p>"
    )

    (draft,) = draft_corpus([read(page, "t.html").document], kinds=["headings"])

    assert draft.record["gold"] == [
        {"doc_id": "t.html", "text": "Dry pumps stop after about 20 seconds."}
    ]


def handbook(sections: int) -> str:
    """Write a document with a definition and a heading in each section."""
    return "---\nlanguage: en\n---\n# Book\n\n" + "\n".join(
        f"## Rule number{n} on renewals\n\n- **Term{n}**: the renewals of rule "
        f"number{n}.\n- **Word{n}**: the renewals of year number{n}.\n"
        for n in range(sections)
    )


def test_a_document_and_its_sections_are_asked_so_often_and_no_more() -> None:
    """Caps hold, and what is kept comes from all over the document."""
    chosen = draft_corpus(
        documents(book=handbook(40)), most_per_document=8, most_per_section=1
    )

    numbers = [int("".join(filter(str.isdigit, draft.query))) for draft in chosen]
    assert len(chosen) == 8
    assert len({draft.section_id for draft in chosen}) == 8
    assert {draft.kind for draft in chosen} == {"heading", "definition"}
    assert min(numbers) < 10
    assert max(numbers) >= 30


def test_a_seed_gives_the_same_questions_and_another_gives_others() -> None:
    """Same corpus and seed, same lines."""

    def lines(seed: int) -> list[str]:
        chosen = draft_corpus(documents(book=handbook(40)), seed=seed)
        return [json.dumps(draft.record) for draft in chosen]

    assert lines(1) == lines(1)
    assert lines(1) != lines(2)


def written(chosen: Sequence[Draft], path: Path) -> Path:
    """Write a question file."""
    path.write_bytes(b"".join(to_line(draft.record) for draft in chosen))
    return path


def test_drafts_of_the_demo_corpus_are_questions_of_it(
    pytestconfig: pytest.Config, tmp_path: Path
) -> None:
    """A question file that was drafted fits its documents, line by line."""
    folder = pytestconfig.rootpath / "tests/corpora/handbook"
    paths = sorted(folder.rglob("*.md"))
    corpus = [
        read(path.read_bytes(), path.relative_to(folder).as_posix()).document
        for path in paths
    ]
    grounds = {
        document.doc_id: lay(document, decode(path.read_bytes(), path.name).text)
        for document, path in zip(corpus, paths, strict=True)
    }

    chosen = draft_corpus(corpus)

    questions = load(written(chosen, tmp_path / "drafted.jsonl"), grounds)
    assert {question.origin for question in questions} == {"drafted"}
    assert {question.kind for question in questions} == {
        "heading",
        "reference",
        "definition",
    }


@settings(max_examples=15, deadline=None)
@given(
    st.lists(
        st.builds(
            lambda title, blocks: by_hand.section(title, *blocks),
            strategies.headings,
            st.lists(strategies.blocks, max_size=2),
        ),
        max_size=4,
    )
)
def test_every_answer_stands_in_its_document(sections: list[by_hand.Draft]) -> None:
    """Whatever the tree, evidence is words of the document and no id comes twice."""
    document = by_hand.document(*sections)

    chosen = draft_corpus([document], most_per_document=100)

    ground = lay(document, None)
    assert all(ground.evidence(draft.gold[0].text or "") for draft in chosen)
    assert len({draft.qid for draft in chosen}) == len(chosen)


@pytest.mark.parametrize(
    "line",
    [
        pytest.param("# foo bar\n", id="headings without text"),
        pytest.param("[a](", id="links that never close"),
        pytest.param("see [a](#foo) and ", id="one sentence of references"),
        pytest.param("Xylem means wood. ", id="definitions"),
        pytest.param("ab.", id="sentences without spaces"),
        pytest.param("- **Term** means x and y.\n", id="entries of a list"),
        pytest.param("Term\n: what is meant by it\n", id="a list of definitions"),
    ],
)
def test_hostile_documents_are_read_in_linear_time(line: str) -> None:
    """Were anything quadratic, this would take minutes."""
    corpus = documents(a="# A\n\n" + line * (50_000 // len(line)))
    started = process_time()

    draft_corpus(corpus)

    assert process_time() - started < 2
