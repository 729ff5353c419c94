"""Where an installation keeps its things, and the secret it is known by. No artifacts here."""

from __future__ import annotations

import logging
import os
import secrets
import stat
import tempfile
from contextlib import suppress
from pathlib import Path

log = logging.getLogger(__name__)

SECRET_BYTES = 32
SECRET_NAMES = ("secret", "secret.2", "secret.3")
_OURS = (*SECRET_NAMES, "artifacts.db", "tenants", "tmp")
"""Beginnings of the names of what Keyhole keeps in its folder."""


def home_folder(configured: Path | None) -> Path:
    """The configured folder, or the platform's user data folder for Keyhole."""
    if configured is not None:
        return Path(os.path.expanduser(configured))  # noqa: PTH111 - Path's own raises for an unknown user
    from platformdirs import user_data_path

    return user_data_path("keyhole", appauthor=False)


def open_home(folder: Path) -> bytes:
    """Make the folder (0700) and the secret (0600) if need be; the secret.

    Servers that start at once agree on one secret: each writes its own file, and the first to link it into place
    wins. A damaged one is passed over, not removed, so that nobody removes what another has just made. Raises
    OSError when the folder cannot be used.
    """
    folder.mkdir(parents=True, exist_ok=True, mode=0o700)
    for name in SECRET_NAMES:
        path = folder / name
        if not path.exists():
            _link_secret(folder, path)
        if len(secret := path.read_bytes()) == SECRET_BYTES:
            _sweep(folder, name)
            _close_to_others(folder)
            return secret
    raise OSError(f"the secrets in {folder} are damaged")


def _close_to_others(folder: Path) -> None:
    """Let nobody else into a folder that was there before, where it is ours alone; else say so."""
    if os.name != "posix" or not (mode := stat.S_IMODE(folder.stat().st_mode)) & 0o077:
        return
    # A folder with other things in it may be shared on purpose: somebody's home, or one of all users.
    ours = all(path.name.startswith(_OURS) for path in folder.iterdir())
    if ours and folder.stat().st_uid == os.geteuid():
        folder.chmod(0o700)
    else:
        log.warning("others can look into %s (mode %o), where Keyhole keeps what was read", folder, mode)


def _link_secret(folder: Path, path: Path) -> None:
    handle, name = tempfile.mkstemp(dir=folder, prefix=_unfinished(path.name))
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(secrets.token_bytes(SECRET_BYTES))
            file.flush()
            os.fsync(file.fileno())
        # It exists where another was faster, who may have swept ours away as well.
        with suppress(FileExistsError, FileNotFoundError):
            os.link(name, path)
    finally:
        Path(name).unlink(missing_ok=True)


def _unfinished(name: str) -> str:
    """What the file of a secret that is not yet in its place is called first."""
    return f".{name}-"


def _sweep(folder: Path, name: str) -> None:
    """Remove what a process left that ended while it made this secret: there is one now."""
    for left in folder.glob(f"{_unfinished(name)}*"):
        with suppress(OSError):
            left.unlink()
