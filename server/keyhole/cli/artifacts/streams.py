"""Open export files for reading and writing, compressed or not, or standard input and output."""

from __future__ import annotations

import gzip
import os
import sys
import tempfile
import zlib
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from io import BufferedReader
from pathlib import Path
from typing import IO, Final, Protocol, cast

from keyhole.errors import Code, KeyholeError

PIPE: Final = "-"
"""File name that stands for standard input or output."""
_ZSTD: Final = b"\x28\xb5\x2f\xfd"
_GZIP: Final = b"\x1f\x8b"
_LEVEL: Final = 9
"""Compression level of zstd and gzip: it reduces text to a quarter of its size, and is faster than the disk."""


class Sink(Protocol):
    """A writable stream of bytes."""

    def write(self, data: bytes, /) -> object:
        """Write all the bytes."""
        ...


@contextmanager
def open_output(name: str) -> Iterator[Sink]:
    """Open a file for writing, or standard output for "-". The file's suffix selects the compression.

    The file gets its name when the block ends without an error. The same bytes give the same file. Raises
    KeyholeError (invalid_argument) if the file cannot be written.
    """
    if name == PIPE:
        sys.stdout.flush()
        yield sys.stdout.buffer
        sys.stdout.buffer.flush()
        return
    path = Path(name)
    try:
        handle, scratch = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")  # readable by its owner alone
        try:
            with os.fdopen(handle, "wb") as file:
                with _compress(file, path.suffix) as sink:
                    yield sink
                file.flush()
                os.fsync(file.fileno())
            Path(scratch).replace(path)
        finally:
            Path(scratch).unlink(missing_ok=True)
    except OSError as error:
        raise KeyholeError(Code.INVALID_ARGUMENT, f"cannot write {name}: {error.strerror}") from error


@contextmanager
def _compress(file: IO[bytes], suffix: str) -> Iterator[Sink]:
    """Yield a sink that compresses into `file`; `file` itself for a suffix other than .gz and .zst."""
    if suffix == ".gz":
        with gzip.GzipFile("", "wb", _LEVEL, file, mtime=0) as packed:
            yield packed
    elif suffix == ".zst":
        from keyhole.runtime.zstd import compression_options, zstd

        with zstd.ZstdFile(file, "wb", options=compression_options(_LEVEL)) as packed:
            yield packed
    else:
        yield file


@contextmanager
def open_input(name: str, max_line_bytes: int) -> Iterator[Iterator[bytes]]:
    """Open a file or standard input, detect its compression, and yield its lines.

    Raises KeyholeError (invalid_argument) if the file cannot be read, and at a line that is damaged or longer than
    `max_line_bytes`.
    """
    with ExitStack() as stack:
        try:
            file = sys.stdin.buffer if name == PIPE else stack.enter_context(Path(name).open("rb"))
        except OSError as error:
            raise KeyholeError(Code.INVALID_ARGUMENT, f"cannot read {name}: {error.strerror}") from error
        yield _lines(cast("BufferedReader", file), max_line_bytes)


def _lines(file: BufferedReader, max_line_bytes: int) -> Iterator[bytes]:
    from keyhole.runtime.zstd import zstd

    try:
        start = file.peek(4)
        source: IO[bytes] | zstd.ZstdFile = file
        if start.startswith(_ZSTD):
            source = zstd.ZstdFile(file)
        elif start.startswith(_GZIP):
            source = BufferedReader(gzip.GzipFile(fileobj=file))
        while line := source.readline(max_line_bytes + 1):
            if len(line) > max_line_bytes:
                raise KeyholeError(Code.INVALID_ARGUMENT, f"it has a line longer than {max_line_bytes:,} bytes")
            yield line
    except (OSError, EOFError, zlib.error, zstd.ZstdError) as error:
        raise KeyholeError(Code.INVALID_ARGUMENT, "it is damaged or incomplete: export it again") from error
