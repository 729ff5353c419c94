"""How faithful the Markdown of real pages is: what stands in the HTML, read by itself, against the Markdown, parsed.

`python -m benchmarks.extraction.fidelity [FOLDER]` prints one row for each page and the total. It measures the converter alone:
the whole pruned body is converted, so that the choice of the main content plays no part. Needs markdown-it-py and
mdit-py-plugins (`pip install -e .[dev]`). The same input prints the same figures.
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
from keyhole.extract.html.prune import prune
from keyhole.extract.html.tree import parse

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


def plain(text: str) -> str:
    """Letters and digits alone: marks, white space and escapes differ between the two forms."""
    return _NO_LETTERS.sub("", text)


class Page:
    """What one page has of each kind, in order."""

    def __init__(self) -> None:
        self.found: dict[str, list[Any]] = {kind: [] for kind in KINDS}


# What the HTML holds, read without the converter.


def expected(body: HtmlElement, base: str) -> Page:
    """What a reader of this HTML finds."""
    page = Page()
    found = page.found
    for pre in body.iter("pre"):
        text = code_text(pre)
        # Some builders put one <pre> around another: the inner one is the code.
        if not text.strip() or in_data_table(pre) or pre.xpath(".//pre"):
            continue
        found["code"].append(text)
        language = language_of(pre)
        if language:
            found["languages"].append((text, language))
    for table in body.iter("table"):
        if is_data(table):
            found["cells"] += [text for cell in cells(table) if (text := plain(cell_text(cell)))]
    for element in body.iter(*_HEADINGS):
        if text := plain(without_permalinks(element)):
            found["headings"].append((int(element.tag[1]), text))
    found["items"] = [text for item in body.iter("li") if (text := plain(own_text(item)))]
    for link in body.iter("a"):
        target = target_of(link, base)
        if target and plain(link.text_content()) and link.getparent() is not None and stands_alone(link):
            found["links"].append(target)
    found["images"] = [
        text for image in body.iter("img") if (text := plain(image.get("alt") or "")) and in_words(image)
    ]
    found["words"] = _WORDS.findall(" ".join(visible(body)))
    return page


def code_text(pre: HtmlElement) -> str:
    """The text of `<pre>`: a line break for `<br>`, no line numbers, and no line break of the markup at its ends."""
    parts: list[str] = []

    def read(element: HtmlElement) -> None:
        if element.tag == "br":
            parts.append("\n")
        elif not (element is not pre and _GUTTER.search(element.get("class") or "") and is_numbers(element)):
            parts.append(element.text or "")
            for child in element:
                read(child)
                parts.append(child.tail or "")

    if not in_gutter(pre):
        read(pre)
    text = "".join(parts).replace("\r\n", "\n")
    text = text[1:] if text.startswith("\n") else text
    return text[:-1] if text.endswith("\n") else text


def is_numbers(element: HtmlElement) -> bool:
    return not element.text_content().strip(" \n\t0123456789.:")


def in_gutter(pre: HtmlElement) -> bool:
    cell = next(pre.iterancestors("td", "div"), None)
    near = [pre, *([] if cell is None else [cell])]
    return any(_GUTTER.search(element.get("class") or "") for element in near) and is_numbers(pre)


def language_of(pre: HtmlElement) -> str:
    near = [*pre.xpath("./code"), pre, *list(pre.iterancestors())[:2]]
    for element in near:
        match = _LANGUAGE.search(element.get("class") or "")
        if match and match[1] not in {"none", "default", "highlight", "notranslate"}:
            return str(match[1]).lower()
    return ""


def is_data(table: HtmlElement) -> bool:
    """A table of more than one cell whose cells hold words, not blocks."""
    if (
        table.get("role") in {"presentation", "none"}
        or "footnote" in (table.get("class") or "")
        or table.xpath(_NOT_TABLES)
    ):
        return False
    if any("\n" in code_text(pre) for pre in table.iter("pre")):
        return False
    count = len(cells(table))
    longest = max((len(cell.text_content()) for cell in cells(table)), default=0)
    rows = len(table.xpath(".//tr"))
    return (
        longest <= 3_000
        and (count > rows or bool(table.xpath(".//th")))
        and (rows > 1 or not table.xpath(".//p|.//div|.//li"))
    )


def in_data_table(element: HtmlElement) -> bool:
    table = next(element.iterancestors("table"), None)
    return table is not None and is_data(table)


def cells(table: HtmlElement) -> list[HtmlElement]:
    return list(table.xpath(".//td|.//th"))


def cell_text(cell: HtmlElement) -> str:
    images = [image.get("alt") or "" for image in cell.iter("img")]
    return " ".join(visible(cell)) if not images else "".join(without_marks(cell))


def without_marks(cell: HtmlElement) -> Iterator[str]:
    for element in cell.iter():
        if element.tag == "img":
            yield (element.get("alt") or "")[:300]
        yield element.text or ""
        if element is not cell:
            yield element.tail or ""


def visible(element: HtmlElement) -> Iterator[str]:
    """The words of an element but formulas, whose TeX is written otherwise, and signs of permalinks."""
    for text in element.xpath(".//text()[not(ancestor::math) and not(ancestor::*[contains(@class,'math')])]"):
        yield str(text)


def without_permalinks(heading: HtmlElement) -> str:
    anchors = {id(link): link.text_content() for link in heading.iter("a") if is_permalink(link)}
    text = str(heading.text_content())
    for sign in anchors.values():
        text = text.replace(sign, "")
    return text


def is_permalink(link: HtmlElement) -> bool:
    return "#" in (link.get("href") or "") and link.text_content().strip() in {"¶", "#", "§", "Permalink", "🔗"}


def own_text(item: HtmlElement) -> str:
    """The words with which an item begins, up to the first block in it."""
    stop = item.xpath("(.//p|.//ul|.//ol|.//pre|.//div|.//table|.//dl|.//br|.//h1|.//h2|.//h3|.//h4|.//blockquote)[1]")
    texts: list[str] = []
    for event_text in item.xpath(".//text()"):
        parent = event_text.getparent()
        if stop and (parent is stop[0] or stop[0] in parent.iterancestors()) and event_text.is_text:
            break
        if stop and event_text.is_tail and (parent is stop[0]):
            break
        texts.append(str(event_text))
    return "" if item.xpath(".//h1|.//h2|.//h3|.//h4|.//math") or stop else "".join(texts)


def target_of(link: HtmlElement, base: str) -> str:
    href = (link.get("href") or "").strip()
    try:
        target = urljoin(base, href)
    except ValueError:
        return ""
    return unquote(target) if href and urlsplit(target).scheme in {"http", "https"} and not is_permalink(link) else ""


def stands_alone(link: HtmlElement) -> bool:
    """Whether a link's address can be kept: code has no links, and notes are tied by their number."""
    around = {element.tag for element in link.iterancestors()}
    note = (link.get("class") or "").startswith("footnote") or link.get("role", "").startswith("doc-")
    raised = link.getparent().tag == "sup" or [child.tag for child in link] == ["sup"]
    back = "backref" in (link.get("class") or "")
    heading = bool(around & _HEADINGS) and (link.get("href") or "").startswith("#")
    return not heading and not around & {"pre", "code", "tt", "kbd", "samp"} and not note and not raised and not back


