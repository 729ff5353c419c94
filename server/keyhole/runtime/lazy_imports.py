"""Defer slow imports, so that the server starts fast.

Importing any module of `mcp` runs the package's `__init__`, which imports the SDK's clients, its high-level server,
HTTP clients and cryptography. Pydantic also builds validators for about 500 protocol types, of which a session uses 20.
Both take longer than the rest of the start, so both are deferred until they are needed.
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
"""Packages whose `__init__` only re-exports names of submodules; Keyhole imports the submodules themselves."""

_LOAD_LOCK: Final = RLock()


class _LazyPackage(ModuleType):
    """A package whose `__init__` runs when one of its own names is first read; importing submodules does not run it."""

    def __getattr__(self, name: str) -> object:
        with _LOAD_LOCK:  # a second thread waits; the loading thread may read names that are not defined yet
            spec = self.__spec__
            if type(self) is _LazyPackage and "_is_loading" not in vars(self) and spec and spec.loader:
                self._is_loading = True
                spec.loader.exec_module(self)
                self.__class__ = ModuleType  # type: ignore[assignment] # an ordinary package from now on
        return ModuleType.__getattribute__(self, name)


@contextmanager
def deferred_imports() -> Iterator[None]:
    """Load as little of `mcp` as possible for imports in the block; load the rest when it is first used."""
    from pydantic import BaseModel

    for name in PACKAGES:
        if name not in sys.modules and (spec := find_spec(name)):
            module = sys.modules[name] = module_from_spec(spec)
            module.__class__ = _LazyPackage
            parent, _, child = name.rpartition(".")
            if parent:
                setattr(sys.modules[parent], child, module)
    BaseModel.model_config["defer_build"] = True
    try:
        with hidden_modules("uvicorn"):  # sse_starlette would import its server
            yield
    finally:
        del BaseModel.model_config["defer_build"]


@contextmanager
def hidden_modules(*names: str) -> Iterator[None]:
    """Make imports in the block fail for these optional modules, as if they were not installed."""
    hidden = [name for name in names if name not in sys.modules]
    for name in hidden:
        sys.modules[name] = cast(ModuleType, None)  # an import of such an entry raises ImportError
    try:
        yield
    finally:
        for name in hidden:
            sys.modules.pop(name, None)
