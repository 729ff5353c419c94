"""Parse, key and compare the embedding vectors of texts. Pure."""

from __future__ import annotations

import hashlib
import math
from array import array
from collections.abc import Sequence
from operator import mul
from typing import Any, Final

from keyhole.rerank.base import malformed_response

MAX_DIMENSIONS: Final = 16_384
"""Numbers in a vector. Models in use have 256 to 4,096."""
KEY_BYTES: Final = 16
"""128 bits, so that two texts of one store practically never have the same key."""


def vector_key(model: str, text: str) -> bytes:
    """Return the key under which a text's vector is stored; `model` stands for everything else that determines it."""
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
