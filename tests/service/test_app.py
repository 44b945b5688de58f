"""What clients see: chunks, plans, jobs and refusals over real HTTP."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any, Final

import httpx
import pytest
from typer.testing import CliRunner

from situate.cli import app
from tests.support.browser import CHROMIUM, NO_CHROMIUM, browser
from tests.support.chat import Chat, chatting
from tests.support.corpora import LEAVE, TRAVEL, Corpus, asking
from tests.support.legibility import faint, too_wide
from tests.support.service import ANNA, BEN, KEYS, corpora, served

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

pytestmark = pytest.mark.xdist_group("service")

NDJSON: Final = {"accept": "application/x-ndjson"}
JSON: Final = "application/json"


@pytest.fixture(scope="module")
def chat() -> Iterator[Chat]:
    """Serve a model."""
    with chatting() as started:
        yield started


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory, chat: Chat) -> Path:
    """Write the corpora."""
    folder = tmp_path_factory.mktemp("service")
    return corpora(folder, asking=asking(chat.address))


@pytest.fixture(scope="module")
def address(folder: Path) -> Iterator[str]:
    """Serve them."""
    with served(folder, folder / "state", environment=KEYS) as address:
        yield address


@pytest.fixture
def anna(address: str) -> Iterator[httpx.Client]:
    """Somebody with a key."""
    with client(address, ANNA) as anna:
        yield anna


def client(address: str, key: str) -> httpx.Client:
    """Make a client that bears a key."""
    headers = {"authorization": f"Bearer {key}"}
    return httpx.Client(base_url=address, headers=headers, timeout=30)


def form(file: str, text: str, **fields: str) -> dict[str, Any]:
    """Give a form as a client sends it."""
    files = {"file": (file, text.encode())}
    return {"files": files, "data": {"corpus": "notes", **fields}}


def detail(answer: httpx.Response, status: int) -> str:
    """Give the sentence of a refusal, which has the one shape there is."""
    assert answer.headers["content-type"] == "application/problem+json", answer.text
    problem = answer.json()
    assert (answer.status_code, problem["status"]) == (status, status), problem
    assert problem["type"] == "about:blank"
    said = problem["detail"]
    assert isinstance(said, str)
    return said


def run_lines(folder: Path, name: str, corpus: str) -> bytes:
    """Give the lines that `situate run` writes of the same document."""
    config = (folder / f"{corpus}.toml").read_text("utf-8")
    other = folder / "other" / corpus
    twin = Corpus(folder=other, name=corpus)
    twin.document(name, TRAVEL)
    text = config.replace("notes/*.md", "docs/*.md")
    twin.config.write_text(text, "utf-8")
    twin.run()
    return twin.chunks.read_bytes()


def test_an_upload_gives_the_lines_of_a_run(anna: httpx.Client, folder: Path) -> None:
    """The same chunks everywhere, to the byte."""
    expected = run_lines(folder, "travel.md", "notes")

    lines = anna.post("/v1/chunk", **form("travel.md", TRAVEL), headers=NDJSON)

    assert lines.status_code == 200
    assert lines.headers["content-type"] == "application/x-ndjson"
    assert lines.content == expected


def test_text_gives_what_a_file_gives(anna: httpx.Client) -> None:
    """One object holds the document, its chunks, what was spent, and warnings."""
    body = {"corpus": "notes", "name": "travel.md", "text": TRAVEL}

    uploaded = anna.post("/v1/chunk", **form("travel.md", TRAVEL)).json()
    said = anna.post("/v1/chunk", json=body).json()

    assert said == uploaded
    assert said["document"]["outcomes"] == {"off": said["document"]["chunks"]}
    assert [each["doc_id"] for each in said["chunks"]] == ["travel.md"] * 2
    assert (said["spent"]["requests"], said["warnings"]) == (0, [])


def test_a_model_is_asked_where_the_corpus_has_one(
    anna: httpx.Client, chat: Chat
) -> None:
    """And not where the client does not want it; both have the same ids and texts."""
    body = {"corpus": "handbook", "name": "travel.md", "text": TRAVEL}

    without = anna.post("/v1/chunk", json={**body, "statements": False}).json()
    asked_before = len(chat.bodies)
    with_them = anna.post("/v1/chunk", json=body).json()

    assert asked_before == 0
    assert with_them["spent"]["requests"] == len(chat.bodies) > 0
    assert with_them["document"]["outcomes"].keys() == {"statement"}
    assert [each["text"] for each in with_them["chunks"]] == [
        each["text"] for each in without["chunks"]
    ]


def test_what_is_said_of_a_document_is_what_a_manifest_says(
    anna: httpx.Client,
) -> None:
    """Id, version and metadata, in a form's fields."""
    said = form(
        "x.md",
        "# A\n\nText.\n",
        name="deep/a.md",
        doc_id="HR-7",
        version="3",
        metadata='{"acl_groups": ["hr"], "effective_from": "2026-01-01"}',
    )

    (chunk,) = anna.post("/v1/chunk", **said).json()["chunks"]

    assert (chunk["doc_id"], chunk["doc_version"]) == ("HR-7", "3")
    assert chunk["metadata"]["effective_from"] == "2026-01-01"
    assert chunk["metadata"]["custom"] == {"acl_groups": ["hr"]}


