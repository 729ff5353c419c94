"""The embedded store: `python -m benchmarks.store.sqlite_store ACTION [FOLDER] [--count N]`, every figure in milliseconds.

`calls FOLDER`: put of 100 KB, a stretch of 10 MB, list, stats, gc in the store of FOLDER as `stored.py` makes it, in an
empty folder in a new store. `writers`: four processes with 500 writes each. `readers`: four processes with
25,000 reads each against one that writes and evicts. `migrate`: a file of the schema before, with `--count` MB of text.
`chunks`: what compressed chunks of several lengths take. Each is bounded by its counts, and ends its processes.
"""

from __future__ import annotations

import argparse
import hashlib
import multiprocessing
import sqlite3
import tempfile
import time
from collections.abc import Callable, Sequence
from contextlib import closing
from functools import partial
from pathlib import Path
from random import Random
from typing import Any

import zstandard

from benchmarks.search.stored_texts import artifacts, books
from keyhole.errors import Code, KeyholeError
from keyhole.passages.stems import index_terms
from keyhole.records import Artifact
from keyhole.store.sqlite.schema import RELEASED
from keyhole.store.sqlite.store import SqliteStore

NOW = 1_780_000_000.0
TTL = 30 * 86_400.0
PROCESSES = 4
PAGE = 100_000
STRETCH = 8_000
READ_FROM = 100
"""Artifacts that the readers ask for, of which the store has room for some forty."""
ROOM = 500_000


def main() -> int:
    """Measure one thing and print it; 1 where something was lost or wrong."""
    parser = argparse.ArgumentParser()
    parser.add_argument("action", choices=("calls", "writers", "readers", "migrate", "chunks"))
    parser.add_argument("folder", type=Path, nargs="?")
    parser.add_argument("--count", type=int)
    options = parser.parse_args()
    actions: dict[str, Callable[[Path, int | None], int]] = {
        "calls": calls,
        "writers": writers,
        "readers": readers,
        "migrate": migrate,
        "chunks": chunks,
    }
    if options.folder:
        options.folder.mkdir(parents=True, exist_ok=True)
        return actions[options.action](options.folder, options.count)
    with tempfile.TemporaryDirectory() as folder:
        return actions[options.action](Path(folder), options.count)


def texts(size: int, count: int) -> list[str]:
    """Texts of a size, of real sentences in an order of their own."""
    random = Random(5)
    sentences = [each.text for every in books(None).values() for book in every for each in book.sentences]
    made = []
    for _ in range(count):
        parts, length = [], 0
        while length < size:
            parts.append(random.choice(sentences))
            length += len(parts[-1].encode()) + 1
        made.append("\n".join(parts))
    return made


def page(number: int, text: str, host: str = "bench.example") -> Artifact:
    """An artifact with this text."""
    url = f"https://{host}/{number}"
    id = hashlib.sha256((url + text).encode()).hexdigest()[:16]
    return Artifact(id, url, url, f"Page {number}", text, "text/html", "en", NOW)


def opened(folder: Path, max_bytes: int = 10**12) -> SqliteStore:
    """A store that never expires anything here."""
    return SqliteStore(folder, lambda: NOW, TTL, max_bytes)


# What one process waits for.


def calls(folder: Path, count: int | None) -> int:
    """Times of every call."""
    with closing(opened(folder)) as store:
        print(f"{store.stats()}\n\n| call | calls | p50 ms | p95 | max | p95 of work |\n|---|---:|---:|---:|---:|---:|")
        pages = [page(n, text) for n, text in enumerate(texts(PAGE, count or 100))]
        words = [" ".join(index_terms(each.title, each.text)) for each in pages]
        row("put 100 KB", [partial(store.put, *each) for each in zip(pages, words, strict=True)])
        row("get 100 KB", [partial(store.get, each.id) for each in pages])
        long = page(-1, "".join(texts(1_000_000, 1)) * 10)
        row("put 10 MB", [partial(store.put, long, "long")])
        random = Random(1)
        starts = [random.randrange(len(long.text) - STRETCH) for _ in range(500)]
        row("part 8,000 of 10 MB", [partial(stretch, store, long, start) for start in starts])
        row("get 10 MB", [partial(store.get, long.id)] * 5)
        row("list(50)", [partial(store.list, 50)] * 20)
        row("stats", [store.stats] * 5)
        row("gc, nothing to drop", [store.collect] * 5)
        for each in (*pages, long):
            store.remove(each.id)
    return 0


