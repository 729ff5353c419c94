"""Measure which real address Keyhole names for a dead one.

Run `python -m benchmarks.dead_links [--half dev|held] [--list]`. invented.jsonl has addresses as agents invent them,
each with the page that was meant; they were written from the files of the sites before the code. Each is fetched once
by a server over stdio with an empty store; the sites are on loopback under their own names, over TLS. Half of the
sites, by the hash of their name, were not looked at during development (`--half held`).
"""

from __future__ import annotations

import argparse
import asyncio
import json
import sys
import tempfile
import time
import zlib
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from typing import Any, Final
from urllib.parse import quote, urlsplit

from mcp import Client

from benchmarks.dead_links.server import Web, serve
from benchmarks.dead_links.sites import REPOSITORIES, SITES, Repository, Site
from benchmarks.server.routed_client import routed_client
from tests.support.certificates import self_signed

ADDRESSES: Final = Path(__file__).with_name("invented.jsonl")
PUBLIC: Final = "93.184.215.14"
"""A public address, which the network of the server leads to loopback."""
PATIENCE: Final = 60.0
"""Seconds after which a call counts as hanging."""


@dataclass(frozen=True, slots=True)
class Outcome:
    """What was named for one address, with the requests beyond the one for the address and robots.txt."""

    row: dict[str, Any]
    named: tuple[str, ...]
    place: int | None
    """The place of the right address among those named, from 0; None if it is missing."""
    requests: int
    seconds: float
    text: str


def main() -> int:
    """Measure and print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--half", choices=("all", "dev", "held"), default="all")
    parser.add_argument("--list", action="store_true", help="print each address whose right page is not named first")
    arguments = parser.parse_args()
    sites: dict[str, Site | Repository] = {site.name: site for site in (*SITES, *REPOSITORIES) if site.folder}
    rows = [row for row in map(json.loads, ADDRESSES.read_text().splitlines()) if row["site"] in sites]
    rows = [row for row in rows if arguments.half in ("all", half_of(row["site"]))]
    outcomes = asyncio.run(measure(rows, sites))
    if arguments.list:
        for each in outcomes:
            if each.place != 0:
                print(f"{each.row['fault']}: {each.row['url']}")
                print(f"  wanted {each.row['wanted']} ({each.place}), {each.requests} requests")
                print("".join(f"  {line}\n" for line in each.text.splitlines()), end="")
    print_tables(outcomes)
    return 0


def half_of(site: str) -> str:
    """Return `dev` or `held` for the name of a site."""
    return "dev" if zlib.crc32(site.encode()) % 2 else "held"


async def measure(rows: Sequence[dict[str, Any]], sites: dict[str, Site | Repository]) -> list[Outcome]:
    """Fetch each address with one server."""
    web = Web(sites)
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary)
        context, _ = self_signed(folder, *web.hosts)
        with serve(web, context) as (plain, tls):
            names = dict.fromkeys(web.hosts, PUBLIC)
            async with routed_client(folder, names, {80: plain, 443: tls}) as client:
                return [await _ask(client, web, row, sites[row["site"]]) for row in rows]


async def _ask(client: Client, web: Web, row: dict[str, Any], site: Site | Repository) -> Outcome:
    web.requests.clear()
    started = time.perf_counter()
    async with asyncio.timeout(PATIENCE):
        result = await client.call_tool("web_fetch", {"url": row["url"]})
    text = "".join(getattr(part, "text", "") for part in result.content)
    named = tuple(line.split()[1] for line in text.splitlines() if line.startswith("- http"))
    wanted = {_comparable(site.base + quote(path), site) for path in (row["wanted"], *row.get("also", []))}
    place = next((number for number, url in enumerate(named) if _comparable(url, site) in wanted), None)
    own = urlsplit(row["url"])
    others = [each for each in web.requests if not each.endswith("/robots.txt") and each != f"{own.hostname}{own.path}"]
    return Outcome(row, named, place, len(others), time.perf_counter() - started, text)


def _comparable(url: str, site: Site | Repository) -> str:
    """Return an address without `index.html`, and with the branch's name for `HEAD`."""
    url = url.removesuffix("index.html").rstrip("/")
    return url.replace("/HEAD/", f"/{site.branch}/") if isinstance(site, Repository) else url


def print_tables(outcomes: Sequence[Outcome]) -> None:
    """Print the share named, named first, and the requests, by fault and in total."""
    groups = defaultdict(list)
    for each in outcomes:
        groups[each.row["fault"]].append(each)
    print("| fault | addresses | named | named first | requests, median | named in all, mean |")
    print("|---|---:|---:|---:|---:|---:|")
    for name, group in (*sorted(groups.items()), ("all", list(outcomes))):
        named = sum(each.place is not None for each in group)
        first = sum(each.place == 0 for each in group)
        requests = median(each.requests for each in group)
        lines = sum(len(each.named) for each in group) / len(group)
        print(f"| {name} | {len(group)} | {named} ({named / len(group):.0%}) | {first} | {requests:g} | {lines:.1f} |")
    sites = {each.row["site"] for each in outcomes}
    print(f"\n{len(sites)} sites; median {median(each.seconds for each in outcomes):.2f} s")


if __name__ == "__main__":
    sys.exit(main())
