"""What a reader is given: a response body with its type and address, and its text where it is text. Decides nothing."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from keyhole.extract.decode import decode


@dataclass(frozen=True, slots=True)
class Body:
    """A response body as served. `content_type` is the header; what the bytes really are, media.py says."""

    data: bytes
    content_type: str
    url: str
    requested_url: str = ""
    """What was asked for, where redirects led elsewhere."""

    def text(self) -> str:
        """The bytes decoded by BOM, header or guess; never raises."""
        return decode(self.data, self.content_type)

    @property
    def size(self) -> str:
        """The length as messages state it."""
        return f"{len(self.data):,} bytes"


PARSER_FAULTS: Final = (
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
"""What libraries for binary formats raise for malformed files besides errors of their own: they are written for files
that are as they should be. RecursionError is a RuntimeError; lxml's and expat's errors are named beside it."""
