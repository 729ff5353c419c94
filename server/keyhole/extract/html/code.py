"""Read the code blocks of a page: their exact text without line numbers, and their language."""

from __future__ import annotations

import re
from typing import Final

from lxml import etree
from lxml.html import HtmlElement

MAX_CLASS: Final = 200
"""Number of characters read of a class attribute."""
_MAX_PARENTS: Final = 4
"""Number of elements above `<pre>` that may name the language. Highlighters wrap `<pre>` in two or three."""

# Class names that give a language, most reliable first: HTML's own, GitHub, MediaWiki, SyntaxHighlighter, Sphinx,
# GeSHi, pandoc.
_LANGUAGE_PATTERNS = tuple(
    re.compile(rf"(?:^|\s){pattern}([a-z0-9][\w+#.-]{{0,29}})", re.IGNORECASE)
    for pattern in (
        r"lang(?:uage)?[-:]\s*",
        r"highlight-(?:source|text)-",
        r"mw-highlight-lang-",
        r"brush:\s*",
        r"highlight-(?!(?:source|text)-)",
        r"source-(?!code)",
        r"(?:sourceCode|prettyprint)\s+(?:lang-)?(?!linenums|numberSource|prettyprinted)",
    )
)
_LANGUAGES = frozenset((
    "ada", "awk", "bash", "c", "clojure", "cmake", "console", "cpp", "csharp", "css", "d", "dart", "diff", "dockerfile",
    "elixir", "elm", "erlang", "fortran", "go", "golang", "graphql", "groovy", "haskell", "html", "ini", "java",
    "javascript", "js", "json", "julia", "kotlin", "latex", "lisp", "lua", "makefile", "markdown", "matlab", "nginx",
    "nix", "objective-c", "ocaml", "perl", "php", "powershell", "proto", "protobuf", "python", "python3", "r", "ruby",
    "rust", "sass", "scala", "scheme", "scss", "shell", "sh", "sql", "swift", "tcl", "tex", "toml", "ts", "tsx",
    "typescript", "vim", "xml", "yaml", "zig", "zsh",
))  # fmt: skip
_NO_LANGUAGE = frozenset({"none", "default", "notranslate", "nohighlight", "highlight", "undefined", "auto"})
_WRAPPER_TAGS = frozenset({"div", "figure", "section", "td", "dd", "li", "span", "code"})

_GUTTER_CLASSES = frozenset((
    "lineno", "linenos", "linenum", "linenumber", "linenumbers", "line-number", "line-numbers", "lineNumber",
    "line-numbers-rows", "lnt", "ln", "lno", "gutter", "rouge-gutter", "blob-num", "hljs-ln-numbers", "hljs-ln-n",
    "linenodiv", "src-line-numbers", "code-line-number",
))  # fmt: skip
_CODE_CELL_CLASSES = frozenset({"blob-code", "hljs-ln-code", "js-file-line"})
_NUMBERS = re.compile(r"[\d\s.:|\u2503]*$")
_MAX_GUTTER: Final = 50_000
"""Largest length of a gutter of line numbers, in characters: the numbers of 8,000 lines."""
_GUTTER_TEXTS: Final = 8
"""Largest number of text nodes in a gutter inside code, where each line has its own gutter."""
_LINE_TAGS = frozenset({"div", "p", "li", "tr"})


def find_language(pre: HtmlElement) -> str:
    """Return the language of a code block in lower case, or "" if the page does not name it."""
    inner = next(pre.iter("code"), None)
    near = [pre] if inner is None or inner is pre else [inner, pre]
    for element in near:
        language = _find_named_language(element) or _find_bare_language(element)
        if language:
            return "" if language in _NO_LANGUAGE else language
    above: HtmlElement | None = pre.getparent()
    for _ in range(_MAX_PARENTS):
        # Only a wrapper of this code names its language; a class of a larger element means something else.
        if above is None or above.tag not in _WRAPPER_TAGS:
            return ""
        if language := _find_named_language(above):
            return "" if language in _NO_LANGUAGE else language
        above = above.getparent()
    return ""


def _find_named_language(element: HtmlElement) -> str:
    attributes = element.attrib
    for name in ("data-lang", "data-language"):
        value = attributes.get(name)
        if value and re.fullmatch(r"[\w+#.-]{1,30}", value):
            return str(value).lower()
    classes = attributes.get("class")
    if not classes:
        return ""
    for pattern in _LANGUAGE_PATTERNS:
        if match := pattern.search(classes[:MAX_CLASS]):
            return str(match[1]).lower().rstrip(".")
    return ""


