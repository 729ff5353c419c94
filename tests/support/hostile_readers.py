"""Readers that do in a worker what a hostile page would make a parser do. Only tests name them to a pool."""

from __future__ import annotations

import os
import re
import signal
import threading
from collections.abc import Callable
from typing import Final

from keyhole.extract.workers.digest import digest
from keyhole.records import Document


def by_first_word(body: bytes, url: str, content_type: str, requested_url: str) -> tuple[Document, str]:
    """Do what the first word of the body says, then read it as it is."""
    deed = _DEEDS.get(body.split(b" ", 1)[0].decode("latin-1"))
    if told := deed() if deed else None:
        return Document("", told, "text/plain"), ""
    return digest(body, url, content_type, requested_url)


def echo(body: bytes, url: str, content_type: str, requested_url: str) -> tuple[Document, str]:
    """The body as it came."""
    return Document("", body.decode(), content_type), ""


def surrogates(body: bytes, url: str, content_type: str, requested_url: str) -> tuple[Document, str]:
    """What no encoding but ours would carry."""
    text = "a\udfff\ud83d\ude00 😀 \x00 \u202e é\n"
    return Document("\ud800 title", text, "text/plain", removed=(("x", 2),)), "é \udc80"


def _loop() -> None:
    while True:
        pass


def _never_give_the_interpreter_back() -> None:
    re.match(r"(a+)+$", "a" * 64 + "!")


def _take_much_at_once() -> str:
    return str(len(bytearray(3_000_000_000)))


def _hoard() -> str:
    return str(len([bytes(range(256)) * 4_000 + bytes([count % 256]) for count in range(3_000)]))


def _raise() -> None:
    raise ZeroDivisionError("a fault of a library")


def _print() -> None:
    print("printed by a library", flush=True)
    os.write(1, b"written to descriptor 1\n")
    os.write(2, b"and to descriptor 2\n")


def _write_to_server(answer: bytes) -> None:
    """What a page that has taken over the process could write: one of the descriptors above 2 is the pipe."""
    for descriptor in range(3, 20):
        try:
            os.write(descriptor, answer)
        except OSError:
            continue
    threading.Event().wait()


def _tell() -> str:
    variables = ",".join(sorted(os.environ))
    return f"pid={os.getpid()} leader={os.getsid(0) == os.getpid()} environment={variables}\n"


_DEEDS: Final[dict[str, Callable[[], str | None]]] = {
    "loop": _loop,
    "regex": _never_give_the_interpreter_back,
    "memory": _take_much_at_once,
    "hoard": _hoard,
    "exit": lambda: os._exit(3),
    "segv": lambda: os.kill(os.getpid(), signal.SIGSEGV),
    "raise": _raise,
    "print": _print,
    "garbage": lambda: _write_to_server(b"\0\0\0\5\0\0\0\0[1,2]"),
    "endless": lambda: _write_to_server(b"\xff" * 8),
    "tell": _tell,
}
