"""Requests that hold half of a surrogate pair: mended, so that they are answered. No other one is touched.

JSON may escape a lone surrogate, as `"\\ud800"`, and clients do so for text that was cut in the middle of an
emoji. The SDK's parser refuses the whole line, nobody is told, and the call waits until its client gives up.
"""

from __future__ import annotations

import re
from typing import Final

import mcp_types as types
from mcp.shared.message import SessionMessage
from pydantic import ValidationError

from keyhole.serve.stdio_stream import Item, Passing

_HIGH: Final = r"[dD][89abAB][0-9a-fA-F]{2}"
_LOW: Final = r"[dD][c-fC-F][0-9a-fA-F]{2}"
# Backslashes are read by twos from the first one on, and possessively, so that it is linear. A pair is passed over.
_HALF: Final = re.compile(rf"(?<!\\)((?:\\\\)*+)(?:(\\u{_HIGH}\\u{_LOW})|\\u(?:{_HIGH}|{_LOW}))")
_REPLACEMENT: Final = "\\ufffd"


class Mended(Passing):
    """Reads those items once more which failed for a lone surrogate."""

    async def passed(self, item: Item) -> Item:
        """The message that was meant."""
        return mended(item)


def mended(item: Item) -> Item:
    """The message of a line that failed for nothing but lone surrogates, for which U+FFFD stands; else the item."""
    if not isinstance(item, ValidationError):
        return item
    line = item.errors(include_url=False, include_context=False)[0]["input"]
    if not isinstance(line, str) or (whole := without_halves(line)) == line:
        return item
    try:
        return SessionMessage(types.jsonrpc_message_adapter.validate_json(whole, by_name=False))
    except ValidationError:
        return item


def without_halves(line: str) -> str:
    """JSON without escapes of lone surrogates. Linear."""
    return _HALF.sub(lambda found: found[0] if found[2] else found[1] + _REPLACEMENT, line)
