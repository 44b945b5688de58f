"""Which reader reads what."""

from __future__ import annotations

import subprocess
import sys

import pytest

from situate.errors import ReadError
from situate.readers import Limits, ReaderOptions, extensions, format_of, read
from tests.readers.trees import blocks


@pytest.mark.parametrize("source", ["a.md", "b/C.MD", "a.markdown", "a.mdown", "a.mkd"])
def test_markdown_has_several_extensions(source: str) -> None:
    """Upper case does not matter."""
    assert blocks(read(b"# Head", source).document)[0].kind == "heading"


@pytest.mark.parametrize("source", ["a.txt", "a.text", "README", "v1.2/notes"])
def test_files_without_an_extension_are_text(source: str) -> None:
    """A dot in a folder's name is no extension."""
    assert blocks(read(b"# Head", source).document)[0].kind == "paragraph"


def test_an_unknown_extension_is_refused_with_what_can_be_read() -> None:
    """The message names the file, the extension and the way out."""
    with pytest.raises(ReadError, match=r"^data/table\.xlsx: ") as caught:
        read(b"text", "data/table.xlsx")

    assert "'.xlsx'" in str(caught.value)
    assert all(extension in str(caught.value) for extension in extensions())
    assert caught.value.refusal == "unsupported"


@pytest.mark.parametrize(
    ("source", "instead"), [("a.doc", ".docx"), ("a.RTF", ".docx"), ("a.xls", ".pdf")]
)
def test_a_file_of_an_old_format_is_told_what_to_be_saved_as(
    source: str, instead: str
) -> None:
    """A list of what can be read helps nobody who has a hundred of them."""
    with pytest.raises(ReadError, match=rf"a format of old; save it as {instead}$"):
        read(b"text", source)


@pytest.mark.parametrize(
    ("source", "format_name"),
    [("a.DOCM", "docx"), ("b/README", "text"), ("a.xhtml", "html"), ("a.xls", None)],
)
def test_a_name_tells_what_it_is_read_as(source: str, format_name: str | None) -> None:
    """Or that nothing reads it."""
    assert format_of(source) == format_name


def test_input_above_the_limit_is_refused() -> None:
    """64 MiB of text are data, not a document."""
    options = ReaderOptions(limits=Limits(max_bytes=10))

    with pytest.raises(ReadError, match=r"^big\.md: is larger than 10 bytes") as caught:
        read(b"x" * 11, "big.md", options=options)

    assert caught.value.refusal == "limit"
    assert Limits().max_bytes == 64 * 1024 * 1024
    assert read(b"x" * 10, "big.md", options=options).document.doc_id == "big.md"


def test_importing_the_readers_loads_no_format_library() -> None:
    """`situate --help` does not wait for parsers it does not use."""
    code = (
        "import sys, situate.readers;"
        "print('pyromark' in sys.modules, 'yaml' in sys.modules)"
    )

    shown = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    )

    assert shown.stdout.split() == ["False", "False"]
