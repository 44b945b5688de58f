"""Find the encoding that an HTML document says it is in.

Labels mean what the WHATWG Encoding Standard says browsers take them for:
`iso-8859-1` is Windows-1252, `gb2312` is GB 18030, and a document whose label
can be read is not UTF-16.
"""

from __future__ import annotations

import codecs
import re

from situate.readers.html.elements import names

# HTML asks for the label within 1,024 bytes; scripts often push it further down.
_SAMPLE_BYTES = 16_384

_COMMENT = re.compile(rb"<!--.*?(?:-->|\Z)", re.DOTALL)
_DECLARATION = re.compile(rb"\s*<\?xml\s[^>]*?encoding\s*=\s*[\"']\s*([\w.:+-]+)")
_META = re.compile(
    rb"<meta[\s/][^>]*?charset\s*=\s*[\"']?\s*([\w.:+-]+)", re.IGNORECASE
)

_WIDER = {
    "ascii": "cp1252",
    "big5": "big5hkscs",
    "euc_kr": "cp949",
    "gb2312": "gb18030",
    "gbk": "gb18030",
    "iso8859-1": "cp1252",
    "iso8859-9": "cp1254",
    "iso8859-11": "cp874",
    "shift_jis": "cp932",
    "tis-620": "cp874",
    "utf-16": "utf-8",
    "utf-16-be": "utf-8",
    "utf-16-le": "utf-8",
}
"""Python's names for what the standard reads as something else."""

_LABELS = {
    "chinese": "gb18030",
    "cn-big5": "big5hkscs",
    "csiso88598i": "iso8859-8",
    "dos-874": "cp874",
    "gb_2312-80": "gb18030",
    "iso-8859-8-i": "iso8859-8",
    "koi8-ru": "koi8-u",
    "logical": "iso8859-8",
    "unicode-1-1-utf-8": "utf-8",
    "windows-31j": "cp932",
    "windows-874": "cp874",
    "windows-949": "cp949",
    "x-cp1250": "cp1250",
    "x-cp1251": "cp1251",
    "x-cp1252": "cp1252",
    "x-euc-jp": "euc_jp",
    "x-gbk": "gb18030",
    "x-mac-cyrillic": "mac-cyrillic",
    "x-mac-roman": "mac-roman",
    "x-mac-ukrainian": "mac-cyrillic",
    "x-sjis": "cp932",
    "x-unicode20utf8": "utf-8",
    "x-user-defined": "cp1252",
    "x-x-big5": "big5hkscs",
}
"""Labels of the standard that Python does not know."""

_CODECS = names(
    """
    utf-8 cp866 iso8859-2 iso8859-3 iso8859-4 iso8859-5 iso8859-6 iso8859-7 iso8859-8
    iso8859-10 iso8859-13 iso8859-14 iso8859-15 iso8859-16 koi8-r koi8-u mac-roman
    mac-cyrillic cp874 cp1250 cp1251 cp1252 cp1253 cp1254 cp1255 cp1256 cp1257 cp1258
    gb18030 big5hkscs euc_jp iso2022_jp cp932 cp949
    """
)
"""The encodings of the standard; Python has others that no document is in."""


def declared(data: bytes) -> str | None:
    """Give the codec of the label in a document's first bytes, None for none."""
    sample = data[:_SAMPLE_BYTES]
    found = _META.search(_COMMENT.sub(b"", sample)) or _DECLARATION.match(sample)
    return None if found is None else codec(found[1].decode("ascii"))


def codec(label: str) -> str | None:
    """Give Python's name for a label, None when it names no encoding of the web."""
    label = label.strip().lower()
    name = _LABELS.get(label)
    if name is None:
        try:
            name = codecs.lookup(label).name
        except LookupError:
            return None
        name = _WIDER.get(name, name)
    return name if name in _CODECS else None
