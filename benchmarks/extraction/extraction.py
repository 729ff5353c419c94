"""Compare extraction with other libraries on the same pages: `python -m benchmarks.extraction.extraction PAGES`.

PAGES is a file of JSON lines, gzipped or not, which is not in the repository. Each line has `id`, `type`, `url`,
`html`, and the marks of a person: `text` (the content), `must` and `must_not` (snippets inside and outside the
content). Each system has its own environment, created at the first run, and reads all pages in one process. Systems run
one after the other on one core. The first page is read twice to warm up, and only the extraction call is timed.

Prints Markdown tables: quality and speed by system; F1 and recall by type of page; Keyhole's speed relative to its
peers and to parsing alone; and the cost by size, for real pages grown to 10 MB and for hostile pages.

Answers of peers are cached as long as peer, pages and runner are the same; `--fresh` ignores the cache.
"""

from __future__ import annotations

import argparse
import gzip
import hashlib
import json
import lzma
import sys
import time
from collections.abc import Iterable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any, Final

from benchmarks.extraction.peers import tables
from benchmarks.extraction.peers.conversation import Answer, open_conversation, use_one_core
from benchmarks.extraction.peers.growth import HOSTILE, SIZES, grow
from benchmarks.extraction.peers.peers import HERE, OURS, PEERS, NotInstallableError, Peer, runner_command
from benchmarks.extraction.peers.scores import score

GROWTH_BASE_CHARS: Final = 100_000
"""Characters: the page of each type nearest to this size is grown. A much larger page could not be cut to 100 KB."""
REPEAT_BELOW_MS: Final = 5_000
"""Milliseconds below which a page is measured twice, so that a pause of the machine does not count as cost."""

Page = dict[str, Any]


def main() -> int:
    """Run the measurements and print the tables."""
    arguments = _arguments()
    pages = sample_evenly(list(read_pages(arguments.pages)), arguments.limit)
    use_one_core()
    results, skipped = measure_all(choose_peers(arguments), pages, arguments.cache, arguments.fresh)
    kinds = ", ".join(f"{sum(page['type'] == kind for page in pages)} {kind}" for kind in sorted(_list_types(pages)))
    print(f"{len(pages)} pages ({kinds}); Python {sys.version.split()[0]}, one core, {time.strftime('%Y-%m-%d')}.\n")
    print("\n".join([*skipped, ""]) if skipped else "", end="\n" if skipped else "")
    print(f"### All pages\n\n{tables.format_overall(results)}\n")
    print(f"### F1 by type of page\n\n{tables.format_by_type(results, 'f1')}\n")
    print(f"### Recall by type of page\n\n{tables.format_by_type(results, 'recall')}\n")
    print(f"### Speed compared with others\n\n{tables.format_ratios(results)}\n")
    print(f"### Errors\n\n{tables.format_errors(results)}\n")
    if not arguments.no_growth:
        print(f"### Cost by size\n\n{tables.format_growth(*measure_growth(pages, arguments.cache))}")
    return 0


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("pages", type=Path, help="JSON lines, .jsonl or .jsonl.gz")
    cache = Path.home() / ".cache" / "keyhole-benchmarks"
    parser.add_argument("--cache", type=Path, default=cache, help=f"environments and peers' answers; default {cache}")
    parser.add_argument("--limit", type=int, help="read only this many pages, spread over the file")
    parser.add_argument(
        "--peers", help="names of the peers to measure, or their beginnings, separated by commas; default all"
    )
    parser.add_argument("--only-ours", action="store_true", help="measure no peers")
    parser.add_argument("--fresh", action="store_true", help="ignore cached answers of peers")
    parser.add_argument("--no-growth", action="store_true", help="leave out large and hostile pages")
    return parser.parse_args()


def choose_peers(arguments: argparse.Namespace) -> list[Peer]:
    """Return Keyhole and the selected peers; a name selects all peers that start with it."""
    if arguments.only_ours:
        return [OURS]
    if not arguments.peers:
        return [OURS, *PEERS]
    names = [name.strip() for name in arguments.peers.split(",")]
    unknown = [name for name in names if not any(peer.name.startswith(name) for peer in PEERS)]
    if unknown:
        raise SystemExit(f"unknown peers: {', '.join(unknown)}; available: {'; '.join(p.name for p in PEERS)}")
    return [OURS, *(peer for peer in PEERS if any(peer.name.startswith(name) for name in names))]


def read_pages(path: Path) -> Iterator[Page]:
    """Yield the pages of a file of JSON lines, compressed by gzip or xz or not."""
    decompress = {".gz": gzip.decompress, ".xz": lzma.decompress}.get(path.suffix, bytes)
    yield from map(json.loads, decompress(path.read_bytes()).splitlines())


