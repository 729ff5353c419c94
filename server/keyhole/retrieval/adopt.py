"""Move outputs and the records of calls from the spool folder into the store."""

from __future__ import annotations

from typing import TYPE_CHECKING

from keyhole.retrieval.kept_text import artifact_words
from keyhole.store import spool
from keyhole.store.spool import MAX_ADOPTED, adopt

if TYPE_CHECKING:
    from collections.abc import Mapping
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
        from keyhole.retrieval.output_record import make_output_record, read_call

        log.add(make_output_record(read_call(facts)))

    return spool.adopt_calls(folder, add)
