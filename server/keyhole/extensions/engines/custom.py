"""Engines from the operator's engines file: requests from templates, answers read with JMESPath."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Sequence
from dataclasses import replace
from typing import Any
from urllib.parse import quote, urljoin

import jmespath

from keyhole.errors import Code, KeyholeError
from keyhole.extensions.engines.engines_file import PLACEHOLDER, EngineSpec
from keyhole.fetch.base import ApiCall, ApiReply
from keyhole.records import Hit, SearchRequest
from keyhole.websearch.base import SearchApi
from keyhole.websearch.hits import MAX_ROWS, build_hits, to_iso_date
from keyhole.websearch.replies import decode_reply
from keyhole.websearch.request import MAX_QUERY


class CustomEngine:
    """One engine of the operator's engines file."""

    def __init__(self, spec: EngineSpec, api: SearchApi) -> None:
        self._spec = spec
        self._api = api

    @property
    def name(self) -> str:
        """The engine's name in the file."""
        return self._spec.name

    @property
    def supported_filters(self) -> frozenset[str]:
        """The filters whose placeholders the templates contain."""
        return self._spec.supported_filters

    async def search(self, request: SearchRequest) -> tuple[Hit, ...]:
        """Return the hits in the engine's order."""
        try:
            async with asyncio.timeout(self._spec.timeout):
                spec = self._spec
                paths = [path.expression if path else "" for path in spec.paths]
                call, has_key = build_call(spec, request), bool(spec.secrets)
                return await self._api.hits(call, parse, spec.name, spec.base, paths, has_key, secrets=spec.secrets)
        except TimeoutError as error:
            raise KeyholeError(Code.TIMEOUT, "the engine did not answer in time") from error


def build_call(spec: EngineSpec, request: SearchRequest) -> ApiCall:
    """Return the API call for a request. URL parameters and JSON members of filters that are not set are left out."""
    values = {
        "query": request.query[:MAX_QUERY],
        "count": str(max(10, 2 * request.max_results)),
        "language": request.language,
        "country": request.country,
        "freshness": spec.freshness.get(request.freshness, request.freshness),
    }
    body = None
    if spec.body is not None:
        body = json.dumps(_fill_json(spec.body, values), ensure_ascii=False).encode("utf-8", "replace")
    return ApiCall(_fill_url(spec.url, values), spec.headers, body)


def parse(reply: ApiReply, name: str, base: str, paths: Sequence[str], has_key: bool) -> tuple[Hit, ...]:
    """Return the hits of a reply. `base`: of relative links. `paths`: JMESPath of rows, link, title, snippet and date.

    Raises KeyholeError (engine_unavailable) if the answer does not match the engines file.
    """
    answer = decode_reply(reply, name, has_key=has_key)
    results: Any
    results, *cells = (jmespath.compile(path) if path else None for path in paths)
    try:
        rows = results.search(answer)
        if not isinstance(rows, list):
            raise TypeError
        hits = tuple(hit for row in rows[:MAX_ROWS] for hit in _parse_row(name, base, cells, row))
    except (ValueError, TypeError, AttributeError, RecursionError) as error:
        raise KeyholeError(Code.ENGINE_UNAVAILABLE, "its answer does not match the engines file") from error
    if rows and not hits:  # the path is wrong; an engine that found nothing has no rows
        raise KeyholeError(Code.ENGINE_UNAVAILABLE, "no row of its answer has a link where the engines file says")
    return hits


def _parse_row(name: str, base: str, cells: Sequence[Any], row: Any) -> tuple[Hit, ...]:
    """Return the hit of a row, or () if it has no link. `cells`: the paths of link, title, snippet and date."""
    link_path, title, snippet, date_path = cells
    link = link_path.search(row)
    if not isinstance(link, str) or not link.strip():
        return ()
    found = {
        # A link may be relative to the engine's URL, as in a wiki's answers.
        "link": urljoin(base, link.strip()),
        "title": _find_text(title, row),
        "snippet": _find_text(snippet, row),
    }
    date = to_iso_date(date_path.search(row)) if date_path else ""
    hits = build_hits([found], ("link", "title", "snippet"), name, marked_up=True)
    return tuple(replace(hit, date=date) for hit in hits)


def _find_text(path: Any, row: Any) -> str:
    """Return the text that a path selects. Several pieces, such as highlights, are joined."""
    value = path.search(row) if path else ""
    pieces = value if isinstance(value, list) else [value]
    return " … ".join(str(piece) for piece in pieces if isinstance(piece, str | int | float) and str(piece))


def _fill_url(template: str, values: dict[str, str]) -> str:
    path, mark, query = template.partition("?")
    fields = [field for field in query.split("&") if not _is_unused(field, values)]
    encoded = {name: quote(value, safe="", errors="replace") for name, value in values.items()}
    return _fill_text(path, encoded) + (mark + _fill_text("&".join(fields), encoded) if any(fields) else "")


def _fill_json(value: Any, values: dict[str, str]) -> Any:
    if isinstance(value, dict):
        return {key: _fill_json(inner, values) for key, inner in value.items() if not _is_unused(inner, values)}
    if isinstance(value, list):
        return [_fill_json(inner, values) for inner in value if not _is_unused(inner, values)]
    if not isinstance(value, str):
        return value
    return int(values["count"]) if value == "{count}" else _fill_text(value, values)


def _fill_text(template: str, values: dict[str, str]) -> str:
    return PLACEHOLDER.sub(lambda match: values[match[1]], template)


def _is_unused(template: Any, values: dict[str, str]) -> bool:
    """Return True if a template contains placeholders, and all of them have empty values."""
    names = PLACEHOLDER.findall(template) if isinstance(template, str) else []
    return bool(names) and not any(values[name] for name in names)
