"""Keep outputs and the records of their calls in a folder until a process with an open store adopts them.

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

from keyhole.store.private_files import make_private_folder

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from typing import Any

    from keyhole.records import Artifact

FOLDER: Final = "spool"
"""The name of the folder in the home folder."""
COMPLETE: Final = ".output"
"""The suffix of a complete output, whose name is its id."""
CALL: Final = ".call"
"""The suffix of the record of a call, whose name is its id."""
DAMAGED: Final = ".damaged"
"""The suffix of a damaged file, which is not read again."""
PARTIAL: Final = ".partial"
"""The suffix of an output that is being written."""
PARTIAL_SECONDS: Final = 3_600.0
"""Age at which a partial file is removed. Writing an output takes less than a second, so its process has ended."""
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
    make_private_folder(folder)
    make_room(folder, max_bytes - len(data))
    _write_file(os.path.join(folder, id), COMPLETE, data)
    return True


def write_call(folder: str, facts: Mapping[str, Any]) -> None:
    """Write the record of a call with its `id`, for the log of calls. Raises OSError."""
    make_private_folder(folder)
    _write_file(os.path.join(folder, facts["id"]), CALL, json.dumps(facts).encode())


def _write_file(path: str, suffix: str, data: bytes) -> None:
    """Write a file that appears under its name when it is complete."""
    partial = f"{path}.{os.getpid()}.{get_ident()}{PARTIAL}"
    handle = os.open(partial, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    try:
        with open(handle, "wb") as file:
            file.write(data)
        os.replace(partial, path + suffix)
    except OSError:
        with suppress(OSError):
            os.unlink(partial)
        raise


def make_room(folder: str, max_bytes: int) -> None:
    """Remove the oldest outputs and calls until all of them together have at most `max_bytes`.

    Outputs that are being written are not counted: the output of one long command must not displace all others.
    """
    files = []
    for entry in os.scandir(folder):
        if entry.name.endswith((COMPLETE, CALL, DAMAGED)):
            with suppress(FileNotFoundError):
                status = entry.stat()
                files.append((status.st_mtime, status.st_size, entry.path))
    total = sum(size for _, size, _ in files)
    for _, size, path in sorted(files):
        if total <= max_bytes:
            return
        with suppress(FileNotFoundError):
            os.unlink(path)
        total -= size


def adopt(folder: str, put: Callable[[Artifact], None], id: str = "", most: int = MAX_ADOPTED) -> int:
    """Put outputs of the folder into a store, at most `most`, oldest first, and return their number.

    `id`: the only output to put, "" for all.

    Several processes may adopt at the same time: an output that two of them put is the same artifact. An output that
    the store cannot take now stays in the folder, and a damaged one is renamed and logged.
    """
    names = _complete_names(folder, COMPLETE, id)
    return sum(_adopt_file(folder, name, lambda data, id: put(_parse(data, id))) for name in names[:most])


def adopt_calls(folder: str, add: Callable[[Mapping[str, Any]], None], most: int = MAX_ADOPTED) -> int:
    """Add the calls of the folder to a log, at most `most`, oldest first, and return their number.

    Several processes may add a call at the same time: a log keeps it once. A call that the log cannot take now stays.
    """
    names = _complete_names(folder, CALL, "")
    return sum(_adopt_file(folder, name, lambda data, _: add(json.loads(data))) for name in names[:most])


def _complete_names(folder: str, suffix: str, id: str) -> list[str]:
    """Return the names of the complete files with a suffix, oldest first.

    Partial files of ended processes are removed.
    """
    found = []
    try:
        entries = list(os.scandir(folder))
    except OSError:  # nothing was ever written, or nothing can be
        return []
    for entry in entries:
        if not entry.name.endswith((suffix, PARTIAL)) or (id and entry.name != id + suffix):
            continue
        with suppress(OSError):
            changed = entry.stat().st_mtime
            if entry.name.endswith(suffix):
                found.append((changed, entry.name))
            elif time.time() - changed > PARTIAL_SECONDS:
                os.unlink(entry.path)
    return [name for _, name in sorted(found)]


def _adopt_file(folder: str, name: str, take: Callable[[bytes, str], None]) -> bool:
    """Give one file and its id to `take`, and remove it. Return False if it stays or is damaged."""
    import logging

    from keyhole.errors import KeyholeError
    from keyhole.store.base import TOO_LARGE
    from keyhole.store.forget_mark import FORGOTTEN

    log = logging.getLogger(__name__)
    path, (id, suffix) = os.path.join(folder, name), os.path.splitext(name)
    kind = "output" if suffix == COMPLETE else "call"
    try:
        with open(path, "rb") as file:
            take(file.read(), id)
    except FileNotFoundError:
        return False  # another process has adopted it
    except OSError as error:
        log.warning("cannot read the %s %s: %s", kind, name, error.strerror)
        return False
    except (ValueError, LookupError, TypeError) as error:
        log.warning("the %s %s is damaged and was set aside: %s", kind, name, type(error).__name__)
        with suppress(OSError):
            os.replace(path, os.path.join(folder, id + DAMAGED))
        return False
    except KeyholeError as error:
        if error.message != FORGOTTEN:
            log.warning("cannot store the %s %s: %s", kind, name, error.message)
        if error.message not in {TOO_LARGE, FORGOTTEN}:
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
