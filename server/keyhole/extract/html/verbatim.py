"""Read the parts of a page whose every character counts: code blocks, and formulas as TeX."""

from __future__ import annotations

import re
from itertools import islice
from typing import Final

from lxml import etree, html
from lxml.html import HtmlElement

from keyhole.text.clean import clean

# Code blocks: their exact text without line numbers, and their language.

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
    "typescript", "vim", "xml", "yaml", "zig", "zsh", "py", "rb", "rs", "kt", "jsx", "yml",
))  # fmt: skip
_NATURAL = re.compile(r"[A-Za-z]{2,3}(?:-[\w-]*)?")
"""The form of codes of natural languages, such as "en" and "pt-BR"."""
_NO_LANGUAGE = frozenset({"none", "default", "notranslate", "nohighlight", "highlight", "undefined", "auto"})
_WRAPPER_TAGS = frozenset({"div", "figure", "section", "td", "dd", "li", "span", "code"})

_GUTTER_CLASSES = frozenset((
    "lineno", "linenos", "linenum", "linenumber", "linenumbers", "line-number", "line-numbers", "lineNumber",
    "line-numbers-rows", "lnt", "ln", "lno", "gutter", "rouge-gutter", "blob-num", "hljs-ln-numbers", "hljs-ln-n",
    "CodeMirror-linenumber", "CodeMirror-gutter-elt", "linenodiv", "src-line-numbers", "code-line-number",
))  # fmt: skip
_CODE_CELL_CLASSES = frozenset({"blob-code", "hljs-ln-code", "js-file-line"})
_NUMBERS = re.compile(r"[\d\s.:|\u2503]*$")
_MAX_GUTTER: Final = 50_000
"""Largest length of a gutter of line numbers, in characters: the numbers of 8,000 lines."""
_GUTTER_TEXTS: Final = 8
"""Largest number of text nodes in a gutter inside code, where each line has its own gutter."""
_LINE_CLASSES = frozenset({"line", "code-line", "codeline", "token-line", "view-line", "cm-line", "ec-line"})
"""Classes of the lines of code that a style sheet of another file makes blocks."""
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
    for name in ("data-lang", "data-language", "lang"):
        value = attributes.get(name)
        if name == "lang" and _NATURAL.fullmatch(value or "") and value not in _LANGUAGES:
            continue
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
    if lines := _find_lines(pre):
        return "\n".join(map(read_code, lines))
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


def _find_lines(pre: HtmlElement) -> list[HtmlElement]:
    """Return the lines of code that only a style sheet of another file separates, [] for other code."""
    if any("\n" in text for text in pre.itertext()) or next(pre.iter("br", *_LINE_TAGS), None) is not None:
        return []
    lines = [each for each in pre.iter("span", "code") if not _LINE_CLASSES.isdisjoint(_read_classes(each))]
    has_all = len(lines) > 1 and "".join(line.text_content() for line in lines) == pre.text_content()
    return lines if has_all else []


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


# Formulas in the source of a page: MathML, and TeX between delimiters.

_SPACE = re.compile(r"[ \t\r\n\f]+")
_WORD = re.compile(r"[\w.]+$")
_AROUND_SIGNS = re.compile(r" ?([^\w\s,]) ?")
_STYLE = re.compile(r"\{?\\(?:display|text|script)style\s*(.*?)\}?$", re.DOTALL)
_DELIMITERS = re.compile(r"\s*(?:\\\((.*)\\\)|\\\[(.*)\\\]|\$\$(.*)\$\$|\$([^$]+)\$)\s*$", re.DOTALL)
_ACTIVE_SIGNS = re.compile(r"\](?=[(\[:])|!(?=\[)|<(?=[A-Za-z/!?])")
_TEX_ENCODINGS = frozenset({"application/x-tex", "TeX", "LaTeX", "text/x-tex"})

MAX_FORMULA: Final = 20_000
"""Largest length of a formula, in characters. Longer text is not marked as a formula."""
_MAX_TEXT_NODES: Final = 20
"""Largest number of text nodes in a formula of class "math". Before MathJax runs, a formula is one text node."""
_MAX_DEPTH: Final = 60
"""Largest depth of MathML elements. Deeper ones are written as plain text."""


