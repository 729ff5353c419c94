"""Bearer tokens that the operator gave out: the file of their hashes, and who holds one. Tokens are kept nowhere.

A token has 256 random bits, so one SHA-256 is the right hash: slow hashes are for passwords, whose few bits can be
guessed. Nor does looking a digest up tell anything by its time: whoever asks cannot choose the digest's beginning.
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
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Final

from keyhole.errors import Code, KeyholeError

log = logging.getLogger(__name__)

PREFIX: Final = "kh_"
"""Begins every token, so that programs that look for leaked secrets know one."""
RANDOM_BYTES: Final = 32
MAX_FILE: Final = 10_000_000
"""Bytes: 60,000 tokens."""
MAX_TOKEN: Final = 8_000
"""Characters of a token that are looked at; ours have 46, signed ones of large issuers 3,000."""
ID_DIGITS: Final = 12
"""Of a hash, to name a token by: 48 bits, unique among 60,000 but once in 100,000 files."""
MAX_LABEL: Final = 100
"""Characters."""
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
        """What the token is called where it must not be shown."""
        return self.digest.hex()[:ID_DIGITS]


def new_token() -> str:
    """A token that nobody can guess."""
    return PREFIX + secrets.token_urlsafe(RANDOM_BYTES)


def digest_of(token: str) -> bytes:
    """The hash by which a token is known."""
    return hashlib.sha256(token.encode("utf-8", "surrogatepass")).digest()


def checked_tenant(name: str) -> str:
    """The name of a tenant. Raises ValueError with what would be right."""
    if not _TENANT.fullmatch(name):
        raise ValueError("a tenant is up to 64 letters, digits, dots, hyphens, underscores and @")
    return name


def line_of(grant: Grant) -> str:
    """A grant as it stands in the file."""
    expires = _written(grant.expires) if grant.expires else NEVER
    return f"sha256:{grant.digest.hex()} {grant.tenant} {_written(grant.created)} {expires} {grant.label}".rstrip()


def grant_of(line: str) -> Grant | None:
    """A line of the file; None for an empty one and a comment. Raises ValueError with what is wrong."""
    if not line.strip() or line.lstrip().startswith("#"):
        return None
    words = line.split(maxsplit=4)
    if len(words) < 4:
        raise ValueError("a line is: sha256:HASH TENANT CREATED EXPIRES LABEL")
    digest = _HASH.fullmatch(words[0])
    if digest is None:
        raise ValueError("the first word is not sha256: and 64 hexadecimal digits")
    expires = None if words[3] == NEVER else _read_time(words[3])
    label = plain(words[4]) if len(words) > 4 else ""
    return Grant(bytes.fromhex(digest[1]), checked_tenant(words[1]), _read_time(words[2]), expires, label)


def plain(label: str) -> str:
    """A note as a terminal may show it, on one line."""
    return " ".join("".join(c if c.isprintable() else " " for c in label).split())[:MAX_LABEL]


def parse(text: str) -> tuple[dict[bytes, Grant], list[str]]:
    """All grants by their digests, and what is wrong, line by line. A wrong line is nobody's token."""
    grants: dict[bytes, Grant] = {}
    wrong: list[str] = []
    for number, line in enumerate(text.splitlines(), 1):
        try:
            if (grant := grant_of(line)) is None:
                continue
            if grant.digest in grants:
                raise ValueError("the token stands in the file twice")
            grants[grant.digest] = grant
        except ValueError as error:
            wrong.append(f"line {number}: {error}")
    return grants, wrong


def holder(grants: Mapping[bytes, Grant], token: str, now: datetime) -> Grant | None:
    """Whose token it is, if it is one and has not expired."""
    grant = grants.get(digest_of(token)) if len(token) <= MAX_TOKEN else None
    return grant if grant and (grant.expires is None or now < grant.expires) else None


def mode_fault(mode: int) -> str:
    """Why nobody must be let in by a file with these permissions, or nothing."""
    shared = os.name == "posix" and mode & (stat.S_IWGRP | stat.S_IWOTH)  # Windows has no such bits, and shows them set
    return "others may write it, and so let themselves in" if shared else ""


class TokenFile:
    """The file's grants, read again when it changes."""

    def __init__(self, path: Path, now: Callable[[], float] = time.time) -> None:
        self._path = path.expanduser()
        self._now = now
        self._seen: tuple[int, ...] = ()
        self._grants: dict[bytes, Grant] = {}

    def check(self) -> None:
        """Read the file before anybody calls. Raises KeyholeError (invalid_argument) for whatever is wrong with it."""
        try:
            wrong = self._read()
            others = self._path.stat().st_mode & stat.S_IROTH  # not a group: that is how Kubernetes mounts a Secret
        except OSError as error:
            step = "; `keyhole tokens new TENANT` makes it" if isinstance(error, FileNotFoundError) else ""
            raise KeyholeError(Code.INVALID_ARGUMENT, f"KEYHOLE_TOKENS_FILE: {error.strerror}{step}") from error
        if wrong:
            raise KeyholeError(Code.INVALID_ARGUMENT, f"KEYHOLE_TOKENS_FILE: {wrong[0]}")
        if others and os.name == "posix":
            log.warning("other users may read the file of tokens; only its owner need: chmod 600")
        if not self._grants:
            log.warning("the file of tokens has none yet: nobody is let in before `keyhole tokens new TENANT`")

    def holder(self, token: str) -> Grant | None:
        """Whose token it is, or None. Raises KeyholeError (store_unavailable) where the file cannot be read."""
        try:
            for line in self._read() if self._state() != self._seen else ():
                log.error("the file of tokens: %s", line)
        except OSError as error:
            # An operator who takes the file away means to let nobody in, so what was read before counts no more.
            message = f"the file of tokens cannot be read: {error.strerror}"
            if self._seen:
                log.error(message)  # once, however many call
            self._seen, self._grants = (), {}
            raise KeyholeError(Code.STORE_UNAVAILABLE, message) from error
        return holder(self._grants, token, datetime.fromtimestamp(self._now(), UTC))

    def _state(self) -> tuple[int, ...]:
        """What is another after each change: one look at the file's entry, some microseconds."""
        found = self._path.stat()
        return found.st_ino, found.st_size, found.st_mtime_ns, found.st_mode

    def _read(self) -> list[str]:
        """Take the file's grants; what is wrong with it."""
        state = self._state()
        with self._path.open("rb") as file:
            content = file.read(MAX_FILE + 1)
        self._seen, self._grants = state, {}
        if fault := mode_fault(state[3]):
            return [fault]
        if len(content) > MAX_FILE:
            return [f"it has more than {MAX_FILE:,} bytes"]
        try:
            self._grants, wrong = parse(content.decode("utf-8"))
        except UnicodeDecodeError:
            return ["it is not UTF-8"]
        return wrong


def _written(when: datetime) -> str:
    return when.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def _read_time(text: str) -> datetime:
    try:
        return datetime.strptime(text, "%Y-%m-%dT%H:%M:%SZ").replace(tzinfo=UTC)
    except ValueError:
        raise ValueError(f"{text[:32]!r} is no time such as 2027-01-31T00:00:00Z") from None
