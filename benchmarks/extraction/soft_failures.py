"""How well failures behind a success are named: recall by kind over fixtures/soft, and false alarms on ordinary pages.

`python -m benchmarks.extraction.soft_failures [PAGES.jsonl.gz …]` prints both, names what is missed or wrongly named, and times
the detector beside the whole extraction. Each row of a file has `url` and `html`; every alarm on such a page is
printed to be judged by eye. The same input prints the same table, times apart.
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
OLD: Final = ("javascript_required", "empty_document")
"""Names that are not the detector's: they are counted where a case expects them and are no alarm elsewhere."""


def named(body: bytes, url: str, requested_url: str = "") -> tuple[str, str]:
    """What a page is named and how: ("", "") for a page that is itself."""
    try:
        document = extract(body, url=url, content_type="text/html; charset=utf-8", requested_url=requested_url)
    except KeyholeError as error:
        return str(error.code), "error"
    return document.notice, "notice" if document.notice else ""


def cases() -> list[dict[str, str]]:
    """The cases of fixtures/soft: what each page is, where it was found, and what is expected of it."""
    rows: list[dict[str, str]] = json.loads((SOFT / "cases.json").read_text(encoding="utf-8"))
    return rows


def run(case: dict[str, str]) -> tuple[str, str]:
    """What the detector says of a case."""
    return named((SOFT / case["file"]).read_bytes(), case["url"], case.get("requested_url", ""))


def ordinary(paths: list[str]) -> Iterator[tuple[str, bytes, str]]:
    """Pages that are themselves: (name, body, URL), the fixtures' and those of the given files."""
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
    """Print recall by kind and part, misses, and alarms on ordinary pages."""
    right: dict[tuple[str, str], list[bool]] = defaultdict(list)
    for case in cases():
        found, how = run(case)
        good = (found, how) == ((case["kind"], case["outcome"]) if case["kind"] else ("", ""))
        right[case["kind"] or "(ordinary)", case["part"]].append(good)
        if not good:
            wanted = f"{case['kind'] or 'itself'} {case['outcome']}"
            print(f"wrong: {case['file']}: {found or 'itself'} {how}, expected {wanted}")
    parts = sorted({part for _, part in right})
    print("\n| kind | " + " | ".join(parts) + " |\n| --- |" + " ---: |" * len(parts))
    for kind in sorted({kind for kind, _ in right}):
        cells = [right.get((kind, part), []) for part in parts]
        print(f"| `{kind}` | " + " | ".join(f"{sum(cell)} of {len(cell)}" if cell else "" for cell in cells) + " |")
    _alarms(paths)


def _alarms(paths: list[str]) -> None:
    spent = 0.0
    looked_at = page._check_page

    def timed(*arguments: Any) -> tuple[str, str]:
        nonlocal spent
        start = time.perf_counter()
        try:
            return looked_at(*arguments)
        finally:
            spent = time.perf_counter() - start

    page._check_page = timed  # type: ignore[assignment]
    times, alarms = [], 0
    print("\nOrdinary pages:")
    for name, body, url in ordinary(paths):
        found, how = named(body, url)
        times.append(1_000 * spent)
        if found and found not in OLD:
            alarms += 1
            print(f"alarm: {name}: {found} {how}")
    times.sort()
    slow = times[int(0.95 * len(times))]
    print(
        f"{alarms} alarms on {len(times)} pages; the look took {median(times):.2f} ms in the middle, "
        f"{mean(times):.2f} ms on average, {slow:.2f} ms for the slowest twentieth, at most {times[-1]:.1f} ms"
    )


if __name__ == "__main__":
    main(sys.argv[1:])
