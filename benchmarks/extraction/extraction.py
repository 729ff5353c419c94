"""Extraction beside its peers, on the same pages in the same run: `python -m benchmarks.extraction.extraction PAGES`.

PAGES is a file of JSON lines, gzipped or not: `id`, `type`, `url`, `html`, and what a person marked: `text` (the
content), `must` and `must_not` (snippets that belong to it, or do not). It is not in the repository. Every system
lives in an environment of its own, made at the first run, and reads all pages in one process, one system after the
other, on one core; a page to warm up comes first and only the extraction call is timed.

Printed as Markdown: quality and speed by system; F1 and recall by type of page; our speed beside the peers' and
beside parsing alone; and whether our cost is linear: real pages grown to 10 MB and pages made to hurt.

Peers' answers are kept and reused while peer, pages and runner are the same; `--fresh` measures all in this run.
"""

from __future__ import annotations

import argparse
import gzip
import hashlib
import json
import sys
import time
from collections.abc import Iterable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any, Final

from benchmarks.extraction.peers import tables
from benchmarks.extraction.peers.conversation import Answer, conversation, use_one_core
from benchmarks.extraction.peers.growth import HOSTILE, SIZES, grow
from benchmarks.extraction.peers.peers import HERE, OURS, PEERS, NotInstallableError, Peer, command
from benchmarks.extraction.peers.scores import score

GROWN_FROM: Final = 100_000
"""Characters: of each type, the page nearest to this size is grown, since one much larger could not be 100 KB."""
ASKED_TWICE_MS: Final = 5_000
"""A page that took less is read again, so that a pause of the machine does not pass for a cost of ours."""

Page = dict[str, Any]


def main() -> int:
    """Measure, and print the tables."""
    arguments = _arguments()
    pages = spread(list(read_pages(arguments.pages)), arguments.limit)
    use_one_core()
    results, left_out = measure_all(chosen(arguments), pages, arguments.cache, arguments.fresh)
    kinds = ", ".join(f"{sum(page['type'] == kind for page in pages)} {kind}" for kind in sorted(_kinds(pages)))
    print(f"{len(pages)} pages ({kinds}); Python {sys.version.split()[0]}, one core, {time.strftime('%Y-%m-%d')}.\n")
    print("\n".join([*left_out, ""]) if left_out else "", end="\n" if left_out else "")
    print(f"### All pages\n\n{tables.overall(results)}\n")
    print(f"### F1 by type of page\n\n{tables.by_type(results, 'f1')}\n")
    print(f"### Recall by type of page\n\n{tables.by_type(results, 'recall')}\n")
    print(f"### Speed beside others\n\n{tables.ratios(results)}\n")
    print(f"### Errors\n\n{tables.errors(results)}\n")
    if not arguments.no_growth:
        print(f"### Cost by size\n\n{tables.growth(*measure_growth(pages, arguments.cache))}")
    return 0


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("pages", type=Path, help="JSON lines, .jsonl or .jsonl.gz")
    cache = Path.home() / ".cache" / "keyhole-benchmarks"
    parser.add_argument("--cache", type=Path, default=cache, help=f"environments and peers' answers; default {cache}")
    parser.add_argument("--limit", type=int, help="so many pages, spread over the file")
    parser.add_argument(
        "--peers", help="names of the peers to measure, or how they start, divided by commas; default all"
    )
    parser.add_argument("--only-ours", action="store_true", help="no peers")
    parser.add_argument("--fresh", action="store_true", help="measure peers again rather than reuse their answers")
    parser.add_argument("--no-growth", action="store_true", help="leave out large pages and pages made to hurt")
    return parser.parse_args()


def chosen(arguments: argparse.Namespace) -> list[Peer]:
    """Keyhole and the peers that were asked for. A name stands for all that start with it."""
    if arguments.only_ours:
        return [OURS]
    if not arguments.peers:
        return [OURS, *PEERS]
    names = [name.strip() for name in arguments.peers.split(",")]
    unknown = [name for name in names if not any(peer.name.startswith(name) for peer in PEERS)]
    if unknown:
        raise SystemExit(f"no peer is called {', '.join(unknown)}; there are: {'; '.join(p.name for p in PEERS)}")
    return [OURS, *(peer for peer in PEERS if any(peer.name.startswith(name) for name in names))]


def read_pages(path: Path) -> Iterator[Page]:
    """Pages of a file of JSON lines."""
    with gzip.open(path) if path.suffix == ".gz" else path.open("rb") as lines:
        for line in lines:
            yield json.loads(line)


