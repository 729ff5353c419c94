"""Read style sheets into the rules that apply to a screen and can matter for visibility."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Final

import tinycss2

from keyhole.extract.html.visibility.conditions import container_applies, media_applies, supports_applies
from keyhole.extract.html.visibility.data_sheets import read_data_sheet
from keyhole.extract.html.visibility.lengths import Tokens, parse_tokens, significant
from keyhole.extract.html.visibility.screening import is_relevant

# Split CSS text into rules and nested blocks, fast, without reading what cannot matter.

_MARKS: Final = re.compile(
    r"""/\*.*?(?:\*/|\Z)|"(?:[^"\\\n]|\\.)*+"?|'(?:[^'\\\n]|\\.)*+'?|\\."""
    r"""|url\(\s*+(?!["'])(?:[^()"'\\]|\\.)*+\)|\([^(){}\[\]"'\\/]*+\)|[(){}\[\]]""",
    re.DOTALL | re.IGNORECASE,
)
"""Comments, strings, escapes, addresses and brackets: all that decides where a block begins and ends."""
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
class Block:
    """A prelude with the text of its block: a rule, an at-rule or an at-rule without a block (`body` is None)."""

    prelude: str
    body: str | None
    children: list[Block] = field(default_factory=list)


def split_blocks(css: str) -> list[Block]:
    """Return the rules of a style sheet in order. Unclosed blocks and strings end as CSS Syntax Level 3 says."""
    root: list[Block] = []
    open_blocks: list[tuple[str, int, list[Block]]] = []  # prelude, start of the body, children
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


def _close(css: str, end: int, open_blocks: list[tuple[str, int, list[Block]]], root: list[Block]) -> None:
    prelude, start, children = open_blocks.pop()
    if len(open_blocks) >= MAX_DEPTH:
        return
    siblings = open_blocks[-1][2] if open_blocks else root
    _append(siblings, prelude, css[start:end], children, nested=bool(open_blocks))


def _append(siblings: list[Block], prelude: str, body: str | None, children: list[Block], nested: bool) -> None:
    """Append a block, and before it the at-rules without a block that stand in front of it."""
    prelude = _strip_leading(prelude)
    while prelude.startswith("@") or (nested and ";" in prelude):
        end = _find_semicolon(prelude)
        if end < 0:
            break
        if prelude.startswith("@"):
            siblings.append(Block(prelude[:end], None))
        prelude = _strip_leading(prelude[end + 1 :])
    if body is not None:
        siblings.append(Block(prelude, body, children))
    elif prelude.startswith("@"):
        siblings.append(Block(prelude, None))


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
_CONTAINER: Final = re.compile(r"container(?:-type)?\s*:", re.IGNORECASE)
_STYLE_QUERY: Final = "style("
_MAX_IMPORTS: Final = 20
MAX_CHARS: Final = 4_000_000
"""Number of characters of style sheets that are read per page. Pages have up to 1,000,000."""

Layer = tuple[float, ...]
_UNLAYERED: Final = float("inf")


@dataclass(frozen=True, slots=True)
class Rule:
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
class Rules:
    """The rules of all style sheets of a page."""

    rules: list[Rule] = field(default_factory=list)
    keyframes: dict[str, list[tuple[str, str]]] = field(default_factory=dict)
    """The frames of each animation: their positions and declarations."""
    registered: dict[str, tuple[Tokens | None, bool]] = field(default_factory=dict)
    """Custom properties of `@property`: their initial value, and whether they are inherited."""
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
    """What the selectors of that `@scope` demand of an element beside their own conditions."""
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
        self, blocks: Iterable[Block], parent: str, layer: tuple[str, ...], at_start: bool = False
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

    def _read_rule(self, block: Block, parent: str, layer: tuple[str, ...]) -> None:
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
            self.rules.append(Rule(selector, body, len(self.rules), self._place(layer), self._scope, self._queries))

    def _read_at_rule(self, name: str, prelude: str, block: Block, parent: str, layer: tuple[str, ...]) -> None:
        if name == "layer" and block.body is None:
            for part in prelude.split(","):
                self._place((*layer, *part.strip().split(".")))
            return
        if name == "layer":
            layer = (*layer, *(prelude.split(".") if prelude else [f"anonymous {len(self._layers)}"]))
            self._place(layer)
        elif name.endswith("keyframes") and name in {"keyframes", "-webkit-keyframes"}:
            frames = [(child.prelude.strip().lower(), child.body or "") for child in block.children]
            self.keyframes[prelude.strip("\"'")] = frames
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

    def _read_scope(self, prelude: str, block: Block, layer: tuple[str, ...]) -> None:
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
        """Read `@property`. A rule without a syntax is not valid."""
        values: dict[str, Tokens] = {}
        for node in tinycss2.parse_blocks_contents(body, skip_comments=True, skip_whitespace=True):
            if node.type == "declaration":
                values[node.lower_name] = significant(node.value)
        inherits = values.get("inherits", ())
        if name.startswith("--") and "syntax" in values and len(inherits) == 1 and inherits[0].type == "ident":
            self.registered[name] = values.get("initial-value"), inherits[0].lower_value != "false"

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


def _find_address(tokens: Tokens) -> str:
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
