"""Validators of stored pages (ETag and Last-Modified) for conditional requests.

Untrusted sites supply them and requests repeat them, so only short values in the forms of RFC 9110 are accepted. They
are sent only to the URL that supplied them: after a redirect to another URL they would describe another page.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final

NOT_MODIFIED: Final = 304
MAX_ETAG: Final = 200
"""Characters. Real ETags have up to about 70 (a hash and a size); longer ones could track the client."""

# RFC 9110, 8.8.3: quoted, without control characters and spaces. Only ASCII is accepted.
_ETAG: Final = re.compile(r'(?:W/)?"[!#-~]*"')
# RFC 9110, 5.6.7: the only date format that servers may generate.
_DATE: Final = re.compile(r"[A-Z][a-z]{2}, [0-9]{2} [A-Z][a-z]{2} [0-9]{4} [0-9]{2}:[0-9]{2}:[0-9]{2} GMT")


@dataclass(frozen=True, slots=True)
class Validators:
    """The validators of the final URL of an earlier fetch; at least one of the two is not empty."""

    url: str
    etag: str = ""
    last_modified: str = ""

    def request_headers(self, url: str) -> dict[str, str]:
        """Return the headers of a conditional request for `url`; {} if the validators are for another URL."""
        if url != self.url:
            return {}
        conditions = {"If-None-Match": self.etag, "If-Modified-Since": self.last_modified}
        return {name: value for name, value in conditions.items() if value}


def sanitize_etag(value: str) -> str:
    """Return an ETag that is safe to send back, otherwise ""."""
    return value if len(value) <= MAX_ETAG and _ETAG.fullmatch(value) else ""


def sanitize_last_modified(value: str) -> str:
    """Return a Last-Modified date that is safe to send back, otherwise ""."""
    return value if _DATE.fullmatch(value) else ""
