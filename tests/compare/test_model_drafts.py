"""Questions that a model drafts: which chunks, which answers pass, at what price."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from typer.testing import CliRunner

from situate import Rules, chunk, load_counter, read
from situate.cli import app
from situate.compare.drafting import Limits, draw, fitness
from situate.compare.drafting.asking import copies, is_question, points
from situate.compare.drafting.fitness import judge, repair
from situate.compare.grounds import lay
from situate.compare.questions import load
from situate.config import load as load_config
from situate.enrichment.exchange import Rendered
from situate.enrichment.gate import Context, known_words
from situate.enrichment.grounding import evidence_of
from situate.errors import ConfigError
from situate.pipeline.comparison.drafting import Wanted, drafted
from situate.pipeline.comparison.questioning import Questioning
from situate.prompts import load_prompt
from situate.readers import decode
from tests.support import strategies
from tests.support.chat import Answer, chatting
from tests.support.corpora import TRAVEL, Corpus, Heard, asking, handbook

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from typer.testing import Result

    from situate.compare.drafting import Drawn
    from situate.enrichment.gate import Verdict
    from situate.model import Chunk, Document
    from situate.pipeline.comparison.drafting import Drafted
    from tests.support.chat import Chat

COUNTER = load_counter("cl100k_base")
EVERYTHING = Limits(chunks=1_000, per_document=1_000, per_section=1_000)

POLICY = """\
# Leave

## Carry-over of annual leave

Unused days lapse at the end of March unless operational reasons kept them from
being taken. Then 5 of them stay valid until the summer.

## Sick leave

A certificate is due on the third day, and is sent to the office by any means.

## Links

