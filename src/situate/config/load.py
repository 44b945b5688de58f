"""Reads configs: flag, else environment, else file, else default.

Environment variables are `SITUATE_<SECTION>_<KEY>`, written as in TOML but
strings without quotes. Paths in a file are relative to the file, paths in the
environment to the working directory. Every problem of every file is found
before anything else happens, and all are told at once.
"""

from __future__ import annotations

import difflib
import functools
import re
import tomllib
from dataclasses import dataclass, fields, replace
from pathlib import Path
from types import MappingProxyType, NoneType, UnionType
from typing import (
    TYPE_CHECKING,
    Annotated,
    Any,
    Literal,
    TypeVar,
    Union,
    get_args,
    get_origin,
    get_type_hints,
)

from pydantic import TypeAdapter, ValidationError
from pydantic.fields import FieldInfo

from situate.addresses import read_server
from situate.config import keys
from situate.config.contradictions import (
    clashes,
    contradictions,
    reading_contradictions,
    size_contradictions,
    window_contradictions,
)
from situate.config.versions import VersionsConfig
from situate.errors import ConfigError
from situate.files import opened, resolved

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

Section = TypeVar("Section")

SECTIONS: Mapping[str, type] = MappingProxyType(
    {
        "corpus": keys.CorpusConfig,
        "metadata": keys.MetadataConfig,
        "versions": VersionsConfig,
        "reader": keys.ReaderConfig,
        "chunking": keys.ChunkingConfig,
        "prefix": keys.PrefixConfig,
        "reading": keys.ReadingConfig,
        "embedder": keys.EmbedderConfig,
        "enrichment": keys.EnrichmentConfig,
        "cache": keys.CacheConfig,
        "output": keys.OutputConfig,
    }
)
"""The sections of a config and the values each becomes, in the file's order."""

_CUTTING = (
    *("metadata", "reader", "chunking", "prefix", "reading", "embedder"),
    "enrichment",
)
"""The sections that say how files are read and cut."""

_VARIABLE = re.compile(rf"SITUATE_({'|'.join(SECTIONS).upper()})_(\w+)")
_SECRET = re.compile(
    r"(?i)(^|_)(api_?key|key|token|secret|password|credentials?|authorization)$"
)

_TYPO = 0.8
"""Share of equal letters from which a key is a misspelt one."""
_LONG = 100
"""Characters of a wrong value that are shown."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Found:
    """A value, where it was found and what a relative path is relative to."""

    value: object
    where: str
    base: Path


_Values = dict[str, dict[str, _Found]]


def load(
    paths: Sequence[Path], *, environment: Mapping[str, str]
) -> tuple[keys.Config, ...]:
    """Read config files into frozen configs, all or none.

    Raises:
        ConfigError: a file cannot be read, a key is unknown or missing, a value
            is not allowed, values contradict each other, or two configs would
            write the same file or bear the same name. Tells all of it.
    """
    above, problems = _from_environment(environment)
    reports = [_report("environment", problems)] if problems else []
    configs = []
    for path in paths:
        problems = []
        found = _from_file(path, problems)
        if found is not None:
            config = _config(path, _layered(found, above), problems)
            configs.extend([config] if config is not None else [])
        if problems:
            reports.append(_report(str(path), problems))
    reports.extend(clashes(configs) if not reports else ())
    if reports:
        raise ConfigError("\n".join(reports))
    return tuple(configs)


def load_cutting(
    flags: Mapping[str, object], *, environment: Mapping[str, str]
) -> keys.CuttingConfig:
    """Read what commands need that work on files and have no config.

    `flags` holds keys of section `chunking`; None means that it was not given.

    Raises:
        ConfigError: a variable is unknown, or a value is not allowed.
    """
    found, problems = _from_environment(environment)
    given = {
        key: _Found(value=value, where=f"--{key.replace('_', '-')}: ", base=Path())
        for key, value in flags.items()
        if value is not None
    }
    found = _layered(found, {"chunking": given})
    sections: dict[str, Any] = {
        name: _section(SECTIONS[name], name, found, problems) for name in _CUTTING
    }
    if None not in sections.values():
        problems.extend(size_contradictions(sections["chunking"]))
        problems.extend(reading_contradictions(sections["reading"]))
    if problems:
        raise ConfigError("\n".join(problems))
    asked = sections.pop("enrichment")
    cutting = keys.CuttingConfig(
        **sections, statement_max_tokens=asked.statement_max_tokens
    )
    if problems := list(window_contradictions(cutting)):
        raise ConfigError("\n".join(problems))
    return cutting


def _report(name: str, problems: Sequence[str]) -> str:
    if len(problems) == 1:
        return f"{name}: {problems[0]}"
    return "\n  ".join([f"{name}: {len(problems)} problems", *problems])


def _from_file(path: Path, problems: list[str]) -> _Values | None:
    """Read a file's tables, and say what in them is no key."""
    try:
        with opened(path) as file:
            tables = tomllib.loads(file.read().decode("utf-8-sig"))
    except OSError as error:
        problems.append(f"cannot be read: {error.strerror}")
        return None
    except UnicodeDecodeError:
        problems.append("is not UTF-8")
        return None
    # tomllib walks nested arrays and tables by recursion.
    except (tomllib.TOMLDecodeError, RecursionError) as error:
        problems.append(f"is not TOML: {error}")
        return None
    found: _Values = {}
    base = path.absolute().parent
    for section, table in tables.items():
        if section not in SECTIONS:
            problems.append(_unknown_section(section, table))
        elif not isinstance(table, dict):
            problems.append(f"{section} is {_shown(table)}; allowed: a table")
        else:
            known = _keys_of(section)
            problems.extend(
                _unknown_key(section, key, value)
                for key, value in table.items()
                if key not in known
            )
            found[section] = {
                key: _Found(value=value, where="", base=base)
                for key, value in table.items()
                if key in known
            }
    problems.extend(_passwords(found))
    return found


