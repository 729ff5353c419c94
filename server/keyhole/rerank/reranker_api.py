"""Score texts with a reranker over HTTP, in the /rerank format of Jina, Cohere, Voyage, vLLM, Infinity, llama.cpp, TEI.

A failed request is not retried, because the agent is waiting and the order without a reranker is good.
"""

from __future__ import annotations

import asyncio
from collections.abc import Collection, Sequence
from typing import Any, Final

from keyhole.config.config import Config
from keyhole.fetch.base import Api, ApiCall
from keyhole.rerank.base import (
    SENT_QUERY_CHARS,
    build_request,
    check_status,
    decode_response,
    malformed_response,
)
from keyhole.rerank.fuse import order_by_score

MAX_TEXTS: Final = 20
"""Texts that are sent for one query. The APIs are priced and timed by text."""
MAX_TEXT_CHARS: Final = 500
"""Characters of a text that are sent; results contain the whole passage. Passages have about 300."""
TIME_LIMIT: Final = 10.0
"""Seconds for one call, within the deadline of the tool's call."""
MAX_SCORE: Final = 1e300
"""A bound above all real scores. The comparison with it also rejects infinity and NaN."""


class Reranker:
    """The reranker that the settings name."""

    name = "Reranker"
    limit = MAX_TEXTS
    seconds = TIME_LIMIT
    languages: Collection[str] = ()

    def __init__(self, config: Config, api: Api) -> None:
        self._config = config
        self._api = api
        self._use_texts_field = False

    async def score(self, query: str, texts: Sequence[str], seconds: float) -> tuple[float, ...]:
        """Score each text. Raise KeyholeError, or TimeoutError after `seconds`."""
        texts = [text[:MAX_TEXT_CHARS] for text in texts]
        async with asyncio.timeout(seconds):
            reply = await self._api.send(self._request(query[:SENT_QUERY_CHARS], texts))
            if reply.status == 422 and not self._use_texts_field and b"texts" in reply.body:
                # TEI expects `texts` instead of `documents` and names the missing field in its error.
                self._use_texts_field = True
                reply = await self._api.send(self._request(query[:SENT_QUERY_CHARS], texts))
        check_status(reply)
        return parse_scores(decode_response(reply.body), len(texts))

    def rank(self, scores: Sequence[float], strength: float) -> list[int]:
        """Order the texts by score alone: a model that reads query and text together ranks better than words do."""
        del strength
        return order_by_score(scores)

    def _request(self, query: str, texts: Sequence[str]) -> ApiCall:
        """Build the request for all scores.

        The number of results is left out. By default every API returns all results. The field is called `top_n` or
        `top_k`, and Cohere rejects unknown fields.
        """
        config = self._config
        common: dict[str, object] = {"model": config.rerank_model, "query": query}
        fields = {"texts": texts, "truncate": True} if self._use_texts_field else {"documents": texts}
        return build_request(config.rerank_url, config.rerank_key, {**common, **fields})


def parse_scores(answer: Any, count: int) -> tuple[float, ...]:
    """Return the scores of a response in the order of the texts.

    The response is a list of rows, or has the list in `results` or `data`. Rows are in any order; each has an `index`
    and a `relevance_score` or `score`. Raise KeyholeError for any other form, and unless each of the `count` texts has
    exactly one finite score: partial scores would mix two orders.
    """
    rows = answer.get("results", answer.get("data")) if isinstance(answer, dict) else answer
    if not isinstance(rows, list):
        raise malformed_response("the answer has no list of scores")
    if len(rows) != count:
        raise malformed_response(f"{len(rows)} scores for {count} passages")
    scores: dict[int, float] = {}
    for row in rows:
        index, score = _parse_row(row)
        if not 0 <= index < count or index in scores:
            raise malformed_response("an index is out of range or comes twice")
        scores[index] = score
    return tuple(scores[index] for index in range(count))


def _parse_row(row: Any) -> tuple[int, float]:
    if not isinstance(row, dict):
        raise malformed_response("a score has no index")
    index, score = row.get("index"), row.get("relevance_score", row.get("score"))
    if not isinstance(index, int) or isinstance(index, bool):
        raise malformed_response("a score has no index")
    # JSON allows an integer of 400 digits, which no float can hold.
    if not isinstance(score, int | float) or isinstance(score, bool) or not -MAX_SCORE < score < MAX_SCORE:
        raise malformed_response("a score is not a finite number")
    return index, float(score)
