"""Find the copy of a dead address in the Internet Archive (archive.org/help/wayback_api.php)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import Any, Final

from keyhole.fetch.permission import place_of
from keyhole.sites.api_address import api_address
from keyhole.text.parse_json import parse_json

PLACE: Final = place_of("https://archive.org/wayback/available", 2)
COPIES: Final = place_of("https://web.archive.org/web", 1)


def archive_request(url: str) -> str:
    """Return the address of the archive's answer about its copy of a page."""
    return api_address("https://archive.org/wayback/available", url=url)


def read_copy(_arguments: Mapping[str, Any], bodies: Sequence[bytes]) -> tuple[dict[str, Any], bytes]:
    """Return the address of the copy that an answer of the archive names, "" if it has no copy. For a worker."""
    with suppress(ValueError, TypeError, KeyError):
        copy: Any = parse_json(bodies[0])["archived_snapshots"]["closest"]
        if copy["available"]:
            return {"url": str(copy["url"]).replace("http://", "https://", 1)}, b""
    return {"url": ""}, b""
