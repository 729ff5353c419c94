"""Call the HTTP APIs of rerankers and of embedding models."""

from __future__ import annotations

import asyncio
import json
import math
from array import array
from collections.abc import Awaitable, Callable, Collection, Sequence
from operator import mul
from typing import Any, Final

from keyhole.config.config import Config
from keyhole.errors import Code, KeyholeError
from keyhole.extensions.models.vector_scorer import EMBEDDED_TEXTS, SENT_QUERY_CHARS, Embedded, find_prefixes
from keyhole.fetch.base import Api, ApiCall, ApiReply
from keyhole.rerank.base import describe_error, order_by_score
from keyhole.text.parse_json import parse_json

# Requests and responses of both kinds of API.

TIME_LIMIT: Final = 10.0
"""Seconds for one call, within the deadline of the tool's call."""


def build_request(url: str, key: str, body: dict[str, object]) -> ApiCall:
    """Build the JSON request for an API.

    Empty strings are left out, such as `model`: a server with a single model may not need its name.
    """
    sent = {name: value for name, value in body.items() if value != ""}
    headers = (("Authorization", f"Bearer {key}"),) if key else ()
    # Strict JSON parsers reject a lone surrogate from a page, so it is replaced.
    return ApiCall(url, headers, json.dumps(sent, ensure_ascii=False).encode("utf-8", "replace"))


def check_status(reply: ApiReply) -> None:
    """Raise KeyholeError unless the status is 200.

    The error does not quote the body, which may repeat the key or the texts.
    """
    if reply.status == 200:
        return
    fault = f"HTTP {reply.status}"
    if reply.status == 429:
        raise KeyholeError(Code.RATE_LIMITED, fault, fault=fault, retry_after=reply.retry_after or 0)
    if reply.status in {401, 403}:
        raise KeyholeError(Code.LOGIN_REQUIRED, fault, fault=f"the key is refused ({fault})")
    raise KeyholeError(Code.PROTOCOL_ERROR if reply.status >= 500 else Code.HTTP_STATUS, fault, fault=fault)


def decode_response(body: bytes) -> Any:
    """Return the JSON of a response. Raise KeyholeError if it is malformed."""
    try:
        return parse_json(body)
    except ValueError as error:
        raise malformed_response("the answer is not JSON") from error


def malformed_response(fault: str) -> KeyholeError:
    """Return the error for a response that does not have the form of the API."""
    return KeyholeError(Code.PROTOCOL_ERROR, fault, fault=fault)


# Rerankers: the /rerank format of Jina, Cohere, Voyage, vLLM, Infinity, llama.cpp and TEI.
#
# A failed request is not retried, because the agent is waiting and the order without a reranker is good.

MAX_TEXTS: Final = 20
"""Texts that are sent for one query. The APIs are priced and timed by text."""
MAX_TEXT_CHARS: Final = 500
"""Characters of a text that are sent; results contain the whole passage. Passages have about 300."""
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

    def rank(self, scores: Sequence[float], strength: float | None) -> list[int]:
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


# Embeddings: an OpenAI-compatible /v1/embeddings API, asked in batches with retries.

BATCH_TEXTS: Final = 32
"""Texts of a request. Text Embeddings Inference accepts no more by default; a slow server finishes small batches."""
MAX_REQUESTS: Final = 4
"""Concurrent requests. Hosted APIs allow their smallest customers four, and four keep a local server busy."""
MAX_ATTEMPTS: Final = 3
FIRST_PAUSE: Final = 0.25
"""Seconds before the second attempt, doubled before the third. All attempts share `TIME_LIMIT`."""
MAX_DIMENSIONS: Final = 16_384
"""Numbers in a vector. Models in use have 256 to 4,096."""
RETRYABLE: Final = frozenset(
    {Code.RATE_LIMITED, Code.PROTOCOL_ERROR, Code.CONNECT_FAILURE, Code.DNS_FAILURE, Code.TIMEOUT}
)
"""Failures after which the same request may succeed; protocol_error includes an HTTP status of 500 and above."""