[Forms](https://example.com/forms)
"""
GOOD = "Until when can I use vacation days that I could not take because of work?"


def cut(text: str, name: str = "leave.md") -> tuple[Document, tuple[Chunk, ...]]:
    """Read a document and cut it into a leaf for each section."""
    document = read(text.encode(), name).document
    return document, chunk(document, Rules(min_tokens=0), COUNTER)


DOCUMENT, CHUNKS = cut(POLICY)
CARRIED = next(each for each in CHUNKS if "lapse" in each.text)
CONTEXT = Context(
    counter=COUNTER,
    max_tokens=60,
    language=None,
    script="LATIN",
    known=known_words(CHUNKS),
    evidence=evidence_of(POLICY),
)


def judged(answer: str) -> Verdict:
    """Judge an answer about how days are carried over."""
    return judge(answer, CARRIED, CONTEXT)


# ---------------------------------------------------------------- the gate


@pytest.mark.parametrize(
    "answer",
    [
        pytest.param(GOOD, id="plain"),
        pytest.param(f'**Question:** "{GOOD}"', id="wrapped"),
        pytest.param(f"{GOOD} The passage says so.", id="with more behind it"),
    ],
)
def test_a_question_of_a_reader_passes(answer: str) -> None:
    """What models wrap around it is taken off, and nothing else."""
    assert judged(answer).statement == GOOD


@pytest.mark.parametrize(
    ("answer", "reason"),
    [
        pytest.param("It says how long vacation days are kept.", "no_question", id="s"),
        pytest.param(
            "When work kept me busy, my vacation days stay.", "no_question", id="when"
        ),
        pytest.param(
            "Until when does this section let me use vacation days?",
            "pointer",
            id="this section",
        ),
        pytest.param(
            "Which days lapse according to the document?", "pointer", id="the document"
        ),
        pytest.param(
            "Why do unused days lapse at the end of March?", "verbatim", id="copied"
        ),
        pytest.param(
            "How is the carry-over of annual leave done?", "headings", id="headings"
        ),
        pytest.param(
            "Where can a bicycle be parked overnight?", "unrelated", id="unrelated"
        ),
        pytest.param(
            "Can I see vacation days at www.example.com?", "url", id="address"
        ),
        pytest.param(
            "Can I keep 12 vacation days until summer?", "number", id="invented"
        ),
        pytest.param(
            "Was passiert im März mit Tagen, die ich nicht für das Jahr nehmen kann?",
            "language",
            id="another language",
        ),
        pytest.param(f"Can I use {'days and ' * 40}days?", "too_long", id="too long"),
    ],
)
def test_what_is_no_fair_question_does_not_pass(answer: str, reason: str) -> None:
    """It would be found by its words, or could not have been asked."""
    verdict = judged(answer)

    assert verdict.statement is None
    assert reason in verdict.reasons


def test_a_passage_that_nobody_asks_about_is_not_asked_about_again() -> None:
    """The prompt lets a model say so, and that is no fault to repair."""
    assert judged("NONE").refused
    assert judged("None.").refused


def test_a_repair_names_what_was_wrong_and_asks_for_a_question() -> None:
    """The first answer is shown as material."""
    rendered = Rendered(system="S", document="D", chunk="C")
    answer = "Until when does this section keep 12 vacation days?"

    again = repair(rendered, answer, judged(answer))

    assert (again.system, again.document) == ("S", "D")
    assert again.chunk.startswith("C\n\n")
    assert "it points to the passage or the document" in again.chunk
    assert "12 vacation days" in again.chunk
    assert "Write the one question again" in again.chunk
    assert "sentence" not in again.chunk


@pytest.mark.parametrize(
    "text",
    [
        pytest.param("how do I carry days over", id="en"),
        pytest.param("Can I keep unused days", id="en, a verb"),
        pytest.param("Wie lange gelten meine Urlaubstage", id="de"),
        pytest.param("Comment puis-je garder mes jours ?", id="fr"),
        pytest.param("¿Cuánto tiempo valen los días?", id="es"),
        pytest.param("Per quanto tempo valgono i giorni?", id="it"),
        pytest.param("Quantos dias posso guardar", id="pt"),
        pytest.param("Hoeveel dagen mag ik bewaren", id="nl"),
        pytest.param("剩余的假期什么时候失效", id="zh"),
        pytest.param("Сколько дней можно сохранить?", id="another language"),
    ],
)
def test_a_question_is_known_by_its_mark_or_its_first_word(text: str) -> None:
    """In the languages that questions are drafted in."""
    assert is_question(text)
    assert not points(text)


@pytest.mark.parametrize(
    "text",
    [
        pytest.param("What are the limits described above?", id="en, above"),
        pytest.param("Who signs this contract?", id="en, this"),
        pytest.param("Welche Frist nennt dieser Abschnitt?", id="de"),
        pytest.param("Was gilt laut Dokument für Gäste?", id="de, according to"),
        pytest.param("Que prévoit cet article pour les invités ?", id="fr"),
        pytest.param("¿Qué plazo fija este documento?", id="es"),
        pytest.param("Che cosa prevede questo articolo?", id="it"),
        pytest.param("O que diz este documento?", id="pt"),
        pytest.param("Wat staat er in deze tekst?", id="nl"),
        pytest.param("本节规定的期限是多久？", id="zh"),
    ],
)
def test_pointers_are_known(text: str) -> None:
    """Only who wrote the question knows where they lead."""
    assert points(text)


@pytest.mark.parametrize(
    "text",
    [
        pytest.param("How many days of leave do I get this year?", id="this year"),
        pytest.param("Wie viel Urlaub habe ich dieses Jahr?", id="dieses Jahr"),
        pytest.param("Which documents do I need above 30 kg?", id="documents, above"),
        pytest.param("Est-ce que je peux garder mes jours ?", id="est-ce que"),
    ],
)
def test_words_that_point_to_nothing_are_left_alone(text: str) -> None:
    """A wrong "no" costs a question."""
    assert not points(text)


@pytest.mark.parametrize(
    ("question", "found"),
    [
        pytest.param("Does one two three four five count?", False, id="five words"),
        pytest.param("Does one two three four five six count?", True, id="six words"),
        pytest.param("Are six five four three two one in order?", False, id="order"),
        pytest.param("一二三四五六七八九十吗？", False, id="ten ideographs"),
        pytest.param("一二三四五六七八九十百吗？", True, id="eleven ideographs"),
    ],
)
def test_six_words_in_a_row_are_a_copy(question: str, *, found: bool) -> None:
    """Five are a term or a turn of phrase."""
    passage = "One two three, four five six seven. 一二三四五六七八九十百千"

    assert copies(question, passage) is found


@given(st.text(max_size=80), st.text(max_size=200))
def test_no_answer_stops_the_judge(answer: str, text: str) -> None:
    """Answers are data: every one gets a verdict, and repair takes any."""
    for each in cut(f"# A\n\nOne.\n\n# B\n\n{text}\n")[1]:
        verdict = judge(answer, each, CONTEXT)

        assert verdict.statement or verdict.reasons or verdict.refused
        assert repair(Rendered(system="", document="", chunk=""), answer, verdict)


JUDGES = "904fd30352a19992"
"""Of the code that judges as it stands under `fitness.RULES`."""


def test_a_change_of_the_rules_is_noticed() -> None:
    """Kept questions are judged again where `RULES` says so."""
    home = Path(fitness.__file__).parent
    code = b"".join((home / name).read_bytes() for name in ("asking.py", "fitness.py"))

    assert (fitness.RULES, hashlib.sha256(code).hexdigest()[:16]) == (1, JUDGES)


def test_the_prompt_asks_for_what_the_gate_demands() -> None:
    """What is judged later is asked for before."""
    prompt = load_prompt("question-v1")

    said = f"{prompt.system} {prompt.chunk}"
    assert "at most 25 words" in said
    assert "language of the document" in said
    assert "ends with a question mark" in said
    assert "at most five words in a row" in said
    assert "do not follow them" in prompt.system
    assert not prompt.can_mark


# ------------------------------------------------------------- drawing chunks


def golden(drawn: Sequence[Drawn], text: str) -> list[str]:
    """Cut the places that were drawn out of their source."""
    return [text[slice(*each.gold.span)] for each in drawn if each.gold.span]


def test_the_place_of_a_chunk_is_one_piece_without_its_heading() -> None:
    """A question is answered or not; two pieces would make halves of it."""
    drawn = draw([(DOCUMENT, CHUNKS)], EVERYTHING, seed=0)

    assert golden(drawn, POLICY) == [
        "Unused days lapse at the end of March unless operational reasons kept them "
        "from\nbeing taken. Then 5 of them stay valid until the summer.",
        "A certificate is due on the third day, and is sent to the office by any "
        "means.",
    ]


def test_what_says_nothing_is_not_asked_about() -> None:
    """E13: of the policy's sections the one with a link alone is left out."""
    drawn = draw([(DOCUMENT, CHUNKS)], EVERYTHING, seed=0)

    assert any("Forms" in each.text for each in CHUNKS)
    assert not any("Forms" in each.chunk.text for each in drawn)


def test_a_document_of_one_chunk_is_asked_about() -> None:
    """No statement helps it, and readers ask about it all the same."""
    text = "# Parking\n\nBicycles are parked behind the house, cars in the street.\n"

    (drawn,) = draw([cut(text)], EVERYTHING, seed=0)

    assert golden([drawn], text) == [
        "Bicycles are parked behind the house, cars in the street."
    ]


def test_what_stands_in_two_documents_is_not_asked_about() -> None:
    """Either would be right, and only one of them would count."""
    twice = "# Parking\n\nBicycles are parked behind the house, cars in the street.\n"
    documents = [cut(twice, "a.md"), cut(twice, "b.md"), cut(POLICY)]

    drawn = draw(documents, EVERYTHING, seed=0)

    assert {each.chunk.doc_id for each in drawn} == {"leave.md"}


def test_a_piece_of_a_table_stands_where_its_rows_stand() -> None:
    """The header that is repeated in every piece is no part of its place."""
    rows = "".join(f"| Country {n} | {n} euros for a day |\n" for n in range(40))
    text = f"# Allowances\n\n| Country | Allowance |\n| --- | --- |\n{rows}"
    document = read(text.encode(), "a.md").document
    chunks = chunk(document, Rules(max_tokens=120, min_tokens=0), COUNTER)

    drawn = draw([(document, chunks)], EVERYTHING, seed=0)

    assert len(drawn) == len(chunks) > 2
    assert "Country 39 " in golden(drawn, text)[-1]
    assert not any("---" in place for place in golden(drawn, text)[1:])


def test_limits_hold_for_documents_and_sections() -> None:
    """A long document does not outweigh the others."""
    sections = "".join(
        f"# Rule {n}\n\nEach visitor signs the list of day {n}.\n\n" for n in range(9)
    )
    limits = Limits(chunks=5, per_document=3, per_section=1)

    drawn = draw([cut(sections, "long.md"), cut(POLICY)], limits, seed=0)

    documents = [each.chunk.doc_id for each in drawn]
    assert documents == ["long.md"] * 3 + ["leave.md"] * 2


def test_a_seed_says_which_chunks_are_drawn() -> None:
    """The same for the same seed, and a document more moves no other's chunks."""
    rules = "".join(f"# Rule {n}\n\nVisitor {n} signs here.\n\n" for n in range(60))
    limits = Limits(chunks=10, per_document=10, per_section=1)

    def ids(seed: int, *more: tuple[Document, tuple[Chunk, ...]]) -> list[str]:
        drawn = draw([cut(rules, "rules.md"), *more], limits, seed=seed)
        return [each.chunk.chunk_id for each in drawn]

    assert ids(1) == ids(1)
    assert ids(1) != ids(2)
    assert set(ids(1, cut(POLICY))) - set(ids(1)) <= {c.chunk_id for c in CHUNKS}


def test_a_format_without_characters_gives_evidence(tmp_path: Path) -> None:
    """The words are found again in the document, and nowhere else in it."""
    page = (
        "<h1>Leave</h1><h2>Sick</h2><p>A certificate is due on the third day.</p>"
        "<p>It is sent to the office.</p><h2>Other</h2><p>Nothing more is asked.</p>"
    )
    document, chunks = cut(page, "leave.html")
    drawn = draw([(document, chunks)], EVERYTHING, seed=0)
    path = tmp_path / "questions.jsonl"
    records = [
        {"qid": str(n), "query": "What?", "gold": [each.gold.record]}
        for n, each in enumerate(drawn)
    ]
    path.write_text("\n".join(map(json.dumps, records)), "utf-8")

    ground = lay(document, None)
    loaded = load(path, {document.doc_id: ground})

    assert [each.gold.span for each in drawn] == [None] * len(drawn)
    (first, *_) = [ground.text[q.gold[0].start : q.gold[0].end] for q in loaded]
    assert first.startswith("A certificate is due")
    assert first.endswith("sent to the office.")


@settings(max_examples=8)
@given(strategies.documents)
def test_every_place_belongs_to_its_document(document: Document) -> None:
    """Whatever a document is made of, its places can be read back."""
    chunks = chunk(document, Rules(max_tokens=80, min_tokens=10), COUNTER)

    drawn = draw([(document, chunks)], EVERYTHING, seed=0)

    ground = lay(document, None)
    for each in drawn:
        assert each.gold.doc_id == document.doc_id
        if each.gold.span is None:
            assert each.gold.text
            assert ground.evidence(each.gold.text) is not None
        else:
            assert each.gold.span[0] < each.gold.span[1]


# ------------------------------------------------------------- asking a model


@pytest.fixture
def chat() -> Iterator[Chat]:
    """Serve a chat model that writes a question about each chunk."""
    with chatting() as server:
        server.answer = answering()
        yield server


QUESTIONS = {
    "Everybody has leave": "How do I hand in an application for leave?",
    "| Years |": "After how many years at work do I get more time off?",
    "parental": "Do I lose my days when I stay at home with a baby, or after it?",
    "Book the train": "Which receipts of a trip have to be kept?",
    "Ask the office": "Whom do I tell before I fly to another country?",
}


def answering(
    change: Callable[[str, str], str] = lambda _, question: question,
) -> Callable[[dict[str, Any]], Answer]:
    """Answer with the question about a chunk; `change` sees the task as well."""

    def answer(body: dict[str, Any]) -> Answer:
        task = body["messages"][-1]["content"].rpartition("The passage stands")[2]
        question = next(said for key, said in QUESTIONS.items() if key in task)
        return Answer(text=change(task, question))

    return answer


def wanted(*, model: str | None = None, **limits: int) -> Wanted:
    """Ask a model, and draft nothing else."""
    chosen = {"chunks": 100, "per_document": 8, "per_section": 2, **limits}
    asked = Questioning(limits=Limits(**chosen), model=model)
    return Wanted(kinds=(), per_document=8, per_section=2, seed=0, asked=asked)


def corpus_of(folder: Path, chat: Chat, **keys: object) -> Corpus:
    """Write a corpus whose config asks the server, and keeps answers beside it."""
    return handbook(
        folder,
        chunking={"min_tokens": 0},
        enrichment=asking(chat.address, **keys),
        cache={"directory": "cache"},
    )


def make(
    corpus: Corpus, want: Wanted | None = None, heard: Heard | None = None
) -> Drafted:
    """Draft questions for a corpus."""
    (config,) = load_config([corpus.config], environment={})
    return drafted(config, want or wanted(), heard or Heard())


def records(found: Drafted) -> list[dict[str, Any]]:
    """Read the lines of a question file."""
    return [json.loads(line) for line in found.lines.splitlines()]


def asked_for(chat: Chat) -> list[dict[str, Any]]:
    """Give the bodies that were sent."""
    return [json.loads(body) for body in chat.bodies]


def situate(*arguments: str | Path) -> Result:
    """Run a command."""
    return CliRunner().invoke(app, [str(argument) for argument in arguments])


def test_each_chunk_is_asked_about_once_and_its_line_says_by_whom(
    tmp_path: Path, chat: Chat
) -> None:
    """A line is marked as drafted, with the model that answered and the prompt."""
    found = make(corpus_of(tmp_path, chat))

    assert found.complete
    assert len(chat.bodies) == found.count == len(QUESTIONS)
    assert {line["query"] for line in records(found)} == set(QUESTIONS.values())
    for line in records(found):
        assert (line["kind"], line["drafted"]) == ("model", True)
        assert (line["model"], line["prompt"]) == ("local-model-7", "question-v1")
        assert len(line["gold"]) == 1


def test_the_questions_can_be_compared_on(tmp_path: Path, chat: Chat) -> None:
    """Their gold stands in the documents and is what the model was shown."""
    corpus = corpus_of(tmp_path, chat)
    path = tmp_path / "questions.jsonl"
    path.write_bytes(make(corpus).lines)

    grounds = {}
    for name in ("leave.md", "travel/abroad.md"):
        data = (tmp_path / "docs" / name).read_bytes()
        grounds[name] = lay(read(data, name).document, decode(data, name).text)
    loaded = load(path, grounds)

    assert {question.origin for question in loaded} == {"drafted"}
    (abroad,) = [each for each in loaded if "another country" in each.query]
    (gold,) = abroad.gold
    assert TRAVEL[gold.start : gold.end] == TRAVEL[TRAVEL.index("Ask the") :].strip()


def test_the_price_is_said_before_anything_is_asked(tmp_path: Path, chat: Chat) -> None:
    """E2: requests and tokens of the chunks that were drawn."""
    heard = Heard()
    heard.when_told = lambda: heard.notes.append(f"{len(chat.bodies)} asked")

    make(corpus_of(tmp_path, chat), wanted(chunks=3), heard)

    (forecast,) = heard.forecasts
    assert forecast.estimate is not None
    assert "0 asked" in heard.notes
    assert forecast.estimate.requests == forecast.chunks == len(chat.bodies) == 3


def test_nothing_is_asked_twice(tmp_path: Path, chat: Chat) -> None:
    """E3: the second time every answer is at hand, whatever else is drawn."""
    corpus = corpus_of(tmp_path, chat)
    few = make(corpus, wanted(chunks=2))
    all_of_them = make(corpus)
    again = make(corpus)

    assert len(chat.bodies) == len(QUESTIONS)
    assert again.lines == all_of_them.lines
    assert set(few.lines.splitlines()) <= set(again.lines.splitlines())


def test_questions_and_statements_share_no_answer(tmp_path: Path, chat: Chat) -> None:
    """The prompt is in their keys; a run after it asks for its own."""
    corpus = corpus_of(tmp_path, chat)
    make(corpus)
    before = len(chat.bodies)
    chat.answer = lambda _: Answer(text="This rule of the company holds for cases.")

    corpus.run()

    assert len(chat.bodies) > before
    assert not any(
        "?" in (r["metadata"]["enrichment"]["statement"] or "") for r in corpus.records
    )


def test_the_cap_of_statements_is_not_that_of_questions(
    tmp_path: Path, chat: Chat
) -> None:
    """Questions asked for under one are found again under another."""
    make(corpus_of(tmp_path, chat, statement_max_tokens=8))
    found = make(corpus_of(tmp_path, chat, statement_max_tokens=90))

    assert found.count == len(chat.bodies) == len(QUESTIONS)


def test_a_question_that_does_not_pass_is_repaired_once(
    tmp_path: Path, chat: Chat
) -> None:
    """The second answer counts."""
    chat.answer = answering(
        lambda task, question: (
            question if "Write the one question again" in task else "This section?"
        )
    )

    found = make(corpus_of(tmp_path, chat))

    assert found.count == len(QUESTIONS)
    assert len(chat.bodies) == 2 * len(QUESTIONS)


def test_what_cannot_be_repaired_gives_no_question_and_is_counted(
    tmp_path: Path, chat: Chat
) -> None:
    """One repair, then none; the reason is said."""
    chat.answer = answering(
        lambda task, question: (
            "What does this section say about babies?"
            if "parental" in task
            else "NONE"
            if "Book the train" in task
            else question
        )
    )
    heard = Heard()

    found = make(corpus_of(tmp_path, chat), heard=heard)

    assert found.complete
    assert found.count == 3
    assert len(chat.bodies) == len(QUESTIONS) + 1
    assert heard.notes[-1] == (
        "local-model: no question for 2 of 5 chunks (pointer 1, refusal 1)"
    )


def test_a_limit_stops_the_asking_and_keeps_what_is_there(
    tmp_path: Path, chat: Chat
) -> None:
    """E2: before the request that would cross it; what was asked is not lost."""
    corpus = corpus_of(tmp_path, chat, max_total_tokens=2_500, concurrency=1)
    heard = Heard()

    found = make(corpus, heard=heard)

    assert not found.complete
    assert 0 < found.count < len(QUESTIONS)
    assert "chunks were not asked about" in heard.notes[-1]
    assert "max_total_tokens" in heard.notes[-1]


def test_a_server_that_is_busy_is_asked_again(tmp_path: Path, chat: Chat) -> None:
    """E7: what may pass is repeated."""
    ready = answering()
    busy = [Answer(status=429, text="{}", headers={"retry-after-ms": "1"})]
    chat.answer = lambda body: busy.pop() if busy else ready(body)

    found = make(corpus_of(tmp_path, chat))

    assert found.count == len(QUESTIONS)
    assert len(chat.bodies) == len(QUESTIONS) + 1


def test_requests_are_noted_in_a_ledger_of_their_own(
    tmp_path: Path, chat: Chat
) -> None:
    """Beside the one of the corpus, which is a run's."""
    make(corpus_of(tmp_path, chat))

    lines = (tmp_path / "out/handbook.queries.ledger.jsonl").read_text("utf-8")
    assert len(lines.splitlines()) == len(QUESTIONS)
    assert all(json.loads(line)["source"] == "wire" for line in lines.splitlines())


@pytest.mark.parametrize(
    ("model", "keys", "is_said"),
    [
        pytest.param(None, {}, True, id="the config's model"),
        pytest.param("local-model", {}, True, id="the same by name"),
        pytest.param("another-model", {}, False, id="another"),
        pytest.param(None, {"enabled": False}, False, id="a config of its own"),
    ],
)
def test_who_writes_the_statements_should_not_write_the_questions(
    tmp_path: Path,
    chat: Chat,
    model: str | None,
    keys: dict[str, object],
    *,
    is_said: bool,
) -> None:
    """It would find its own words; what to do is said, and who is asked is heeded."""
    heard = Heard()

    make(corpus_of(tmp_path, chat, **keys), wanted(model=model), heard)

    assert any("name another with --model" in note for note in heard.notes) is is_said
    assert {body["model"] for body in asked_for(chat)} == {model or "local-model"}


@pytest.mark.parametrize("view", ["auto", "marked", "full", "window"])
def test_every_view_of_a_config_serves(tmp_path: Path, chat: Chat, view: str) -> None:
    """A question is asked about one chunk at a time, also where statements are not."""
    found = make(corpus_of(tmp_path, chat, view=view))

    assert found.count == len(chat.bodies) == len(QUESTIONS)


def test_without_a_model_nobody_can_be_asked(tmp_path: Path) -> None:
    """The message names the keys."""
    corpus = handbook(tmp_path)

    with pytest.raises(ConfigError, match=r"enrichment\.provider and a model"):
        make(corpus)


# ------------------------------------------------------------------ the command


def test_the_command_writes_the_questions_of_every_kind(
    tmp_path: Path, chat: Chat
) -> None:
    """Those of a model stand behind the others."""
    corpus = corpus_of(tmp_path, chat)
    out = tmp_path / "questions.jsonl"

    result = situate(
        "queries", "make", corpus.config, "--kinds", "headings,model", "--out", out
    )

    kinds = [json.loads(line)["kind"] for line in out.read_text("utf-8").splitlines()]
    assert result.exit_code == 0, result.output
    assert kinds == sorted(kinds)
    assert set(kinds) == {"heading", "model"}
    assert "requests   5 for 5 chunks" in result.stderr


def test_the_command_asks_nobody_unless_it_is_told_to(
    tmp_path: Path, chat: Chat
) -> None:
    """A config that asks for statements is no wish for questions."""
    corpus = corpus_of(tmp_path, chat)

    result = situate("queries", "make", corpus.config)

    assert result.exit_code == 0
    assert chat.bodies == []


def test_the_command_says_when_a_limit_stopped_it(tmp_path: Path, chat: Chat) -> None:
    """Exit code 3: what was drafted is there, and is not all."""
    corpus = corpus_of(tmp_path, chat, max_total_tokens=2_500, concurrency=1)

    result = situate("queries", "make", corpus.config, "--kinds", "model")

    assert result.exit_code == 3
    assert result.stdout.count("\n") >= 1


def test_a_model_without_its_kind_is_an_error(tmp_path: Path, chat: Chat) -> None:
    """Whoever names one wants to have it asked."""
    corpus = corpus_of(tmp_path, chat)

    result = situate("queries", "make", corpus.config, "--model", "another")

    assert result.exit_code == 2
    assert "name it in --kinds" in result.stderr


def test_a_wrong_key_ends_the_command(tmp_path: Path, chat: Chat) -> None:
    """E10: found by the first request; nothing is written."""
    chat.answer = lambda _: Answer(status=401, text='{"error": {"message": "no"}}')
    corpus = corpus_of(tmp_path, chat)
    out = tmp_path / "questions.jsonl"

    result = situate("queries", "make", corpus.config, "--kinds", "model", "--out", out)

    assert result.exit_code == 1
    assert len(chat.bodies) == 1
    assert not out.exists()
