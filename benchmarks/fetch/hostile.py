"""Does any response hurt: a hostile web server, fetched case by case through the real server over stdio.

    python -m benchmarks.fetch.hostile DIR [--only NAME]

DIR holds `evil_server.py`: a program that listens on loopback, says `LISTEN host:port`, and with `--list` prints its
cases as JSON lines: what a good fetcher gives (`kind`, `codes`, `must`, `must_not`, `truncated`) and within which
bounds (`max_s`, `max_mb`). Printed are the failures with their reasons and a table. Linux only: memory is read from
/proc. Nothing leaves the machine.
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import json
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

from benchmarks.server.startup import SERVER, serve_page

PATIENCE: Final = 75.0
"""Seconds after which a call counts as a hang: far beyond the default deadline of 30."""
MAX_PARENT_MB: Final = 150
"""Growth of the server's own process during one fetch; a case may ask for less."""
MAX_BOMBS_MB: Final = 500
"""Growth of the server and its children together during ten bombs at once."""
MAX_SMALL_S: Final = 2.0
"""Seconds for a small page of another host while hostile responses are read."""
MAX_HEADER: Final = 400
"""Characters of a line of ours above the untrusted text."""
BOMBS: Final = 10
FAMILIES: Final = {
    "unsupported_scheme": {"scheme_not_allowed"},
    "url_blocked": {"blocked_address"},
    "http_error": {"http_status"},
    "not_found": {"http_status"},
    "forbidden": {"http_status"},
    "auth_required": {"login_required"},
    "unsupported_content_type": {"unsupported_media"},
    "empty_content": {"empty_document"},
    "decode_error": {"protocol_error"},
    "network_error": {"connect_failure", "protocol_error"},
    "too_large": {"too_large", "decompression_bomb"},
}
"""What the cases call a failure, and what Keyhole does."""

_CONTROLS = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\ud800-\udfff]")


@dataclass(frozen=True, slots=True)
class Outcome:
    """What one case gave."""

    case: dict[str, Any]
    text: str
    facts: dict[str, Any]
    is_error: bool
    seconds: float
    parent_mb: float
    children_mb: float

    @property
    def said(self) -> str:
        """The code of an error, else `text`."""
        return self.text.partition(":")[0] if self.is_error else "text"


def main() -> int:
    """Run all cases, print the table; 1 when one failed."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path, metavar="DIR")
    parser.add_argument("--only", default="", help="cases whose id or group holds this")
    arguments = parser.parse_args()
    program = arguments.folder / "evil_server.py"
    cases = [case for case in cases_of(program) if arguments.only in case["id"] or arguments.only in case["group"]]
    outcomes, together = asyncio.run(run(program, cases))
    print(table(outcomes), *together, sep="\n")
    faults = [f"- `{o.case['id']}`: {fault}" for o in outcomes for fault in faults_of(o)]
    print("", f"{len(faults)} faults." if faults else "No faults.", *faults, sep="\n")
    return 1 if faults or any("FAIL" in line for line in together) else 0


def cases_of(program: Path) -> list[dict[str, Any]]:
    """The cases as the hostile server lists them; the one that counts forbidden requests comes last."""
    listed = subprocess.run([sys.executable, str(program), "--list"], capture_output=True, text=True, check=True)
    cases = [json.loads(line) for line in listed.stdout.splitlines()]
    # A count of forbidden requests says nothing before all is over; the counted page itself is never asked for.
    return sorted((case for case in cases if case["path"] != "/canary"), key=lambda case: "count" in case["path"])


async def run(program: Path, cases: list[dict[str, Any]]) -> tuple[list[Outcome], list[str]]:
    """Every case alone, then several at once; the count of forbidden requests after both."""
    with hostile(program) as endpoint, serve_page() as site:
        async with keyhole(endpoint, site.removeprefix("http://")) as (client, pid):
            for _ in range(3):  # parsers are loaded by the first pages, and that is no case's memory
                await client.call_tool("web_fetch", {"url": f"{site}/warm", "refresh": True})
            last = [case for case in cases if "count" in case["path"]]
            outcomes = [await alone(client, pid, endpoint, case) for case in cases if case not in last]
            together = [await bombs(client, pid, endpoint, cases), await meanwhile(client, endpoint, site, cases)]
            outcomes += [await alone(client, pid, endpoint, case) for case in last]
    return outcomes, together


@contextmanager
def hostile(program: Path) -> Iterator[str]:
    """The hostile server's endpoint while it runs."""
    with subprocess.Popen([sys.executable, str(program)], stdout=subprocess.PIPE, text=True) as process:
        try:
            assert process.stdout is not None
            yield process.stdout.readline().split()[1]
        finally:
            process.kill()


