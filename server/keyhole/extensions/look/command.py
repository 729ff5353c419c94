"""Run `keyhole look`: serve the pages that show what agents read and open them in the browser, or export one."""

from __future__ import annotations

import argparse
import os
import shutil
import sys
import tempfile
import time
import webbrowser
from contextlib import suppress
from html import escape
from pathlib import Path
from threading import Thread
from typing import TYPE_CHECKING, Final

from keyhole.config.config import Config
from keyhole.errors import Code, KeyholeError
from keyhole.store.base import LOCAL
from keyhole.store.private_files import write_private_file

if TYPE_CHECKING:
    from keyhole.extensions.look.page import Look


def run(config: Config, arguments: argparse.Namespace) -> int:
    """Serve the pages until the process is interrupted, or write the exported file; return 0."""
    if (arguments.session or arguments.call) and not arguments.export:
        raise KeyholeError(Code.INVALID_ARGUMENT, "--session and --call need --export")
    from keyhole.cli.build import open_stores
    from keyhole.extensions.look.page import Look, ServedLinks

    if warning := _warning(config):
        _say(warning)
    stores, tenant = open_stores(config), arguments.tenant or LOCAL
    try:
        store, _ = stores.for_tenant(tenant)
        ttl = config.ttl_days * 86_400
        look = Look(stores.calls_for(tenant), store, time.time, ServedLinks(), ttl=ttl, servers=_shared_servers)
        if arguments.export:
            _export(look, Path(arguments.export), arguments.session, arguments.call)
        else:
            _serve(look, arguments.port, open_browser=not arguments.no_open)
    finally:
        stores.close()
    return 0


def _shared_servers() -> tuple[str, ...]:
    """Return a line for each shared server of this user."""
    from keyhole.serve.shared.address import shared_folder
    from keyhole.serve.shared.link import ask_servers, describe_server

    return tuple(map(describe_server, ask_servers(shared_folder(os.environ), "status").values()))


def _warning(config: Config) -> str:
    """Return a note if the pages may show no calls, or ""."""
    if config.store == "memory":
        return "with KEYHOLE_STORE=memory each process keeps its own calls, so none are shown"
    return "KEYHOLE_RECORD is off, so new calls are not shown" if config.record == "off" else ""


def _export(look: Look, path: Path, session: str, call: str) -> None:
    from keyhole.extensions.look.export import export

    html = export(look, session, call).encode("utf-8", "replace")
    try:
        write_private_file(path, html)  # it has what agents asked and read
    except OSError as error:
        raise KeyholeError(Code.INVALID_ARGUMENT, f"{path} cannot be written: {error.strerror}") from error
    print(f"{path}: {len(html):,} bytes")


def _serve(look: Look, port: int, *, open_browser: bool) -> None:
    from keyhole.extensions.look.server import serve

    with suppress(KeyboardInterrupt):  # Ctrl-C is how the command ends
        serve(look, port, _Terminal(open_browser=open_browser))


_REDIRECT: Final = (
    '<!doctype html><html lang="en"><meta charset="utf-8"><meta http-equiv="refresh" content="0; url={0}">'
    '<meta name="referrer" content="no-referrer"><title>Keyhole</title><p><a href="{0}">Continue</a></p></html>'
)


class _Terminal:
    """Prints the links, and opens the browser with a file that leads to a link.

    All users of a machine can read the command line of a browser, so it must not have the link itself.
    """

    def __init__(self, *, open_browser: bool) -> None:
        self._open_browser = open_browser
        self._folder: Path | None = None

    def begin(self, link: str, link_of_file: str) -> None:
        print(link, flush=True)
        _say("the pages are served at this link until Ctrl-C")
        if self._open_browser:
            self._folder = Path(tempfile.mkdtemp(prefix="keyhole-look-"))  # mode 0700
            file = self._folder / "open.html"
            write_private_file(file, _REDIRECT.format(escape(link_of_file)).encode())
            # In a thread, because a browser in the terminal returns only when it ends.
            Thread(target=_open_browser, args=(file.as_uri(),), daemon=True).start()

    def finish(self) -> None:
        if self._folder:
            shutil.rmtree(self._folder, ignore_errors=True)

    def restart(self, link: str) -> None:
        print(link, flush=True)
        _say("another program used the link of the browser first; all sessions were ended, and this link is new")


def _open_browser(address: str) -> None:
    if not webbrowser.open(address):
        _say("found no browser; open the link in yours")


def _say(text: str) -> None:
    print(f"keyhole: {text}", file=sys.stderr, flush=True)
