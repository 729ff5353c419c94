"""Compact random conversations in all formats, and check what `keyhole.compact` promises.

    python -m tests.sdks.fuzz --count N [--seed S] [--sdk] [--format FORMAT]

Each conversation has a seed, which is printed with what it breaks: `--seed S --count 1` repeats it. `--sdk`: items are
objects of the providers' and frameworks' SDKs, alone and mixed with dicts; needs tests/sdks/requirements.txt.
"""

from __future__ import annotations

import argparse
import random
import sys
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import Any

import keyhole
from keyhole.store.sqlite.store import MEMORY_LIMITS, MemoryStore
from tests.sdks.laws import LAWS, LAWS_OF_RESTORING, Trial, count_bytes, run
from tests.support.conversations import FORMATS, Event, random_events

SHOWN = 6
"""Failures of a kind that are printed."""
Write = Callable[[Sequence[Event], random.Random], list[Any]]


def writers(*, with_sdks: bool) -> dict[str, Write]:
    """Return the functions that write a conversation, by name: FORMAT, or FORMAT and a kind of objects."""
    found: dict[str, Write] = {name: _plain_writer(name) for name in FORMATS}
    if with_sdks:
        from tests.sdks import shapes  # only this needs the SDKs

        found = shapes.writers(list(FORMATS))
    return found


def _plain_writer(format: str) -> Write:
    return lambda steps, _rng: FORMATS[format](steps)


def make_trial(seed: int, name: str, write: Write) -> Trial:
    """Return the conversation of a seed in a format, with random options."""
    rng = random.Random(f"{seed} {name}")
    items = write(random_events(random.Random(seed)), rng)
    format = name.split()[0]
    store = MemoryStore(lambda: 0.0, replace(MEMORY_LIMITS, max_bytes=1 << 30))
    options: dict[str, Any] = {"keep_last": rng.choice((0, 1, 2, 3, 3, 5))}
    if rng.random() < 0.7:
        options["format"] = format
    if rng.random() < 0.2:
        options["counter"] = count_bytes
    if rng.random() < 0.85:
        options |= {"store": store, "secret": b"s"}
    if rng.random() < 0.5:
        options |= {"target": rng.uniform(0.2, 1), "trigger": rng.uniform(0.5, 1)}
    if rng.random() < 0.2:
        options["clear_at_least"] = rng.choice((200, 3_000))
    trial = Trial(format, items, 1, options, store)
    trial.budget = max(1, int(trial.count(items) * rng.choice((0.1, 0.3, 0.5, 0.7, 0.9, 1, 1.2)) * rng.uniform(0.7, 1)))
    return trial


def failures(seeds: Sequence[int], chosen: dict[str, Write], laws: Sequence[Any]) -> Iterator[tuple[int, str, str]]:
    """Yield the seed, the format and the description of each broken promise."""
    for seed in seeds:
        for name, write in chosen.items():
            yield from ((seed, name, each) for each in run(make_trial(seed, name, write), laws))


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the fuzz, and return the exit status."""
    parser = argparse.ArgumentParser(prog="python -m tests.sdks.fuzz")
    parser.add_argument("--count", type=int, default=250, help="conversations; each is written in all formats")
    parser.add_argument("--seed", type=int, default=0, help="the seed of the first conversation")
    parser.add_argument("--sdk", action="store_true", help="items are objects of SDKs")
    parser.add_argument("--format", default="", help="only formats whose name begins with it")
    options = parser.parse_args(arguments)
    can_restore = hasattr(keyhole, "restore")
    if not can_restore:
        print("error: keyhole.restore is missing, so restoring and unknown items are not checked", file=sys.stderr)
    chosen = {name: write for name, write in writers(with_sdks=options.sdk).items() if name.startswith(options.format)}
    found = list(
        failures(
            range(options.seed, options.seed + options.count),
            chosen,
            (*LAWS, *(LAWS_OF_RESTORING if can_restore else ())),
        )
    )
    _print(found)
    print(f"{options.count:,} conversations in {len(chosen)} formats ({', '.join(chosen)}): {len(found):,} failures")
    return 1 if found or not can_restore else 0


def _print(found: Sequence[tuple[int, str, str]]) -> None:
    shown = Counter[tuple[str, str]]()
    for seed, name, failure in found:
        kind = (name, failure.split(":")[0])
        shown[kind] += 1
        if shown[kind] <= SHOWN:
            print(f"--seed {seed} --format {name!r}: {failure}".encode("ascii", "backslashreplace").decode())
    for (name, law), count in sorted(shown.items(), key=lambda each: -each[1]):
        print(f"{count:6,}  {name}  {law}")


if __name__ == "__main__":
    sys.exit(main())
