"""Record the outputs that `keyhole bound` and `keyhole run` have bounded."""

from __future__ import annotations

import time
from collections.abc import Mapping
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from keyhole._version import __version__
from keyhole.config.config import Config
from keyhole.errors import KeyholeError
from keyhole.store.home import home_folder
from keyhole.store.ids import random_id
from keyhole.store.spool import spool_folder, write_call
from keyhole.text.secrets.mask import mask_secrets

if TYPE_CHECKING:
    from keyhole.retrieval.bound import Bounded


def record_output(
    config: Config, origin: str, bounded: Bounded, result: str, started_at: float, facts: Mapping[str, Any]
) -> None:
    """Record a bounded output, unless it is not stored or the settings record no calls. A fault is ignored.

    `result`: what was printed of it. `facts`: the arguments of `bound` that say what the output is. The program that
    reads the output may wait for the end of this process, so the record is left in the spool folder for the log.
    """
    if config.record == "off" or config.store == "memory" or bounded.id is None:
        return
    call = {
        **{name: mask_secrets(value) if isinstance(value, str) else value for name, value in facts.items()},
        "id": random_id(),
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
    from keyhole.retrieval.output_record import make_output_record, read_call
    from keyhole.store.base import LOCAL

    stores = open_stores(config)
    try:
        stores.calls_for(LOCAL).add(make_output_record(read_call(call)))
    finally:
        stores.close()
