"""Read and validate the operator's engines file, a TOML file that describes search engines.

`${NAME}` is replaced by environment variables, such as keys. No message, repr or log shows their values.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final
from urllib.parse import quote

from keyhole.config.config import ENGINES, Config
from keyhole.config.parsers import MIN_KEY
from keyhole.errors import Code, KeyholeError
from keyhole.fetch.urls import Target, parse_target
from keyhole.text.sites import AGES
from keyhole.text.suggest import suggest_name

KEYS: Final = (
    "name", "url", "method", "body", "headers", "results", "link", "title", "snippet", "date", "timeout", "freshness",
)  # fmt: skip
"""Keys of an [[engine]] table."""
REQUIRED: Final = ("name", "url", "results", "link", "title")
FILTERS: Final = ("language", "country", "freshness")
"""Placeholders that are filters. An engine applies the filters whose placeholders its templates contain."""
PLACEHOLDER: Final = re.compile(r"\{(query|count|language|country|freshness)\}")
MAX_ENGINES: Final = 50
"""Maximum of engines in one file: more than a team has, and few enough to list their names in an error."""

_VARIABLE: Final = re.compile(r"\$\{([A-Za-z_][A-Za-z0-9_]*)\}")
_NAME: Final = re.compile(r"[a-z0-9][a-z0-9_-]{0,30}")
_HEADER: Final = re.compile(r"[A-Za-z0-9!#$%&'*+.^_`|~-]+")
_RESERVED_HEADERS: Final = frozenset({"host", "connection", "content-length", "transfer-encoding", "accept-encoding"})
"""Headers that the HTTP client sets itself."""


@dataclass(frozen=True, slots=True)
class EngineSpec:
    """One engine of the file. Fields that may contain a key are not in its repr."""

    name: str
    endpoint: str
    """`host:port`, which may be a private address."""
    base: str
    """The base URL of relative links."""
    url: str = field(repr=False)
    body: Any = field(repr=False)
    """The JSON to send, with placeholders; None for a GET."""
    headers: tuple[tuple[str, str], ...] = field(repr=False)
    results: Any
    """A compiled JMESPath that selects the rows of an answer. The next four select values in a row, or are None."""
    link: Any
    title: Any
    snippet: Any
    date: Any
    timeout: float
    freshness: Mapping[str, str]
    """The engine's names for day, week, month and year."""
    supported_filters: frozenset[str]
    secrets: tuple[str, ...] = field(repr=False)
    """Values of environment variables, without short values, which may occur as ordinary text."""

    @property
    def paths(self) -> tuple[Any, ...]:
        """Return the paths of rows, link, title, snippet and date."""
        return (self.results, self.link, self.title, self.snippet, self.date)


def load_engines_file(config: Config, body: bytes | None = None) -> tuple[EngineSpec, ...]:
    """Return the engines of the file that KEYHOLE_ENGINES_FILE names; () if it is not set.

    `body`: the content of the file, if it was read. Raises KeyholeError (invalid_argument) if the file cannot be read
    or is not valid.
    """
    if config.engines_file is None:
        return ()
    try:
        text = (config.engines_file.expanduser().read_bytes() if body is None else body).decode()
    except (OSError, ValueError) as error:
        raise KeyholeError(Code.INVALID_ARGUMENT, "the file that KEYHOLE_ENGINES_FILE names cannot be read") from error
    return parse_engines_file(text, os.environ)


def parse_engines_file(text: str, environment: Mapping[str, str]) -> tuple[EngineSpec, ...]:
    """Return the engines of a TOML text, in the same order.

    Raises KeyholeError (invalid_argument) with the table and the key, and without values of the environment.
    """
    import tomllib

    try:
        tables = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise _file_error("", str(error)) from error
    for key in tables:
        if key != "engine":
            raise _file_error(key, "only [[engine]] tables are allowed")
    rows = tables.get("engine", [])
    if not isinstance(rows, list) or len(rows) > MAX_ENGINES or not all(isinstance(row, dict) for row in rows):
        raise _file_error("engine", f"must be at most {MAX_ENGINES} [[engine]] tables")
    if not rows:  # otherwise the public engines would be used, which an operator with a file does not expect
        raise _file_error("", "it has no [[engine]] table")
    specs: list[EngineSpec] = []
    for number, row in enumerate(rows, start=1):
        place = f"[[engine]] {number}" + (f" ({row['name']})" if isinstance(row.get("name"), str) else "")
        try:
            specs.append(_parse_engine(row, environment, [spec.name for spec in specs]))
        except ValueError as error:
            raise _file_error(place, str(error)) from error
    return tuple(specs)


def _parse_engine(row: Mapping[str, Any], environment: Mapping[str, str], used_names: Sequence[str]) -> EngineSpec:
    """Return the engine of one table. Raises ValueError with a message that begins with the key."""
    for key in row:
        if key not in KEYS:
            raise ValueError(f"{key}: unknown key{suggest_name(key, KEYS)}")
    for key in REQUIRED:
        if key not in row:
            raise ValueError(f"{key}: is missing")
    url, target = _parse_url(_get_text(row, "url"), environment)
    body = _parse_body(row, environment)
    used = set(PLACEHOLDER.findall(url)) | set(PLACEHOLDER.findall(json.dumps(body)))
    if "query" not in used:
        raise ValueError("url: {query} is in neither the url nor the body")
    return EngineSpec(
        name=_check_name(_get_text(row, "name"), used_names),
        endpoint=target.endpoint,
        base=f"{target.scheme}://{target.netloc}/",
        url=url,
        body=body,
        headers=_parse_headers(row.get("headers", {}), environment),
        results=_compile_path(row, "results"),
        link=_compile_path(row, "link"),
        title=_compile_path(row, "title"),
        snippet=_compile_path(row, "snippet"),
        date=_compile_path(row, "date"),
        timeout=_parse_timeout(row.get("timeout", 10)),
        freshness=_parse_freshness(row.get("freshness", {})),
        supported_filters=frozenset(used & set(FILTERS)),
        secrets=tuple(value for name in _named_variables(row) if len(value := environment[name]) >= MIN_KEY),
    )


