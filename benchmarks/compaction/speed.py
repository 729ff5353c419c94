"""Measure the time to compact a conversation of 10,000 items and 20 MB.

    python -m benchmarks.compaction.speed

The results are parts of real outputs. The time is the best of five runs. The time of the processor is given too,
because other programs delay a run but do not add to it.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from itertools import chain, cycle, islice
from typing import Any

import keyhole
from benchmarks.outputs.corpus import load_outputs

ITEMS = 10_000
RESULT_CHARS = 4_000
BUDGET = 100_000
RUNS = 5


def conversation() -> list[dict[str, Any]]:
    """Return Chat Completions messages: a call and its result, and so on."""
    items: list[dict[str, Any]] = [
        {"role": "system", "content": "You are an agent."},
        {"role": "user", "content": "Fix"},
    ]
    for number, text in enumerate(islice(_results(), ITEMS // 2 - 1)):
        function = {"name": "shell", "arguments": "{}"}
        call = {"id": f"call_{number}", "type": "function", "function": function}
        items.append({"role": "assistant", "content": f"Step {number}.", "tool_calls": [call]})
        items.append({"role": "tool", "tool_call_id": f"call_{number}", "content": text})
    return items


def _results() -> Iterator[str]:
    """Yield parts of outputs, again and again."""
    texts = [output.text for output in load_outputs().values()]
    parts = [text[start : start + RESULT_CHARS] for text in texts for start in range(0, len(text), RESULT_CHARS)]
    return chain.from_iterable(cycle([parts]))


def main() -> int:
    """Print the times."""
    items = conversation()
    size = sum(len(str(item["content"]).encode("utf-8", "surrogatepass")) for item in items)
    done = keyhole.compact(items, BUDGET)
    print(f"{len(items):,} items, {size / 1e6:.1f} MB, to {BUDGET:,} tokens: {len(done.items):,} items left.")
    times = []
    for _ in range(RUNS):
        clock, processor = time.perf_counter(), time.process_time()
        keyhole.compact(items, BUDGET)
        times.append((time.perf_counter() - clock, time.process_time() - processor))
    best, cpu = (1_000 * min(column) for column in zip(*times, strict=True))
    print(f"{best:.0f} ms, {cpu:.0f} ms of the processor.")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
