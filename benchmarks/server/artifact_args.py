"""Send hostile read_artifact arguments to a real server over stdio, in both protocol eras.

    python -m benchmarks.server.artifact_args FILE

Each line of FILE is a JSON object: `id`, the arguments as `case`, and the required outcome as `expect`. Ids in angle
brackets are placeholders for artifacts that the benchmark creates:

- `<valid>` is a page on loopback.
- `<valid-unicode>` has characters beyond the basic plane. It is also read in random steps, which must return it
  unchanged.
- `<evicted-during-read>` was removed between two calls.
- `<other-session-same-user>` was fetched by another server process on the same folder.

Errors must be short, must not expose Keyhole's internals, and must not repeat control characters or more than 64
characters of an id. Exits with 1 if a row fails or cannot be run.
"""

from __future__ import annotations

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

from benchmarks.rows import Check, is_anything, load_rows, map_of
from benchmarks.server.wire import ERAS, SERVER, SilentError, Wire, run_server, text_of

TEXT: Final = "".join(f"Line {n} of a page that is kept.\n" for n in range(3_000))
ASTRAL: Final = "".join(f"😀𝒳 {n} ünïcödé 中文 👩‍👩‍👧\n" for n in range(2_000))
PAGES: Final = {
    "/valid": TEXT,
    "/unicode": ASTRAL,
    "/gone": "A page that goes.\n",
    "/other": "Another session's page.\n",
}
WALKS: Final = 20
"""How many times the text beyond the basic plane is read in random steps."""
CODES: Final = {"artifact_not_found": "unknown_artifact", "artifact_expired": "expired_artifact"}
"""Keyhole's error codes, by the codes in the rows."""
OUTCOMES: Final = ("ok", "ok_exact", "ok_or_error")
FIELDS: Final[dict[str, Check]] = {
    "case": map_of(is_anything),
    "expect": lambda expect: isinstance(expect, str) and (expect in OUTCOMES or expect.startswith("error:")),
}
MAX_ERROR_CHARS: Final = 1_000
"""Maximum characters of an error message."""

_BODY: Final = re.compile(r"--- untrusted text (\w{8}) ---\n(.*)\n--- end \1 ---", re.DOTALL)
_INTERNALS: Final = re.compile(r"Traceback|File \"|sqlite|psycopg|\.py\b|/tmp|OperationalError|OverflowError")
_CONTROLS: Final = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u202e]")


@dataclass(frozen=True, slots=True)
class Placeholders:
    """The artifacts' ids by placeholder, and the stored text of `<valid-unicode>`."""

    ids: dict[str, str]
    astral: str


@contextmanager
def site() -> Iterator[int]:
    """Serve the pages as plain text on loopback; yield the port."""

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


def fetch_page(wire: Wire, base: str, path: str) -> str:
    """Fetch a page; return its artifact's id."""
    answer = wire.call("web_fetch", {"url": base + path})
    return str(answer["result"]["_meta"]["keyhole"]["artifact_id"])


def fetch_placeholders(wire: Wire, base: str, home: str, settings: dict[str, str]) -> Placeholders:
    """Create the artifacts of all placeholders; return their ids."""
    ids = {"<valid>": fetch_page(wire, base, "/valid"), "<valid-unicode>": fetch_page(wire, base, "/unicode")}
    ids["<evicted-during-read>"] = gone = fetch_page(wire, base, "/gone")
    wire.call("read_artifact", {"id": gone})
    command = [sys.executable, "-m", "keyhole", "artifacts", "rm", gone]
    subprocess.run(
        command,
        env={"KEYHOLE_CONFIG": "off", "KEYHOLE_HOME": home, "PYTHONPATH": str(SERVER)},
        check=True,
        capture_output=True,
    )
    with run_server(home, wire.era, **settings) as other:
        ids["<other-session-same-user>"] = fetch_page(other, base, "/other")
    return Placeholders(ids, read_in_steps(wire, ids["<valid-unicode>"], lambda: 3_000))


def read_in_steps(wire: Wire, id: str, step: Callable[[], int]) -> str:
    """Return an artifact's text, joined from consecutive reads of `step()` characters."""
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


def is_read_back(wire: Wire, placeholders: Placeholders, seed: int) -> bool:
    """Return whether reads in random steps return the complete text."""
    step = partial(random.Random(seed).randint, 500, 4_000)
    return read_in_steps(wire, placeholders.ids["<valid-unicode>"], step) == placeholders.astral


def find_fault(row: dict[str, Any], wire: Wire, placeholders: Placeholders) -> str:
    """Return the fault of the answer to a row, or ""."""
    case, expect = dict(row["case"]), row["expect"]
    id = case.get("id")
    if isinstance(id, str):
        case["id"] = placeholders.ids.get(id, id)
    exact = _replace_offset(case, placeholders.astral)
    try:
        answer = wire.call("read_artifact", case)
    except (SilentError, ValueError, OSError) as error:
        return f"{type(error).__name__}: {error}"
    text = text_of(answer)
    is_error = "error" in answer or answer["result"].get("isError", False)
    if is_error and (wrong := _error_fault(text, id)):
        return wrong
    if expect.startswith("error:"):
        codes = [CODES.get(code, code) for code in expect.removeprefix("error:").split("|")]
        return "" if is_error and text.split(":")[0] in codes else f"expected {codes}, got {text[:200]!r}"
    if expect == "ok_or_error":
        return ""
    if is_error:
        return f"expected success, got {text[:200]!r}"
    found = _BODY.search(text)
    right = exact is None or (found is not None and placeholders.astral.startswith(found[2], exact))
    return "" if right else f"the answer is not the text from character {exact}"


def _replace_offset(case: dict[str, Any], text: str) -> int | None:
    """Replace an offset that is a word by its number; return the number, or None if the offset is not a word."""
    named = {"mid-surrogate-pair": 1, "end-1": len(text) - 1, "end": len(text)}
    word = case.get("offset")
    if not isinstance(word, str) or word not in named:
        return None
    case["offset"] = named[word]
    return named[word]


def _error_fault(text: str, id: object) -> str:
    if len(text) > MAX_ERROR_CHARS:
        return f"the error has {len(text):,} characters"
    if found := _INTERNALS.search(text) or _CONTROLS.search(text):
        return f"the error contains {found[0]!r}"
    return "the error repeats the id" if isinstance(id, str) and len(id) > 64 and id[:65] in text else ""


def main(arguments: Sequence[str]) -> int:
    """Print one line for each era and one for each fault."""
    rows, failed = load_rows(Path(arguments[0]), FIELDS)
    for era in ERAS:
        with site() as port, TemporaryDirectory() as home:
            settings = {"KEYHOLE_ALLOW_PRIVATE": f"127.0.0.1:{port}", "KEYHOLE_ROBOTS": "off"}
            with run_server(home, era, **settings) as wire:
                placeholders = fetch_placeholders(wire, f"http://127.0.0.1:{port}", home, settings)
                wrong = [f"{row['id']}: {fault}" for row in rows if (fault := find_fault(row, wire, placeholders))]
                if placeholders.astral.strip() != ASTRAL.strip():
                    wrong.append("the text beyond the basic plane was changed")
                wrong += [
                    f"walk {walk} returned another text"
                    for walk in range(WALKS)
                    if not is_read_back(wire, placeholders, walk)
                ]
        failed += len(wrong)
        print(f"{era}: {len(rows)} rows, {len(wrong)} faults")
        print("".join(f"  {line}\n" for line in wrong), end="")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
