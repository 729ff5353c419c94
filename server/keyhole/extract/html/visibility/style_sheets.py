"""Find the style sheets of a page, and read the rules in them that can matter for visibility."""

from __future__ import annotations

import base64
import binascii
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Final, NamedTuple
from urllib.parse import unquote_to_bytes

import tinycss2
from lxml.html import HtmlElement

from keyhole.extract.html.visibility.computed_style import MIN_FONT
from keyhole.extract.html.visibility.conditions import container_applies, media_applies, supports_applies
from keyhole.extract.html.visibility.css_values import (
    DEFAULT,
    UNKNOWN,
    Colour,
    CssTokens,
    look_same,
    measure,
    parse_colour,
    parse_tokens,
    significant,
)
from keyhole.extract.html.visibility.declarations import Declaration, find_variables, parse_declarations
from keyhole.extract.html.visibility.properties import FAR, PARSERS, CssValue, Transform

# The style sheets of a page: `<style>` elements and sheets in `data:` addresses.

_OUTSIDE: Final = ("template", "noscript")
"""Elements whose style sheets do not apply. Scripts run, so `<noscript>` is not read."""


def find_sheets(root: HtmlElement) -> Iterator[tuple[HtmlElement, str | None]]:
    """Yield each style sheet that applies to a screen with its element, in order; None for a sheet at an address."""
    preferred: str | None = None
    for element in root.iter("style", "link"):
        css = _read_style(element) if element.tag == "style" else _read_link(element)
        if css == "" or not media_applies(element.get("media") or ""):
            continue
        if next(element.iterancestors(*_OUTSIDE), None) is not None:
            continue
        title = (element.get("title") or "").strip()
        if title:
            # Sheets with a title form sets. Only the first set applies.
            preferred = preferred or title
            if title != preferred:
                continue
        yield element, css


def _read_style(style: HtmlElement) -> str:
    kind = (style.get("type") or "text/css").strip().lower()
    return (style.text or "") if kind == "text/css" else ""


def _read_link(link: HtmlElement) -> str | None:
    """Return the text of a linked sheet, None if it is at an address, or "" if the link names no sheet that applies."""
    names = (link.get("rel") or "").lower().split()
    if "stylesheet" not in names:
        return ""
    kind = (link.get("type") or "text/css").strip().lower()
    is_sheet = "alternate" not in names and link.get("disabled") is None
    address = (link.get("href") or "").strip()
    if not is_sheet or not address or kind != "text/css":
        return ""
    return read_data_sheet(address) if address[:5].lower() == "data:" else None


def read_data_sheet(address: str) -> str | None:
    """Return the style sheet in a `data:` address, None for another address, or "" if it holds no CSS."""
    scheme, _, rest = address.partition(":")
    if scheme.lower() != "data":
        return None
    header, comma, body = rest.partition(",")
    kind, *parameters = (part.strip().lower() for part in header.split(";"))
    if not comma or kind not in {"text/css", ""}:
        return ""
    data = unquote_to_bytes(body.partition("#")[0])
    if "base64" in parameters:
        try:
            data = base64.b64decode(b"".join(data.split()) + b"==")
        except binascii.Error:
            return ""
    charset = next((each.partition("=")[2] for each in parameters if each.startswith("charset=")), "utf-8")
    try:
        return data.decode(charset.strip("\"'"), "replace")
    except LookupError:
        return data.decode("utf-8", "replace")


# Screening: tell cheaply which blocks of declarations may hide something, so that few rules are matched.

