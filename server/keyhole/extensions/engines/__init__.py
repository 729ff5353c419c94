"""Query search engines: one module for each engine, and one for those of an engines file."""

from __future__ import annotations

from keyhole.runtime.extensions import Extension

EXTENSION = Extension(port="keyhole.extensions.engines.adapters:EngineAdapters")
