"""Lines to and from a file, compressed or not, or a pipe. What the lines say is decided elsewhere."""

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
_ZSTD: Final = b"\x28\xb5\x2f\xfd"
_GZIP: Final = b"\x1f\x8b"
_LEVEL: Final = 9
"""Of both kinds: a store of text takes a quarter of its size, at several times the speed of a disk's other work."""


class Sink(Protocol):
    """What takes bytes."""

    def write(self, data: bytes, /) -> object:
        """Write all of them."""
        ...


@contextmanager
def writing(name: str) -> Iterator[Sink]:
    """A file to write, compressed by its ending, there only when all of it is; or standard output as it is.

    The same bytes written give the same file. Raises KeyholeError (invalid_argument) where it cannot be written.
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
                with _compressed(file, path.suffix) as sink:
                    yield sink
                file.flush()
                os.fsync(file.fileno())
            Path(scratch).replace(path)
        finally:
            Path(scratch).unlink(missing_ok=True)
    except OSError as error:
        raise KeyholeError(Code.INVALID_ARGUMENT, f"{name} cannot be written: {error.strerror}") from error


@contextmanager
def _compressed(file: IO[bytes], suffix: str) -> Iterator[Sink]:
    if suffix == ".gz":
        with gzip.GzipFile("", "wb", _LEVEL, file, mtime=0) as packed:
            yield packed
    elif suffix == ".zst":
        import zstandard

        with zstandard.ZstdCompressor(level=_LEVEL, write_checksum=True).stream_writer(file, closefd=False) as packed:
            yield packed
    else:
        yield file


@contextmanager
def reading(name: str, longest: int) -> Iterator[Iterator[bytes]]:
    """The lines of a file or of standard input, whatever it is compressed by, each at most `longest` bytes.

    Raises KeyholeError (invalid_argument) where it cannot be read, when it is opened or at the line where it breaks.
    """
    with ExitStack() as stack:
        try:
            file = sys.stdin.buffer if name == PIPE else stack.enter_context(Path(name).open("rb"))
        except OSError as error:
            raise KeyholeError(Code.INVALID_ARGUMENT, f"{name} cannot be read: {error.strerror}") from error
        yield _lines(cast("BufferedReader", file), longest)


def _lines(file: BufferedReader, longest: int) -> Iterator[bytes]:
    import zstandard

    try:
        start = file.peek(4)
        source: IO[bytes] = file
        if start.startswith(_ZSTD):
            opened = zstandard.ZstdDecompressor().stream_reader(file, read_across_frames=True)
            source = BufferedReader(cast("IO[bytes]", opened))  # type: ignore[type-var]
        elif start.startswith(_GZIP):
            source = BufferedReader(gzip.GzipFile(fileobj=file))
        while line := source.readline(longest + 1):
            if len(line) > longest:
                raise KeyholeError(Code.INVALID_ARGUMENT, f"a line of it is longer than {longest:,} bytes")
            yield line
    except (OSError, EOFError, zlib.error, zstandard.ZstdError) as error:
        raise KeyholeError(Code.INVALID_ARGUMENT, "it is damaged or was cut off: export it again") from error
