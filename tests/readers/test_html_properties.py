"""Whatever the tags, no word is lost, moved, glued or cut in two."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hypothesis import given
from hypothesis import strategies as st

from situate.errors import ReadError
from situate.model import Code, Item, Items, Quote, Table
from situate.readers import passages, read
from tests.readers.html_soup import SOUP, words
from tests.readers.trees import blocks

if TYPE_CHECKING:
    from collections.abc import Iterator

    from situate.model import Block, Document


@given(SOUP)
def test_the_words_are_those_a_browser_shows(soup: str) -> None:
    """Lexbor's tree and html5lib's say the same words in the same order."""
    data = soup.encode()

    said = " ".join(texts(read(data, "soup.html").document)).split()

    assert said == words(soup)


@given(SOUP)
def test_passages_and_blocks_hold_the_same_words(soup: str) -> None:
    """What measures a loss is not itself at a loss."""
    data = soup.encode()

    said = " ".join(texts(read(data, "soup.html").document)).split()

    assert " ".join(passages(data, "soup.html")).split() == said


@given(SOUP)
def test_blocks_inside_blocks_carry_the_id_of_the_outermost(soup: str) -> None:
    """Ids count through a section, and those inside lead to a block of it."""
    found = blocks(read(soup.encode(), "soup.html").document)

    assert len({block.block_id for block in found}) == len(found)
    assert all(
        inner.block_id == block.block_id for block in found for inner in inside(block)
    )


@given(st.binary(max_size=400) | SOUP.map(str.encode), st.binary(max_size=40))
def test_any_bytes_are_read_or_refused_with_one_line(data: bytes, tail: bytes) -> None:
    """Nothing but a `ReadError` that names the file ever comes out."""
    message = ""
    try:
        read(data + tail, "any.html")
    except ReadError as error:
        message = str(error)

    assert not message or message.startswith("any.html: ")
    assert "\n" not in message


@given(SOUP)
def test_no_block_is_blank(soup: str) -> None:
    """What says nothing is no block."""
    found = blocks(read(soup.encode(), "soup.html").document)

    assert all(block.text.strip() for block in found)


def texts(document: Document) -> Iterator[str]:
    """Yield what the blocks of a document say, without markers and fences."""
    waiting: list[Block | Item] = blocks(document)[::-1]
    while waiting:
        part = waiting.pop()
        match part:
            case Item(blocks=()):
                yield part.text.removeprefix("- ")
            case Item():
                waiting += reversed(part.blocks)
            case _:
                yield from own_text(part)
                waiting += reversed(parts(part))


def own_text(block: Block) -> Iterator[str]:
    """Yield what a block says that is not in its items or quoted blocks."""
    match block.content:
        case Table(header=header, rows=rows, labels=labels, caption=caption):
            yield caption or ""
            yield from (name for row in labels for name in row)
            yield from (
                cell.text
                for row in (*(() if labels else header), *rows)
                for cell in row.cells
            )
        case Code(lines=lines):
            yield from lines
        case None:
            yield block.text.lstrip("#")
        case _:
            pass


def parts(block: Block) -> tuple[Block | Item, ...]:
    """Give the items or quoted blocks of a block."""
    match block.content:
        case Items(items=items):
            return items
        case Quote(blocks=quoted):
            return quoted
        case _:
            return ()


def inside(block: Block) -> Iterator[Block]:
    """Yield every block inside a block."""
    waiting = list(parts(block))
    while waiting:
        part = waiting.pop()
        if isinstance(part, Item):
            waiting += part.blocks
        else:
            yield part
            waiting += parts(part)
