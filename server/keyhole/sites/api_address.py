"""Compose the address of an API from parts of an address that a caller or a page wrote.

Such a part could lead to another object of the API: with a slash, with dots that a server resolves once it has decoded
them, or with a further parameter. So each part is quoted as one segment or value, and one that decodes to dots is
refused.
"""

from __future__ import annotations

from urllib.parse import quote, unquote, urlencode

from keyhole.errors import KeyholeError
from keyhole.fetch.permission import hides_segments
from keyhole.fetch.urls import parse_target


def api_address(base: str, *segments: str, **query: str | int) -> str:
    """Return the address below `base`, without a slash at its end, with these segments and the parameters of a query.

    `segments`: as in an address, where an escaped slash stays within its segment. Raises ValueError for parts that a
    server could read as another address.
    """
    path = "".join(f"/{quote(unquote(segment), safe='')}" for segment in segments)
    address = f"{base}{path}" + (f"?{urlencode(query, quote_via=quote, safe='')}" if query else "")
    try:
        target = parse_target(address)
    except KeyholeError as error:
        raise ValueError("the address has parts that are not allowed") from error
    is_below = target.url == address and (address == base or address.startswith((f"{base}/", f"{base}?")))
    has_control = any(character < " " for segment in segments for character in unquote(segment))
    if "" in segments or has_control or hides_segments(address) or not is_below:
        raise ValueError("the address has parts that lead elsewhere")
    return address


def segments_of(path: str) -> list[str]:
    """Return the segments of a path in an address."""
    return [segment for segment in path.split("/") if segment]
