"""The port of what reranks passages, and what the clients of HTTP APIs share."""

from __future__ import annotations

import json
from collections.abc import Collection, Sequence
from typing import Any, Final, Protocol

from keyhole.errors import Code, KeyholeError
from keyhole.fetch.base import ApiCall, ApiReply
from keyhole.text.parse_json import parse_json

SENT_QUERY_CHARS: Final = 500
"""Characters of a query that are sent. Models read 256 to 512 tokens of query and passage together; questions have
about 100 characters, and a longer query is usually a pasted page."""


class Scorer(Protocol):
    """A model that scores how well texts answer a query."""

    @property
    def name(self) -> str:
        """The name of the scorer in results."""
        ...

    @property
    def limit(self) -> int:
        """The maximum of texts to score for one query."""
        ...

    @property
    def seconds(self) -> float:
        """The time limit of one call, in seconds."""
        ...

    @property
    def languages(self) -> Collection[str]:
        """The languages of the queries that it scores, empty for all."""
        ...

    async def score(self, query: str, texts: Sequence[str], seconds: float) -> tuple[float, ...]:
        """Return a score for each text, a higher one for a better match.

        All or nothing: raises KeyholeError or TimeoutError if a text has no score after `seconds`.
        """
        ...

    def rank(self, scores: Sequence[float], strength: float) -> list[int]:
        """Return the order that these scores give to texts, as positions. `scores` are in the order of the texts.

        `strength`: how probable it is by words, from 0 to 1, that the texts answer (passages/strength.py).
        """
        ...


def build_request(url: str, key: str, body: dict[str, object]) -> ApiCall:
    """Build the JSON request for an API.

    Empty strings are left out, such as `model`: a server with a single model may not need its name.
    """
    sent = {name: value for name, value in body.items() if value != ""}
    headers = (("Authorization", f"Bearer {key}"),) if key else ()
    # Strict JSON parsers reject a lone surrogate from a page, so it is replaced.
    return ApiCall(url, headers, json.dumps(sent, ensure_ascii=False).encode("utf-8", "replace"))


def check_status(reply: ApiReply) -> None:
    """Raise KeyholeError unless the status is 200.

    The error does not quote the body, which may repeat the key or the texts.
    """
    if reply.status == 200:
        return
    fault = f"HTTP {reply.status}"
    if reply.status == 429:
        raise KeyholeError(Code.RATE_LIMITED, fault, fault=fault, retry_after=reply.retry_after or 0)
    if reply.status in {401, 403}:
        raise KeyholeError(Code.LOGIN_REQUIRED, fault, fault=f"the key is refused ({fault})")
    raise KeyholeError(Code.PROTOCOL_ERROR if reply.status >= 500 else Code.HTTP_STATUS, fault, fault=fault)


def decode_response(body: bytes) -> Any:
    """Return the JSON of a response. Raise KeyholeError if it is malformed."""
    try:
        return parse_json(body)
    except ValueError as error:
        raise malformed_response("the answer is not JSON") from error


def malformed_response(fault: str) -> KeyholeError:
    """Return the error for a response that does not have the form of the API."""
    return KeyholeError(Code.PROTOCOL_ERROR, fault, fault=fault)


def describe_error(error: KeyholeError) -> str:
    """Describe an error in a few words, without the address from the settings."""
    return str(error.facts.get("fault", error.code))
