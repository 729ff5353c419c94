"""The progress of a fetch whose page takes long to read."""

from __future__ import annotations

import asyncio

from keyhole.records import Document, Page
from keyhole.retrieval.dispatch import dispatch
from tests.support.fakes import InProcessExtractor, page
from tests.support.product import retrieval

URL = "https://pumps.example/manual.pdf"


class SlowExtractor(InProcessExtractor):
    """Reads a page when `may_end` is set."""

    def __init__(self) -> None:
        super().__init__()
        self.may_end = asyncio.Event()

    async def extract(self, page: Page) -> tuple[Document, str]:
        await self.may_end.wait()
        return await super().extract(page)


def fetch(reports_wanted: int) -> tuple[str, list[tuple[float, float, str]]]:
    """Return the answer and the reports of a fetch whose page is read after so many reports."""
    reports: list[tuple[float, float, str]] = []

    async def run() -> str:
        extractor = SlowExtractor()

        async def listen(done: float, total: float, message: str) -> None:
            reports.append((done, total, message))
            if len(reports) == reports_wanted:
                extractor.may_end.set()

        if not reports_wanted:
            extractor.may_end.set()
        product = retrieval({URL: page(URL, "<p>They run.")}, extractor=extractor)
        return (await dispatch(product, "web_fetch", {"url": URL}, listen)).text

    return asyncio.run(run()), reports


def test_a_fetch_that_takes_long_reports_the_seconds_until_its_answer() -> None:
    text, reports = fetch(2)
    assert "They run." in text
    (first, most, message), (second, _, _) = reports
    assert 0 < first < second < most
    assert message.startswith("fetching and reading the page, ")


def test_a_fast_fetch_reports_nothing() -> None:
    assert fetch(0)[1] == []