def test_a_plan_is_what_the_command_says(
    anna: httpx.Client, folder: Path, chat: Chat
) -> None:
    """Of one document or several; nothing is asked."""
    twin = folder / "plan" / "docs"
    twin.mkdir(parents=True)
    twin.joinpath("leave.md").write_text(LEAVE, "utf-8")
    text = (folder / "handbook.toml").read_text("utf-8")
    twin.parent.joinpath("plan.toml").write_text(text, "utf-8")
    command = ["plan", str(twin.parent / "plan.toml"), "--json"]
    (expected,) = json.loads(CliRunner().invoke(app, command).stdout)
    asked = len(chat.bodies)

    document = {"name": "leave.md", "text": LEAVE}
    one = anna.post("/v1/plan", json={"corpus": "handbook", **document})
    several = anna.post(
        "/v1/plan", json={"corpus": "handbook", "documents": [document]}
    )
    filed = anna.post("/v1/plan", **form("leave.md", LEAVE, corpus="handbook"))

    assert one.json() == several.json() == filed.json()
    assert one.json() == {**expected, "options": one.json()["options"]}
    assert len(chat.bodies) == asked


def test_a_job_is_kept_told_of_and_removed(anna: httpx.Client, folder: Path) -> None:
    """From 202 to 404: events are numbered, the result is that of a run."""
    said = {"x.md": {"doc_id": "HR-7"}}
    files = [("file", ("travel.md", TRAVEL)), ("file", ("x.md", b"# A\n\nText.\n"))]
    fields = {"corpus": "notes", "documents": json.dumps(said)}

    added = anna.post("/v1/jobs", data=fields, files=files)
    where = added.headers["location"]
    events = anna.get(f"{where}/events").text
    job = anna.get(where).json()
    result = anna.get(f"{where}/result").content
    blocks = anna.get(f"{where}/result?kind=blocks").text.splitlines()
    removed = anna.delete(where).status_code

    assert added.status_code == 202
    assert re.findall(r"^id: (\d+)$", events, re.MULTILINE) == list("12345")
    assert re.findall(r"^event: (\w+)$", events, re.MULTILINE) == [
        *("queued", "running", "document", "document", "done")
    ]
    assert (job["state"], job["documents"], job["failed"]) == ("done", 2, 0)
    assert result.startswith(run_lines(folder, "travel.md", "notes"))
    assert [json.loads(line)["doc_id"] for line in blocks] == ["travel.md", "HR-7"]
    assert removed == 204
    assert "no such job" in detail(anna.get(where), 404)
    assert "no such job" in detail(anna.delete(where), 404)


def test_whoever_comes_back_to_events_misses_none(anna: httpx.Client) -> None:
    """What came after `Last-Event-ID`; 204 where nothing more will come."""
    documents = [{"name": "a.md", "text": "# A\n\nText.\n"}]
    added = anna.post("/v1/jobs", json={"corpus": "notes", "documents": documents})
    events = f"{added.headers['location']}/events"
    whole = anna.get(events).text

    rest = anna.get(events, headers={"last-event-id": "2"})
    nothing = anna.get(events, headers={"last-event-id": "4"})

    assert whole.endswith(rest.text)
    assert rest.text.startswith("event: document\n")
    assert (nothing.status_code, nothing.content) == (204, b"")
    assert "last-event-id" in detail(
        anna.get(events, headers={"last-event-id": "x"}), 422
    )


