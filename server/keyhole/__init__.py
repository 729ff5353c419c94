"""Keyhole: bounded web retrieval for agents. Here: the public Python API, loaded on first use.

``keyhole.extract`` and ``keyhole.select`` are pure and synchronous; they touch neither network nor disk.
"""

from __future__ import annotations

from keyhole._version import __version__

TYPE_CHECKING = False  # for type checkers it is true under this name; `typing` itself would take a third of `--version`
if TYPE_CHECKING:
    from keyhole.extract import extract
    from keyhole.passages import select
    from keyhole.records import Document, Selection

__all__ = ["Document", "Selection", "__version__", "extract", "select"]

# A start of the server must not pay for parsers it may never call, so names resolve when asked for (PEP 562).
_HOME = {
    "extract": "keyhole.extract",
    "select": "keyhole.passages",
    "Document": "keyhole.records",
    "Selection": "keyhole.records",
}


def __getattr__(name: str) -> object:
    from importlib import import_module

    if name not in _HOME:
        raise AttributeError(f"module 'keyhole' has no attribute {name!r}")
    value: object = getattr(import_module(_HOME[name]), name)
    globals()[name] = value
    return value
