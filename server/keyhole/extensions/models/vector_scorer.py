"""Score texts by the cosine of their vectors with the query's, and keep the vectors in the store."""

from __future__ import annotations

import asyncio
import hashlib
from array import array
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Final, NamedTuple, Protocol

from keyhole.errors import Code, KeyholeError
from keyhole.rerank.base import fuse_ranks
from keyhole.store.base import Store

# Prefixes: the texts that embedding models expect before a query and before a text, by the family of the model.


class Prefixes(NamedTuple):
    """What an embedding model expects before a query and before a text: it was trained so, and few users know it."""

    query: str = ""
    text: str = ""


_FAMILIES: Final = (
    # The cards of these models on Hugging Face. A longer name comes before a shorter one that it contains.
    ("e5-mistral", Prefixes("Instruct: Given a question, retrieve passages that answer it\nQuery: ")),
    ("e5-large-instruct", Prefixes("Instruct: Given a question, retrieve passages that answer it\nQuery: ")),
    ("e5", Prefixes("query: ", "passage: ")),
    ("nomic-embed", Prefixes("search_query: ", "search_document: ")),
    ("bge-small-en", Prefixes("Represent this sentence for searching relevant passages: ")),
    ("bge-base-en", Prefixes("Represent this sentence for searching relevant passages: ")),
    ("bge-large-en", Prefixes("Represent this sentence for searching relevant passages: ")),
    ("mxbai-embed", Prefixes("Represent this sentence for searching relevant passages: ")),
    ("snowflake-arctic-embed-l-v2", Prefixes("query: ")),
    ("snowflake-arctic-embed-m-v2", Prefixes("query: ")),
    ("snowflake-arctic-embed2", Prefixes("query: ")),
    ("snowflake-arctic-embed", Prefixes("Represent this sentence for searching relevant passages: ")),
    ("embeddinggemma", Prefixes("task: search result | query: ", "title: none | text: ")),
)


def find_prefixes(model: str) -> Prefixes:
    """Return the prefixes of a model by its name; empty if its family needs no prefixes or is unknown."""
    name = model.lower()
    return next((prefixes for family, prefixes in _FAMILIES if family in name), Prefixes())


# Vectors: keyed and compared.

KEY_BYTES: Final = 16
"""128 bits, so that two texts of one store practically never have the same key."""


def vector_key(model: str, text: str) -> bytes:
    """Return the key under which a text's vector is stored; `model`: everything else that determines the vector."""
    model_name = model.encode("utf-8", "surrogatepass")
    return hashlib.sha256(
        len(model_name).to_bytes(8, "big") + model_name + text.encode("utf-8", "surrogatepass"), usedforsecurity=False
    ).digest()[:KEY_BYTES]


def cosine_similarities(query: bytes, vectors: Sequence[bytes]) -> tuple[float, ...]:
    """Return the cosine of each vector with the query's. All have length 1.

    Raises ValueError if a vector has another number of dimensions.
    """
    query_vector = array("f", query)
    return tuple(sum(x * y for x, y in zip(query_vector, array("f", vector), strict=True)) for vector in vectors)


# The scorer: it keeps the vectors of a model in the store.

SENT_QUERY_CHARS: Final = 500
"""Characters of a query that are sent. Models read 256 to 512 tokens of query and passage together; questions have
about 100 characters, and a longer query is usually a pasted page."""
EMBEDDED_TEXTS: Final = 40
"""Texts that are embedded for one query, best lexical rank first; see the table in docs/search-engines/models.md. A
result of the default size shows about thirty passages, so fewer could only reorder what is shown anyway."""
MAX_TEXT_CHARS: Final = 600
"""Characters of a text that are embedded: a passage of about 300 with the headings above it. They have about 128
tokens."""


@dataclass(frozen=True, slots=True)
class Embedded:
    """The vectors of the texts that could be embedded, and the first fault or ""."""

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
    limit: int
    """Texts that are embedded for one query, best lexical rank first."""

    async def embed(self, query: str | None, texts: Sequence[str], seconds: float) -> Embedded:
        """Return the vectors of a query, unless it is None, and of texts, all with their prefixes.

        After `seconds`, returns those that are finished. Raises KeyholeError if the model cannot be used.
        """
        ...


class VectorScorer:
    """The scorer of one model that embeds; its vectors are kept in `store`."""

    def __init__(self, model: Embeds, store: Store) -> None:
        self._model = model
        self._store = store
        self.name = model.name
        self.seconds = model.seconds
        self.languages = model.languages
        self.limit = model.limit

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

    def rank(self, scores: Sequence[float], strength: float | None) -> list[int]:
        """Fuse the lexical order with the order by cosine: the order by cosine alone is worse than the lexical one."""
        return fuse_ranks(scores, strength)

    def _load(self, keys: Mapping[str, bytes]) -> dict[str, bytes]:
        """Return the kept vectors by text, {} if the store fails: the vectors are then computed again."""
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
