"""What a body may hold: more than its bytes counts."""

from __future__ import annotations

import io
import json
import time
from typing import TYPE_CHECKING, Final

import pytest

from situate.service.web.limits import Limits
from situate.service.web.problems import Refused
from situate.service.web.shapes import DOCUMENTS, JOB
from situate.service.web.uploads import Body, document_in, documents_in

if TYPE_CHECKING:
    from collections.abc import Sequence

    from situate.service.web.shapes import Shape

MOST: Final = 32 << 20
"""Bytes of a body."""

BOUNDARY: Final = b"between"


def json_of(content: bytes) -> Body:
    """Give a body of JSON."""
    return Body(file=io.BytesIO(content), media_type="application/json", boundary=b"")


def form_of(fields: Sequence[tuple[str, bytes]]) -> Body:
    """Give a form of a file and some fields."""
    heads = [(f'name="{name}"', value) for name, value in fields]
    heads.append(('name="file"; filename="a.md"', b"# A\n"))
    parts = [
        b"--%b\r\nContent-Disposition: form-data; %b\r\n\r\n%b\r\n"
        % (BOUNDARY, head.encode(), value)
        for head, value in heads
    ]
    return Body(
        file=io.BytesIO(b"".join(parts) + b"--%b--\r\n" % BOUNDARY),
        media_type="multipart/form-data",
        boundary=BOUNDARY,
    )


def job_of(*documents: bytes) -> bytes:
    """Give the JSON of a job."""
    return b'{"corpus":"notes","documents":[%b]}' % b",".join(documents)


def keys_of(count: int) -> bytes:
    """Give an object of so many keys that nothing knows."""
    return b"{%b}" % b",".join(b'"k%d":1' % number for number in range(count))


WELL: Final = b'{"name":"a.md","text":"# A\\n"}'

LARGE: Final = {
    "empty documents": (json_of(job_of(*[b"{}"] * 1_000_000)), 413),
    "documents without a fault": (json_of(job_of(*[WELL] * 250_000)), 413),
    "one empty document beside thousands": (json_of(job_of(*[b"{}"] * 9_000)), 422),
    "unknown keys": (json_of(keys_of(200_000)), 422),
    "lists in lists": (json_of(job_of(b"[" + b"[]," * 1_000_000 + b"1]")), 413),
    "half a string": (json_of(b'{"corpus":"' + b'\\"' * 5_000_000), 400),
    "fields of a form": (
        form_of(
            [("corpus", b"notes"), ("documents", b'{"a.md":%b}' % keys_of(80_000))]
        ),
        422,
    ),
}


@pytest.mark.parametrize(("body", "status"), LARGE.values(), ids=LARGE)
def test_a_body_of_nothing_but_faults_gets_a_short_answer_soon(
    body: Body, status: int
) -> None:
    """At most 20 problems are named, and what there is too much of is not read."""
    started = time.perf_counter()

    with pytest.raises(Refused) as refused:
        documents_in(body, JOB, Limits())

    assert time.perf_counter() - started < 1
    assert refused.value.status == status
    assert len(refused.value.body) < 32_768
    assert len(refused.value.problems) <= 20


def test_a_document_is_bound_as_a_job_of_one_is() -> None:
    """Metadata of ten thousand values is enough for it."""
    groups = json.dumps(
        {"corpus": "notes", "name": "a.md", "text": "A", "metadata": {}}
    )
    said = groups.replace("{}", '{"acl_groups":[%s]}')
    few = json_of((said % ",".join(['"staff"'] * 9_000)).encode())
    many = json_of((said % ",".join(['"staff"'] * 11_000)).encode())

    taken, _ = document_in(few, MOST)
    with pytest.raises(Refused, match="more than 10,032 values") as refused:
        document_in(many, MOST)

    assert len(str(taken.metadata)) > 9_000
    assert refused.value.status == 413


@pytest.mark.parametrize("shape", [JOB, DOCUMENTS], ids=["job", "plan"])
def test_as_many_documents_as_may_be_are_taken(shape: Shape) -> None:
    """Commas and brackets in a text are no values."""
    text = json.dumps({"name": "a.md", "text": '[{"a",\\"b",' * 100}).encode()
    limits = Limits(documents=1_000)

    many = documents_in(json_of(job_of(*[text] * 1_000)), shape, limits)
    with pytest.raises(Refused, match="more than 1,000 documents") as refused:
        documents_in(json_of(job_of(*[text] * 1_001)), shape, limits)

    assert len(many.texts) == 1_000
    assert refused.value.status == 413


def test_each_fault_of_a_document_is_named() -> None:
    """Those of the first document that has some."""
    with pytest.raises(Refused) as refused:
        documents_in(json_of(job_of(b'{"name":1}', b"{}")), JOB, Limits())

    assert [where for where, _ in refused.value.problems] == [
        "documents.0.name",
        "documents.0.text",
    ]
