"""Helpers of the SQLite store's tests: errors, files and incompressible texts."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from random import Random

import pytest

from keyhole.errors import KeyholeError
from keyhole.store.sqlite.store import SqliteStore

Open = Callable[..., SqliteStore]


def failure(call: Callable[[], object]) -> KeyholeError:
    """Return the KeyholeError that a call raises."""
    with pytest.raises(KeyholeError) as caught:
        call()
    return caught.value


def files(folder: Path) -> dict[str, bytes]:
    """Return the contents of the files in a folder by name."""
    return {path.name: path.read_bytes() for path in folder.iterdir()}


def noise(chars: int, seed: int = 0) -> str:
    """Return a text that hardly compresses: 100,000 characters take 120,000 bytes of the file."""
    return Random(seed).randbytes(chars).decode("latin-1").translate({code: code + 256 for code in range(128, 256)})
