"""Find and prepare the home folder of an installation, and read its secret."""

from __future__ import annotations

import logging
import os
import secrets
import stat
import tempfile
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

from keyhole.config.folders import default_home
from keyhole.store.private_files import make_private_folder

log = logging.getLogger(__name__)

SECRET_BYTES = 32
SECRET_NAMES = ("secret", "secret.2", "secret.3")
WRITE_CHECKS, WRITE_PAUSE = 100, 0.02
"""Checks, and seconds between them, for a secret that another server writes in place. Writing 32 bytes takes
milliseconds, on a slow disk tenths of a second."""
WRITE_AGE = 10.0
"""Seconds after its last change from which an empty secret counts as damaged: its server ended before writing it."""
MODELS_FOLDER = "models"
"""The folder of the local models, in the home folder."""
_OWN_PREFIXES = (
    *SECRET_NAMES, "artifacts.db", "calls.db", "tenants", "tmp", "spool", "forgotten", "shared", "bin", MODELS_FOLDER,
)  # fmt: skip
"""Prefixes of the names that Keyhole creates in its home folder."""
_OWN_FILES = (*SECRET_NAMES, "artifacts.db", "calls.db")
"""Those of files. The others are names of folders."""


def home_folder(configured: Path | None) -> Path:
    """Return the configured folder, or the platform's user data folder for Keyhole."""
    if configured is not None:
        return Path(os.path.expanduser(configured))  # noqa: PTH111 - Path.expanduser raises for an unknown user
    return Path(default_home(os.environ))


def foreign_files(home: Path) -> list[str]:
    """Return the names of files in a home folder that Keyhole did not write."""
    folders = [name for name in _OWN_PREFIXES if not name.startswith(_OWN_FILES)]
    own = [path for path in home.iterdir() if path.name in folders or path.name.startswith(_OWN_FILES)]
    programs = [path for path in (home / "bin").glob("*") if b"keyhole install" not in path.read_bytes()[:200]]
    return sorted(str(path.relative_to(home)) for path in {*home.iterdir()} - {*own} | {*programs})


def has_models(home: Path) -> bool:
    """Return whether a local model may be installed."""
    return (home / MODELS_FOLDER).is_dir()


def boundary_secret(folder: Path) -> bytes:
    """Return the secret of an installation for the boundary lines of a text that is not stored. It writes nothing.

    If there is no secret yet, random bytes are returned, so that no text can contain its own boundary.
    """
    with suppress(OSError):
        secret = (folder / SECRET_NAMES[0]).read_bytes()
        if len(secret) == SECRET_BYTES:
            return secret
    return secrets.token_bytes(SECRET_BYTES)


def _hard_link(source: Path, target: Path) -> None:
    os.link(source, target)


def open_home(
    folder: Path, link: Callable[[Path, Path], None] = _hard_link, sleep: Callable[[float], None] = time.sleep
) -> bytes:
    """Create the folder (mode 0700) and the secret (0600) if they are missing; return the secret.

    Servers that start at the same time use one secret: each writes its own file, and the first link to the name wins.
    On a file system without hard links, the first to create the name writes it, and the others wait for its content.
    A damaged secret is skipped rather than removed, because another server may have just replaced it. Raises OSError if
    the folder cannot be used.
    """
    make_private_folder(folder)
    for name in SECRET_NAMES:
        path = folder / name
        if not path.exists():
            _create_secret(folder, path, link)
        if len(secret := _read_secret(path, sleep)) == SECRET_BYTES:
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


def _create_secret(folder: Path, path: Path, link: Callable[[Path, Path], None]) -> None:
    secret = secrets.token_bytes(SECRET_BYTES)
    handle, name = tempfile.mkstemp(dir=folder, prefix=f".{path.name}-")
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(secret)
            file.flush()
            os.fsync(file.fileno())
        link(Path(name), path)
    except (FileExistsError, FileNotFoundError):
        pass  # another server linked its secret first, and may have removed this temporary file
    except (OSError, NotImplementedError, AttributeError):  # no hard links; os.link is missing on some platforms
        _write_in_place(path, secret)
    finally:
        Path(name).unlink(missing_ok=True)


def _write_in_place(path: Path, secret: bytes) -> None:
    """Create the file and write the secret, unless another server has created it."""
    with (
        suppress(FileExistsError),
        open(path, "xb", opener=lambda name, flags: os.open(name, flags, 0o600)) as file,
    ):
        file.write(secret)
        file.flush()
        os.fsync(file.fileno())


def _read_secret(path: Path, sleep: Callable[[float], None]) -> bytes:
    """Return the content of a secret. Wait for it while it is empty and new: another server is writing it."""
    for _ in range(WRITE_CHECKS):
        status = path.stat()
        if status.st_size or time.time() - status.st_mtime > WRITE_AGE:
            break
        sleep(WRITE_PAUSE)
    return path.read_bytes()


def _remove_temporary_files(folder: Path, name: str) -> None:
    """Remove the temporary files of processes that ended while they created this secret."""
    for path in folder.glob(f".{name}-*"):
        with suppress(OSError):
            path.unlink()
