"""Call real servers as `calls.jsonl` says, and keep their results.

    python -m benchmarks.proxy.gateways.make [ID…]     make the calls (whose ids begin so) and keep the results
    python -m benchmarks.proxy.gateways.make --pack    write `results.jsonl.xz` from what was kept

Needs Debian's packages git, ripgrep and chromium, and the right to write the workspace; the servers come from npm and
PyPI. Results contain times and versions, so a second run does not give the same bytes: the committed results are those
that the questions were checked against.
"""

from __future__ import annotations

import argparse
import functools
import json
import lzma
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from itertools import groupby
from pathlib import Path
from typing import Any

from benchmarks.proxy.gateways.corpus import RESULTS, model_bytes
from benchmarks.proxy.gateways.make import workspace
from benchmarks.proxy.gateways.make.servers import CACHE, PORT, SERVERS, environment
from benchmarks.proxy.gateways.session import Session, running

CALLS = [json.loads(line) for line in Path(__file__).with_name("calls.jsonl").read_text(encoding="utf-8").splitlines()]
"""Each has an id, a tool and its arguments; `before`: calls that must come first, whose results are not kept."""
MIN_BYTES = 5_000
"""A smaller result needs no bounding."""


def main() -> int:
    """Record or pack."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0] if __doc__ else None)
    parser.add_argument("ids", nargs="*", help="only calls whose id begins with one of these")
    parser.add_argument("--pack", action="store_true")
    arguments = parser.parse_args()
    if arguments.pack:
        return pack()
    workspace.prepare()
    chosen = [call for call in CALLS if not arguments.ids or call["id"].startswith(tuple(arguments.ids))]
    with pages():
        for name, calls in groupby(chosen, key=lambda call: call["id"].partition("/")[0]):
            server = SERVERS[name]
            with running(server.command(), environment(server), str(workspace.WORKSPACE)) as session:
                record(session, list(calls))
    return 0


def record(session: Session, calls: list[dict[str, Any]]) -> None:
    """Make calls and keep their results."""
    tools = {tool["name"]: tool for tool in session.request("tools/list", {})["tools"]}
    if "create_entities" in tools:
        _fill_memory(session)
    for call in calls:
        for before in call.get("before", ()):
            session.call(before["tool"], before["arguments"])
        result = session.call(call["tool"], call["arguments"])
        row = {"id": call["id"], "tool": tools[call["tool"]], "arguments": call["arguments"], "result": result}
        path = _path(call["id"])
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(json.dumps(row, ensure_ascii=False), encoding="utf-8")
        print(f"{call['id']:32} {model_bytes(result):9,} bytes {'error' if result.get('isError') else ''}", flush=True)


def _fill_memory(session: Session) -> None:
    """Write the knowledge graph, unless an earlier run has."""
    entities, relations = workspace.graph()
    session.call("create_entities", {"entities": entities})
    session.call("create_relations", {"relations": relations})


@contextmanager
def pages() -> Iterator[None]:
    """Serve the pages of the workspace on loopback."""

    class Handler(SimpleHTTPRequestHandler):
        def log_message(self, *_: object) -> None: ...

    handler = functools.partial(Handler, directory=str(workspace.WORKSPACE / "pages"))
    with ThreadingHTTPServer(("127.0.0.1", PORT), handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        try:
            yield
        finally:
            server.shutdown()


def pack() -> int:
    """Write the kept results of a fit size, in the order of the calls."""
    rows = [json.loads(_path(call["id"]).read_text(encoding="utf-8")) for call in CALLS if _path(call["id"]).exists()]
    fit = [row for row in rows if model_bytes(row["result"]) >= MIN_BYTES]
    lines = "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in fit)
    RESULTS.write_bytes(lzma.compress(lines.encode(), preset=9 | lzma.PRESET_EXTREME))
    print(f"{len(fit)} of {len(CALLS)} results, {RESULTS.stat().st_size:,} bytes")
    return 0


def _path(id: str) -> Path:
    return CACHE / "results" / f"{id.replace('/', '--')}.json"


if __name__ == "__main__":
    raise SystemExit(main())
