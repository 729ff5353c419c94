"""Fetch every case of a hostile web server through the real server over stdio.

    python -m benchmarks.fetch.hostile DIR [--only NAME]

DIR holds `evil_server.py`: a program that listens on loopback, prints `LISTEN host:port`, and with `--list` prints its
cases as JSON lines: the expected result (`kind`, `codes`, `must`, `must_not`, `truncated`) and limits (`max_s`,
`max_mb`). Prints a table and the failures with their reasons. Linux only, because memory is read from /proc. All
traffic is on loopback.
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import re
import subprocess
import sys
import tempfile
import time
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from mcp import Client, StdioServerParameters

from benchmarks.rows import Check, is_number, is_string, is_text, list_of, one_of, parse_rows, report
from benchmarks.server.startup import SERVER, serve_page

PATIENCE: Final = 75.0
"""Seconds after which a call counts as a hang, far above the default deadline of 30."""
MAX_PARENT_MB: Final = 150
"""Maximum growth of the server's process during a fetch in MB; a case may have a lower limit."""
MAX_BOMBS_MB: Final = 500
"""Maximum growth of the server's process during ten concurrent bombs in MB."""
MAX_SMALL_S: Final = 2.0
"""Maximum seconds for a small page of another host while hostile responses are read."""
MAX_HEADER: Final = 400
"""Maximum characters of a header line above the untrusted text."""
BOMBS: Final = 10
CODES: Final = {
    "unsupported_scheme": {"scheme_not_allowed"},
    "url_blocked": {"blocked_address"},
    "http_error": {"http_status", "server_error"},
    "not_found": {"not_found"},
    "forbidden": {"forbidden"},
    "auth_required": {"login_required"},
    "unsupported_content_type": {"unsupported_media"},
    "empty_content": {"empty_document"},
    "decode_error": {"protocol_error"},
    "network_error": {"connect_failure", "protocol_error"},
    "too_large": {"too_large", "decompression_bomb"},
}
"""Keyhole's error codes for each error code of the cases."""

FIELDS: Final[dict[str, Check]] = {
    "path": lambda path: is_text(path) and path.startswith("/"),
    "group": is_string,
    "kind": one_of("error", "text", "either"),
    "codes": list_of(is_string),
    "must": list_of(is_string),
    "must_not": list_of(is_string),
    "truncated": one_of(True, False, None),
    "max_s": is_number,
    "max_mb": is_number,
}

_CONTROLS = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\ud800-\udfff]")


@dataclass(frozen=True, slots=True)
class Outcome:
    """The result of a case."""

    case: dict[str, Any]
    text: str
    facts: dict[str, Any]
    is_error: bool
    seconds: float
    parent_mb: float
    children_mb: float

    @property
    def code(self) -> str:
        """The code of an error, or `text`."""
        return self.text.partition(":")[0] if self.is_error else "text"


