"""Measure the detection of soft failures: recall by kind on fixtures/soft, and false alarms on ordinary pages.

`python -m benchmarks.extraction.soft_failures [PAGES.jsonl.gz …]` prints both, lists the misses, and times the
detector. Each row of a file has `url` and `html`; every alarm on such a page is printed for review. The same input
prints the same table, except for times.
"""

from __future__ import annotations

import gzip
import json
import sys
import time
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path
from statistics import mean, median
from typing import Any, Final

from keyhole.errors import KeyholeError
from keyhole.extract import extract
from keyhole.extract.html import page

FIXTURES: Final = Path(__file__).resolve().parents[2] / "fixtures"
SOFT: Final = FIXTURES / "soft"
OTHER_KINDS: Final = ("javascript_required", "empty_document")
"""Errors that extraction raises without the detector. On ordinary pages they do not count as alarms."""


def classify_page(body: bytes, url: str, requested_url: str = "") -> tuple[str, str]:
    """Return the kind of failure found, and "error" or "notice"; ("", "") for an ordinary page."""
    try:
        document = extract(body, url=url, content_type="text/html; charset=utf-8", requested_url=requested_url)
    except KeyholeError as error:
        return str(error.code), "error"
    return document.notice, "notice" if document.notice else ""


def read_cases() -> list[dict[str, str]]:
    """Return the cases of fixtures/soft: each page's kind, its source, and the expected outcome."""
    rows: list[dict[str, str]] = json.loads((SOFT / "cases.json").read_text(encoding="utf-8"))
    return rows


def run_case(case: dict[str, str]) -> tuple[str, str]:
    """Return the kind and outcome that the detector finds for a case."""
    return classify_page((SOFT / case["file"]).read_bytes(), case["url"], case.get("requested_url", ""))


def read_ordinary_pages(paths: list[str]) -> Iterator[tuple[str, bytes, str]]:
    """Yield ordinary pages as (name, body, URL): those in fixtures, then those in the given files."""
    for path in sorted(FIXTURES.rglob("*.html")):
        if path.parent not in {SOFT, FIXTURES / "pages"}:
            yield str(path.relative_to(FIXTURES)), path.read_bytes(), f"https://fixture.example/manual/{path.name}"
    for path in sorted(FIXTURES.glob("*/response.json")):
        yield path.parent.name, (path.parent / "body").read_bytes(), json.loads(path.read_text(encoding="utf-8"))["url"]
    for name in paths:
        with gzip.open(name, "rt", encoding="utf-8") as rows:
            for line in rows:
                row: dict[str, Any] = json.loads(line)
                yield f"{row.get('id', '')} {row['url']}", row["html"].encode("utf-8", "replace"), row["url"]


def main(paths: list[str]) -> None:
    """Print misses, recall by kind and part, and alarms on ordinary pages."""
    results: dict[tuple[str, str], list[bool]] = defaultdict(list)
    for case in read_cases():
        kind, outcome = run_case(case)
        is_right = (kind, outcome) == ((case["kind"], case["outcome"]) if case["kind"] else ("", ""))
        results[case["kind"] or "(ordinary)", case["part"]].append(is_right)
        if not is_right:
            expected = f"{case['kind'] or 'ordinary'} {case['outcome']}"
            print(f"wrong: {case['file']}: {kind or 'ordinary'} {outcome}, expected {expected}")
    parts = sorted({part for _, part in results})
    print("\n| kind | " + " | ".join(parts) + " |\n| --- |" + " ---: |" * len(parts))
    for kind in sorted({kind for kind, _ in results}):
        cells = [results.get((kind, part), []) for part in parts]
        print(f"| `{kind}` | " + " | ".join(f"{sum(cell)} of {len(cell)}" if cell else "" for cell in cells) + " |")
    print_alarms(paths)


def print_alarms(paths: list[str]) -> None:
    """Print the alarms on ordinary pages and the times of the detector."""
    seconds = 0.0
    check_page = page._check_page

    def timed_check(*arguments: Any) -> tuple[str, str]:
        nonlocal seconds
        start = time.perf_counter()
        try:
            return check_page(*arguments)
        finally:
            seconds = time.perf_counter() - start

    page._check_page = timed_check  # type: ignore[assignment]
    times, alarms = [], 0
    print("\nOrdinary pages:")
    for name, body, url in read_ordinary_pages(paths):
        kind, outcome = classify_page(body, url)
        times.append(1_000 * seconds)
        if kind and kind not in OTHER_KINDS:
            alarms += 1
            print(f"alarm: {name}: {kind} {outcome}")
    times.sort()
    slow = times[int(0.95 * len(times))]
    print(
        f"{alarms} alarms on {len(times)} pages; the check took {median(times):.2f} ms (median), "
        f"{mean(times):.2f} ms (mean), {slow:.2f} ms (95th percentile), at most {times[-1]:.1f} ms"
    )


if __name__ == "__main__":
    main(sys.argv[1:])
