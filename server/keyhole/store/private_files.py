"""Create folders and files that only their owner can read, from the first moment and whatever the umask is.

Importing this module takes no time, because the hooks of clients import it.
"""

from __future__ import annotations

import os
import stat

FOLDER_MODE = 0o700
FILE_MODE = 0o600


def make_private_folder(folder: str | os.PathLike[str]) -> None:
    """Create a folder and its missing parents, each with mode 0700. Existing ones stay as they are. Raises OSError.

    `os.makedirs` creates the parents with the mode of the umask: a home folder whose first file is in `spool` would be
    open to all. The XDG base directory specification asks for 0700 for its missing folders too.
    """
    parent = os.path.dirname(os.path.abspath(folder))
    if not os.path.isdir(parent):
        make_private_folder(parent)
    try:
        os.mkdir(folder, FOLDER_MODE)
    except OSError:  # mostly FileExistsError: it exists, or another process has just created it
        if not os.path.isdir(folder):
            raise
    else:
        os.chmod(folder, FOLDER_MODE)  # the umask may have removed the owner's permissions


def write_private_file(path: str | os.PathLike[str], data: bytes) -> None:
    """Write a file with mode 0600, also if it existed with another one. Raises OSError."""
    handle = os.open(path, os.O_WRONLY | os.O_CREAT | getattr(os, "O_BINARY", 0), FILE_MODE)
    with open(handle, "wb") as file:
        if stat.S_ISREG(os.fstat(handle).st_mode):  # not of a terminal or a pipe, such as /dev/stdout
            os.chmod(path, FILE_MODE)
            file.truncate()
        file.write(data)
