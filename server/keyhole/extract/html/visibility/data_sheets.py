"""Find the style sheets of a page: `<style>` elements and sheets in `data:` addresses."""

from __future__ import annotations

import base64
import binascii
from collections.abc import Iterator
from typing import Final
from urllib.parse import unquote_to_bytes

from lxml.html import HtmlElement

from keyhole.extract.html.visibility.conditions import media_applies

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
