"""Return the memory of large bodies to the operating system. Other systems than Linux do not need this."""

from __future__ import annotations

import gc
from contextlib import suppress
from typing import Final

_M_MMAP_THRESHOLD: Final = -3
"""The number of the parameter in malloc.h of the GNU C library."""
LARGE_BYTES: Final = 1 << 20
"""Size from which a block of memory has pages of its own, which are returned when it is freed."""


def return_large_blocks() -> None:
    """Make each large block be returned when it is freed.

    Otherwise the GNU C library raises its limit to up to 32 MB as soon as a large block is freed, and then keeps the
    bodies of answers between small blocks, which stay.
    """
    with suppress(AttributeError, OSError, TypeError):  # other systems, and other allocators of Linux
        import ctypes  # takes 5 ms

        ctypes.CDLL(None).mallopt(_M_MMAP_THRESHOLD, LARGE_BYTES)


def return_free_memory() -> None:
    """Collect garbage, and return all freed memory to the system.

    Raised errors and their frames often refer to each other, so only a collection frees them. The allocator of Linux
    keeps most of the memory of a model or a large page.
    """
    gc.collect()
    with suppress(AttributeError, OSError, TypeError):
        import ctypes

        ctypes.CDLL(None).malloc_trim(0)