def test_a_key_sees_its_own_jobs_alone(anna: httpx.Client, address: str) -> None:
    """Another's job is as if it were not."""
    documents = [{"name": "a.md", "text": "# A\n"}]
    added = anna.post("/v1/jobs", json={"corpus": "notes", "documents": documents})
    where = added.headers["location"]

    with client(address, BEN) as ben:
        seen = [ben.get(where), ben.get(f"{where}/events"), ben.get(f"{where}/result")]
        removed = ben.delete(where)
        listed = ben.get("/v1/jobs").json()["jobs"]

    assert {each.status_code for each in (*seen, removed)} == {404}
    assert listed == []
    own = anna.get("/v1/jobs").json()["jobs"]
    assert where.endswith(own[0]["job_id"])


@pytest.mark.parametrize(
    ("sent", "status", "told"),
    [
        pytest.param(
            form("a.md", "# A", corpus="handbok"),
            *(404, "no corpus 'handbok'; there are 'handbook', 'notes'"),
            id="corpus",
        ),
        pytest.param(form("../a.md", "# A"), 422, "'../a.md' is no name", id="way-out"),
        pytest.param(form("a.xyz", "# A"), 422, "a.xyz: ", id="no-reader"),
        pytest.param(form("a.docx", "# A"), 422, "a.docx: ", id="no-word-file"),
        pytest.param(
            form("a.md", "# A", metadata='{"title": 7}'),
            *(422, "a.md: title"),
            id="metadata",
        ),
        pytest.param(
            form("a.md", "# A", metadata="{"), 422, "metadata: it is no JSON", id="json"
        ),
        pytest.param(form("a.md", "# A", colour="red"), 422, "colour: ", id="field"),
        pytest.param(
            {"data": {"corpus": "notes"}, "files": {"other": ("a.md", b"x")}},
            *(422, "file: name one file"),
            id="other-file",
        ),
        pytest.param(
            {"content": b"{", "headers": {"content-type": JSON}},
            *(400, "body: Invalid JSON"),
            id="no-json",
        ),
        pytest.param(
            {"json": {"corpus": "notes", "name": "a.md"}},
            *(422, "text: Field required"),
            id="no-text",
        ),
        pytest.param({"content": b"# A"}, 415, "of no type", id="no-type"),
        pytest.param(
            {
                "content": b"--b\r\n",
                "headers": {"content-type": "multipart/form-data; boundary=b"},
            },
            *(400, "the body is no form"),
            id="half-a-form",
        ),
    ],
)
def test_a_refusal_names_the_thing(
    anna: httpx.Client, sent: dict[str, Any], status: int, told: str
) -> None:
    """One line that says what was found and, where it helps, what to do."""
    assert told in detail(anna.post("/v1/chunk", **sent), status)


def test_a_job_of_no_corpus_or_of_twins_leaves_nothing(anna: httpx.Client) -> None:
    """It is taken in whole or not at all."""
    twins = [{"name": "a.md", "text": "# A"}, {"name": "a.md", "text": "# B"}]
    before = anna.get("/v1/jobs").json()

    unknown = anna.post("/v1/jobs", json={"corpus": "x", "documents": twins})
    doubled = anna.post("/v1/jobs", json={"corpus": "notes", "documents": twins})

    assert "there is no corpus 'x'" in detail(unknown, 404)
    assert "a.md" in detail(doubled, 422)
    assert anna.get("/v1/jobs").json() == before