@asynccontextmanager
async def keyhole(*endpoints: str) -> AsyncIterator[tuple[Client, int]]:
    """A client of this tree's server, which may fetch these endpoints only, and the server's process id."""
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


async def alone(client: Client, pid: int, endpoint: str, case: dict[str, Any]) -> Outcome:
    """One case with nothing beside it, and what it took."""
    base = reset_peak(pid)
    started = time.monotonic()
    result = await fetched(client, f"http://{endpoint}{case['path']}")
    seconds = time.monotonic() - started
    beside = sum(memory(child, "VmHWM") for child in descendants(pid))
    return Outcome(case, *result, seconds, memory(pid, "VmHWM") - base, beside)


async def fetched(client: Client, url: str) -> tuple[str, dict[str, Any], bool]:
    """Text, facts and whether it failed; a call that never ends or a protocol error is a failure by that name."""
    try:
        async with asyncio.timeout(PATIENCE):
            result = await client.call_tool("web_fetch", {"url": url, "refresh": True})
    except TimeoutError:
        return "hang: no answer", {}, True
    except Exception as error:  # noqa: BLE001
        return f"raw_exception: {error!r}", {}, True
    text = "".join(getattr(block, "text", "") for block in result.content)
    return text, (result.meta or {}).get("keyhole", {}), bool(result.is_error)


async def bombs(client: Client, pid: int, endpoint: str, cases: list[dict[str, Any]]) -> str:
    """Ten bombs at once, of the kinds there are in turn: how much the server and its children grew."""
    paths = [case["path"] for case in cases if "bomb" in case["path"] or "infinite" in case["path"]]
    if not paths:
        return ""
    base = reset_peak(pid)
    started = time.monotonic()
    asked = [f"http://{endpoint}{paths[n % len(paths)]}?{n}" for n in range(BOMBS)]
    calls = asyncio.gather(*(fetched(client, url) for url in asked))
    beside = 0.0
    while not calls.done():
        beside = max(beside, sum(memory(child, "VmRSS") for child in descendants(pid)))
        await asyncio.sleep(0.05)
    grown = memory(pid, "VmHWM") - base
    raw = [text for text, _, _ in await calls if text.startswith(("hang", "raw_exception", "internal_error"))]
    verdict = "FAIL" if grown > MAX_BOMBS_MB or raw else "ok"
    took = time.monotonic() - started
    return f"\n{BOMBS} bombs at once, {took:.1f} s: server {grown:+.0f} MB, children {beside:.0f} MB: {verdict}."


async def meanwhile(client: Client, endpoint: str, site: str, cases: list[dict[str, Any]]) -> str:
    """A small page of another host, again and again while slow and large responses are read: the longest wait."""
    paths = [case["path"] for case in cases if case["group"] in {"slow", "size", "html", "doc"}]
    calls = asyncio.gather(*(fetched(client, f"http://{endpoint}{path}?m") for path in paths))
    waits: list[float] = []
    while not calls.done():
        started = time.monotonic()
        _text, _facts, failed = await fetched(client, f"{site}/small/{len(waits)}")
        waits.append(PATIENCE if failed else time.monotonic() - started)
        await asyncio.sleep(0.2)
    raw = [text for text, _, _ in await calls if text.startswith(("hang", "raw_exception", "internal_error"))]
    longest = max(waits, default=0.0)
    verdict = "FAIL" if longest > MAX_SMALL_S or raw else "ok"
    return f"{len(waits)} small fetches beside {len(paths)} hostile ones at once: longest {longest:.2f} s: {verdict}."