def spread(pages: list[Page], limit: int | None) -> list[Page]:
    """At most `limit` pages, evenly from the whole file, which may be in order of type."""
    if not limit or limit >= len(pages):
        return pages
    return [pages[number * len(pages) // limit] for number in range(limit)]


def _kinds(pages: Iterable[Page]) -> set[str]:
    return {page["type"] for page in pages}


def measure_all(
    peers: list[Peer], pages: list[Page], cache: Path, fresh: bool
) -> tuple[list[tables.Result], list[str]]:
    """The result of each system, and a line for each that cannot be had here."""
    results, left_out = [], []
    for peer in peers:
        try:
            answers, kept = answers_of(peer, pages, cache, fresh)
        except NotInstallableError as problem:
            left_out.append(f"Left out: {peer.label}: {problem}.")
            continue
        rows = [
            tables.Row(page["type"], answer.ms, answer.error, not answer.text.strip(), _score(page, answer))
            for page, answer in zip(pages, answers, strict=True)
        ]
        results.append(tables.Result(peer, rows, kept))
    return results, left_out


def _score(page: Page, answer: Answer) -> Any:
    return score(answer.text, page["text"], page["must"], page["must_not"])


def answers_of(peer: Peer, pages: list[Page], cache: Path, fresh: bool) -> tuple[list[Answer], bool]:
    """The system's answer to each page, and whether they were kept from an earlier run. Ours are never kept."""
    kept = cache / "answers" / f"{_slug(peer.name)}-{peer.version}-{_key(peer, pages)}.json.gz"
    if peer is not OURS and kept.exists() and not fresh:
        with gzip.open(kept, "rt", encoding="utf-8") as file:
            return [Answer(**record) for record in json.load(file)], True
    start = time.monotonic()
    with conversation(command(peer, cache)) as talk:
        talk.ask(pages[0]["html"], pages[0]["url"])  # the warm-up: modules are loaded, tables are built
        answers = [talk.ask(page["html"], page["url"]) for page in pages]
    print(f"{peer.label}: {len(pages)} pages in {time.monotonic() - start:.0f} s", file=sys.stderr, flush=True)
    if peer is not OURS and not all(answer.error == "ended" for answer in answers):
        kept.parent.mkdir(parents=True, exist_ok=True)
        with gzip.open(kept, "wt", encoding="utf-8") as file:
            json.dump([answer.record() for answer in answers], file)
    return answers, False


def _slug(name: str) -> str:
    return "".join(letter if letter.isalnum() else "-" for letter in name)


def _key(peer: Peer, pages: list[Page]) -> str:
    """What an answer depends on: the peer's packages, the runner, the pages."""
    digest = hashlib.sha256(" ".join([*peer.packages, sys.version]).encode())
    digest.update((HERE / ("readability.mjs" if peer.in_node else "runner.py")).read_bytes())
    for page in pages:
        digest.update(f"{page['url']} {page['html']}".encode("utf-8", "replace"))
    return digest.hexdigest()[:16]


def measure_growth(pages: list[Page], cache: Path) -> tuple[dict[str, list[tables.Growth]], list[tables.Growth]]:
    """Our time on one page of each type grown to each size, and on the pages made to hurt."""
    runner = command(OURS, cache)
    nearest = [
        min((page for page in pages if page["type"] == kind), key=lambda page: abs(len(page["html"]) - GROWN_FROM))
        for kind in sorted(_kinds(pages))
    ]
    real = {
        name: [_alone(runner, page["type"], grow(page["html"], size), page["url"], pages[0]) for page in nearest]
        for name, size in SIZES.items()
    }
    url = "https://example.com/page"
    hostile = []
    for name, page in HOSTILE.items():
        quarter = _alone(runner, f"a quarter of: {name}", page.html(4), url, pages[0])
        whole = _alone(runner, name, page.html(), url, pages[0])
        hostile.append(replace(whole, quarter_ms=quarter.answer.ms))
    return real, hostile


def _alone(runner: list[str], name: str, html: str, url: str, warm_up: Page) -> tables.Growth:
    """One page in a process of its own, after a page to warm up; the better of two times, if the first was short."""
    with conversation(runner) as talk:
        talk.ask(warm_up["html"], warm_up["url"])
        answer = talk.ask(html, url)
        peak = talk.peak_megabytes()
        if answer.ms < ASKED_TWICE_MS:
            answer = min(answer, talk.ask(html, url), key=lambda one: one.ms)
    print(f"{name}, {len(html):,} characters: {answer.ms:.0f} ms {answer.error or ''}", file=sys.stderr, flush=True)
    return tables.Growth(name, len(html.encode("utf-8", "replace")) / 1e6, answer, peak)


if __name__ == "__main__":
    sys.exit(main())
