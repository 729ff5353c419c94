"""Take the pictures of `keyhole look`: `python docs/make/look_pictures.py [NAME…]` writes docs/shots/look-NAME.png.

Real MCP clients ask natural questions of a real `keyhole serve` over stdio, about recorded pages. The pages are stored
under their own addresses before, so no site is asked. The times of the calls are then spread over the past days, since
otherwise the figures would show a single minute. Needs Chromium.
"""

from __future__ import annotations

import asyncio
import io
import json
import os
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any, Final
from unittest.mock import patch

from PIL import Image

ROOT: Final = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT), str(ROOT / "server")]

from benchmarks.outputs.corpus import load_outputs  # noqa: E402 - found through the line above
from keyhole.cli.build import build, open_stores  # noqa: E402
from keyhole.cli.demo_site import fixtures_folder, recorded_pages  # noqa: E402
from keyhole.config.load import parse_config  # noqa: E402
from keyhole.extensions.look.mcp_app import show_call  # noqa: E402
from keyhole.fetch.base import DEFAULT_OPTIONS, FetchOptions  # noqa: E402
from keyhole.fetch.client import HttpFetcher  # noqa: E402
from keyhole.records import Page  # noqa: E402
from keyhole.retrieval.call import Caller  # noqa: E402
from keyhole.store.base import LOCAL  # noqa: E402
from tests.extensions.look.test_mcp_app import hosted  # noqa: E402
from tests.support.agents_at_work import LAST, Step, Workplace  # noqa: E402
from tests.support.chromium import Chromium  # noqa: E402
from tests.support.console import run_command, temporary_installation  # noqa: E402
from tests.support.documentation import OUTPUT_EXAMPLE  # noqa: E402
from tests.support.fakes import page  # noqa: E402
from tests.support.loopback import Call, Site, response, serve  # noqa: E402
from tests.support.visits import Scheme, Visit, open_browser, visit  # noqa: E402

