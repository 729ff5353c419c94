"""Measure the SQLite store in milliseconds: `python -m benchmarks.store.sqlite_store ACTION [FOLDER] [--count N]`.

`calls FOLDER`: put of 100 KB, a range of 10 MB, list, stats and gc in the store that `benchmarks.search.stored` makes
in FOLDER, or in a new store. `writers`: four processes with 500 writes each. `readers`: four processes with 25,000
reads each, while a fifth writes and evicts. `chunks`: the size of compressed chunks of several lengths.
"""

from __future__ import annotations

import argparse
import hashlib
import multiprocessing
import tempfile
import time
from collections.abc import Callable, Sequence
from contextlib import closing
from functools import partial
from pathlib import Path
from random import Random
from typing import Any

from benchmarks.search.stored_texts import load_books
from keyhole.errors import Code, KeyholeError
from keyhole.passages.stems import index_terms
from keyhole.records import Artifact
from keyhole.runtime.zstd import zstd
from keyhole.store.base import Limits
from keyhole.store.sqlite.store import SqliteStore

NOW = 1_780_000_000.0
TTL = 30 * 86_400.0
PROCESSES = 4
PAGE_BYTES = 100_000
RANGE = 8_000
READ_ARTIFACTS = 100
"""Number of artifacts that the readers request; the store can contain about forty of them."""
READERS_MAX_BYTES = 500_000


def main() -> int:
    """Run one measurement; return 1 if anything was lost or wrong."""
    parser = argparse.ArgumentParser()
    parser.add_argument("action", choices=("calls", "writers", "readers", "chunks"))
    parser.add_argument("folder", type=Path, nargs="?")
    parser.add_argument("--count", type=int)
    options = parser.parse_args()
    actions: dict[str, Callable[[Path, int | None], int]] = {
        "calls": measure_calls,
        "writers": measure_writers,
        "readers": measure_readers,
        "chunks": measure_chunks,
    }
    if options.folder:
        options.folder.mkdir(parents=True, exist_ok=True)
        return actions[options.action](options.folder, options.count)
    with tempfile.TemporaryDirectory() as folder:
        return actions[options.action](Path(folder), options.count)


def make_texts(size: int, count: int) -> list[str]:
    """Return `count` texts of at least `size` bytes each, made of real sentences in random order."""
    random = Random(5)
    sentences = [each.text for every in load_books(None).values() for book in every for each in book.sentences]
    made = []
    for _ in range(count):
        parts, length = [], 0
        while length < size:
            parts.append(random.choice(sentences))
            length += len(parts[-1].encode()) + 1
        made.append("\n".join(parts))
    return made


def make_page(number: int, text: str, host: str = "bench.example") -> Artifact:
    """Return an artifact with this text."""
    url = f"https://{host}/{number}"
    id = hashlib.sha256((url + text).encode()).hexdigest()[:16]
    return Artifact(id, url, url, f"Page {number}", text, "text/html", "en", NOW)


def open_store(folder: Path, max_bytes: int = 10**12) -> SqliteStore:
    """Open a store whose clock stands still, so that nothing expires."""
    return SqliteStore(folder, lambda: NOW, Limits(TTL, max_bytes))


# Calls of one process.


def measure_calls(folder: Path, count: int | None) -> int:
    """Print the times of each store method."""
    with closing(open_store(folder)) as store:
        print(f"{store.stats()}\n\n| call | calls | p50 ms | p95 | max | p95 of work |\n|---|---:|---:|---:|---:|---:|")
        pages = [make_page(n, text) for n, text in enumerate(make_texts(PAGE_BYTES, count or 100))]
        words = [" ".join(index_terms(each.title, each.text)) for each in pages]
        print_row("put 100 KB", [partial(store.put, *each) for each in zip(pages, words, strict=True)])
        print_row("get 100 KB", [partial(store.get, each.id) for each in pages])
        long = make_page(-1, "".join(make_texts(1_000_000, 1)) * 10)
        print_row("put 10 MB", [partial(store.put, long, "long")])
        random = Random(1)
        starts = [random.randrange(len(long.text) - RANGE) for _ in range(500)]
        print_row("part 8,000 of 10 MB", [partial(check_range, store, long, start) for start in starts])
        print_row("get 10 MB", [partial(store.get, long.id)] * 5)
        print_row("list(50)", [partial(store.list, 50)] * 20)
        print_row("stats", [store.stats] * 5)
        print_row("gc, nothing to drop", [store.collect] * 5)
        for each in (*pages, long):
            store.remove(each.id)
    return 0


def check_range(store: SqliteStore, artifact: Artifact, start: int) -> None:
    """Read a range and compare it."""
    assert store.part(artifact.id, start, start + RANGE).artifact.text == artifact.text[start : start + RANGE]


def print_row(name: str, work: Sequence[Callable[[], Any]]) -> None:
    """Make the calls, and print their elapsed times and the 95th percentile of their CPU time."""
    times, cpu_times = [], []
    for each in work:
        start = time.process_time()
        times.append(measure_ms(each))
        cpu_times.append((time.process_time() - start) * 1_000)
    print(
        f"| {name} | {len(work)} | {format_percentiles(times)} | {format_percentiles(cpu_times).split(' | ')[1]} |",
        flush=True,
    )


def measure_ms(call: Callable[[], Any]) -> float:
    """Return the milliseconds of a call."""
    start = time.perf_counter()
    call()
    return (time.perf_counter() - start) * 1_000


