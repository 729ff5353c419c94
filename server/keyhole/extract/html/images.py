"""Decide what the description of an image says: nothing, words of the text, or what a picture shows."""

from __future__ import annotations

import re
from collections.abc import Mapping
from enum import Enum
from itertools import islice
from typing import Final

from lxml.html import HtmlElement

from keyhole.text.clean import clean

MAX_DESCRIPTION: Final = 300
"""Largest length of an image's description, in characters. Longer ones are captions, which the page repeats."""
_GENERIC = re.compile(
    r"(?:(?:the |our |site |website |company |brand |main |header |footer |mobile )*logo(?: image)?"
    r"|(?:user |profile |author |member )?(?:avatar|icon|photo|picture|image|img|pic|thumbnail|thumb)"
    r"|placeholder|spacer|blank|loading\W*|banner|hero(?: image)?|featured image|background(?: image)?"
    r"|(?:image|photo|picture|slide|img|dsc|screenshot)[ _-]?\d+)"
)
"""A description that says only that there is an image."""
_LOGO = re.compile(r".{0,80}\blogo\W*")
_HOME = re.compile(r"(?:https?://[^/]+)?/?")
"""The address of a site's home page, to which its logo leads."""
_ICON_NAME = re.compile(r"\b(?:icon|img|image|arrow|chevron|button|logo)\b")
_FILE_NAME = re.compile(r"\S+\.(?:jpe?g|png|gif|webp|svg|avif|bmp)")
_ICON_SIZE: Final = 32
"""Largest width and height of an icon, in pixels. In a sentence or a table cell its description is a word."""
_LABELLED: Final = frozenset({"a", "figure", "button"})
"""Elements that show an image together with its title."""
_LABEL_REACH: Final = 3
"""Number of elements above an image that are searched for one in `_LABELLED`."""
_LABEL_TEXTS: Final = 40
"""Number of text nodes of a labelled element that are compared with the description."""


class ImageRole(Enum):
    """The role of an image for its reader."""

    DECORATION = "decoration"
    WORD = "word"
    PICTURE = "picture"


def read_alt_text(attributes: Mapping[str, str]) -> str:
    """Return an image's description, truncated to `MAX_DESCRIPTION` and without square brackets."""
    text = " ".join(clean((attributes.get("alt") or "")[: 2 * MAX_DESCRIPTION]).split())
    return text[:MAX_DESCRIPTION].replace("[", "(").replace("]", ")")


def find_role(image: HtmlElement, description: str) -> ImageRole:
    """Return the role of an image with a description.

    A decoration is the icon of a link with words, or its description is generic, is the name of a file, or repeats its
    label. A word is an emoji, another icon, the only content of a link, or the description of an image without an
    address, which browsers show in its place.
    """
    attributes = image.attrib
    if not description or attributes.get("role") in {"presentation", "none"} or is_pixel(image):
        return ImageRole.DECORATION
    words = description.lower()
    if _GENERIC.fullmatch(words) or _FILE_NAME.fullmatch(words):
        return ImageRole.DECORATION
    if not any("src" in name for name in attributes):
        return ImageRole.WORD
    if "emoji" in (attributes.get("class") or "")[:200]:
        return ImageRole.WORD
    is_icon = _is_icon(attributes)
    holder = next((above for above in islice(image.iterancestors(), _LABEL_REACH) if above.tag in _LABELLED), None)
    if holder is None and not is_icon:
        return ImageRole.PICTURE
    label = _read_text(image.getparent() if holder is None else holder)
    if words in label or (is_icon and ((holder is not None and label) or _ICON_NAME.search(words))):
        return ImageRole.DECORATION
    if holder is not None and holder.tag == "a":
        if _LOGO.fullmatch(words) and _HOME.fullmatch(holder.get("href") or "#"):
            return ImageRole.DECORATION
        return ImageRole.PICTURE if label else ImageRole.WORD
    return ImageRole.WORD if is_icon else ImageRole.PICTURE


def is_pixel(image: HtmlElement) -> bool:
    """Return whether an image is a spacer or a tracking pixel."""
    return image.get("width") in {"0", "1"} and image.get("height") in {"0", "1", None}


def _is_icon(attributes: Mapping[str, str]) -> bool:
    sizes = (attributes.get("width") or "", attributes.get("height") or "")
    return all(size.isdecimal() and len(size) < 4 and int(size) <= _ICON_SIZE for size in sizes)


def _read_text(element: HtmlElement) -> str:
    """Return the beginning of an element's text, in lower case and in one line."""
    return " ".join("".join(islice(element.itertext(), _LABEL_TEXTS)).split()).lower()
