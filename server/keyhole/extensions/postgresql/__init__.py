"""Store artifacts and calls in PostgreSQL, shared by several servers."""

from __future__ import annotations

from typing import TYPE_CHECKING

from keyhole.errors import Code, KeyholeError
from keyhole.runtime.extensions import Extension

if TYPE_CHECKING:
    from keyhole.config.config import Config
    from keyhole.store.stores import Stores

EXTENSION = Extension(port="keyhole.extensions.postgresql:open_stores")


def open_stores(config: Config) -> Stores:
    """Return the stores of the database that KEYHOLE_STORE names, without connecting to it.

    Raises KeyholeError (invalid_argument) when the address is malformed or the PostgreSQL packages are not installed.
    """
    try:
        from keyhole.extensions.postgresql.stores import SharedStores
    except ImportError as error:
        message = (
            "KEYHOLE_STORE names PostgreSQL, which needs the extra [hosted]: in a checkout, pip install '.[hosted]'"
        )
        raise KeyholeError(Code.INVALID_ARGUMENT, message) from error
    return SharedStores(config)
