"""Check proxies, certificates and connections to the search engines, without sending a query or a key."""

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

from keyhole.cli.terminal import Finding, Level
from keyhole.config.config import KEYED_ENGINES, Config
from keyhole.errors import KeyholeError
from keyhole.websearch.registry import DEFAULT_ENGINES, describe_missing_setting

AREA: Final = "Network"
TIMEOUT: Final = 3.0
"""Seconds for one engine: name lookup, connection and certificate."""
WIKIPEDIA_URL: Final = "https://en.wikipedia.org"
KEYLESS_URL: Final = "https://html.duckduckgo.com"
"""The first of the public engines that the engine `keyless` uses."""
_PROXY_VARIABLES: Final = ("HTTPS_PROXY", "https_proxy", "HTTP_PROXY", "http_proxy", "ALL_PROXY", "all_proxy")


def check(config: Config, *, offline: bool) -> list[Finding]:
    """Return findings on proxies, certificates and, unless offline, each engine that a search would use."""
    findings = [_check_certificates(), *_check_proxies(config, os.environ)]
    try:
        urls, missing = _engine_urls(config)
    except KeyholeError as error:
        return [*findings, Finding(AREA, "engines", Level.FAIL, error.message, "Correct the setting or the file.")]
    for name in missing:
        message = f"named in KEYHOLE_ENGINES, but {describe_missing_setting(name)}"
        findings.append(Finding(AREA, name, Level.WARN, message, "Set it."))
    if offline:
        return [*findings, Finding(AREA, "engines", Level.NOTE, f"not checked: {', '.join(urls)}")]
    with ThreadPoolExecutor(len(urls) or 1) as threads:
        faults = dict(zip(urls, threads.map(lambda url: try_connection(url, config.proxy), urls.values()), strict=True))
    return [*findings, *_engine_findings(urls, faults)]


def _engine_urls(config: Config) -> tuple[dict[str, str], list[str]]:
    """Return the URL of each engine that a search may use, and the names of engines that are not set up."""
    from keyhole.websearch.registry import check_engine_names, open_engines

    engines = open_engines()
    known = {spec.name: spec.base for spec in engines.read_file(config)}
    known |= {f"searxng{number or ''}": url for number, url in enumerate(config.searxng_url)}
    known |= {name: engines.default_url(name) for name in KEYED_ENGINES if getattr(config, f"{name}_key")}
    public = {"keyless": KEYLESS_URL, "wikipedia": config.mediawiki_url or WIKIPEDIA_URL}
    if not config.engines:
        return known or public, []
    check_engine_names(config.engines, list(known))
    known |= public
    selected = {name: url for name, url in known.items() if {name, name.rstrip("0123456789")} & set(config.engines)}
    return selected, [name for name in config.engines if name not in selected]


def _check_certificates() -> Finding:
    try:
        context = ssl.create_default_context(cafile=certifi.where())
    except (OSError, ssl.SSLError) as error:
        return Finding(AREA, "certificates", Level.FAIL, f"{certifi.where()}: {error}", "Reinstall certifi.")
    return Finding(AREA, "certificates", Level.OK, f"{len(context.get_ca_certs())} authorities, from certifi")


def _check_proxies(config: Config, environment: Mapping[str, str]) -> list[Finding]:
    if config.proxy:
        return [Finding(AREA, "proxy", Level.OK, f"all requests go through {_host(config.proxy)}")]
    names = [name for name in _PROXY_VARIABLES if environment.get(name)]
    if names:
        message = f"{', '.join(names)} is set, but Keyhole does not use it"
        return [Finding(AREA, "proxy", Level.NOTE, message, "Set KEYHOLE_PROXY to fetch pages through a proxy.")]
    return []


def _engine_findings(urls: Mapping[str, str], faults: Mapping[str, str]) -> list[Finding]:
    is_any_reachable = not all(faults.values())
    findings = []
    for name, fault in faults.items():
        host = _host(urls[name])
        if not fault:
            findings.append(Finding(AREA, name, Level.OK, f"{host} is reachable"))
            continue
        fix = "Check that it runs and that its address in the settings is correct."
        if name in DEFAULT_ENGINES or name in KEYED_ENGINES:
            fix = "Check the network connection, or set KEYHOLE_PROXY."
        level = Level.WARN if is_any_reachable else Level.FAIL
        findings.append(Finding(AREA, name, level, f"{host}: {fault}", fix))
    return findings


def try_connection(url: str, proxy: str) -> str:
    """Connect to the server of a URL, and return why that failed, or ""."""
    deadline = time.monotonic() + TIMEOUT
    through_proxy = " through the proxy" if proxy else ""
    try:
        target, first_hop = urlsplit(url), urlsplit(proxy or url)
        port = first_hop.port or (443 if first_hop.scheme == "https" else 80)
        with socket.create_connection((first_hop.hostname or "", port), TIMEOUT) as connection:
            connection.settimeout(max(0.1, deadline - time.monotonic()))
            if proxy and (fault := _open_tunnel(connection, target.hostname or "", target.port or 443)):
                return fault
            if target.scheme == "https":
                context = ssl.create_default_context(cafile=certifi.where())
                context.wrap_socket(connection, server_hostname=target.hostname).close()
    except ssl.SSLError as error:
        return f"its certificate is not valid ({getattr(error, 'verify_message', '') or error.reason})"
    except socket.gaierror:
        return f"the host name {first_hop.hostname} cannot be resolved"
    except TimeoutError:
        return f"no answer{through_proxy} within {TIMEOUT:g} s"
    except OSError as error:
        return f"no connection{through_proxy} ({error.strerror or error})"
    except ValueError as error:  # includes invalid host names
        return f"the address is not valid ({error})"
    return ""


def _open_tunnel(connection: socket.socket, host: str, port: int) -> str:
    """Ask a proxy for a tunnel, and return why it refused, or ""."""
    connection.sendall(f"CONNECT {host}:{port} HTTP/1.1\r\nHost: {host}:{port}\r\n\r\n".encode("ascii"))
    answer = connection.recv(4_096).split(b"\r\n", 1)[0].decode("latin-1")
    return "" if " 200" in answer else f"the proxy answered {answer[:60]!r}"


def _host(url: str) -> str:
    try:
        parts = urlsplit(url)
        return f"{parts.hostname}:{parts.port}" if parts.port else str(parts.hostname)
    except ValueError:
        return "its address"
