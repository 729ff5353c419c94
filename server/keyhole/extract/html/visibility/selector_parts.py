"""Split selector lists into parts with the names that an element must have, which rejects most rules cheaply."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Final, NamedTuple

Specificity = tuple[int, int, int]

_BRACKETS: Final = re.compile(r"\[[\w-]*+[^\w\[\]-][^\[\]]*+\]")
"""Attributes whose names are not read, such as those with a namespace."""
_STRING: Final = re.compile(r"\"[^\"]*\"|'[^']*'")
_PARENTHESES: Final = re.compile(r"\([^()]*\)")
_ATTRIBUTE: Final = re.compile(r"\[\s*([\w-]+)\s*(?=[\]~^$*=]|\|=)[^\[\]]*\]")
_SINGLE: Final = re.compile(r":(?:is|where)\(([.#][^(),>+~\s\[\]:]*)\)", re.IGNORECASE)
"""A list of one compound, whose names an element must have."""
_NAME: Final = re.compile(r"[.#][^.#:\s>+~\[(]+")
_HAS: Final = re.compile(r"\[[\w-]+(?=\])")
_TAG: Final = re.compile(r"[a-z][\w-]*", re.IGNORECASE)
_ESCAPE: Final = re.compile(r"\\([0-9a-f]{1,6}\s?|.)", re.IGNORECASE | re.DOTALL)
_COMMENT: Final = re.compile(r"/\*.*?(?:\*/|\Z)", re.DOTALL)
_HELD: Final = 0xF0000
"""First of the characters for private use that stand for escapes."""
_COMBINATOR: Final = re.compile(r"\s*[>+~]\s*|\s+")
_INERT: Final = re.compile(r"::|:(?:hover|focus|active|visited|before|after|target)", re.IGNORECASE)
"""Pseudo-elements, and states that a page does not have before a reader touches it."""
_COMPOUND: Final = r"(?:(?:[a-z][a-z0-9]*|\*)(?:[.#]-?[a-z_][\w-]*)*|(?:[.#]-?[a-z_][\w-]*)+)"
_PLAIN: Final = re.compile(rf"\s*{_COMPOUND}(?:(?:\s*[>+~]\s*|\s+){_COMPOUND})*\s*", re.IGNORECASE | re.ASCII)
"""Selectors of names, classes and ids alone, which are valid without a look at their tokens."""
_RANKS: Final = {"#": 3, ".": 2, "[": 0}
"""How well a name selects: few elements have an id, and many have the same attributes."""
ANY: Final = ""
"""The key of a selector that may match every element."""


class ListedSelector(NamedTuple):
    """One selector of a list."""

    text: str
    place: int
    """Its place in the list."""
    key: str
    """The `#id`, `.class`, tag or `[attribute` that an element must have, or `ANY`."""
    own: frozenset[str]
    """All names that the element must have, and its attributes as `[name`."""
    above: frozenset[str]
    """Names that its ancestors must have."""
    elsewhere: frozenset[str]
    """Names that must occur in the page: those of siblings."""
    specificity: Specificity | None
    """The specificity if the names decide alone, so that the selector need not be compiled."""


class SelectorList(NamedTuple):
    """The parts of a selector list that can match."""

    parts: tuple[ListedSelector, ...]
    length: int
    """Number of all selectors in the list."""
    is_plain: bool
    """True if all selectors are valid names. Otherwise one that is not valid makes the whole list match nothing."""


NO_SELECTORS: Final = SelectorList((), 0, True)


@lru_cache(maxsize=16_384)
def split_selectors(selector: str) -> SelectorList:
    """Return the parts of a selector list. The result is cached, because sites share their style sheets."""
    escapes: list[str] = []
    plain = _ESCAPE.sub(lambda match: _hold(match, escapes), selector) if "\\" in selector else selector
    if "/*" in plain:
        plain = _COMMENT.sub("", plain)
    if ":" in plain:
        plain = _SINGLE.sub(r"\1", plain).replace(":root", "html")
    plain = _remove_groups(plain)
    is_plain = True
    parts = []
    pieces = plain.split(",")
    for place, text in enumerate(pieces):
        part_is_plain = plain == selector and _PLAIN.fullmatch(text) is not None
        is_plain = is_plain and part_is_plain
        part = _split_part(text.strip(), place, escapes, part_is_plain)
        if part is not None:
            parts.append(part)
    return SelectorList(tuple(parts), len(pieces), is_plain)


def _remove_groups(text: str) -> str:
    """Return a selector list without strings, parentheses and the values of attributes."""
    if "(" not in text and "[" not in text:
        return text
    text = _STRING.sub("", text)
    before = ""
    while text != before:
        before, text = text, _PARENTHESES.sub("", text)
    return _BRACKETS.sub(":attribute", _ATTRIBUTE.sub(lambda match: f"[{match[1].lower()}]", text))


def _split_part(text: str, place: int, escapes: list[str], is_plain: bool) -> ListedSelector | None:
    """Return a part, or None if it matches only pseudo-elements or states."""
    compounds = _COMBINATOR.split(text)
    last = compounds[-1]
    if _INERT.search(last):
        return None
    own = _list_names(last, escapes)
    others = [_list_names(compound, escapes) for compound in compounds[:-1]]
    names = frozenset(name for compound in others for name in compound)
    has_siblings = "+" in text or "~" in text
    key = max(own, key=lambda name: _RANKS.get(name[:1], 1), default=ANY)
    above = frozenset() if has_siblings else names
    is_decided = is_plain and not has_siblings and ">" not in text and len(others) <= 1 and len(names) <= 1
    specificity = _count(own + [name for names in others for name in names]) if is_decided else None
    return ListedSelector(text, place, key, frozenset(own), above, names if has_siblings else frozenset(), specificity)


def _list_names(compound: str, escapes: list[str]) -> list[str]:
    """Return the tag, `.class` and `#id` of a compound selector."""
    names = _NAME.findall(compound)
    if "[" in compound:
        names += _HAS.findall(compound)
    tag = _TAG.match(compound)
    if tag:
        names.append(tag[0].lower())
    return [_release(name, escapes) for name in names] if escapes else names


def _count(names: list[str]) -> Specificity:
    signs = [name[0] for name in names]
    return signs.count("#"), signs.count("."), len(signs) - signs.count("#") - signs.count(".")


def _hold(match: re.Match[str], escapes: list[str]) -> str:
    """Replace an escape by a character without a meaning in CSS, so that it can be put back later."""
    code = match[1].strip()
    is_code = bool(code) and all(sign in "0123456789abcdefABCDEF" for sign in code)
    escapes.append(chr(min(int(code, 16), 0x10FFFF)) if is_code else match[1])
    return chr(_HELD + len(escapes) - 1)


def _release(name: str, escapes: list[str]) -> str:
    return "".join(escapes[ord(sign) - _HELD] if 0 <= ord(sign) - _HELD < len(escapes) else sign for sign in name)
