"""Replace lone surrogates in JSON.

JSON may escape a lone surrogate, as `"\\ud800"`, and clients do so for text that was cut in the middle of an emoji.
The SDK's parser rejects the whole message, without an answer to the client.
"""

from __future__ import annotations

import re
from typing import Final

_HIGH: Final = r"[dD][89abAB][0-9a-fA-F]{2}"
_LOW: Final = r"[dD][c-fC-F][0-9a-fA-F]{2}"
# Backslashes are matched in pairs from the first one on, and possessively, so that matching is linear. Group 2 is a
# complete pair, which stays.
_LONE: Final = re.compile(rf"(?<!\\)((?:\\\\)*+)(?:(\\u{_HIGH}\\u{_LOW})|\\u(?:{_HIGH}|{_LOW}))")
_REPLACEMENT: Final = "\\ufffd"


def replace_lone_surrogates(text: str) -> str:
    """Replace each escaped lone surrogate in JSON text by U+FFFD, in linear time."""
    return _LONE.sub(lambda match: match[0] if match[2] else match[1] + _REPLACEMENT, text)
