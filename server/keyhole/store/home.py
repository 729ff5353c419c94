"""Where an installation keeps its things, and the secret it is known by. No artifacts here."""

from __future__ import annotations

import os
import secrets
import tempfile
from contextlib import suppress
from pathlib import Path

SECRET_BYTES = 32
SECRET_NAMES = ("secret", "secret.2", "secret.3")


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
            return secret
    raise OSError(f"the secrets in {folder} are damaged")


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
