"""Embeddings over an OpenAI-compatible /v1/embeddings: what was embedded before is taken from the store.

A batch that fails leaves its passages without a score; the others count all the same.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Final

from keyhole.config.config import Config
from keyhole.errors import Code, KeyholeError
from keyhole.fetch.base import Api
from keyhole.rerank.base import MAX_QUERY, Opinion, Verdict, api_call, check_status, fault_of, parsed
from keyhole.rerank.fuse import fused
from keyhole.rerank.vectors import cosines, vector_key, vectors_of
from keyhole.store.base import Store

if TYPE_CHECKING:
    from tenacity import RetryCallState

MAX_CHARS: Final = 500
"""Characters of a passage that are embedded. Passages have 300; the shortest common limit of a model is 512 tokens,
and in Chinese or Thai a character may be one."""
AT_ONCE: Final = 4
"""Requests at the same time: what hosted APIs allow their smallest customers, and enough to keep a local one busy."""
TRIES: Final = 3
PAUSE: Final = 0.25
"""Seconds before the second try, doubled before the third. All have to fit KEYHOLE_EMBED_TIMEOUT."""
PASSING: Final = frozenset(
    {Code.RATE_LIMITED, Code.PROTOCOL_ERROR, Code.CONNECT_FAILURE, Code.DNS_FAILURE, Code.TIMEOUT}
)
"""Failures after which the same request may succeed; an HTTP status of 500 and above is a protocol_error here."""


class Embedder:
    """The embedding model that the settings name. `sleep`: between tries, so that tests need not wait."""

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

    async def opinion(self, query: str, texts: Sequence[str], seconds: float) -> Opinion:
        """How near each text is to the query; None where its batch failed. Raises KeyholeError where nothing is known.

        The query goes in a request of its own: the batch that fails must not be the one that holds it.
        """
        config = self._config
        asked = _prefixed(config.embed_query_prefix, query[:MAX_QUERY])
        wanted = [_prefixed(config.embed_text_prefix, text[:MAX_CHARS]) for text in texts]
        model = config.embed_model or config.embed_url  # two servers that name no model may have two
        keys = {text: vector_key(model, text) for text in (asked, *wanted)}
        kept = await asyncio.to_thread(self._kept, list(keys.values()))
        vectors = {text: kept[key] for text, key in keys.items() if key in kept}
        new = [text for text in dict.fromkeys(wanted) if text not in vectors]
        batches = [[asked]] if asked not in vectors else []
        batches += [new[at : at + config.embed_batch] for at in range(0, len(new), config.embed_batch)]
        fresh, faults = await self._embedded(batches, seconds)
        await asyncio.to_thread(self._keep, {keys[text]: vector for text, vector in fresh.items()})
        vectors |= fresh
        if asked not in vectors:
            raise KeyholeError(Code.PROTOCOL_ERROR, faults[0], fault=faults[0])
        found = await asyncio.to_thread(cosines, vectors[asked], [vectors.get(text) for text in wanted])
        return Opinion(found, faults[0] if faults else "vectors of another length" if None in found else "")

    def verdict(self, scores: Sequence[float | None]) -> Verdict:
        """Both orders fused."""
        return fused(scores)

    async def _embedded(self, batches: Sequence[Sequence[str]], seconds: float) -> tuple[dict[str, bytes], list[str]]:
        """The vectors of the batches that succeeded in time, and why the others did not."""
        until = asyncio.get_running_loop().time() + seconds
        slots = asyncio.Semaphore(AT_ONCE)
        async with asyncio.TaskGroup() as group:
            tasks = [group.create_task(self._batch(batch, slots, until)) for batch in batches]
        fresh: dict[str, bytes] = {}
        faults = []
        for batch, answer in zip(batches, (task.result() for task in tasks), strict=True):
            if isinstance(answer, str):
                faults.append(answer)
            else:
                fresh |= zip(batch, answer, strict=True)
        return fresh, faults

    async def _batch(self, texts: Sequence[str], slots: asyncio.Semaphore, until: float) -> list[bytes] | str:
        """The vectors of one batch after at most three tries, or its fault."""
        from tenacity import AsyncRetrying, retry_if_exception, stop_after_attempt, stop_before_delay

        left = until - asyncio.get_running_loop().time()
        tries = AsyncRetrying(
            stop=stop_after_attempt(TRIES) | stop_before_delay(left),  # a pause that does not fit is not begun
            wait=_pause,
            retry=retry_if_exception(_may_pass),
            sleep=self._sleep,
            reraise=True,
        )
        try:
            async with asyncio.timeout_at(until), slots:
                return await tries(self._ask, texts)
        except KeyholeError as error:
            return fault_of(error)
        except TimeoutError:
            return str(Code.TIMEOUT)

    async def _ask(self, texts: Sequence[str]) -> list[bytes]:
        config = self._config
        body: dict[str, object] = {"model": config.embed_model, "input": texts}
        reply = await self._api.ask(api_call(config.embed_url, config.embed_key, body))
        check_status(reply)
        # Megabytes of digits: not on the loop that serves the other calls.
        return await asyncio.to_thread(lambda: vectors_of(parsed(reply.body), len(texts)))

    def _kept(self, keys: Sequence[bytes]) -> Mapping[bytes, bytes]:
        try:
            return self._store.vectors(keys)
        except KeyholeError:
            return {}  # a store that fails costs a request, not the answer

    def _keep(self, vectors: Mapping[bytes, bytes]) -> None:
        try:
            if vectors:
                self._store.keep_vectors(vectors)
        except KeyholeError:
            return


def _prefixed(prefix: str, text: str) -> str:
    return f"{prefix} {text}" if prefix else text


def _may_pass(error: BaseException) -> bool:
    return isinstance(error, KeyholeError) and error.code in PASSING


def _pause(state: RetryCallState) -> float:
    """Exponential, and as long as the server asks for."""
    error = state.outcome.exception() if state.outcome else None
    asked = float(error.facts.get("retry_after", 0)) if isinstance(error, KeyholeError) else 0.0
    return max(asked, PAUSE * 2.0 ** (state.attempt_number - 1))
