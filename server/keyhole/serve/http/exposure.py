"""Whether the settings are safe for the address that is listened on. Decides, and touches nothing."""

from __future__ import annotations

import ipaddress
from typing import Final

from keyhole.config.config import Config
from keyhole.errors import Code, KeyholeError
from keyhole.serve.http.auth.jwks import is_private
from keyhole.serve.http.host_check import rules
from keyhole.serve.http.origins import LOOPBACK

_OAUTH_EXTRAS: Final = ("oauth_audience", "oauth_jwks_url", "oauth_scopes")
"""Settings that say how tokens are judged, and of which none says whose."""


def check(config: Config, address: str) -> None:
    """Refuse to serve HTTP in a way that lets in who does not belong. `address`: the numeric one, once it is known.

    Raises KeyholeError (invalid_argument) with the settings to change.
    """
    rules(config)
    if wrong := _auth_fault(config) or _exposure_fault(config, address):
        raise KeyholeError(Code.INVALID_ARGUMENT, wrong)


def concern(config: Config) -> str:
    """What the operator should know though it is served, or nothing: a proxy may let others in."""
    known = config.tokens_file is not None or config.oauth_issuer
    if known or all(rule.host in LOOPBACK for rule in rules(config).hosts):
        return ""
    return "callers are not known, and KEYHOLE_ALLOWED_HOSTS lets a proxy bring others here: it must know them itself"


def is_loopback(address: str) -> bool:
    """Whether only this machine can connect to an address, given in numbers."""
    try:
        return ipaddress.ip_address(address.partition("%")[0]).is_loopback
    except ValueError:
        return False


def _exposure_fault(config: Config, address: str) -> str:
    if is_loopback(address):
        return ""
    missing = [] if config.allowed_hosts else ["KEYHOLE_ALLOWED_HOSTS (the names that clients use)"]
    if config.tokens_file is None and not config.oauth_issuer:
        missing.append("KEYHOLE_TOKENS_FILE or KEYHOLE_OAUTH_ISSUER (who may call)")
    if not missing:
        return ""
    return f"{address} is not loopback, so others can connect: set {' and '.join(missing)}, or serve on 127.0.0.1"


def _auth_fault(config: Config) -> str:
    if config.tokens_file is not None and config.oauth_issuer:
        return "KEYHOLE_TOKENS_FILE and KEYHOLE_OAUTH_ISSUER are both set: callers are known in one way, so unset one"
    if not config.oauth_issuer:
        extras = [f"KEYHOLE_{name.upper()}" for name in _OAUTH_EXTRAS if getattr(config, name)]
        return f"{extras[0]} is set without KEYHOLE_OAUTH_ISSUER, so no token would be asked for" if extras else ""
    if not config.public_url:
        return "KEYHOLE_OAUTH_ISSUER needs KEYHOLE_PUBLIC_URL, the address of /mcp that tokens are made out to"
    for name in ("oauth_issuer", "oauth_jwks_url"):
        if (url := getattr(config, name)) and not is_private(url):
            return f"KEYHOLE_{name.upper()} must be https, or on loopback: who can change the keys can let anybody in"
    return ""
