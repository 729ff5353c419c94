"""The port to a second opinion on passages, and what every one of them needs. Asks nobody."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final, Protocol

from keyhole.errors import Code, KeyholeError
from keyhole.fetch.base import ApiCall, ApiReply

MAX_QUERY: Final = 500
"""Characters of a query that are sent. Models read 256 to 512 tokens of query and passage together; questions have
100 characters, and what is longer is a page pasted into one."""


@dataclass(frozen=True, slots=True)
class Opinion:
    """A score for each text, higher is better, None where there is none; `fault` says why in a few words."""

    scores: tuple[float | None, ...]
    fault: str = ""


@dataclass(frozen=True, slots=True)
class Verdict:
    """What a scorer makes of the texts it was asked about, as their positions: the order of those that come before
    all others, and of those that come after them."""

    first: tuple[int, ...]
    last: tuple[int, ...] = ()


class Scorer(Protocol):
    """Somebody who judges how well texts answer a query."""

    @property
    def name(self) -> str:
        """Its name in results."""
        ...

    @property
    def limit(self) -> int:
        """How many texts it is asked about."""
        ...

    @property
    def seconds(self) -> float:
        """How long it may take."""
        ...

    async def opinion(self, query: str, texts: Sequence[str], seconds: float) -> Opinion:
        """Scores for the texts within so many seconds. Raises KeyholeError and TimeoutError where there are none."""
        ...

    def verdict(self, scores: Sequence[float | None]) -> Verdict:
        """The order that scores of texts in lexical order give."""
        ...


def api_call(url: str, key: str, body: dict[str, object]) -> ApiCall:
    """The request; an empty `model` is left out, since a server that has only one may know it by another name."""
    sent = {name: value for name, value in body.items() if value != ""}
    headers = (("Authorization", f"Bearer {key}"),) if key else ()
    # A lone surrogate of a page is no JSON that others would read.
    return ApiCall(url, headers, json.dumps(sent, ensure_ascii=False).encode("utf-8", "replace"))


def check_status(reply: ApiReply) -> None:
    """Name a status that is no success. What the body says is not passed on: it may repeat the key or the texts."""
    if reply.status == 200:
        return
    what = f"HTTP {reply.status}"
    if reply.status == 429:
        raise KeyholeError(Code.RATE_LIMITED, what, fault=what, retry_after=reply.retry_after or 0)
    if reply.status in {401, 403}:
        raise KeyholeError(Code.LOGIN_REQUIRED, what, fault=f"the key is refused ({what})")
    raise KeyholeError(Code.PROTOCOL_ERROR if reply.status >= 500 else Code.HTTP_STATUS, what, fault=what)


def parsed(body: bytes) -> Any:
    """The JSON of an answer. Raises KeyholeError."""
    try:
        return json.loads(body)
    except (ValueError, RecursionError) as error:
        raise bad_answer("the answer is not JSON") from error


def bad_answer(what: str) -> KeyholeError:
    """An answer of another form than the API's."""
    return KeyholeError(Code.PROTOCOL_ERROR, what, fault=what)


def fault_of(error: KeyholeError) -> str:
    """In a few words of ours, without the address that the operator configured."""
    return str(error.facts.get("fault", error.code))
