"""How a client reads on in a result that a gateway has shortened, by the calls that the result names."""

from __future__ import annotations

import json
import re
from typing import Any

from benchmarks.proxy.gateways.corpus import model_text

Result = dict[str, Any]
Call = tuple[str, dict[str, Any]]
"""A tool and its arguments."""

_NEXT = re.compile(r'^Next: (\w+)\(id="(\w+)"(.*)\)$', re.MULTILINE)
_ARGUMENT = re.compile(r'(\w+)=("(?:[^"\\]|\\.)*"|\d+)')
_BODY = re.compile(r"^--- untrusted text (\w+) ---\n(.*)\n--- end \1 ---$", re.MULTILINE | re.DOTALL)


class NoStore:
    """The gateway stores nothing."""

    def follow(self, _result: Result, _budget: int) -> Call | None:
        """Return the call that reads on, as the result names it."""
        return None

    def find(self, _result: Result, _query: str, _budget: int) -> Call | None:
        """Return the call that looks for the answer of a question in what was left out, None if there is none."""
        return None

    def first_page(self, _result: Result, _budget: int) -> Call | None:
        """Return the call that reads the stored result from its start."""
        return None

    def next_page(self, _page: Result, _call: Call, _budget: int) -> Call | None:
        """Return the call after a page of the stored result, None at its end."""
        return None

    def page_text(self, page: Result) -> str:
        """Return the stored text in a page."""
        return model_text(page)


class KeyholeStore(NoStore):
    """The last line but one of a result names the call."""

    def follow(self, result: Result, _budget: int) -> Call | None:
        """Return the named call."""
        return _named(result)

    def find(self, result: Result, query: str, _budget: int) -> Call | None:
        """Return the named call with the question in place of its range."""
        named = _named(result)
        return named and (named[0], {"id": named[1]["id"], "query": query})

    def first_page(self, result: Result, budget: int) -> Call | None:
        """Return the named call from the start of the text."""
        named = _named(result)
        return named and (named[0], {"id": named[1]["id"], "offset": 0, "limit": budget})

    def next_page(self, page: Result, _call: Call, _budget: int) -> Call | None:
        """Return the call that a page of the stored text names."""
        return _named(page)

    def page_text(self, page: Result) -> str:
        """Return the text between the boundary lines."""
        body = _BODY.search(model_text(page))
        return body[2] if body else ""


def _named(result: Result) -> Call | None:
    """Return the call in the last line `Next:`."""
    named = _NEXT.findall(model_text(result))
    if not named:
        return None
    tool, id, rest = named[-1]
    return tool, {"id": id, **{name: json.loads(value) for name, value in _ARGUMENT.findall(rest)}}


class GovernorStore(NoStore):
    """The last block of a shortened result is a receipt with the artifact's id and the bytes that were shown."""

    def follow(self, result: Result, budget: int) -> Call | None:
        """Return the call for the bytes after as many as were shown. No call takes a question."""
        receipt = _receipt(result)
        return _slice(receipt["artifact_id"], receipt["returned_bytes"], budget) if receipt else None

    def first_page(self, result: Result, budget: int) -> Call | None:
        """Return the call for the first bytes."""
        receipt = _receipt(result)
        return _slice(receipt["artifact_id"], 0, budget) if receipt else None

    def next_page(self, page: Result, call: Call, budget: int) -> Call | None:
        """Return the call for the bytes after a page, None if the page is empty."""
        size = len(model_text(page).encode())
        return _slice(call[1]["artifact_id"], call[1]["offset"] + size, budget) if size else None


def _receipt(result: Result) -> dict[str, Any] | None:
    for block in reversed(result["content"]):
        if block.get("text", "").startswith('{"_governor_receipt"'):
            return dict(json.loads(block["text"])["_governor_receipt"])
    return None


def _slice(id: str, offset: int, limit: int) -> Call:
    return "governor_fetch_slice", {"artifact_id": id, "offset": offset, "limit": limit}