class EmbeddingsApi:
    """The embeddings API that the settings name; `sleep` waits between attempts."""

    name = "Embeddings"
    seconds = TIME_LIMIT
    limit = EMBEDDED_TEXTS
    languages: Collection[str] = ()

    def __init__(self, config: Config, api: Api, sleep: Callable[[float], Awaitable[None]] = asyncio.sleep) -> None:
        self._config = config
        self._api = api
        self._sleep = sleep
        self.identity = config.embed_model or config.embed_url  # servers that need no name may have different models
        self.prefixes = find_prefixes(config.embed_model)

    async def embed(self, query: str | None, texts: Sequence[str], seconds: float) -> Embedded:
        """Return the vectors of the query and the texts that succeeded within `seconds`, and the first fault.

        The query is sent in a separate request, so that it does not fail together with texts.
        """
        batches = [[query]] if query is not None else []
        batches += [list(texts[at : at + BATCH_TEXTS]) for at in range(0, len(texts), BATCH_TEXTS)]
        vectors, faults = await self._embed_batches(batches, seconds)
        return Embedded(vectors, faults[0] if faults else "")

    async def _embed_batches(
        self, batches: Sequence[Sequence[str]], seconds: float
    ) -> tuple[dict[str, bytes], list[str]]:
        """Return the vectors of the batches that succeeded within `seconds`, and the faults of the others."""
        until = asyncio.get_running_loop().time() + seconds
        slots = asyncio.Semaphore(MAX_REQUESTS)
        async with asyncio.TaskGroup() as group:
            tasks = [group.create_task(self._embed_batch(batch, slots, until)) for batch in batches]
        vectors: dict[str, bytes] = {}
        faults = []
        for batch, result in zip(batches, (task.result() for task in tasks), strict=True):
            if isinstance(result, str):
                faults.append(result)
            else:
                vectors |= zip(batch, result, strict=True)
        return vectors, faults

    async def _embed_batch(self, texts: Sequence[str], slots: asyncio.Semaphore, until: float) -> list[bytes] | str:
        """Return the vectors of one batch after at most `MAX_ATTEMPTS` requests, or the fault of the last one."""
        try:
            async with asyncio.timeout_at(until), slots:
                return await self._request_with_retries(texts, until)
        except KeyholeError as error:
            return describe_error(error)
        except TimeoutError:
            return str(Code.TIMEOUT)

    async def _request_with_retries(self, texts: Sequence[str], until: float) -> list[bytes]:
        """Request vectors up to `MAX_ATTEMPTS` times. Raise the last error, or the first that a retry cannot fix."""
        attempt = 1
        while True:
            try:
                return await self._request_vectors(texts)
            except KeyholeError as error:
                pause = _pause_seconds(error, attempt)
                left = until - asyncio.get_running_loop().time()
                # Do not begin a pause that would end after the deadline.
                if error.code not in RETRYABLE or attempt == MAX_ATTEMPTS or pause > left:
                    raise
            attempt += 1
            await self._sleep(pause)

    async def _request_vectors(self, texts: Sequence[str]) -> list[bytes]:
        config = self._config
        body: dict[str, object] = {"model": config.embed_model, "input": texts}
        reply = await self._api.send(build_request(config.embed_url, config.embed_key, body))
        check_status(reply)
        # The response may be megabytes of digits, so it is parsed in a thread to keep the event loop free.
        return await asyncio.to_thread(lambda: parse_vectors(decode_response(reply.body), len(texts)))


def _pause_seconds(error: KeyholeError, attempt: int) -> float:
    """Return the seconds to wait after a failed attempt: exponential, and at least the server's Retry-After."""
    return max(float(error.facts.get("retry_after", 0)), FIRST_PAUSE * 2.0 ** (attempt - 1))


def parse_vectors(answer: Any, count: int) -> list[bytes]:
    """Return the vectors of a response in the order of the texts, scaled to length 1, as 32-bit floats.

    Raise KeyholeError unless each of the `count` texts has one vector of finite numbers, all of the same length.
    """
    rows = answer.get("data") if isinstance(answer, dict) else None
    if not isinstance(rows, list):
        raise malformed_response("the answer has no list of vectors")
    if len(rows) != count:
        raise malformed_response(f"{len(rows)} vectors for {count} texts")
    vectors: dict[int, bytes] = {}
    for row in rows:
        index = row.get("index") if isinstance(row, dict) else None
        if not isinstance(index, int) or isinstance(index, bool) or not 0 <= index < count or index in vectors:
            raise malformed_response("an index is missing, out of range or comes twice")
        vectors[index] = _parse_unit_vector(row.get("embedding"))
    if len({len(vector) for vector in vectors.values()}) > 1:
        raise malformed_response("the vectors differ in length")
    return [vectors[index] for index in range(count)]


def _parse_unit_vector(values: Any) -> bytes:
    if not isinstance(values, list) or not 0 < len(values) <= MAX_DIMENSIONS:
        raise malformed_response("a vector is missing or too long")
    try:
        length = math.sqrt(sum(map(mul, values, values)))
        vector = array("f", [value / length for value in values])
    except (TypeError, ValueError, ArithmeticError) as error:
        raise malformed_response("a vector is not of finite numbers") from error
    # NaN, infinity and numbers near the largest float all make the length NaN or infinite.
    if not math.isfinite(length):
        raise malformed_response("a vector is not of finite numbers")
    return vector.tobytes()
