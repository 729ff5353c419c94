"""The port that decides whether a bearer token is valid."""

from __future__ import annotations

from typing import Final, Protocol

from mcp.server.auth.provider import AccessToken

RETRY_AFTER: Final = "5"
"""Seconds until a client may retry while tokens cannot be verified; keys are not requested sooner."""


class Verifier(Protocol):
    """A TokenVerifier of the SDK, which may also raise KeyholeError and can be closed."""

    async def verify_token(self, token: str) -> AccessToken | None:
        """Return the user of a token, or None if it is invalid. Raises KeyholeError if it cannot be verified now."""
        ...

    async def aclose(self) -> None:
        """Release resources."""
        ...