SHOTS: Final = ROOT / "docs" / "shots"
WIDTH: Final = 1_280
"""Pixels."""
COLOURS: Final = 128
"""Colours of a picture: text on plain grounds needs no more, and the file is a third as large."""
VACUUM: Final = "https://www.postgresql.org/docs/15/routine-vacuuming.html"
WAL: Final = "https://www.sqlite.org/wal.html"
OWNERSHIP: Final = "https://doc.rust-lang.org/book/ch04-01-what-is-ownership.html"
REFERENCE: Final = {
    "https://docs.python.org/3/library/graphlib.html": "python-graphlib",
    "https://nodejs.org/api/permissions.html": "nodejs-permissions",
    "https://www.sqlite.org/queryplanner.html": "sqlite-queryplanner",
    "https://www.postgresql.org/docs/15/sql-createpolicy.html": "postgresql-createpolicy",
    "https://doc.rust-lang.org/reference/expressions/loop-expr.html": "rust-reference-loops",
}
"""Addresses of pages in fixtures/reference/, whose README names their origins and licences."""
GRAPHLIB, PERMISSIONS, PLANNER, POLICY, LOOPS = REFERENCE
SESSIONS: Final[tuple[tuple[str, tuple[Step, ...]], ...]] = (
    (
        "docs-agent",
        (
            ("web_fetch", {"url": PERMISSIONS, "query": "allow reading one folder only", "max_chars": 3_000}),
            ("web_fetch", {"url": LOOPS, "query": "break out of a labelled loop with a value"}),
        ),
    ),
    (
        "research-agent",
        (
            ("search", {"query": "SQLite write-ahead log checkpoint starvation", "max_chars": 5_000}),
            ("web_fetch", {"url": WAL, "query": "how large can the WAL file grow", "max_chars": 2_000}),
            ("read_artifact", {"id": LAST, "query": "read-only databases on network filesystems", "max_chars": 1_500}),
            ("read_artifact", {"id": LAST, "find": "checkpoint starvation"}),
        ),
    ),
    (
        "review-agent",
        (
            ("web_fetch", {"url": POLICY, "query": "which policies apply to UPDATE", "max_chars": 2_500}),
            ("web_fetch", {"url": POLICY, "query": "WITH CHECK expression for UPDATE and INSERT", "max_chars": 2_500}),
            ("web_fetch", {"url": "https://wiki.example.org/rls", "query": "row level security pitfalls"}),
        ),
    ),
    (
        "docs-agent",
        (
            ("web_fetch", {"url": OWNERSHIP, "query": "what happens to a String that is moved", "max_chars": 2_500}),
            ("read_artifact", {"id": LAST, "offset": 12_000, "limit": 2_000}),
            ("web_fetch", {"url": GRAPHLIB, "query": "detect a cycle in a dependency graph"}),
        ),
    ),
    (
        "review-agent",
        (
            ("web_fetch", {"url": PLANNER, "query": "covering index for ORDER BY with LIMIT", "max_chars": 3_000}),
            ("search", {"query": "covering index partial sort"}),
        ),
    ),
    (
        "research-agent",
        (
            (
                "web_fetch",
                {
                    "url": VACUUM,
                    "query": "How is the autovacuum threshold computed for a large table, and wraparound prevented?",
                    "max_chars": 3_500,
                },
            ),
            ("read_artifact", {"id": LAST, "query": "transaction ID wraparound failure", "max_chars": 2_000}),
            ("read_artifact", {"id": LAST, "find": "vacuum threshold = vacuum base threshold"}),
        ),
    ),
)
"""Clients and their calls, the oldest first."""
PROJECTS: Final = {"docs-agent": "handbook", "research-agent": "ledger", "review-agent": "billing", "keyhole": "toolz"}
"""The folder in which each client works."""
PICTURES: Final = {
    "sessions": ("/", 680),
    "call": ("/?words=autovacuum", 1_100),
    "misses": ("/misses", 850),
    "figures": ("/figures?days=7", 900),
}
"""The path of the page that each picture shows or begins with, and the height of the picture in pixels."""
TAKEN: Final[dict[Scheme, tuple[str, ...]]] = {"light": tuple(PICTURES), "dark": ("call-dark",)}
"""The names of the pictures of pages by the colours of the system."""
APP_BOX: Final = (10, 10, 650, 780)
"""The pixels of the view in its host: left, top, right, bottom."""
TIMES_OF_DAY: Final = (0.4, 0.45, 0.6, 0.65, 0.75)
"""Parts of a day before now at which sessions began, in turn."""


@contextmanager
def network() -> Iterator[None]:
    """Answer this process's fetches with the recorded pages until the block ends."""
    recorded = {each.url: (each.body, each.content_type) for each in recorded_pages().values()}
    for url, name in REFERENCE.items():
        recorded[url] = ((fixtures_folder() / "reference" / f"{name}.html").read_bytes(), "text/html")

    async def fetch(_self: HttpFetcher, url: str, _options: FetchOptions = DEFAULT_OPTIONS) -> Page:
        body, kind = recorded[url]
        return page(url, body, content_type=kind, fetched_at=time.time())

    with patch.object(HttpFetcher, "fetch", fetch):
        yield


def answer_search(site: Site) -> Any:
    """Answer as a SearXNG with pages that are stored and one that is not."""
    hits = {WAL: "Write-Ahead Logging", PLANNER: "The SQLite Query Planner", site.url("/gone"): "Checkpoints explained"}
    results = [{"url": url, "title": title, "content": title} for url, title in hits.items()]

    def talk(call: Call) -> None:
        if call.path.startswith("/search?"):
            call.send(response(json.dumps({"results": results}).encode(), Content_Type="application/json"))
        else:
            call.send(response(b"not here", "404 Not Found"))

    return talk


