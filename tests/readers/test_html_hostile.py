"""HTML made to exhaust a reader ends in text, or in one clear line."""

from __future__ import annotations

import pytest

from situate.errors import ReadError
from situate.model import Items
from situate.readers import Limits, ReaderOptions, read
from situate.readers.html.markup import prepare
from situate.readers.html.notes import Notes
from tests.readers.trees import blocks

TOO_DEEP = "nest too deep"


def said(page: str) -> tuple[str, tuple[str, ...]]:
    """Give all text of a page, blanks taken out, and the warnings."""
    result = read(page.encode(), "doc.html")
    text = "".join(block.text for block in blocks(result.document))
    return "".join(text.split()), result.warnings


@pytest.mark.parametrize(
    "tag", ["div", "span", "section", "blockquote", "x-tag", "svg"]
)
def test_elements_nest_without_end(tag: str) -> None:
    """Beyond what browsers build, borders are kept and structure is not."""
    depth = 5_000

    text, warnings = said(f"<{tag}>" * depth + "inner" + f"</{tag}>" * depth + "after")

    assert text == "innerafter"
    assert any(TOO_DEEP in warning for warning in warnings)


def test_two_hundred_divs_are_nothing_to_speak_of() -> None:
    """Pages of today nest as deep as that."""
    assert said("<div>" * 200 + "a" + "</div>" * 200 + "<div>b") == ("ab", ())


@pytest.mark.parametrize("tag", ["ul", "ol", "dl"])
def test_lists_nest_without_end(tag: str) -> None:
    """Items of lists that nest too deep are text of the item around them."""
    item = "dd" if tag == "dl" else "li"

    text, warnings = said(f"<{tag}><{item}>w " * 1_000)

    assert text.count("w") == 1_000
    assert all(TOO_DEEP in warning for warning in warnings)
    assert len(warnings) == 2


def test_parts_of_lists_are_named_eight_levels_deep() -> None:
    """What walks over the parts of a block never nests deeper."""
    page = "<ul><li>w" * 40

    (found,) = blocks(read(page.encode(), "doc.html").document)

    depth = 0
    while isinstance(found.content, Items):
        depth += 1
        below = found.content.items[0].blocks
        if not below:
            break
        found = below[-1]
    assert depth == 9


def test_nested_tables_are_read_once() -> None:
    """Sixty levels, as on old discussion pages; the text stands once."""
    page = "".join(f"<table><tr><td>Reply {n}.</td></tr><tr><td>" for n in range(60))

    found = [block.text for block in blocks(read(page.encode(), "doc.html").document)]

    assert found == [f"Reply {n}." for n in range(60)]


def test_thousands_of_nested_tables_of_data_are_read_once() -> None:
    """Whatever a table is taken for, its words stand once."""
    text, _ = said("<table><tr><th>h<th>i<tr><td>word<td>" * 400)

    assert text.count("word") == 400


@pytest.mark.parametrize(
    "attributes",
    [
        "".join(f" a{n}=1" for n in range(20_000)),
        "".join(f' a{n}="x y"' for n in range(20_000)),
        "/b" * 10_000,
    ],
)
def test_attributes_without_end_are_ignored(attributes: str) -> None:
    """A tag with more than 256 of them is a tag without."""
    text, warnings = said(f"<p{attributes}>one</p>two")

    assert text == "onetwo"
    assert warnings == ("1 tag with hundreds of attributes were read without them",)


def test_long_texts_in_an_attribute_are_one_attribute() -> None:
    """A description of a thousand words is none of a crowd."""
    alt = "word " * 1_000

    text, warnings = said(f'<p>See <img src="a.png" alt="{alt}"> here')

    assert text == "See" + "word" * 1_000 + "here"
    assert warnings == ()


def test_formatting_left_open_does_not_multiply() -> None:
    """HTML opens it again in every block: 2,000 x 2,000 elements from 40 kB."""
    fonts = "".join(f"<font a={n}>" for n in range(2_000))

    text, warnings = said(f"<p>{fonts}</p>" + "<p>x" * 2_000)

    assert text == "x" * 2_000
    assert "would be repeated" in warnings[-1]


def test_elements_are_counted_before_they_are_built() -> None:
    """A page beyond the limit costs no more than looking for its tags."""
    options = ReaderOptions(limits=Limits(max_elements=10))

    assert blocks(read(b"<p>x</p>" * 10, "doc.html", options=options).document)
    with pytest.raises(
        ReadError, match=r"^doc\.html: has more than 10 elements, the limit; split it"
    ):
        read(b"<p>x" * 11, "doc.html", options=options)


@pytest.mark.parametrize(
    ("cell", "rows"),
    [
        ("<td colspan=100000>x", 50),
        ("<td rowspan=65534 colspan=1000>x", 50),
        ("<td rowspan=0 colspan=1000>x", 100),
    ],
)
def test_spans_without_end_are_not_followed(cell: str, rows: int) -> None:
    """No table grows to more than a few times its cells."""
    page = "<table>" + f"<tr>{cell * 20}<td>y" * rows + "</table>"

    text, warnings = said(page)

    assert text.count("x") == 20 * rows
    assert len(text) < 10 * len(page)
    assert "span more rows or columns" in warnings[0]


def test_a_label_over_many_rows_is_followed() -> None:
    """A thousand rows with one label are a table like many."""
    page = "<table><tr><td rowspan=1000>label" + "<td>x<tr>" * 1000 + "</table>"

    text, warnings = said(page)

    assert text.count("label") == 1_000
    assert warnings == ()


@pytest.mark.parametrize(
    "page",
    [
        "<" * 10_000,
        "<a" * 10_000,
        '<a b="' * 10_000,
        "<a b='" + '<a c="x">' * 10_000,
        "<!--" * 10_000,
        "<!-- x -- " * 50_000 + ">",
        "<![CDATA[" * 10_000,
        "<script>" * 10_000,
        "<title>" * 10_000,
        "<select>" + "<option>a" * 5_000,
        "<a href=#>" * 10_000 + "¶",
        "<nobr>" * 10_000,
        "<h1>" * 10_000,
        "<hgroup>" * 10_000,
        "<math>" + "<mrow>" * 10_000,
        "</p>" * 10_000,
        "</x>" * 10_000,
        "<div hidden>" * 10_000,
    ],
)
def test_tag_storms_come_to_an_end(page: str) -> None:
    """Every look at the source goes forward only."""
    read(page.encode(), "doc.html")


def test_character_references_to_nothing_are_harmless() -> None:
    """Surrogates, NUL and what lies beyond Unicode never reach a field."""
    page = "<title>t&#xD800;&#1;</title><p>a&#xD800;b&#0;c&#x110000;d&#x85;e\0f"

    document = read(page.encode(), "doc.html").document

    (block,) = blocks(document)
    assert document.metadata.title == "t\ufffd"
    assert block.text.encode().isascii() is False
    assert not any(ord(character) < 32 for character in block.text)


def test_markup_that_is_safe_is_not_touched() -> None:
    """The parser sees what the author wrote."""
    page = "<div " + 'title="a>b" ' * 50 + "><p>x<b>y<p>z</i></b><ul><li><br/></ul>"

    assert prepare(page, "doc.html", Notes(), max_elements=100) == (page, 7)
