"""Read the formula that an image shows from its description, its title or its address."""

from __future__ import annotations

import re
from typing import Final
from urllib.parse import unquote

from lxml.html import HtmlElement

from keyhole.extract.html.formulas import delimit, strip_style

_CLASSES = frozenset({
    "mwe-math-fallback-image-inline", "mwe-math-fallback-image-display", "math", "tex", "latex", "texhtml",
})  # fmt: skip
_DELIMITED = re.compile(
    r"\s*(?:\$\$(?P<a>[^$]+)\$\$|\\\[(?P<b>.+)\\\]|\$(?P<c>[^$]+)\$|\\\((?P<d>.+)\\\))\s*", re.DOTALL
)
_COMMAND = re.compile(r"\\(?:[a-zA-Z]{2,}(?=[\s{}_^\\()\[\]=+,.-]|$)|[,;!{}])|[\w)}]\^[\w{(]|\w_\{")
"""A TeX command, a power or an index. Words with an underscore do not match."""
_ADDRESS = re.compile(
    r"(?:codecogs\.com/\w+\.(?:latex|image)\?|latex\.php\?latex=|equation\?tex=|\?cht=tx&chl=)([^&#]+)"
)
"""The address of a service that draws the formula in its query."""
_MAX_ADDRESS: Final = 4_000
"""Largest length of an address that is read, in characters."""


def read_formula_image(image: HtmlElement) -> str:
    """Return the TeX of a formula's image, or "" for other images."""
    alt = image.get("alt") or ""
    if match := _DELIMITED.fullmatch(alt):
        return delimit(match["a"] or match["b"] or match["c"] or match["d"], is_display=bool(match["a"] or match["b"]))
    tex = strip_style(alt) or strip_style(image.get("title") or "")
    if not _CLASSES.isdisjoint((image.get("class") or "")[:200].split()):
        return delimit(tex, is_display=False)
    parent = image.getparent()
    for above in (parent, None if parent is None else parent.getparent()):
        if above is not None and above.tag == "div" and above.get("class") == "math":
            return delimit(tex, is_display=True)
    if alt and ":\\" not in alt and _COMMAND.search(alt[:_MAX_ADDRESS]):  # ":\\" is in the path of a file
        return delimit(strip_style(alt), is_display=False)
    address = image.get("src") or ""
    if "?" in address and (match := _ADDRESS.search(address[:_MAX_ADDRESS])):
        return delimit(unquote(match[1]).replace("+", " ") if "%" in match[1] else match[1], is_display=False)
    return ""
