"""Read the token file: hashes of the bearer tokens that the operator issued, and their tenants.

A token has 256 random bits, so a single SHA-256 is enough: slow hashes protect passwords, which can be guessed. The
time of a lookup reveals nothing, since a caller cannot choose the beginning of a digest.
"""

from __future__ import annotations

import hashlib
import logging
import os
import re
import secrets
import stat
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Final

from keyhole.errors import Code, KeyholeError

log = logging.getLogger(__name__)

PREFIX: Final = "kh_"
"""Start of every token, so that scanners for leaked secrets recognize it."""
RANDOM_BYTES: Final = 32
MAX_FILE_BYTES: Final = 10_000_000
"""Maximum bytes of the file: enough for 60,000 tokens."""
MAX_TOKEN_CHARS: Final = 8_000
"""Maximum characters of a token; longer ones are refused unread. Tokens of the file have 46, signed tokens of large
issuers 3,000."""
ID_DIGITS: Final = 12
"""Digits of a hash that identify a token: 48 bits, unique among 60,000 tokens except in one of 100,000 files."""
MAX_LABEL_CHARS: Final = 100
NEVER: Final = "never"

_TENANT: Final = re.compile(r"[A-Za-z0-9][A-Za-z0-9._@-]{0,63}")
_HASH: Final = re.compile(r"sha256:([0-9a-f]{64})")


@dataclass(frozen=True, slots=True)
class Grant:
    """One line of the file: `sha256:HASH TENANT CREATED EXPIRES LABEL…`, times in UTC or `never`."""

    digest: bytes
    tenant: str
    created: datetime
    expires: datetime | None = None
    label: str = ""

    @property
    def id(self) -> str:
        """The first digits of the hash, which identify the token in output."""
        return self.digest.hex()[:ID_DIGITS]


def new_token() -> str:
    """Return a new random token."""
    return PREFIX + secrets.token_urlsafe(RANDOM_BYTES)


def hash_token(token: str) -> bytes:
    """Return the SHA-256 of a token."""
    return hashlib.sha256(token.encode("utf-8", "surrogatepass")).digest()


def check_tenant(name: str) -> str:
    """Return a tenant's name if it is valid. Raises ValueError, which states the rule."""
    if not _TENANT.fullmatch(name):
        raise ValueError("a tenant is up to 64 letters, digits, dots, hyphens, underscores and @")
    return name


def format_grant(grant: Grant) -> str:
    """Return a grant as a line of the file."""
    expires = _format_time(grant.expires) if grant.expires else NEVER
    return f"sha256:{grant.digest.hex()} {grant.tenant} {_format_time(grant.created)} {expires} {grant.label}".rstrip()


def parse_grant(line: str) -> Grant | None:
    """Parse a line of the file; return None for an empty line or a comment. Raises ValueError for an invalid line."""
    if not line.strip() or line.lstrip().startswith("#"):
        return None
    words = line.split(maxsplit=4)
    if len(words) < 4:
        raise ValueError("a line is: sha256:HASH TENANT CREATED EXPIRES LABEL")
    digest = _HASH.fullmatch(words[0])
    if digest is None:
        raise ValueError("the first word is not sha256: and 64 hexadecimal digits")
    expires = None if words[3] == NEVER else _parse_time(words[3])
    label = clean_label(words[4]) if len(words) > 4 else ""
    return Grant(bytes.fromhex(digest[1]), check_tenant(words[1]), _parse_time(words[2]), expires, label)


def clean_label(label: str) -> str:
    """Return a label on one line, without control characters, shortened to MAX_LABEL_CHARS."""
    return " ".join("".join(c if c.isprintable() else " " for c in label).split())[:MAX_LABEL_CHARS]


def parse_grants(text: str) -> tuple[dict[bytes, Grant], list[str]]:
    """Return all grants by their digests, and the faults of invalid lines, which grant nothing."""
    grants: dict[bytes, Grant] = {}
    faults: list[str] = []
    for number, line in enumerate(text.splitlines(), 1):
        try:
            if (grant := parse_grant(line)) is None:
                continue
            if grant.digest in grants:
                raise ValueError("the token is in the file twice")
            grants[grant.digest] = grant
        except ValueError as error:
            faults.append(f"line {number}: {error}")
    return grants, faults


