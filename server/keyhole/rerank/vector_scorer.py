"""Score texts by the cosine of their vectors with the query's, and keep the vectors in the store."""

from __future__ import annotations

import asyncio
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Final, Protocol

from keyhole.errors import Code, KeyholeError
from keyhole.rerank.base import SENT_QUERY_CHARS
from keyhole.rerank.fuse import fuse_ranks
from keyhole.rerank.prefixes import Prefixes
from keyhole.rerank.vectors import cosine_similarities, vector_key
from keyhole.store.base import Store

MAX_TEXTS: Final = 40
"""Texts that are embedded for one query, best lexical rank first; see the table in docs/search-engines/models.md. A
result of the default size shows about thirty passages, so fewer could only reorder what is shown anyway."""
MAX_TEXT_CHARS: Final = 600
"""Characters of a text that are embedded: a passage of about 300 with the headings above it. They have about 128
tokens."""


@dataclass(frozen=True, slots=True)
class Embedded:
    """The vectors of the texts that could be embedded, and the first fault, "" if there was none."""

    vectors: Mapping[str, bytes]
    fault: str = ""


class Embeds(Protocol):
    """A model that returns a vector for each text: a local one, or an API."""

    name: str
    """The name of the model in results."""
    seconds: float
    """The time limit of one call."""
    identity: str
    """What determines a vector besides the text."""
    prefixes: Prefixes
    languages: Collection[str]
    """The languages of the queries that it was made for, empty for all."""

    async def embed(self, query: str | None, texts: Sequence[str], seconds: float) -> Embedded:
        """Return the vectors of a query, unless it is None, and of texts, all with their prefixes.

        After `seconds`, returns those that are finished. Raises KeyholeError if the model cannot be used.
        """
        ...


class VectorScorer:
    """The scorer of one model that embeds; its vectors are kept in `store`."""

    limit = MAX_TEXTS

    def __init__(self, model: Embeds, store: Store) -> None:
        self._model = model
        self._store = store
        self.name = model.name
        self.seconds = model.seconds
        self.languages = model.languages

    async def score(self, query: str, texts: Sequence[str], seconds: float) -> tuple[float, ...]:
        """Score each text by its cosine with the query.

        Vectors that are finished are kept, also if others are not: the next call needs them too. Raises KeyholeError.
        """
        prefixes = self._model.prefixes
        query = prefixes.query + query[:SENT_QUERY_CHARS]
        texts = [prefixes.text + text[:MAX_TEXT_CHARS] for text in texts]
        keys = {text: vector_key(self._model.identity, text) for text in (query, *texts)}
        vectors = await asyncio.to_thread(self._load, keys)
        missing = [text for text in dict.fromkeys(texts) if text not in vectors]
        fault = ""
        if missing or query not in vectors:
            found = await self._model.embed(None if query in vectors else query, missing, seconds)
            await asyncio.to_thread(self._save, {keys[text]: vector for text, vector in found.vectors.items()})
            vectors, fault = {**vectors, **found.vectors}, found.fault
        if not keys.keys() <= vectors.keys():
            raise KeyholeError(Code.PROTOCOL_ERROR, fault, fault=fault)
        try:
            return cosine_similarities(vectors[query], [vectors[text] for text in texts])
        except ValueError:
            message = "vectors of another length"
            raise KeyholeError(Code.PROTOCOL_ERROR, message, fault=message) from None

    def rank(self, scores: Sequence[float], strength: float) -> list[int]:
        """Fuse the lexical order with the order by cosine: the order by cosine alone is worse than the lexical one."""
        return fuse_ranks(scores, strength)

    def _load(self, keys: Mapping[str, bytes]) -> dict[str, bytes]:
        """Return the kept vectors by text, none if the store fails: they are then computed again."""
        try:
            kept = self._store.vectors(list(keys.values()))
        except KeyholeError:
            return {}
        return {text: kept[key] for text, key in keys.items() if key in kept}

    def _save(self, vectors: Mapping[bytes, bytes]) -> None:
        try:
            if vectors:
                self._store.keep_vectors(vectors)
        except KeyholeError:
            return
