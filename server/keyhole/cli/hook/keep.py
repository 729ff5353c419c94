"""Bound a result and keep the whole of it in the spool folder, from which the store adopts it."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Final

from keyhole.cli.hook.settings import load_settings
from keyhole.extract.outputs import command_words
from keyhole.retrieval.bound import count_lines, read_whole, render_output
from keyhole.store import spool
from keyhole.store.ids import artifact_id
from keyhole.text.output_facts import output_notes, output_title, output_url
from keyhole.text.secrets import mask_secrets

if TYPE_CHECKING:
    from collections.abc import Mapping

    from keyhole.cli.hook.event import Result

SECRET_BYTES: Final = 32
MIN_TOPIC_WORD: Final = 4
"""Characters of the shortest word of a description that ranks lines."""


def bound_and_keep(found: Result, output: str, budget: int, environment: Mapping[str, str], folder: str) -> str:
    """Return the text that `keyhole.bound` returns for an output. Raise OSError if the output cannot be kept.

    `folder`: where the client works.
    """
    settings = load_settings(environment)
    text, read = read_whole(output, None, budget, None, found.command, found.name)
    id, title = "", output_title(found.command, found.name)
    secret = _read_secret(settings.home, creates=settings.keeps_outputs)
    if settings.keeps_outputs:
        url = output_url(read.kind)
        id, notes = artifact_id(secret, url, text), dict(output_notes(found.command, found.exit_status, folder))
        kept_in = spool.spool_folder(settings.home)
        if not spool.write(kept_in, id, url, text, title=title, now=time.time(), notes=notes):
            raise OSError("the output is larger than the spool folder may be")
    words = " ".join([command_words(mask_secrets(found.command)), *_topic_words(found.about)])
    return render_output(read, count_lines(text), None, budget, title, words, found.exit_status, id, secret).text


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
