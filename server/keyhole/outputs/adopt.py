"""Move outputs and the records of calls from the spool folder into the store."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING

from keyhole.errors import KeyholeError
from keyhole.outputs.keep import artifact_words
from keyhole.store import spool
from keyhole.store.spool import MAX_ADOPTED, adopt

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path
    from typing import Any

    from keyhole.records import Artifact
    from keyhole.store.base import Store
    from keyhole.store.calls.base import CallLog


def adopt_outputs(folder: str, store: Store, id: str = "", most: int = MAX_ADOPTED) -> int:
    """Move the outputs of a spool folder into a store, and return their number.

    `id`: the only output to move, "" for all. `most`: how many are moved at once.
    """

    def put(artifact: Artifact) -> None:
        words, spans = artifact_words(artifact)
        store.put(artifact, words, indexed=spans)

    return adopt(folder, put, id, most)


def adopt_calls(folder: str, log: CallLog) -> int:
    """Move the records of calls of a spool folder into a log, and return their number."""

    def add(facts: Mapping[str, Any]) -> None:
        from keyhole.outputs.record import make_output_record, read_call

        log.add(make_output_record(read_call(facts)))

    return spool.adopt_calls(folder, add)


# Adopt the outputs of the spool folder, also those of commands whose `keyhole run` was killed.

log = logging.getLogger(__name__)


def adopt_all(folder: str, store: Store, secret: bytes, id: str = "") -> int:
    """Move the outputs of a spool folder into a store, or only the output `id`, and return their number.

    `secret`: signs the ids of the outputs of killed commands.
    """
    count = adopt_outputs(folder, store, id)
    if not id:
        from keyhole.outputs.running_output import list_running

        count += sum(_adopt(path, store, secret) for path in list_running(folder))
    return count


def _adopt(path: Path, store: Store, secret: bytes) -> bool:
    """Store what a command printed until its `keyhole run` was killed. Return False if nothing was stored."""
    from tempfile import TemporaryFile

    from keyhole.outputs.large_output import read_blocks, store_text
    from keyhole.outputs.running_output import abandoned
    from keyhole.store.base import TOO_LARGE
    from keyhole.store.forget_mark import FORGOTTEN
    from keyhole.text.output_facts import OutputFacts

    try:
        with abandoned(path) as found, TemporaryFile() as file:
            if found is None:
                return False
            facts = OutputFacts(found.facts.get("command", ""), folder=found.facts.get("folder", ""))
            text, read = read_blocks(found.blocks(), file, "", facts)
            if text.chars:
                store_text(text, read, store, secret, facts, float(found.facts.get("time", "0")), cut=True)
            return text.chars > 0
    except (OSError, ValueError, KeyholeError) as error:
        log.warning("cannot store the output %s of a command that was killed: %s", path.name, error)
        if isinstance(error, KeyholeError) and error.message in {TOO_LARGE, FORGOTTEN}:
            path.unlink(missing_ok=True)  # no later attempt could store it
        return False
