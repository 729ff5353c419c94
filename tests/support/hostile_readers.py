"""Extraction functions that misbehave in a worker, like a parser that a hostile page attacks."""

from __future__ import annotations

import json
import os
import re
import signal
import threading
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, Final, cast

from keyhole.errors import Code, KeyholeError
from keyhole.extract.workers.child import extract_with_words
from keyhole.extract.workers.tasks import Result
from keyhole.records import Document

AUTOGROUP: Final = Path("/proc/self/autogroup")
"""The niceness of this process's session, where Linux groups processes by session."""


def act_on_first_word(body: bytes, url: str, content_type: str, requested_url: str) -> tuple[Document, str]:
    """Run the action that the first word of the body names, then extract the body."""
    action = _ACTIONS.get(body.split(b" ", 1)[0].decode("latin-1"))
    if text := action() if action else None:
        return Document("", text, "text/plain"), ""
    return extract_with_words(body, url, content_type, requested_url)


def echo(body: bytes, url: str, content_type: str, requested_url: str) -> tuple[Document, str]:
    """Return the body unchanged."""
    return Document("", body.decode(), content_type), ""


def surrogates(body: bytes, url: str, content_type: str, requested_url: str) -> tuple[Document, str]:
    """Return a document with characters that only the messages of tasks.py carry."""
    text = "a\udfff\ud83d\ude00 😀 \x00 \u202e é\n"
    return Document("\ud800 title", text, "text/plain", removed=(("x", 2),)), "é \udc80"


def _loop() -> None:
    while True:
        pass


def _pause() -> None:
    threading.Event().wait(0.5)


def _wait_for_ever() -> None:
    threading.Event().wait()


def _hold_interpreter() -> None:
    re.match(r"(a+)+$", "a" * 64 + "!")


def _allocate_at_once() -> str:
    return str(len(bytearray(3_000_000_000)))


def _allocate_piecemeal() -> str:
    return str(len([bytes(range(256)) * 4_000 + bytes([count % 256]) for count in range(3_000)]))


def _raise() -> None:
    raise ZeroDivisionError("a fault of a library")


def _print() -> None:
    print("printed by a library", flush=True)
    os.write(1, b"written to descriptor 1\n")
    os.write(2, b"and to descriptor 2\n")


def _write_to_server(answer: bytes) -> None:
    """Write `answer` to the pipe, as a page that controls the process could. The pipe is a descriptor above 2."""
    for descriptor in range(3, 20):
        try:
            os.write(descriptor, answer)
        except OSError:
            continue
    threading.Event().wait()


def _describe_process() -> str:
    variables = ",".join(sorted(os.environ))
    leader = os.getsid(0) == os.getpid()
    group = AUTOGROUP.read_text().split()[-1] if AUTOGROUP.exists() else ""
    return f"pid={os.getpid()} nice={os.nice(0)} group={group} leader={leader} environment={variables}\n"


_ACTIONS: Final[dict[str, Callable[[], str | None]]] = {
    "loop": _loop,
    "pause": _pause,
    "wait": _wait_for_ever,
    "regex": _hold_interpreter,
    "memory": _allocate_at_once,
    "hoard": _allocate_piecemeal,
    "exit": lambda: os._exit(3),
    "segv": lambda: os.kill(os.getpid(), signal.SIGSEGV),
    "raise": _raise,
    "print": _print,
    "garbage": lambda: _write_to_server(b"\0\0\0\5\0\0\0\0[1,2]"),
    "endless": lambda: _write_to_server(b"\xff" * 8),
    "tell": _describe_process,
}


def measure_bodies(arguments: Mapping[str, Any], bodies: Sequence[bytes]) -> Result:
    """A task that returns the sizes of its bodies and the bodies in reverse order."""
    return {"sizes": [len(body) for body in bodies], "given": arguments["given"]}, b"|".join(reversed(bodies))


def fail_as_told(arguments: Mapping[str, Any], bodies: Sequence[bytes]) -> Result:
    """A task that fails in the way that its arguments name."""
    match arguments["how"]:
        case "error":
            raise KeyholeError(Code.ENGINE_UNAVAILABLE, "the engine refuses", status=503)
        case "crash":
            os._exit(1)
        case "spin":
            while True:
                pass
        case "nested":
            json.loads(bodies[0])
        case "list":
            return cast("Result", ([], b""))
    return {"text": "x" * arguments["size"]}, b""
