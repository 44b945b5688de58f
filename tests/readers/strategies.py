"""Markdown documents drawn line by line, structure wherever it happens to fall."""

from __future__ import annotations

from hypothesis import strategies as st

# markdown-it-py and pulldown-cmark read these alike in every mixture tried.
SHARED_LINES = (
    "text",
    "more *text* here",
    "- item",
    "* other",
    "1. one",
    "7) seven",
    "  more",
    "   - [x] done",
    "  - nested",
    "> quote",
    "> - inside",
    "> > twice",
    "# Heading",
    "### Third",
    "===",
    "---",
    "***",
    "```",
    "~~~",
    "```python",
    "| a | b |",
    "a | b",
    "| --- | --- |",
    "--|--",
    "| 1 | 2 | 3 |",
    "<div>",
    "</div>",
    "<b>bold</b> text",
    "    code",
    "\tcode",
    "`tick`",
    "\\*no",
    "",
    "",
    "",
)

# The rest is where parsers differ, or where only the text has to survive.
LINES = (
    *SHARED_LINES,
    "[x]: /u",
    "[y]:",
    "/url",
    "'title'",
    "[^1]: foot",
    "$$",
    "> ```",
    ">     deep",
    ">\ttab",
    "- ",
    "-     code",
    "- > q",
    "- ```",
    "-\ttab",
    "\t- tab",
    "- - z",
    "- \\*x",
    "1.",
    "word\\",
    "ÄÖ 漢字 ?",
    "  > indented",
    "      far",
)


def documents(lines: tuple[str, ...] = LINES) -> st.SearchStrategy[str]:
    """Draw a document of up to 16 of these lines."""
    return st.lists(st.sampled_from(lines), max_size=16).map("\n".join)
