"""`keyhole tokens`: gives tokens out, lists them, takes them back. Prints a token once and keeps its hash alone."""

from __future__ import annotations

import argparse
import json
import os
import shutil
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Final

from keyhole.cli.table import print_json
from keyhole.config.config import Config
from keyhole.errors import Code, KeyholeError
from keyhole.serve.http.auth.token_file import (
    Grant,
    checked_tenant,
    digest_of,
    grant_of,
    line_of,
    mode_fault,
    new_token,
    parse,
    plain,
)

HEADING: Final = "# sha256:HASH TENANT CREATED EXPIRES LABEL; made by `keyhole tokens`\n"
MAX_DAYS: Final = 3_650


def run(config: Config, arguments: argparse.Namespace) -> int:
    """One action; 0 when done, 1 when the token was not there."""
    named = arguments.file or config.tokens_file
    if named is None:
        raise KeyholeError(Code.INVALID_ARGUMENT, "set KEYHOLE_TOKENS_FILE, or name the file with --file")
    # A mounted secret is a link: what it leads to is replaced, not the link.
    path = Path(named).expanduser().resolve()
    try:
        if arguments.action == "list":
            return _list(path, arguments.json)
        return _new(path, arguments) if arguments.action == "new" else _revoke(path, arguments)
    except OSError as error:
        raise KeyholeError(Code.INVALID_ARGUMENT, f"{path} cannot be used: {error.strerror}") from error


def _new(path: Path, arguments: argparse.Namespace) -> int:
    token, grant = _made(arguments)
    with _alone(path):
        text = _text(path)
        ended = text if text.endswith("\n") or not text else text + "\n"
        _replace(path, (ended or HEADING) + line_of(grant) + "\n")
    if arguments.json:
        print(json.dumps({"token": token, **_facts(grant)}))
        return 0
    print(token)
    print(f"keyhole: {grant.tenant}'s token {grant.id}, shown this once and kept nowhere", file=sys.stderr)
    return 0


def _made(arguments: argparse.Namespace) -> tuple[str, Grant]:
    if arguments.name is None:
        raise KeyholeError(Code.INVALID_ARGUMENT, "tokens new needs a TENANT")
    if arguments.days is not None and not 0 < arguments.days <= MAX_DAYS:
        raise KeyholeError(Code.INVALID_ARGUMENT, f"--days must be from 1 to {MAX_DAYS:,}")
    try:
        tenant = checked_tenant(arguments.name)
    except ValueError as error:
        raise KeyholeError(Code.INVALID_ARGUMENT, str(error)) from error
    token, created = new_token(), datetime.now(UTC)
    expires = created + timedelta(days=arguments.days) if arguments.days else None
    return token, Grant(digest_of(token), tenant, created, expires, plain(arguments.label))


def _list(path: Path, as_json: bool) -> int:
    grants, wrong = parse(_text(path))
    for line in wrong:
        print(f"keyhole: {line}", file=sys.stderr)
    if as_json:
        print_json([_facts(grant) for grant in grants.values()])
        return 0
    if not grants:
        print("No tokens yet: `keyhole tokens new TENANT` makes one.")
    now = datetime.now(UTC)
    for grant in grants.values():
        until = "does not expire" if grant.expires is None else f"{_ends(grant.expires, now)} {grant.expires:%Y-%m-%d}"
        print(f"{grant.id}  {grant.tenant}  made {grant.created:%Y-%m-%d}, {until}  {grant.label}".rstrip())
    return 0


def _revoke(path: Path, arguments: argparse.Namespace) -> int:
    """Take the line of a token out; comments and other lines stay as they are."""
    if arguments.name is None:
        raise KeyholeError(Code.INVALID_ARGUMENT, "tokens revoke needs the ID that `keyhole tokens list` shows")
    with _alone(path):
        lines = _text(path).splitlines(keepends=True)
        kept = [line for line in lines if not _is(line, arguments.name)]
        if len(kept) < len(lines):
            _replace(path, "".join(kept))
    done = len(kept) < len(lines)
    print(json.dumps({arguments.name: done}) if arguments.json else f"{arguments.name}: {_revoked(done)}")
    return 0 if done else 1


def _is(line: str, id: str) -> bool:
    with suppress(ValueError):
        grant = grant_of(line)
        return grant is not None and grant.id == id
    return False


def _revoked(done: bool) -> str:
    return "revoked; running servers know at the next call" if done else "not there"


def _ends(expires: datetime, now: datetime) -> str:
    return "expired" if expires <= now else "expires"


def _facts(grant: Grant) -> dict[str, str | None]:
    expires = grant.expires.isoformat() if grant.expires else None
    created = grant.created.isoformat(timespec="seconds")
    return {"id": grant.id, "tenant": grant.tenant, "created": created, "expires": expires, "label": grant.label}


def _text(path: Path) -> str:
    """The file, empty where there is none. Raises KeyholeError for one that is not ours to trust or to change."""
    try:
        if fault := mode_fault(path.stat().st_mode):
            raise KeyholeError(Code.INVALID_ARGUMENT, f"{path}: {fault}")
        return path.read_text(encoding="utf-8")
    except FileNotFoundError:
        return ""
    except UnicodeDecodeError as error:
        raise KeyholeError(Code.INVALID_ARGUMENT, f"{path} is not UTF-8") from error


def _replace(path: Path, text: str) -> None:
    """Put the new file in the old one's place at once, so that no server reads half of it; a new one is its owner's
    alone, an old one stays whose it was."""
    handle, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")  # mode 0600
    try:
        with os.fdopen(handle, "w", encoding="utf-8") as file:
            file.write(text)
            file.flush()
            os.fsync(file.fileno())
        with suppress(FileNotFoundError, PermissionError, AttributeError):  # Windows has no owners of this kind
            shutil.copymode(path, name)
            shutil.chown(name, path.stat().st_uid, path.stat().st_gid)
        Path(name).replace(path)
    finally:
        Path(name).unlink(missing_ok=True)


@contextmanager
def _alone(path: Path) -> Iterator[None]:
    """Nobody else changes the file meanwhile: its folder is locked, where the system can."""
    path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    try:
        import fcntl
    except ImportError:  # not on Windows
        yield
        return
    folder = os.open(path.parent, os.O_RDONLY)
    try:
        fcntl.flock(folder, fcntl.LOCK_EX)
        yield
    finally:
        os.close(folder)
