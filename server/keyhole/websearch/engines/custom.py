"""Engines from the operator's engines file: requests from templates, answers read with JMESPath."""

from __future__ import annotations

import asyncio
import json
from dataclasses import replace
from typing import Any
from urllib.parse import quote, urljoin

from keyhole.errors import Code, KeyholeError
from keyhole.fetch.base import Api, ApiCall, ApiReply
from keyhole.records import Hit, SearchRequest
from keyhole.websearch.dates import to_iso_date
from keyhole.websearch.engines_file import PLACEHOLDER, EngineSpec
from keyhole.websearch.hits import MAX_ROWS, build_hits
from keyhole.websearch.replies import decode_reply, remove_key
from keyhole.websearch.request import MAX_QUERY


class CustomEngine:
    """One engine of the operator's engines file."""

    def __init__(self, spec: EngineSpec, api: Api) -> None:
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
                reply = await self._api.send(build_call(self._spec, request))
        except TimeoutError as error:
            raise KeyholeError(Code.TIMEOUT, "the engine did not answer in time") from error
        return parse_answer(self._spec, _decode(self._spec, reply))


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


def parse_answer(spec: EngineSpec, answer: Any) -> tuple[Hit, ...]:
    """Return the hits of an answer. Raises KeyholeError (engine_unavailable) if it does not match the engines file."""
    try:
        rows = spec.results.search(answer)
        if not isinstance(rows, list):
            raise TypeError
        hits = tuple(hit for row in rows[:MAX_ROWS] for hit in _parse_row(spec, row))
    except (ValueError, TypeError, AttributeError, RecursionError) as error:
        raise KeyholeError(Code.ENGINE_UNAVAILABLE, "its answer does not match the engines file") from error
    if rows and not hits:  # the path is wrong; an engine that found nothing has no rows
        raise KeyholeError(Code.ENGINE_UNAVAILABLE, "no row of its answer has a link where the engines file says")
    return hits


def _decode(spec: EngineSpec, reply: ApiReply) -> Any:
    """Return the JSON of a reply, without values of the environment, which the engine may repeat."""
    body = reply.body
    for secret in spec.secrets:
        body = remove_key(body, secret)
    return decode_reply(replace(reply, body=body), spec.name, spec.secrets[0] if spec.secrets else "")


def _parse_row(spec: EngineSpec, row: Any) -> tuple[Hit, ...]:
    """Return the hit of a row, or () if it has no link."""
    link = spec.link.search(row)
    if not isinstance(link, str) or not link.strip():
        return ()
    cells = {
        # A link may be relative to the engine's URL, as in a wiki's answers.
        "link": urljoin(spec.base, link.strip()),
        "title": _find_text(spec.title, row),
        "snippet": _find_text(spec.snippet, row),
    }
    date = to_iso_date(spec.date.search(row)) if spec.date else ""
    hits = build_hits([cells], ("link", "title", "snippet"), spec.name, marked_up=True)
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