_HIDING_WORDS: Final = re.compile(
    r"""display[^;:]{0,300}:[^;]{0,300}(?:none|var)|visibility|opacity[^;:\w-]{0,300}:\s*+(?!1\s*(?:[;!}]|\Z))|clip|mask|\\
    |(?:scale|transform|rotate|matrix|translate|filter|animation|content)[\w-]{0,300}+[^;:\w-]*+:
    |font(?:-size)?[^;:\w-]*+:(?:[^;]{0,300}[^\w.%\#-])?(?:0|\.\d|[12](?:\.\d+)?(?:px|pt|\s*/|[;.!}\s]|\Z)|\d*\.?\d%|[a-z-]{1,40}\()
    |contain[\w-]{0,40}+\s{0,40}+:[^;]{0,300}(?:size|strict)|grid-template-rows\s{0,40}+:\s{0,40}+0|font-size-adjust|text-security|zoom|z-index[^;:]{0,300}:[^;]{0,300}-
    |(?:left|right|top|bottom|inset|indent|margin|inline|block|start|end)[^;:\w-]*+:[^;]{0,300}(?:\d{3}|\d\d[a-z]|[a-z]\()
    |(?:width(?<!min-width)|height(?<!min-height)|-size(?<!min--size))[^;:\w-]*+:[^;\d\w.]*(?:0|[1-4]px|\.\d|[a-z-]{1,40}\()
    |color[^;:\w-]*+:[^;]{0,300}(?:transparent|[#][0-9a-f]{3}0\b|[#][0-9a-f]{6}0|/|a\(|var\()
    |color(?<![\w-]color).{0,300}background|background.{0,300}[^\w-]color""",
    re.VERBOSE | re.DOTALL,
)
"""Lower-case text of declarations that may hide an element or its text, roughly.

Each alternative begins with letters, and case is not ignored: both make the search several times faster.
"""
_COLOUR_WORDS: Final = re.compile(r"color[^;:\w-]*:|background")
"""Text of declarations that may give text the colour of its background, together with another element's style."""
_RELEVANT_WORDS: Final = re.compile(
    r"""display|visib|opacity|size|clip|mask|color|background|indent|position|left|right|top|bottom|inset|margin|padding
    |transform|translate|scale|rotate|overflow|width|height|font|float|shadow|stroke|filter|animation|content|white-space|list-style
    |flex|fill|grid|blend|contain|z-index|security|zoom|all\s*:|--|\\""",
    re.VERBOSE,
)
_COLOURS: Final = frozenset({"color", "-webkit-text-fill-color", "background-color"})
_KEYWORDS: Final = {
    "display": {"none"}, "visibility": {"hidden", "collapse"}, "content-visibility": {"hidden"},
    "backface-visibility": {"hidden"}, "-webkit-text-security": {"disc", "circle", "square"},
}  # fmt: skip
_LARGEST: Final = {
    "opacity": 0.5, "filter": 0.5, "font-size": MIN_FONT, "line-height": 0.02, "font-size-adjust": 0.0, "zoom": 0.3,
    "width": 4.0, "height": 4.0, "max-width": 4.0, "max-height": 4.0,
}  # fmt: skip
"""Largest numbers that hide, for some properties."""
_DISTANCES: Final = frozenset({"left", "right", "top", "bottom", "margin-left", "margin-right", "margin-top"})
_LONG: Final = 300
"""Number of characters from which a block or a declaration is long: as many as `_HIDING_WORDS` looks ahead."""
_MIN_INDENT: Final = 100
_HIDING: Final = frozenset({
    *_KEYWORDS, *_LARGEST, *_DISTANCES, "text-indent", "z-index", "color", "-webkit-text-fill-color", "transform",
    "translate", "scale", "rotate", "animation-name", "clip", "clip-path", "mask-image", "content",
    "contain", "container-type", "grid-template-rows",
})  # fmt: skip
"""Properties whose values can hide."""
_DEFINITION: Final = re.compile(r"(?<![\w-])(--[\w-]++)\s*+:\s*([^;{}]+)")
_REFERENCE: Final = re.compile(r"--[\w-]+")
_MAX_CHAIN: Final = 10
"""Largest number of custom properties that are followed in a chain of references."""


def is_relevant(block: str) -> bool:
    """Return whether a block of declarations may change what is visible."""
    return ":" in block and _RELEVANT_WORDS.search(block.lower()) is not None