def read_mathml(math: HtmlElement) -> str:
    """Return the TeX of a `<math>` element, else its parts as one line, between dollar signs."""
    tex = (
        _find_annotation(math)
        or strip_style(math.get("alttext") or math.get("data-latex") or "")
        or _SPACE.sub(" ", _linearize(math, 0)).strip()
    )
    is_display = math.get("display") == "block" or math.get("mode") == "display"
    return delimit(tex, is_display=is_display)


def read_delimited_formula(element: HtmlElement) -> str:
    """Return the formula in an element of class "math", or "" if the content has no TeX delimiters."""
    parts = list(islice(element.itertext(), _MAX_TEXT_NODES + 1))
    text = "".join(parts) if len(parts) <= _MAX_TEXT_NODES and sum(map(len, parts)) <= MAX_FORMULA else ""
    match = _DELIMITERS.match(text)
    if match is None:
        return ""
    return delimit(next(group for group in match.groups() if group is not None), is_display=bool(match[2] or match[3]))


def read_mathjax_script(script: HtmlElement) -> str:
    """Return the TeX of a MathJax script."""
    return delimit(script.text or "", is_display="mode=display" in (script.get("type") or ""))


def escape_formula(tex: str) -> str:
    """Add spaces to TeX, where they mean nothing, so that Markdown does not see a link, an image or HTML."""
    return _ACTIVE_SIGNS.sub(r"\g<0> ", clean(tex).replace("`", "‘"))


def delimit(tex: str, *, is_display: bool) -> str:
    """Put a formula between dollar signs. Empty text and text over `MAX_FORMULA` gets none."""
    tex = tex.strip()
    if not tex or len(tex) > MAX_FORMULA:
        return tex
    lines = "\n".join(line.strip() for line in tex.splitlines() if line.strip())
    return f"$${lines}$$" if is_display else f"${_SPACE.sub(' ', tex)}$"


def strip_style(tex: str) -> str:
    """Remove the style that MediaWiki wraps around every formula."""
    tex = tex.strip()
    match = _STYLE.match(tex)
    return match[1].strip() if match else tex


def _find_annotation(math: HtmlElement) -> str:
    for note in math.iter("annotation", "m:annotation", "mml:annotation"):
        if note.get("encoding") in _TEX_ENCODINGS and note.text:
            return strip_style(note.text)
    return ""


def _linearize(element: HtmlElement, depth: int) -> str:
    """Write MathML in one line: fractions with a slash, powers and indices with TeX signs."""
    if depth > _MAX_DEPTH:
        return " ".join(element.itertext())
    tag = _read_name(element)
    if tag in {"", "annotation", "annotation-xml", "mphantom"}:
        return ""
    if tag in _TOKENS or len(element) == 0:
        return _write_token(tag, " ".join("".join(element.itertext()).split()))
    own = element.text or ""
    parts = [_linearize(child, depth + 1) + (child.tail or "").strip() for child in element]
    if tag == "mmultiscripts":
        return own.strip() + " ".join(part.strip() for part in parts if part)
    return own.strip() + _join_parts(
        tag, [_SPACE.sub(" ", part).strip() if tag in _FIXED_PARTS else part for part in parts]
    )


def _read_name(element: HtmlElement) -> str:
    """Return the name of a MathML element without its prefix, "" for comments."""
    return element.tag.rpartition(":")[2] if isinstance(element.tag, str) else ""


def _write_token(tag: str, text: str) -> str:
    if tag in {"mtext", "ms"} and len(text) > 1:
        return f" {text} "
    if tag == "mo" and len(text) <= 2 and text not in {"(", ")", "[", "]", "{", "}", "|", "!", ""}:
        return f"{text} " if text in {",", ";"} else f" {text} "
    return {"\u2061": " ", "\u2062": " ", "\u2063": "", "\u2064": ""}.get(text, text)


_TOKENS = frozenset({"mi", "mn", "mo", "ms", "mtext"})
_FIXED_PARTS = frozenset({"mfrac", "msup", "msub", "msubsup", "mroot", "munder", "mover", "munderover", "mtd"})