def sample_evenly(pages: list[Page], limit: int | None) -> list[Page]:
    """Return at most `limit` pages, spread evenly over the file, which may be sorted by type."""
    if not limit or limit >= len(pages):
        return pages
    return [pages[number * len(pages) // limit] for number in range(limit)]


def _list_types(pages: Iterable[Page]) -> set[str]:
    return {page["type"] for page in pages}


def measure_all(
    peers: list[Peer], pages: list[Page], cache: Path, fresh: bool
) -> tuple[list[tables.Result], list[str]]:
    """Return the result of each system, and a message for each that cannot be installed."""
    results, skipped = [], []
    for peer in peers:
        try:
            answers, is_cached = read_answers(peer, pages, cache, fresh)
        except NotInstallableError as problem:
            skipped.append(f"Left out: {peer.label}: {problem}.")
            continue
        rows = [
            tables.Row(page["type"], answer.ms, answer.error, not answer.text.strip(), _score_answer(page, answer))
            for page, answer in zip(pages, answers, strict=True)
        ]
        results.append(tables.Result(peer, rows, is_cached))
    return results, skipped


def _score_answer(page: Page, answer: Answer) -> Any:
    return score(answer.text, page["text"], page["must"], page["must_not"])


def read_answers(peer: Peer, pages: list[Page], cache: Path, fresh: bool) -> tuple[list[Answer], bool]:
    """Return a system's answer to each page, and whether they come from the cache. Keyhole's own are never cached."""
    cache_file = cache / "answers" / f"{_slug(peer.name)}-{peer.version}-{_compute_cache_key(peer, pages)}.json.gz"
    if peer is not OURS and cache_file.exists() and not fresh:
        with gzip.open(cache_file, "rt", encoding="utf-8") as file:
            return [Answer(**record) for record in json.load(file)], True
    start = time.monotonic()
    with open_conversation(runner_command(peer, cache)) as talk:
        talk.ask(pages[0]["html"], pages[0]["url"])  # warm up: load modules, build tables
        answers = [talk.ask(page["html"], page["url"]) for page in pages]
    print(f"{peer.label}: {len(pages)} pages in {time.monotonic() - start:.0f} s", file=sys.stderr, flush=True)
    if peer is not OURS and not all(answer.error == "ended" for answer in answers):
        cache_file.parent.mkdir(parents=True, exist_ok=True)
        with gzip.open(cache_file, "wt", encoding="utf-8") as file:
            json.dump([answer.record() for answer in answers], file)
    return answers, False


def _slug(name: str) -> str:
    return "".join(letter if letter.isalnum() else "-" for letter in name)


def _compute_cache_key(peer: Peer, pages: list[Page]) -> str:
    """Return a digest of everything that determines the answers: the peer's packages, the runner and the pages."""
    digest = hashlib.sha256(" ".join([*peer.packages, sys.version]).encode())
    digest.update((HERE / ("readability.mjs" if peer.in_node else "runner.py")).read_bytes())
    for page in pages:
        digest.update(f"{page['url']} {page['html']}".encode("utf-8", "replace"))
    return digest.hexdigest()[:16]


def measure_growth(pages: list[Page], cache: Path) -> tuple[dict[str, list[tables.Growth]], list[tables.Growth]]:
    """Return Keyhole's times on one page of each type grown to each size, and on the hostile pages."""
    runner = runner_command(OURS, cache)
    nearest = [
        min(
            (page for page in pages if page["type"] == kind),
            key=lambda page: abs(len(page["html"]) - GROWTH_BASE_CHARS),
        )
        for kind in sorted(_list_types(pages))
    ]
    real = {
        name: [
            _measure_alone(runner, page["type"], grow(page["html"], size), page["url"], pages[0]) for page in nearest
        ]
        for name, size in SIZES.items()
    }
    url = "https://example.com/page"
    hostile = []
    for name, page in HOSTILE.items():
        quarter = _measure_alone(runner, f"a quarter of: {name}", page.html(4), url, pages[0])
        whole = _measure_alone(runner, name, page.html(), url, pages[0])
        hostile.append(replace(whole, quarter_ms=quarter.answer.ms))
    return real, hostile


def _measure_alone(runner: list[str], name: str, html: str, url: str, warm_up: Page) -> tables.Growth:
    """Measure one page in its own process after a warm-up; repeat a short measurement and take the better one."""
    with open_conversation(runner) as talk:
        talk.ask(warm_up["html"], warm_up["url"])
        answer = talk.ask(html, url)
        peak = talk.peak_megabytes()
        if answer.ms < REPEAT_BELOW_MS:
            answer = min(answer, talk.ask(html, url), key=lambda each: each.ms)
    print(f"{name}, {len(html):,} characters: {answer.ms:.0f} ms {answer.error or ''}", file=sys.stderr, flush=True)
    return tables.Growth(name, len(html.encode("utf-8", "replace")) / 1e6, answer, peak)


if __name__ == "__main__":
    sys.exit(main())