def may_recolour(block: str) -> bool:
    """Return whether a block of declarations sets colours."""
    return _COLOUR_WORDS.search(block.lower()) is not None


def may_hide_roughly(block: str) -> bool:
    """Return whether a block of declarations may hide something, without parsing it.

    A long block is searched piece by piece, because the pattern takes quadratic time on text without semicolons.
    """
    block = block.lower()
    if len(block) <= _LONG:
        return _HIDING_WORDS.search(block) is not None
    pieces = [piece.lstrip() for piece in block.split(";")]
    colours = {name for name in ("color", "background") for piece in pieces if piece.startswith(name)}
    return len(colours) == 2 or any(
        _HIDING_WORDS.search(piece) if len(piece) <= _LONG else not piece.startswith("--") for piece in pieces
    )


_CERTAIN: Final = re.compile(r"(?:^|[;\s])(?:display\s*:\s*none|visibility\s*:\s*hidden|opacity\s*:\s*0)\s*(?:[;!]|$)")
"""Lower-case text of a block that certainly hides, so the block need not be parsed."""


class Suspicion(NamedTuple):
    """The reasons for which a block of declarations may hide something."""

    is_certain: bool
    """True if a value in the block itself may hide."""
    variables: frozenset[str]
    """Custom properties that hide the element or its text with some of their values."""


@lru_cache(maxsize=8_192)
def suspect(block: str) -> Suspicion:
    """Return whether a block of declarations may hide its element or text, alone or with other blocks."""
    if not may_hide_roughly(block):
        return Suspicion(False, frozenset())
    if _CERTAIN.search(block.lower()):
        return Suspicion(True, frozenset())
    declarations = parse_declarations(block)
    relevant = [each for each in declarations if each.name in _HIDING]
    names = [find_variables(each.tokens) for each in relevant if each.has_variables]
    is_certain = any(not each.has_variables and _hides(each) for each in relevant) or _has_equal_colours(declarations)
    fallbacks = [value for each in relevant if each.has_variables for value in _list_fallbacks(each)]
    is_certain = is_certain or frozenset() in names or any(map(_is_hiding_value, fallbacks))
    return Suspicion(is_certain, frozenset[str]().union(*names))


def _list_fallbacks(declaration: Declaration) -> list[str]:
    """Return the fallbacks of the variables in a value."""
    text = "".join(token.serialize() for token in declaration.tokens)
    return [part.rstrip(") ") for part in text.split(",")[1:]]


def find_hiding_variables(blocks: Iterable[str]) -> frozenset[str]:
    """Return the custom properties that get a value which may hide something in one of the blocks of declarations."""
    hiding: set[str] = set()
    references: dict[str, set[str]] = {}
    for block in blocks:
        if "--" in block:
            for name, value in _DEFINITION.findall(block):
                references.setdefault(name, set()).update(_REFERENCE.findall(value))
                if _is_hiding_value(value):
                    hiding.add(name)
    for _ in range(_MAX_CHAIN):
        further = {name for name, others in references.items() if name not in hiding and not hiding.isdisjoint(others)}
        if not further:
            break
        hiding |= further
    return frozenset(hiding)


@lru_cache(maxsize=4_096)
def _is_hiding_value(value: str) -> bool:
    """Return whether a value could hide if it were the value of some property: zero, far, `none`, transparent."""
    for token in parse_tokens(value[:200]):
        if token.type == "ident" and token.lower_value in {"none", "hidden", "collapse", "transparent", "infinite"}:
            return True
        quantity = measure(token)
        if quantity is not None and (quantity.value < 2 or quantity.value >= FAR or quantity.kind == "percent"):
            return True
        colour = parse_colour(token)
        if isinstance(colour, Colour) and colour.alpha <= 0.1:
            return True
        if token.type == "function" and "var(" not in value and quantity is None and colour is None:
            return True
    return False


