"""The engine does what a run does, for many at once, within bounds that hold."""

from __future__ import annotations

import asyncio
import logging
import threading
from contextlib import closing
from decimal import Decimal
from typing import TYPE_CHECKING, Any

import pytest

from situate.config import load
from situate.enrichment.ledger import rewriting
from situate.errors import ConfigError, ReadError, SituateError
from situate.pipeline.documents import Failed
from situate.pipeline.handed import Handed
from situate.pipeline.written import Written
from situate.service.engine import cutting, turns
from situate.service.engine.engine import Engine, EngineSettings
from situate.service.jobs.jobs import Jobs
from situate.service.jobs.worklist import Worklist
from situate.service.values import Busy, JobsBroken
from tests.service.engines import (
    SECTIONS,
    Here,
    agreements,
    corpus_of,
    done,
    engine_of,
    eventually,
    lines,
    served,
    upload,
    within,
)
from tests.support.agreements import agreement
from tests.support.corpora import Corpus
from tests.support.mock_model import Script, speaking

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from situate.service.values import Cut
    from tests.support.mock_model import MockModel

PRICED = {"model": "gpt-5.4-mini", "max_usd": 100, "max_usd_month": 100}


@pytest.fixture(autouse=True)
def _no_processes(monkeypatch: pytest.MonkeyPatch) -> None:
    """Cut in threads; `test_killed` has processes."""
    monkeypatch.setattr("situate.service.engine.engine.Pool", Here)


@pytest.fixture
def model() -> Iterator[MockModel]:
    """Serve a model."""
    with speaking() as spoken:
        yield spoken


def chunks(cut: Cut) -> bytes:
    """Give the lines of an upload that went well."""
    assert isinstance(cut.outcome, Written)
    return cut.outcome.chunks


def run(corpus: Corpus) -> bytes:
    """Run over a corpus, and give what it publishes."""
    assert corpus.run().exit_code == 0
    return corpus.chunks.read_bytes()


def test_uploads_and_jobs_come_out_as_a_run_publishes_them(
    tmp_path: Path, model: MockModel
) -> None:
    """The same bytes, and what one of them paid for none pays for again (E3)."""
    documents = agreements(3)
    asked = corpus_of(tmp_path, documents, address=model.openai_url)
    plain = corpus_of(tmp_path, documents, name="plain")

    async def uploads(engine: Engine, name: str, *, statements: bool) -> bytes:
        cuts = [
            await upload(engine, name, each, statements=statements)
            for each in documents
        ]
        return b"".join(map(chunks, cuts))

    with served(asked, plain) as (engine, jobs):
        unasked = within(uploads(engine, "plain", statements=True))
        unwanted = within(uploads(engine, "handbook", statements=False))
        silent = model.statistics.calls
        of_uploads = within(uploads(engine, "handbook", statements=True))
        calls = model.statistics.calls
        spent = engine.figures().corpora["handbook"].spent
        view = done(jobs, jobs.add("ann", "handbook", documents))
        other = done(jobs, jobs.add("ann", "plain", documents))
        eventually(lambda: engine.figures().jobs_at_work == 0)
        left = (tmp_path / "state" / "jobs.db-wal").stat().st_size
        of_jobs, of_plain = lines(jobs, view), lines(jobs, other)

    assert unasked == of_plain == run(plain)
    assert unwanted.count(b'"status":"off"') == 3 * SECTIONS
    assert of_uploads == of_jobs == run(asked)
    assert (silent, left) == (0, 0)
    assert calls == model.statistics.calls == 3 * SECTIONS
    assert spent.requests == 3 * SECTIONS
    assert (view.spent.requests, view.spent.cache_hits) == (0, 3 * SECTIONS)
    assert view.outcomes == {"statement": 3 * SECTIONS}


def test_a_bad_document_fails_alone(tmp_path: Path) -> None:
    """In an upload and in a job it is a value that names it."""
    corpus = corpus_of(tmp_path, [])
    bad = Handed(name="bad.md", content=b"\x00\x01\x02" * 50)
    good = agreements(1)[0]

    with served(corpus) as (engine, jobs):
        cut = within(upload(engine, "handbook", bad))
        view = done(jobs, jobs.add("ann", "handbook", [bad, good]))
        figures = engine.figures().corpora["handbook"]

    assert isinstance(cut.outcome, Failed)
    assert (view.state, view.finished, view.failed) == ("done", 2, 1)
    assert view.failures[0].name == "bad.md"
    assert (figures.documents, figures.failed) == (3, 2)


