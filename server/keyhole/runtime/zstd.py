"""The zstd library: Python's own from 3.14 on, and its backport before."""

from __future__ import annotations

import sys

if sys.version_info >= (3, 14):
    from compression import zstd
else:
    from backports import zstd

__all__ = ["compression_options", "zstd"]


def compression_options(level: int) -> dict[int, int]:
    """Return the options of a compressor that writes a checksum."""
    return {zstd.CompressionParameter.compression_level: level, zstd.CompressionParameter.checksum_flag: 1}
