"""Extract a Document from a response body. The functions are loaded on first use; reading an output needs none."""

from __future__ import annotations

import sys
from types import ModuleType

TYPE_CHECKING = False  # type checkers read it as True; importing `typing` would take a tenth of the time of a hook
if TYPE_CHECKING:
    from keyhole.extract.extraction import extract
    from keyhole.extract.media_type import sniff
    from keyhole.records import Document

__all__ = ["extract", "sniff"]

_MODULES = {"extract": "extraction", "sniff": "media_type"}


def __getattr__(name: str) -> object:
    from importlib import import_module

    if name not in _MODULES:
        raise AttributeError(f"module 'keyhole.extract' has no attribute {name!r}")
    value: object = getattr(import_module(f"keyhole.extract.{_MODULES[name]}"), name)
    globals()[name] = value
    return value


class _CallableModule(ModuleType):
    """The class of this module, which makes `keyhole.extract` callable.

    Importing a submodule rebinds `keyhole.extract` from the public function to this package. See "Customizing module
    attribute access" in Python's data model.
    """

    def __call__(self, body: bytes, *, url: str, content_type: str, requested_url: str = "") -> Document:
        from keyhole.extract.extraction import extract

        return extract(body, url=url, content_type=content_type, requested_url=requested_url)


sys.modules[__name__].__class__ = _CallableModule
