"""The operator's file of search engines: what may stand in it, and what it means. Pure: text in, values out.

Values of the environment, such as keys, are filled in here, once, and are in nothing that is ever shown.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final
from urllib.parse import quote

from keyhole.config.parsers import MIN_KEY
from keyhole.config.schema import ENGINES
from keyhole.errors import Code, KeyholeError
from keyhole.fetch.urls import Target, parse_target
from keyhole.text.sites import AGES
from keyhole.text.suggest import meant

KEYS: Final = (
    "name", "url", "method", "body", "headers", "results", "link", "title", "snippet", "date", "timeout", "freshness",
)  # fmt: skip
"""What a table may have."""
REQUIRED: Final = ("name", "url", "results", "link", "title")
FILTERS: Final = ("language", "country", "freshness")
"""Placeholders that are filters: an engine applies those that its templates hold."""
PLACEHOLDER: Final = re.compile(r"\{(query|count|language|country|freshness)\}")
MAX_ENGINES: Final = 50
"""Engines in one file: far more than a team has, and few enough for their names in one error."""

_VARIABLE: Final = re.compile(r"\$\{([A-Za-z_][A-Za-z0-9_]*)\}")
_NAME: Final = re.compile(r"[a-z0-9][a-z0-9_-]{0,30}")
_HEADER: Final = re.compile(r"[A-Za-z0-9!#$%&'*+.^_`|~-]+")
_OURS: Final = frozenset({"host", "connection", "content-length", "transfer-encoding", "accept-encoding"})
"""Headers that belong to how requests are sent and read, not to what is asked."""


@dataclass(frozen=True, slots=True)
class Spec:
    """One engine of the file. What may hold a key is not in its repr."""

    name: str
    endpoint: str
    """`host:port`, which may be private."""
    base: str
    """What relative links are relative to."""
    url: str = field(repr=False)
    body: Any = field(repr=False)
    """The JSON to send, its placeholders unfilled; None for a GET."""
    headers: tuple[tuple[str, str], ...] = field(repr=False)
    results: Any
    """A compiled JMESPath over the answer; the others are over one row of what it gives, None where not asked for."""
    link: Any
    title: Any
    snippet: Any
    date: Any
    timeout: float
    freshness: Mapping[str, str]
    """The engine's words for day, week, month and year."""
    applies: frozenset[str]
    secrets: tuple[str, ...] = field(repr=False)
    """The values that came from the environment, without those too short to be told from words."""


def parse(text: str, environment: Mapping[str, str]) -> tuple[Spec, ...]:
    """The engines of a file in TOML, in its order.

    Raises KeyholeError (invalid_argument), naming the table and the key; it shows no value of the environment.
    """
    import tomllib

    try:
        tables = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise _refusal("", str(error)) from error
    for key in tables:
        if key != "engine":
            raise _refusal(key, "only [[engine]] tables may stand here")
    rows = tables.get("engine", [])
    if not isinstance(rows, list) or len(rows) > MAX_ENGINES or not all(isinstance(row, dict) for row in rows):
        raise _refusal("engine", f"must be at most {MAX_ENGINES} tables, each begun by [[engine]]")
    if not rows:  # whoever names a file means its engines to be asked, and not the public ones
        raise _refusal("", "it has no [[engine]] table")
    found: list[Spec] = []
    for number, row in enumerate(rows, start=1):
        place = f"[[engine]] {number}" + (f" ({row['name']})" if isinstance(row.get("name"), str) else "")
        try:
            found.append(_spec(row, environment, [spec.name for spec in found]))
        except ValueError as error:
            raise _refusal(place, str(error)) from error
    return tuple(found)


def _spec(row: Mapping[str, Any], environment: Mapping[str, str], taken: Sequence[str]) -> Spec:
    """One table. Raises ValueError, its message beginning with the key."""
    for key in row:
        if key not in KEYS:
            raise ValueError(f"{key}: unknown key{meant(key, KEYS)}")
    for key in REQUIRED:
        if key not in row:
            raise ValueError(f"{key}: is missing")
    url, target = _url(_text(row, "url"), environment)
    body = _body(row, environment)
    used = set(PLACEHOLDER.findall(url)) | set(PLACEHOLDER.findall(json.dumps(body)))
    if "query" not in used:
        raise ValueError("url: neither it nor the body has {query}")
    return Spec(
        name=_name(_text(row, "name"), taken),
        endpoint=target.endpoint,
        base=f"{target.scheme}://{target.netloc}/",
        url=url,
        body=body,
        headers=_headers(row.get("headers", {}), environment),
        results=_path(row, "results"),
        link=_path(row, "link"),
        title=_path(row, "title"),
        snippet=_path(row, "snippet"),
        date=_path(row, "date"),
        timeout=_timeout(row.get("timeout", 10)),
        freshness=_freshness(row.get("freshness", {})),
        applies=frozenset(used & set(FILTERS)),
        secrets=tuple(value for name in _variables(row) if len(value := environment[name]) >= MIN_KEY),
    )


