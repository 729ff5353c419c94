"""Read ZIP-based documents within size limits."""

from __future__ import annotations

import io
import zipfile
import zlib
from collections.abc import Callable
from typing import Final

from keyhole.errors import Code, KeyholeError
from keyhole.extract.body import Body

MAX_ENTRIES: Final = 5_000
"""Largest number of archive entries. A long book has some 500, a workbook some 100. Each entry takes memory even if it
is not read."""
MAX_UNPACKED_BYTES: Final = 100_000_000
"""Largest unpacked size of all parts that are read, in bytes: ten times the largest body that is fetched."""
MAX_RATIO: Final = 200
"""Largest ratio of unpacked bytes of all parts to bytes of the file. Deflate reaches 1,032; sheets of equal rows some
100."""
MIN_RATIO_BYTES: Final = 5_000_000
"""Unpacked bytes up to which the ratio is not checked: small files of repeated XML are harmless at any ratio."""

_ENTRY_MARK = b"PK\x01\x02"
_METHODS = frozenset({zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED})
_ENCRYPTED_FLAG = 1
ZIP_ERRORS: Final = (
    zipfile.BadZipFile,
    zlib.error,
    EOFError,
    ValueError,
    LookupError,
    NotImplementedError,
    OSError,
    RuntimeError,
)
"""Exceptions that zipfile raises for damaged archives."""

TYPE_BY_PART: Final = (
    ("word/document.xml", "application/vnd.openxmlformats-officedocument.wordprocessingml.document"),
    ("ppt/presentation.xml", "application/vnd.openxmlformats-officedocument.presentationml.presentation"),
    ("xl/workbook.xml", "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet"),
    ("META-INF/container.xml", "application/epub+zip"),
)
"""Parts that only one type of document has, with the media type."""


class Archive:
    """A ZIP file whose parts are read by name. The unpacked size of all parts that were read is limited."""

    def __init__(self, body: Body) -> None:
        """Read the archive's directory. Raises KeyholeError if it is damaged or has too many entries."""
        self._body = body
        if body.data.count(_ENTRY_MARK) > MAX_ENTRIES:
            raise self.bomb_error(f"over {MAX_ENTRIES:,} entries")
        try:
            self._zip = zipfile.ZipFile(io.BytesIO(body.data))
            self._parts = {entry.filename: entry for entry in self._zip.infolist()}
        except ZIP_ERRORS as error:
            raise self.damage_error("its directory cannot be read") from error
        self._unpacked = 0

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the parts, in directory order."""
        return tuple(self._parts)

    def media_type(self) -> str:
        """Return the media type of the document in the archive, or `application/zip` for other archives."""
        if "mimetype" in self._parts:
            declared = self.read("mimetype")[:100].decode("ascii", "replace").strip()
            if declared.startswith("application/"):
                return declared
        return next((media_type for part, media_type in TYPE_BY_PART if part in self._parts), "application/zip")

    def read(self, name: str) -> bytes:
        """Return one part. Raises KeyholeError if it is missing, damaged, encrypted or too large."""
        entry = self._parts.get(name)
        if entry is None:
            raise self.damage_error(f"it has no part {name[:100]}")
        if entry.flag_bits & _ENCRYPTED_FLAG:
            raise KeyholeError(
                Code.ENCRYPTED_DOCUMENT, f"the document is encrypted with a password, {self._body.size_text}"
            )
        if entry.compress_type not in _METHODS:
            raise self.damage_error("it uses a compression method that documents do not use")
        self._unpacked += entry.file_size
        if self._unpacked > MAX_UNPACKED_BYTES or self._unpacked > max(
            MIN_RATIO_BYTES, MAX_RATIO * len(self._body.data)
        ):
            raise self.bomb_error(f"over {self._unpacked:,} bytes when unpacked")
        try:
            with self._zip.open(entry) as part:
                # Without a length zipfile unpacks all data before it checks the declared size.
                return part.read(entry.file_size)
        except ZIP_ERRORS as error:
            raise self.damage_error(f"its part {name[:100]} cannot be unpacked") from error

    def repack(self, is_wanted: Callable[[str], bool]) -> io.BytesIO:
        """Return a new uncompressed archive of the parts whose name `is_wanted` accepts.

        Libraries without limits on unpacked size can read the new archive safely. Raises KeyholeError as `read` does,
        and for parts that declare XML entities.
        """
        packed = io.BytesIO()
        with zipfile.ZipFile(packed, "w") as copy:
            for name in self.names:
                if is_wanted(name):
                    part = self.read(name)
                    if _has_doctype(part):
                        raise self.damage_error("it declares XML entities, which the format forbids")
                    copy.writestr(zipfile.ZipInfo(name), part)
        packed.seek(0)
        return packed

    def damage_error(self, reason: str) -> KeyholeError:
        """Return the error for a file that violates its format."""
        size = len(self._body.data)
        return KeyholeError(Code.EXTRACTION_FAILED, f"the document is damaged: {reason}, {size:,} bytes", bytes=size)

    def bomb_error(self, reason: str) -> KeyholeError:
        """Return the error for a file with more entries or unpacked bytes than any document has."""
        size = len(self._body.data)
        return KeyholeError(Code.DECOMPRESSION_BOMB, f"the archive of {size:,} bytes contains {reason}", bytes=size)


def _has_doctype(part: bytes) -> bool:
    """Return whether an XML part has a document type, which could declare entities.

    ECMA-376, part 2, 8.1.4 forbids document types.
    """
    start = part[:2_000]
    return b"<!DOCTYPE" in start.replace(b"\0", b"") or b"<!ENTITY" in part
