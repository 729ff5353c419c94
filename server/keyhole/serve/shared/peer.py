"""Find the user and the process at the other end of a Unix socket."""

from __future__ import annotations

import os
import sys

TYPE_CHECKING = False  # type checkers read it as True; a hook has no time for the import of `typing`
if TYPE_CHECKING:
    from typing import Final, Protocol

    class Socket(Protocol):
        """A socket of `socket`, or of the module `_socket` below it."""

        def getsockopt(self, level: int, option: int, length: int, /) -> bytes:
            """Return the value of an option."""


OPTIONS: Final = {"linux": (1, 17, 12, 4), "darwin": (0, 1, 76, 4)}
"""Level, name and size of the option with the peer's credentials, and where its user id is.

Linux: SO_PEERCRED, whose struct ucred is process, user and group (unix(7)). macOS: LOCAL_PEERCRED, whose struct xucred
begins with a version and the user (sys/ucred.h). The user id has four bytes.
"""
PROCESS_OPTIONS: Final = {"linux": (1, 17, 4), "darwin": (0, 2, 4)}
"""Level, name and size of the option that begins with the peer's process id: SO_PEERCRED and LOCAL_PEERPID.

For the client of a server it is the process that called `listen`.
"""


def is_own_user(connection: Socket) -> bool:
    """Return whether the peer's user is this one. On other systems only the mode of the folder keeps others away."""
    if sys.platform not in OPTIONS:
        return True
    level, name, size, start = OPTIONS[sys.platform]
    user = connection.getsockopt(level, name, size)[start : start + 4]
    return int.from_bytes(user, sys.byteorder) == os.geteuid()


def find_process(connection: Socket) -> int:
    """Return the process id of the peer, 0 if the system does not tell."""
    if sys.platform not in PROCESS_OPTIONS:
        return 0
    return int.from_bytes(connection.getsockopt(*PROCESS_OPTIONS[sys.platform]), sys.byteorder)
