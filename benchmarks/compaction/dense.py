"""Count the real tokens of requests whose tool results are dense: numbers, hashes, listings.

An estimate that is too low shows here: the compacted request exceeds the budget of its model.
"""

from __future__ import annotations

import random
import subprocess
import uuid
from collections.abc import Callable, Iterator
from pathlib import Path

import keyhole
from benchmarks.budget.tokens import count_tokens
from benchmarks.compaction.conversations import Items
from benchmarks.compaction.systems import texts
from benchmarks.outputs.corpus import load_outputs

BUDGET = 100_000
REQUESTS = 60
RESULT_CHARS = 20_000


def measure_dense(cache: Path) -> Iterator[tuple[str, int, int]]:
    """Yield for each kind of result the most o200k tokens of a request, and how many requests exceed the budget."""
    for name, make in KINDS.items():
        text = make()
        sent = ["\n".join(texts(request)) for request in _requests(text)]
        counts = [counted for (counted,) in count_tokens(cache, sent, ("o200k",))]
        yield name, max(counts), sum(count > BUDGET for count in counts)


def _requests(text: str) -> Iterator[Items]:
    """Yield the compacted requests of a conversation whose results are parts of a text."""
    items: Items = [{"role": "user", "content": "Find the duplicates."}]
    for number in range(REQUESTS):
        function = {"name": "shell", "arguments": "{}"}
        items.append(
            {"role": "assistant", "tool_calls": [{"id": f"c{number}", "type": "function", "function": function}]}
        )
        start = number * RESULT_CHARS % max(1, len(text) - RESULT_CHARS)
        content = text[start : start + RESULT_CHARS]
        items.append({"role": "tool", "tool_call_id": f"c{number}", "content": content})
        yield keyhole.compact(items, BUDGET).items


def _print(command: str) -> Callable[[], str]:
    """Return a function that runs a command about the files of this machine."""

    def run() -> str:
        done = subprocess.run(command, shell=True, capture_output=True, check=False, timeout=120)  # noqa: S602
        return done.stdout.decode("utf-8", "replace")

    return run


def _csv() -> str:
    return "\n".join(each.text for each in load_outputs().values() if each.id.startswith(("csv/orders", "csv/sensors")))


def _hex() -> str:
    raw = random.Random(1).randbytes(600_000)
    return "\n".join(raw[at : at + 32].hex() for at in range(0, len(raw), 32))


def _uuids() -> str:
    draw = random.Random(2)
    return "\n".join(str(uuid.UUID(int=draw.getrandbits(128))) for _ in range(30_000))


KINDS: dict[str, Callable[[], str]] = {
    "CSV": _csv,
    "sha256sum": _print("find /usr/lib /usr/share -type f | head -8000 | xargs -d '\\n' sha256sum"),
    "ls -lR": _print("ls -lR /usr/lib | head -30000"),
    "hex": _hex,
    "UUIDs": _uuids,
}