def format_percentiles(values: Sequence[float]) -> str:
    """Return the median, the 95th percentile and the maximum as table cells."""
    ordered = sorted(values)
    return " | ".join(f"{ordered[min(len(ordered) - 1, int(share * len(ordered)))]:.1f}" for share in (0.5, 0.95, 1))


# Several processes.


def run_processes(work: Callable[..., list[Any]], arguments: Sequence[tuple[Any, ...]]) -> list[list[Any]]:
    """Run `work` in one process for each tuple of arguments; return the results."""
    with multiprocessing.get_context("spawn").Pool(len(arguments)) as pool:
        return pool.starmap(work, arguments)


def measure_writers(folder: Path, count: int | None) -> int:
    """Write from several processes: no write may fail or be lost."""
    count = count or 500
    body = make_texts(8_000, 20)
    results = run_processes(_write, [(folder, number, count, body) for number in range(PROCESSES)])
    outcomes = [outcome for each in results for outcome in each]
    times = [spent for spent, error in outcomes if not error]
    errors = [error for _, error in outcomes if error]
    with closing(open_store(folder)) as store:
        lost = PROCESSES * count - len(errors) - store.stats().artifacts
        damaged = len(store.verify().damaged)
    print(
        f"{PROCESSES} processes x {count} writes: {lost} lost, {damaged} damaged, {len(errors)} refused {set(errors)}"
    )
    print(f"p50, p95, max: {format_percentiles(times)}")
    return int(bool(lost or damaged or errors))


def _write(folder: Path, number: int, count: int, body: Sequence[str]) -> list[tuple[float, str]]:
    done = []
    with closing(open_store(folder)) as store:
        for n in range(count):
            each = make_page(n, f"{number} {n}\n{body[n % len(body)]}", host=f"writer{number}.example")
            start = time.perf_counter()
            error = ""
            try:
                store.put(each, " ".join(index_terms(each.title, each.text[:2_000])))
            except KeyholeError as refused:
                error = repr(refused.__cause__)
            done.append(((time.perf_counter() - start) * 1_000, error))
    return done


def measure_readers(folder: Path, count: int | None) -> int:
    """Read while another process evicts: every artifact must be unchanged or reported as dropped."""
    count = count or 25_000
    with closing(open_store(folder, READERS_MAX_BYTES)) as store:
        body = make_texts(20_000, READ_ARTIFACTS)
        for n, text in enumerate(body):
            store.put(make_page(n, text), f"word w{n}")
    results = run_processes(_read_or_evict, [(folder, number, count, body) for number in range(PROCESSES + 1)])
    wrong, read, gone, times = 0, 0, 0, []
    for outcomes in results[1:]:
        for outcome, spent in outcomes:
            wrong, read, gone = wrong + (outcome == "wrong"), read + (outcome == "read"), gone + (outcome == "gone")
            times.append(spent)
    with closing(open_store(folder)) as store:
        evicted = store.stats().tombstones
    print(f"{read + gone} reads: {wrong} wrong, {read} read, {gone} dropped; {len(results[0])} puts meanwhile")
    print(f"{evicted} of {READ_ARTIFACTS} are dropped in the end; reads p50, p95, max: {format_percentiles(times)}")
    return int(wrong > 0)


def _read_or_evict(folder: Path, number: int, count: int, body: Sequence[str]) -> list[tuple[str, float]]:
    pages = [make_page(n, text) for n, text in enumerate(body)]
    random, done = Random(number), []
    with closing(open_store(folder, max_bytes=READERS_MAX_BYTES)) as store:
        for n in range(count if number else count // 25):
            each = pages[random.randrange(READ_ARTIFACTS)]
            if not number:
                store.put(each, f"word w{n}")
                time.sleep(0.005)
                continue
            start = time.perf_counter()
            done.append((_outcome(store, each, n), (time.perf_counter() - start) * 1_000))
    return done if number else [("put", 0.0)] * (count // 25)


def _outcome(store: SqliteStore, each: Artifact, n: int) -> str:
    try:
        if n % 2:
            return "read" if store.get(each.id) == each else "wrong"
        at = n % len(each.text)
        return "read" if store.part(each.id, at, at + 500).artifact.text == each.text[at : at + 500] else "wrong"
    except KeyholeError as error:
        return "gone" if error.code in (Code.EXPIRED_ARTIFACT, Code.UNKNOWN_ARTIFACT) else "wrong"


# Chunk sizes.


def measure_file_size(folder: Path) -> int:
    """Return the size of the database file in bytes."""
    return (folder / "artifacts.db").stat().st_size


def measure_chunks(_folder: Path, _count: int | None) -> int:
    """Print the compressed size as a share of the text, and the time to decompress a chunk, by chunk length."""
    body = make_texts(PAGE_BYTES, 100)
    total = sum(len(text.encode()) for text in body)
    print("| characters | stored share | MB/s | decompress ms |\n|---:|---:|---:|---:|")
    for chars in (4_096, 8_192, 16_384, 32_768, 65_536, 10**9):
        start = time.perf_counter()
        packed = [
            zstd.compress(text[at : at + chars].encode(), 3) for text in body for at in range(0, len(text), chars)
        ]
        spent = time.perf_counter() - start
        unpack = format_percentiles([measure_ms(partial(zstd.decompress, each)) for each in packed[:200]]).split(" | ")[
            0
        ]
        print(f"| {chars} | {sum(map(len, packed)) / total:.3f} | {total / spent / 1e6:.0f} | {unpack} |")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
