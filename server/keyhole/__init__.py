"""Keyhole: bounded web retrieval for agents. This module holds the public Python API, loaded on first use.

``keyhole.extract``, ``keyhole.select``, ``keyhole.bound``, ``keyhole.compact`` and ``keyhole.restore`` are synchronous.
They use neither the network nor the disk, but ``bound`` and ``compact`` write to the store that they are given, and
``restore`` reads it. ``keyhole.open_store`` opens that store.
"""

from __future__ import annotations

from keyhole._version import __version__

TYPE_CHECKING = False  # type checkers read it as True; importing `typing` would take a third of the time of `--version`
if TYPE_CHECKING:
    from keyhole.cli.build import open_store
    from keyhole.extensions.conversations.compact import Compacted, Report, compact
    from keyhole.extensions.conversations.restore import restore
    from keyhole.extract import extract
    from keyhole.outputs.bound import Bounded, bound
    from keyhole.passages import select
    from keyhole.records import Document, Selection

__all__ = [
    "Bounded",
    "Compacted",
    "Document",
    "Report",
    "Selection",
    "__version__",
    "bound",
    "compact",
    "extract",
    "open_store",
    "restore",
    "select",
]

# Names are resolved on first use (PEP 562), so that the server does not load parsers when it starts.
_MODULES = {
    "bound": "keyhole.outputs.bound",
    "Bounded": "keyhole.outputs.bound",
    "compact": "keyhole.extensions.conversations.compact",
    "Compacted": "keyhole.extensions.conversations.compact",
    "Report": "keyhole.extensions.conversations.compact",
    "open_store": "keyhole.cli.build",
    "restore": "keyhole.extensions.conversations.restore",
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
