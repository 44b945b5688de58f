"""Shows the OpenAPI document as one page that asks nobody for anything."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, Final

from situate import standalone
from situate.standalone.elements import make, write

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from xml.etree.ElementTree import Element

_SHARED: Final = "situate.standalone"
_HERE: Final = "situate.service.web"
_REFERENCE: Final = "$ref"


def page(document: Mapping[str, Any]) -> bytes:
    """Write the page of a document whose references are all to its own schemas."""
    style = standalone.asset(_SHARED, "theme.css")
    design = standalone.Design(
        tool="situate serve",
        style=style + standalone.asset(_HERE, "reference.css"),
        script="",
    )
    operations = list(_operations(document))
    info = document["info"]
    main = make(
        "main",
        None,
        make("p", {"class": "eyebrow"}, f"situate serve {info['version']}"),
        make("h1", None, info["summary"]),
        make("p", {"class": "facts"}, *_marked(info["description"])),
        make("p", {"class": "facts"}, "As OpenAPI: ", _link("/openapi.json")),
        make("ul", {"class": "routes"}, *(_entry(*each) for each in operations)),
        *(_section(*each) for each in operations),
        *_schemas(document),
    )
    return standalone.page(design, "HTTP interface", write(main), {})


def _operations(
    document: Mapping[str, Any],
) -> Iterator[tuple[str, str, Mapping[str, Any]]]:
    for path, methods in document["paths"].items():
        for method, operation in methods.items():
            yield path, method, operation


def _entry(path: str, method: str, operation: Mapping[str, Any]) -> Element:
    anchor = f"#{operation['operationId']}"
    return make("li", None, _badge(method), " ", make("a", {"href": anchor}, path))


def _section(path: str, method: str, operation: Mapping[str, Any]) -> Element:
    rows = [
        _row(each["name"], each["schema"], each.get("description"), needed=True)
        if each.get("required")
        else _row(each["name"], each["schema"], each.get("description"))
        for each in operation.get("parameters", ())
    ]
    parameters = [make("h3", None, "Parameters"), make("table", None, *rows)]
    body = operation.get("requestBody", {}).get("content", {})
    return make(
        "section",
        {"id": operation["operationId"]},
        make("h2", None, _badge(method), " ", make("code", None, path)),
        make("p", None, *_marked(operation["description"])),
        *(parameters if rows else ()),
        *([make("h3", None, "Body")] if body else ()),
        *(_content(kind, each) for kind, each in body.items()),
        make("h3", None, "Answers"),
        *(
            _answer(status, answer)
            for status, answer in sorted(operation["responses"].items())
        ),
    )


def _answer(status: str, answer: Mapping[str, Any]) -> Element:
    content = answer.get("content", {})
    return make(
        "details",
        {"open": "" if status.startswith("2") else None},
        make("summary", None, make("code", None, status), f" {answer['description']}"),
        *(_content(kind, each) for kind, each in content.items()),
    )


def _content(kind: str, content: Mapping[str, Any]) -> Element:
    schema = content.get("schema", {})
    example = content.get("example")
    shown = example if isinstance(example, str) else json.dumps(example, indent=2)
    return make(
        "div",
        None,
        make("p", {"class": "soft"}, make("code", None, kind), " ", *_named(schema)),
        _table(schema) if "properties" in schema else None,
        None if example is None else make("pre", None, shown),
    )


def _named(schema: Mapping[str, Any]) -> Iterator[Element | str]:
    """Name the schemas that a body is of, with a link to each."""
    for each in (schema, *schema.get("oneOf", ())):
        if _REFERENCE in each:
            name = each[_REFERENCE].rpartition("/")[2]
            yield make("a", {"href": f"#{name}"}, name)
            yield " "


def _schemas(document: Mapping[str, Any]) -> Iterator[Element]:
    for name, schema in document["components"]["schemas"].items():
        if "properties" in schema:
            yield make(
                "section",
                {"id": name},
                make("h2", None, make("code", None, name)),
                make("p", None, *_marked(schema.get("description", ""))),
                _table(schema),
            )


def _table(schema: Mapping[str, Any]) -> Element:
    needed = schema.get("required", ())
    return make(
        "table",
        None,
        *(
            _row(name, each, each.get("description"), needed=name in needed)
            for name, each in schema["properties"].items()
        ),
    )


def _row(
    name: str, schema: Mapping[str, Any], meaning: str | None, *, needed: bool = False
) -> Element:
    mark = make("span", {"class": "needed"}, " needed") if needed else None
    return make(
        "tr",
        None,
        make("td", None, make("code", None, name), mark),
        make("td", None, make("code", None, _type(schema))),
        make("td", None, *_marked(meaning or "")),
    )


def _type(schema: Mapping[str, Any]) -> str:
    """Say in a word what a value is."""
    if _REFERENCE in schema:
        return str(schema[_REFERENCE].rpartition("/")[2])
    if "anyOf" in schema:
        return " or ".join(map(_type, schema["anyOf"]))
    if "enum" in schema:
        return " or ".join(map(json.dumps, schema["enum"]))
    if schema.get("type") == "array":
        return f"list of {_type(schema['items'])}"
    return str(schema.get("format") or schema.get("type", "any"))


def _marked(text: str) -> list[Element | str]:
    """Set in code what stands between backticks."""
    return [
        make("code", None, part) if odd % 2 else part
        for odd, part in enumerate(text.split("`"))
    ]


def _badge(method: str) -> Element:
    return make("span", {"class": f"method {method}"}, method.upper())


def _link(address: str) -> Element:
    return make("a", {"href": address}, address)
