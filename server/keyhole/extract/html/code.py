"""Code of a page: its text to the byte, without line numbers, and its language. Writes no Markdown."""

from __future__ import annotations

import re
from typing import Final

from lxml import etree
from lxml.html import HtmlElement

MAX_CLASS: Final = 200
"""Characters of a class attribute that are searched for a language."""
_PARENTS: Final = 4
"""Elements above `<pre>` that may name the language: highlighters wrap it in two or three."""

# The ways to name a language, surest first: HTML's own, GitHub, MediaWiki, SyntaxHighlighter, Sphinx, GeSHi, pandoc.
_NAMED = tuple(
    re.compile(rf"(?:^|\s){way}([a-z0-9][\w+#.-]{{0,29}})", re.IGNORECASE)
    for way in (
        r"lang(?:uage)?[-:]\s*",
        r"highlight-(?:source|text)-",
        r"mw-highlight-lang-",
        r"brush:\s*",
        r"highlight-(?!(?:source|text)-)",
        r"source-(?!code)",
        r"(?:sourceCode|prettyprint)\s+(?:lang-)?(?!linenums|numberSource|prettyprinted)",
    )
)
_KNOWN = frozenset((
    "ada", "awk", "bash", "c", "clojure", "cmake", "console", "cpp", "csharp", "css", "d", "dart", "diff", "dockerfile",
    "elixir", "elm", "erlang", "fortran", "go", "golang", "graphql", "groovy", "haskell", "html", "ini", "java",
    "javascript", "js", "json", "julia", "kotlin", "latex", "lisp", "lua", "makefile", "markdown", "matlab", "nginx",
    "nix", "objective-c", "ocaml", "perl", "php", "powershell", "proto", "protobuf", "python", "python3", "r", "ruby",
    "rust", "sass", "scala", "scheme", "scss", "shell", "sh", "sql", "swift", "tcl", "tex", "toml", "ts", "tsx",
    "typescript", "vim", "xml", "yaml", "zig", "zsh",
))  # fmt: skip
_UNNAMED = frozenset({"none", "default", "notranslate", "nohighlight", "highlight", "undefined", "auto"})
_CONTENT_NAMED = frozenset({"div", "figure", "section", "td", "dd", "li", "span", "code"})

_GUTTERS = frozenset((
    "lineno", "linenos", "linenum", "linenumber", "linenumbers", "line-number", "line-numbers", "lineNumber",
    "line-numbers-rows", "lnt", "ln", "lno", "gutter", "rouge-gutter", "blob-num", "hljs-ln-numbers", "hljs-ln-n",
    "linenodiv", "src-line-numbers", "code-line-number",
))  # fmt: skip
_LISTED = frozenset({"blob-code", "hljs-ln-code", "js-file-line"})
_NUMBERS = re.compile(r"[\d\s.:|\u2503]*$")
_MAX_GUTTER: Final = 50_000
"""Characters of a gutter that are looked at: what is longer than the numbers of 8,000 lines is kept as text."""
_GUTTER_TEXTS: Final = 8
"""Texts of a gutter inside code: there each line has its own."""
_LINES = frozenset({"div", "p", "li", "tr"})


def language(pre: HtmlElement) -> str:
    """The language that the page gives a block of code, in lower case, or nothing."""
    inner = next(pre.iter("code"), None)
    near = [pre] if inner is None or inner is pre else [inner, pre]
    for element in near:
        named = _named(element) or _bare(element)
        if named:
            return "" if named in _UNNAMED else named
    above: HtmlElement | None = pre.getparent()
    for _ in range(_PARENTS):
        # A wrapper holds this code and little else: what stands on a whole page's element is no language of code.
        if above is None or above.tag not in _CONTENT_NAMED:
            return ""
        if named := _named(above):
            return "" if named in _UNNAMED else named
        above = above.getparent()
    return ""


def _named(element: HtmlElement) -> str:
    attributes = element.attrib
    for name in ("data-lang", "data-language"):
        value = attributes.get(name)
        if value and re.fullmatch(r"[\w+#.-]{1,30}", value):
            return str(value).lower()
    classes = attributes.get("class")
    if not classes:
        return ""
    for way in _NAMED:
        if match := way.search(classes[:MAX_CLASS]):
            return str(match[1]).lower().rstrip(".")
    return ""


def _bare(element: HtmlElement) -> str:
    classes = (element.get("class") or "")[:MAX_CLASS].lower().split()
    return next((name for name in classes if name in _KNOWN), "")


def is_gutter(element: HtmlElement, most: int | None = None) -> bool:
    """Whether an element beside or inside code holds line numbers and nothing else, in at most so many texts."""
    classes = element.get("class")
    if not classes or _GUTTERS.isdisjoint(classes[:MAX_CLASS].split()):
        return False
    length = 0
    for number, part in enumerate(element.itertext()):
        length += len(part)
        if number == most or length > _MAX_GUTTER or not _NUMBERS.match(part):
            return False
    return True


def text_of(pre: HtmlElement) -> str:
    """What a reader copies: the text as it stands, a line for each `<br>` and each block, without line numbers.

    One line break at either end belongs to the markup.
    """
    parts = [pre.text or ""]
    starts: list[int] = []
    ended = 0
    skipped: HtmlElement | None = None
    for event, element in etree.iterwalk(pre, events=("start", "end", "comment", "pi")):
        if element is pre or (skipped is not None and element is not skipped):
            continue
        if event == "start":
            if is_gutter(element, _GUTTER_TEXTS):
                skipped = element
            else:
                _enter(element, parts, starts)
            continue
        tail = element.tail or ""
        if event == "end" and element.tag in _LINES and skipped is None:
            if _end_line(parts, starts.pop()):
                ended = len(parts)
            if ended == len(parts):
                tail = tail.removeprefix("\n")
        skipped = None
        if tail:
            parts.append(tail)
    return "".join(parts).replace("\r\n", "\n").removeprefix("\n").removesuffix("\n")


def _enter(element: HtmlElement, parts: list[str], starts: list[int]) -> None:
    if element.tag == "br":
        parts.append("\n")
    elif element.tag in _LINES:
        if parts[-1] and not parts[-1].endswith("\n"):
            parts.append("\n")
        starts.append(len(parts))
    if element.text:
        parts.append(element.text)


def _end_line(parts: list[str], start: int) -> bool:
    """A block in code is a line of it, also when it is empty; whether the line had no end yet."""
    if len(parts) > start and parts[-1].endswith("\n"):
        return False
    parts.append("\n")
    return True


def is_gutter_block(pre: HtmlElement) -> bool:
    """Whether a whole `<pre>` holds the line numbers of the one beside it."""
    beside = pre.getparent()
    # Prism gives the class "line-numbers" to code itself, so that it counts only where code stands beside.
    lone = pre.getnext() is None and pre.getprevious() is None
    alone = beside is None or (lone and beside.tag != "td")
    return not alone and is_gutter(pre)


def listing(table: HtmlElement) -> str | None:
    """The code of a table that has a row for each line of it, or None for other tables."""
    row = next(table.iter("tr"), None)
    if row is None or all(_LISTED.isdisjoint(_classes(cell)) for cell in row if cell.tag == "td"):
        return None
    texts = [text_of(cell) for cell in table.iter("td") if not _LISTED.isdisjoint(_classes(cell))]
    return "\n".join(text.strip("\n") for text in texts)


def _classes(element: HtmlElement) -> list[str]:
    return (element.get("class") or "")[:MAX_CLASS].split()