def _find_bare_language(element: HtmlElement) -> str:
    classes = (element.get("class") or "")[:MAX_CLASS].lower().split()
    return next((name for name in classes if name in _LANGUAGES), "")


def is_gutter(element: HtmlElement, max_texts: int | None = None) -> bool:
    """Return whether an element beside or inside code holds only line numbers, in at most `max_texts` text nodes."""
    classes = element.get("class")
    if not classes or _GUTTER_CLASSES.isdisjoint(classes[:MAX_CLASS].split()):
        return False
    length = 0
    for number, part in enumerate(element.itertext()):
        length += len(part)
        if number == max_texts or length > _MAX_GUTTER or not _NUMBERS.match(part):
            return False
    return True


def read_code(pre: HtmlElement) -> str:
    """Return the exact text of a code block without line numbers. Each `<br>` and each block ends a line.

    One line break at the start and one at the end belong to the markup and are removed.
    """
    parts = [pre.text or ""]
    starts: list[int] = []
    line_end = 0
    skipped: HtmlElement | None = None
    for event, element in etree.iterwalk(pre, events=("start", "end", "comment", "pi")):
        if element is pre or (skipped is not None and element is not skipped):
            continue
        if event == "start":
            if is_gutter(element, _GUTTER_TEXTS):
                skipped = element
            else:
                _start_element(element, parts, starts)
            continue
        tail = element.tail or ""
        if event == "end" and element.tag in _LINE_TAGS and skipped is None:
            if _end_line(parts, starts.pop()):
                line_end = len(parts)
            if line_end == len(parts):
                tail = tail.removeprefix("\n")
        skipped = None
        if tail:
            parts.append(tail)
    return "".join(parts).replace("\r\n", "\n").removeprefix("\n").removesuffix("\n")


def _start_element(element: HtmlElement, parts: list[str], starts: list[int]) -> None:
    if element.tag == "br":
        parts.append("\n")
    elif element.tag in _LINE_TAGS:
        if parts[-1] and not parts[-1].endswith("\n"):
            parts.append("\n")
        starts.append(len(parts))
    if element.text:
        parts.append(element.text)


def _end_line(parts: list[str], start: int) -> bool:
    """End the line of a block inside code, even an empty line. Returns False if the line has already ended."""
    if len(parts) > start and parts[-1].endswith("\n"):
        return False
    parts.append("\n")
    return True


def is_gutter_block(pre: HtmlElement) -> bool:
    """Return whether a `<pre>` contains only the line numbers of the code beside it."""
    parent = pre.getparent()
    # Prism gives the class "line-numbers" to the code itself, so it counts only beside other code.
    is_only_child = pre.getnext() is None and pre.getprevious() is None
    is_alone = parent is None or (is_only_child and parent.tag != "td")
    return not is_alone and is_gutter(pre)


def is_gutter_cell(cell: HtmlElement) -> bool:
    """Return whether a table cell contains only the line numbers of the code in another cell of its row."""
    row = cell.getparent()
    return row is not None and is_gutter(cell) and any(_is_code_cell(other) for other in row if other is not cell)


def _is_code_cell(cell: HtmlElement) -> bool:
    names = _read_classes(cell)
    is_named = "code" in names or not _CODE_CELL_CLASSES.isdisjoint(names)
    return is_named or next(cell.iter("pre", "code"), None) is not None


def read_listing(table: HtmlElement) -> str | None:
    """Return the code of a table with one row per line, or None for other tables."""
    row = next(table.iter("tr"), None)
    if row is None or all(_CODE_CELL_CLASSES.isdisjoint(_read_classes(cell)) for cell in row if cell.tag == "td"):
        return None
    texts: list[str] = []
    for cell in table.iter("td", "th"):
        if not _CODE_CELL_CLASSES.isdisjoint(_read_classes(cell)):
            texts.append(read_code(cell).strip("\n"))
        elif not is_gutter(cell) and any(not text.isspace() for text in cell.itertext()):
            return None  # more than code
    return "\n".join(texts)


def _read_classes(element: HtmlElement) -> list[str]:
    return (element.get("class") or "")[:MAX_CLASS].split()
