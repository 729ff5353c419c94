"""Measure what hostile bodies of many kinds do to the other clients of a shared server.

    python -m benchmarks.server.hostile_bodies [--kinds NAME…] [--sizes 1 10 100] [--all] [--list] [--json FILE]

A site on loopback, which has the names of all hosts, serves pages, lists, answers of APIs and of search engines,
headers and robots.txt of about sixty kinds, each at 1, 10 and 100 % of the size that Keyhole reads. One client of a
real shared server makes the calls that lead to them, two at once. Another client reads a stored page all the time, by
read_artifact and by web_fetch. Its slowest call may take 1 s, and the server may keep at most 100 MB after the calls,
also since its start. A server that does not answer or keeps more is replaced. A row that is only late is measured
twice, since other programs delay calls too, and the faster run counts. A row whose bodies were never requested is not
measured, and fails too. Exits with 1 if a row fails. Linux only.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, suppress
from dataclasses import replace
from pathlib import Path

from benchmarks.server.hostile_bodies import answers, engines, lists, pages, transport
from benchmarks.server.hostile_bodies.attack import BodyKind
from benchmarks.server.hostile_bodies.keyhole_server import NUMBERS, RunningServer, all_hosts, own_routes, run_server
from benchmarks.server.hostile_bodies.measure import Row, measure
from benchmarks.server.hostile_bodies.site import HostileSite, serve_site
from benchmarks.server.load_test.servers import end_on_sigterm
from benchmarks.server.wire import SilentError
from tests.support.certificates import self_signed

GROUPS: dict[str, tuple[BodyKind, ...]] = {
    "lists behind dead links": lists.KINDS,
    "answers of sites and registries": answers.KINDS,
    "answers of search engines": engines.KINDS,
    "pages": pages.KINDS,
    "codings, headers, redirects, errors, robots.txt": transport.KINDS,
}
KINDS: tuple[BodyKind, ...] = tuple(kind for kinds in GROUPS.values() for kind in kinds)
SIZES = (1, 10, 100)
MOST = ((1, 100), (10, 8), (100, 2))
"""How many bodies of a kind are requested, up to which percentage of the limit: all would take half an hour. Time that
grows faster than the size of a body shows at 1 %; larger sizes show what the server copies and keeps."""
STARTS = 3
"""How often the start of a server is tried on a machine that is too busy."""
HEADER = (
    "| kind | size | calls of the attacked client | slowest stored call, s | server, MB | workers, MB | s | |\n"
    "|---|--:|---|--:|--:|--:|--:|---|"
)


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure the rows and print them. Return 1 if a row failed."""
    options = _options(arguments)
    kinds = [kind for kind in KINDS if not options.kinds or any(map(kind.name.startswith, options.kinds))]
    if options.list:
        print("\n".join(f"{kind.name}: {len(kind.variants)} bodies of at most {kind.limit:,} bytes" for kind in kinds))
        return 0
    end_on_sigterm()
    started = time.monotonic()
    print(HEADER, flush=True)
    rows = []
    for row in measure_all(kinds, options.sizes, every=options.all):
        rows.append(row)
        print(line_of(row), flush=True)
    failed = [row for row in rows if row.faults]
    seconds = time.monotonic() - started
    print(f"\n{summary(rows)}\n\n{len(kinds)} kinds, {len(rows)} rows in {seconds:.0f} s: {len(failed)} failed.")
    if options.json:
        options.json.write_text(json.dumps([row.facts for row in rows], indent=1))
    return 1 if failed or not rows else 0


def measure_all(kinds: Sequence[BodyKind], sizes: Sequence[int], *, every: bool = False) -> Iterator[Row]:
    """Measure each kind at each size, in a percentage of its limit; yield the rows."""
    site = HostileSite(own_routes())
    with tempfile.TemporaryDirectory() as folder, ExitStack() as stack:
        context, _ = self_signed(Path(folder), "*.hostile.example", *all_hosts())
        ports = stack.enter_context(serve_site(site, context))
        servers = _Servers(site, ports, Path(folder, "certificate.pem"))
        stack.callback(servers.close)
        for kind in kinds:
            for percent in sizes:
                most = None if every else next((most for limit, most in MOST if percent <= limit), MOST[-1][1])
                yield servers.measure(replace(kind, variants=kind.variants[:most]), percent)


class _Servers:
    """The server of the rows, which is replaced when a row has made it unusable."""

    def __init__(self, site: HostileSite, ports: tuple[int, int], certificate: Path) -> None:
        self._site, self._ports, self._certificate = site, ports, certificate
        self._numbers = iter(NUMBERS)
        self._running = ExitStack()
        self._server: RunningServer | None = None

    def measure(self, kind: BodyKind, percent: int) -> Row:
        """Return the figures of a row, of the faster of two runs if it was only late."""
        row = self._measure_once(kind, percent)
        if not row.is_only_late:
            return row
        self.close()
        return min(row, self._measure_once(kind, percent), key=lambda each: (len(each.faults), each.delay))

    def close(self) -> None:
        """End the server."""
        self._running.close()
        self._server = None

    def _measure_once(self, kind: BodyKind, percent: int) -> Row:
        server = self._server = self._server or self._start()
        row = measure(server, self._site, kind, percent, self._numbers)
        if row.is_lost:
            self.close()
        return row

    def _start(self) -> RunningServer:
        for _ in range(STARTS - 1):
            with suppress(SilentError):
                return self._running.enter_context(run_server(self._site, self._ports, self._certificate))
        return self._running.enter_context(run_server(self._site, self._ports, self._certificate))


def line_of(row: Row) -> str:
    """Return a row of the table."""
    figures = f"{row.delay:.2f} | {row.memory:+.0f} ({row.total:+.0f}) | {row.workers:.0f} | {row.seconds:.1f}"
    return f"| {row.kind} | {row.percent} % | {row.outcomes} | {figures} | {'; '.join(row.faults) or 'PASS'} |"


def summary(rows: Sequence[Row]) -> str:
    """Return a table of the rows by group."""
    lines = ["| kinds of bodies | rows | passed | slowest stored call, s | most kept, MB |", "|---|--:|--:|--:|--:|"]
    for name, kinds in GROUPS.items():
        if group := [row for row in rows if row.kind in {kind.name for kind in kinds}]:
            passed, delay = sum(not row.faults for row in group), max(row.delay for row in group)
            most = max(row.total for row in group)
            lines.append(f"| {name} | {len(group)} | {passed} | {delay:.2f} | {most:.0f} |")
    return "\n".join(lines)


def _options(arguments: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--kinds", nargs="+", default=[], metavar="NAME", help="only kinds whose names begin so")
    parser.add_argument("--sizes", nargs="+", type=int, default=SIZES, metavar="PERCENT", help="default: 1 10 100")
    parser.add_argument("--all", action="store_true", help="request all bodies at each size")
    parser.add_argument("--list", action="store_true", help="list the kinds and exit")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write all figures to FILE")
    return parser.parse_args(arguments)


if __name__ == "__main__":
    sys.exit(main())