@pytest.mark.parametrize(
    ("path", "sent", "told"),
    [
        pytest.param(
            "/v1/jobs",
            form("a.md", "# A", statements="false"),
            *("statements: Extra inputs",),
            id="job-without-statements",
        ),
        pytest.param(
            "/v1/plan",
            {"json": {"corpus": "notes", "name": "a", "text": "", "statements": False}},
            *("statements: without them there is nothing to plan",),
            id="plan-without-statements",
        ),
        pytest.param(
            "/v1/jobs",
            {"json": {"corpus": "notes", "name": "a.md", "text": ""}},
            *("documents: Field required",),
            id="job-of-one",
        ),
        pytest.param(
            "/v1/jobs",
            form("a" * 1_001, "# A"),
            *("file: a file has no name, or one of over 1,000 letters",),
            id="long-name",
        ),
        pytest.param(
            "/v1/jobs",
            form("a.md", "# A", documents='{"b.md": {}}'),
            *("documents: 'b.md' is none of the files",),
            id="unknown-file",
        ),
        pytest.param(
            "/v1/jobs",
            form("a.md", "# A", documents='{"a.md": {"acl_groups": ["hr"]}}'),
            "permitted; what is said of a document goes under metadata",
            id="outside-of-metadata",
        ),
    ],
)
def test_what_would_be_ignored_is_refused(
    anna: httpx.Client, path: str, sent: dict[str, Any], told: str
) -> None:
    """Who says that no model is to be asked is not to find out from the bill."""
    assert told in detail(anna.post(path, **sent), 422)


def test_a_route_says_what_it_has(anna: httpx.Client) -> None:
    """404 and 405 have the one shape too, and name the methods."""
    wrong = anna.put("/v1/jobs")

    assert "'/v1/jobs' has GET and POST alone" in detail(wrong, 405)
    assert wrong.headers["allow"] == "GET, POST"
    assert "/docs says what there is" in detail(anna.get("/"), 404)
    assert "/openapi.json" in detail(anna.get("/v1/nothing"), 404)


def test_corpora_are_listed_without_what_is_nobodys_concern(
    anna: httpx.Client, folder: Path, chat: Chat
) -> None:
    """Sizes and models; no path, no address."""
    listed = anna.get("/v1/corpora")

    asks, other = listed.json()["corpora"]
    assert (asks["name"], asks["statements"]) == ("handbook", True)
    assert asks["model"] == "local-model"
    assert (other["name"], other["statements"]) == ("notes", False)
    assert str(folder) not in listed.text
    assert chat.address not in listed.text


def test_health_and_readiness_are_open(address: str) -> None:
    """They name no corpus."""
    alive = httpx.get(f"{address}/healthz")
    ready = httpx.get(f"{address}/readyz")

    assert alive.json() == {"status": "ok"}
    assert (ready.status_code, ready.json()["ready"]) == (200, True)
    assert "handbook" not in ready.text


def test_metrics_count_and_name_no_document(anna: httpx.Client, address: str) -> None:
    """They need a key; labels are routes, corpora, statuses and reasons."""
    anna.post("/v1/chunk", **form("secret-name.md", "# Secret words\n"))

    closed = httpx.get(f"{address}/metrics")
    metrics = anna.get("/metrics").text

    assert closed.status_code == 401
    labels = r'method="POST",route="/v1/chunk",status="200"'
    assert re.search(
        rf"^situate_requests_total\{{{labels}\}} [1-9]", metrics, re.MULTILINE
    )
    assert re.search(
        r'^situate_chunks_total\{corpus="notes"\} [1-9]', metrics, re.MULTILINE
    )
    for secret in ("secret-name", "Secret", ANNA, "anna"):
        assert secret not in metrics


@pytest.mark.skipif(CHROMIUM is None, reason=NO_CHROMIUM)
def test_the_page_about_it_shows_every_route_and_asks_nobody(
    address: str, tmp_path: Path
) -> None:
    """One page, legible, from the service itself."""
    document = httpx.get(f"{address}/openapi.json").json()
    operations = [
        (method.upper(), path)
        for path, methods in document["paths"].items()
        for method in methods
    ]

    with browser(tmp_path) as chromium:
        page = chromium.visit(f"{address}/docs")
        headings = page.run(
            "[...document.querySelectorAll('section > h2')].map((h) => h.innerText)"
        )
        page.click(".routes a[href='#job_events']")
        shown = page.text("#job_events")
        unreadable = faint(page)
        page.look(width=390)
        wide = too_wide(page)

    assert {" ".join(each) for each in operations} <= set(headings)
    assert len(operations) == 12
    assert "Last-Event-ID" in shown
    assert page.requests[0] == f"{address}/docs"
    assert {each.partition("#")[0] for each in page.requests} == {f"{address}/docs"}
    assert page.console == []
    assert (unreadable, wide) == ([], [])
