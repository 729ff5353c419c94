"""Fake implementations of the ports: a programmable network, engines, a failing store, a clock moved by hand."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import lru_cache
from typing import Final, NoReturn

from keyhole.errors import Code, KeyholeError
from keyhole.extract.workers.tasks import Extractor, Result, Task
from keyhole.fetch.base import DEFAULT_OPTIONS, Api, ApiCall, ApiReply, Fetcher, FetchOptions
from keyhole.records import (
    Artifact,
    ArtifactPart,
    ArtifactSummary,
    Document,
    Hit,
    Page,
    Place,
    SearchRequest,
)
from keyhole.store.base import SearchWord, Span, Store, StoreStats, Traces, Verification
from keyhole.store.calls.base import MAX_CALLS, MAX_LOG_BYTES
from keyhole.store.calls.sqlite import SqliteCallLog
from keyhole.store.chunks import PackedText
from keyhole.store.filters import NO_FILTERS, Filters, Scope
from keyhole.store.forget_mark import ForgetMark
from keyhole.websearch.base import Engine, SearchApi


class Hangs:
    """The type of `HANGS`."""


HANGS: Final = Hangs()
"""As the answer of a fake: the call never returns, so it must be cancelled or time out."""


class Clock:
    """A clock that only `advance` moves."""

    def __init__(self, now: float = 1_700_000_000.0) -> None:
        self.now = now

    def __call__(self) -> float:
        return self.now

    def advance(self, seconds: float) -> None:
        """Move the clock forward."""
        self.now += seconds


def page(
    url: str,
    body: str | bytes,
    content_type: str = "text/html; charset=utf-8",
    *,
    final_url: str = "",
    fetched_at: float = 1_700_000_000.0,
    cut: bool = False,
) -> Page:
    """Return a page as a fetcher returns it."""
    return Page(
        requested_url=url,
        url=final_url or url,
        status=200,
        content_type=content_type,
        body=body.encode("utf-8", "surrogatepass") if isinstance(body, str) else body,
        fetched_at=fetched_at,
        cut=cut,
    )


def artifact(
    id: str = "aaaaaaaaaaaaaaaa",
    text: str = "A text that is kept.\n",
    *,
    url: str = "https://example.org/page",
    requested_url: str = "",
    title: str = "A page",
    fetched_at: float = 1_700_000_000.0,
    cut: bool = False,
) -> Artifact:
    """Return an artifact whose fields have plausible defaults."""
    return Artifact(
        id=id,
        url=url,
        requested_url=requested_url or url,
        title=title,
        text=text,
        media_type="text/html",
        language="en",
        fetched_at=fetched_at,
        cut=cut,
    )


def check_permission(url: str, options: FetchOptions) -> None:
    """Raise KeyholeError if the permission of a request excludes an address."""
    if not options.permission.permits(url):
        raise KeyholeError(Code.DOMAIN_NOT_ALLOWED, "the call does not permit this address")


class FakeFetcher:
    """A network of the pages in `answers`. `calls` lists the requested URLs, `cancelled` those of cancelled calls.

    The permission of a request is checked as by the real client: for its address and for that of the page.
    """

    def __init__(self, answers: Mapping[str, Page | Exception | Hangs] | None = None) -> None:
        self.answers = dict(answers or {})
        self.calls: list[str] = []
        self.options: list[FetchOptions] = []
        self.cancelled: list[str] = []
        self.closed = False

    async def fetch(self, url: str, options: FetchOptions = DEFAULT_OPTIONS) -> Page:
        check_permission(url, options)
        self.calls.append(url)
        self.options.append(options)
        answer = self.answers.get(url, KeyholeError(Code.DNS_FAILURE, f"the fake network has no {url}"))
        if isinstance(answer, Hangs):
            try:
                await asyncio.Event().wait()
            except asyncio.CancelledError:
                self.cancelled.append(url)
                raise
        if isinstance(answer, Exception):
            raise answer
        assert isinstance(answer, Page)
        check_permission(answer.url, options)
        return answer

    async def send(self, call: ApiCall) -> ApiReply:
        reply = await self.fetch(call.url)
        return ApiReply(reply.status, reply.body, reply.content_type)

    async def aclose(self) -> None:
        self.closed = True


@lru_cache(maxsize=32)
def _read_once(body: bytes, url: str, content_type: str, requested_url: str) -> tuple[Document, str]:
    """Return what a worker does. Tests read the same recorded pages again and again."""
    from keyhole.extract.workers.child import extract_with_words

    return extract_with_words(body, url, content_type, requested_url)


class InProcessExtractor:
    """Extraction in a thread of this process. `warmed` counts the calls of `warm`."""

    def __init__(self) -> None:
        self.warmed = 0
        self.closed = False

    def warm(self) -> None:
        self.warmed += 1

    async def extract(self, page: Page) -> tuple[Document, str]:
        return await asyncio.to_thread(_read_once, page.body, page.url, page.content_type, page.requested_url)

    async def run(self, task: Task) -> Result:
        from keyhole.extract.workers.child import run_task
        from keyhole.extract.workers.tasks import encode_function

        # As from a process: only JSON values come and go.
        arguments = json.loads(json.dumps(dict(task.arguments)))
        values, body = await asyncio.to_thread(
            run_task, encode_function(task.function), arguments, [bytes(each) for each in task.bodies]
        )
        return json.loads(json.dumps(values)), body

    async def aclose(self) -> None:
        self.closed = True


def search_api(api: Api | None = None) -> SearchApi:
    """Return the network of search engines, by default an empty one, whose answers are parsed in this process."""
    return SearchApi(api or FakeFetcher(), InProcessExtractor())


class FakeEngine:
    """An engine that always returns `answer`. `requests` lists the requests it received."""

    def __init__(
        self,
        answer: Sequence[Hit] | Exception | Hangs = (),
        name: str = "fake",
        supported_filters: frozenset[str] = frozenset(
            {"sites", "exclude_sites", "freshness", "language", "country", "news"}
        ),
    ) -> None:
        self.answer = answer
        self.requests: list[SearchRequest] = []
        self._name = name
        self._supported_filters = supported_filters

    @property
    def name(self) -> str:
        return self._name

    @property
    def supported_filters(self) -> frozenset[str]:
        return self._supported_filters

    async def search(self, request: SearchRequest) -> tuple[Hit, ...]:
        self.requests.append(request)
        if isinstance(self.answer, Hangs):
            await asyncio.Event().wait()
        if isinstance(self.answer, Exception):
            raise self.answer
        assert not isinstance(self.answer, Hangs)
        return tuple(self.answer)


class BrokenStore:
    """A store whose every method fails with `store_unavailable`. `calls` lists the methods called."""

    def __init__(self) -> None:
        self.calls: list[str] = []

    def put(
        self,
        artifact: Artifact,
        words: str,
        keys: Iterable[bytes] = (),
        packed: PackedText | None = None,
        *,
        indexed: Sequence[Span] | None = None,
    ) -> None:
        self._fail("put")

    def get(self, id: str) -> Artifact:
        self._fail("get")

    def part(self, id: str, start: int, end: int) -> ArtifactPart:
        self._fail("part")

    def recent(self, url: str, since: float) -> Artifact | None:
        self._fail("recent")

    def renew(self, id: str, fetched_at: float) -> bool:
        self._fail("renew")

    def search(self, words: Sequence[SearchWord], limit: int, filters: Filters = NO_FILTERS) -> tuple[Artifact, ...]:
        self._fail("search")

    def contains_words(self, words: Sequence[SearchWord]) -> tuple[bool, ...]:
        self._fail("contains_words")

    def list(self, limit: int, after: Place | None = None) -> tuple[ArtifactSummary, ...]:
        self._fail("list")

    def pin(self, id: str, pinned: bool) -> bool:
        self._fail("pin")

    def remove(self, *ids: str) -> frozenset[str]:
        self._fail("remove")

    def match(self, scope: Scope) -> frozenset[str]:
        self._fail("match")

    def add_mark(self, mark: ForgetMark) -> None:
        self._fail("add_mark")

    def last_mark(self) -> ForgetMark:
        raise KeyholeError(Code.STORE_UNAVAILABLE, "the fake medium failed")  # every call of a session reads it first

    def remove_traces(self, scope: Scope) -> Traces:
        self._fail("remove_traces")

    def erase(self) -> None:
        self._fail("erase")

    def collect(self) -> int:
        self._fail("collect")

    def stats(self) -> StoreStats:
        self._fail("stats")

    def verify(self) -> Verification:
        self._fail("verify")

    def warning(self) -> str:
        return ""

    def close(self) -> None:
        pass

    def remember(self, keys: Iterable[bytes]) -> None:
        self._fail("remember")

    def remembers(self, key: bytes) -> bool:
        self._fail("remembers")

    def keep_vectors(self, vectors: Mapping[bytes, bytes]) -> None:
        self._fail("keep_vectors")

    def vectors(self, keys: Sequence[bytes]) -> Mapping[bytes, bytes]:
        self._fail("vectors")

    def _fail(self, call: str) -> NoReturn:
        self.calls.append(call)
        raise KeyholeError(Code.STORE_UNAVAILABLE, "the fake medium failed")


# The type checker compares each fake with its port.
_PORTS: tuple[type[Fetcher], type[Api], type[Engine], type[Store], type[Extractor]] = (
    FakeFetcher,
    FakeFetcher,
    FakeEngine,
    BrokenStore,
    InProcessExtractor,
)


class MemoryCallLog(SqliteCallLog):
    """A log of calls in memory."""

    def __init__(
        self, clock: Callable[[], float], ttl: float, max_calls: int = MAX_CALLS, max_bytes: int = MAX_LOG_BYTES
    ) -> None:
        super().__init__(None, clock, ttl, max_calls, max_bytes)
