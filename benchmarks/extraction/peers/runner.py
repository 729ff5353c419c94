"""Runs one extractor inside its own environment: JSON lines in, JSON lines out: `python runner.py SYSTEM`.

Imports nothing of this repository but the package that it measures, so that it runs wherever a peer is installed.
A line in is `{"html", "url"}`; a line out is `{"text", "ms", "error"}`. Only the call is timed: reading
the line, encoding it and importing the peer are not.
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
    """One page in the forms in which extractors take it."""

    html: str
    body: bytes
    url: str


Extractor = Callable[[Page], str]


def keyhole() -> Extractor:
    """Keyhole's public function. Its errors are raised and count as no text."""
    package: Any = importlib.import_module("keyhole")
    header = "text/html; charset=utf-8"
    return lambda page: str(package.extract(page.body, url=page.url, content_type=header).text)


def mcp_server_fetch() -> Extractor:
    """The function between its download and its answer, with Readability.js in Node as its authors mean it."""
    if not importlib.import_module("readabilipy.simple_json").have_node():
        raise SystemExit("readabilipy does not find Node, so this would not be what it measures")
    extract = importlib.import_module("mcp_server_fetch.server").extract_content_from_html
    failed = "<error>Page failed to be simplified from HTML</error>"

    def run(page: Page) -> str:
        text = str(extract(page.html))
        return "" if text == failed else text

    return run


def trafilatura() -> Extractor:
    """Markdown with every other setting as it is delivered."""
    extract = importlib.import_module("trafilatura").extract
    return lambda page: extract(page.html, url=page.url, output_format="markdown") or ""


def trafilatura_without_comments() -> Extractor:
    """The same without the readers' comments under an article."""
    extract = importlib.import_module("trafilatura").extract
    return lambda page: extract(page.html, url=page.url, output_format="markdown", include_comments=False) or ""


def resiliparse() -> Extractor:
    """Main content as text that keeps its blocks; it writes no Markdown."""
    extract = importlib.import_module("resiliparse.extract.html2text").extract_plain_text
    return lambda page: str(extract(page.html, main_content=True, preserve_formatting=True))


def newspaper4k() -> Extractor:
    """An article's title and text; it writes no Markdown. The page is handed over: nothing is downloaded."""
    article = importlib.import_module("newspaper").article

    def run(page: Page) -> str:
        read = article(page.url, input_html=page.html, fetch_images=False)
        return f"{read.title}\n\n{read.text}"

    return run


def html_to_markdown() -> Extractor:
    """The whole page converted, with its strictest preset for what to leave out."""
    package = importlib.import_module("html_to_markdown")
    options = package.ConversionOptions(preprocessing=package.PreprocessingOptions(preset="aggressive"))
    return lambda page: package.convert(page.html, options).content or ""


def crawl4ai() -> Extractor:
    """Its scraper, then "fit" Markdown by its pruning filter: what its crawler does once a browser has the page."""
    package = importlib.import_module("crawl4ai")
    scraper = importlib.import_module("crawl4ai.content_scraping_strategy").LXMLWebScrapingStrategy()
    filters = importlib.import_module("crawl4ai.content_filter_strategy")
    generator = package.DefaultMarkdownGenerator(content_filter=filters.PruningContentFilterLXML())

    def run(page: Page) -> str:
        cleaned = scraper.scrap(page.url, page.html).cleaned_html
        return generator.generate_markdown(cleaned, base_url=page.url, citations=False).fit_markdown or ""

    return run


def body_markdownify() -> Extractor:
    """What a few lines of glue do: drop the furniture by element name, convert the rest."""
    soup_class = importlib.import_module("bs4").BeautifulSoup
    converter = importlib.import_module("markdownify").MarkdownConverter(heading_style="ATX")
    furniture = ("script", "style", "nav", "footer", "aside", "header")

    def run(page: Page) -> str:
        soup = soup_class(page.html, "lxml")
        for element in soup(furniture):
            element.decompose()
        return str(converter.convert_soup(soup.body or soup))

    return run


def lxml_parse() -> Extractor:
    """A floor: libxml2 builds the tree, and nothing is done with it."""
    html = importlib.import_module("lxml.html")

    def run(page: Page) -> str:
        html.document_fromstring(page.body, parser=html.HTMLParser(encoding="utf-8", huge_tree=True))
        return ""

    return run


def lexbor_parse() -> Extractor:
    """A floor: lexbor builds the tree, and nothing is done with it."""
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
    """Extract one page and say how long it took; whatever a peer raises is its answer to that page."""
    asked = json.loads(line)
    html = asked["html"]
    page = Page(html, html.encode("utf-8", "replace"), asked["url"])
    text, error = "", None
    start = time.perf_counter()
    try:
        text = extractor(page)
    except Exception as problem:  # noqa: BLE001 - any error of any peer
        error = f"{getattr(problem, 'code', type(problem).__name__)}: {problem}"[:200]
    ms = 1_000 * (time.perf_counter() - start)
    return {"text": text, "ms": ms, "error": error}


def main() -> int:
    """Answer lines until there are no more. What a peer prints goes to the error stream, not among the answers."""
    answers = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)
    warnings.simplefilter("ignore")
    extractor = SYSTEMS[sys.argv[1]]()
    for line in sys.stdin.buffer:
        print(json.dumps(answer(extractor, line.decode())), file=answers, flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
