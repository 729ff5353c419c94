"""Bound a result and keep the whole of it in the spool folder, from which the store adopts it."""

from __future__ import annotations

import time
from pathlib import Path
from typing import TYPE_CHECKING

from keyhole.cli.hook.settings import load_settings
from keyhole.retrieval.bound import bound
from keyhole.store import spool
from keyhole.store.home import open_home

if TYPE_CHECKING:
    from collections.abc import Mapping

    from keyhole.cli.hook.event import Result
    from keyhole.records import Artifact


class _Spool:
    """A store to which outputs can only be added."""

    def __init__(self, home: str) -> None:
        self._folder = spool.spool_folder(home)

    def put(self, artifact: Artifact, _words: str, /) -> None:
        """Write an artifact into the spool folder. Raise OSError, also if the folder has no room for it."""
        is_written = spool.write(
            self._folder,
            artifact.id,
            artifact.url,
            artifact.text,
            title=artifact.title,
            now=artifact.fetched_at,
            notes=dict(artifact.notes),
        )
        if not is_written:
            raise OSError("the output is larger than the spool folder may be")


def bound_and_keep(found: Result, output: str, budget: int, environment: Mapping[str, str], folder: str) -> str:
    """Return the text of `keyhole.bound` for an output. Raise OSError if the output cannot be kept."""
    settings = load_settings(environment)
    return bound(
        output,
        budget=budget,
        command=found.command,
        name=found.name,
        exit_status=found.exit_status,
        folder=folder,
        store=_Spool(settings.home) if settings.keeps_outputs else None,
        secret=open_home(Path(settings.home)) if settings.keeps_outputs else b"",
        now=time.time(),
    ).text
