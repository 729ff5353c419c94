"""SearXNG through its JSON API. Asks the instance that the operator's settings name, nothing else."""

from __future__ import annotations

import json
from urllib.parse import urlencode

from keyhole.errors import Code, KeyholeError
from keyhole.fetch.base import Api, ApiCall
from keyhole.records import Hit, SearchRequest
from keyhole.websearch.base import hits_from, with_sites
from keyhole.websearch.faults import understood


class SearxngEngine:
    """One SearXNG instance; `search.formats` in its settings must contain `json`."""

    name = "searxng"
    applies = frozenset({"sites", "exclude_sites", "freshness", "language"})

    def __init__(self, base_url: str, api: Api) -> None:
        self._base_url = base_url
        self._api = api

    async def search(self, request: SearchRequest) -> tuple[Hit, ...]:
        """The instance's results in its order."""
        reply = await self._api.ask(ApiCall(search_url(self._base_url, request)))
        try:
            understood(reply, "SearXNG")
        except KeyholeError as error:
            if reply.status != 403 or error.code is not Code.ENGINE_UNAVAILABLE:
                raise
            hint = "SearXNG answers HTTP 403: is its JSON format enabled?"
            raise KeyholeError(error.code, hint, **error.facts) from error
        return parse(reply.body)


def search_url(base_url: str, request: SearchRequest) -> str:
    """The API call for a request."""
    fields = {"q": with_sites(request), "format": "json", "safesearch": "0"}
    if request.language:
        fields["language"] = request.language
    if request.freshness:
        fields["time_range"] = request.freshness
    return f"{base_url.rstrip('/')}/search?{urlencode(fields)}"


def parse(body: bytes) -> tuple[Hit, ...]:
    """The hits of an answer. An empty answer of an instance whose engines all failed is a failure, not emptiness."""
    try:
        answer = json.loads(body)
        hits = hits_from(answer["results"], ("url", "title", "content"), "searxng")
        failed = answer.get("unresponsive_engines")
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        raise KeyholeError(Code.ENGINE_UNAVAILABLE, "SearXNG's answer is not its JSON format") from error
    if not hits and failed:
        rows = failed if isinstance(failed, list) else [failed]
        names = ", ".join(sorted(str(row[0] if isinstance(row, list) and row else row) for row in rows))[:200]
        raise KeyholeError(Code.ENGINE_UNAVAILABLE, f"SearXNG's engines failed: {names}")
    return hits
