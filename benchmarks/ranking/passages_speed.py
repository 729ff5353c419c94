"""Measure the time and memory of a selection: `python -m benchmarks.ranking.passages_speed`.

The texts are the recorded pages under fixtures/, repeated, and adversarial texts. Prints the best of a few runs on one
core: a first query (empty caches), a second query on the same text, and rank-bm25 over the same windows.
"""

from __future__ import annotations

import time
import tracemalloc
from collections.abc import Callable

from keyhole import extract, passages
from keyhole.cli.demo_site import recorded_pages
from keyhole.passages.baselines import select_baseline

QUESTION = "How does autovacuum decide that a table needs a vacuum to prevent wraparound?"
SECOND = "Which checkpoint mode truncates the write-ahead log?"
BUDGET = 8_000
SIZES = (100_000, 1_000_000, 10_000_000)
ADVERSARIAL_SIZE = 1_000_000


def main() -> int:
    """Measure and print the tables."""
    print("| text | first query, ms | second, ms | share |\n|---|---:|---:|---:|")
    for size in SIZES:
        text = real_text(size)
        first, second = time_queries(text, 3 if size < SIZES[-1] else 1)
        print(f"| {size:,} characters | {first:.1f} | {second:.1f} | {second / first:.2f} |", flush=True)
    text = real_text(ADVERSARIAL_SIZE)
    ours, theirs = time_queries(text, 3)[0], measure_best(lambda: _bm25(text), 1)
    print(f"\nrank-bm25 over the windows of {ADVERSARIAL_SIZE:,} characters: {theirs:.0f} ms, {theirs / ours:.1f} ×\n")
    print(
        f"| adversarial text, {ADVERSARIAL_SIZE:,} characters | first query, ms | relative to the real text |\n"
        "|---|---:|---:|"
    )
    for name, (adversarial, question) in adversarial_texts(ADVERSARIAL_SIZE).items():
        first, _ = time_queries(adversarial, 2, question)
        print(f"| {name} | {first:.0f} | {first / ours:.1f} × |", flush=True)
    print(f"\nPeak memory of a first query: {peak_memory(text):.1f} bytes for each byte of text")
    return 0


def real_text(size: int) -> str:
    """Return the text of the recorded pages, repeated up to a size."""
    texts = [extract(p.body, url=p.url, content_type=p.content_type).text for p in recorded_pages().values()]
    joined = "\n\n".join(texts)
    return (joined * (size // len(joined) + 1))[:size]


def adversarial_texts(size: int) -> dict[str, tuple[str, str]]:
    """Return texts that are slow for careless code, each with a matching question."""
    return {
        "one line of one letter": ("a" * size, "aaa vacuum"),
        "one line of words": ("lorem ipsum vacuum " * (size // 19), QUESTION),
        "one repeated word": ("vacuum " * (size // 7), "vacuum"),
        "distinct words": (" ".join(f"word{n}" for n in range(size // 10)), "word wordy word5"),
        "dots": ("." * size, QUESTION),
        "line breaks": ("\n" * size, QUESTION),
        "spaces": (" " * size, QUESTION),
        "headings": ("# vacuum\n\n" * (size // 10), QUESTION),
        "fences": ("```\nvacuum\n" * (size // 11), QUESTION),
        "table rows": ("| vacuum | a | b |\n" * (size // 19), QUESTION),
        "combining marks": ("a" + "\u0301" * (size - 1), QUESTION),
        "Chinese": ("清理阈值的计算公式是什么" * (size // 12), "清理的阈值是怎么计算的？"),
        "near misses": ("vacuun " * (size // 7), "vacuum"),
        "a long question": (real_text(size), QUESTION * 50),
    }


def time_queries(text: str, runs: int, question: str = QUESTION) -> tuple[float, float]:
    """Return the best milliseconds of a first query and of a second query after it."""
    seconds = []

    def first() -> None:
        passages.index_text.cache_clear()
        passages.score_index.cache_clear()
        passages.select(text, question, BUDGET)

    best_first = measure_best(first, runs)
    for number in range(runs):
        passages.select(text, question, BUDGET)
        start = time.perf_counter()
        passages.select(text, f"{SECOND} {number}", BUDGET)
        seconds.append(time.perf_counter() - start)
    return best_first, min(seconds) * 1000


def measure_best(action: Callable[[], object], runs: int) -> float:
    """Run `action` several times; return the milliseconds of the fastest run."""
    least = float("inf")
    for _ in range(runs):
        start = time.perf_counter()
        action()
        least = min(least, time.perf_counter() - start)
    return least * 1000


def peak_memory(text: str) -> float:
    """Return the peak bytes allocated by a first query, per byte of text."""
    passages.index_text.cache_clear()
    passages.score_index.cache_clear()
    tracemalloc.start()
    passages.select(text, QUESTION, BUDGET)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    return peak / len(text.encode("utf-8"))


def _bm25(text: str) -> None:
    passages.index_text.cache_clear()
    select_baseline("bm25", passages.index_text(text), QUESTION, BUDGET, len)


if __name__ == "__main__":
    raise SystemExit(main())
