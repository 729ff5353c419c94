"""Hostile arguments of read_artifact, each to a real server over stdio, in both protocol eras.

    python -m benchmarks.server.artifact_args FILE

FILE has one JSON object a line: `id`, the arguments as `case`, and what they must give as `expect`. Ids in angle
brackets stand for artifacts that are made here: `<valid>` for a page on loopback, `<valid-unicode>` for one of
characters beyond the basic plane, which is also read in random steps that must give it again to the character,
`<evicted-during-read>` for one that left between two calls, `<other-session-same-user>` for one that another server
process on the same folder fetched. Whatever comes back must be short, must say nothing of Keyhole's inside, and must
not repeat more of an id than 64 characters, or a control in it. Exit code 1 where a row fails.
"""

from __future__ import annotations

import json
import random
import re
import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from tempfile import TemporaryDirectory
from threading import Thread
from typing import Any, Final

from benchmarks.server.wire import ERAS, SERVER, Wire, started, text_of

TEXT: Final = "".join(f"Line {n} of a page that is kept.\n" for n in range(3_000))
ASTRAL: Final = "".join(f"😀𝒳 {n} ünïcödé 中文 👩‍👩‍👧\n" for n in range(2_000))
PAGES: Final = {
    "/valid": TEXT,
    "/unicode": ASTRAL,
    "/gone": "A page that goes.\n",
    "/other": "Another session's page.\n",
}
WALKS: Final = 20
"""Times that the text beyond the basic plane is read in random steps, which together must give it again."""
CODES: Final = {"artifact_not_found": "unknown_artifact", "artifact_expired": "expired_artifact"}
"""Ours for the codes that the rows name."""
MAX_TOLD: Final = 1_000
"""Characters of an error: it names what is wrong and the next step."""

_BODY: Final = re.compile(r"--- untrusted text (\w{8}) ---\n(.*)\n--- end \1 ---", re.DOTALL)
_INSIDE: Final = re.compile(r"Traceback|File \"|sqlite|psycopg|\.py\b|/tmp|OperationalError|OverflowError")
_CONTROLS: Final = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u202e]")


@dataclass(frozen=True, slots=True)
class Made:
    """Ids and texts that the rows' placeholders stand for."""

    ids: dict[str, str]
    astral: str


@contextmanager
def site() -> Iterator[int]:
    """The pages, as plain text, on loopback; the port."""

    class Site(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            body = PAGES.get(self.path, "").encode()
            self.send_response(200 if body else 404)
            self.send_header("Content-Type", "text/plain; charset=utf-8")
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, format: str, *args: object) -> None:
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Site) as server:
        Thread(target=server.serve_forever, daemon=True).start()
        yield server.server_port
        server.shutdown()


def fetched(wire: Wire, base: str, path: str) -> str:
    """The id of a page that is fetched now."""
    answer = wire.call("web_fetch", {"url": base + path})
    return str(answer["result"]["_meta"]["keyhole"]["artifact_id"])


def made(wire: Wire, base: str, home: str, settings: dict[str, str]) -> Made:
    """Fetch what the placeholders stand for."""
    ids = {"<valid>": fetched(wire, base, "/valid"), "<valid-unicode>": fetched(wire, base, "/unicode")}
    ids["<evicted-during-read>"] = gone = fetched(wire, base, "/gone")
    wire.call("read_artifact", {"id": gone})
    command = [sys.executable, "-m", "keyhole", "artifacts", "rm", gone]
    subprocess.run(
        command,
        env={"KEYHOLE_CONFIG": "off", "KEYHOLE_HOME": home, "PYTHONPATH": str(SERVER)},
        check=True,
        capture_output=True,
    )
    with started(home, wire.era, **settings) as other:
        ids["<other-session-same-user>"] = fetched(other, base, "/other")
    return Made(ids, walked(wire, ids["<valid-unicode>"], lambda: 3_000))


def walked(wire: Wire, id: str, step: Callable[[], int]) -> str:
    """A text as reading on gives it, `step()` characters at a time."""
    text, offset = "", 0
    while True:
        answer = wire.call("read_artifact", {"id": id, "offset": offset, "limit": step()})
        facts = answer["result"]["_meta"]["keyhole"]
        found = _BODY.search(text_of(answer))
        assert found, text_of(answer)
        text += found[2]
        if facts["next"] is None:
            return text
        offset = facts["next"]["offset"]


def walks(wire: Wire, made: Made, seed: int) -> bool:
    """Whether reading in random steps gives the text again."""
    step = partial(random.Random(seed).randint, 500, 4_000)
    return walked(wire, made.ids["<valid-unicode>"], step) == made.astral


def fault(row: dict[str, Any], wire: Wire, made: Made) -> str:
    """What is wrong with the answer to a row, "" where nothing is."""
    case = dict(row["case"])
    expect = str(row["expect"])
    id = case.get("id")
    case["id"] = made.ids.get(id, id) if isinstance(id, str) else id
    exact = _offset(case, made.astral)
    answer = wire.call("read_artifact", case)
    text = text_of(answer)
    is_error = "error" in answer or answer["result"].get("isError", False)
    if is_error and (wrong := _badly_told(text, id)):
        return wrong
    if expect.startswith("error:"):
        codes = [CODES.get(code, code) for code in expect.removeprefix("error:").split("|")]
        return "" if is_error and text.split(":")[0] in codes else f"expected {codes}, got {text[:200]!r}"
    if expect == "ok_or_error":
        return ""
    if is_error:
        return f"expected success, got {text[:200]!r}"
    found = _BODY.search(text)
    right = exact is None or (found is not None and made.astral.startswith(found[2], exact))
    return "" if right else f"not the text from {exact}"


def _offset(case: dict[str, Any], text: str) -> int | None:
    """Put the number into a case whose offset is a word, and say which it is."""
    named = {"mid-surrogate-pair": 1, "end-1": len(text) - 1, "end": len(text)}
    if case.get("offset") not in named:
        return None
    case["offset"] = named[case["offset"]]
    return int(case["offset"])


def _badly_told(text: str, id: object) -> str:
    if len(text) > MAX_TOLD:
        return f"an error of {len(text):,} characters"
    if found := _INSIDE.search(text) or _CONTROLS.search(text):
        return f"an error says {found[0]!r}"
    return "an error repeats the id" if isinstance(id, str) and len(id) > 64 and id[:65] in text else ""


def main(arguments: Sequence[str]) -> int:
    """Print one line an era and one for each fault."""
    rows = [json.loads(line) for line in Path(arguments[0]).read_text(encoding="utf-8").splitlines()]
    failed = 0
    for era in ERAS:
        with site() as port, TemporaryDirectory() as home:
            settings = {"KEYHOLE_ALLOW_PRIVATE": f"127.0.0.1:{port}", "KEYHOLE_ROBOTS": "off"}
            with started(home, era, **settings) as wire:
                things = made(wire, f"http://127.0.0.1:{port}", home, settings)
                wrong = [f"{row['id']}: {told}" for row in rows if (told := fault(row, wire, things))]
                if things.astral.strip() != ASTRAL.strip():
                    wrong.append("the text beyond the basic plane is another one")
                wrong += [f"walk {walk} gave another text" for walk in range(WALKS) if not walks(wire, things, walk)]
        failed += len(wrong)
        print(f"{era}: {len(rows)} rows, {len(wrong)} faults")
        print("".join(f"  {line}\n" for line in wrong), end="")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
