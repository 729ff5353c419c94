"""An engine that the operator described in a file: its request made of templates, its answer read by JMESPath."""

from __future__ import annotations

import asyncio
import json
from dataclasses import replace
from typing import Any
from urllib.parse import quote, urljoin

from keyhole.errors import Code, KeyholeError
from keyhole.fetch.base import Api, ApiCall, ApiReply
from keyhole.records import Hit, SearchRequest
from keyhole.websearch.base import hits_from
from keyhole.websearch.dates import iso
from keyhole.websearch.engines_file import PLACEHOLDER, Spec
from keyhole.websearch.faults import understood, without_key
from keyhole.websearch.request import MAX_QUERY
from keyhole.websearch.rows import MAX_ROWS


class CustomEngine:
    """One engine of the operator's file."""

    def __init__(self, spec: Spec, api: Api) -> None:
        self._spec = spec
        self._api = api

    @property
    def name(self) -> str:
        """As in the file."""
        return self._spec.name

    @property
    def applies(self) -> frozenset[str]:
        """The filters for which its templates have a place."""
        return self._spec.applies

    async def search(self, request: SearchRequest) -> tuple[Hit, ...]:
        """The hits in the engine's order."""
        try:
            async with asyncio.timeout(self._spec.timeout):
                reply = await self._api.ask(call(self._spec, request))
        except TimeoutError as error:
            raise KeyholeError(Code.TIMEOUT, "the engine did not answer in time") from error
        return read(self._spec, _answer(self._spec, reply))


def call(spec: Spec, request: SearchRequest) -> ApiCall:
    """The request for a question. A filter that is not asked for leaves its parameter or member out."""
    values = {
        "query": request.query[:MAX_QUERY],
        "count": str(max(10, 2 * request.max_results)),
        "language": request.language,
        "country": request.country,
        "freshness": spec.freshness.get(request.freshness, request.freshness),
    }
    body = (
        None
        if spec.body is None
        else json.dumps(_filled(spec.body, values), ensure_ascii=False).encode("utf-8", "replace")
    )
    return ApiCall(_url(spec.url, values), spec.headers, body)


def read(spec: Spec, answer: Any) -> tuple[Hit, ...]:
    """The hits of an answer. Raises KeyholeError: engine_unavailable where it is not as described."""
    try:
        rows = spec.results.search(answer)
        if not isinstance(rows, list):
            raise TypeError
        hits = tuple(hit for row in rows[:MAX_ROWS] for hit in _hits(spec, row))
    except (ValueError, TypeError, AttributeError, RecursionError) as error:
        raise KeyholeError(Code.ENGINE_UNAVAILABLE, "its answer is not as the engines file says") from error
    if rows and not hits:  # a wrong path, and not an engine that found nothing
        raise KeyholeError(Code.ENGINE_UNAVAILABLE, "no row of its answer has a link where the engines file says")
    return hits


def _answer(spec: Spec, reply: ApiReply) -> Any:
    """The JSON of a reply, without what the file took from the environment, should the engine say it back."""
    body = reply.body
    for secret in spec.secrets:
        body = without_key(body, secret)
    return understood(replace(reply, body=body), spec.name, spec.secrets[0] if spec.secrets else "")


def _hits(spec: Spec, row: Any) -> tuple[Hit, ...]:
    link = spec.link.search(row)
    if not isinstance(link, str) or not link.strip():
        return ()
    cells = {
        # An address may be relative to the engine's own, as in a wiki's answers.
        "link": urljoin(spec.base, link.strip()),
        "title": _text(spec.title, row),
        "snippet": _text(spec.snippet, row),
    }
    date = iso(spec.date.search(row)) if spec.date else ""
    found = hits_from([cells], ("link", "title", "snippet"), spec.name, marked_up=True)
    return tuple(Hit(hit.url, hit.title, hit.snippet, hit.engine, date) for hit in found)


def _text(path: Any, row: Any) -> str:
    """What a path finds as one text: several pieces, such as highlights, are joined."""
    value = path.search(row) if path else ""
    pieces = value if isinstance(value, list) else [value]
    return " … ".join(str(piece) for piece in pieces if isinstance(piece, str | int | float) and str(piece))


def _url(template: str, values: dict[str, str]) -> str:
    head, mark, query = template.partition("?")
    fields = [field for field in query.split("&") if not _unused(field, values)]
    encoded = {name: quote(value, safe="", errors="replace") for name, value in values.items()}
    return _put(head, encoded) + (mark + _put("&".join(fields), encoded) if any(fields) else "")


def _put(template: str, values: dict[str, str]) -> str:
    return PLACEHOLDER.sub(lambda found: values[found[1]], template)


def _unused(template: str, values: dict[str, str]) -> bool:
    """Whether a template is about nothing but filters that were not asked for."""
    names = PLACEHOLDER.findall(template)
    return bool(names) and not any(values[name] for name in names)


def _filled(value: Any, values: dict[str, str]) -> Any:
    if isinstance(value, dict):
        return {key: _filled(inner, values) for key, inner in value.items() if not _drops(inner, values)}
    if isinstance(value, list):
        return [_filled(inner, values) for inner in value if not _drops(inner, values)]
    if not isinstance(value, str):
        return value
    return int(values["count"]) if value == "{count}" else _put(value, values)


def _drops(value: Any, values: dict[str, str]) -> bool:
    return isinstance(value, str) and _unused(value, values)
