"""Enclose untrusted text between boundary lines, and name the call that reads on."""

from __future__ import annotations

import base64
import hashlib
import hmac
import json
from collections.abc import Mapping

END = "[end]"
"""The last line of every result except errors. A result without it was truncated after Keyhole sent it."""

NextArguments = Mapping[str, str | int]
"""The arguments of the read_artifact call that reads on, in the order in which they are printed, without the id."""


def boundary_mark(secret: bytes, body: str) -> str:
    """Return the boundary mark for a text: eight characters that nobody can compute without `secret`.

    It depends on the whole text, so a page that contains a mark it was shown with has another mark.
    """
    digest = hmac.new(secret, b"boundary:" + body.encode("utf-8", "surrogatepass"), hashlib.sha256).digest()
    return base64.b32encode(digest[:5]).decode("ascii").lower()


def read_call(id: str, arguments: NextArguments | None) -> str:
    """Return the read_artifact call with `arguments`, or "" without any."""
    values = ", ".join(f"{name}={json.dumps(value, ensure_ascii=False)}" for name, value in (arguments or {}).items())
    return f'read_artifact(id="{id}", {values})' if values else ""


def read_command(id: str, arguments: NextArguments) -> str:
    """Return the command that does what the `read_call` with these arguments does."""
    return f"keyhole read {id} {' '.join(f'--{name} {value}' for name, value in arguments.items())}"


def enclose(body: str, secret: bytes) -> str:
    """Return a page's text between two boundary lines that the page cannot forge."""
    mark = boundary_mark(secret, body)
    return f"--- untrusted text {mark} ---\n{body}\n--- end {mark} ---"