def find_grant(grants: Mapping[bytes, Grant], token: str, now: datetime) -> Grant | None:
    """Return the grant of a token; None if it is unknown or has expired."""
    grant = grants.get(hash_token(token)) if len(token) <= MAX_TOKEN_CHARS else None
    return grant if grant and (grant.expires is None or now < grant.expires) else None


def check_permissions(mode: int) -> str:
    """Return why a token file with this mode must not be trusted, or ""."""
    shared = os.name == "posix" and mode & (stat.S_IWGRP | stat.S_IWOTH)  # Windows always reports these bits as set
    return "others may write it, and so add tokens of their own" if shared else ""


class TokenFile:
    """The grants of a token file, which is read again when it changes."""

    def __init__(self, path: Path, now: Callable[[], float] = time.time) -> None:
        self._path = path.expanduser()
        self._now = now
        self._read_state: tuple[int, ...] = ()
        self._grants: dict[bytes, Grant] = {}

    def check(self) -> None:
        """Read the file at the start of the server. Raises KeyholeError (invalid_argument) for any fault."""
        try:
            faults = self._read()
            others = self._path.stat().st_mode & stat.S_IROTH  # the group may read: Kubernetes mounts a Secret that way
        except OSError as error:
            step = "; `keyhole tokens new TENANT` creates it" if isinstance(error, FileNotFoundError) else ""
            raise KeyholeError(Code.INVALID_ARGUMENT, f"KEYHOLE_TOKENS_FILE: {error.strerror}{step}") from error
        if faults:
            raise KeyholeError(Code.INVALID_ARGUMENT, f"KEYHOLE_TOKENS_FILE: {faults[0]}")
        if others and os.name == "posix":
            log.warning("other users may read the token file; chmod 600 prevents that")
        if not self._grants:
            log.warning("the token file has no tokens yet: `keyhole tokens new TENANT` creates one")

    def find(self, token: str) -> Grant | None:
        """Return the grant of a token, or None. Raises KeyholeError (store_unavailable) if the file cannot be read."""
        try:
            for line in self._read() if self._state() != self._read_state else ():
                log.error("the token file: %s", line)
        except OSError as error:
            # An operator may have removed the file to lock everybody out, so the grants read before are dropped.
            message = f"the token file cannot be read: {error.strerror}"
            if self._read_state:
                log.error(message)  # once, not at every call
            self._read_state, self._grants = (), {}
            raise KeyholeError(Code.STORE_UNAVAILABLE, message) from error
        return find_grant(self._grants, token, datetime.fromtimestamp(self._now(), UTC))

    def tenants(self) -> frozenset[str]:
        """Return the names of all tenants with a token; none if the file cannot be read."""
        with suppress(OSError):
            self._read()
        return frozenset(grant.tenant for grant in self._grants.values())

    def _state(self) -> tuple[int, ...]:
        """Return facts that differ after each change of the file. Takes some microseconds, for one stat call."""
        status = self._path.stat()
        return status.st_ino, status.st_size, status.st_mtime_ns, status.st_mode

    def _read(self) -> list[str]:
        """Read the grants of the file; return its faults."""
        state = self._state()
        with self._path.open("rb") as file:
            content = file.read(MAX_FILE_BYTES + 1)
        self._read_state, self._grants = state, {}
        if fault := check_permissions(state[3]):
            return [fault]
        if len(content) > MAX_FILE_BYTES:
            return [f"it has more than {MAX_FILE_BYTES:,} bytes"]
        try:
            self._grants, faults = parse_grants(content.decode("utf-8"))
        except UnicodeDecodeError:
            return ["it is not UTF-8"]
        return faults


def _format_time(when: datetime) -> str:
    return when.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def _parse_time(text: str) -> datetime:
    try:
        return datetime.strptime(text, "%Y-%m-%dT%H:%M:%SZ").replace(tzinfo=UTC)
    except ValueError:
        raise ValueError(f"{text[:32]!r} is not a time such as 2027-01-31T00:00:00Z") from None
