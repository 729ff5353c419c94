"""Zip-based documents, read within bounds: which kind one is, and its parts. Writes nothing to disk."""

from __future__ import annotations

import io
import zipfile
import zlib
from collections.abc import Callable
from typing import Final

from keyhole.errors import Code, KeyholeError
from keyhole.extract.body import Body

MAX_ENTRIES: Final = 5_000
"""Entries of an archive. A long book has some 500, a workbook some 100; each costs memory before it is read."""
MAX_UNPACKED: Final = 100_000_000
"""Bytes that are unpacked of one archive, all parts together: ten times the largest body that is fetched."""
MAX_RATIO: Final = 200
"""Bytes that one packed byte may become, over all parts. Deflate reaches 1,032; sheets of equal rows some 100."""
RATIO_FREE: Final = 5_000_000
"""Bytes up to which the ratio does not matter: small files of repeated XML are harmless at any ratio."""

_ENTRY_MARK = b"PK\x01\x02"
_METHODS = frozenset({zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED})
_ENCRYPTED_FLAG = 1
FAULTS: Final = (
    zipfile.BadZipFile,
    zlib.error,
    EOFError,
    ValueError,
    LookupError,
    NotImplementedError,
    OSError,
    RuntimeError,
)
"""What zipfile raises for damaged archives."""

KINDS: Final = (
    ("word/document.xml", "application/vnd.openxmlformats-officedocument.wordprocessingml.document"),
    ("ppt/presentation.xml", "application/vnd.openxmlformats-officedocument.presentationml.presentation"),
    ("xl/workbook.xml", "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet"),
    ("META-INF/container.xml", "application/epub+zip"),
)
"""A part that only documents of this kind have, and their media type."""


class Archive:
    """The parts of a zip file by name. Every read counts against one bound for the whole file."""

    def __init__(self, body: Body) -> None:
        """Read the directory. Raises KeyholeError for a damaged one and for one that is made to hurt."""
        self._body = body
        if body.data.count(_ENTRY_MARK) > MAX_ENTRIES:
            raise self.bomb(f"over {MAX_ENTRIES:,} entries")
        try:
            self._zip = zipfile.ZipFile(io.BytesIO(body.data))
            self._parts = {entry.filename: entry for entry in self._zip.infolist()}
        except FAULTS as error:
            raise self.damaged("its directory cannot be read") from error
        self._unpacked = 0

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the parts, in the order of the directory."""
        return tuple(self._parts)

    def media_type(self) -> str:
        """What the archive is by its parts; a plain archive is `application/zip`."""
        if "mimetype" in self._parts:
            named = self.read("mimetype")[:100].decode("ascii", "replace").strip()
            if named.startswith("application/"):
                return named
        return next((media_type for part, media_type in KINDS if part in self._parts), "application/zip")

    def read(self, name: str) -> bytes:
        """One part. Raises KeyholeError when it is missing, damaged, encrypted, or too much."""
        entry = self._parts.get(name)
        if entry is None:
            raise self.damaged(f"it has no part {name[:100]}")
        if entry.flag_bits & _ENCRYPTED_FLAG:
            raise KeyholeError(Code.ENCRYPTED_DOCUMENT, f"the document is encrypted with a password, {self._body.size}")
        if entry.compress_type not in _METHODS:
            raise self.damaged("it is packed in a way that documents do not use")
        self._unpacked += entry.file_size
        if self._unpacked > MAX_UNPACKED or self._unpacked > max(RATIO_FREE, MAX_RATIO * len(self._body.data)):
            raise self.bomb(f"over {self._unpacked:,} bytes unpacked")
        try:
            with self._zip.open(entry) as part:
                # A length: without one, zipfile unpacks all there is before it looks at the size that was stated.
                return part.read(entry.file_size)
        except FAULTS as error:
            raise self.damaged(f"its part {name[:100]} cannot be unpacked") from error

    def repacked(self, wanted: Callable[[str], bool]) -> io.BytesIO:
        """A new archive of the wanted parts alone, not compressed: what a library may read without bounds."""
        packed = io.BytesIO()
        with zipfile.ZipFile(packed, "w") as copy:
            for name in self.names:
                if wanted(name):
                    part = self.read(name)
                    if _declares_a_type(part):
                        raise self.damaged("it declares XML entities, which its format forbids")
                    copy.writestr(zipfile.ZipInfo(name), part)
        packed.seek(0)
        return packed

    def damaged(self, why: str) -> KeyholeError:
        """The failure of a file that is not what its format asks for."""
        size = len(self._body.data)
        return KeyholeError(Code.EXTRACTION_FAILED, f"the document is damaged: {why}, {size:,} bytes", bytes=size)

    def bomb(self, why: str) -> KeyholeError:
        """The failure of a file that would unpack to more than any document holds."""
        size = len(self._body.data)
        return KeyholeError(Code.DECOMPRESSION_BOMB, f"the archive of {size:,} bytes holds {why}", bytes=size)


def _declares_a_type(part: bytes) -> bool:
    """Whether an XML part has a document type: ECMA-376, part 2, 8.1.4 forbids it, entities come in by it."""
    start = part[:2_000]
    return b"<!DOCTYPE" in start.replace(b"\0", b"") or b"<!ENTITY" in part