def faults_of(outcome: Outcome) -> list[str]:
    """Why a case failed, in words; nothing when it passed."""
    case, text = outcome.case, outcome.text
    faults = []
    accepted = set().union(*(FAMILIES.get(code, set()) | {code} for code in case["codes"]))
    if outcome.is_error and (case["kind"] == "text" or outcome.said not in accepted):
        faults.append(f"wants {case['kind']} {case['codes']}, got the error “{text[:160]}”")
    if not outcome.is_error:
        if case["kind"] == "error":
            faults.append(f"wants an error of {case['codes']}, got text “{text[:160]}”")
        faults += [f"the text lacks {want[:60]!r}" for want in case["must"] if want not in text]
        if case["truncated"] and "Partial" not in text and not _shows_less(outcome.facts):
            faults.append("the text does not say that it is not all")
    faults += [f"the result holds {bad[:60]!r}" for bad in case["must_not"] if bad in text]
    if found := _CONTROLS.search(text):
        faults.append(f"the result holds the control character {found[0]!r}")
    ours = text.partition("--- untrusted text")[0]
    if max(map(len, ours.split("\n"))) > MAX_HEADER:
        faults.append("a line of the header is too long")
    if outcome.seconds > case["max_s"]:
        faults.append(f"took {outcome.seconds:.1f} s, of {case['max_s']}")
    if outcome.parent_mb > min(MAX_PARENT_MB, case["max_mb"]):
        faults.append(f"the server grew by {outcome.parent_mb:.0f} MB, of {min(MAX_PARENT_MB, case['max_mb'])}")
    return faults


def _shows_less(facts: dict[str, Any]) -> bool:
    return bool(facts.get("shown_chars", 0) < facts.get("total_chars", 0))


def table(outcomes: list[Outcome]) -> str:
    """Each group's passes, and the most that one of its cases took, as Markdown."""
    groups = {
        str(outcome.case["group"]): [o for o in outcomes if o.case["group"] == outcome.case["group"]]
        for outcome in outcomes
    }
    lines = ["| group | passed | longest, s | server grew by, MB | children, MB |", "|---|---:|---:|---:|---:|"]
    for name, group in {**groups, "all": outcomes}.items():
        passed = sum(not faults_of(outcome) for outcome in group)
        most = [max(values) for values in zip(*((o.seconds, o.parent_mb, o.children_mb) for o in group), strict=True)]
        lines.append(f"| {name} | {passed} of {len(group)} | {most[0]:.1f} | {most[1]:.0f} | {most[2]:.0f} |")
    return "\n".join(lines)


# Memory, in MB.


def children(process: Path) -> set[int]:
    """Process ids of the direct children of a process."""
    found: set[int] = set()
    for task in (process / "task").glob("*/children"):
        with contextlib.suppress(OSError):
            found |= {int(pid) for pid in task.read_text().split()}
    return found


def descendants(pid: int) -> set[int]:
    """Process ids of the children of a process, and of theirs."""
    direct = children(Path(f"/proc/{pid}"))
    return direct.union(*(descendants(child) for child in direct))


def memory(pid: int, field: str) -> float:
    """`VmRSS`, what a process holds now, or `VmHWM`, the most it held; nothing for one that has ended."""
    with contextlib.suppress(OSError):
        if found := re.search(rf"{field}:\s+(\d+) kB", Path(f"/proc/{pid}/status").read_text()):
            return int(found[1]) / 1024
    return 0.0


def reset_peak(pid: int) -> float:
    """Begin to count the peak of a process and its children anew (proc(5), clear_refs); what it holds now."""
    for process in (pid, *descendants(pid)):
        with contextlib.suppress(OSError):
            Path(f"/proc/{process}/clear_refs").write_text("5")
    return memory(pid, "VmRSS")


if __name__ == "__main__":
    sys.exit(main())
