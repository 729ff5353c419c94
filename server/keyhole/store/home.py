"""Where an installation keeps its things, and the secret it is known by. No artifacts here."""

from __future__ import annotations

import os
import secrets
import tempfile
from contextlib import suppress
from pathlib import Path

SECRET_BYTES = 32


def home_folder(configured: Path | None) -> Path:
    """The configured folder, or the platform's user data folder for Keyhole."""
    if configured is not None:
        return configured.expanduser()
    from platformdirs import user_data_path

    return user_data_path("keyhole", appauthor=False)


def open_home(folder: Path) -> bytes:
    """Make the folder (0700) and the secret (0600) if need be; the secret.

    Two servers that start at once agree on one secret: each writes its own file, and the first to link it
    into place wins. Raises OSError when the folder cannot be used.
    """
    folder.mkdir(parents=True, exist_ok=True, mode=0o700)
    path = folder / "secret"
    with suppress(FileNotFoundError):
        if len(secret := path.read_bytes()) == SECRET_BYTES:
            return secret
        path.unlink()
    handle, name = tempfile.mkstemp(dir=folder)
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(secrets.token_bytes(SECRET_BYTES))
            file.flush()
            os.fsync(file.fileno())
        with suppress(FileExistsError):
            os.link(name, path)
    finally:
        Path(name).unlink()
    return path.read_bytes()
