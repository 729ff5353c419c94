"""Find the simple selectors that a page's own style sheets hide, without a tree.

Only rules that always apply are read, and only selectors of one name, class or id, or of a name with a class. A rule
with another selector cannot be applied without a tree.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Final

from keyhole.extract.html.visibility.computed_style import hides_by_attributes

MAX_SHEETS: Final = 400_000
"""Largest length of style sheets read per page, in characters. Pages have about 50,000."""
MAX_BLOCKS: Final = 2_000
"""Largest number of blocks of declarations that are parsed, each in some 0.1 ms."""

_COMMENT = re.compile(r"/\*.*?(?:\*/|\Z)", re.DOTALL)
_BRACE = re.compile(r"[{}]")
_TRANSPARENT = re.compile(r"@layer\b|@media\s*(?:only\s+)?(?:all|screen)\s*\Z", re.IGNORECASE)
"""Rules whose inner rules apply to every screen."""
_SIMPLE = re.compile(r"[a-z][\w-]*(?:\.[\w-]+)?|[.#][\w-]+", re.IGNORECASE)
_HIDING = re.compile(r"display|visib|opacity|size|clip|colou?r|indent|position|transform|scale|filter|overflow|\\")
"""Words without which a block does not hide anything."""

Selectors = frozenset[str]
"""Selectors such as `nav`, `.note`, `#menu` and `p.note`."""


def find_hidden_selectors(css: str) -> Selectors:
    """Return the simple selectors of the rules that hide. A later rule with the same selector may show it again."""
    hidden: set[str] = set()
    css = _COMMENT.sub(" ", css[:MAX_SHEETS])
    start = depth = blocks = 0
    prelude = ""
    for brace in _BRACE.finditer(css):
        text, start = css[start : brace.start()], brace.end()
        if depth == 1 and prelude and _HIDING.search(text) and blocks < MAX_BLOCKS:
            blocks += 1
            selectors = {name.strip() for name in prelude.split(",")}
            change = hidden.update if hides_by_attributes("span", {"style": text}) else hidden.difference_update
            change(name for name in selectors if _SIMPLE.fullmatch(name))
        prelude = text.rpartition(";")[2].strip() if brace[0] == "{" and depth == 0 else ""
        if _TRANSPARENT.match(prelude):
            prelude = ""
        elif brace[0] == "{":
            depth += 1
        else:
            depth = max(0, depth - 1)
    return frozenset(hidden)


def matches(selectors: Selectors, tag: str, attributes: Mapping[str, str]) -> bool:
    """Return whether any of the selectors matches an element."""
    if not selectors:
        return False
    classes = attributes.get("class", "").split()
    keys = (
        tag,
        f"#{attributes.get('id', '')}",
        *(f".{each}" for each in classes),
        *(f"{tag}.{each}" for each in classes),
    )
    return not selectors.isdisjoint(keys)
