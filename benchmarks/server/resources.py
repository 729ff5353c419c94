"""Time listing, completing and reading stored pages: the real server over stdio, in both eras.

    python -m benchmarks.server.resources [--count 10000]
    python -m benchmarks.server.resources --rows FILE

Fills a store in a temporary folder with short pages, then requests the first page of the listing, all pages one after
the other, completions by words and by the start of an id, and reads. Prints the count, median and maximum of each kind
of request; takes a minute. Exits with 1 if the listing does not return every page once, newest first, or if a page of
the listing exceeds the budget.

The second form reads the `uri` of every `case` in FILE whose `rpc` is `resources/read`, in both eras. A URI of any type
of JSON is sent, and a case without one is sent without. Each must fail with the error -32602. Rows that cannot be run
are named. Exits with 1 if there are any, or if an answer is another.
"""

from __future__ import annotations

import argparse
import json
import statistics
import sys
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Final

from benchmarks.rows import Check, has_fields, is_anything, is_text, load_rows
from benchmarks.server.wire import ERAS, SilentError, Wire, run_server
from keyhole.records import Artifact
from keyhole.store.base import Limits
from keyhole.store.home import open_home
from keyhole.store.ids import artifact_id
from keyhole.store.sqlite.store import SqliteStore

BUDGET: Final = 9_000
"""The default of KEYHOLE_MAX_CHARS, which applies to unknown clients."""
INVALID_PARAMS: Final = -32602
FIELDS: Final[dict[str, Check]] = {"case": has_fields({}, {"rpc": is_text, "uri": is_anything})}
WORDS: Final = ("page 77", "site3.example", "no such words")


def fill(home: Path, count: int) -> list[str]:
    """Store `count` pages; return their ids, newest first."""
    secret, now = open_home(home), time.time()
    store = SqliteStore(home, time.time, Limits(30 * 86_400, 2**31))
    ids = []
    for n in range(count):
        url, text = f"https://site{n % 9}.example/section/{n}", f"The text of page {n}.\n" * 20
        id = artifact_id(secret, url, text)
        store.put(
            Artifact(id, url, url, f"Page {n} of a long shelf", text, "text/html", "en", now - count + n), f"page {n}"
        )
        ids.append(id)
    store.close()
    return ids[::-1]


def ask(wire: Wire, times: dict[str, list[float]], name: str, method: str, params: dict[str, Any]) -> dict[str, Any]:
    """Send a request, record its time, and return its result."""
    start = time.perf_counter()
    answer = wire.ask(method, params)
    times.setdefault(name, []).append(time.perf_counter() - start)
    result: dict[str, Any] = answer["result"]
    return result


def walk(wire: Wire, times: dict[str, list[float]]) -> Iterator[dict[str, Any]]:
    """Yield every page of the listing."""
    cursor: dict[str, str] = {}
    while True:
        page = ask(wire, times, "resources/list", "resources/list", dict(cursor))
        yield page
        if "nextCursor" not in page:
            return
        cursor = {"cursor": page["nextCursor"]}


def measure(wire: Wire, ids: Sequence[str]) -> tuple[dict[str, list[float]], list[str]]:
    """Return the times by request, and the faults."""
    times: dict[str, list[float]] = {}
    ask(wire, times, "the first listing, which opens the store", "resources/list", {})
    start = time.perf_counter()
    pages = list(walk(wire, times))
    times[f"all {len(pages)} pages of {len(ids):,}"] = [time.perf_counter() - start]
    found = [entry["uri"].removeprefix("artifact://") for page in pages for entry in page["resources"]]
    wrong = [] if found == list(ids) else [f"the listing has {len(found)} of {len(ids)} pages, or another order"]
    largest = max(len(json.dumps(page, ensure_ascii=False).encode()) for page in pages)
    wrong += [f"a page of the listing has {largest} bytes"] if largest > BUDGET else []
    for n in range(30):
        for value in (*WORDS, ids[n][:3]):
            ref = {"type": "ref/resource", "uri": "artifact://{id}"}
            params = {"ref": ref, "argument": {"name": "id", "value": value}}
            ask(wire, times, "completion/complete", "completion/complete", params)
        ask(wire, times, "resources/read", "resources/read", {"uri": f"artifact://{ids[n * len(ids) // 30]}"})
    return times, wrong


def find_fault(wire: Wire, case: dict[str, Any]) -> str:
    """Return the fault of the answer to a case, or ""."""
    try:
        answer = wire.ask("resources/read", {"uri": case["uri"]} if "uri" in case else {})
    except (SilentError, ValueError, OSError) as error:
        return f"{type(error).__name__}: {error}"
    code = answer.get("error", {}).get("code")
    return "" if code == INVALID_PARAMS else f"not {INVALID_PARAMS}: {json.dumps(answer)[:200]}"


def check_rows(file: Path) -> int:
    """Print one line for each era and one for each fault; return 1 if there is a fault or a row cannot be run."""
    rows, failed = load_rows(file, FIELDS)
    rows = [row for row in rows if row["case"].get("rpc") == "resources/read"]
    for era in ERAS:
        with TemporaryDirectory() as home, run_server(home, era) as wire:
            wrong = [f"{row['id']}: {fault}" for row in rows if (fault := find_fault(wire, row["case"]))]
        failed += len(wrong)
        print(f"{era}: {len(rows)} rows, {len(wrong)} faults")
        print("".join(f"  {line}\n" for line in wrong), end="")
    return 1 if failed else 0


def main(arguments: Sequence[str]) -> int:
    """Check the rows of a file, or print a table with the times of each era; return 1 if there is a fault."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--count", type=int, default=10_000)
    parser.add_argument("--rows", type=Path)
    options = parser.parse_args(arguments)
    return check_rows(options.rows) if options.rows else measure_all(options.count)


def measure_all(count: int) -> int:
    """Print a table with the times of each era; return 1 if there is a fault."""
    failed = 0
    with TemporaryDirectory() as home:
        ids = fill(Path(home), count)
        print("| era | request | times | p50, ms | slowest, ms |\n|---|---|---:|---:|---:|")
        for era in ERAS:
            with run_server(home, era) as wire:
                wire.ask("tools/list", {})
                times, wrong = measure(wire, ids)
            for name, taken in times.items():
                row = f"{len(taken)} | {statistics.median(taken) * 1e3:.1f} | {max(taken) * 1e3:.1f}"
                print(f"| {era} | {name} | {row} |")
            for fault in wrong:
                print(f"FAULT {fault}")
            failed += len(wrong)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