def _hides(declaration: Declaration) -> bool:
    name = declaration.name
    value: CssValue = PARSERS[name](declaration.tokens, DEFAULT)
    if name in _KEYWORDS:
        return value in _KEYWORDS[name]
    if name in _LARGEST:
        return isinstance(value, float | int) and value <= _LARGEST[name]
    if name in _DISTANCES:
        return isinstance(value, float | int) and abs(value) >= FAR
    if name == "text-indent":
        return isinstance(value, float | int) and abs(value) >= _MIN_INDENT
    if name == "z-index":
        return isinstance(value, float | int) and value < 0
    if name in {"color", "-webkit-text-fill-color"}:
        return isinstance(value, Colour) and value.alpha <= 0.1
    if isinstance(value, Transform):
        return value.is_flat or value.shows_back or max(abs(value.right), abs(value.down)) >= FAR / 2
    if name in {"contain", "container-type"}:
        return not {"size", "inline-size"}.isdisjoint(value or ())  # no value: a keyword such as `inherit`
    if name == "animation-name":
        return bool(value != ("none",))
    return bool(value)


def _has_equal_colours(declarations: tuple[Declaration, ...]) -> bool:
    """Return whether a block sets the same colour for text and background."""
    colours = {each.name: PARSERS[each.name](each.tokens, DEFAULT) for each in declarations if each.name in _COLOURS}
    background = colours.get("background-color", UNKNOWN)
    fronts = [colours.get(name) for name in ("color", "-webkit-text-fill-color")]
    return (
        any(
            isinstance(front, Colour) and isinstance(background, Colour) and look_same(front, background)
            for front in fronts
        )
        or background == "currentcolor"
    )


# Split CSS text into rules and nested blocks, fast, without reading what cannot matter.

_MARKS: Final = re.compile(
    r"""/\*.*?(?:\*/|\Z)|"(?:[^"\\\n]|\\.)*+"?|'(?:[^'\\\n]|\\.)*+'?|\\."""
    r"""|url\(\s*+(?!["'])(?:[^()"'\\]|\\.)*+\)|\([^(){}\[\]"'\\/]*+\)|[(){}\[\]]""",
    re.DOTALL | re.IGNORECASE,
)
"""Comments, strings, escapes, addresses and brackets: everything that decides where a block begins and ends."""
MAX_DEPTH: Final = 32
"""Depth of nested blocks that are read. Real sheets nest about 5 deep."""
_PAIRS: Final = {")": "(", "]": "[", "}": "{"}
_LEADING: Final = re.compile(r"(?:\s+|/\*.*?(?:\*/|\Z)|<!--|-->)+", re.DOTALL)
_STARTS: Final = frozenset(".#@*:[&")
"""Characters, beside letters, with which most preludes begin."""
_STRINGS: Final = re.compile(
    r"""/\*.*?(?:\*/|\Z)|"(?:[^"\\\n]|\\.)*+"?|'(?:[^'\\\n]|\\.)*+'?|\\.|\([^()]*+\)""", re.DOTALL
)


@dataclass(slots=True)
class CssBlock:
    """A prelude with the text of its block: a rule, an at-rule or an at-rule without a block (`body` is None)."""

    prelude: str
    body: str | None
    children: list[CssBlock] = field(default_factory=list)


def split_blocks(css: str) -> list[CssBlock]:
    """Return the rules of a style sheet in order. Unclosed blocks and strings end as CSS Syntax Level 3 says."""
    root: list[CssBlock] = []
    open_blocks: list[tuple[str, int, list[CssBlock]]] = []  # prelude, start of the body, children
    brackets: list[str] = []
    start = 0
    for mark in _MARKS.finditer(css):
        sign = mark[0]
        if len(sign) > 1:
            continue
        if brackets or sign in "([":
            _track(brackets, sign)
        elif sign == "{":
            open_blocks.append((css[start : mark.start()], mark.end(), []))
            start = mark.end()
        elif sign == "}" and open_blocks:
            _close(css, mark.start(), open_blocks, root)
            start = mark.end()
    if open_blocks:
        while open_blocks:
            _close(css, len(css), open_blocks, root)
    else:
        _append(root, css[start:], None, [], nested=False)
    return root


