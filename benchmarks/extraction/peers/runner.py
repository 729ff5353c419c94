"""Run one extractor in its own environment: `python runner.py SYSTEM`, with JSON lines on stdin and stdout.

A line of input is `{"html", "url"}`; a line of output is `{"text", "ms", "error"}`. Only the extraction call is timed:
importing the peer, reading and encoding the line are not. Of this repository, only the measured package is imported, so
that the runner works in every peer's environment.
"""

from __future__ import annotations

import importlib
import json
import os
import sys
import time
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class Page:
    """A page as text and as bytes, because extractors take one or the other."""

    html: str
    body: bytes
    url: str


Extractor = Callable[[Page], str]


def keyhole() -> Extractor:
    """Return Keyhole's public function. Its errors count as empty text."""
    package: Any = importlib.import_module("keyhole")
    header = "text/html; charset=utf-8"
    return lambda page: str(package.extract(page.body, url=page.url, content_type=header).main)


def mcp_server_fetch() -> Extractor:
    """Return the function that mcp-server-fetch calls after a download, with Readability.js in Node.

    Without Node it would use another extractor.
    """
    if not importlib.import_module("readabilipy.simple_json").have_node():
        raise SystemExit("readabilipy does not find Node, so another extractor would be measured")
    extract = importlib.import_module("mcp_server_fetch.server").extract_content_from_html
    failed = "<error>Page failed to be simplified from HTML</error>"

    def run(page: Page) -> str:
        text = str(extract(page.html))
        return "" if text == failed else text

    return run


def trafilatura() -> Extractor:
    """Return trafilatura with Markdown as output and default settings otherwise."""
    extract = importlib.import_module("trafilatura").extract
    return lambda page: extract(page.html, url=page.url, output_format="markdown") or ""


def trafilatura_without_comments() -> Extractor:
    """Return trafilatura without the readers' comments below an article."""
    extract = importlib.import_module("trafilatura").extract
    return lambda page: extract(page.html, url=page.url, output_format="markdown", include_comments=False) or ""


def resiliparse() -> Extractor:
    """Return resiliparse, which extracts the main content as plain text with its blocks, not as Markdown."""
    extract = importlib.import_module("resiliparse.extract.html2text").extract_plain_text
    return lambda page: str(extract(page.html, main_content=True, preserve_formatting=True))


def newspaper4k() -> Extractor:
    """Return newspaper4k, which extracts an article's title and plain text. It downloads nothing here."""
    article = importlib.import_module("newspaper").article

    def run(page: Page) -> str:
        read = article(page.url, input_html=page.html, fetch_images=False)
        return f"{read.title}\n\n{read.text}"

    return run


def html_to_markdown() -> Extractor:
    """Return html-to-markdown, which converts the complete page, with its preset that removes most."""
    package = importlib.import_module("html_to_markdown")
    options = package.ConversionOptions(preprocessing=package.PreprocessingOptions(preset="aggressive"))
    return lambda page: package.convert(page.html, options).content or ""


def crawl4ai() -> Extractor:
    """Return Crawl4AI's scraper and "fit" Markdown by its pruning filter: its crawler's steps after the browser."""
    package = importlib.import_module("crawl4ai")
    scraper = importlib.import_module("crawl4ai.content_scraping_strategy").LXMLWebScrapingStrategy()
    filters = importlib.import_module("crawl4ai.content_filter_strategy")
    generator = package.DefaultMarkdownGenerator(content_filter=filters.PruningContentFilterLXML())

    def run(page: Page) -> str:
        cleaned = scraper.scrap(page.url, page.html).cleaned_html
        return generator.generate_markdown(cleaned, base_url=page.url, citations=False).fit_markdown or ""

    return run


def body_markdownify() -> Extractor:
    """Return a few lines of glue code: drop boilerplate by element name, convert the rest with markdownify."""
    soup_class = importlib.import_module("bs4").BeautifulSoup
    converter = importlib.import_module("markdownify").MarkdownConverter(heading_style="ATX")
    boilerplate = ("script", "style", "nav", "footer", "aside", "header")

    def run(page: Page) -> str:
        soup = soup_class(page.html, "lxml")
        for element in soup(boilerplate):
            element.decompose()
        return str(converter.convert_soup(soup.body or soup))

    return run


def lxml_parse() -> Extractor:
    """Return a parser that only builds the tree with libxml2: a lower bound of the time."""
    html = importlib.import_module("lxml.html")

    def run(page: Page) -> str:
        html.document_fromstring(page.body, parser=html.HTMLParser(encoding="utf-8", huge_tree=True))
        return ""

    return run


def lexbor_parse() -> Extractor:
    """Return a parser that only builds the tree with lexbor: a lower bound of the time."""
    parser = importlib.import_module("selectolax.lexbor").LexborHTMLParser

    def run(page: Page) -> str:
        parser(page.body)
        return ""

    return run


SYSTEMS: dict[str, Callable[[], Extractor]] = {
    "keyhole": keyhole,
    "mcp-server-fetch": mcp_server_fetch,
    "trafilatura": trafilatura,
    "trafilatura, no comments": trafilatura_without_comments,
    "resiliparse": resiliparse,
    "newspaper4k": newspaper4k,
    "html-to-markdown": html_to_markdown,
    "crawl4ai, fit": crawl4ai,
    "body through markdownify": body_markdownify,
    "lxml, parse only": lxml_parse,
    "lexbor, parse only": lexbor_parse,
}


def answer(extractor: Extractor, line: str) -> dict[str, Any]:
    """Return the text of a page with the milliseconds of its extraction. An exception of a peer becomes the error."""
    request = json.loads(line)
    html = request["html"]
    page = Page(html, html.encode("utf-8", "replace"), request["url"])
    text, error = "", None
    start = time.perf_counter()
    try:
        text = extractor(page)
    except Exception as problem:  # noqa: BLE001 - any error of any peer
        error = f"{getattr(problem, 'code', type(problem).__name__)}: {problem}"[:200]
    ms = 1_000 * (time.perf_counter() - start)
    return {"text": text, "ms": ms, "error": error}


def main() -> int:
    """Answer every line of stdin. What a peer prints goes to stderr, so that it does not mix with the answers."""
    answers = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)
    warnings.simplefilter("ignore")
    extractor = SYSTEMS[sys.argv[1]]()
    for line in sys.stdin.buffer:
        print(json.dumps(answer(extractor, line.decode())), file=answers, flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
