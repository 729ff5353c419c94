"""Run `keyhole look`: serve the pages that show what agents read and open them in the browser, or export one."""

from __future__ import annotations

import argparse
import sys
import time
import webbrowser
from contextlib import suppress
from pathlib import Path
from threading import Thread
from typing import TYPE_CHECKING

from keyhole.config.config import Config
from keyhole.errors import Code, KeyholeError
from keyhole.store.base import LOCAL

if TYPE_CHECKING:
    from keyhole.serve.look.page import Look


def run(config: Config, arguments: argparse.Namespace) -> int:
    """Serve the pages until the process is interrupted, or write the exported file; return 0."""
    if (arguments.session or arguments.call) and not arguments.export:
        raise KeyholeError(Code.INVALID_ARGUMENT, "--session and --call need --export")
    from keyhole.cli.build import open_stores
    from keyhole.serve.look.links import ServedLinks
    from keyhole.serve.look.page import Look

    if warning := _warning(config):
        print(f"keyhole: {warning}", file=sys.stderr)
    stores, tenant = open_stores(config), arguments.tenant or LOCAL
    try:
        store, _ = stores.for_tenant(tenant)
        look = Look(stores.calls_for(tenant), store, time.time, ServedLinks(), ttl=config.ttl_days * 86_400)
        if arguments.export:
            _export(look, Path(arguments.export), arguments.session, arguments.call)
        else:
            _serve(look, arguments.port, open_browser=not arguments.no_open)
    finally:
        stores.close()
    return 0


def _warning(config: Config) -> str:
    """Return why the pages may show no calls, or ""."""
    if config.store == "memory":
        return "with KEYHOLE_STORE=memory each process keeps its own calls, so none are shown"
    return "KEYHOLE_RECORD is off, so new calls are not shown" if config.record == "off" else ""


def _export(look: Look, path: Path, session: str, call: str) -> None:
    from keyhole.serve.look.export import export

    html = export(look, session, call).encode("utf-8", "replace")
    try:
        path.write_bytes(html)
    except OSError as error:
        raise KeyholeError(Code.INVALID_ARGUMENT, f"{path} cannot be written: {error.strerror}") from error
    print(f"{path}: {len(html):,} bytes")


def _serve(look: Look, port: int, *, open_browser: bool) -> None:
    from keyhole.serve.look.server import serve

    def announce(link: str, link_for_browser: str) -> None:
        print(link, flush=True)
        print("keyhole: the pages are served at this link until Ctrl-C", file=sys.stderr, flush=True)
        if open_browser:  # in a thread, because a browser in the terminal returns only when it ends
            Thread(target=_open_browser, args=(link_for_browser,), daemon=True).start()

    with suppress(KeyboardInterrupt):  # Ctrl-C is how the command ends
        serve(look, port, announce)


def _open_browser(link: str) -> None:
    if not webbrowser.open(link):
        print("keyhole: found no browser; open the link in yours", file=sys.stderr, flush=True)
