"""Find the address of the shared server for a client's settings, and the peer of a connection to it.

Clients share a server if everything is equal that its answers depend on: version, installation, settings and folders.
"""

from __future__ import annotations

import os
import sys
import zlib

import keyhole
from keyhole._version import __version__
from keyhole.config.folders import HOME_VARIABLE, home_folder, is_required, settings_file

TYPE_CHECKING = False  # type checkers read it as True; a hook has no time for the import of `typing`
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any, Final, Protocol

    class Socket(Protocol):
        """A socket of `socket`, or of the module `_socket` below it."""

        def getsockopt(self, level: int, option: int, length: int, /) -> bytes:
            """Return the value of an option."""


FOLDER: Final = "shared"
"""The folder of the servers' files, in the home folder."""
SWITCH, STORE, ENGINES_FILE = "KEYHOLE_SHARED", "KEYHOLE_STORE", "KEYHOLE_ENGINES_FILE"
PATH_VARIABLES: Final = (HOME_VARIABLE, ENGINES_FILE, "KEYHOLE_BROWSER")
"""Settings that are paths. A relative path is relative to the client's folder, so such a client shares no server."""
FOLDER_VARIABLES: Final = ("HOME", "XDG_DATA_HOME", "XDG_CONFIG_HOME", "PYTHONPATH", "TMPDIR", "TMP", "TEMP")
"""Variables that choose folders or code, besides the settings."""
SETTINGS_OF_FILE: Final = (b"shared", b"memory", b"engines_file")
"""Words of settings that affect sharing. A settings file without them is not parsed, which saves 6 ms."""
MAX_FILE_BYTES: Final = 1_000_000
"""Size up to which a file of settings or engines is read: ten times the limit of a settings file."""
MAX_PATH_BYTES: Final = 107 if sys.platform == "linux" else 103
"""Length limit of a socket's path: sun_path (unix(7)) has 108 bytes on Linux and 104 on macOS, the last one zero."""


class Address:
    """The folder of a shared server's files, and its identity: all that has to be equal, as one line of ASCII.

    It also contains the files of settings and engines as they were read for the identity, so that the server uses the
    same versions.
    """

    __slots__ = ("engines", "folder", "identity", "settings")

    def __init__(self, folder: str, identity: str, settings: bytes = b"", engines: bytes = b"") -> None:
        self.folder = folder
        self.identity = identity
        self.settings = settings
        self.engines = engines

    def path(self, extension: str) -> str:
        """Return the path of one of the server's files."""
        return f"{self.folder}/{zlib.crc32(self.identity.encode()):08x}.{extension}"

    @property
    def socket(self) -> str:
        """Return the path of the socket. Two identities may have the same path, so a server compares them."""
        return self.path("sock")


def shared_folder(environment: Mapping[str, str]) -> str:
    """Return the folder of the files of a user's shared servers."""
    return f"{home_folder(environment)}/{FOLDER}"


def find_address(environment: Mapping[str, str]) -> Address | None:
    """Return the address of the shared server, or None if the client needs a server of its own."""
    text = _read(settings_file(environment))
    table = _parse(text) if any(word in text for word in SETTINGS_OF_FILE) else {}
    if table is None or sys.platform == "win32" or not _may_share(environment, table):
        return None
    if is_required(environment) and not text and settings_file(environment):
        return None  # the file is missing, which the client's own server reports
    engines = _read(os.path.expanduser(environment.get(ENGINES_FILE, "").strip() or str(table.get("engines_file", ""))))
    address = Address(shared_folder(environment), _identity(environment, text, engines), text, engines)
    return address if len(os.fsencode(address.socket)) <= MAX_PATH_BYTES else None


def _may_share(environment: Mapping[str, str], table: Mapping[str, Any]) -> bool:
    """Return whether the settings allow a shared server. Clients without a store on disk must not see each other's."""
    switch = environment.get(SWITCH, "").strip() or str(table.get("shared", ""))
    store = environment.get(STORE, "").strip() or str(table.get("store", ""))
    paths = [environment.get(name, "").strip() for name in PATH_VARIABLES]
    are_absolute = all(os.path.isabs(os.path.expanduser(path)) for path in paths if path)
    return switch.lower() != "off" and store.lower() != "memory" and are_absolute


def _identity(environment: Mapping[str, str], text: bytes, engines: bytes) -> str:
    package = os.path.dirname(os.path.abspath(keyhole.__file__))
    variables = {
        name: value
        for name, value in environment.items()
        if name.startswith("KEYHOLE_") or name in FOLDER_VARIABLES or (engines and os.fsencode(name) in engines)
    }
    installed = os.stat(f"{package}/_version.py").st_mtime_ns  # another one after an upgrade to the same version
    return ascii((__version__, package, installed, sorted(variables.items()), text, engines))


def _read(path: str) -> bytes:
    """Return the content of a file, b"" if there is none."""
    if not path:
        return b""
    try:
        with open(path, "rb") as file:
            return file.read(MAX_FILE_BYTES)
    except OSError:
        return b""


def _parse(text: bytes) -> dict[str, Any] | None:
    """Return the table of a settings file, None if it is not valid."""
    import tomllib

    try:
        return tomllib.loads(text.decode("utf-8-sig"))
    except (ValueError, RecursionError):
        return None


# The user and the process at the other end of a Unix socket.

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
