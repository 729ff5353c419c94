"""Start real searx instances, from Debian's package, over the search API. Running them needs no root.

    apt-get install --no-install-recommends searx      # once, on Debian 12

Debian's Python runs the package with generated settings; nothing is read from /etc.
"""

from __future__ import annotations

import json
import os
import socket
import subprocess
import tempfile
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final

PYTHON: Final = Path("/usr/bin/python3")
PACKAGE: Final = Path("/usr/lib/python3/dist-packages/searx/webapp.py")
SHARE: Final = Path("/usr/share/python3-searx")
ENGINE_TIMEOUT: Final = 2.0
"""Seconds that searx waits for its engine."""
PATIENCE: Final = 20.0
"""Seconds to wait for searx to start; it usually takes one."""


def is_installed() -> bool:
    """Return whether Debian's package is installed."""
    return PYTHON.exists() and PACKAGE.exists()


def build_settings(port: int, api: str) -> dict[str, Any]:
    """Return the required settings of an instance. `api`: the URL that its only engine calls."""
    engine = {
        "name": "corpus", "engine": "json_engine", "shortcut": "co", "categories": "general",
        "search_url": api + "?q={query}", "results_query": "results", "url_query": "url", "title_query": "title",
        "content_query": "content", "timeout": ENGINE_TIMEOUT, "enable_http": True,
    }  # fmt: skip
    addresses = ("git_url", "git_branch", "issue_url", "docs_url", "public_instances", "wiki_url", "twitter_url")
    return {
        "general": {"debug": False, "instance_name": "loopback", "enable_stats": False, "contact_url": False},
        "brand": dict.fromkeys(addresses, ""),
        "search": {
            "safe_search": 0, "autocomplete": "", "default_lang": "", "formats": ["html", "json"],
            # Seconds; 0, because searx would answer with no results and no error while an engine is suspended.
            "ban_time_on_fail": 0, "max_ban_time_on_fail": 0,
        },
        "server": {
            "port": port, "bind_address": "127.0.0.1", "secret_key": "loopback", "base_url": False,
            "image_proxy": False, "http_protocol_version": "1.0", "method": "GET", "default_http_headers": {},
        },
        "ui": {
            "static_path": str(SHARE / "static"), "templates_path": str(SHARE / "templates"), "default_theme": "oscar",
            "default_locale": "", "theme_args": {"oscar_style": "logicodev"},
        },
        "outgoing": {"request_timeout": 3.0, "useragent_suffix": "", "pool_connections": 100, "pool_maxsize": 10},
        "engines": [engine],
        "locales": {"en": "English"},
        "doi_resolvers": {"oadoi.org": "https://oadoi.org/"},
        "default_doi_resolver": "oadoi.org",
    }  # fmt: skip


@contextmanager
def run_instance(api: str) -> Iterator[str]:
    """Run an instance whose engine calls `api`, and yield its base URL."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    base = f"http://127.0.0.1:{port}"
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "settings.yml"
        path.write_text(json.dumps(build_settings(port, api)), encoding="utf-8")  # JSON is YAML
        environment = {"PATH": os.defpath, "HOME": folder, "SEARX_SETTINGS_PATH": str(path), "LC_ALL": "C.UTF-8"}
        process = subprocess.Popen(
            # setpriv, from util-linux, ends the instance if this process dies.
            ["/usr/bin/setpriv", "--pdeathsig", "TERM", str(PYTHON), "-P", "-m", "searx.webapp"],
            env=environment, cwd=folder, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
        )  # fmt: skip
        try:
            _await_health(base, process)
            yield base
        finally:
            process.terminate()
            process.wait(timeout=PATIENCE)


def _await_health(base: str, process: subprocess.Popen[bytes]) -> None:
    until = time.monotonic() + PATIENCE
    while time.monotonic() < until and process.poll() is None:
        try:
            with urllib.request.urlopen(f"{base}/healthz", timeout=2):  # noqa: S310  (loopback, our own)
                return
        except (urllib.error.URLError, OSError):
            time.sleep(0.1)
    raise RuntimeError(f"searx did not start at {base}")
