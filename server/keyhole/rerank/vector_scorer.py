"""Score texts by the cosine of their vectors with the query's, and keep the vectors in the store."""

from __future__ import annotations

import asyncio
import hashlib
import math
from array import array
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from operator import mul
from typing import Any, Final, NamedTuple, Protocol

from keyhole.errors import Code, KeyholeError
from keyhole.rerank.base import SENT_QUERY_CHARS, fuse_ranks, malformed_response
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


# Vectors: parsed, keyed and compared.

MAX_DIMENSIONS: Final = 16_384
"""Numbers in a vector. Models in use have 256 to 4,096."""
KEY_BYTES: Final = 16
"""128 bits, so that two texts of one store practically never have the same key."""


def vector_key(model: str, text: str) -> bytes:
    """Return the key under which a text's vector is stored; `model`: everything else that determines the vector."""
    model_name = model.encode("utf-8", "surrogatepass")
    return hashlib.sha256(
        len(model_name).to_bytes(8, "big") + model_name + text.encode("utf-8", "surrogatepass"), usedforsecurity=False
    ).digest()[:KEY_BYTES]


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


def cosine_similarities(query: bytes, vectors: Sequence[bytes]) -> tuple[float, ...]:
    """Return the cosine of each vector with the query's. All have length 1.

    Raises ValueError if a vector has another number of dimensions.
    """
    query_vector = array("f", query)
    return tuple(sum(x * y for x, y in zip(query_vector, array("f", vector), strict=True)) for vector in vectors)


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


# The scorer: it keeps the vectors of a model in the store.

MAX_TEXTS: Final = 40
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