def test_what_a_manifest_deletes_is_not_taken_in_again(tmp_path: Path) -> None:
    """A corpus's own word holds for what is handed over, too."""
    tmp_path.joinpath("all.jsonl").write_text(
        '{"doc_id":"000.md","op":"delete"}\n', "utf-8"
    )
    corpus = Corpus(folder=tmp_path).configure(
        corpus={"documents": ["docs/*.md", "all.jsonl"]}
    )

    with served(corpus) as (engine, _):
        cut = within(upload(engine, "handbook", agreements(1)[0]))

    assert isinstance(cut.outcome, Failed)
    assert "deletes" in cut.outcome.reason


@pytest.mark.parametrize(
    ("corpus", "document", "error"),
    [
        pytest.param("other", agreements(1)[0], ConfigError, id="corpus"),
        pytest.param(
            "handbook", Handed(name="/etc/passwd", content=b"x"), ReadError, id="name"
        ),
    ],
)
def test_what_makes_no_sense_is_refused(
    tmp_path: Path, corpus: str, document: Handed, error: type[SituateError]
) -> None:
    """Only corpora that are configured are served, and no path is opened."""
    with (
        served(corpus_of(tmp_path, [])) as (engine, _),
        pytest.raises(error, match=r"not served|no name"),
    ):
        within(upload(engine, corpus, document))


def test_a_plan_says_what_asking_would_cost_and_asks_nobody(
    tmp_path: Path, model: MockModel
) -> None:
    """E2: the price is known before; what is at hand costs nothing."""
    documents = agreements(2)
    corpus = corpus_of(tmp_path, [], address=model.openai_url, **PRICED)

    async def plans(engine: Engine) -> list[Any]:
        with engine.place() as place:
            before = await place.plan("handbook", documents)
            await place.chunk("handbook", documents[0], statements=True)
            after = await place.plan("handbook", documents)
            with pytest.raises(ReadError, match="another document"):
                await place.plan("handbook", [documents[0], documents[0]])
        return [before.estimate, after.estimate]

    with served(corpus) as (engine, _):
        before, after = within(plans(engine))

    assert model.statistics.calls == SECTIONS
    assert (before.requests, after.requests) == (2 * SECTIONS, SECTIONS)
    assert before.usd_low > after.usd_low > 0


class Gate:
    """Holds documents back until they may be cut, and counts those at it."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.opened = threading.Event()
        self.most = 0
        self.began: list[str] = []
        self._here = 0
        self._lock = threading.Lock()
        real = cutting.write_one

        def held_back(*given: Any) -> Any:
            source = given[1]
            with self._lock:
                self.began.append(source.doc_id)
                self._here += 1
                self.most = max(self.most, self._here)
            assert self.opened.wait(10)
            with self._lock:
                self._here -= 1
            return real(*given)

        for module in (cutting, turns):
            monkeypatch.setattr(module, "write_one", held_back)


def test_places_are_counted_and_beyond_them_is_told_to_wait(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """So many are worked on, so many wait, and nothing grows beyond that."""
    gate = Gate(monkeypatch)
    settings = EngineSettings(uploads=2, waiting=3, processes=8)

    async def storm(engine: Engine) -> list[Cut | BaseException]:
        tasks = [
            asyncio.create_task(upload(engine, "handbook", document))
            for document in agreements(9)
        ]
        await asyncio.to_thread(eventually, lambda: len(gate.began) == 2)
        figures = engine.figures()
        assert (figures.uploads_at_work, figures.uploads_waiting) == (2, 3)
        gate.opened.set()
        return await asyncio.gather(*tasks, return_exceptions=True)

    with served(corpus_of(tmp_path, []), settings=settings) as (engine, _):
        results = within(storm(engine))
        again = within(upload(engine, "handbook", agreements(1)[0]))

    refused = [each for each in results if isinstance(each, Busy)]
    assert len(refused) == 4
    assert all(each.retry_after_seconds > 0 for each in refused)
    assert sum(not isinstance(each, BaseException) for each in results) == 5
    assert gate.most == 2
    assert chunks(again)


def test_a_client_that_leaves_while_it_waits_takes_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Work that has begun is finished; what waited is forgotten."""
    gate = Gate(monkeypatch)
    settings = EngineSettings(uploads=1, waiting=5)
    first, second, third = agreements(3)

    async def leaving(engine: Engine) -> None:
        tasks = [
            asyncio.create_task(upload(engine, "handbook", each))
            for each in (first, second)
        ]
        await asyncio.to_thread(
            eventually,
            lambda: bool(gate.began) and engine.figures().uploads_waiting == 1,
        )
        for task in tasks:
            task.cancel()
        await asyncio.wait(tasks)
        gate.opened.set()
        await upload(engine, "handbook", third)

    with served(corpus_of(tmp_path, []), settings=settings) as (engine, _):
        within(leaving(engine))
        figures = engine.figures()

    assert gate.began == [first.name, third.name]
    assert (figures.uploads_at_work, figures.uploads_waiting) == (0, 0)
    assert figures.corpora["handbook"].documents == 2