def _track(brackets: list[str], sign: str) -> None:
    """Follow brackets inside parentheses. A closing bracket without its opening one is ignored."""
    if sign in "([{":
        brackets.append(sign)
    elif sign in _PAIRS and brackets[-1] == _PAIRS[sign]:
        brackets.pop()


def _close(css: str, end: int, open_blocks: list[tuple[str, int, list[CssBlock]]], root: list[CssBlock]) -> None:
    prelude, start, children = open_blocks.pop()
    if len(open_blocks) >= MAX_DEPTH:
        return
    siblings = open_blocks[-1][2] if open_blocks else root
    _append(siblings, prelude, css[start:end], children, nested=bool(open_blocks))


def _append(siblings: list[CssBlock], prelude: str, body: str | None, children: list[CssBlock], nested: bool) -> None:
    """Append a block, and before it the at-rules without a block that stand in front of it."""
    prelude = _strip_leading(prelude)
    while prelude.startswith("@") or (nested and ";" in prelude):
        end = _find_semicolon(prelude)
        if end < 0:
            break
        if prelude.startswith("@"):
            siblings.append(CssBlock(prelude[:end], None))
        prelude = _strip_leading(prelude[end + 1 :])
    if body is not None:
        siblings.append(CssBlock(prelude, body, children))
    elif prelude.startswith("@"):
        siblings.append(CssBlock(prelude, None))


def _strip_leading(prelude: str) -> str:
    """Return a prelude without the white space and the comments in front of it."""
    if prelude[:1].isalnum() or prelude[:1] in _STARTS:
        return prelude
    match = _LEADING.match(prelude)
    return prelude[match.end() :] if match else prelude


def _find_semicolon(text: str) -> int:
    """Return the position of the first semicolon outside strings, comments and parentheses, or -1."""
    if '"' in text or "'" in text or "(" in text or "\\" in text or "/*" in text:
        text = _STRINGS.sub(lambda match: " " * len(match[0]), text)
    return text.find(";")


# Read style sheets into the rules that apply to a screen and can matter for visibility.

_AT_RULE: Final = re.compile(r"@([\w-]+)(.*)", re.DOTALL)
_LAST_FRAME: Final = re.compile(r"\bto\b|100%", re.IGNORECASE)
_CONTAINER: Final = re.compile(r"container(?:-type)?\s*:", re.IGNORECASE)
_STYLE_QUERY: Final = "style("
_MAX_IMPORTS: Final = 20
MAX_CHARS: Final = 4_000_000
"""Number of characters of style sheets that are read per page. Pages have up to 1,000,000."""

Layer = tuple[float, ...]
_UNLAYERED: Final = float("inf")
_BELOW_LAYERS: Final = -1.0


@dataclass(frozen=True, slots=True)
class CssRule:
    """A rule as text. It is parsed only if it can match an element of interest."""

    selector: str
    body: str
    order: int
    layer: Layer
    """The place of its cascade layer. Rules outside of layers have the greatest one."""
    scope: str = ""
    """The shadow root whose elements it applies to."""
    queries: tuple[str, ...] = ()
    """Conditions of `@container` that depend on the styles around an element."""


