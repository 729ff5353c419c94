"""The response body that format readers receive, and the exceptions that parsers of binary formats raise."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from keyhole.extract.decode import decode


@dataclass(frozen=True, slots=True)
class Body:
    """A response body as received, with its Content-Type header and final URL."""

    data: bytes
    content_type: str
    url: str
    requested_url: str = ""
    """The URL before redirects, or ""."""

    def text(self) -> str:
        """Decode the bytes to text. Never raises."""
        return decode(self.data, self.content_type)

    @property
    def size_text(self) -> str:
        """The size of the body for messages, such as "1,234 bytes"."""
        return f"{len(self.data):,} bytes"


PARSER_ERRORS: Final = (
    ArithmeticError,
    AssertionError,
    AttributeError,
    LookupError,
    OSError,
    RuntimeError,
    SyntaxError,
    TypeError,
    ValueError,
)
"""Built-in exceptions that libraries for binary formats raise on malformed files, in addition to their own
exceptions."""