def in_words(image: HtmlElement) -> bool:
    formula = image.get("class") == "math" or image.xpath("ancestor::div[@class='math']")
    return not formula and next(image.iterancestors("pre", "code", "button"), None) is None


# What the Markdown holds, as a Markdown parser reads it.


def actual(markdown: str) -> Page:
    """What a reader of this Markdown finds."""
    page = Page()
    found = page.found
    tokens = _PARSER.parse(markdown)
    for index, token in enumerate(tokens):
        if token.type == "fence":
            text = token.content[:-1]
            found["code"].append(text)
            found["languages"].append((text, token.info.strip()))
        elif token.type == "heading_open":
            found["headings"].append((int(token.tag[1]), plain(inline_text(tokens[index + 1], images=False))))
        elif token.type in {"td_open", "th_open"}:
            if text := plain(inline_text(tokens[index + 1]).replace("<br>", "\n")):
                found["cells"].append(text)
        elif token.type == "list_item_open":
            following = next((later for later in tokens[index + 1 : index + 3] if later.type == "inline"), None)
            found["items"].append(plain(inline_text(following)) if following else "")
    for child in (child for token in tokens for child in token.children or []):
        if child.type == "link_open":
            found["links"].append(unquote(str(child.attrs["href"])))
        elif child.type == "image":
            found["images"].append(plain(child.content))
    found["images"] += [plain(match) for match in re.findall(r"\[IMAGE: ([^\]]*)\]", markdown)]
    found["words"] = _WORDS.findall(markdown)
    return page


def inline_text(token: Token | None, *, images: bool = True) -> str:
    """The words of a line; a picture's description is one of them but in a heading."""
    parts = []
    for child in (token.children if token else None) or []:
        if child.type in {"text", "code_inline"} or (images and child.type == "image"):
            parts.append(child.content)
        elif child.type in {"softbreak", "hardbreak"}:
            parts.append("\n")
    return "".join(parts)


# The comparison.


def in_order(wanted: Sequence[Any], got: Sequence[Any]) -> int:
    """How many of what is wanted come in the same order."""
    return sum(block.size for block in SequenceMatcher(None, wanted, got, autojunk=False).get_matching_blocks())


def kept(kind: str, wanted: Page, got: Page) -> tuple[int, int]:
    """How many of a kind are there, of how many."""
    left, right = wanted.found[kind], got.found[kind]
    if kind in {"code", "cells", "headings"}:
        return in_order(left, right), len(left)
    missing = Counter(left) - Counter(right)
    return len(left) - sum(missing.values()), len(left)


def measure(path: Path) -> dict[str, tuple[int, int]]:
    """The figures of one page."""
    root = parse(path.read_text("utf-8", "replace"))
    base = root.find(".//base[@href]")
    address = urljoin(BASE, base.get("href")) if base is not None else BASE
    prune(root)
    body = root.find("body")
    region = body if body is not None else root
    wanted = expected(region, address)
    got = actual(to_markdown(region, address))
    if "--missing" in sys.argv:
        for kind in KINDS[:-1]:
            for item in list((Counter(wanted.found[kind]) - Counter(got.found[kind])).elements())[:6]:
                print(path.stem, kind, repr(item)[:200], file=sys.stderr)
    return {kind: kept(kind, wanted, got) for kind in KINDS}


def main() -> None:
    folders = [argument for argument in sys.argv[1:] if not argument.startswith("--")]
    paths = sorted(Path(folders[0] if folders else FOLDER).glob("**/*.html"))
    total = dict.fromkeys(KINDS, (0, 0))
    print("| Page |", " | ".join(KINDS), "|")
    print("| --- |", " | ".join("---" for _ in KINDS), "|")
    for path in paths:
        figures = measure(path)
        for kind, (there, of) in figures.items():
            total[kind] = (total[kind][0] + there, total[kind][1] + of)
        print(f"| {path.stem} |", " | ".join(f"{there}/{of}" for there, of in figures.values()), "|")
    shares = (f"{there}/{of} ({there / max(1, of):.2%})" for there, of in total.values())
    print(f"| {len(paths)} pages |", " | ".join(shares), "|")


if __name__ == "__main__":
    main()
