"""Find and prepare the home folder of an installation, and read its secret."""

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
_OWN_PREFIXES = (*SECRET_NAMES, "artifacts.db", "tenants", "tmp")
"""Prefixes of the names that Keyhole creates in its home folder."""


def home_folder(configured: Path | None) -> Path:
    """Return the configured folder, or the platform's user data folder for Keyhole."""
    if configured is not None:
        return Path(os.path.expanduser(configured))  # noqa: PTH111 - Path.expanduser raises for an unknown user
    from platformdirs import user_data_path

    return user_data_path("keyhole", appauthor=False)


def open_home(folder: Path) -> bytes:
    """Create the folder (mode 0700) and the secret (0600) if they are missing; return the secret.

    Servers that start at the same time use one secret: each writes its own file, and the first link to the name wins.
    A damaged secret is skipped rather than removed, because another server may have just replaced it. Raises OSError if
    the folder cannot be used.
    """
    folder.mkdir(parents=True, exist_ok=True, mode=0o700)
    for name in SECRET_NAMES:
        path = folder / name
        if not path.exists():
            _link_secret(folder, path)
        if len(secret := path.read_bytes()) == SECRET_BYTES:
            _remove_temporary_files(folder, name)
            _restrict_permissions(folder)
            return secret
    raise OSError(f"the secrets in {folder} are damaged")


def _restrict_permissions(folder: Path) -> None:
    """Remove other users' access to an existing folder, or log a warning if it contains files of other programs."""
    if os.name != "posix" or not (mode := stat.S_IMODE(folder.stat().st_mode)) & 0o077:
        return
    # A folder with files of other programs may be shared on purpose, such as a user's home or a temporary folder.
    has_only_own_files = all(path.name.startswith(_OWN_PREFIXES) for path in folder.iterdir())
    if has_only_own_files and folder.stat().st_uid == os.geteuid():
        folder.chmod(0o700)
    else:
        log.warning("other users can read %s (mode %o), where Keyhole stores fetched pages", folder, mode)


def _link_secret(folder: Path, path: Path) -> None:
    handle, name = tempfile.mkstemp(dir=folder, prefix=f".{path.name}-")
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(secrets.token_bytes(SECRET_BYTES))
            file.flush()
            os.fsync(file.fileno())
        # Another server may have linked its secret first, and may have removed this temporary file.
        with suppress(FileExistsError, FileNotFoundError):
            os.link(name, path)
    finally:
        Path(name).unlink(missing_ok=True)


def _remove_temporary_files(folder: Path, name: str) -> None:
    """Remove the temporary files of processes that ended while they created this secret."""
    for path in folder.glob(f".{name}-*"):
        with suppress(OSError):
            path.unlink()
