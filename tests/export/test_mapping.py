"""An index takes every record that situate writes, and nothing else."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from situate.export.documents import document
from situate.export.languages import ANALYSERS
from tests.support.exports import a_record, all_kinds, files_of

if TYPE_CHECKING:
    from collections.abc import Iterator

VENDORS = ("elasticsearch", "opensearch")
BOTH = pytest.mark.parametrize("name", VENDORS)

# The lists of the two references, language analysers: what both have.
BUILT_IN = frozenset(
    {
        *("arabic", "armenian", "basque", "bengali", "brazilian", "bulgarian"),
        *("catalan", "cjk", "czech", "danish", "dutch", "english", "estonian"),
        *("finnish", "french", "galician", "german", "greek", "hindi", "hungarian"),
        *("indonesian", "irish", "italian", "latvian", "lithuanian", "norwegian"),
        *("persian", "portuguese", "romanian", "russian", "sorani", "spanish"),
        *("swedish", "thai", "turkish"),
    }
)


def template(name: str, dimensions: int | None = 3) -> dict[str, Any]:
    """Give the index template of a store."""
    found: dict[str, Any] = files_of(name, dimensions)["index-template.json"]
    return found


def fields(name: str, dimensions: int | None = 3) -> dict[str, Any]:
    """Give its fields."""
    found: dict[str, Any] = template(name, dimensions)["template"]["mappings"]
    return found


def unmapped(value: Any, mapping: dict[str, Any], path: str = "") -> Iterator[str]:
    """Yield the paths of a document that a strict mapping refuses."""
    if isinstance(value, list):
        for each in value:
            yield from unmapped(each, mapping, path)
    elif isinstance(value, dict):
        free = {"flattened", "flat_object", "date_range"}
        if mapping.get("type") in free or mapping.get("enabled") is False:
            return
        for key, below in value.items():
            known = mapping.get("properties", {}).get(key)
            if known is None:
                yield f"{path}.{key}"
            else:
                yield from unmapped(below, known, f"{path}.{key}")


def objects(mapping: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """Yield the objects of a mapping that have fields."""
    if "properties" in mapping:
        yield mapping
        for below in mapping["properties"].values():
            yield from objects(below)


@BOTH
def test_every_path_of_every_document_has_a_field(name: str) -> None:
    """Of chunks, containers and paragraphs, with sentences, dates and custom keys."""
    documents = [document(record, [1.0, 0.0, 0.0]) for record in all_kinds()]

    missing = {path for each in documents for path in unmapped(each, fields(name))}

    assert not missing


@BOTH
def test_a_key_that_nobody_knows_is_found_out(name: str) -> None:
    """The rule above can fail."""
    record = {**a_record(), "unknown": 1}

    assert list(unmapped(document(record, None), fields(name))) == [".unknown"]


@BOTH
def test_every_object_is_strict(name: str) -> None:
    """A new key is an error and not a new field."""
    found = list(objects(fields(name)))

    assert len(found) == 5
    assert {each["dynamic"] for each in found} == {"strict"}


@pytest.mark.parametrize(
    ("name", "kind"), [("elasticsearch", "flattened"), ("opensearch", "flat_object")]
)
def test_custom_keys_share_one_field(name: str, kind: str) -> None:
    """However many there are, and of whatever types."""
    custom = fields(name)["properties"]["metadata"]["properties"]["custom"]

    assert custom["type"] == kind


@BOTH
def test_every_language_has_a_field_with_its_analyser(name: str) -> None:
    """Only analysers that both servers have built in."""
    lexical = fields(name)["properties"]["lexical"]["properties"]

    assert {each["analyzer"] for each in lexical.values()} == {
        *ANALYSERS.values(),
        "standard",
    }
    assert lexical.keys() - {"standard"} <= BUILT_IN
    assert all(each["analyzer"] == key for key, each in lexical.items())


@pytest.mark.parametrize(
    ("name", "size"), [("elasticsearch", "dims"), ("opensearch", "dimension")]
)
def test_a_vector_has_the_size_that_was_given(name: str, size: str) -> None:
    """Without one there is no field, and no query that asks it."""
    without = files_of(name, None)

    assert fields(name, 1024)["properties"]["vector"][size] == 1024
    assert "vector" not in fields(name, None)["properties"]
    assert sorted(without) == [
        *("index-template.json", "queries/acl.json", "queries/as-of.json")
    ]


def test_opensearch_searches_vectors_only_where_its_index_says_so() -> None:
    """`index.knn` is set with the field."""
    assert template("opensearch")["template"]["settings"] == {"index": {"knn": True}}
    assert "settings" not in template("opensearch", None)["template"]


@BOTH
def test_no_query_finds_a_container(name: str) -> None:
    """Each of the ready queries asks for what is to be found."""
    files = files_of(name)

    asked = {
        key: str(value).count("{'term': {'metadata.embed': True}}")
        for key, value in files.items()
        if key.startswith("queries/") and "pipeline" not in key
    }

    assert asked
    assert all(asked.values())


@BOTH
def test_every_field_that_a_query_asks_is_in_the_template(name: str) -> None:
    """A field that is misspelt finds nothing, and says nothing."""
    files = str(files_of(name))
    top = fields(name)["properties"]

    for field in ("validity", "acl", "classification", "group_id", "lexical", "vector"):
        assert field in top
        assert f"'{field}" in files


@BOTH
def test_a_query_by_groups_finds_of_classes_only_those_it_names(name: str) -> None:
    """Until somebody names one, no record that has a class is found."""
    files = files_of(name, None)

    filters = files["queries/acl.json"]["query"]["bool"]["filter"]

    (named, without) = filters[-1]["bool"]["should"]
    assert named == {"terms": {"classification": ["CLASS"]}}
    assert without == {"bool": {"must_not": [{"exists": {"field": "classification"}}]}}
    assert filters[-1]["bool"]["minimum_should_match"] == 1
    assert {"terms": {"acl": ["acl_groups=GROUP"]}} in filters