def work(workplace: Workplace) -> str:
    """Store the pages, let the agents work, and bound the output of a test run that failed.

    Returns the result of the last agent's first call.
    """
    with network(), patch.dict(os.environ, {"KEYHOLE_RECORD": "off"}):
        for url in (VACUUM, WAL, OWNERSHIP, *REFERENCE):
            run_command(f"keyhole fetch {url}")
    results = [workplace.work(client, steps) for client, steps in SESSIONS]
    output = load_outputs()[OUTPUT_EXAMPLE]
    command = ["-m", "keyhole", "bound", "--of", output.command, "--exit", str(output.exit), "--budget", "1500"]
    environment = workplace.environment()
    subprocess.run(
        [sys.executable, *command], input=output.text, env=environment, text=True, check=False, capture_output=True
    )
    return results[-1][0]


def spread_times(home: Path) -> None:
    """Let the sessions begin on the days before now, the newest a minute ago, and their calls follow one another."""
    stores = open_stores(parse_config({"KEYHOLE_HOME": str(home)}))
    log = stores.calls_for(LOCAL)
    sessions = sorted(log.sessions(100), key=lambda session: session.last_at, reverse=True)
    records = {each.session: [] for each in log.calls(1_000)}  # type: ignore[var-annotated]
    for call in log.calls(1_000):
        records[call.session].append(log.get(call.id))
    now = time.time()
    for days, session in reversed([*enumerate(sessions)]):
        start = now - 200 if days == 0 else now - 86_400 * (days - 1 + TIMES_OF_DAY[days % len(TIMES_OF_DAY)])
        log.remove_session(session.id)
        for number, record in enumerate(reversed(records[session.id])):
            client = record.summary.client.split()[0]
            at, folder = start + 37 * number, f"/home/dev/{PROJECTS.get(client, client)}"
            summary = replace(record.summary, started_at=at, folder=folder, follows="", relation="", miss="")
            log.add(replace(record, summary=summary))
    stores.close()


def show_app(home: Path, result: str) -> bytes:
    """Return a picture of a host with the view of the call that had this result."""
    retrieval = build(parse_config({"KEYHOLE_HOME": str(home)})).of(LOCAL)
    data = asyncio.run(show_call(retrieval, Caller(), {"result": result}))
    answer = {"result": {"content": [{"type": "text", "text": data}]}}
    with Chromium() as browser, hosted(browser, answer, theme="light") as view:
        view.send("ui/notifications/tool-input", {"arguments": SESSIONS[-1][1][0][1]})
        view.send("ui/notifications/tool-result", {"content": [{"type": "text", "text": result}]})
        view.wait_until(lambda: "characters left out" in view.text())
        return view.screenshot()


def save(png: bytes, name: str, box: tuple[int, int, int, int] | None = None) -> None:
    """Write a picture, or a box of it, as a PNG of few colours."""
    with Image.open(io.BytesIO(png)) as shown:
        SHOTS.mkdir(exist_ok=True)
        path = SHOTS / f"look-{name}.png"
        shown.crop(box).convert("RGB").quantize(COLOURS, dither=Image.Dither.NONE).save(path, optimize=True)
    print(path.relative_to(ROOT), path.stat().st_size)


def main(names: list[str]) -> None:
    """Take the named pictures, by default all."""
    with temporary_installation() as home, serve(answer_search) as site:
        workplace = Workplace(home, site)
        result = work(workplace)
        if not names or "app" in names:
            save(show_app(home, result), "app", APP_BOX)
        spread_times(home)
        with workplace.look() as link, open_browser() as browser:
            for scheme, taken in TAKEN.items():
                with visit(browser, link, scheme=scheme) as window:
                    for name in (each for each in taken if not names or each in names):
                        open_page(window, name.removesuffix("-dark"))
                        save(window.page.screenshot(), name)


def open_page(window: Visit, name: str) -> None:
    """Open the page of a picture."""
    path, height = PICTURES[name]
    window.page.set_viewport_size({"width": WIDTH, "height": height})
    window.open(path)
    if name == "call":
        window.page.locator("table.calls a b").last.click()
        window.page.wait_for_load_state()
        window.page.locator("section.asked").evaluate("part => scrollTo(0, part.offsetTop - 10)")
    else:
        window.page.locator("#live").wait_for(state="hidden" if name == "figures" else "visible")


if __name__ == "__main__":
    main(sys.argv[1:])
