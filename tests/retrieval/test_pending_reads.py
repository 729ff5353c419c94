"""A page that is not read within its call is read on, and the same call gets its text later."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from keyhole.config.config import Config
from keyhole.errors import Code, KeyholeError
from keyhole.extract.workers.salvage import salvage
from keyhole.records import UNDIGESTED, Answer, Document, Hit, Page
from keyhole.render.answer import NOTICES
from keyhole.retrieval.pending_reads import MAX_PENDING, MAX_PENDING_BYTES, PendingReads, Read, start_read
from keyhole.retrieval.retrieve import Retrieval
from keyhole.retrieval.tenants import Tenants
from keyhole.store.open import LocalStores
from keyhole.websearch.panel import Panel
from tests.support.fakes import Clock, FakeEngine, FakeFetcher, InProcessExtractor, artifact, page
from tests.support.product import retrieval

URL = "https://a.example/valves"
BODY = "<title>Valves</title><p>Each valve is oiled once a week."
HIT = Hit(URL, "Valves", "About valves.", "fake")
SHORT = Config(timeout=0.5)  # seconds: a loaded machine starts the read within them
LONG = Config(timeout=30)


class GatedExtractor(InProcessExtractor):
    """Extracts pages once `gate` is set. `cancelled` lists the pages whose extraction was cancelled."""

    def __init__(self, error: KeyholeError | None = None) -> None:
        super().__init__()
        self.gate = asyncio.Event()
        self.error = error
        self.cancelled: list[str] = []

    async def extract(self, page: Page) -> tuple[Document, str]:
        try:
            await self.gate.wait()
        except asyncio.CancelledError:
            self.cancelled.append(page.url)
            raise
        if self.error:
            raise self.error
        return await super().extract(page)


def run(
    act: Callable[[Retrieval, GatedExtractor], Awaitable[Answer]],
    *,
    error: KeyholeError | None = None,
    engines: Sequence[FakeEngine] = (),
    config: Config = SHORT,
) -> tuple[Answer, Retrieval, GatedExtractor]:
    """Return what `act` returns for a product whose extractor has a gate, the product and the extractor."""

    async def work() -> tuple[Answer, Retrieval, GatedExtractor]:
        extractor = GatedExtractor(error)
        product = retrieval({URL: page(URL, BODY)}, config=config, extractor=extractor, engines=engines)
        return await act(product, extractor), product, extractor

    return asyncio.run(work())


def requests(product: Retrieval) -> list[str]:
    assert isinstance(product.pages.fetcher, FakeFetcher)
    return product.pages.fetcher.calls


def test_a_page_that_is_not_read_in_time_is_a_retryable_error_that_says_what_is_known() -> None:
    answer, product, _ = run(lambda product, _: product.web_fetch(URL))
    assert answer.text == (
        f"extraction_pending: the page was fetched ({len(BODY)} bytes), but not read within the time of the call. "
        f'Fetch again: web_fetch(url="{URL}"). The same call may succeed later.'
    )
    assert answer.facts == {"code": "extraction_pending", "retryable": True, "url": URL, "bytes": len(BODY)}
    assert product.store.list(9) == ()


def test_the_same_call_gets_the_whole_text_without_another_request() -> None:
    async def act(product: Retrieval, extractor: GatedExtractor) -> Answer:
        await product.web_fetch(URL)
        extractor.gate.set()
        return await replace(product, pages=replace(product.pages, config=LONG)).web_fetch(URL, refresh=True)

    answer, product, _ = run(act)
    assert "oiled once a week" in answer.text
    assert requests(product) == [URL]
    assert product.store.get(str(answer.facts["artifact_id"])).notice == ""


def test_a_second_call_waits_for_the_read_that_goes_on() -> None:
    async def act(product: Retrieval, extractor: GatedExtractor) -> Answer:
        late = [(await product.web_fetch(URL)).facts["code"] for _ in range(2)]
        assert late == ["extraction_pending"] * 2
        second = asyncio.create_task(replace(product, pages=replace(product.pages, config=LONG)).web_fetch(URL))
        await asyncio.sleep(0)
        extractor.gate.set()
        return await second

    answer, product, extractor = run(act)
    assert "oiled once a week" in answer.text
    assert requests(product) == [URL]
    assert extractor.cancelled == []


def test_a_late_page_of_a_search_is_named_and_read_on() -> None:
    async def act(product: Retrieval, extractor: GatedExtractor) -> Answer:
        answer = await product.search("oiled valves")
        extractor.gate.set()
        assert (
            "oiled once a week"
            in (await replace(product, pages=replace(product.pages, config=LONG)).web_fetch(URL)).text
        )
        return answer

    answer, product, _ = run(act, engines=[FakeEngine([HIT])])
    assert "(not read: extraction_pending)" in answer.text
    assert requests(product) == [URL]


def test_the_error_of_a_late_page_is_told_by_the_next_call() -> None:
    async def act(product: Retrieval, extractor: GatedExtractor) -> Answer:
        await product.web_fetch(URL)
        extractor.gate.set()
        return await replace(product, pages=replace(product.pages, config=LONG)).web_fetch(URL)

    answer, product, _ = run(act, error=KeyholeError(Code.ENCRYPTED_DOCUMENT, "it is encrypted"))
    assert answer.text.startswith("encrypted_document: it is encrypted.")
    assert requests(product) == [URL]


def test_a_cancelled_call_cancels_its_read() -> None:
    async def act(product: Retrieval, extractor: GatedExtractor) -> Answer:
        call = asyncio.create_task(product.web_fetch(URL))
        while not requests(product):  # noqa: ASYNC110 - the call proceeds in this loop and in threads
            await asyncio.sleep(0)
        call.cancel()
        await asyncio.wait([call])
        extractor.gate.set()
        return await product.web_fetch(URL)

    answer, product, _ = run(act, config=LONG)
    assert "oiled once a week" in answer.text
    assert requests(product) == [URL, URL]


def test_closing_cancels_the_reads_that_go_on(tmp_path: Path) -> None:
    async def act() -> list[str]:
        extractor, config = GatedExtractor(), replace(SHORT, home=tmp_path)
        network = FakeFetcher({URL: page(URL, BODY)})
        tenants = Tenants(config, network, LocalStores(config), lambda: Panel(()), Clock(), extractor)
        assert (await tenants.of("one").web_fetch(URL)).facts["code"] == "extraction_pending"
        await tenants.aclose()
        return extractor.cancelled

    assert asyncio.run(act()) == [URL]


# Bounds.


def keep(sizes: Sequence[int]) -> list[bool]:
    """Return for each read of a page of this size whether it is still kept after all of them were late."""

    async def act() -> list[bool]:
        reads = PendingReads()

        async def never() -> Read:
            await asyncio.Event().wait()
            return artifact(), True

        keys = [(b"tenant", f"{URL}{number}") for number in range(len(sizes))]
        for key, size in zip(keys, sizes, strict=True):
            with pytest.raises(KeyholeError, match="extraction_pending"):
                await reads.wait(key, start_read(page(URL, b"x" * size), never()), 0)
        assert reads.take((b"other", keys[-1][1]), bool) is None  # another tenant
        assert reads.take(keys[-1], lambda url: url != URL) is None  # a call that may not read this site
        kept = [reads.take(key, bool) for key in keys]
        for read in kept:
            if read:
                read.task.cancel()
        return [read is not None for read in kept]

    return asyncio.run(act())


def test_the_oldest_of_too_many_reads_is_cancelled() -> None:
    assert keep([1] * (MAX_PENDING + 2)) == [False] * 2 + [True] * MAX_PENDING


def test_reads_of_too_many_bytes_are_cancelled_but_the_newest_is_kept() -> None:
    half = MAX_PENDING_BYTES // 2 + 1
    assert keep([half, half, 1]) == [False, True, True]
    assert keep([1, MAX_PENDING_BYTES + 1]) == [False, True]


# Undigested texts.


class FailingExtractor(InProcessExtractor):
    """Salvages pages while `fails` is set, as a pool does for pages that no worker finishes."""

    fails = True

    async def extract(self, page: Page) -> tuple[Document, str]:
        return (
            salvage(page.body, page.url, page.content_type, "reading ended unexpectedly")
            if self.fails
            else await super().extract(page)
        )


WARNING = NOTICES[UNDIGESTED]


def test_every_result_that_shows_an_undigested_text_says_so() -> None:
    async def act() -> list[Answer]:
        engine = FakeEngine([HIT])
        product = retrieval({URL: page(URL, BODY)}, extractor=FailingExtractor(), engines=[engine])
        fetched = await product.web_fetch(URL)
        id = str(fetched.facts["artifact_id"])
        reads = [
            await product.read_artifact(id), await product.read_artifact(id, query="valve"),
            await product.read_artifact(id, find="oiled once"),
        ]  # fmt: skip
        searches = [await product.search("valve oiled"), await product.search("valve oiled", scope="stored")]
        assert [answer.facts.get("notice") for answer in (fetched, *reads)] == [UNDIGESTED] * 4
        return [fetched, *reads, *searches]

    for answer in asyncio.run(act()):
        assert WARNING in answer.text
        assert "oiled once a week" in answer.text


def test_an_undigested_text_is_never_fresh_and_the_next_read_replaces_it() -> None:
    async def act() -> None:
        extractor = FailingExtractor()
        product = retrieval({URL: page(URL, f"{BODY}<h2>Tools</h2>")}, extractor=extractor)
        bare = str((await product.web_fetch(URL)).facts["artifact_id"])
        extractor.fails = False
        answer = await product.web_fetch(URL)
        assert requests(product) == [URL, URL]
        assert "## Tools" in answer.text
        assert WARNING not in answer.text
        stored = await product.search("valve oiled", scope="stored")
        assert stored.facts["artifact_ids"] == [answer.facts["artifact_id"]]
        assert WARNING not in stored.text
        gone = await product.read_artifact(bare)
        assert gone.text.startswith("expired_artifact")
        assert f'web_fetch(url="{URL}")' in gone.text
        await product.web_fetch(URL)
        assert requests(product) == [URL, URL]  # the whole text is fresh

    asyncio.run(act())
