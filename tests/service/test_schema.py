"""The OpenAPI document is true: what it allows is answered as it says."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
import schemathesis
from hypothesis import given, settings
from hypothesis.errors import Unsatisfiable
from schemathesis import GenerationMode
from schemathesis.config import SchemathesisConfig

from tests.support.chat import chatting
from tests.support.contract import AUTHORIZATION, CONFIG, document
from tests.support.corpora import asking
from tests.support.service import KEYS, corpora, served

if TYPE_CHECKING:
    from collections.abc import Iterator

    from schemathesis import BaseSchema, Case

pytestmark = pytest.mark.xdist_group("service")


@pytest.fixture(scope="module")
def address(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """Serve two corpora."""
    folder = tmp_path_factory.mktemp("contract")
    with chatting() as chat:
        config = corpora(folder, asking=asking(chat.address))
        with served(config, folder / "state", environment=KEYS) as address:
            yield address


@pytest.fixture(scope="module")
def contract(address: str) -> BaseSchema:
    """Read what the service says of itself."""
    config = SchemathesisConfig.from_dict(CONFIG)
    contract = schemathesis.openapi.from_dict(document(address), config=config)
    contract.config.update(base_url=address)
    return contract


OPERATIONS = (
    *("POST /v1/chunk", "POST /v1/plan", "POST /v1/jobs", "GET /v1/jobs"),
    *("GET /v1/jobs/{job_id}", "DELETE /v1/jobs/{job_id}"),
    *("GET /v1/jobs/{job_id}/events", "GET /v1/jobs/{job_id}/result"),
    *("GET /v1/corpora", "GET /healthz", "GET /readyz", "GET /metrics"),
)


@pytest.mark.parametrize("operation", OPERATIONS)
@pytest.mark.parametrize("mode", list(GenerationMode), ids=lambda mode: mode.value)
def test_every_answer_is_one_that_is_described(
    contract: BaseSchema, operation: str, mode: GenerationMode
) -> None:
    """Statuses, types, shapes and headers, for good requests and bad ones."""
    method, path = operation.split(" ")
    cases = contract[path][method].as_strategy(generation_mode=mode)

    @given(cases)
    @settings(max_examples=4)
    def hold(case: Case) -> None:
        case.call_and_validate(headers=AUTHORIZATION)

    try:
        hold()
    except Unsatisfiable:
        # There is no bad request where nothing can be sent.
        assert mode is GenerationMode.NEGATIVE


def test_every_route_is_held_to_it(address: str) -> None:
    """A route is added above in the commit that adds it."""
    paths = document(address)["paths"]

    described = [
        f"{method.upper()} {path}"
        for path, methods in paths.items()
        for method in methods
    ]

    assert sorted(described) == sorted(OPERATIONS)


def test_everything_is_described_with_an_example(address: str) -> None:
    """Every answer with a body, every body of a request, every parameter."""
    described = document(address)

    lacking = [
        f"{method} {path} {where}"
        for path, methods in described["paths"].items()
        for method, operation in methods.items()
        for where, content in _contents(operation)
        if "example" not in content and "multipart" not in where
    ]
    parameters = [
        each
        for methods in described["paths"].values()
        for operation in methods.values()
        for each in operation.get("parameters", ())
    ]

    assert lacking == []
    assert parameters
    assert all(each["description"] for each in parameters)


def test_refusals_are_shown_in_words_of_their_route(address: str) -> None:
    """A job that is not there is no corpus, and a number is no Word file."""
    paths = document(address)["paths"]

    def shown(method: str, path: str, status: str) -> str:
        answer = paths[path][method]["responses"][status]
        example = answer["content"]["application/problem+json"]["example"]
        return str(example["detail"])

    assert "no such job" in shown("get", "/v1/jobs/{job_id}", "404")
    assert "no corpus" in shown("post", "/v1/jobs", "404")
    assert "last-event-id" in shown("get", "/v1/jobs/{job_id}/events", "422")
    assert "travel.docx" in shown("post", "/v1/chunk", "422")


def _contents(operation: dict[str, Any]) -> Iterator[tuple[str, dict[str, Any]]]:
    bodies = {"body": operation.get("requestBody", {}), **operation["responses"]}
    for name, body in bodies.items():
        for kind, content in body.get("content", {}).items():
            yield f"{name} {kind}", content
