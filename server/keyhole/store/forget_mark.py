"""The mark in a folder that keeps running processes from writing back forgotten texts and calls."""

from __future__ import annotations

import json
import os
from dataclasses import dataclass
from pathlib import Path
from typing import Final, Protocol

from keyhole.store.private_files import write_private_file

FILE_NAME: Final = "forgotten"
FORGOTTEN: Final = "the text was fetched before the time up to which everything is forgotten"
"""The message of the error when a store rejects such a text. Later attempts fail too."""


@dataclass(frozen=True, slots=True)
class ForgetMark:
    """The times up to which commands forgot texts and calls. A mark names no page and no client."""

    before: float = 0.0
    """Texts fetched and calls started before this time are not written any more."""
    at: float = 0.0
    """The time of the last command that forgot something. Sessions then drop their records of earlier calls."""

    def merged_with(self, other: ForgetMark) -> ForgetMark:
        """Return the mark for both."""
        return ForgetMark(max(self.before, other.before), max(self.at, other.at))


NO_MARK: Final = ForgetMark()


class Marks(Protocol):
    """Keeps a mark."""

    def read(self) -> ForgetMark:
        """Return the mark. Raises OSError."""
        ...

    def add(self, mark: ForgetMark) -> None:
        """Merge a mark with the kept mark. Raises OSError."""
        ...


def open_marks(folder: Path | None) -> Marks:
    """Return the keeper of the mark of a folder, or of a store in memory for None."""
    return FolderMarks(folder) if folder else MemoryMarks()


class FolderMarks:
    """Keeps the mark of a folder for all processes that use it. A missing or damaged mark forgets nothing."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def read(self) -> ForgetMark:
        try:
            before, at = json.loads((self._folder / FILE_NAME).read_bytes())
            return ForgetMark(float(before), float(at))
        except (FileNotFoundError, ValueError, TypeError):
            return NO_MARK

    def add(self, mark: ForgetMark) -> None:
        merged = self.read().merged_with(mark)
        partial = self._folder / f"{FILE_NAME}.{os.getpid()}.partial"
        write_private_file(partial, json.dumps([merged.before, merged.at]).encode())
        partial.replace(self._folder / FILE_NAME)


class MemoryMarks:
    """Keeps the mark of this process."""

    def __init__(self) -> None:
        self._mark = NO_MARK

    def read(self) -> ForgetMark:
        return self._mark

    def add(self, mark: ForgetMark) -> None:
        self._mark = self._mark.merged_with(mark)