def test_an_upload_that_comes_again_waits_for_the_first(
    tmp_path: Path,
) -> None:
    """Whoever asks again, having lost patience, does not make it be paid for twice."""
    document, other = agreements(2)
    with speaking(Script(latency_seconds=0.2)) as model:
        corpus = corpus_of(tmp_path, [], address=model.openai_url)

        async def again(engine: Engine) -> list[Cut]:
            first = asyncio.create_task(upload(engine, "handbook", document))
            await asyncio.to_thread(model.wait_for_calls, 1, timeout_seconds=10)
            first.cancel()
            return await asyncio.gather(
                upload(engine, "handbook", document),
                upload(engine, "handbook", document),
                upload(engine, "handbook", document, statements=False),
                upload(engine, "handbook", other),
            )

        with served(corpus, settings=EngineSettings(uploads=3)) as (engine, _):
            cuts = within(again(engine))
        seen = model.statistics

    assert chunks(cuts[0]) == chunks(cuts[1])
    assert len({chunks(cut) for cut in cuts}) == 3
    assert set(seen.requests.values()) == {1}
    assert seen.calls == 2 * SECTIONS


def test_a_job_and_uploads_of_one_document_ask_once(tmp_path: Path) -> None:
    """Sessions do not know of each other, and yet nothing is sent twice at a time."""
    document = agreements(1)[0]
    with speaking(Script(latency_seconds=0.2)) as model:
        corpus = corpus_of(tmp_path, [], address=model.openai_url)
        with served(corpus) as (engine, jobs):
            view = jobs.add("ann", "handbook", [document])
            cut = within(upload(engine, "handbook", document))
            view = done(jobs, view)
            result = lines(jobs, view)
        seen = model.statistics

    assert result == chunks(cut)
    assert set(seen.requests.values()) == {1}
    assert seen.calls == SECTIONS


