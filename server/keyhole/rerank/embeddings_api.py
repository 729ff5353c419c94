"""Score texts by embeddings from an OpenAI-compatible /v1/embeddings API, and cache the vectors in the store.

If a batch fails, only its own texts have no score.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Final

from keyhole.config.config import Config
from keyhole.errors import Code, KeyholeError
from keyhole.fetch.base import Api
from keyhole.rerank.base import (
    SENT_QUERY_CHARS,
    Order,
    Scores,
    build_request,
    check_status,
    describe_error,
    parse_json,
)
from keyhole.rerank.fuse import fuse_ranks
from keyhole.rerank.vectors import cosine_similarities, parse_vectors, vector_key
from keyhole.store.base import Store

MAX_TEXT_CHARS: Final = 500
"""Characters of a passage that are embedded. Passages have about 300; the shortest common limit of a model is
512 tokens, and in Chinese or Thai a character may be a token."""
MAX_REQUESTS: Final = 4
"""Concurrent requests. Hosted APIs allow their smallest customers four, and four keep a local server busy."""
MAX_ATTEMPTS: Final = 3
FIRST_PAUSE: Final = 0.25
"""Seconds before the second attempt, doubled before the third. All attempts share KEYHOLE_EMBED_TIMEOUT."""
RETRYABLE: Final = frozenset(
    {Code.RATE_LIMITED, Code.PROTOCOL_ERROR, Code.CONNECT_FAILURE, Code.DNS_FAILURE, Code.TIMEOUT}
)
"""Failures after which the same request may succeed; protocol_error includes an HTTP status of 500 and above."""


class Embedder:
    """The embedding model that the settings name; `sleep` waits between attempts."""

    name = "Embeddings"

    def __init__(
        self, config: Config, api: Api, store: Store, sleep: Callable[[float], Awaitable[None]] = asyncio.sleep
    ) -> None:
        self._config = config
        self._api = api
        self._store = store
        self._sleep = sleep
        self.limit = config.embed_max_docs
        self.seconds = config.embed_timeout

    async def score(self, query: str, texts: Sequence[str], seconds: float) -> Scores:
        """Score each text by its cosine with the query. The score is None if the batch of the text failed.

        The query is sent in a separate request, so that it does not fail together with texts. Raise KeyholeError if the
        query could not be embedded.
        """
        config = self._config
        query = _add_prefix(config.embed_query_prefix, query[:SENT_QUERY_CHARS])
        texts = [_add_prefix(config.embed_text_prefix, text[:MAX_TEXT_CHARS]) for text in texts]
        model = config.embed_model or config.embed_url  # servers that need no model name may have different models
        keys = {text: vector_key(model, text) for text in (query, *texts)}
        cached = await asyncio.to_thread(self._load_vectors, list(keys.values()))
        vectors = {text: cached[key] for text, key in keys.items() if key in cached}
        new = [text for text in dict.fromkeys(texts) if text not in vectors]
        batches = [[query]] if query not in vectors else []
        batches += [new[at : at + config.embed_batch] for at in range(0, len(new), config.embed_batch)]
        fresh, faults = await self._embed_batches(batches, seconds)
        await asyncio.to_thread(self._save_vectors, {keys[text]: vector for text, vector in fresh.items()})
        vectors |= fresh
        if query not in vectors:
            raise KeyholeError(Code.PROTOCOL_ERROR, faults[0], fault=faults[0])
        cosines = await asyncio.to_thread(cosine_similarities, vectors[query], [vectors.get(text) for text in texts])
        return Scores(cosines, faults[0] if faults else "vectors of another length" if None in cosines else "")

    def rank(self, scores: Sequence[float | None]) -> Order:
        """Fuse the lexical order with the order by score."""
        return fuse_ranks(scores)

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
        return await asyncio.to_thread(lambda: parse_vectors(parse_json(reply.body), len(texts)))

    def _load_vectors(self, keys: Sequence[bytes]) -> Mapping[bytes, bytes]:
        """Return the cached vectors, none if the store fails: they are then requested again."""
        try:
            return self._store.vectors(keys)
        except KeyholeError:
            return {}

    def _save_vectors(self, vectors: Mapping[bytes, bytes]) -> None:
        try:
            if vectors:
                self._store.keep_vectors(vectors)
        except KeyholeError:
            return


def _add_prefix(prefix: str, text: str) -> str:
    return f"{prefix} {text}" if prefix else text


def _pause_seconds(error: KeyholeError, attempt: int) -> float:
    """Return the seconds to wait after a failed attempt: exponential, and at least the server's Retry-After."""
    return max(float(error.facts.get("retry_after", 0)), FIRST_PAUSE * 2.0 ** (attempt - 1))
