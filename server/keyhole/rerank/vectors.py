"""Vectors of texts: read from an answer, kept as bytes under a key, compared. Pure."""

from __future__ import annotations

import hashlib
import math
from array import array
from collections.abc import Sequence
from operator import mul
from typing import Any, Final

from keyhole.rerank.base import bad_answer

MAX_DIMENSIONS: Final = 16_384
"""Numbers of a vector. Models in use have 256 to 4,096; more is not a vector of a text."""
KEY_BYTES: Final = 16
"""128 bits: no two texts of one store have the same key."""


def vector_key(model: str, text: str) -> bytes:
    """The key of a text's vector; `model` names whatever else the vector depends on."""
    named = model.encode("utf-8", "surrogatepass")
    return hashlib.sha256(
        len(named).to_bytes(8, "big") + named + text.encode("utf-8", "surrogatepass"), usedforsecurity=False
    ).digest()[:KEY_BYTES]


def vectors_of(answer: Any, count: int) -> list[bytes]:
    """The vectors of an answer in the order of the texts, each of length one, in 32 bits a number. Raises
    KeyholeError for a row too many, too few or twice, for different lengths, and for what is not a finite number."""
    rows = answer.get("data") if isinstance(answer, dict) else None
    if not isinstance(rows, list):
        raise bad_answer("the answer has no list of vectors")
    if len(rows) != count:
        raise bad_answer(f"{len(rows)} vectors for {count} texts")
    found: dict[int, bytes] = {}
    for row in rows:
        index = row.get("index") if isinstance(row, dict) else None
        if not isinstance(index, int) or isinstance(index, bool) or not 0 <= index < count or index in found:
            raise bad_answer("an index is missing, out of range or comes twice")
        found[index] = _unit(row.get("embedding"))
    if len({len(vector) for vector in found.values()}) > 1:
        raise bad_answer("the vectors differ in length")
    return [found[index] for index in range(count)]


def cosines(query: bytes, vectors: Sequence[bytes | None]) -> tuple[float | None, ...]:
    """How near each vector is to the query's; None for one that is missing or of another length."""
    wanted = array("f", query)
    return tuple(
        None if vector is None or len(vector) != len(query) else sum(map(mul, wanted, array("f", vector)))
        for vector in vectors
    )


def _unit(values: Any) -> bytes:
    if not isinstance(values, list) or not 0 < len(values) <= MAX_DIMENSIONS:
        raise bad_answer("a vector is missing or too long")
    try:
        length = math.sqrt(sum(map(mul, values, values)))
        vector = array("f", [value / length for value in values])
    except (TypeError, ValueError, ArithmeticError) as error:
        raise bad_answer("a vector is not of finite numbers") from error
    # NaN and infinite numbers show in the length; what is nearly infinite makes it infinite too.
    if not math.isfinite(length):
        raise bad_answer("a vector is not of finite numbers")
    return vector.tobytes()