def _passwords(found: _Values) -> Iterator[str]:
    """Name an address that holds a password, which no file may."""
    address = found.get("cache", {}).get("url")
    if address is None or not isinstance(address.value, str):
        return
    try:
        is_open = read_server(address.value).password is None
    except ValueError:
        return
    if not is_open:
        yield (
            "cache.url holds a password, which no config may hold; set "
            "SITUATE_CACHE_URL in the environment to the whole address instead"
        )


def _from_environment(environment: Mapping[str, str]) -> tuple[_Values, list[str]]:
    """Read the variables named like a section, and say which are no key."""
    found: _Values = {}
    problems: list[str] = []
    for variable, raw in sorted(environment.items()):
        match = _VARIABLE.fullmatch(variable)
        if match is None:
            continue
        section, key = match[1].lower(), match[2].lower()
        if match[2].isupper() and key in _keys_of(section):
            value = _as_toml(SECTIONS[section], key, raw)
            found.setdefault(section, {})[key] = _Found(
                value=value, where=f"{variable}: ", base=Path.cwd()
            )
        else:
            problems.append(f"{variable}: {_unknown_key(section, key, raw)}")
    return found, problems


def _layered(below: _Values, above: _Values) -> _Values:
    sections = dict.fromkeys((*below, *above))
    return {name: below.get(name, {}) | above.get(name, {}) for name in sections}


def _config(path: Path, found: _Values, problems: list[str]) -> keys.Config | None:
    """Judge every section, then what they say together."""
    sections: dict[str, Any] = {
        name: _section(cls, name, found, problems) for name, cls in SECTIONS.items()
    }
    if None in sections.values():
        return None
    directory = path.absolute().parent / sections["cache"].directory
    sections["cache"] = replace(sections["cache"], directory=directory)
    # What belongs to the output stands beside the file itself, not beside a link.
    output = sections["output"]
    sections["output"] = replace(output, path=resolved(output.path))
    config = keys.Config(path=path, **sections)
    problems.extend(contradictions(config))
    return config