def test_an_engine_that_cannot_start_says_so(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nobody waits for it, and to stop it is to do nothing."""

    def broken(*_: object) -> None:
        message = "no processes today"
        raise SituateError(message)

    monkeypatch.setattr("threading.excepthook", lambda _: None)
    monkeypatch.setattr("situate.service.engine.engine.Pool", broken)
    configs = load([corpus_of(tmp_path, []).config], environment={})
    with closing(Jobs(tmp_path / "state")) as jobs:
        engine = Engine(configs, jobs)

        with pytest.raises(SituateError, match="cannot start"):
            engine.start()

        engine.stop(1)
        assert not engine.is_alive


def test_a_model_that_costs_money_needs_a_limit_for_all_together(
    tmp_path: Path, model: MockModel
) -> None:
    """`max_usd` holds for one job or upload, of which there may be any number."""
    corpus = corpus_of(
        tmp_path, [], address=model.openai_url, model="gpt-5.4-mini", max_usd=1
    )

    with (
        pytest.raises(ConfigError, match=r"enrichment\.max_usd_month is required"),
        served(corpus),
    ):
        pass


def test_a_corpus_that_waits_for_batches_elsewhere_is_asked_at_once(
    tmp_path: Path, model: MockModel
) -> None:
    """Who uploads a document wants its chunks now."""
    keys = {**PRICED, "mode": "batch"}
    corpus = corpus_of(tmp_path, [], address=model.openai_url, **keys)

    with served(corpus) as (engine, _):
        cut = within(upload(engine, "handbook", agreements(1)[0]))

    assert chunks(cut).count(b'"status":"statement"') == SECTIONS


def test_sessions_share_the_pace_of_a_model(tmp_path: Path) -> None:
    """Corpora that ask the same model hold back together, as the most careful does."""
    with speaking(Script(latency_seconds=0.03)) as model:
        corpora = [
            corpus_of(
                tmp_path, [], name=name, address=model.openai_url, concurrency=most
            )
            for name, most in (("many", 30), ("few", 3))
        ]

        async def both(engine: Engine) -> None:
            uploads = [
                upload(engine, name, document)
                for name in ("many", "few")
                for document in agreements(3, first=0 if name == "many" else 3)
            ]
            await asyncio.gather(*uploads)

        with served(*corpora) as (engine, _):
            within(both(engine))
        seen = model.statistics

    assert seen.calls == 6 * SECTIONS
    assert seen.most_in_flight == 3


def test_an_outage_costs_statements_and_no_chunk(tmp_path: Path) -> None:
    """S7: chunks come with the reason, and the service says what is wrong."""
    documents = agreements(2)
    with speaking(Script(turns=("unavailable",) * 3 + ("answer",) * 99)) as model:
        corpus = corpus_of(
            tmp_path,
            [],
            address=model.openai_url,
            max_attempts=1,
            concurrency=1,
        )
        with served(corpus) as (engine, jobs):
            first = within(upload(engine, "handbook", documents[0]))
            trouble = engine.figures().corpora["handbook"].trouble
            view = done(jobs, jobs.add("ann", "handbook", documents))
            eventually(lambda: engine.figures().jobs_at_work == 0)
            figures = engine.figures().corpora["handbook"]

    assert b'"reason":"outage"' in chunks(first)
    assert first.spent.stopped is not None
    assert trouble is not None
    assert trouble.startswith("outage")
    assert view.outcomes == {"statement": 2 * SECTIONS}
    assert figures.trouble is None
    assert figures.outcomes["statement", None] == 2 * SECTIONS
    assert figures.outcomes["skipped", "outage"] > 0


def test_a_missing_key_is_said_before_anything_is_asked(tmp_path: Path) -> None:
    """Chunks come all the same; whoever watches the service sees why without."""
    corpus = Corpus(folder=tmp_path).configure(
        enrichment={
            "enabled": True,
            "provider": "openai",
            "prompt": "findable-v1",
            **PRICED,
        }
    )

    with served(corpus) as (engine, jobs):
        trouble = engine.figures().corpora["handbook"].trouble
        view = done(jobs, jobs.add("ann", "handbook", agreements(1)))

    assert trouble is not None
    assert "OPENAI_API_KEY" in trouble
    assert view.outcomes == {"skipped:authentication": SECTIONS}
    assert view.spent.stopped is not None


def test_a_job_keeps_to_its_budget_over_restarts(tmp_path: Path) -> None:
    """What it spent before counts against max_usd, whenever the service is started."""
    limit = Decimal("0.012")
    keys = {**PRICED, "max_usd": float(limit), "concurrency": 1}
    with speaking(Script(latency_seconds=0.03)) as model:
        corpus = corpus_of(tmp_path, [], address=model.openai_url, **keys)
        with served(corpus) as (engine, jobs):
            view = jobs.add("ann", "handbook", agreements(8))
            assert model.wait_for_calls(5, timeout_seconds=10)
            engine.stop(0)
            before = jobs.get(view.job_id, "ann")

        with served(corpus) as (engine, jobs):
            after = done(jobs, view)
            trouble = engine.figures().corpora["handbook"].trouble
        seen = model.statistics

    assert trouble is None
    assert before is not None
    assert before.spent.cost_usd is not None
    assert after.spent.cost_usd is not None
    assert before.spent.cost_usd > limit / 4
    assert after.outcomes["skipped:budget"] > 0
    assert after.spent.cost_usd <= limit
    assert after.spent.attempts == seen.calls


def test_what_a_job_spent_is_noted_with_each_document(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """In one transaction, so that a service that is killed then knows of it."""
    monkeypatch.setattr(Worklist, "spend", lambda *_: True)
    with speaking(Script(latency_seconds=0.03)) as model:
        corpus = corpus_of(tmp_path, [], address=model.openai_url, concurrency=2)
        with served(corpus) as (engine, jobs):
            view = jobs.add("ann", "handbook", agreements(8))
            assert model.wait_for_calls(3, timeout_seconds=10)
            engine.stop(10)
            before = jobs.get(view.job_id, "ann")

        with served(corpus) as (_, jobs):
            after = done(jobs, view)
        seen = model.statistics

    assert before is not None
    assert 0 < before.spent.requests < after.spent.requests == seen.calls


def test_of_two_documents_that_name_one_id_the_second_fails(tmp_path: Path) -> None:
    """Also when the first was done before a restart."""
    same = "---\ndoc_id: POL-7\n---\n# A\n\nText.\n"
    documents = [Handed(name=name, content=same.encode()) for name in ("a.md", "b.md")]
    corpus = corpus_of(tmp_path, [])
    with closing(Jobs(tmp_path / "state")) as jobs:
        view = jobs.add("ann", "handbook", documents)
        with engine_of([corpus], jobs):
            whole = done(jobs, view)
        other = jobs.add("ann", "handbook", documents)
        worklist = Worklist(jobs)
        claimed = worklist.claim(["handbook"])
        assert claimed is not None
        outcome = within(cut(corpus, documents[0], tmp_path / "other"))
        worklist.finish(claimed.number, [(0, outcome)], claimed.spent)
        worklist.put_back(claimed.number)

        with engine_of([corpus], jobs):
            restarted = done(jobs, other)

    for view in (whole, restarted):
        assert (view.finished, view.failed) == (2, 1)
        assert view.failures[0].name == "b.md"
        assert "as a.md does" in view.failures[0].reason


async def cut(corpus: Corpus, document: Handed, state: Path) -> Written | Failed:
    """Cut a document elsewhere."""
    with closing(Jobs(state)) as jobs, engine_of([corpus], jobs) as engine:
        return (await upload(engine, "handbook", document)).outcome


def test_a_service_that_stops_finishes_what_is_under_way_and_goes_on_later(
    tmp_path: Path,
) -> None:
    """Within the grace nothing is called off, and nothing is asked for twice."""
    documents = agreements(12)
    with speaking(Script(latency_seconds=0.03)) as model:
        corpus = corpus_of(tmp_path, documents, address=model.openai_url, concurrency=2)
        with closing(Jobs(tmp_path / "state")) as jobs:
            with engine_of([corpus], jobs) as engine:
                view = jobs.add("ann", "handbook", documents)
                assert model.wait_for_calls(5, timeout_seconds=10)
                engine.stop(30)
                with pytest.raises(Busy), engine.place():
                    pass
            stopped, halfway = model.statistics, jobs.get(view.job_id, "ann")
            model_is_quiet = stopped.calls == stopped.answers
            with engine_of([corpus], jobs):
                view = done(jobs, view)
            result = lines(jobs, view)
        seen = model.statistics
        published = run(corpus)

    assert halfway is not None
    assert halfway.state == "queued"
    assert 0 < halfway.finished < 12
    assert model_is_quiet
    assert set(seen.requests.values()) == {1}
    assert view.spent.requests == seen.calls == 12 * SECTIONS
    assert result == published


def test_without_grace_what_is_under_way_is_called_off(tmp_path: Path) -> None:
    """A service that has to end ends; the job waits, and an upload is told so."""
    with speaking(Script(turns=("hang",))) as model:
        corpus = corpus_of(tmp_path, [], address=model.openai_url)

        async def stopping(engine: Engine) -> None:
            works, waits = (
                asyncio.create_task(upload(engine, "handbook", each))
                for each in agreements(2)
            )
            await asyncio.to_thread(model.wait_for_calls, 2, timeout_seconds=10)
            assert engine.figures().uploads_waiting == 1
            await asyncio.to_thread(engine.stop, 0.0)
            for task in (works, waits):
                with pytest.raises(Busy, match="stopping"):
                    await task

        settings = EngineSettings(uploads=1)
        with served(corpus, settings=settings) as (engine, jobs):
            view = jobs.add("ann", "handbook", agreements(1, first=7))
            within(stopping(engine))
            found = jobs.get(view.job_id, "ann")

    assert found is not None
    assert (found.state, found.finished) == ("queued", 0)


def test_a_deleted_job_stops_asking(tmp_path: Path) -> None:
    """Nobody pays for what nobody wants, not even to the end of a document."""
    long = Handed(name="long.md", content=agreement(1, 60).encode())
    with speaking(Script(latency_seconds=0.05)) as model:
        corpus = corpus_of(tmp_path, [], address=model.openai_url, concurrency=1)
        with served(corpus) as (engine, jobs):
            view = jobs.add("ann", "handbook", [long])
            assert model.wait_for_calls(2, timeout_seconds=10)

            jobs.delete(view.job_id, "ann")

            eventually(lambda: engine.figures().jobs_at_work == 0)
        seen = model.statistics

    assert seen.calls < 30


def test_a_mistake_of_ours_ends_one_job_and_not_the_service(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """It does not come back for ever, and the log says where it is."""

    def mistaken(*_: object) -> None:
        raise ZeroDivisionError

    monkeypatch.setattr("situate.service.engine.turns.write_one", mistaken)
    corpus = corpus_of(tmp_path, [])
    with served(corpus) as (engine, jobs), caplog.at_level(logging.ERROR):
        view = done(jobs, jobs.add("ann", "handbook", agreements(1)))
        cut = within(upload(engine, "handbook", agreements(1)[0]))

    assert view.state == "failed"
    assert view.reason is not None
    assert "ZeroDivisionError" in view.reason
    assert "mistaken" in caplog.text
    assert chunks(cut)


def test_a_job_of_a_corpus_that_is_not_served_waits_until_it_is(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """A config that is missing after a restart costs nobody their documents."""
    corpus, other = corpus_of(tmp_path, []), corpus_of(tmp_path, [], name="other")
    with closing(Jobs(tmp_path / "state")) as jobs:
        waits = jobs.add("ann", "other", agreements(1))
        with engine_of([corpus], jobs):
            done(jobs, jobs.add("ann", "handbook", agreements(1)))
        before = jobs.get(waits.job_id, "ann")

        with engine_of([corpus, other], jobs):
            after = done(jobs, waits)

    assert before == waits
    assert "corpus 'other', which is not served" in caplog.text
    assert (after.state, after.failed) == ("done", 0)


def test_jobs_wait_while_their_database_cannot_be_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The service says so, goes on when it can, and asks for nothing twice."""
    monkeypatch.setattr("situate.service.engine.schedule._AGAIN_SECONDS", 0.05)
    real, broken = Worklist.finish, threading.Event()
    broken.set()

    def finish(self: Worklist, *given: Any) -> bool:
        if broken.is_set():
            message = "the disk is full"
            raise JobsBroken(message)
        return real(self, *given)

    monkeypatch.setattr(Worklist, "finish", finish)
    documents = agreements(3)
    with speaking(Script(latency_seconds=0.05)) as model:
        corpus = corpus_of(tmp_path, documents, address=model.openai_url, concurrency=3)
        with served(corpus) as (engine, jobs):
            view = jobs.add("ann", "handbook", documents)
            eventually(lambda: engine.figures().trouble is not None)
            trouble = engine.figures().trouble
            broken.clear()
            view = done(jobs, view)
            eventually(lambda: engine.figures().trouble is None)
            result = lines(jobs, view)
        published = run(corpus)
        seen = model.statistics

    assert trouble == "the disk is full"
    assert set(seen.requests.values()) == {1}
    assert result == published


def test_a_long_job_lets_those_of_others_pass(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Owners take turns also where one of them has a single endless job."""
    gate = Gate(monkeypatch)
    settings = EngineSettings(jobs=1, turn_seconds=0, processes=1)
    with served(corpus_of(tmp_path, []), settings=settings) as (_, jobs):
        long = jobs.add("ann", "handbook", agreements(20))
        eventually(lambda: bool(gate.began))
        short = jobs.add("bob", "handbook", agreements(1, first=50))
        gate.opened.set()
        short = done(jobs, short)
        long = done(jobs, long)

    assert short.ended is not None
    assert long.ended is not None
    assert short.ended < long.ended
    assert long.finished == 20


def test_nothing_is_asked_while_the_ledger_is_being_rewritten(
    tmp_path: Path, model: MockModel, monkeypatch: pytest.MonkeyPatch
) -> None:
    """`forget` takes a document out of it, and what is asked meanwhile is noted."""
    monkeypatch.setattr("situate.service.engine.schedule._AGAIN_SECONDS", 0.05)
    corpus = corpus_of(tmp_path, [], address=model.openai_url)
    ledger = corpus.chunks.with_name("handbook.ledger.jsonl")
    with served(corpus) as (engine, jobs):
        with rewriting(ledger):
            with pytest.raises(Busy, match="ledger"):
                within(upload(engine, "handbook", agreements(1)[0]))
            view = jobs.add("ann", "handbook", agreements(1))
            eventually(lambda: bool(jobs.events(view.job_id, 1)))
        view = done(jobs, view)

    assert view.outcomes == {"statement": SECTIONS}
