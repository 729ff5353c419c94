"""Shorten conversations in the ways that are compared, and find the call that reads a result which was left out."""

from __future__ import annotations

import json
import re
import subprocess
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import keyhole
from benchmarks.compaction.conversations import Items
from keyhole.extensions.conversations.formats import read_conversation
from keyhole.extensions.conversations.formats.contents import main_text, replace_at
from keyhole.extensions.conversations.formats.values import Format
from keyhole.retrieval.retrieve import Retrieval
from tests.support.product import SECRET

PEERS = Path(__file__).parent / "peers.py"
CLEARED = "[Old tool result content cleared]"
"""The text that agents put in the place of a cleared result."""
KEPT_ROUNDS = 3
"""Rounds whose results are not cleared, the default of Anthropic's `clear_tool_uses`."""

_CALL = re.compile(r'read_artifact\(id="(\w+)"')


def compact(items: Items, format: Format, budget: int, product: Retrieval) -> Items:
    """Return what `keyhole.compact` returns, with the store of a product."""
    store: Any = product.store
    return [dict(item) for item in keyhole.compact(items, budget, format=format, store=store, secret=SECRET).items]


def untouched(items: Items, _format: Format, _budget: int, _product: Retrieval) -> Items:
    """Return the whole conversation."""
    return items


def clear_results(items: Items, format: Format, _budget: int, _product: Retrieval | None) -> Items:
    """Replace the results of all but the last rounds, whatever the budget is."""
    cleared = list(items)
    turns = [group for group in read_conversation(items, format).groups if group.rounds]
    for group in turns[:-KEPT_ROUNDS]:
        for result in group.results:
            path = (*result.path, *(main_text(result.content) or ()))
            cleared[result.item] = replace_at(cleared[result.item], path, CLEARED)
    return cleared


SYSTEMS: dict[str, Callable[[Items, Format, int, Retrieval], Items]] = {
    "the whole conversation": untouched,
    "all but three results cleared": clear_results,
    "keyhole": compact,
}


def run_peers(python: str, conversations: Sequence[Items], budget: int) -> dict[str, list[Items]]:
    """Return the conversations as other libraries shorten them, which the interpreter `python` has."""
    command = [python, str(PEERS), str(budget)]
    done = subprocess.run(command, input=json.dumps(conversations).encode(), stdout=subprocess.PIPE, check=True)
    shortened: dict[str, list[Items]] = json.loads(done.stdout)
    return shortened


def texts(value: Any) -> Iterator[str]:
    """Yield all texts in a value."""
    if isinstance(value, str):
        yield value
    else:
        for each in value.values() if isinstance(value, dict) else value if isinstance(value, list) else ():
            yield from texts(each)


def call_for(items: Items, call_id: str) -> str:
    """Return the id that reads the result of a call: its stub names it, or else the notice. "" if none is named."""
    for item in items:
        parts = item.get("content") or item.get("parts") or ()
        for block in (item, *(each.get("functionResponse", each) for each in parts if isinstance(each, dict))):
            text = "\n".join(texts(block))
            names = (block.get("call_id"), block.get("tool_call_id"), block.get("tool_use_id"), block.get("id"))
            if call_id in names and "[Keyhole left out" in text:
                return _named(text)
    first = next((item for item in items if item.get("role") == "user"), {})
    return _named("\n".join(texts(first)))


def _named(text: str) -> str:
    found = _CALL.search(text)
    return found[1] if found else ""
