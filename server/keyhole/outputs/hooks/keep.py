"""Bound a result and keep the whole of it in the spool folder, from which the store adopts it."""

from __future__ import annotations

import os
import time
from collections.abc import Mapping
from contextlib import suppress
from typing import TYPE_CHECKING, Final, NamedTuple

from keyhole.config.folders import home_folder, is_required, settings_file
from keyhole.outputs.bound import read_and_keep
from keyhole.outputs.keep import keep_in_spool
from keyhole.render.boundary import END, boundary_mark
from keyhole.store import spool
from keyhole.store.ids import random_id
from keyhole.text.lazy_pattern import lazy_pattern
from keyhole.text.output_facts import OutputFacts
from keyhole.text.secrets.mask import mask_secrets

if TYPE_CHECKING:
    from collections.abc import Mapping

    from keyhole.outputs.bound import Bounded
    from keyhole.outputs.hooks.event import Result, Source

# Load the settings that a hook needs. Without a settings file, a few variables are read, in a fraction of the time.

KEEP_OUTPUTS: Final = "KEYHOLE_KEEP_OUTPUTS"
RECORD: Final = "KEYHOLE_RECORD"
STORE: Final = "KEYHOLE_STORE"


class HookSettings(NamedTuple):
    """The home folder, whether outputs are stored there, and whether their calls are recorded.

    Only the store in the home folder adopts outputs from there. With another store, outputs are not stored.
    """

    home: str
    keeps_outputs: bool
    records: bool


def load_settings(environment: Mapping[str, str]) -> HookSettings:
    """Load the settings from the environment and the settings file. Raise KeyholeError (invalid_argument) for a fault.

    If there is a settings file, load all settings.
    """
    keep, record = (environment.get(name, "").strip().lower() for name in (KEEP_OUTPUTS, RECORD))
    is_plain = {keep, record} <= {"", "on", "off"} and not environment.get(STORE, "").strip()
    if not is_plain or _has_file(environment):
        return _load_all(environment)
    return HookSettings(home_folder(environment), keep != "off", record != "off")


def _has_file(environment: Mapping[str, str]) -> bool:
    """Return whether there is a settings file, or a variable names one."""
    path = settings_file(environment)
    return bool(path) and (is_required(environment) or os.path.exists(path))


def _load_all(environment: Mapping[str, str]) -> HookSettings:
    from keyhole.config.load import load_config
    from keyhole.store import home

    config = load_config(environment)
    keeps_outputs = config.keep_outputs == "on" and not config.store
    return HookSettings(str(home.home_folder(config.home)), keeps_outputs, config.record == "on")


# Bound a result and keep the whole of it in the spool folder, from which the store adopts it.

SECRET_BYTES: Final = 32
NAMES: Final = {"claude": "claude-code"}
"""The names of clients in the log of calls, where they differ from those of the command."""
MAX_OWN_CHARS: Final = 200_000
"""Characters of Keyhole's longest results: its greatest budget in bytes."""
BEGIN: Final = lazy_pattern(r"--- untrusted text (\w{8}) ---\n")
MIN_TOPIC_WORD: Final = 4
"""Characters of the shortest word of a description that ranks lines."""


def bound_and_keep(found: Result, output: str, budget: int, environment: Mapping[str, str], source: Source) -> str:
    """Return the text for the client: the bounded output, between the note and the ending of the result.

    Return "" for a result of Keyhole itself, which has a budget. Raises OSError if the output cannot be kept.
    """
    settings, started_at = load_settings(environment), time.time()
    secret = _read_secret(settings.home, creates=settings.keeps_outputs)
    if is_own_result(output, secret, budget):
        return ""
    note = f"{found.note}\n" if found.note else ""
    space = budget - len(note) - len(found.ending)
    facts = OutputFacts(found.command, found.name, None, found.exit_status, source.folder, names_command=True)
    folder = spool.spool_folder(settings.home)
    keep = keep_in_spool(folder) if settings.keeps_outputs else None
    bounded = read_and_keep(output, None, space, facts, keep, secret, started_at, _topic_words(found.about))(space)
    result = f"{note}{bounded.text}{found.ending}"
    if settings.keeps_outputs and settings.records:
        with suppress(OSError):  # the result is more important than its record
            spool.write_call(folder, _call(found, bounded, result, budget, source, started_at))
    return result


def is_own_result(output: str, secret: bytes, budget: int) -> bool:
    """Return whether an output is a result of Keyhole's server, proxy or commands, with little else.

    The server can have any name, and an agent can run the commands in its shell. No other program can compute the marks
    of the boundary lines.
    """
    if len(output) > MAX_OWN_CHARS or not output.rstrip().endswith(END):
        return False
    others, at = len(output), 0
    while begin := BEGIN.search(output, at):
        at = begin.end()
        body, end, _ = output[at:].partition(f"\n--- end {begin[1]} ---")
        if end and boundary_mark(secret, body) == begin[1]:
            others, at = others - len(body), at + len(body)
    return others < len(output) and others <= budget


def _call(
    found: Result, bounded: Bounded, result: str, budget: int, source: Source, started_at: float
) -> dict[str, object]:
    """Return the record of a call, as `read_call` in outputs/record.py reads it. Secrets are masked there too,
    but must not be in the file."""
    return {
        "id": random_id(), "origin": "hook", "session": source.session,
        "client": NAMES.get(source.client, source.client), "command": mask_secrets(found.command),
        "name": mask_secrets(found.name), "folder": mask_secrets(source.folder), "exit_status": found.exit_status,
        "budget": budget, "started_at": started_at, "seconds": time.time() - started_at, "result": result,
        "outputs": [[bounded.id, bounded.kind, bounded.total, bounded.omitted]],
    }  # fmt: skip


def _topic_words(about: str) -> list[str]:
    """Return the words of a description that lines can be about. The short ones are mostly function words."""
    return [word for word in about.split() if len(word) >= MIN_TOPIC_WORD]


def _read_secret(home: str, *, creates: bool) -> bytes:
    """Return the secret of the installation; if it has none, `creates` one or returns random bytes."""
    try:
        with open(f"{home}/secret", "rb") as file:
            if len(secret := file.read(SECRET_BYTES + 1)) == SECRET_BYTES:
                return secret
    except OSError:
        pass
    from pathlib import Path

    from keyhole.store.home import boundary_secret, open_home

    return open_home(Path(home)) if creates else boundary_secret(Path(home))
