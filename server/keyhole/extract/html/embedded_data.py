"""Read the text that a page contains as data for its scripts.

Sources are JSON-LD, JSON in scripts (such as `__NEXT_DATA__`), JSON assigned or pushed in a script
(`window.__INITIAL_STATE__ = {...}`), JSON in the attributes of a mount node, `<noscript>`, and shadow roots. Scripts
are not run, and data that is not JSON is ignored.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from functools import lru_cache
from itertools import islice
from typing import Final

from lxml import etree, html
from lxml.html import HtmlElement

from keyhole.extract.failures.js_shell import asks_for_scripts
from keyhole.extract.html.converter import to_markdown
from keyhole.extract.html.link_resolver import LinkResolver
from keyhole.extract.html.metadata import MAX_JSON, fold_text, iter_texts, parse_lenient_json
from keyhole.extract.html.prune import prune
from keyhole.extract.html.tree import parse_html
from keyhole.text.clean import clean
from keyhole.text.escape import escape_markdown
from keyhole.text.invalid_characters import unescape

MAX_TEXT: Final = 200_000
"""Largest length of the Markdown, in characters. A long article has 50,000."""
MAX_PIECES: Final = 1_000
"""Largest number of strings collected. Each is compared with all before it."""
MAX_MARKUP: Final = 500_000
"""Largest total length of converted HTML, in characters. Conversion is the most expensive step."""
MAX_DATA: Final = 8_000_000
"""Largest total length of parsed JSON, in characters, including nested JSON and failed attempts. Pages of large shops
have 3 million."""
MAX_VALUES: Final = 200_000
"""Largest number of values visited in one JSON tree."""
MAX_ELEMENTS: Final = 2_000
"""Largest number of `<script>`, `<noscript>` and `<template>` elements read. Real pages have up to 450."""
MIN_SENTENCE: Final = 40
"""Least length of prose, in characters. Shorter strings are labels, names and settings."""

_MOUNT_DATA = etree.XPath("descendant::*[@data-page or @data-props or @data-preloaded or @data-react-props]")
_MOUNT_ATTRIBUTES = ("data-page", "data-props", "data-preloaded", "data-react-props")
_SCRIPT_TYPES = frozenset({"", "module", "text/javascript", "application/javascript", "text/ecmascript"})
_TEXT_TYPES = frozenset({"text/markdown", "text/x-markdown"})

# Assignments: `window.__STATE__ = {`, `var pageData = [`, `window["x"] = JSON.parse("`. Below: the streams of Next.js
# and React Router.
_ASSIGNMENT = re.compile(
    r"(?:window\.|self\.|globalThis\.|(?:window|self)\[[\"']|(?:var|let|const)\s{1,5})([\w$]{2,60})(?:[\"']\])?"
    r"\s{0,5}=\s{0,5}(?:JSON\.parse\(\s{0,5}(?=\")|(?=\{\s{0,50}[\"}]|\[\s{0,50}[{\[\"\d\]]))"
)
_STATE_NAME = re.compile(
    r"__\w+__|state|data|props|store|preload|initial|page|apollo|article|product|context|content", re.IGNORECASE
)
_PUSH_CALL = re.compile(r"(?:__next_f|[\w$]{1,40}\.streamController)\.(?:push|enqueue)\(\s{0,5}(?=[\[\"])")
_ROW = re.compile(r"[0-9a-f]{1,8}:(?:[A-Z]{1,2}[0-9a-f]{1,8},|I(?=\[))?")

# Keys whose strings are not content of this page: settings, interface texts, other pages, styles, logs.
_CONFIG_KEY = re.compile(
    r"i18n|translat|messages$|^locales?$|^intl$|^lang|dictionar|^strings$|^labels?$|^resources$|config|settings|^env$"
    r"|tracking|analytic|^gtm|datalayer|consent|cookie|privacy|legal|^css|styles?$|class(?:name|es)?$|scripts?$|^js$"
    r"|^query$|graphql|headers$|useragent|feature_?flags?|experiment|^flags$|^nav|(?:main|top|side)_?menu|footer|^ads?$|advert|theme"
    r"|svg|icons?$|^assets|manifest|chunks|^errors?$|stack_?trace|related|recommend|trending|recirc|_?seo$|schema_?org"
    r"|newsletter|subscri|signup|login|captcha|token|csrf|placeholder|tooltip|^aria|^alt|copyright|banner|^meta",
    re.IGNORECASE,
)
_TITLE_KEYS = ("headline", "title", "heading", "name", "question")
_IDENTIFIER = re.compile(r"[a-z0-9_.:/-]*|[^\s_/{}<>\[\]]*+[_/{}<>\[\]]\S*")
_BARE_TITLE = re.compile(r"## [^\n]*")
_MARKUP = re.compile(r"<(?:p|div|h[1-6]|ul|ol|li|br|strong|em|a|span|b|i|table|section|article|blockquote|pre)\b", re.I)
_CODE = re.compile(
    r"\bfunction\b[^.]{0,40}\(|=>|[{};]\s{0,9}[\w.#-]{1,40}\s{0,3}[:=({]|\bvar\(--|!important|</script|[;{}]\s{0,9}$"
    r"|[\w)]\.[a-z]\w{1,40}\(|^\s{0,9}(?:query|mutation|fragment|let|const|var|import|export|return|await)\s"
    r"|^\s{0,9}(?:https?:|data:|[{\[/#.@]|M\d|\w+\.\w+ ?=)",
    re.IGNORECASE,
)
_SENTENCE = re.compile(r"[.!?,…。！？，、؟،।]|^[^\W\d_a-z].*[:;]", re.DOTALL)
# Notices that shops and newsletters repeat on every page.
_LEGAL_NOTICE = re.compile(
    r"(?i)cookie|privacy policy|terms (?:of|and|&)|unsubscribe|i (?:consent|agree)|by signing up"
)
_DENSE_SCRIPT = re.compile(r"[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af\u0e00-\u0e7f]")
_RICH_KIND = re.compile(r"(?:p$|para|block|heading|h[1-6]$|quote|li$|list|text|code|normal)", re.IGNORECASE)
_DECODER = json.JSONDecoder(strict=False)


def read_embedded_text(root: HtmlElement, links: LinkResolver) -> str:
    """Return the prose in a page's data as Markdown, in document order and without repetitions, or "".

    `root` is the unpruned tree. Never raises for any tree.
    """
    collector = _TextCollector(links)
    for element in islice(root.iter("script", "noscript", "template"), MAX_ELEMENTS):
        if element.tag == "script":
            collector.collect_script(element)
        elif element.tag == "noscript" or {"shadowrootmode", "shadowroot"} & set(element.attrib):
            collector.collect_elements(element)
    for element in _MOUNT_DATA(root)[:MAX_ELEMENTS]:
        for name in _MOUNT_ATTRIBUTES:
            collector.collect_json(element.get(name, ""))
    return collector.join_pieces()


class _TextCollector:
    """A collector of texts that counts how much of each limit remains."""

    def __init__(self, links: LinkResolver) -> None:
        self._links = links
        self._pieces: list[str] = []
        self._seen = ""
        self._keys: set[str] = set()
        self._heading = ""
        self._pieces_tried = 0
        self._data_left = MAX_DATA
        self._markup_left = MAX_MARKUP
        self._text_left = MAX_TEXT

    def join_pieces(self) -> str:
        """Return all pieces as Markdown, without headings that have no text."""
        lines: list[str] = []
        for piece in reversed(self._pieces):
            following = lines[-1] if lines else "## "
            if not (_BARE_TITLE.fullmatch(piece) and following.startswith("## ")):
                is_list = piece.startswith("- ") and following.startswith("- ") and lines
                lines.append(piece if is_list else f"{piece}\n")
        return "\n".join(reversed(lines))

    def collect_script(self, script: HtmlElement) -> None:
        """Collect the text in one script, according to its type."""
        text = script.text or ""
        kind = script.get("type", "")[:100].partition(";")[0].strip().lower()
        if not text.strip() or script.get("src"):
            return
        if kind in _TEXT_TYPES:
            self._add(text)
        elif kind.endswith("ld+json"):
            for heading, piece in iter_texts(self._parse(text)):
                self._add(piece, heading)
        elif kind.endswith("json") and not _is_config(script.get("id", "")[:200]):
            self.collect_json(text)
        elif kind in _SCRIPT_TYPES:
            self._read_assignments(text)

    def collect_json(self, text: str) -> None:
        """Collect the prose in a JSON text."""
        if text.lstrip()[:1] in {"{", "["}:
            self._add_prose(self._parse(text))

    def collect_elements(self, element: HtmlElement) -> None:
        """Collect the text of a `<noscript>` element or a shadow root."""
        words = " ".join(islice(element.itertext(), 50))[:1_000]
        if self._markup_left <= 0 or not words.strip() or asks_for_scripts(words):
            return
        source = html.tostring(element, encoding="unicode", with_tail=False)
        copy = parse_html(source[: self._markup_left])
        self._markup_left -= len(source)  # all of it: nested elements are serialized again
        for inner in list(copy.iter("noscript", "template")):
            inner.tag = "div"
        for picture in list(copy.iter("img", "link", "meta")):
            picture.drop_tree()
        prune(copy)
        self._add(to_markdown(copy, self._links), is_markdown=True)

    def _read_assignments(self, script: str) -> None:
        for match in _ASSIGNMENT.finditer(script):
            if _STATE_NAME.search(match[1]) and not _is_config(match[1]):
                value = self._decode_at(script, match.end())
                self._add_prose(parse_lenient_json(value) if isinstance(value, str) else value)
        values = [self._decode_at(script, match.end()) for match in islice(_PUSH_CALL.finditer(script), MAX_ELEMENTS)]
        stream = "".join(text for value in values for text in (value if isinstance(value, list) else [value])
                         if isinstance(text, str))  # fmt: skip
        for row in stream.split("\n")[:MAX_VALUES] if stream else ():
            payload = row[head.end() :] if (head := _ROW.match(row)) else row
            self._add_prose(self._parse(payload) if payload[:1] in {"{", "["} else payload)

    def _parse(self, text: str) -> object:
        self._data_left -= len(text)
        return parse_lenient_json(text) if self._data_left >= 0 else None

    def _decode_at(self, text: str, start: int) -> object:
        """Parse the JSON value that begins at `start`, or return None. Failed attempts count towards `MAX_DATA`."""
        if self._data_left <= 0:
            return None
        try:
            value, end = _DECODER.raw_decode(text, start)
        except json.JSONDecodeError as error:
            # Creating the error takes time too: it counts the lines before its position.
            self._data_left -= max(1_000, error.pos - start, error.pos // 8)
            return None
        except (ValueError, RecursionError):
            self._data_left -= len(text) - start
            return None
        self._data_left -= end - start
        return value if end - start <= MAX_JSON else None

    def _add_prose(self, value: object) -> None:
        for heading, text in _iter_prose(value, self._parse):
            self._add(text, heading)

    def _add(self, text: str, heading: str = "", *, is_markdown: bool = False) -> None:
        """Add a text under its heading, unless it is a repetition or a limit is reached."""
        if self._pieces_tried >= MAX_PIECES or self._text_left <= 0:
            return
        if not is_markdown and _MARKUP.search(text[:5_000]):
            text = self._convert(parse_html(text[: self._markup_left]))
        elif not is_markdown:
            text = escape_markdown(clean(unescape(text)))
        text = text.strip()[: self._text_left]
        # Compare a short text together with its heading: a price belongs to the product above it.
        key = fold_text(f"{heading} {text}" if len(text) < 2 * MIN_SENTENCE else text[:400])[:120]
        if not key or key in self._keys:
            return
        self._keys.add(key)
        self._pieces_tried += 1
        if key in self._seen:
            return
        self._seen += fold_text(text) + "\n"
        opening = text.partition("\n")[0]
        if heading and heading != self._heading and fold_text(heading) != fold_text(opening.replace("- ", "item ")):
            text = f"## {escape_markdown(clean(heading))}\n\n{text}"
            self._heading = heading
        self._text_left -= len(text)
        self._pieces.append(text)

    def _convert(self, root: HtmlElement) -> str:
        self._markup_left -= sum(map(len, root.itertext())) + 100
        if self._markup_left <= 0:
            return ""
        prune(root)
        return to_markdown(root, self._links)


def _iter_prose(value: object, parse_json: Callable[[str], object]) -> Iterator[tuple[str, str]]:
    """Yield the headings and prose of a JSON value in document order. JSON inside strings is parsed too.

    The title of an object is the heading of its first text; other texts have the heading "".
    """
    pending: list[tuple[object, list[str]]] = [(value, [])]
    steps_left = MAX_VALUES
    while pending and steps_left:
        steps_left -= 1
        node, heading = pending.pop()
        if isinstance(node, str):
            if len(node) > MIN_SENTENCE and node[0] in "{[":
                pending.append((parse_json(node), heading))
            elif is_prose(node):
                yield (heading.pop() if heading else ""), node
        elif isinstance(node, list):
            pending.extend((item, heading) for item in reversed(node))
        elif isinstance(node, dict):
            if line := _read_rich_line(node):
                yield "", line
                continue
            names = (node.get(key) for key in _TITLE_KEYS)
            title = next((unescape(name) for name in names if isinstance(name, str) and _is_title(name)), "")
            own_heading = [" ".join(title.split())] if title else heading
            pending.extend((item, own_heading) for key, item in reversed(node.items()) if not _is_config(key[:60]))


@lru_cache(maxsize=4_096)
def _is_config(name: str) -> bool:
    return _CONFIG_KEY.search(name) is not None


def _is_title(name: str) -> bool:
    return 2 < len(name) < 150 and _IDENTIFIER.fullmatch(name) is None


def is_prose(text: str) -> bool:
    """Return whether a string is sentences or HTML, and not code, a style, a URL or an identifier."""
    sample = text[:600]
    if len(_DENSE_SCRIPT.findall(sample)) >= MIN_SENTENCE // 2:
        return _CODE.search(sample) is None
    if len(text) < MIN_SENTENCE or sample.count(" ") < 5 or (len(text) < 500 and _LEGAL_NOTICE.search(text)):
        return False
    if _MARKUP.search(sample):
        return not sample.lstrip().lower().startswith(("<script", "<style", "<svg"))
    letters = sum(char.isalpha() or char == " " for char in sample)
    return letters >= 0.8 * len(sample) and _SENTENCE.search(sample) is not None and not _CODE.search(sample)


def _read_rich_line(node: dict[str, object]) -> str:
    """Return a paragraph or heading of a rich text tree (Contentful, Slate, ProseMirror, Portable Text), or ""."""
    kind = next((kind for key in ("nodeType", "type", "_type", "tag") if isinstance(kind := node.get(key), str)), "")
    children = next((part for key in ("content", "children") if isinstance(part := node.get(key), list)), [])
    if not _RICH_KIND.match(kind) or not any(isinstance(child, dict) and _read_leaf(child) for child in children):
        return ""
    pending: list[object] = children[::-1]
    words: list[str] = []
    while pending and len(words) < 500:
        child = pending.pop()
        if isinstance(child, dict):
            words.append(_read_leaf(child))
            inner = child.get("content") or child.get("children")
            pending.extend(inner[::-1] if isinstance(inner, list) else [])
    line = " ".join("".join(words).split())
    is_heading = "head" in kind or re.fullmatch(r"h[1-6]", str(node.get("style") or kind))
    return f"## {line}" if line and is_heading else line


def _read_leaf(node: dict[str, object]) -> str:
    text = node.get("text", node.get("value"))
    return text if isinstance(text, str) else ""
