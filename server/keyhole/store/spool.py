"""Keep outputs in a folder until a process with an open store adopts them.

A hook runs at each tool call of a client and has a few milliseconds, in which no database can be opened. It writes an
output into this folder, and the next process that reads or lists artifacts moves it into the store. Importing this
module takes a few milliseconds too, so that its other imports are made where they are needed.
"""

from __future__ import annotations

import json
import os
import time
from _thread import get_ident
from contextlib import suppress
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from keyhole.records import Artifact

FOLDER: Final = "spool"
"""The name of the folder in the home folder."""
COMPLETE: Final = ".output"
"""The suffix of a complete output, whose name is its id."""
DAMAGED: Final = ".damaged"
"""The suffix of a damaged output, which is not read again."""
PARTIAL: Final = ".partial"
"""The suffix of an output that is being written."""
PARTIAL_SECONDS: Final = 3_600.0
"""Age of a partial file from which its process has ended: an output is written in less than a second."""
MAX_BYTES: Final = 2 * 1024**3
"""Greatest size of all files together, the default of KEYHOLE_STORE_MAX_BYTES."""
MAX_ADOPTED: Final = 500
"""Outputs that one call adopts, at some milliseconds each. The next call adopts the next ones."""


def spool_folder(home: str | os.PathLike[str]) -> str:
    """Return the path of the folder in a home folder."""
    return os.path.join(home, FOLDER)


def write(
    folder: str, id: str, address: str, text: str, *, title: str, now: float, notes: Mapping[str, str],
    cut: bool = False, max_bytes: int = MAX_BYTES,
) -> bool:  # fmt: skip
    """Write an output for the store, and return True; return False if it is larger than `max_bytes`.

    `id`: `artifact_id` of `address` and `text`. `now`: its time, in seconds since the epoch. Older outputs that would
    make the folder larger than `max_bytes` are removed. Raises OSError.
    """
    facts = {"id": id, "address": address, "title": title, "time": now, "notes": dict(notes), "cut": cut}
    data = json.dumps({**facts, "chars": len(text)}).encode() + b"\n" + text.encode("utf-8", "surrogatepass")
    if len(data) > max_bytes:
        return False
    os.makedirs(folder, mode=0o700, exist_ok=True)
    make_room(folder, max_bytes - len(data))
    path = os.path.join(folder, id)
    partial = f"{path}.{os.getpid()}.{get_ident()}{PARTIAL}"
    handle = os.open(partial, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    try:
        with open(handle, "wb") as file:
            file.write(data)
        os.replace(partial, path + COMPLETE)
    except OSError:
        with suppress(OSError):
            os.unlink(partial)
        raise
    return True


def make_room(folder: str, max_bytes: int) -> None:
    """Remove the oldest outputs until all files together have at most `max_bytes`."""
    files = []
    for entry in os.scandir(folder):
        with suppress(FileNotFoundError):
            status = entry.stat()
            files.append((status.st_mtime, status.st_size, entry.path))
    total = sum(size for _, size, _ in files)
    for _, size, path in sorted(files):
        if total <= max_bytes:
            return
        if path.endswith((COMPLETE, DAMAGED)):
            with suppress(FileNotFoundError):
                os.unlink(path)
            total -= size


def adopt(folder: str, put: Callable[[Artifact], None], id: str = "", most: int = MAX_ADOPTED) -> int:
    """Put outputs of the folder into a store, at most `most`, oldest first, and return their number.

    `id`: the only output to put, "" for all.

    Several processes may adopt at the same time: an output that two of them put is the same artifact. An output that
    the store cannot take now stays in the folder, and a damaged one is renamed and logged.
    """
    names = _complete_names(folder, id)
    return sum(_adopt_file(os.path.join(folder, name), put) for name in names[:most])


def _complete_names(folder: str, id: str) -> list[str]:
    """Return the names of the complete outputs, oldest first, and remove the partial files of ended processes."""
    found = []
    try:
        entries = list(os.scandir(folder))
    except OSError:  # nothing was ever written, or nothing can be
        return []
    for entry in entries:
        if not entry.name.endswith((COMPLETE, PARTIAL)) or (id and entry.name != id + COMPLETE):
            continue
        with suppress(OSError):
            changed = entry.stat().st_mtime
            if entry.name.endswith(COMPLETE):
                found.append((changed, entry.name))
            elif time.time() - changed > PARTIAL_SECONDS:
                os.unlink(entry.path)
    return [name for _, name in sorted(found)]


def _adopt_file(path: str, put: Callable[[Artifact], None]) -> bool:
    """Put one output into the store and remove its file. Return False if it stays or is damaged."""
    import logging

    from keyhole.errors import KeyholeError
    from keyhole.store.base import TOO_LARGE

    log = logging.getLogger(__name__)
    name = os.path.basename(path)
    try:
        with open(path, "rb") as file:
            artifact = _parse(file.read(), name.removesuffix(COMPLETE))
        put(artifact)
    except FileNotFoundError:
        return False  # another process has adopted it
    except OSError as error:
        log.warning("cannot read the output %s: %s", name, error.strerror)
        return False
    except (ValueError, LookupError, TypeError) as error:
        log.warning("the output %s is damaged and was set aside: %s", name, type(error).__name__)
        with suppress(OSError):
            os.replace(path, path.removesuffix(COMPLETE) + DAMAGED)
        return False
    except KeyholeError as error:
        log.warning("cannot store the output %s: %s", name, error.message)
        if error.message != TOO_LARGE:
            return False
    with suppress(OSError):
        os.unlink(path)
    return True


def _parse(data: bytes, id: str) -> Artifact:
    """Return the artifact of a file. Raise ValueError, LookupError or TypeError if the file is damaged."""
    from keyhole.records import Artifact

    line, _, body = data.partition(b"\n")
    facts, text = json.loads(line), body.decode("utf-8", "surrogatepass")
    if facts["id"] != id or facts["chars"] != len(text):
        raise ValueError("the file is incomplete")
    notes = tuple((str(name), str(value)) for name, value in facts["notes"].items())
    address, title = str(facts["address"]), str(facts["title"])
    return Artifact(
        id, address, address, title, text, "text/plain", "", float(facts["time"]), cut=bool(facts["cut"]), notes=notes
    )
