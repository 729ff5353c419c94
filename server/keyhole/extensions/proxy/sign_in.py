"""Rewrite the documents and forms of an OAuth sign-in: a client of the proxy gets tokens for the server behind it.

A client accepts the metadata of a resource only under the URL that it calls itself, here that of the proxy (RFC 9728,
section 3.3), and it asks for tokens for this URL. The server accepts only tokens for its own URL. So the proxy names
itself as the authorization server, hands the two requests with a `resource` (RFC 8707) on to the real one, and replaces
the URL in them. Codes and tokens are those of the real one.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final
from urllib.parse import parse_qsl, urlencode, urlsplit

from keyhole.serve.http.host_check import TOKEN_PATH

AUTHORIZE_PATH: Final = "/oauth/authorize"
RESOURCE_METADATA: Final = "/.well-known/oauth-protected-resource"
SERVER_METADATA: Final = "/.well-known/oauth-authorization-server"
_METADATA_PARAMETER: Final = re.compile(r'(\bresource_metadata\s*=\s*)("(?:[^"\\]|\\.)*"|[^\s,]+)', re.IGNORECASE)
_UNSUPPORTED: Final = frozenset(
    {
        "signed_metadata",
        "pushed_authorization_request_endpoint",
        "device_authorization_endpoint",
        "backchannel_authentication_endpoint",
        "mtls_endpoint_aliases",
    }
)
"""Metadata that would lead a client past the proxy, so that it would ask for a token for the proxy's URL."""


_SECRETS: Final = frozenset(
    f"{name}_endpoint" for name in ("authorization", "token", "registration", "introspection", "revocation")
)
"""The addresses that issue or get codes, tokens and passwords of clients."""


@dataclass(frozen=True, slots=True)
class Front:
    """The URL under which a client calls the proxy."""

    resource: str

    @property
    def origin(self) -> str:
        """The URL without its path, which is also the name of the proxy as an authorization server."""
        parts = urlsplit(self.resource)
        return f"{parts.scheme}://{parts.netloc}"

    @property
    def metadata_url(self) -> str:
        """The URL of the metadata of the resource."""
        return f"{self.origin}{RESOURCE_METADATA}{urlsplit(self.resource).path}"


def rewrite_challenge(challenge: str, front: Front) -> str:
    """Return the `WWW-Authenticate` of a server with the URL of the proxy's metadata instead of the server's own."""
    own = f'resource_metadata="{front.metadata_url}"'
    return _METADATA_PARAMETER.sub(own, challenge) if challenge else f"Bearer {own}"


def named_metadata(challenge: str) -> str:
    """Return the URL of the metadata that a `WWW-Authenticate` names, or ""."""
    found = _METADATA_PARAMETER.search(challenge)
    return found[2].strip('"') if found else ""


def named_issuers(resource: Mapping[str, Any]) -> list[str]:
    """Return the authorization server that the proxy asks: the first that the metadata of a resource names, if any."""
    named = resource.get("authorization_servers")
    return [str(each) for each in named[:1]] if isinstance(named, list) else []


def is_replaceable(server: Mapping[str, Any]) -> bool:
    """Return whether the proxy can stand in front of an authorization server.

    It cannot if the server's answers name the server itself (`iss`, RFC 9207), because a client compares this name with
    that of the metadata, or if the requests for codes must be made in advance (RFC 9126). It does not if the endpoints
    have several origins, because one of them would get a code or a password that another has issued (RFC 9700, 4.4).
    """
    has_endpoints = all(isinstance(server.get(f"{name}_endpoint"), str) for name in ("authorization", "token"))
    origins = {_origin(url) for name, url in addresses(server).items() if name in _SECRETS}
    return (
        has_endpoints
        and len(origins) == 1
        and not server.get("authorization_response_iss_parameter_supported")
        and not server.get("require_pushed_authorization_requests")
    )


def addresses(server: Mapping[str, Any]) -> dict[str, str]:
    """Return the addresses in the metadata of an authorization server to which clients send requests, by name."""
    return {
        name: url
        for name, url in server.items()
        if isinstance(url, str) and (name.endswith("_endpoint") or name == "jwks_uri")
    }


def _origin(url: str) -> tuple[str, str | None, int | None]:
    parts = urlsplit(url)
    return parts.scheme, parts.hostname, parts.port


def resource_metadata(found: Mapping[str, Any], front: Front, *, replaced: bool) -> dict[str, Any]:
    """Return the metadata of a server as that of the proxy.

    `replaced`: True to name the proxy as the authorization server.
    """
    kept = {name: value for name, value in found.items() if name not in ("signed_metadata", "authorization_servers")}
    servers = [front.origin] if replaced else named_issuers(found)
    return {**kept, "resource": front.resource, **({"authorization_servers": servers} if servers else {})}


def server_metadata(found: Mapping[str, Any], front: Front) -> dict[str, Any]:
    """Return the metadata of an authorization server as that of the proxy."""
    kept = {name: value for name, value in found.items() if name not in _UNSUPPORTED}
    return {
        **kept,
        "issuer": front.origin,
        "authorization_endpoint": front.origin + AUTHORIZE_PATH,
        "token_endpoint": front.origin + TOKEN_PATH,
    }


def with_resource(form: str, resource: str) -> str:
    """Return the fields of a form or query with this URL as the value of each `resource`."""
    fields = parse_qsl(form, keep_blank_values=True)
    return urlencode([(name, resource if name == "resource" else value) for name, value in fields])
