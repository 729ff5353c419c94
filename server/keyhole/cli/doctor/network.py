"""Whether what a search would ask can be reached: names, proxies, certificates, engines. Sends no question, no key."""

from __future__ import annotations

import os
import socket
import ssl
import time
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from typing import Final
from urllib.parse import urlsplit

import certifi

from keyhole.cli.doctor.report import Finding, Level
from keyhole.config.config import Config
from keyhole.config.schema import KEYED
from keyhole.errors import KeyholeError
from keyhole.websearch.choose import UNASKED_FOR, needs

AREA: Final = "Network"
PATIENCE: Final = 3.0
"""Seconds for one engine: its name, the connection and the certificate."""
PUBLIC: Final = "https://en.wikipedia.org"
"""Asked for nothing but a connection."""
KEYLESS: Final = "https://html.duckduckgo.com"
"""One of the public engines that `keyless` asks, and the first."""
_PROXIES: Final = ("HTTPS_PROXY", "https_proxy", "HTTP_PROXY", "http_proxy", "ALL_PROXY", "all_proxy")


def look(config: Config, *, offline: bool) -> list[Finding]:
    """Proxies and certificates, and unless offline each engine that would be asked."""
    findings = [_certificates(), *_proxies(config, os.environ)]
    try:
        addresses, missing = _asked(config)
    except KeyholeError as error:
        return [*findings, Finding(AREA, "engines", Level.FAIL, error.message, "Put the setting or the file right.")]
    findings += [
        Finding(AREA, name, Level.WARN, f"named in KEYHOLE_ENGINES, but {needs(name)}", "Set it.") for name in missing
    ]
    if offline:
        return [*findings, Finding(AREA, "engines", Level.NOTE, f"not tried: {', '.join(addresses)}")]
    with ThreadPoolExecutor(len(addresses) or 1) as threads:
        faults = dict(
            zip(addresses, threads.map(lambda url: reach(url, config.proxy), addresses.values()), strict=True)
        )
    return [*findings, *_engines(addresses, faults)]


def _asked(config: Config) -> tuple[dict[str, str], list[str]]:
    """The address of each engine that a search may ask, and the names that are not set up."""
    from keyhole.websearch.choose import check_names
    from keyhole.websearch.custom_engines import own_engines
    from keyhole.websearch.engines.brave import BraveEngine
    from keyhole.websearch.engines.exa import ExaEngine
    from keyhole.websearch.engines.mojeek import MojeekEngine
    from keyhole.websearch.engines.serper import SerperEngine
    from keyhole.websearch.engines.tavily import TavilyEngine

    homes = {each.name: each.home for each in (BraveEngine, ExaEngine, TavilyEngine, SerperEngine, MojeekEngine)}
    known = {spec.name: spec.base for spec in own_engines(config)}
    known |= {f"searxng{number or ''}": url for number, url in enumerate(config.searxng_url)}
    known |= {name: homes[name] for name in KEYED if getattr(config, f"{name}_key")}
    free = {"keyless": KEYLESS, "wikipedia": config.mediawiki_url or PUBLIC}
    if not config.engines:
        return known or free, []
    check_names(config.engines, list(known))
    known |= free
    wanted = {name: url for name, url in known.items() if {name, name.rstrip("0123456789")} & set(config.engines)}
    return wanted, [name for name in config.engines if name not in wanted]


def _certificates() -> Finding:
    try:
        context = ssl.create_default_context(cafile=certifi.where())
    except (OSError, ssl.SSLError) as error:
        return Finding(AREA, "certificates", Level.FAIL, f"{certifi.where()}: {error}", "Install certifi anew.")
    return Finding(AREA, "certificates", Level.OK, f"{len(context.get_ca_certs())} authorities, of certifi")


def _proxies(config: Config, environment: Mapping[str, str]) -> list[Finding]:
    if config.proxy:
        return [Finding(AREA, "proxy", Level.OK, f"all goes through {_host(config.proxy)}")]
    named = [name for name in _PROXIES if environment.get(name)]
    if named:
        said = f"{', '.join(named)} is set, and Keyhole does not use it"
        return [Finding(AREA, "proxy", Level.NOTE, said, "Set KEYHOLE_PROXY where pages are to be fetched through it.")]
    return []


def _engines(addresses: Mapping[str, str], faults: Mapping[str, str]) -> list[Finding]:
    well = [name for name, fault in faults.items() if not fault]
    findings = []
    for name, fault in faults.items():
        host = _host(addresses[name])
        if not fault:
            findings.append(Finding(AREA, name, Level.OK, f"{host} is reached"))
            continue
        fix = "Look at the connection, or set KEYHOLE_PROXY." if name in UNASKED_FOR or name in KEYED else (
            "See whether it runs, and whether its address in the settings is right."
        )  # fmt: skip
        level = Level.WARN if well else Level.FAIL
        findings.append(Finding(AREA, name, level, f"{host}: {fault}", fix))
    return findings


def reach(url: str, proxy: str) -> str:
    """Why an address cannot be reached; nothing where it can."""
    until = time.monotonic() + PATIENCE
    by = " by the proxy" if proxy else ""
    try:
        target, through = urlsplit(url), urlsplit(proxy or url)
        port = through.port or (443 if through.scheme == "https" else 80)
        with socket.create_connection((through.hostname or "", port), PATIENCE) as connection:
            connection.settimeout(max(0.1, until - time.monotonic()))
            if proxy and (refused := _tunnel(connection, target.hostname or "", target.port or 443)):
                return refused
            if target.scheme == "https":
                context = ssl.create_default_context(cafile=certifi.where())
                context.wrap_socket(connection, server_hostname=target.hostname).close()
    except ssl.SSLError as error:
        return f"its certificate is refused ({getattr(error, 'verify_message', '') or error.reason})"
    except socket.gaierror:
        return f"the name {through.hostname} is not known here"
    except TimeoutError:
        return f"no answer{by} within {PATIENCE:g} s"
    except OSError as error:
        return f"no connection{by} ({error.strerror or error})"
    except ValueError as error:  # also of a name that can be none
        return f"no such address can be ({error})"
    return ""


def _tunnel(connection: socket.socket, host: str, port: int) -> str:
    connection.sendall(f"CONNECT {host}:{port} HTTP/1.1\r\nHost: {host}:{port}\r\n\r\n".encode("ascii"))
    answer = connection.recv(4_096).split(b"\r\n", 1)[0].decode("latin-1")
    return "" if " 200" in answer else f"the proxy answers {answer[:60]!r}"


def _host(url: str) -> str:
    try:
        parts = urlsplit(url)
        return f"{parts.hostname}:{parts.port}" if parts.port else str(parts.hostname)
    except ValueError:
        return "its address"
