"""Compute the ids of artifacts, and make those of calls. Needs no database, which a hook has no time to open."""

from __future__ import annotations

import base64
import hashlib
import hmac
import os
from collections.abc import Iterable
from typing import Final

ID_BYTES = 10
"""80 bits cannot be guessed, and encode as 16 characters of base32, which a model copies without errors."""
ID_FORM: Final = "[a-z2-7]{16}"
"""The form of an artifact's id, as a regular expression."""
RANDOM_BYTES = 8
"""Bytes of the id of a call or a session: its log has at most 100,000."""


def artifact_id(secret: bytes, url: str, text: str | Iterable[str]) -> str:
    """Return the id for a final URL and a text, or its pieces: stable for one secret, and unguessable without it."""
    digest = hmac.new(secret, digestmod=hashlib.sha256)
    encoded_url = url.encode("utf-8", "surrogatepass")
    # The length prefix separates pairs of URL and text whose concatenations are equal.
    digest.update(len(encoded_url).to_bytes(8, "big") + encoded_url)
    for piece in (text,) if isinstance(text, str) else text:
        digest.update(piece.encode("utf-8", "surrogatepass"))
    return base64.b32encode(digest.digest()[:ID_BYTES]).decode("ascii").lower()


def random_id() -> str:
    """Return a new id of a call or a session."""
    return os.urandom(RANDOM_BYTES).hex()
