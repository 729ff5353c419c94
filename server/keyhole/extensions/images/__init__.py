"""Make pictures small enough for a model to look at."""

from __future__ import annotations

from keyhole.runtime.extensions import Extension

EXTENSION = Extension(port="keyhole.extensions.images.encode:encode_task")