def stretch(store: SqliteStore, artifact: Artifact, start: int) -> None:
    """Read a stretch and compare it."""
    assert store.part(artifact.id, start, start + STRETCH).artifact.text == artifact.text[start : start + STRETCH]


def row(name: str, work: Sequence[Callable[[], Any]]) -> None:
    """Do each and print how long they took by the clock, and of work of this process."""
    times, worked = [], []
    for each in work:
        start = time.process_time()
        times.append(timed(each))
        worked.append((time.process_time() - start) * 1_000)
    print(f"| {name} | {len(work)} | {percentiles(times)} | {percentiles(worked).split(' | ')[1]} |", flush=True)


def timed(call: Callable[[], Any]) -> float:
    """Milliseconds of a call."""
    start = time.perf_counter()
    call()
    return (time.perf_counter() - start) * 1_000


def percentiles(values: Sequence[float]) -> str:
    """The median, the 95th percentile and the longest, as cells."""
    ordered = sorted(values)
    return " | ".join(f"{ordered[min(len(ordered) - 1, int(share * len(ordered)))]:.1f}" for share in (0.5, 0.95, 1))


# Several processes.


def together(work: Callable[..., list[Any]], arguments: Sequence[tuple[Any, ...]]) -> list[list[Any]]:
    """Run the same work in as many processes; what each gave."""
    with multiprocessing.get_context("spawn").Pool(len(arguments)) as pool:
        return pool.starmap(work, arguments)


def writers(folder: Path, count: int | None) -> int:
    """Every write must be there afterwards, and none may fail."""
    count = count or 500
    given = together(_write, [(folder, number, count) for number in range(PROCESSES)])
    outcomes = [outcome for each in given for outcome in each]
    times = [spent for spent, error in outcomes if not error]
    errors = [error for _, error in outcomes if error]
    with closing(opened(folder)) as store:
        lost = PROCESSES * count - len(errors) - store.stats().artifacts
        damaged = len(store.verify().damaged)
    print(
        f"{PROCESSES} processes x {count} writes: {lost} lost, {damaged} damaged, {len(errors)} refused {set(errors)}"
    )
    print(f"p50, p95, max: {percentiles(times)}")
    return int(bool(lost or damaged or errors))


def _write(folder: Path, number: int, count: int) -> list[tuple[float, str]]:
    done = []
    body = texts(8_000, 20)
    with closing(opened(folder)) as store:
        for n in range(count):
            each = page(n, f"{number} {n}\n{body[n % len(body)]}", host=f"writer{number}.example")
            start = time.perf_counter()
            error = ""
            try:
                store.put(each, " ".join(index_terms(each.title, each.text[:2_000])))
            except KeyholeError as refused:
                error = repr(refused.__cause__)
            done.append(((time.perf_counter() - start) * 1_000, error))
    return done


def readers(folder: Path, count: int | None) -> int:
    """Whatever is read is what was put, or is said to be dropped."""
    count = count or 25_000
    with closing(opened(folder, ROOM)) as store:
        for n, text in enumerate(texts(20_000, READ_FROM)):
            store.put(page(n, text), f"word w{n}")
    given = together(_read_or_evict, [(folder, number, count) for number in range(PROCESSES + 1)])
    wrong, read, gone, times = 0, 0, 0, []
    for found in given[1:]:
        for outcome, spent in found:
            wrong, read, gone = wrong + (outcome == "wrong"), read + (outcome == "read"), gone + (outcome == "gone")
            times.append(spent)
    with closing(opened(folder)) as store:
        evicted = store.stats().tombstones
    print(f"{read + gone} reads: {wrong} wrong, {read} read, {gone} dropped before; {len(given[0])} puts meanwhile")
    print(f"{evicted} of {READ_FROM} are dropped in the end; reads p50, p95, max: {percentiles(times)}")
    return int(wrong > 0)