def _join_parts(tag: str, parts: list[str]) -> str:
    match tag, parts:
        case "mfrac", [numerator, denominator]:
            return f"{_parenthesize(numerator)}/{_parenthesize(denominator)}"
        case "msup" | "mover", [base, power]:
            return f"{base}^{_brace(power)}"
        case "msub" | "munder", [base, index]:
            return f"{base}_{_brace(index)}"
        case "msubsup" | "munderover", [base, index, power]:
            return f"{base}_{_brace(index)}^{_brace(power)} "
        case "mroot", [base, degree]:
            return f"root({degree}, {base})"
        case "msqrt", _:
            return f"√{_parenthesize(''.join(parts).strip())}"
        case "mtr", _:
            return ", ".join(part for part in parts if part) + "; "
        case "mtable", _:
            return "".join(parts).strip().rstrip(";")
        case "mfenced", _:
            return f"({', '.join(part.strip() for part in parts)})"
        case _:
            return "".join(parts)


def _brace(part: str) -> str:
    """Put braces around a power or index of several signs, without the spaces around its operators."""
    part = _AROUND_SIGNS.sub(r"\1", part.strip())
    return part if len(part) == 1 else f"{{{part}}}"


def _parenthesize(part: str) -> str:
    part = part.strip()
    return part if len(part) == 1 or _WORD.match(part) else f"({part})"


# Formulas rendered by MathJax, KaTeX or MediaWiki: many elements beside TeX or MathML, of which one is written.

_CLASSES: Final = frozenset({
    "MathJax", "MathJax_Display", "MathJax_Preview", "MathJax_SVG", "MathJax_SVG_Display", "MathJax_CHTML",
    "MathJax_MathML", "MJXc-display", "katex", "katex-display", "mwe-math-element",
})  # fmt: skip
_NEAR_SCRIPT: Final = 3
"""Number of elements after a rendering that may hold its script: a preview, the rendering itself, the script."""
_MAX_GLYPHS: Final = 2_000
"""Largest number of elements of a rendering that are read as glyphs."""
_GLYPH = re.compile(r"(?:mjx-)?c([0-9A-F]{2,5})")
"""The class of a MathJax glyph. It has the code point of the character, which the style sheet writes."""


def is_rendering(names: list[str]) -> bool:
    """Return whether an element with these class names is a rendered formula."""
    return not _CLASSES.isdisjoint(names)


def read_rendering(element: HtmlElement) -> str | None:
    """Return a rendered formula, "" if its script follows, or None if only its visible text shows the formula."""
    if _has_script(element):
        return ""
    formulas = list(islice(element.iter("math"), 2))
    if len(formulas) > 1:
        return None  # not one formula, but a part of the page
    math = formulas[0] if formulas else _parse_mathml(element)
    if math is not None:
        return read_mathml(math) or None
    if any(text and not text.isspace() for text in element.itertext()):
        return None
    return element.get("aria-label") or delimit("".join(_read_glyphs(element)), is_display=False) or None


def _has_script(rendering: HtmlElement) -> bool:
    """Return whether the script with the TeX of a rendering follows."""
    if (rendering.tail or "").strip():
        return False
    for sibling in islice(rendering.itersiblings(), _NEAR_SCRIPT):
        if sibling.tag == "script" and (sibling.get("type") or "").startswith("math/tex"):
            return True
        if not (sibling.get("class") or "").startswith("MathJax") or (sibling.tail or "").strip():
            return False
    return False


def _parse_mathml(element: HtmlElement) -> HtmlElement | None:
    """Return the formula in the attribute `data-mathml` of an element or of its first descendant with one."""
    for inner in islice(element.iter(), _NEAR_SCRIPT):
        source = inner.get("data-mathml") or ""
        if source.lstrip().startswith("<math") and len(source) <= MAX_FORMULA:
            try:
                return html.fragment_fromstring(source)
            except etree.ParserError:
                return None
    return None


def _read_glyphs(element: HtmlElement) -> list[str]:
    glyphs = islice(element.iter("mjx-c"), _MAX_GLYPHS)
    matches = [_GLYPH.match(name) for glyph in glyphs for name in (glyph.get("class") or "")[:200].split()]
    return [chr(int(match[1], 16)) for match in matches if match and int(match[1], 16) <= 0x10FFFF]