def _text(row: Mapping[str, Any], key: str) -> str:
    value = row[key]
    if not isinstance(value, str) or not value.strip():
        raise ValueError(f"{key}: must be text")
    return value.strip()


def _name(name: str, taken: Sequence[str]) -> str:
    if not _NAME.fullmatch(name):
        raise ValueError("name: must be of a-z, 0-9, - and _, at most 31 characters")
    if name in ENGINES or name in taken:
        raise ValueError(f"name: {name} is the name of another engine")
    return name


def _url(template: str, environment: Mapping[str, str]) -> tuple[str, Target]:
    """The template with the environment filled in, and where it leads."""
    scheme, _, rest = template.partition("://")
    if re.match(r"[^/?#]*[{$]", rest):
        raise ValueError("url: scheme, host and port must stand there as they are")
    if unknown := next((found[0] for found in re.finditer(r"(?<!\$)\{[^}]*\}?", template) if not _known(found[0])), ""):
        raise ValueError(f"url: {unknown[:40]} is none of {{query}}, {{count}}, {{{'}, {'.join(FILTERS)}}}")
    url = _filled(f"{scheme}://{rest}", environment, "url", encode=True)
    try:
        return url, parse_target(PLACEHOLDER.sub("x", url))
    except KeyholeError as error:
        raise ValueError(f"url: {error.message}") from error


def _known(placeholder: str) -> bool:
    return PLACEHOLDER.fullmatch(placeholder) is not None


def _body(row: Mapping[str, Any], environment: Mapping[str, str]) -> Any:
    method = str(row.get("method", "POST" if "body" in row else "GET")).upper()
    if method not in {"GET", "POST"}:
        raise ValueError("method: must be GET or POST")
    if (method == "POST") != ("body" in row):
        raise ValueError("body: a POST needs one, and a GET has none")
    if method == "GET":
        return None
    try:
        body = json.loads(_text(row, "body"))
    except ValueError as error:
        raise ValueError(f"body: is not JSON ({error})") from error
    return _filled_in(body, environment)


def _filled_in(value: Any, environment: Mapping[str, str]) -> Any:
    if isinstance(value, dict):
        return {key: _filled_in(inner, environment) for key, inner in value.items()}
    if isinstance(value, list):
        return [_filled_in(inner, environment) for inner in value]
    return _filled(value, environment, "body") if isinstance(value, str) else value


def _filled(text: str, environment: Mapping[str, str], key: str, *, encode: bool = False) -> str:
    """`${NAME}` replaced by the variable's value."""

    def value(found: re.Match[str]) -> str:
        if not environment.get(found[1]):
            raise ValueError(f"{key}: the environment has no {found[1]}")
        return quote(environment[found[1]], safe="") if encode else environment[found[1]]

    return _VARIABLE.sub(value, text)


def _variables(row: Mapping[str, Any]) -> list[str]:
    """The variables named in a table, each once."""
    named = _VARIABLE.findall(json.dumps([row["url"], row.get("headers"), row.get("body")]))
    return list(dict.fromkeys(named))


def _headers(table: object, environment: Mapping[str, str]) -> tuple[tuple[str, str], ...]:
    if not isinstance(table, dict):
        raise ValueError("headers: must be a table of names and texts")
    found = []
    for name, raw in table.items():
        if not isinstance(raw, str) or not _HEADER.fullmatch(name) or name.lower() in _OURS:
            raise ValueError(
                f"headers.{name}: cannot be set" if isinstance(raw, str) else f"headers.{name}: must be text"
            )
        value = _filled(raw, environment, f"headers.{name}").strip()
        if not (value.isascii() and value.isprintable()):
            raise ValueError(f"headers.{name}: must be printable ASCII, as headers are")
        found.append((name, value))
    return tuple(found)


def _path(row: Mapping[str, Any], key: str) -> Any:
    if key not in row:
        return None
    import jmespath

    path = _text(row, key)
    try:
        return jmespath.compile(path)
    except ValueError as error:  # jmespath's errors are all ValueErrors
        raise ValueError(f"{key}: is not a JMESPath") from error


def _timeout(value: object) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0.1 <= value <= 60:
        raise ValueError("timeout: must be seconds, from 0.1 to 60")
    return float(value)


def _freshness(table: object) -> Mapping[str, str]:
    if not isinstance(table, dict) or not all(isinstance(word, str) for word in table.values()):
        raise ValueError("freshness: must be a table of texts")
    if unknown := next((age for age in table if age not in AGES), ""):
        raise ValueError(f"freshness.{unknown}: is none of {', '.join(AGES)}")
    return dict(table)


def _refusal(place: str, what: str) -> KeyholeError:
    return KeyholeError(Code.INVALID_ARGUMENT, f"engines file: {place}: {what}" if place else f"engines file: {what}")
