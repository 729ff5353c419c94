"""Measure how faithful the Markdown of real pages is: `python -m benchmarks.extraction.fidelity [FOLDER] [--missing]`.

Compares the parts of each page's HTML, read independently of the converter, with those of the parsed Markdown. Prints
one row for each page and the total; `--missing` also lists missing parts. Only the converter is measured: the complete
pruned body is converted, boilerplate included. Needs markdown-it-py and mdit-py-plugins (`pip install -e .[dev]`). The
same input prints the same figures.
"""

from __future__ import annotations

import re
import sys
from collections import Counter
from collections.abc import Iterator, Sequence
from difflib import SequenceMatcher
from pathlib import Path
from typing import Any, Final
from urllib.parse import unquote, urljoin, urlsplit

from lxml.html import HtmlElement
from markdown_it import MarkdownIt
from markdown_it.token import Token
from mdit_py_plugins.deflist import deflist_plugin
from mdit_py_plugins.footnote import footnote_plugin

from keyhole.extract.html.converter import to_markdown
from keyhole.extract.html.link_resolver import LinkResolver
from keyhole.extract.html.prune import prune
from keyhole.extract.html.tree import parse_html

FOLDER: Final = Path(__file__).resolve().parents[2] / "fixtures" / "reference"
BASE: Final = "https://reference.example/manual/page.html"
KINDS: Final = ("code", "languages", "cells", "headings", "items", "links", "images", "words")

_PARSER = MarkdownIt("commonmark", {"html": False}).enable("table").use(deflist_plugin).use(footnote_plugin)
_HEADINGS: Final = frozenset({"h1", "h2", "h3", "h4", "h5", "h6"})
_NOT_TABLES: Final = ".//table|.//h1|.//h2|.//h3|.//h4|.//h5|.//h6|.//blockquote|.//hr|.//details"
_NO_LETTERS = re.compile(r"[\W_]+")
_WORDS = re.compile(r"[^\W_]+")
_LANGUAGE = re.compile(r"(?:^|\s)(?:language-|lang-|brush:\s*|highlight-(?:source-|text-)?|sourceCode\s+)([\w+#-]+)")
_GUTTER = re.compile(r"(?:^|\s)(?:linenos|lineno|line-?numbers?|gutter|ln|lnt|blob-num)(?:\s|$)")


def keep_letters(text: str) -> str:
    """Return only the letters and digits, because marks, spaces and escapes differ between HTML and Markdown."""
    return _NO_LETTERS.sub("", text)


class PageParts:
    """The parts of one page by kind, in order."""

    def __init__(self) -> None:
        self.parts: dict[str, list[Any]] = {kind: [] for kind in KINDS}


# Parts of the HTML, read without the converter.


def parse_html_parts(body: HtmlElement, base: str) -> PageParts:
    """Return the parts of an HTML body."""
    page = PageParts()
    parts = page.parts
    for pre in body.iter("pre"):
        text = read_code(pre)
        # Some site generators nest <pre>: the inner one is the code.
        if not text.strip() or is_in_data_table(pre) or pre.xpath(".//pre"):
            continue
        parts["code"].append(text)
        language = find_language(pre)
        if language:
            parts["languages"].append((text, language))
    for table in body.iter("table"):
        if is_data_table(table):
            parts["cells"] += [text for cell in find_cells(table) if (text := keep_letters(read_cell(cell)))]
    for element in body.iter(*_HEADINGS):
        if text := keep_letters(read_heading(element)):
            parts["headings"].append((int(element.tag[1]), text))
    parts["items"] = [text for item in body.iter("li") if (text := keep_letters(read_item(item)))]
    for link in body.iter("a"):
        target = find_target(link, base)
        if target and keep_letters(link.text_content()) and link.getparent() is not None and keeps_address(link):
            parts["links"].append(target)
    parts["images"] = [
        text for image in body.iter("img") if (text := keep_letters(image.get("alt") or "")) and is_in_text(image)
    ]
    parts["words"] = _WORDS.findall(" ".join(iter_visible_text(body)))
    return page


def read_code(pre: HtmlElement) -> str:
    """Return the text of `<pre>` with line breaks for `<br>`, without line numbers and one line break at each end."""
    parts: list[str] = []

    def read(element: HtmlElement) -> None:
        if element.tag == "br":
            parts.append("\n")
        elif not (element is not pre and _GUTTER.search(element.get("class") or "") and has_only_numbers(element)):
            parts.append(element.text or "")
            for child in element:
                read(child)
                parts.append(child.tail or "")

    if not is_in_gutter(pre):
        read(pre)
    text = "".join(parts).replace("\r\n", "\n")
    text = text[1:] if text.startswith("\n") else text
    return text[:-1] if text.endswith("\n") else text


