"""Loads libraries without those of their parts that are never called. No protocol and no tools here.

Importing anything of `mcp` runs the `__init__` of the package, which imports the SDK's clients, its high-level server
and with them HTTP clients and cryptography; and pydantic makes validators for some five hundred types of the protocol,
of which a session uses twenty. Both take longer than all else in a start, so both are put off until they are wanted.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.util import find_spec, module_from_spec
from threading import RLock
from types import ModuleType
from typing import Final, cast

PACKAGES: Final = ("mcp", "mcp.server")
"""Whose `__init__` only passes names on from their submodules, which we import by their own names."""

_READING: Final = RLock()


class _Unread(ModuleType):
    """A package whose `__init__` runs when a name that it defines is first asked for; its submodules need it not."""

    def __getattr__(self, name: str) -> object:
        with _READING:  # a second thread waits here; the one that reads may meet names that are not there yet
            spec = self.__spec__
            if type(self) is _Unread and "_read" not in vars(self) and spec and spec.loader:
                self._read = True
                spec.loader.exec_module(self)
                self.__class__ = ModuleType  # type: ignore[assignment] # an ordinary package from now on
        return ModuleType.__getattribute__(self, name)


@contextmanager
def sparingly() -> Iterator[None]:
    """Have what of `mcp` is imported in the block load as little as it can; what is asked for later loads then."""
    from pydantic import BaseModel

    for name in PACKAGES:
        if name not in sys.modules and (spec := find_spec(name)):
            module = sys.modules[name] = module_from_spec(spec)
            module.__class__ = _Unread
            parent, _, child = name.rpartition(".")
            if parent:
                setattr(sys.modules[parent], child, module)
    BaseModel.model_config["defer_build"] = True
    try:
        with without("uvicorn"):  # whose server a library of server-sent events would listen to
            yield
    finally:
        del BaseModel.model_config["defer_build"]


@contextmanager
def without(*names: str) -> Iterator[None]:
    """Have what is imported in the block find these optional modules missing, as where they are not installed."""
    hidden = [name for name in names if name not in sys.modules]
    for name in hidden:
        sys.modules[name] = cast(ModuleType, None)  # how Python itself notes that there is no such module
    try:
        yield
    finally:
        for name in hidden:
            sys.modules.pop(name, None)
