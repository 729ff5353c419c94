"""Run `keyhole tokens`: issue, list and revoke bearer tokens. A token is printed once and stored as a hash."""

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

from keyhole.cli.terminal import print_json
from keyhole.config.config import Config
from keyhole.errors import Code, KeyholeError
from keyhole.extensions.hosted.token_file import (
    Grant,
    check_permissions,
    check_tenant,
    clean_label,
    format_grant,
    hash_token,
    new_token,
    parse_grant,
    parse_grants,
)

HEADING: Final = "# sha256:HASH TENANT CREATED EXPIRES LABEL; made by `keyhole tokens`\n"
MAX_DAYS: Final = 3_650


def run(config: Config, arguments: argparse.Namespace) -> int:
    """Run one action; return 0, or 1 if the token to revoke does not exist."""
    file = arguments.file or config.tokens_file
    if file is None:
        raise KeyholeError(Code.INVALID_ARGUMENT, "set KEYHOLE_TOKENS_FILE, or name the file with --file")
    # A mounted secret is a symbolic link: replace its target, not the link.
    path = Path(file).expanduser().resolve()
    try:
        if arguments.action == "list":
            return _list(path, arguments.json)
        return _new(path, arguments) if arguments.action == "new" else _revoke(path, arguments)
    except OSError as error:
        raise KeyholeError(Code.INVALID_ARGUMENT, f"cannot use {path}: {error.strerror}") from error


def _new(path: Path, arguments: argparse.Namespace) -> int:
    token, grant = _make_token(arguments)
    with _locked_folder(path):
        text = _read_file(path)
        lines = text if text.endswith("\n") or not text else text + "\n"
        _replace_file(path, (lines or HEADING) + format_grant(grant) + "\n")
    if arguments.json:
        print(json.dumps({"token": token, **_facts(grant)}))
        return 0
    print(token)
    print(f"keyhole: token {grant.id} of {grant.tenant}; it is not stored and not shown again", file=sys.stderr)
    return 0


def _make_token(arguments: argparse.Namespace) -> tuple[str, Grant]:
    if arguments.name is None:
        raise KeyholeError(Code.INVALID_ARGUMENT, "tokens new needs a TENANT")
    if arguments.days is not None and not 0 < arguments.days <= MAX_DAYS:
        raise KeyholeError(Code.INVALID_ARGUMENT, f"--days must be from 1 to {MAX_DAYS:,}")
    try:
        tenant = check_tenant(arguments.name)
    except ValueError as error:
        raise KeyholeError(Code.INVALID_ARGUMENT, str(error)) from error
    token, created = new_token(), datetime.now(UTC)
    expires = created + timedelta(days=arguments.days) if arguments.days else None
    return token, Grant(hash_token(token), tenant, created, expires, clean_label(arguments.label))


def _list(path: Path, as_json: bool) -> int:
    grants, faults = parse_grants(_read_file(path))
    for fault in faults:
        print(f"keyhole: {fault}", file=sys.stderr)
    if as_json:
        print_json([_facts(grant) for grant in grants.values()])
        return 0
    if not grants:
        print("No tokens yet: `keyhole tokens new TENANT` creates one.")
    now = datetime.now(UTC)
    for grant in grants.values():
        expiry = _describe_expiry(grant.expires, now)
        print(f"{grant.id}  {grant.tenant}  created {grant.created:%Y-%m-%d}, {expiry}  {grant.label}".rstrip())
    return 0


def _revoke(path: Path, arguments: argparse.Namespace) -> int:
    """Remove the line of a token, leaving comments and other lines as they are."""
    if arguments.name is None:
        raise KeyholeError(Code.INVALID_ARGUMENT, "tokens revoke needs the ID that `keyhole tokens list` shows")
    with _locked_folder(path):
        lines = _read_file(path).splitlines(keepends=True)
        remaining = [line for line in lines if not _has_id(line, arguments.name)]
        revoked = len(remaining) < len(lines)
        if revoked:
            _replace_file(path, "".join(remaining))
    result = "revoked; running servers refuse it from their next call" if revoked else "no such token"
    print(json.dumps({arguments.name: revoked}) if arguments.json else f"{arguments.name}: {result}")
    return 0 if revoked else 1


def _has_id(line: str, id: str) -> bool:
    with suppress(ValueError):
        grant = parse_grant(line)
        return grant is not None and grant.id == id
    return False


def _describe_expiry(expires: datetime | None, now: datetime) -> str:
    if expires is None:
        return "does not expire"
    return f"{'expired' if expires <= now else 'expires'} {expires:%Y-%m-%d}"


def _facts(grant: Grant) -> dict[str, str | None]:
    expires = grant.expires.isoformat() if grant.expires else None
    created = grant.created.isoformat(timespec="seconds")
    return {"id": grant.id, "tenant": grant.tenant, "created": created, "expires": expires, "label": grant.label}


def _read_file(path: Path) -> str:
    """Return the file's text, or "" if it does not exist. Raise KeyholeError if others may write the file."""
    try:
        if fault := check_permissions(path.stat().st_mode):
            raise KeyholeError(Code.INVALID_ARGUMENT, f"{path}: {fault}")
        return path.read_text(encoding="utf-8")
    except FileNotFoundError:
        return ""
    except UnicodeDecodeError as error:
        raise KeyholeError(Code.INVALID_ARGUMENT, f"{path} is not UTF-8") from error


def _replace_file(path: Path, text: str) -> None:
    """Replace the file atomically, so that no server reads half of it.

    A new file is readable by its owner only; an existing one keeps its owner and permissions.
    """
    handle, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")  # mode 0600
    try:
        with os.fdopen(handle, "w", encoding="utf-8") as file:
            file.write(text)
            file.flush()
            os.fsync(file.fileno())
        with suppress(FileNotFoundError, PermissionError, AttributeError):  # Windows has no such owners
            shutil.copymode(path, name)
            shutil.chown(name, path.stat().st_uid, path.stat().st_gid)
        Path(name).replace(path)
    finally:
        Path(name).unlink(missing_ok=True)


@contextmanager
def _locked_folder(path: Path) -> Iterator[None]:
    """Lock the file's folder, so that no other `keyhole tokens` changes the file. On Windows nothing is locked."""
    path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    try:
        import fcntl
    except ImportError:  # Windows
        yield
        return
    folder = os.open(path.parent, os.O_RDONLY)
    try:
        fcntl.flock(folder, fcntl.LOCK_EX)
        yield
    finally:
        os.close(folder)