def has_only_numbers(element: HtmlElement) -> bool:
    """Return whether the text of an element consists of digits, as line numbers do."""
    return not element.text_content().strip(" \n\t0123456789.:")


def is_in_gutter(pre: HtmlElement) -> bool:
    """Return whether `<pre>` contains only the line numbers beside a code block."""
    cell = next(pre.iterancestors("td", "div"), None)
    near = [pre, *([] if cell is None else [cell])]
    return any(_GUTTER.search(element.get("class") or "") for element in near) and has_only_numbers(pre)


def find_language(pre: HtmlElement) -> str:
    """Return the language that the classes around `<pre>` name, or ""."""
    near = [*pre.xpath("./code"), pre, *list(pre.iterancestors())[:2]]
    for element in near:
        match = _LANGUAGE.search(element.get("class") or "")
        if match and match[1] not in {"none", "default", "highlight", "notranslate"}:
            return str(match[1]).lower()
    return ""


def is_data_table(table: HtmlElement) -> bool:
    """Return whether a table has several cells or a header, and cells without blocks."""
    if (
        table.get("role") in {"presentation", "none"}
        or "footnote" in (table.get("class") or "")
        or table.xpath(_NOT_TABLES)
    ):
        return False
    if any("\n" in read_code(pre) for pre in table.iter("pre")):
        return False
    count = len(find_cells(table))
    longest = max((len(cell.text_content()) for cell in find_cells(table)), default=0)
    rows = len(table.xpath(".//tr"))
    return (
        longest <= 3_000
        and (count > rows or bool(table.xpath(".//th")))
        and (rows > 1 or not table.xpath(".//p|.//div|.//li"))
    )


def is_in_data_table(element: HtmlElement) -> bool:
    """Return whether the closest table around an element is a data table."""
    table = next(element.iterancestors("table"), None)
    return table is not None and is_data_table(table)


def find_cells(table: HtmlElement) -> list[HtmlElement]:
    """Return the cells of a table in order."""
    return list(table.xpath(".//td|.//th"))


def read_cell(cell: HtmlElement) -> str:
    """Return the text of a cell, with the descriptions of its images."""
    images = [image.get("alt") or "" for image in cell.iter("img")]
    return " ".join(iter_visible_text(cell)) if not images else "".join(iter_text_and_descriptions(cell))


def iter_text_and_descriptions(cell: HtmlElement) -> Iterator[str]:
    """Yield the texts and the image descriptions of a cell in order."""
    for element in cell.iter():
        if element.tag == "img":
            yield (element.get("alt") or "")[:300]
        yield element.text or ""
        if element is not cell:
            yield element.tail or ""


def iter_visible_text(element: HtmlElement) -> Iterator[str]:
    """Yield the text of an element without formulas, which Markdown writes as TeX."""
    for text in element.xpath(".//text()[not(ancestor::math) and not(ancestor::*[contains(@class,'math')])]"):
        yield str(text)


def read_heading(heading: HtmlElement) -> str:
    """Return the text of a heading without permalink signs."""
    anchors = {id(link): link.text_content() for link in heading.iter("a") if is_permalink(link)}
    text = str(heading.text_content())
    for sign in anchors.values():
        text = text.replace(sign, "")
    return text


def is_permalink(link: HtmlElement) -> bool:
    """Return whether a link is the permalink sign of a heading."""
    return "#" in (link.get("href") or "") and link.text_content().strip() in {"¶", "#", "§", "Permalink", "🔗"}


def read_item(item: HtmlElement) -> str:
    """Return the text of a list item, or "" if it contains a block, a heading or a formula."""
    blocks = ".//p|.//ul|.//ol|.//pre|.//div|.//table|.//dl|.//br|.//h1|.//h2|.//h3|.//h4|.//blockquote|.//math"
    return "" if item.xpath(blocks) else "".join(map(str, item.xpath(".//text()")))


def find_target(link: HtmlElement, base: str) -> str:
    """Return the absolute HTTP address of a link, or "" if it has none or is a permalink."""
    href = (link.get("href") or "").strip()
    try:
        target = urljoin(base, href)
    except ValueError:
        return ""
    return unquote(target) if href and urlsplit(target).scheme in {"http", "https"} and not is_permalink(link) else ""


def keeps_address(link: HtmlElement) -> bool:
    """Return whether Markdown can keep a link's address: links in code, headings and footnotes may lose it."""
    around = {element.tag for element in link.iterancestors()}
    note = (link.get("class") or "").startswith("footnote") or link.get("role", "").startswith("doc-")
    raised = link.getparent().tag == "sup" or [child.tag for child in link] == ["sup"]
    back = "backref" in (link.get("class") or "")
    heading = bool(around & _HEADINGS) and (link.get("href") or "").startswith("#")
    return not heading and not around & {"pre", "code", "tt", "kbd", "samp"} and not note and not raised and not back


