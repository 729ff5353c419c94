"""Parse the inventory of a site that Sphinx made (objects.inv): every name that its pages document.

The format has four lines of comment, then lines `name domain:role priority address title`, compressed by zlib. `$` at
the end of an address stands for the name, and the title `-` for the name too. Source: sphinx/util/inventory.py.
"""

from __future__ import annotations

import re
import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

SIGNATURE: Final = b"# Sphinx inventory version 2"
MAX_BYTES: Final = 20_000_000
"""Bytes of the decompressed lines; that of Python's documentation has 1.3 million."""
MAX_LINE: Final = 2_000
"""Characters of a line; real names and titles have some hundred."""
_HEAD_LINES: Final = 4
_LINE = re.compile(r"(\S.*?)(?<=\S)\s++([^\s:]++:\S++)\s++-?\d++\s(\S*+)\s++(\S.*)", re.DOTALL)


@dataclass(frozen=True, slots=True)
class InventoryEntry:
    """One documented name. `address` is relative to the folder of the inventory."""

    name: str
    role: str
    """Domain and role, such as `py:function`; `std:doc` is a page."""
    address: str
    title: str


def parse_inventory(data: bytes) -> Iterator[InventoryEntry]:
    """Yield the entries of an inventory up to the first damaged byte. Data without the signature has none."""
    if not data.startswith(SIGNATURE):
        return
    packed = data.split(b"\n", _HEAD_LINES)[-1]
    try:
        text = zlib.decompressobj().decompress(packed, MAX_BYTES).decode("utf-8", "replace")
    except zlib.error:
        return
    for line in text.splitlines():
        if len(line) <= MAX_LINE and (match := _LINE.fullmatch(line)):
            name, role, address, title = match.groups()
            address = f"{address.removesuffix('$')}{name}" if address.endswith("$") else address
            yield InventoryEntry(name, role, address, name if title == "-" else title)
