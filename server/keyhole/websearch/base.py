"""The port that every search engine implements, and how engines use the network and the workers."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Final, Protocol

from keyhole.errors import Code, KeyholeError
from keyhole.extract.workers.tasks import Extractor, Task, UnreadError, decode_function, encode_function
from keyhole.fetch.base import Api, ApiCall, ApiReply
from keyhole.records import Hit, SearchRequest
from keyhole.websearch.hits import MAX_ROWS, MAX_SNIPPET, MAX_TITLE, MAX_URL, NotedHits
from keyhole.websearch.replies import remove_key

# Network and workers: requests go to search engines, and a worker parses their answers.
#
# Engines are the operator's choice, but strangers wrote what they return. An engine's `parse` is a pure function; it
# runs in a worker, and only bounded hits come back.

MAX_NOTE: Final = 300
"""Characters of the note on an incomplete answer: a few names of engines."""
_MAX_CHARS: Final = (MAX_URL, MAX_TITLE, MAX_SNIPPET, 100, 40)
"""Characters of each field of a hit, in the order of `Hit`."""

Parse = Callable[..., tuple[Hit, ...]]
"""A function of a module that takes a reply and JSON values. Raises KeyholeError for a refusal."""


@dataclass(frozen=True, slots=True)
class SearchApi:
    """The network and the workers, as engines use them."""

    api: Api
    extractor: Extractor

    async def hits(self, call: ApiCall, parse: Parse, *arguments: Any, secrets: Sequence[str] = ()) -> tuple[Hit, ...]:
        """Send a request and return the hits of the answer.

        `secrets` are removed from the answer, which may repeat them, before a worker gets it. Raises KeyholeError: that
        of the request, that of `parse`, or engine_unavailable if the answer could not be read within the limits.
        """
        return await self.parse(await self.api.send(call), parse, *arguments, secrets=secrets)

    async def parse(
        self, reply: ApiReply, parse: Parse, *arguments: Any, secrets: Sequence[str] = ()
    ) -> tuple[Hit, ...]:
        """Return the hits of a reply. Raises KeyholeError as `hits` does."""
        body = reply.body
        for secret in secrets:
            body = remove_key(body, secret)
        named = {
            "parse": encode_function(parse),
            "reply": [reply.status, reply.content_type, reply.retry_after],
            "arguments": arguments,
        }
        try:
            values, _ = await self.extractor.run(Task(parse_reply, named, (body,)))
            return _read_hits(values)
        except UnreadError as error:
            raise KeyholeError(Code.ENGINE_UNAVAILABLE, "the answer could not be read within the limits") from error


def parse_reply(arguments: Mapping[str, Any], bodies: Sequence[bytes]) -> tuple[dict[str, Any], bytes]:
    """Return the hits that an engine's `parse` reads from a reply, as JSON values. For a worker."""
    status, content_type, retry_after = arguments["reply"]
    hits = decode_function(arguments["parse"])(
        ApiReply(status, bodies[0], content_type, retry_after), *arguments["arguments"]
    )
    rows = [[hit.url, hit.title, hit.snippet, hit.engine, hit.date] for hit in hits]
    return {"hits": rows, "note": getattr(hits, "note", "")}, b""


def _read_hits(values: Mapping[str, Any]) -> tuple[Hit, ...]:
    """Return the hits in a worker's result. Raises UnreadError for values of another form."""
    rows, note = values.get("hits"), values.get("note")
    if not isinstance(rows, list) or not isinstance(note, str) or not all(map(_is_hit, rows)):
        raise UnreadError("the worker returned something else")
    return NotedHits.with_note((Hit(*row) for row in rows[:MAX_ROWS]), note[:MAX_NOTE])


def _is_hit(row: object) -> bool:
    return (
        isinstance(row, list)
        and len(row) == len(_MAX_CHARS)
        and all(isinstance(value, str) and len(value) <= most for value, most in zip(row, _MAX_CHARS, strict=True))
    )


# Engines: the port, and the base class of engines with a key.


class Engine(Protocol):
    """A search engine."""

    @property
    def name(self) -> str:
        """The engine's name in settings and in results."""
        ...

    @property
    def supported_filters(self) -> frozenset[str]:
        """The filters that the engine applies itself: sites, exclude_sites, freshness, language, country, news.

        `locale` means that the engine applies a country only together with a language.
        """
        ...

    async def search(self, request: SearchRequest) -> tuple[Hit, ...]:
        """Return hits, best first, as `NotedHits` if there is a note; empty only if the engine works and found nothing.

        Raises KeyholeError: engine_unavailable, rate_limited, timeout and the codes of fetching.
        """
        ...


class KeyedEngine:
    """Base class of the engines that need an API key.

    `clock` returns seconds since the epoch. Engines that express freshness as a date apply it only with a clock.
    """

    name: ClassVar[str]
    default_url: ClassVar[str]
    """The API's base URL, used unless `base_url` overrides it."""

    def __init__(self, key: str, api: SearchApi, base_url: str = "", clock: Callable[[], float] | None = None) -> None:
        self._key = key
        self._api = api
        self._base_url = base_url or self.default_url
        self._clock = clock

    def _now(self) -> float | None:
        return self._clock() if self._clock else None

    async def _hits(self, call: ApiCall, parse: Parse, *arguments: Any) -> tuple[Hit, ...]:
        """Send a request and return the hits of the answer, from which the key is removed."""
        return await self._api.hits(call, parse, *arguments, secrets=(self._key,))
