"""Keyhole: bounded web retrieval for agents. This module holds the public Python API, loaded on first use.

``keyhole.extract`` and ``keyhole.select`` are pure and synchronous: they use neither the network nor the disk.
"""

from __future__ import annotations

from keyhole._version import __version__

TYPE_CHECKING = False  # type checkers read it as True; importing `typing` would take a third of the time of `--version`
if TYPE_CHECKING:
    from keyhole.extract import extract
    from keyhole.passages import select
    from keyhole.records import Document, Selection

__all__ = ["Document", "Selection", "__version__", "extract", "select"]

# Names are resolved on first use (PEP 562), so that the server does not load parsers when it starts.
_MODULES = {
    "extract": "keyhole.extract",
    "select": "keyhole.passages",
    "Document": "keyhole.records",
    "Selection": "keyhole.records",
}


def __getattr__(name: str) -> object:
    from importlib import import_module

    if name not in _MODULES:
        raise AttributeError(f"module 'keyhole' has no attribute {name!r}")
    value: object = getattr(import_module(_MODULES[name]), name)
    globals()[name] = value
    return value
