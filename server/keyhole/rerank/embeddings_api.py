"""Request vectors of texts from an OpenAI-compatible /v1/embeddings API, in batches with retries."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Collection, Sequence
from typing import Final

from keyhole.config.config import Config
from keyhole.errors import Code, KeyholeError
from keyhole.fetch.base import Api
from keyhole.rerank.base import build_request, check_status, decode_response, describe_error
from keyhole.rerank.prefixes import find_prefixes
from keyhole.rerank.vector_scorer import Embedded
from keyhole.rerank.vectors import parse_vectors

BATCH_TEXTS: Final = 32
"""Texts of a request. Text Embeddings Inference accepts no more by default; a slow server finishes small batches."""
TIME_LIMIT: Final = 10.0
"""Seconds for all requests of one call, within the deadline of the tool's call."""
MAX_REQUESTS: Final = 4
"""Concurrent requests. Hosted APIs allow their smallest customers four, and four keep a local server busy."""
MAX_ATTEMPTS: Final = 3
FIRST_PAUSE: Final = 0.25
"""Seconds before the second attempt, doubled before the third. All attempts share `TIME_LIMIT`."""
RETRYABLE: Final = frozenset(
    {Code.RATE_LIMITED, Code.PROTOCOL_ERROR, Code.CONNECT_FAILURE, Code.DNS_FAILURE, Code.TIMEOUT}
)
"""Failures after which the same request may succeed; protocol_error includes an HTTP status of 500 and above."""


class EmbeddingsApi:
    """The embeddings API that the settings name; `sleep` waits between attempts."""

    name = "Embeddings"
    seconds = TIME_LIMIT
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