def _read_or_evict(folder: Path, number: int, count: int) -> list[tuple[str, float]]:
    body = texts(20_000, READ_FROM)
    pages = [page(n, text) for n, text in enumerate(body)]
    random, done = Random(number), []
    with closing(opened(folder, max_bytes=ROOM)) as store:
        for n in range(count if number else count // 25):
            each = pages[random.randrange(READ_FROM)]
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


# Older files, and the length of chunks.


def migrate(folder: Path, count: int | None) -> int:
    """A file of the schema before is made, and opened."""
    megabytes = count or 500
    written = 0
    with closing(sqlite3.connect(folder / "artifacts.db", isolation_level=None)) as db:
        db.execute("PRAGMA synchronous = OFF")
        db.executescript(";\n".join([*RELEASED, f"PRAGMA user_version = {len(RELEASED)}"]))
        db.execute("BEGIN")
        number = 0
        for made in artifacts(books(None), range(10**9), NOW):
            text = made.artifact.text.encode()
            db.execute(
                "INSERT INTO artifacts (id, url, requested_url, title, text, chars, size, media_type, language, cut, "
                "fetched_at, last_access) VALUES (?, ?, ?, 'A page', ?, ?, ?, 'text/html', 'en', 0, ?, ?)",
                [
                    f"id{number}",
                    made.artifact.url,
                    made.artifact.url,
                    text,
                    len(made.artifact.text),
                    len(text),
                    NOW,
                    NOW,
                ],
            )
            db.execute("INSERT INTO words (rowid, stems) VALUES (last_insert_rowid(), ?)", [made.words])
            number, written = number + 1, written + len(text)
            if written > megabytes * 1_000_000:
                break
        db.execute("COMMIT")
    before = (folder / "artifacts.db").stat().st_size
    with closing(opened(folder)) as store:
        spent = timed(partial(store.list, 1))
        after = store.stats()
        print(f"{number} artifacts, {written / 1e6:.0f} MB of text: opened in {spent / 1_000:.1f} s")
        print(f"file {before / 1e6:.0f} MB, in use afterwards {after.stored_bytes / 1e6:.0f} MB", end="")
        spent = timed(store.collect)
        print(f"; gc, which writes it anew, {spent / 1_000:.1f} s; then {size(folder) / 1e6:.0f} MB")
    return 0


def size(folder: Path) -> int:
    """Bytes of the file."""
    return (folder / "artifacts.db").stat().st_size


def chunks(_folder: Path, _count: int | None) -> int:
    """Share of the texts that compressed chunks take, and the time to unpack one, by characters of a chunk."""
    body = texts(PAGE, 100)
    total = sum(len(text.encode()) for text in body)
    print("| characters | stored share | MB/s | unpack ms |\n|---:|---:|---:|---:|")
    for chars in (4_096, 8_192, 16_384, 32_768, 65_536, 10**9):
        compressor, decompressor = zstandard.ZstdCompressor(level=3), zstandard.ZstdDecompressor()
        start = time.perf_counter()
        packed = [
            compressor.compress(text[at : at + chars].encode()) for text in body for at in range(0, len(text), chars)
        ]
        spent = time.perf_counter() - start
        unpack = percentiles([timed(partial(decompressor.decompress, each)) for each in packed[:200]]).split(" | ")[0]
        print(f"| {chars} | {sum(map(len, packed)) / total:.3f} | {total / spent / 1e6:.0f} | {unpack} |")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
