"""A reranker over HTTP, in the /rerank shape that Jina, Cohere, Voyage, vLLM, Infinity, llama.cpp and TEI share.

One request and no second try: the order without it is good, and the agent waits.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import Any, Final

from keyhole.config.config import Config
from keyhole.fetch.base import Api, ApiCall
from keyhole.rerank.base import MAX_QUERY, Opinion, Verdict, api_call, bad_answer, check_status, parsed
from keyhole.rerank.fuse import by_score

MAX_SCORE: Final = 1e300
"""Beyond every score there is, and a number that is not finite is not within it."""


class Reranker:
    """The reranker that the settings name."""

    name = "Reranker"

    def __init__(self, config: Config, api: Api) -> None:
        self._config = config
        self._api = api
        self._says_texts = False
        self.limit = config.rerank_max_docs
        self.seconds = config.rerank_timeout

    async def opinion(self, query: str, texts: Sequence[str], seconds: float) -> Opinion:
        """A score for each text. Raises KeyholeError, TimeoutError."""
        cut = [text[: self._config.rerank_max_chars_per_doc] for text in texts]
        async with asyncio.timeout(seconds):
            reply = await self._api.ask(self._call(query[:MAX_QUERY], cut))
            if reply.status == 422 and not self._says_texts and b"texts" in reply.body:
                # TEI names the field that it misses; from now on it is asked in its own words.
                self._says_texts = True
                reply = await self._api.ask(self._call(query[:MAX_QUERY], cut))
        check_status(reply)
        return Opinion(scores_of(parsed(reply.body), len(texts)))

    def verdict(self, scores: Sequence[float | None]) -> Verdict:
        """The judged by score; those under the threshold last."""
        return by_score(scores, self._config.rerank_threshold)

    def _call(self, query: str, texts: Sequence[str]) -> ApiCall:
        """How many to return is not said: all is the default everywhere, the field is called `top_n` or `top_k`, and
        Cohere refuses fields that it does not know."""
        config = self._config
        common: dict[str, object] = {"model": config.rerank_model, "query": query}
        named = {"texts": texts, "truncate": True} if self._says_texts else {"documents": texts}
        return api_call(config.rerank_url, config.rerank_key, {**common, **named})


def scores_of(answer: Any, count: int) -> tuple[float, ...]:
    """The scores in the order of the texts: rows under `results` or `data` or a bare list, each with its `index` and
    a `relevance_score` or `score`, in any order. Raises KeyholeError for anything else and for a row too many,
    too few, twice, or without a finite score: half an opinion would mix with the order it should replace."""
    rows = answer.get("results", answer.get("data")) if isinstance(answer, dict) else answer
    if not isinstance(rows, list):
        raise bad_answer("the answer has no list of scores")
    if len(rows) != count:
        raise bad_answer(f"{len(rows)} scores for {count} passages")
    scores: dict[int, float] = {}
    for row in rows:
        index, score = _row(row)
        if not 0 <= index < count or index in scores:
            raise bad_answer("an index is out of range or comes twice")
        scores[index] = score
    return tuple(scores[index] for index in range(count))


def _row(row: Any) -> tuple[int, float]:
    if not isinstance(row, dict):
        raise bad_answer("a score has no index")
    index, score = row.get("index"), row.get("relevance_score", row.get("score"))
    if not isinstance(index, int) or isinstance(index, bool):
        raise bad_answer("a score has no index")
    # A whole number of 400 digits is JSON too; no float holds it.
    if not isinstance(score, int | float) or isinstance(score, bool) or not -MAX_SCORE < score < MAX_SCORE:
        raise bad_answer("a score is not a finite number")
    return index, float(score)
