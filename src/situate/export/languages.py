"""Which analyser of the stores is for which language.

Those that Elasticsearch and OpenSearch both have built in, by the lists of their
documentation (Elasticsearch 8.17 and OpenSearch 2.12, language analysers; `cjk` is
in both specifications). Polish, Serbian and Ukrainian are not among them.
"""

from __future__ import annotations

from typing import Final

ANALYSERS: Final = {
    "ar": "arabic",
    "bg": "bulgarian",
    "bn": "bengali",
    "ca": "catalan",
    "ckb": "sorani",
    "cs": "czech",
    "da": "danish",
    "de": "german",
    "el": "greek",
    "en": "english",
    "es": "spanish",
    "et": "estonian",
    "eu": "basque",
    "fa": "persian",
    "fi": "finnish",
    "fr": "french",
    "ga": "irish",
    "gl": "galician",
    "hi": "hindi",
    "hu": "hungarian",
    "hy": "armenian",
    "id": "indonesian",
    "it": "italian",
    "ja": "cjk",
    "ko": "cjk",
    "lt": "lithuanian",
    "lv": "latvian",
    "nb": "norwegian",
    "nl": "dutch",
    "nn": "norwegian",
    "no": "norwegian",
    "pt": "portuguese",
    "pt-br": "brazilian",
    "ro": "romanian",
    "ru": "russian",
    "sv": "swedish",
    "th": "thai",
    "tr": "turkish",
    "zh": "cjk",
}
"""By tag of the language."""

STANDARD: Final = "standard"
"""The analyser of all other languages, and of texts whose language nobody names."""


def analyser(language: str | None) -> str:
    """Name the analyser for a tag such as `de`, `de-CH` or `pt_BR`."""
    tag = (language or "").strip().replace("_", "-").casefold()
    return ANALYSERS.get(tag) or ANALYSERS.get(tag.partition("-")[0], STANDARD)