def _get_text(row: Mapping[str, Any], key: str) -> str:
    value = row[key]
    if not isinstance(value, str) or not value.strip():
        raise ValueError(f"{key}: must be text")
    return value.strip()


def _check_name(name: str, used_names: Sequence[str]) -> str:
    if not _NAME.fullmatch(name):
        raise ValueError("name: must consist of a-z, 0-9, - and _, at most 31 characters")
    if name in ENGINES or name in used_names:
        raise ValueError(f"name: {name} is the name of another engine")
    return name


def _parse_url(template: str, environment: Mapping[str, str]) -> tuple[str, Target]:
    """Return the URL template with the environment filled in, and its target."""
    scheme, _, rest = template.partition("://")
    if re.match(r"[^/?#]*[{$]", rest):
        raise ValueError("url: scheme, host and port must not contain placeholders or variables")
    placeholders = re.findall(r"(?<!\$)\{[^}]*\}?", template)
    if unknown := next((each for each in placeholders if not PLACEHOLDER.fullmatch(each)), ""):
        raise ValueError(f"url: {unknown[:40]} is not one of {{query}}, {{count}}, {{{'}, {'.join(FILTERS)}}}")
    url = _fill_text(f"{scheme}://{rest}", environment, "url", encode=True)
    try:
        return url, parse_target(PLACEHOLDER.sub("x", url))
    except KeyholeError as error:
        raise ValueError(f"url: {error.message}") from error


def _parse_body(row: Mapping[str, Any], environment: Mapping[str, str]) -> Any:
    method = str(row.get("method", "POST" if "body" in row else "GET")).upper()
    if method not in {"GET", "POST"}:
        raise ValueError("method: must be GET or POST")
    if (method == "POST") != ("body" in row):
        raise ValueError("body: required for POST and not allowed for GET")
    if method == "GET":
        return None
    try:
        body = json.loads(_get_text(row, "body"))
    except ValueError as error:
        raise ValueError(f"body: is not JSON ({error})") from error
    return _fill_variables(body, environment)


def _fill_variables(value: Any, environment: Mapping[str, str]) -> Any:
    if isinstance(value, dict):
        return {key: _fill_variables(inner, environment) for key, inner in value.items()}
    if isinstance(value, list):
        return [_fill_variables(inner, environment) for inner in value]
    return _fill_text(value, environment, "body") if isinstance(value, str) else value


def _fill_text(text: str, environment: Mapping[str, str], key: str, *, encode: bool = False) -> str:
    """Return a text with `${NAME}` replaced by environment variables. Raises ValueError for a missing variable."""

    def value(match: re.Match[str]) -> str:
        if not environment.get(match[1]):
            raise ValueError(f"{key}: the environment variable {match[1]} is not set")
        return quote(environment[match[1]], safe="") if encode else environment[match[1]]

    return _VARIABLE.sub(value, text)


def _named_variables(row: Mapping[str, Any]) -> list[str]:
    """Return the environment variables that a table names, without duplicates."""
    names = _VARIABLE.findall(json.dumps([row["url"], row.get("headers"), row.get("body")]))
    return list(dict.fromkeys(names))


def _parse_headers(table: object, environment: Mapping[str, str]) -> tuple[tuple[str, str], ...]:
    if not isinstance(table, dict):
        raise ValueError("headers: must be a table of names and texts")
    headers = []
    for name, raw in table.items():
        if not isinstance(raw, str):
            raise ValueError(f"headers.{name}: must be text")
        if not _HEADER.fullmatch(name) or name.lower() in _RESERVED_HEADERS:
            raise ValueError(f"headers.{name}: cannot be set")
        value = _fill_text(raw, environment, f"headers.{name}").strip()
        if not (value.isascii() and value.isprintable()):
            raise ValueError(f"headers.{name}: must be printable ASCII, as headers are")
        headers.append((name, value))
    return tuple(headers)


def _compile_path(row: Mapping[str, Any], key: str) -> Any:
    if key not in row:
        return None
    import jmespath

    path = _get_text(row, key)
    try:
        return jmespath.compile(path)
    except ValueError as error:  # jmespath's errors are all ValueErrors
        raise ValueError(f"{key}: is not a JMESPath") from error


def _parse_timeout(value: object) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0.1 <= value <= 60:
        raise ValueError("timeout: must be seconds, from 0.1 to 60")
    return float(value)


def _parse_freshness(table: object) -> Mapping[str, str]:
    if not isinstance(table, dict) or not all(isinstance(word, str) for word in table.values()):
        raise ValueError("freshness: must be a table of texts")
    if unknown := next((age for age in table if age not in AGES), ""):
        raise ValueError(f"freshness.{unknown}: is not one of {', '.join(AGES)}")
    return dict(table)


def _file_error(place: str, problem: str) -> KeyholeError:
    return KeyholeError(
        Code.INVALID_ARGUMENT, f"engines file: {place}: {problem}" if place else f"engines file: {problem}"
    )