@dataclass(slots=True)
class CssRules:
    """The rules of all style sheets of a page."""

    rules: list[CssRule] = field(default_factory=list)
    last_frames: dict[str, str] = field(default_factory=dict)
    """The declarations of the last frame of each animation."""
    has_unread_sheets: bool = False
    """True if the page loads style sheets from addresses, which are not fetched."""
    chars: int = 0
    _layers: dict[tuple[str, ...], int] = field(default_factory=dict)
    _imports: int = 0
    _scope: str = ""
    _queries: tuple[str, ...] = ()
    _around: str = ""
    """The selector of the element around the sheet that is read."""
    _start: str = ""
    """The selector of the root of the `@scope` that is read."""
    _within: str = ""
    """The condition that this `@scope` adds to each of its selectors."""
    _has_containers: bool = False
    """True if an element may be a container. Without one, no `@container` applies."""

    def read(self, css: str, layer: tuple[str, ...] = (), scope: str = "", around: str = ":root") -> None:
        """Add the rules of a style sheet. `around` is a selector of the element that it stands in."""
        self._scope, self._around = scope, around
        self.chars += len(css)
        self._has_containers = self._has_containers or _CONTAINER.search(css) is not None
        if self.chars > MAX_CHARS:
            css = css[: max(0, len(css) - (self.chars - MAX_CHARS))]
        self._read_blocks(split_blocks(css), "", layer, at_start=True)

    def _read_blocks(
        self, blocks: Iterable[CssBlock], parent: str, layer: tuple[str, ...], at_start: bool = False
    ) -> None:
        for block in blocks:
            if not block.prelude.startswith("@"):
                at_start = False
                if block.body is not None:
                    self._read_rule(block, parent, layer)
                continue
            match = _AT_RULE.match(block.prelude)
            name, prelude = (match[1].lower(), match[2].strip()) if match else ("", "")
            if name == "import" and block.body is None:
                if at_start:
                    self._import(prelude, layer)
                continue
            at_start = at_start and (name == "charset" or (name == "layer" and block.body is None))
            self._read_at_rule(name, prelude, block, parent, layer)

    def _read_rule(self, block: CssBlock, parent: str, layer: tuple[str, ...]) -> None:
        selector = block.prelude
        if self._start:
            selector = selector.replace(":scope", self._start if parent else "&")
        if parent or self._start or "&" in selector:
            selector = nest(selector, parent or self._start)
        self._add(selector, block.body or "", layer)
        if block.children:
            self._read_blocks(block.children, selector, layer)

    def _add(self, selector: str, body: str, layer: tuple[str, ...]) -> None:
        if is_relevant(body):
            if self._within:
                selector = ",".join(f"{each}{self._within}" for each in split_commas_as_text(selector))
            self.rules.append(CssRule(selector, body, len(self.rules), self._place(layer), self._scope, self._queries))

    def _read_at_rule(self, name: str, prelude: str, block: CssBlock, parent: str, layer: tuple[str, ...]) -> None:
        if name == "layer" and block.body is None:
            for part in prelude.split(","):
                self._place((*layer, *part.strip().split(".")))
            return
        if name == "layer":
            layer = (*layer, *(prelude.split(".") if prelude else [f"anonymous {len(self._layers)}"]))
            self._place(layer)
        elif name.endswith("keyframes") and name in {"keyframes", "-webkit-keyframes"}:
            last = [child.body or "" for child in block.children if _LAST_FRAME.search(child.prelude)]
            self.last_frames[prelude.strip("\"'")] = ";".join(last)
            return
        elif name == "property":
            self._register(prelude, block.body or "")
            return
        elif name == "scope":
            self._read_scope(prelude, block, layer)
            return
        elif not self._applies(name, prelude):
            return
        queries = self._queries
        if name == "container" and _STYLE_QUERY in prelude:
            self._queries = (*queries, prelude)
        if parent and block.body:
            self._add(parent, block.body, layer)
        self._read_blocks(block.children, parent, layer)
        self._queries = queries

    def _read_scope(self, prelude: str, block: CssBlock, layer: tuple[str, ...]) -> None:
        """Add the rules in `@scope (START) to (END)`. Without a start they apply in the element around their sheet."""
        tokens = significant(parse_tokens(prelude))
        lists = [tinycss2.serialize(token.content) for token in tokens if token.type == "() block"]
        has_start = len(tokens) in {1, 3} and bool(lists)
        start = f":where({lists.pop(0) if has_start else self._around})"
        ends = nest(lists[0].replace(":scope", "&"), start) if lists else ""
        limits = f":not(:where({ends}, :is({ends}) *))" if ends else ""
        outer = self._start, self._within
        self._start, self._within = start, f"{self._within}:where({start}, {start} *){limits}"
        self._read_blocks(block.children, "", layer)
        self._start, self._within = outer

    def _applies(self, name: str, prelude: str) -> bool:
        """Return whether the rules in a conditional at-rule apply."""
        if name == "container":
            return _STYLE_QUERY in prelude or (self._has_containers and container_applies(prelude))
        return media_applies(prelude) if name == "media" else name == "supports" and supports_applies(prelude)

    def _register(self, name: str, body: str) -> None:
        """Read `@property`: its initial value is one of the whole page that any rule overrides."""
        for node in tinycss2.parse_blocks_contents(body, skip_comments=True, skip_whitespace=True):
            if node.type == "declaration" and node.lower_name == "initial-value" and name.startswith("--"):
                value = tinycss2.serialize(node.value)
                self.rules.append(CssRule(":root", f"{name}:{value}", len(self.rules), (_BELOW_LAYERS,)))

    def _import(self, prelude: str, layer: tuple[str, ...]) -> None:
        tokens = significant(parse_tokens(prelude))
        address = _find_address(tokens)
        css = read_data_sheet(address)
        rest = tokens[1:]
        if rest and rest[0].type == "ident" and rest[0].lower_value == "layer":
            layer, rest = (*layer, f"anonymous {len(self._layers)}"), rest[1:]
        elif rest and rest[0].type == "function" and rest[0].lower_name == "layer":
            name = "".join(token.serialize() for token in rest[0].arguments).strip()
            layer, rest = (*layer, *name.split(".")), rest[1:]
        self._place(layer)
        if rest and rest[0].type == "function" and rest[0].lower_name == "supports":
            condition = "".join(token.serialize() for token in rest[0].arguments)
            if not (supports_applies(condition) or supports_applies(f"({condition})")):
                return
            rest = rest[1:]
        if css is None:
            self.has_unread_sheets = True
        elif media_applies(" ".join(token.serialize() for token in rest)) and self._imports < _MAX_IMPORTS:
            self._imports += 1
            self.read(css, layer, self._scope, self._around)

    def _place(self, layer: tuple[str, ...]) -> Layer:
        """Return the place of a layer. Layers are in the order of their first mention."""
        if not layer:
            return (_UNLAYERED,)
        numbers = [self._layers.setdefault(layer[:depth], len(self._layers)) for depth in range(1, len(layer) + 1)]
        return (*map(float, numbers), _UNLAYERED)


def _find_address(tokens: CssTokens) -> str:
    first = tokens[0] if tokens else None
    if first is None:
        return ""
    if first.type in {"url", "string"}:
        return str(first.value)
    if first.type == "function" and first.lower_name == "url":
        return next((token.value for token in first.arguments if token.type == "string"), "")
    return ""


def nest(prelude: str, parent: str) -> str:
    """Return the full selectors of a nested rule: `&` stands for the selectors of its parent."""
    scope = f":is({parent})" if parent else ":root"
    parts = []
    for part in split_commas_as_text(prelude):
        if "&" in part:
            part = part.replace("&", scope)
        elif parent:
            part = f"{scope} {part}"
        parts.append(part)
    return ",".join(parts)


def split_commas_as_text(prelude: str) -> list[str]:
    """Return the text between the commas of a selector list."""
    if "(" not in prelude and "[" not in prelude and "\\" not in prelude:
        return [part.strip() for part in prelude.split(",")]
    tokens = parse_tokens(prelude)
    texts = [""]
    for token in tokens:
        if token.type == "literal" and token.value == ",":
            texts.append("")
        else:
            texts[-1] += token.serialize()
    return [text.strip() for text in texts]
