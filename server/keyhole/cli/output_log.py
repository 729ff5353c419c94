"""Record the outputs that `keyhole bound` and `keyhole run` have bounded."""

from __future__ import annotations

import time
from collections.abc import Mapping
from contextlib import suppress
from typing import TYPE_CHECKING, Any, NamedTuple

from keyhole._version import __version__
from keyhole.config.config import Config
from keyhole.config.folders import working_folder
from keyhole.errors import KeyholeError
from keyhole.store.home import home_folder
from keyhole.store.ids import random_id
from keyhole.store.spool import spool_folder, write_call
from keyhole.text.output_facts import OutputFacts
from keyhole.text.secrets.mask import mask_secrets

if TYPE_CHECKING:
    from keyhole.outputs.bound import Bounded


class Asked(NamedTuple):
    """A question about an output, and the characters of its answer."""

    query: str | None
    budget: int


def record_output(
    config: Config, origin: str, bounded: Bounded, result: str, started_at: float, asked: Asked, facts: OutputFacts
) -> None:
    """Record a bounded output, unless it is not stored or the settings record no calls. A fault is ignored.

    `result`: what was printed of it. The program that reads the output may wait for the end of this process, so the
    record is left in the spool folder for the log.
    """
    if config.record == "off" or config.store == "memory" or bounded.id is None:
        return
    call = {
        "id": random_id(),
        "query": mask_secrets(asked.query or ""),
        "budget": asked.budget,
        "command": mask_secrets(facts.command),
        "name": mask_secrets(facts.name),
        "folder": mask_secrets(facts.folder or working_folder()),
        "exit_status": facts.exit_status,
        "origin": origin,
        "client": f"keyhole {__version__}",
        "started_at": started_at,
        "seconds": time.time() - started_at,
        "result": result,
        "outputs": [[bounded.id, bounded.kind, bounded.total, bounded.omitted]],
    }
    with suppress(KeyholeError, OSError):
        if config.store.startswith("postgres"):
            _add(config, call)
        else:
            write_call(spool_folder(home_folder(config.home)), call)


def _add(config: Config, call: Mapping[str, Any]) -> None:
    from keyhole.cli.build import open_stores
    from keyhole.outputs.record import make_output_record, read_call
    from keyhole.store.base import LOCAL

    stores = open_stores(config)
    try:
        stores.calls_for(LOCAL).add(make_output_record(read_call(call)))
    finally:
        stores.close()
