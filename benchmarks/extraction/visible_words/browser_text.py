"""Read the visible text of pages in Chromium, and keep it in a cache."""

from __future__ import annotations

import gzip
import hashlib
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Final

from tests.support.chromium import Chromium, ChromiumError

CACHE: Final = Path.home() / ".cache" / "keyhole-benchmarks" / "visible-words"
VISIBLE_TEXT: Final = """(() => {
    // Browsers that run scripts show no <noscript>. The text of form fields is a value, not text of the page.
    for (const element of document.querySelectorAll("noscript, select, datalist, textarea")) element.remove();
    const style = document.createElement("style");
    style.textContent = "* { text-transform: none !important }";
    document.documentElement.append(style);
    if (!document.body) return "";
    // innerText leaves out what is not laid out, but not what is transparent, clipped away or outside of the page.
    const isUnseen = (element) => {
        const style = getComputedStyle(element), box = element.getBoundingClientRect();
        const clipped = /^rect\\((0|1)px, \\1px, \\1px, \\1px\\)$/.test(style.clip)
            || /^inset\\((50|100)%\\)$/.test(style.clipPath);
        const outside = box.width && box.height && (box.right + scrollX <= 0 || box.bottom + scrollY <= 0);
        return style.opacity === "0" || clipped || outside || parseFloat(style.textIndent) < -900;
    };
    const texts = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT), tiny = [];
    while (texts.nextNode()) {
        if (getComputedStyle(texts.currentNode.parentElement).fontSize === "0px") tiny.push(texts.currentNode);
    }
    for (const element of [...document.body.querySelectorAll("*")].filter(isUnseen).concat(tiny)) element.remove();
    return document.body.innerText;
})()"""
"""JavaScript that returns the text that a page shows, in the case of its source."""


def read_visible_texts(pages: Iterable[tuple[str, str]], cache: Path = CACHE) -> Iterator[str]:
    """Yield the visible text of each page, given as (URL, HTML). A page that Chromium cannot load has none.

    Chromium runs no scripts and reaches no network. It starts only if a page is not in the cache.
    """
    cache.mkdir(parents=True, exist_ok=True)
    browser: Chromium | None = None
    try:
        for url, html in pages:
            digest = hashlib.sha256("\0".join([VISIBLE_TEXT, url, html]).encode("utf-8", "replace")).hexdigest()
            file = cache / f"{digest}.txt.gz"
            if not file.exists():
                browser = browser or Chromium()
                try:
                    text = read_visible_text(browser, url, html)
                except (ChromiumError, TimeoutError):
                    browser.close()
                    browser = None
                    text = ""
                file.write_bytes(gzip.compress(text.encode("utf-8", "replace")))
            yield gzip.decompress(file.read_bytes()).decode()
    finally:
        if browser:
            browser.close()


def read_visible_text(browser: Chromium, url: str, html: str) -> str:
    """Return the text that Chromium shows for a page."""
    with browser.page(html, url=url) as page:
        return str(page.evaluate(VISIBLE_TEXT))
