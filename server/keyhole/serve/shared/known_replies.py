"""Find the replies that are the same from every server of this version: to handshakes and lists.

The file replies.json has the result of each of these methods in each revision of the protocol, as the server gives it
to a client without extensions. `python -m tests.serve.shared.test_known_replies` writes it.
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from typing import Any, Final

from keyhole._version import __version__

FILE: Final = os.path.join(os.path.dirname(__file__), "replies.json")
VERSION_MARK: Final = "VERSION OF KEYHOLE"
"""Stands in the file for the version of the server."""
INITIALIZE: Final = "initialize"
METHODS: Final = ("server/discover", "tools/list", "prompts/list", "resources/templates/list")
_META: Final = "io.modelcontextprotocol/"
MODERN_META: Final = {_META + name for name in ("protocolVersion", "clientInfo", "clientCapabilities")}
"""The keys of `_meta` in each request of the later era."""


class KnownReplies:
    """The results by revision and method."""

    def __init__(self, results: Mapping[str, Mapping[str, Any]]) -> None:
        self._results = results

    def find(self, message: Mapping[str, Any], version: str) -> Any:
        """Return the result for a request, None if it is not known.

        `version`: the revision of the handshake, "" without one. A request that the server may refuse is not known.
        """
        params = message.get("params") or {}
        method = message.get("method")
        if message.get("jsonrpc") != "2.0" or not isinstance(params, dict):
            return None
        if method == INITIALIZE:
            return self._results.get(_handshake_version(params), {}).get(INITIALIZE)
        meta = params.get("_meta", {})
        if method not in METHODS or set(params) - {"_meta"} or not isinstance(meta, dict):
            return None
        if meta:
            version = _request_version(meta)
        return self._results.get(version, {}).get(method)


def load_replies() -> KnownReplies:
    """Load the file; return no replies if it is missing."""
    try:
        with open(FILE, encoding="utf-8") as file:
            saved = json.loads(file.read().replace(VERSION_MARK, __version__))
    except (OSError, ValueError):
        return KnownReplies({})
    results, table = saved["results"], saved["replies"]
    return KnownReplies({
        version: {method: results[number] for method, number in methods.items()} for version, methods in table.items()
    })  # fmt: skip


def _handshake_version(params: Mapping[str, Any]) -> str:
    is_usual = set(params) == {"protocolVersion", "capabilities", "clientInfo"}
    return (
        str(params["protocolVersion"]) if is_usual and _is_plain(params["clientInfo"], params["capabilities"]) else ""
    )


def _request_version(meta: Mapping[str, Any]) -> str:
    """Return the revision of a request of the later era, "" if it has anything unusual."""
    if set(meta) != MODERN_META or not _is_plain(meta[_META + "clientInfo"], meta[_META + "clientCapabilities"]):
        return ""
    return str(meta[_META + "protocolVersion"])


def _is_plain(client: object, capabilities: object) -> bool:
    """Return whether a client and its capabilities are valid, without extensions, on which replies depend."""
    if not isinstance(client, dict) or not isinstance(capabilities, dict) or "extensions" in capabilities:
        return False
    return isinstance(client.get("name"), str) and isinstance(client.get("version"), str)
