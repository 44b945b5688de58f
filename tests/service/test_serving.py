"""`situate serve` as a process: what it refuses to start with, says, and ends by."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
from typing import TYPE_CHECKING

import httpx
import pytest
from typer.testing import CliRunner

from situate.cli import app
from tests.support.chat import chatting
from tests.support.corpora import LEAVE, TRAVEL, asking
from tests.support.process import Process
from tests.support.service import ANNA, KEYS, corpora

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

pytestmark = pytest.mark.xdist_group("service")

KEY = {"authorization": f"Bearer {ANNA}"}


OTHER = """\
# Keys

Every key has a number. Whoever loses one says so at once, and pays for the new lock.

# Bicycles

They stand in the yard; what stands elsewhere is taken away after a week without notice.
"""


@pytest.fixture
def config(tmp_path: Path) -> Path:
    """Write two corpora that ask nobody."""
    return corpora(tmp_path / "config", asking={"enabled": False})


@pytest.fixture
def started() -> Iterator[list[Process]]:
    """Keep what was started, and end it."""
    started: list[Process] = []
    yield started
    for process in started:
        process.kill()


def of(config: Path, state: Path) -> list[str]:
    """Give the options that say what is served and where jobs are kept."""
    return ["--config-dir", str(config), "--state", str(state)]


def refusal(config: Path, *options: str) -> str:
    """Start it where it cannot be started; give what it says."""
    command = ["serve", "--config-dir", str(config), *options]
    result = CliRunner().invoke(app, command)
    assert result.exit_code == 2, result.output
    return result.stderr


def test_a_stop_ends_streams_finishes_requests_and_is_no_failure(
    tmp_path: Path, started: list[Process], monkeypatch: pytest.MonkeyPatch
) -> None:
    """SIGTERM gives 0; the job goes on at the next start, and no log names anything.

    Neither a key, nor a document, nor a word of one.
    """
    for name, value in KEYS.items():
        monkeypatch.setenv(name, value)
    asked, answering = threading.Event(), threading.Event()

    def hold() -> None:
        asked.set()
        assert answering.wait(20)

    with chatting() as chat:
        chat.before = hold
        config = corpora(tmp_path / "config", asking=asking(chat.address))
        state = tmp_path / "state"
        first = Process(*of(config, state), "--grace-seconds", "20")
        started.append(first)
        address = first.address()
        with httpx.Client(base_url=address, headers=KEY, timeout=30) as client:
            documents = [
                {"name": "secret-leave.md", "text": LEAVE},
                {"name": "secret-travel.md", "text": TRAVEL},
            ]
            job = {"corpus": "handbook", "documents": documents}
            where = client.post("/v1/jobs", json=job).headers["location"]
            answers: list[httpx.Response] = []
            body = {"corpus": "handbook", "name": "x.md", "text": OTHER}
            upload = threading.Thread(
                target=lambda: answers.append(
                    httpx.post(
                        f"{address}/v1/chunk", json=body, headers=KEY, timeout=30
                    )
                )
            )
            assert asked.wait(10)
            with client.stream("GET", f"{where}/events") as stream:
                lines = stream.iter_lines()
                assert next(lines) == "event: queued"
                upload.start()
                _until_at_work(address)
                first.signal(signal.SIGTERM)
                rest = list(lines)
            answering.set()
            upload.join()
        ended = first.wait()
        chat.before = lambda: None
        second = Process(*of(config, state))
        started.append(second)
        again = second.address()
        with httpx.Client(base_url=again, headers=KEY, timeout=30) as client:
            client.get(f"{where}/events")
            finished = client.get(where).json()
        once = {bytes(each) for each in chat.bodies}

    assert ended == 0, first.said
    assert rest[-4:-1] == ["event: ending", "data: {}", "retry: 3000"]
    assert [each.status_code for each in answers] == [200]
    assert (finished["state"], finished["finished"]) == ("done", 2)
    assert len(once) == len(chat.bodies)
    for secret in (ANNA, "secret-", "parental", where.rpartition("/")[2]):
        assert secret not in first.said


def _until_at_work(address: str) -> None:
    """Wait until an upload is at work."""
    while True:
        metrics = httpx.get(f"{address}/metrics", headers=KEY).text
        if "situate_uploads_at_work 1.0" in metrics:
            return


def test_every_corpus_of_a_folder_has_to_be_one(
    config: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """All that is wrong is said at once; prices and bounds are no corpora."""
    monkeypatch.setenv("SITUATE_ORGANISATION", str(config / "bounds.toml"))
    config.joinpath("bounds.toml").write_text("x = 1\n", "utf-8")
    config.joinpath("models.toml").write_text("x = 1\n", "utf-8")
    config.joinpath("organisation.toml").write_text("x = 1\n", "utf-8")
    config.joinpath("broken.toml").write_text("[corpus]\nname = 7\n", "utf-8")
    config.joinpath("torn.toml").write_text("[corpus\n", "utf-8")

    said = refusal(config)

    assert "broken.toml: " in said
    assert "torn.toml: is not TOML" in said
    for other in ("models.toml", "organisation.toml", "bounds.toml"):
        assert other not in said


def test_a_folder_without_a_corpus_is_a_mistake(tmp_path: Path) -> None:
    """As is one that is not there."""
    assert "there is no corpus, no *.toml" in refusal(tmp_path)
    assert "cannot be read" in refusal(tmp_path / "missing")


def test_others_are_served_with_keys_alone(config: Path) -> None:
    """The line names what to set."""
    said = refusal(config, "--host", "0.0.0.0")  # noqa: S104 - what is refused

    assert "no key is set; set SITUATE_SERVICE_KEYS" in said


def test_an_address_that_is_taken_is_named(
    config: Path, tmp_path: Path, started: list[Process]
) -> None:
    """As is a state folder that another service works on: exit code 4."""
    process = Process(*of(config, tmp_path / "state"))
    started.append(process)
    port = process.address().rpartition(":")[2]

    said = refusal(config, "--port", port, "--state", str(tmp_path / "other"))
    command = ["serve", "--config-dir", str(config), "--port", "0"]
    locked = CliRunner().invoke(app, [*command, "--state", str(tmp_path / "state")])

    assert f"--port {port}: cannot be served on" in said
    assert locked.exit_code == 4
    assert "is used by another serve; give this one its own with --state" in (
        locked.stderr
    )
    assert process.end(signal.SIGINT) == 0
    assert "no key is set: whoever is on this machine may ask" in process.said


def test_what_it_cannot_do_is_told_at_the_start(
    tmp_path: Path, started: list[Process], monkeypatch: pytest.MonkeyPatch
) -> None:
    """A format without its package, a model without its key; it serves all the same.

    Clients hear what cannot be done, and not what to install elsewhere.
    """
    bare = "import sys\nsys.modules['lxml'] = sys.modules['pypdfium2'] = None\n"
    (tmp_path / "site").mkdir()
    (tmp_path / "site" / "sitecustomize.py").write_text(bare, "utf-8")
    path = f"{tmp_path / 'site'}{os.pathsep}{os.environ.get('PYTHONPATH', '')}"
    monkeypatch.setenv("PYTHONPATH", path)
    monkeypatch.delenv("ANTHROPIC_API_KEY", raising=False)
    asked = {
        "enabled": True,
        "provider": "anthropic",
        "model": "claude-haiku-5-5",
        "prompt": "findable-v1",
        "max_usd": 1,
        "max_usd_month": 1,
    }
    config = corpora(tmp_path / "config", asking=asked)

    process = Process(*of(config, tmp_path / "state"), "--processes", "1")
    started.append(process)
    address = process.address()
    files = {"file": ("scans/a.pdf", b"%PDF-1.7")}
    one = httpx.post(f"{address}/v1/chunk", data={"corpus": "notes"}, files=files)
    job = httpx.post(f"{address}/v1/jobs", data={"corpus": "notes"}, files=files).json()
    where = f"{address}/v1/jobs/{job['job_id']}"
    httpx.get(f"{where}/events", timeout=30)
    ended = httpx.get(where).json()
    ready = httpx.get(f"{address}/readyz")

    told = "scans/a.pdf: this service cannot read .pdf files"
    assert (one.status_code, one.json()["detail"]) == (422, told)
    assert [each["reason"] for each in ended["failures"]] == [told]
    models = ready.json()["checks"]["models"]
    assert models == "claude-haiku-5-5 could not be asked the last time"
    assert ready.status_code == 200
    _, formats, key, *_ = process.said.splitlines()
    remedy = "pip install 'situate[docx,pdf]'"
    assert formats == f"situate: .docx and .pdf files cannot be read; {remedy}"
    assert key.startswith("situate: handbook: no statements: authentication: ")
    assert "ANTHROPIC_API_KEY" in key


def test_sizes_that_contradict_each_other_are_refused(config: Path) -> None:
    """No body would ever be let in."""
    said = refusal(config, "--max-body-mb", "64", "--max-bodies-mb", "32")

    assert "--max-bodies-mb: it is below --max-body-mb" in said


def test_a_missing_package_is_named_with_its_remedy(config: Path) -> None:
    """Exit code 2 and the command that installs it."""
    program = (
        "import sys; sys.modules['fastapi'] = None\n"
        f"sys.argv = ['situate', 'serve', '--config-dir', {str(config)!r}]\n"
        "from situate.cli import main; main()"
    )

    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=False
    )

    assert done.returncode == 2
    assert "fastapi is missing; pip install 'situate[service]'" in done.stderr
