"""Validators: what a site said a text is known by, sent back to ask whether it is still the same. Pure.

They come from strangers and go into request headers, so only the forms of RFC 9110 pass, and only short ones.
They belong to the URL that gave them: after a redirect elsewhere they would ask about another page.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final

NOT_MODIFIED: Final = 304
MAX_ETAG: Final = 200
"""Characters. Real ones have up to some 70 (a hash and a size); longer ones would track us, not the text."""

# RFC 9110, 8.8.3: quoted, no control characters and no spaces; of the rest ASCII only.
_ETAG: Final = re.compile(r'(?:W/)?"[!#-~]*"')
# RFC 9110, 5.6.7: the one form of date that servers may send today.
_DATE: Final = re.compile(r"[A-Z][a-z]{2}, [0-9]{2} [A-Z][a-z]{2} [0-9]{4} [0-9]{2}:[0-9]{2}:[0-9]{2} GMT")


@dataclass(frozen=True, slots=True)
class Validators:
    """What the final URL of an earlier fetch gave; at least one of the two is there."""

    url: str
    etag: str = ""
    last_modified: str = ""

    def headers(self, url: str) -> dict[str, str]:
        """The headers of a conditional request for `url`: none for any URL but their own."""
        if url != self.url:
            return {}
        conditions = {"If-None-Match": self.etag, "If-Modified-Since": self.last_modified}
        return {name: value for name, value in conditions.items() if value}


def safe_etag(value: str) -> str:
    """An ETag that can be sent back, else ""."""
    return value if len(value) <= MAX_ETAG and _ETAG.fullmatch(value) else ""


def safe_date(value: str) -> str:
    """A Last-Modified that can be sent back, else ""."""
    return value if _DATE.fullmatch(value) else ""