def _section(
    cls: type[Section], name: str, found: _Values, problems: list[str]
) -> Section | None:
    """Turn one section's values into its dataclass, or add what is wrong."""
    values = found.get(name, {})
    kind: type = cls
    try:
        judged: Section = _adapter(kind).validate_python(
            {key: _placed(cls, key, value) for key, value in values.items()}
        )
    except ValidationError as error:
        wrong = dict.fromkeys(str(detail["loc"][0]) for detail in error.errors())
    else:
        return judged
    for key in wrong:
        allowed = _allowed(cls, key)
        if key in values:
            shown = _shown(values[key].value)
            problems.append(
                f"{values[key].where}{name}.{key} is {shown}; allowed: {allowed}"
            )
        else:
            problems.append(f"{name}.{key} is missing; needed: {allowed}")
    return None


@functools.cache
def _adapter(cls: type) -> TypeAdapter[Any]:
    return TypeAdapter(cls)


def _keys_of(section: str) -> tuple[str, ...]:
    return tuple(field.name for field in fields(SECTIONS[section]))


@functools.cache
def _annotations(cls: type) -> Mapping[str, Any]:
    return get_type_hints(cls, include_extras=True)


def _alternatives(cls: type, key: str) -> tuple[object, ...]:
    """Give the types a key may have, without None and what pydantic adds."""
    hint = _annotations(cls)[key]
    if get_origin(hint) is Annotated:
        hint = get_args(hint)[0]
    members = get_args(hint) if get_origin(hint) in {Union, UnionType} else (hint,)
    return tuple(member for member in members if member is not NoneType)


def _allowed(cls: type, key: str) -> str:
    """Say in words what a key may hold."""
    for extra in getattr(_annotations(cls)[key], "__metadata__", ()):
        if isinstance(extra, FieldInfo) and extra.description:
            return extra.description
    (choice,) = _alternatives(cls, key)
    return " or ".join(repr(value) for value in get_args(choice))


def _placed(cls: type, key: str, found: _Found) -> object:
    """Put a relative path where it belongs; leave everything else alone."""
    value = found.value
    if isinstance(value, str) and value.strip() and Path in _alternatives(cls, key):
        return str(found.base / value)
    return value


def _as_toml(cls: type, key: str, raw: str) -> object:
    """Read a variable as what its key holds; what it cannot be stays a text."""
    kinds = _alternatives(cls, key)
    is_listed = any(get_origin(kind) is tuple for kind in kinds)
    if not (is_listed and raw.startswith("[")):
        if any(kind in {str, Path} or get_origin(kind) is Literal for kind in kinds):
            return raw
        if is_listed:
            return [raw]
    try:
        table = tomllib.loads(f"value = {raw}")
    except (tomllib.TOMLDecodeError, RecursionError):
        return raw
    return table["value"] if len(table) == 1 else raw


def _unknown_section(name: str, value: object) -> str:
    """Name the section that was meant, or where a key without one belongs."""
    homes = [section for section in SECTIONS if name in _keys_of(section)]
    if homes and not isinstance(value, dict):
        places = " or ".join(f"[{section}]" for section in homes)
        return f"{name} stands outside a section; put it under {places}"
    return f"[{name}] is no section; nearest: [{_nearest(name, SECTIONS)}]"


def _unknown_key(section: str, key: str, value: object) -> str:
    """Name the key that was meant; a secret is told where it belongs."""
    known = _keys_of(section)
    nearest = _nearest(key, known)
    alike = difflib.SequenceMatcher(None, key, nearest).ratio()
    if _SECRET.search(key) and isinstance(value, str) and alike < _TYPO:
        return (
            f"{section}.{key} looks like a secret, which no config may hold; "
            "set ANTHROPIC_API_KEY or OPENAI_API_KEY in the environment instead"
        )
    homes = [other for other in SECTIONS if key in _keys_of(other)]
    if homes and alike < _TYPO:
        places = " or ".join(f"{other}.{key}" for other in homes)
        return f"{section}.{key} is no key; nearest: {places}"
    return f"{section}.{key} is no key; nearest: {section}.{nearest}"


def _nearest(name: str, known: Iterable[str]) -> str:
    return difflib.get_close_matches(name, known, n=1, cutoff=0)[0]


def _shown(value: object) -> str:
    """Quote a value, but for an address that may carry a secret."""
    if isinstance(value, str) and re.search(r"//.*[@?#]|:.*@", value):
        return "an address with a user, query or fragment"
    text = repr(value)
    return text if len(text) <= _LONG else f"{text[:_LONG]}..."
