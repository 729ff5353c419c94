"""web_fetch of the address of an image."""

from __future__ import annotations

import asyncio
import io
from base64 import b64decode
from dataclasses import replace

import pytest
from PIL import Image

from keyhole.extract.workers.tasks import Result, Task
from keyhole.records import Answer, Hit
from keyhole.render.fit import result_json
from keyhole.retrieval.retrieve import Retrieval
from tests.support.fakes import FakeEngine, FakeFetcher, InProcessExtractor, page
from tests.support.product import retrieval

URL = "https://ships.example/tall.png"


def picture(width: int = 1_200, height: int = 900, url: str = URL) -> dict[str, object]:
    written = io.BytesIO()
    Image.new("RGB", (width, height), "red").save(written, "PNG")
    return {url: replace(page(url, ""), body=written.getvalue(), content_type="image/png")}


def fetch(product: Retrieval, **arguments: int) -> Answer:
    return asyncio.run(product.web_fetch(URL, **arguments))  # type: ignore[arg-type]


def size_of(answer: Answer) -> int:
    assert answer.picture
    return answer.picture.width * answer.picture.height


def test_the_address_of_an_image_gives_the_picture_and_says_what_it_is() -> None:
    answer = fetch(retrieval(picture()))
    assert not answer.is_error
    first, second, shown, caution, end = answer.text.split("\n")
    assert first == URL
    assert second.startswith("Image: PNG, 1,200 x 900 pixels, ")
    assert shown == "Shown with 1,200 x 900 pixels, about 1,440 tokens. It is not stored."
    assert "untrusted" in caution
    assert end == "[end]"
    assert answer.facts == {"width": 1_200, "height": 900}


def test_the_result_has_a_text_and_an_image_block() -> None:
    result = result_json(fetch(retrieval(picture())))
    text, image = result["content"]
    assert (text["type"], image["type"], image["mimeType"]) == ("text", "image", "image/png")
    assert Image.open(io.BytesIO(b64decode(image["data"]))).size == (1_200, 900)


@pytest.mark.parametrize("arguments", [{"max_chars": 500}, {"max_chars": 2_000}, {"max_tokens": 300}])
def test_the_budget_pays_for_the_pixels_and_the_text(arguments: dict[str, int]) -> None:
    answer = fetch(retrieval(picture()), **arguments)
    tokens = arguments.get("max_tokens", arguments.get("max_chars", 0) // 4)
    assert 0 < size_of(answer) <= 750 * (tokens - 100)
    assert len(answer.text) <= arguments.get("max_chars", 9_000)


def test_a_long_address_is_left_out_where_it_does_not_fit() -> None:
    url = URL + "?" + "x" * 600
    answer = asyncio.run(retrieval(picture(url=url)).web_fetch(url, max_chars=500))
    assert answer.picture
    assert len(answer.text) <= 500


def test_an_image_that_a_search_finds_is_not_shown() -> None:
    engine = FakeEngine([Hit(URL, "Tall ship", "A ship with masts.", "fake")])
    answer = asyncio.run(retrieval(picture(), engines=[engine]).search("tall ship"))
    assert answer.picture is None
    assert URL in answer.text


def test_the_images_of_a_page_are_named_and_not_fetched() -> None:
    site = "https://ships.example/"
    body = f'<p>The ship sails from the quay.</p><figure><img src="{URL}" alt="Tall ship"></figure>'
    product = retrieval({site: page(site, body), **picture()})
    answer = asyncio.run(product.web_fetch(site))
    assert "[Image: Tall ship](/tall.png)" in answer.text
    assert isinstance(product.pages.fetcher, FakeFetcher)
    assert product.pages.fetcher.calls == [site]


class LyingExtractor(InProcessExtractor):
    async def run(self, task: Task) -> Result:
        return {"media_type": "text/html", "width": 1, "height": 1}, b"<script>"


def test_a_worker_that_returns_something_else_is_not_believed() -> None:
    answer = fetch(retrieval(picture(), extractor=LyingExtractor()))
    assert answer.is_error
    assert answer.text.startswith("extraction_failed: ")
    assert answer.picture is None
