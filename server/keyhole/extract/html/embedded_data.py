"""Text that a page carries as data for its scripts, and whether a page is a shell that scripts fill. Runs nothing.

Read are JSON-LD, JSON in scripts (`__NEXT_DATA__` and its like), plain JSON assigned or pushed in a script
(`window.__INITIAL_STATE__ = {...}`), JSON in the attributes of a mount node, `<noscript>`, and shadow roots. Scripts
that compute their data are left alone: what is not JSON is not guessed at.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from functools import lru_cache
from html import unescape
from itertools import islice
from typing import Final

from lxml import etree, html
from lxml.html import HtmlElement

from keyhole.extract.decode import tidy
from keyhole.extract.failures.js_shell import asks_for_scripts
from keyhole.extract.html.converter import to_markdown
from keyhole.extract.html.jsonld import MAX_JSON, read_json, readable, squashed
from keyhole.extract.html.prune import prune
from keyhole.extract.html.tree import parse
from keyhole.text.escape import escaped

MAX_TEXT: Final = 200_000
"""Characters of Markdown that are made: a long article has 50,000."""
MAX_PIECES: Final = 1_000
"""Strings that are taken: each is compared with all that was taken before."""
MAX_MARKUP: Final = 500_000
"""Characters of HTML in strings that are converted: converting is the dearest step."""
MAX_DATA: Final = 8_000_000
"""Characters of JSON that are parsed, nested and failed attempts counted; large shops carry 3 million."""
MAX_VALUES: Final = 200_000
"""Values of one JSON tree that are walked."""
MAX_ELEMENTS: Final = 2_000
"""Scripts, noscripts and templates that are looked at: real pages have up to 450."""
MIN_SENTENCE: Final = 40
"""Characters of a string that may be prose: shorter ones are labels, names and settings."""

_MOUNT_DATA = etree.XPath("descendant::*[@data-page or @data-props or @data-preloaded or @data-react-props]")
_MOUNT_ATTRIBUTES = ("data-page", "data-props", "data-preloaded", "data-react-props")
_SCRIPT_TYPES = frozenset({"", "module", "text/javascript", "application/javascript", "text/ecmascript"})
_TEXT_TYPES = frozenset({"text/markdown", "text/x-markdown"})

# `window.__STATE__ = {`, `var pageData = [`, `window["x"] = JSON.parse("`; and the streams of Next.js and React Router.
_ASSIGNED = re.compile(
    r"(?:window\.|self\.|globalThis\.|(?:window|self)\[[\"']|(?:var|let|const)\s{1,5})([\w$]{2,60})(?:[\"']\])?"
    r"\s{0,5}=\s{0,5}(?:JSON\.parse\(\s{0,5}(?=\")|(?=\{\s{0,50}[\"}]|\[\s{0,50}[{\[\"\d\]]))"
)
_STATE_NAME = re.compile(
    r"__\w+__|state|data|props|store|preload|initial|page|apollo|article|product|context|content", re.IGNORECASE
)
_PUSHED = re.compile(r"(?:__next_f|[\w$]{1,40}\.streamController)\.(?:push|enqueue)\(\s{0,5}(?=[\[\"])")
_ROW = re.compile(r"[0-9a-f]{1,8}:(?:[A-Z]{1,2}[0-9a-f]{1,8},|I(?=\[))?")

# Keys whose strings are no content of this page: settings, words of the interface, other pages, looks, logs.
_CONFIG_KEY = re.compile(
    r"i18n|translat|messages$|^locales?$|^intl$|^lang|dictionar|^strings$|^labels?$|^resources$|config|settings|^env$"
    r"|tracking|analytic|^gtm|datalayer|consent|cookie|privacy|legal|^css|styles?$|class(?:name|es)?$|scripts?$|^js$"
    r"|^query$|graphql|headers$|useragent|feature_?flags?|experiment|^flags$|^nav|(?:main|top|side)_?menu|footer|^ads?$|advert|theme"
    r"|svg|icons?$|^assets|manifest|chunks|^errors?$|stack_?trace|related|recommend|trending|recirc|_?seo$|schema_?org"
    r"|newsletter|subscri|signup|login|captcha|token|csrf|placeholder|tooltip|^aria|^alt|copyright|banner|^meta",
    re.IGNORECASE,
)
_TITLE_KEYS = ("headline", "title", "heading", "name", "question")
_IDENTIFIER = re.compile(r"[a-z0-9_.:/-]*|\S*[_/{}<>\[\]]\S*")
_BARE_TITLE = re.compile(r"## [^\n]*")
_MARKUP = re.compile(r"<(?:p|div|h[1-6]|ul|ol|li|br|strong|em|a|span|b|i|table|section|article|blockquote|pre)\b", re.I)
_CODE = re.compile(
    r"\bfunction\b[^.]{0,40}\(|=>|[{};]\s{0,9}[\w.#-]{1,40}\s{0,3}[:=({]|\bvar\(--|!important|</script|[;{}]\s{0,9}$"
    r"|[\w)]\.[a-z]\w{1,40}\(|^\s{0,9}(?:query|mutation|fragment|let|const|var|import|export|return|await)\s"
    r"|^\s{0,9}(?:https?:|data:|[{\[/#.@]|M\d|\w+\.\w+ ?=)",
    re.IGNORECASE,
)
_SENTENCE = re.compile(r"[.!?,…。！？，、؟،।]|^[^\W\d_a-z].*[:;]", re.DOTALL)
# What shops and newsletters say of themselves on every page.
_FORMALITY = re.compile(r"(?i)cookie|privacy policy|terms (?:of|and|&)|unsubscribe|i (?:consent|agree)|by signing up")
_WIDE = re.compile(r"[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af\u0e00-\u0e7f]")
_RICH_KIND = re.compile(r"(?:p$|para|block|heading|h[1-6]$|quote|li$|list|text|code|normal)", re.IGNORECASE)
_DECODER = json.JSONDecoder(strict=False)


def embedded_text(root: HtmlElement, url: str = "") -> str:
    """Markdown of the text in a page's data, "" when there is none; `root` from `tree.parse`, nothing pruned yet.

    In document order, each text once. Never raises for any tree; what is not readable prose is left out.
    """
    gathered = _Gathered(url)
    for element in islice(root.iter("script", "noscript", "template"), MAX_ELEMENTS):
        if element.tag == "script":
            gathered.read_script(element)
        elif element.tag == "noscript" or {"shadowrootmode", "shadowroot"} & set(element.attrib):
            gathered.read_elements(element)
    for element in _MOUNT_DATA(root)[:MAX_ELEMENTS]:
        for name in _MOUNT_ATTRIBUTES:
            gathered.read_json(element.get(name, ""))
    return gathered.text()


class _Gathered:
    """The pieces taken so far and what is left of each bound."""

    def __init__(self, url: str) -> None:
        self._url = url
        self._pieces: list[str] = []
        self._seen = ""
        self._keys: set[str] = set()
        self._heading = ""
        self._tries = 0
        self._data_left = MAX_DATA
        self._markup_left = MAX_MARKUP
        self._room = MAX_TEXT

    def text(self) -> str:
        """All pieces as one Markdown text that ends with a line break; a title with nothing under it is left out."""
        kept: list[str] = []
        for piece in reversed(self._pieces):
            after = kept[-1] if kept else "## "
            if not (_BARE_TITLE.fullmatch(piece) and after.startswith("## ")):
                tight = piece.startswith("- ") and after.startswith("- ") and kept
                kept.append(piece if tight else f"{piece}\n")
        return "\n".join(reversed(kept))

    def read_script(self, script: HtmlElement) -> None:
        """The data in one script, by its type."""
        text = script.text or ""
        kind = script.get("type", "")[:100].partition(";")[0].strip().lower()
        if not text.strip() or script.get("src"):
            return
        if kind in _TEXT_TYPES:
            self._take(text)
        elif kind.endswith("ld+json"):
            for heading, piece in readable(self._parsed(text)):
                self._take(piece, heading)
        elif kind.endswith("json") and not _is_config(script.get("id", "")[:200]):
            self.read_json(text)
        elif kind in _SCRIPT_TYPES:
            self._read_assignments(text)

    def read_json(self, text: str) -> None:
        """The prose in a JSON text."""
        if text.lstrip()[:1] in {"{", "["}:
            self._take_all(self._parsed(text))

    def read_elements(self, element: HtmlElement) -> None:
        """The visible text of elements that browsers with scripts do not show, or only scripts attach."""
        if self._markup_left <= 0 or asks_for_scripts(" ".join(islice(element.itertext(), 50))[:1_000]):
            return
        source = html.tostring(element, encoding="unicode", with_tail=False)
        copy = parse(source[: self._markup_left])
        self._markup_left -= len(source)  # one inside another is not written out again and again
        for inner in list(copy.iter("noscript", "template")):
            inner.tag = "div"
        for picture in list(copy.iter("img", "link", "meta")):
            picture.drop_tree()
        prune(copy)
        self._take(to_markdown(copy, self._url), prose=False)

    def _read_assignments(self, script: str) -> None:
        for match in _ASSIGNED.finditer(script):
            if _STATE_NAME.search(match[1]) and not _is_config(match[1]):
                value = self._decoded(script, match.end())
                self._take_all(read_json(value) if isinstance(value, str) else value)
        pushed = [self._decoded(script, match.end()) for match in islice(_PUSHED.finditer(script), MAX_ELEMENTS)]
        stream = "".join(text for value in pushed for text in (value if isinstance(value, list) else [value])
                         if isinstance(text, str))  # fmt: skip
        for row in stream.split("\n")[:MAX_VALUES] if stream else ():
            payload = row[head.end() :] if (head := _ROW.match(row)) else row
            self._take_all(self._parsed(payload) if payload[:1] in {"{", "["} else payload)

    def _parsed(self, text: str) -> object:
        self._data_left -= len(text)
        return read_json(text) if self._data_left >= 0 else None

    def _decoded(self, text: str, start: int) -> object:
        """The JSON value that begins at `start`, or None; a failed attempt costs as far as it got."""
        if self._data_left <= 0:
            return None
        try:
            value, end = _DECODER.raw_decode(text, start)
        except json.JSONDecodeError as error:
            self._data_left -= max(1_000, error.pos - start, error.pos // 8)  # the error counts the lines before it
            return None
        except (ValueError, RecursionError):
            self._data_left -= len(text) - start
            return None
        self._data_left -= end - start
        return value if end - start <= MAX_JSON else None

    def _take_all(self, value: object) -> None:
        for heading, text in _prose(value, self._parsed):
            self._take(text, heading)

    def _take(self, text: str, heading: str = "", *, prose: bool = True) -> None:
        if self._tries >= MAX_PIECES or self._room <= 0:
            return
        if prose and _MARKUP.search(text[:5_000]):
            text = self._converted(parse(text[: self._markup_left]))
        elif prose:
            text = escaped(tidy(unescape(text) if "&" in text else text))
        text = text.strip()[: self._room]
        # A price or a number says something only of the thing whose name stands above it.
        key = squashed(f"{heading} {text}" if len(text) < 2 * MIN_SENTENCE else text[:400])[:120]
        if not key or key in self._keys:
            return
        self._keys.add(key)
        self._tries += 1
        if key in self._seen:
            return
        self._seen += squashed(text) + "\n"
        opening = text.partition("\n")[0]
        if heading and heading != self._heading and squashed(heading) != squashed(opening.replace("- ", "item ")):
            text = f"## {escaped(tidy(heading))}\n\n{text}"
            self._heading = heading
        self._room -= len(text)
        self._pieces.append(text)

    def _converted(self, root: HtmlElement) -> str:
        self._markup_left -= sum(map(len, root.itertext())) + 100
        if self._markup_left <= 0:
            return ""
        prune(root)
        return to_markdown(root, self._url)


def _prose(value: object, parse_json: Callable[[str], object]) -> Iterator[tuple[str, str]]:
    """Texts in a JSON value that read as prose, in document order, the first of each object with the title beside it.

    JSON in a string is read as what it holds: stores are often written that way.
    """
    waiting: list[tuple[object, list[str]]] = [(value, [])]
    left = MAX_VALUES
    while waiting and left:
        left -= 1
        node, heading = waiting.pop()
        if isinstance(node, str):
            if len(node) > MIN_SENTENCE and node[0] in "{[":
                waiting.append((parse_json(node), heading))
            elif reads_as_prose(node):
                yield (heading.pop() if heading else ""), node
        elif isinstance(node, list):
            waiting.extend((item, heading) for item in reversed(node))
        elif isinstance(node, dict):
            if line := _rich_line(node):
                yield "", line
                continue
            names = (node.get(key) for key in _TITLE_KEYS)
            title = next((unescape(name) for name in names if isinstance(name, str) and _is_title(name)), "")
            own = [" ".join(title.split())] if title else heading
            waiting.extend((item, own) for key, item in reversed(node.items()) if not _is_config(key[:60]))


@lru_cache(maxsize=4_096)
def _is_config(name: str) -> bool:
    return _CONFIG_KEY.search(name) is not None


def _is_title(name: str) -> bool:
    return 2 < len(name) < 150 and _IDENTIFIER.fullmatch(name) is None


def reads_as_prose(text: str) -> bool:
    """Whether a string is sentences or HTML of them, and neither code, a style, an address nor an identifier."""
    sample = text[:600]
    if len(_WIDE.findall(sample)) >= MIN_SENTENCE // 2:
        return _CODE.search(sample) is None
    if len(text) < MIN_SENTENCE or sample.count(" ") < 5 or (len(text) < 500 and _FORMALITY.search(text)):
        return False
    if _MARKUP.search(sample):
        return not sample.lstrip().lower().startswith(("<script", "<style", "<svg"))
    letters = sum(char.isalpha() or char == " " for char in sample)
    return letters >= 0.8 * len(sample) and _SENTENCE.search(sample) is not None and not _CODE.search(sample)


def _rich_line(node: dict[str, object]) -> str:
    """The text of one paragraph or heading of a rich text tree (Contentful, Slate, ProseMirror, Portable Text)."""
    kind = next((kind for key in ("nodeType", "type", "_type", "tag") if isinstance(kind := node.get(key), str)), "")
    children = next((part for key in ("content", "children") if isinstance(part := node.get(key), list)), [])
    if not _RICH_KIND.match(kind) or not any(isinstance(child, dict) and _leaf(child) for child in children):
        return ""
    waiting: list[object] = children[::-1]
    words: list[str] = []
    while waiting and len(words) < 500:
        child = waiting.pop()
        if isinstance(child, dict):
            words.append(_leaf(child))
            inner = child.get("content") or child.get("children")
            waiting.extend(inner[::-1] if isinstance(inner, list) else [])
    line = " ".join("".join(words).split())
    titled = "head" in kind or re.fullmatch(r"h[1-6]", str(node.get("style") or kind))
    return f"## {line}" if line and titled else line


def _leaf(node: dict[str, object]) -> str:
    text = node.get("text", node.get("value"))
    return text if isinstance(text, str) else ""
