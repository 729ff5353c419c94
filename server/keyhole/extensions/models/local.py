"""Score texts with a local model, which is loaded for the first question and freed when no questions come."""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Callable, Collection, Sequence
from concurrent.futures import ThreadPoolExecutor
from itertools import takewhile
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING, Any, Final, TypeVar

from keyhole.errors import Code, KeyholeError
from keyhole.extensions.models.folder import ModelsFolder
from keyhole.extensions.models.manifest import Manifest, ModelKind
from keyhole.extensions.models.vector_scorer import EMBEDDED_TEXTS, MAX_TEXT_CHARS, SENT_QUERY_CHARS, Embedded, Prefixes
from keyhole.rerank.base import fuse_ranks, order_by_score
from keyhole.runtime.memory import return_free_memory

if TYPE_CHECKING:
    from keyhole.extensions.models.inference import Array, Inference
    from keyhole.extensions.models.static_table import StaticTable

log = logging.getLogger(__name__)

NAME: Final = "Model"
"""The name of a local model in results: its own name would say nothing to an agent."""
TIME_LIMIT: Final = 10.0
"""Seconds for one call, within the deadline of the tool's call: ten times what it takes on a laptop."""
WORKERS: Final = 2
"""Texts that are computed at the same time. Laptops have more processors, and other work."""
STATIC_TEXTS: Final = 80
"""Texts that a static model reads for one query. The answer to a question in other words is seldom among the best 40 by
words, and a text takes a fraction of a millisecond. With all texts of a page, fewer questions are answered."""
IDLE_SECONDS: Final = 300.0
"""Seconds after the last question until the memory of the model is freed. Loading it again takes about a second."""

Result = TypeVar("Result")


class LocalModel:
    """The model of an installation, shared by all callers of a process; one question is computed at a time."""

    def __init__(
        self,
        models: ModelsFolder,
        manifest: Manifest,
        load: Callable[[Path, Manifest], Any] | None = None,
        now: Callable[[], float] = time.monotonic,
    ) -> None:
        """Prepare the model. Nothing is loaded yet. `load` and `now` replace the inference and the clock in tests."""
        self._folder = models.folder_of(manifest.name)
        self.manifest = manifest
        self._load = load or load_model
        self.now = now
        self._loaded: Any = None
        self._lock = Lock()
        self.release: asyncio.TimerHandle | None = None
        """The call that will free the memory."""

    async def compute(self, work: Callable[[Any, str], Result], texts: Sequence[str], seconds: float) -> list[Result]:
        """Return the results of `work` for the first texts that are finished within `seconds`.

        Raises KeyholeError if the model cannot be loaded or a computation fails.
        """
        until = self.now() + seconds
        try:
            return await asyncio.to_thread(self._compute, work, texts, until)
        finally:
            self._free_later()

    def _compute(self, work: Callable[[Any, str], Result], texts: Sequence[str], until: float) -> list[Result]:
        if not self._lock.acquire(timeout=max(0.0, until - self.now())):
            return []
        try:
            model = self._loaded = self._loaded or self._load(self._folder, self.manifest)
            with ThreadPoolExecutor(WORKERS, "model") as pool:
                results = pool.map(lambda text: work(model, text) if self.now() < until else None, texts)
                return [each for each in takewhile(lambda result: result is not None, results) if each is not None]
        finally:
            self._lock.release()

    def _free_later(self) -> None:
        """Free the memory of the model after `IDLE_SECONDS`, unless it is used again."""
        if self.release:
            self.release.cancel()
        self.release = asyncio.get_running_loop().call_later(IDLE_SECONDS, self.free)

    def free(self) -> None:
        """Free the memory of the model, unless it is being used."""
        if self._lock.acquire(blocking=False):
            self._loaded = None
            self._lock.release()
            return_free_memory()


class LocalEmbeddings:
    """The vectors of a local model."""

    name = NAME
    seconds = TIME_LIMIT

    def __init__(self, model: LocalModel) -> None:
        self._model = model
        self.identity = model.manifest.identity
        self.languages: Collection[str] = model.manifest.languages
        self.limit = STATIC_TEXTS if model.manifest.kind is ModelKind.STATIC else EMBEDDED_TEXTS
        self.prefixes = Prefixes(model.manifest.query_prefix, model.manifest.text_prefix)

    async def embed(self, query: str | None, texts: Sequence[str], seconds: float) -> Embedded:
        """Return the vectors that are finished within `seconds`."""
        inputs = [*([query] if query is not None else []), *texts]
        vectors = await self._model.compute(lambda inference, text: inference.embed(text), inputs, seconds)
        fault = str(Code.TIMEOUT) if len(vectors) < len(inputs) else ""
        return Embedded(dict(zip(inputs, vectors, strict=False)), fault)


class LocalPairs:
    """A local model that compares the query with each text; its results depend on both, so none are kept."""

    name = NAME
    seconds = TIME_LIMIT
    limit = EMBEDDED_TEXTS

    def __init__(self, model: LocalModel) -> None:
        self._model = model
        self._kind = model.manifest.kind
        self.languages = model.manifest.languages

    async def score(self, query: str, texts: Sequence[str], seconds: float) -> tuple[float, ...]:
        """Score each text. Raise KeyholeError, or TimeoutError after `seconds`."""
        query = query[:SENT_QUERY_CHARS]
        until = self._model.now() + seconds
        if self._kind is ModelKind.CROSS_ENCODER:
            work = _score_pair(query)
        else:
            tokens = await self._model.compute(lambda inference, text: inference.query_tokens(text), [query], seconds)
            work = _compare_tokens(tokens)
        cut = [text[:MAX_TEXT_CHARS] for text in texts]
        scores = await self._model.compute(work, cut, until - self._model.now())
        if len(scores) < len(texts):
            raise TimeoutError
        return tuple(scores)

    def rank(self, scores: Sequence[float], strength: float | None) -> list[int]:
        """Order by a cross-encoder's score alone; fuse the order by late interaction with the lexical one."""
        return order_by_score(scores) if self._kind is ModelKind.CROSS_ENCODER else fuse_ranks(scores, strength)


def open_local_model(models: ModelsFolder, setting: str) -> LocalModel | None:
    """Return the model that KEYHOLE_MODEL selects, without loading it; None if it is off or not installed."""
    try:
        chosen = models.choose(setting)
    except KeyholeError as error:
        log.warning("KEYHOLE_MODEL: %s; passages are ranked by their words", error.message)
        return None
    return LocalModel(models, chosen) if chosen else None


def _score_pair(query: str) -> Callable[[Inference, str], float]:
    return lambda inference, text: inference.score_pair(query, text)


def _compare_tokens(tokens: Sequence[Array]) -> Callable[[Inference, str], float]:
    if not tokens:
        raise TimeoutError
    return lambda inference, text: inference.compare_tokens(tokens[0], text)


def load_model(folder: Path, manifest: Manifest) -> Inference | StaticTable:
    """Load a model by its kind. Raises KeyholeError if its packages or files are missing or damaged."""
    if manifest.kind is ModelKind.STATIC:
        from keyhole.extensions.models.static_table import StaticTable

        return StaticTable(folder, manifest)
    from keyhole.extensions.models.inference import Inference

    return Inference(folder, manifest)
