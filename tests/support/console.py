"""Run `keyhole …` commands over recorded pages and return what they print.

The network is replaced by the pages of `fixtures/`; everything else is real."""

from __future__ import annotations

import argparse
import io
import os
import shlex
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, redirect_stderr, redirect_stdout, suppress
from pathlib import Path
from typing import NoReturn
from unittest.mock import patch

from keyhole.cli.demo_site import recorded_pages
from keyhole.cli.main import main
from keyhole.errors import Code, KeyholeError
from keyhole.fetch.base import DEFAULT_OPTIONS, FetchOptions
from keyhole.fetch.client import HttpFetcher
from keyhole.records import Page
from tests.support.fakes import page
from tests.support.product import SECRET

OUTPUT_VARIABLES = ("KEYHOLE_", "COLUMNS", "LINES", "NO_COLOR", "FORCE_COLOR", "TERM")
"""Prefixes of environment variables that change the output; the output in the documentation must not depend on them."""


@contextmanager
def recorded_network() -> Iterator[None]:
    """Serve recorded pages instead of the network until the block ends."""
    recorded = {each.url: each for each in recorded_pages().values()}

    async def fetch(_self: HttpFetcher, url: str, _options: FetchOptions = DEFAULT_OPTIONS) -> Page:
        if url not in recorded:
            raise KeyholeError(Code.DNS_FAILURE, f"no such host: {url}")
        return page(url, recorded[url].body, content_type=recorded[url].content_type)

    with patch.object(HttpFetcher, "fetch", fetch):
        yield


@contextmanager
def temporary_installation(columns: int = 0, *, colours: bool = False) -> Iterator[Path]:
    """Yield a home folder with a fixed secret, so that ids are reproducible.

    The working folder contains the pages as files. `columns` is the width of the terminal, 0 for none; `colours`
    makes it a colour terminal."""
    with tempfile.TemporaryDirectory() as folder, recorded_network():
        home, work = Path(folder, "home"), Path(folder, "work")
        home.mkdir(mode=0o700)
        work.mkdir()
        (home / "secret").write_bytes(SECRET)
        for each in recorded_pages().values():
            (work / f"{each.name}.html").write_bytes(each.body)
        settings = {name: value for name, value in os.environ.items() if not name.startswith(OUTPUT_VARIABLES)}
        settings |= {"HOME": folder, "XDG_CONFIG_HOME": folder, "COLUMNS": str(columns or 100)}
        settings |= {"FORCE_COLOR": "1", "TERM": "xterm-256color"} if colours else {"NO_COLOR": "1"}
        before = Path.cwd()
        os.chdir(work)
        try:
            with patch.dict(os.environ, {**settings, "KEYHOLE_HOME": str(home), "TZ": "UTC"}, clear=True):
                yield home
        finally:
            os.chdir(before)


class FakeTerminal(io.StringIO):
    """Standard output that commands treat as a terminal."""

    encoding = "utf-8"

    def isatty(self) -> bool:
        return True


def run_command(command: str) -> str:
    """Run a `keyhole …` line; return what it prints, including its errors, with a final line break."""
    words = shlex.split(command, comments=True)
    assert words[0] == "keyhole", command
    out = FakeTerminal() if "FORCE_COLOR" in os.environ else io.StringIO()
    with redirect_stdout(out), redirect_stderr(io.StringIO() if isinstance(out, FakeTerminal) else out):
        try:
            main(words[1:])
        except SystemExit as stop:
            assert not stop.code, f"{command}: {out.getvalue()}"
    return out.getvalue().rstrip("\n") + "\n"


def capture_parser() -> argparse.ArgumentParser:
    """Return the argument parser of `keyhole`, intercepted when it starts to parse."""
    parsers: list[argparse.ArgumentParser] = []

    def capture(parser: argparse.ArgumentParser, *_: object) -> NoReturn:
        parsers.append(parser)
        raise SystemExit

    with patch.object(argparse.ArgumentParser, "parse_args", capture), suppress(SystemExit):
        main(["demo"])
    return parsers[0]


def is_valid_command(command: str) -> bool:
    """Return True if the command line accepts the command."""
    with redirect_stderr(io.StringIO()):
        try:
            capture_parser().parse_args(shlex.split(command, comments=True)[1:])
        except SystemExit:
            return False
    return True