def main() -> int:
    """Run all cases and print the table. Return 1 if a case failed."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path, metavar="DIR")
    parser.add_argument("--only", default="", help="run only cases whose id or group contains this")
    arguments = parser.parse_args()
    program = arguments.folder / "evil_server.py"
    loaded, unusable = load_cases(program)
    cases = [case for case in loaded if arguments.only in case["id"] or arguments.only in case["group"]]
    outcomes, together = asyncio.run(run_cases(program, cases))
    print(format_table(outcomes), *together, sep="\n")
    faults = [f"- `{o.case['id']}`: {fault}" for o in outcomes for fault in find_faults(o)]
    print("", f"{len(faults)} faults." if faults else "No faults.", *faults, sep="\n")
    return 1 if unusable or faults or any("FAIL" in line for line in together) else 0


def load_cases(program: Path) -> tuple[list[dict[str, Any]], int]:
    """Return the cases of the hostile server, and how many cannot be run. The one that counts requests is last."""
    listed = subprocess.run([sys.executable, str(program), "--list"], stdout=subprocess.PIPE, check=True).stdout
    cases, faults = parse_rows(listed.decode("utf-8", "replace").split("\n"), FIELDS)
    # Forbidden requests can only be counted after all other cases. Their page, /canary, is never requested.
    cases = sorted((case for case in cases if case["path"] != "/canary"), key=lambda case: "count" in case["path"])
    return cases, report(faults)


async def run_cases(program: Path, cases: list[dict[str, Any]]) -> tuple[list[Outcome], list[str]]:
    """Run every case alone, then several concurrently, then the count of forbidden requests."""
    with run_hostile_server(program) as endpoint, serve_page() as site:
        async with run_keyhole(endpoint, site.removeprefix("http://")) as (client, pid):
            for _ in range(3):  # the first pages load the parsers, whose memory must not count for a case
                await client.call_tool("web_fetch", {"url": f"{site}/warm", "refresh": True})
            last = [case for case in cases if "count" in case["path"]]
            outcomes = [await run_case(client, pid, endpoint, case) for case in cases if case not in last]
            together = [
                await run_bombs(client, pid, endpoint, cases),
                await run_small_fetches(client, endpoint, site, cases),
            ]
            outcomes += [await run_case(client, pid, endpoint, case) for case in last]
    return outcomes, together


@contextmanager
def run_hostile_server(program: Path) -> Iterator[str]:
    """Run the hostile server until the block ends; yield its endpoint."""
    with subprocess.Popen([sys.executable, str(program)], stdout=subprocess.PIPE, text=True) as process:
        try:
            assert process.stdout is not None
            yield process.stdout.readline().split()[1]
        finally:
            process.kill()


@asynccontextmanager
async def run_keyhole(*endpoints: str) -> AsyncIterator[tuple[Client, int]]:
    """Run this checkout's server, which may fetch only these endpoints; yield a client and the server's process id."""
    with tempfile.TemporaryDirectory() as home:
        settings = {
            "KEYHOLE_CONFIG": "off",
            "KEYHOLE_HOME": home,
            "KEYHOLE_ALLOW_PRIVATE": ",".join(endpoints),
            "PYTHONPATH": str(SERVER),
        }
        server = StdioServerParameters(command=sys.executable, args=["-m", "keyhole", "serve"], env=settings)
        before = children(Path("/proc/self"))
        async with Client(server) as client:
            (pid,) = children(Path("/proc/self")) - before
            yield client, pid


async def run_case(client: Client, pid: int, endpoint: str, case: dict[str, Any]) -> Outcome:
    """Run a case alone; return its result, time and memory."""
    base = reset_peak(pid)
    started = time.monotonic()
    result = await fetch(client, f"http://{endpoint}{case['path']}")
    seconds = time.monotonic() - started
    children_mb = sum(memory(child, "VmHWM") for child in descendants(pid))
    return Outcome(case, *result, seconds, memory(pid, "VmHWM") - base, children_mb)


async def fetch(client: Client, url: str) -> tuple[str, dict[str, Any], bool]:
    """Fetch a URL; return text, facts and whether the call failed. A hang or an exception counts as a failure."""
    try:
        async with asyncio.timeout(PATIENCE):
            result = await client.call_tool("web_fetch", {"url": url, "refresh": True})
    except TimeoutError:
        return "hang: no answer", {}, True
    except Exception as error:  # noqa: BLE001
        return f"raw_exception: {error!r}", {}, True
    text = "".join(getattr(block, "text", "") for block in result.content)
    return text, (result.meta or {}).get("keyhole", {}), bool(result.is_error)


async def run_bombs(client: Client, pid: int, endpoint: str, cases: list[dict[str, Any]]) -> str:
    """Fetch ten bombs of all kinds concurrently; return a line about the growth of the server and its children."""
    paths = [case["path"] for case in cases if "bomb" in case["path"] or "infinite" in case["path"]]
    if not paths:
        return ""
    base = reset_peak(pid)
    started = time.monotonic()
    urls = [f"http://{endpoint}{paths[n % len(paths)]}?{n}" for n in range(BOMBS)]
    calls = asyncio.gather(*(fetch(client, url) for url in urls))
    children_mb = 0.0
    while not calls.done():
        children_mb = max(children_mb, sum(memory(child, "VmRSS") for child in descendants(pid)))
        await asyncio.sleep(0.05)
    grown = memory(pid, "VmHWM") - base
    raw = [text for text, _, _ in await calls if text.startswith(("hang", "raw_exception", "internal_error"))]
    verdict = "FAIL" if grown > MAX_BOMBS_MB or raw else "ok"
    took = time.monotonic() - started
    return f"\n{BOMBS} bombs at once, {took:.1f} s: server {grown:+.0f} MB, children {children_mb:.0f} MB: {verdict}."


async def run_small_fetches(client: Client, endpoint: str, site: str, cases: list[dict[str, Any]]) -> str:
    """Fetch small pages of another host during slow and large responses; return a line about the longest wait."""
    paths = [case["path"] for case in cases if case["group"] in {"slow", "size", "html", "doc"}]
    calls = asyncio.gather(*(fetch(client, f"http://{endpoint}{path}?m") for path in paths))
    waits: list[float] = []
    while not calls.done():
        started = time.monotonic()
        _text, _facts, failed = await fetch(client, f"{site}/small/{len(waits)}")
        waits.append(PATIENCE if failed else time.monotonic() - started)
        await asyncio.sleep(0.2)
    raw = [text for text, _, _ in await calls if text.startswith(("hang", "raw_exception", "internal_error"))]
    longest = max(waits, default=0.0)
    verdict = "FAIL" if longest > MAX_SMALL_S or raw else "ok"
    return f"{len(waits)} small fetches during {len(paths)} hostile fetches: longest {longest:.2f} s: {verdict}."


def find_faults(outcome: Outcome) -> list[str]:
    """Return the reasons why a case failed; an empty list if it passed."""
    case, text = outcome.case, outcome.text
    faults = []
    accepted = set().union(*(CODES.get(code, set()) | {code} for code in case["codes"]))
    if outcome.is_error and (case["kind"] == "text" or outcome.code not in accepted):
        faults.append(f"expected {case['kind']} {case['codes']}, got the error “{text[:160]}”")
    if not outcome.is_error:
        if case["kind"] == "error":
            faults.append(f"expected an error of {case['codes']}, got text “{text[:160]}”")
        faults += [f"the text lacks {want[:60]!r}" for want in case["must"] if want not in text]
        if case["truncated"] and "Partial" not in text and not outcome.facts.get("next"):
            faults.append("the text is not marked as truncated")
    faults += [f"the result contains {bad[:60]!r}" for bad in case["must_not"] if bad in text]
    if found := _CONTROLS.search(text):
        faults.append(f"the result contains the control character {found[0]!r}")
    ours = text.partition("--- untrusted text")[0]
    if max(map(len, ours.split("\n"))) > MAX_HEADER:
        faults.append("a line of the header is too long")
    if outcome.seconds > case["max_s"]:
        faults.append(f"took {outcome.seconds:.1f} s, at most {case['max_s']} allowed")
    if outcome.parent_mb > min(MAX_PARENT_MB, case["max_mb"]):
        faults.append(
            f"the server grew by {outcome.parent_mb:.0f} MB, at most {min(MAX_PARENT_MB, case['max_mb'])} allowed"
        )
    return faults


def format_table(outcomes: list[Outcome]) -> str:
    """Return a Markdown table of passes and maximum time and memory, by group."""
    groups = {
        str(outcome.case["group"]): [o for o in outcomes if o.case["group"] == outcome.case["group"]]
        for outcome in outcomes
    }
    lines = ["| group | passed | longest, s | server grew by, MB | children, MB |", "|---|---:|---:|---:|---:|"]
    for name, group in {**groups, **({"all": outcomes} if outcomes else {})}.items():
        passed = sum(not find_faults(outcome) for outcome in group)
        most = [max(values) for values in zip(*((o.seconds, o.parent_mb, o.children_mb) for o in group), strict=True)]
        lines.append(f"| {name} | {passed} of {len(group)} | {most[0]:.1f} | {most[1]:.0f} | {most[2]:.0f} |")
    return "\n".join(lines)


# Memory, in MB.


def children(process: Path) -> set[int]:
    """Return the process ids of a process's children."""
    found: set[int] = set()
    for task in (process / "task").glob("*/children"):
        with contextlib.suppress(OSError):
            found |= {int(pid) for pid in task.read_text().split()}
    return found


def descendants(pid: int) -> set[int]:
    """Return the process ids of a process's descendants."""
    direct = children(Path(f"/proc/{pid}"))
    return direct.union(*(descendants(child) for child in direct))


def memory(pid: int, field: str) -> float:
    """Return the current (`VmRSS`) or peak (`VmHWM`) memory of a process in MB; 0 if it has ended."""
    with contextlib.suppress(OSError):
        if found := re.search(rf"{field}:\s+(\d+) kB", Path(f"/proc/{pid}/status").read_text()):
            return int(found[1]) / 1024
    return 0.0


def reset_peak(pid: int) -> float:
    """Reset the peak memory of a process and its children (proc(5), clear_refs); return its current memory in MB."""
    for process in (pid, *descendants(pid)):
        with contextlib.suppress(OSError):
            Path(f"/proc/{process}/clear_refs").write_text("5")
    return memory(pid, "VmRSS")


if __name__ == "__main__":
    sys.exit(main())