def is_in_text(image: HtmlElement) -> bool:
    """Return whether an image is neither a formula nor part of code or of a button."""
    formula = image.get("class") == "math" or image.xpath("ancestor::div[@class='math']")
    return not formula and next(image.iterancestors("pre", "code", "button"), None) is None


# Parts of the Markdown, as a Markdown parser reads it.


def parse_markdown_parts(markdown: str) -> PageParts:
    """Return the parts of a Markdown text."""
    page = PageParts()
    parts = page.parts
    tokens = _PARSER.parse(markdown)
    for index, token in enumerate(tokens):
        if token.type == "fence":
            text = token.content[:-1]
            parts["code"].append(text)
            parts["languages"].append((text, token.info.strip()))
        elif token.type == "heading_open":
            parts["headings"].append((int(token.tag[1]), keep_letters(read_inline(tokens[index + 1], images=False))))
        elif token.type in {"td_open", "th_open"}:
            if text := keep_letters(read_inline(tokens[index + 1]).replace("<br>", "\n")):
                parts["cells"].append(text)
        elif token.type == "list_item_open":
            following = next((later for later in tokens[index + 1 : index + 3] if later.type == "inline"), None)
            parts["items"].append(keep_letters(read_inline(following)) if following else "")
    for child in (child for token in tokens for child in token.children or []):
        if child.type == "link_open":
            parts["links"].append(unquote(str(child.attrs["href"])))
        elif child.type == "image":
            parts["images"].append(keep_letters(child.content))
    parts["images"] += [keep_letters(match) for match in re.findall(r"\[IMAGE: ([^\]]*)\]", markdown)]
    parts["words"] = _WORDS.findall(markdown)
    return page


def read_inline(token: Token | None, *, images: bool = True) -> str:
    """Return the text of a line; with `images`, also the descriptions of images."""
    parts = []
    for child in (token.children if token else None) or []:
        if child.type in {"text", "code_inline"} or (images and child.type == "image"):
            parts.append(child.content)
        elif child.type in {"softbreak", "hardbreak"}:
            parts.append("\n")
    return "".join(parts)


# The comparison.


def count_in_order(expected: Sequence[Any], actual: Sequence[Any]) -> int:
    """Return how many of the expected parts occur in `actual` in the same order."""
    return sum(block.size for block in SequenceMatcher(None, expected, actual, autojunk=False).get_matching_blocks())


def count_parts(kind: str, expected: PageParts, actual: PageParts) -> tuple[int, int]:
    """Return how many parts of a kind are intact in the Markdown, and how many the HTML has."""
    expected_parts, actual_parts = expected.parts[kind], actual.parts[kind]
    if kind in {"code", "cells", "headings"}:
        return count_in_order(expected_parts, actual_parts), len(expected_parts)
    missing = Counter(expected_parts) - Counter(actual_parts)
    return len(expected_parts) - sum(missing.values()), len(expected_parts)


def measure(path: Path) -> dict[str, tuple[int, int]]:
    """Return the figures of one page by kind."""
    root = parse_html(path.read_text("utf-8", "replace"))
    base = root.find(".//base[@href]")
    address = urljoin(BASE, base.get("href")) if base is not None else BASE
    prune(root)
    body = root.find("body")
    region = body if body is not None else root
    expected = parse_html_parts(region, address)
    actual = parse_markdown_parts(to_markdown(region, LinkResolver(address)))
    if "--missing" in sys.argv:
        for kind in KINDS[:-1]:
            for item in list((Counter(expected.parts[kind]) - Counter(actual.parts[kind])).elements())[:6]:
                print(path.stem, kind, repr(item)[:200], file=sys.stderr)
    return {kind: count_parts(kind, expected, actual) for kind in KINDS}


def main() -> None:
    """Print one row for each page, and the total."""
    folders = [argument for argument in sys.argv[1:] if not argument.startswith("--")]
    paths = sorted(Path(folders[0] if folders else FOLDER).glob("**/*.html"))
    total = dict.fromkeys(KINDS, (0, 0))
    print("| Page |", " | ".join(KINDS), "|")
    print("| --- |", " | ".join("---" for _ in KINDS), "|")
    for path in paths:
        figures = measure(path)
        for kind, (count, of) in figures.items():
            total[kind] = (total[kind][0] + count, total[kind][1] + of)
        print(f"| {path.stem} |", " | ".join(f"{count}/{of}" for count, of in figures.values()), "|")
    shares = (f"{count}/{of} ({count / max(1, of):.2%})" for count, of in total.values())
    print(f"| {len(paths)} pages |", " | ".join(shares), "|")


if __name__ == "__main__":
    main()
