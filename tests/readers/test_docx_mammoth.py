"""Random Word files, read like mammoth and by a way of our own: the same words."""

from __future__ import annotations

import re
from collections import Counter
from io import BytesIO

import mammoth
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from situate.model import walk
from situate.readers import passages, read
from tests.readers.docx_files import box, field, heading, levels, p, table, tc, tr, word

WORDS = st.text("abcdefgh", min_size=1, max_size=6)
NUMBERING = {"numbering.xml": levels("decimal %1.", "lowerLetter (%2)", "bullet o")}

_MARK = re.compile(r"\[\^\d+\](?:: )?|^ *(?:\d+\.|\([a-z]+\)|-) ", re.MULTILINE)


@st.composite
def paragraphs(draw: st.DrawFn, *, plain: bool = False) -> str:
    """Write a paragraph, heading or list paragraph of random words."""
    inside = []
    for text in draw(st.lists(WORDS, min_size=1, max_size=5)):
        kind = draw(st.sampled_from(["run", "link", "field", "control"]))
        said = f"{text} "
        match kind:
            case "run":
                inside.append(said)
            case "link":
                run = f"<w:r><w:t>{text}</w:t></w:r>"
                inside += [f'<w:hyperlink w:anchor="x">{run}</w:hyperlink>', " "]
            case "field":
                inside.append(field(" REF x ", said))
            case _:
                run = f"<w:r><w:t>{text}</w:t></w:r>"
                inside += [f"<w:sdt><w:sdtContent>{run}</w:sdtContent></w:sdt>", " "]
    if plain:
        return p(*inside)
    if draw(st.booleans()):
        inside.append(box(p(draw(WORDS)), p(draw(WORDS))))
    number = draw(st.sampled_from(["", "", "1/0", "1/1", "1/2"]))
    return p(*inside, num=number)


@st.composite
def tables(draw: st.DrawFn) -> str:
    """Write a table; a cell may hold another one."""
    width = draw(st.integers(1, 3))
    rows = []
    for _ in range(draw(st.integers(1, 4))):
        cells = []
        for _ in range(width):
            inside = draw(st.lists(paragraphs(plain=True), min_size=1, max_size=2))
            if draw(st.integers(0, 5)) == 0:
                inside.append(table(tr(draw(WORDS), draw(WORDS))))
            cells.append(tc(*inside))
        rows.append(tr(*cells))
    return table(*rows)


@st.composite
def files(draw: st.DrawFn) -> bytes:
    """Write a Word file whose last paragraphs refer to notes."""
    body = draw(
        st.lists(
            st.one_of(
                paragraphs(),
                tables(),
                st.builds(heading, WORDS, st.integers(1, 2)),
            ),
            max_size=8,
        )
    )
    notes = draw(st.lists(WORDS, max_size=3))
    for number, _ in enumerate(notes, start=1):
        reference = f'<w:r><w:footnoteReference w:id="{number}"/></w:r>'
        body.append(p(draw(WORDS), reference))
    written = "".join(
        f'<w:footnote w:id="{number}">{p(text)}</w:footnote>'
        for number, text in enumerate(notes, start=1)
    )
    return word(*body, parts={**NUMBERING, "footnotes.xml": written})


def words_of_tree(data: bytes) -> Counter[str]:
    """Count the words of all blocks, without numbers and marks of notes."""
    document = read(data, "doc.docx").document
    return Counter(
        found
        for section, _ in walk(document.root)
        for block in section.blocks
        for found in re.findall("[a-z]+", _MARK.sub(" ", block.text))
    )


@settings(max_examples=60, suppress_health_check=[HealthCheck.too_slow])
@given(files())
def test_mammoth_reads_the_same_words(data: bytes) -> None:
    """None is lost and none is there twice."""
    shown = re.sub("<[^>]*>", " ", mammoth.convert_to_html(BytesIO(data)).value)

    assert words_of_tree(data) == Counter(re.findall("[a-z]+", shown))


@settings(max_examples=60, suppress_health_check=[HealthCheck.too_slow])
@given(files())
def test_the_plainest_way_finds_the_same_words(data: bytes) -> None:
    """`passages` shares nothing with the reader but the opening of the package."""
    said = Counter(
        found
        for text in passages(data, "doc.docx")
        for found in re.findall("[a-z]+", text)
    )

    assert words_of_tree(data) == said
