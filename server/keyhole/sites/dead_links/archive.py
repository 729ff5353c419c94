"""Find the copy of a dead address in the Internet Archive (archive.org/help/wayback_api.php)."""

from __future__ import annotations

import json
from contextlib import suppress
from typing import Any
from urllib.parse import quote

from keyhole.sites.dead_links.similarity import Near


def archive_request(url: str) -> str:
    """Return the address of the archive's answer about its copy of a page."""
    return f"https://archive.org/wayback/available?url={quote(url, safe='')}"


def read_copy(body: bytes) -> tuple[Near, ...]:
    """Return the copy that an answer of the archive names, none if it has no copy."""
    with suppress(ValueError, TypeError, KeyError):
        copy: Any = json.loads(body)["archived_snapshots"]["closest"]
        url, day = str(copy["url"]), str(copy["timestamp"])
        if copy["available"] and url.startswith(("http://web.archive.org/", "https://web.archive.org/")):
            secure = url.replace("http://", "https://", 1)
            return (Near(secure, f"a copy of {day[:4]}-{day[4:6]}-{day[6:8]} in the Internet Archive", 0.0),)
    return ()
