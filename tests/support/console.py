"""The command line over recorded pages: `keyhole …` as a reader of the documentation types it, and what it prints.

Everything is real but the network, which has the pages of `fixtures/` and no others."""

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

ABOUT_OUTPUT = ("KEYHOLE_", "COLUMNS", "LINES", "NO_COLOR", "FORCE_COLOR", "TERM")
"""What variables that say how to print begin with: what a page of the documentation shows depends on none of them."""


@contextmanager
def recorded_network() -> Iterator[None]:
    """Every page that is fetched in the block is a recorded one."""
    is_valid_command = {each.url: each for each in recorded_pages().values()}

    async def fetch(_self: HttpFetcher, url: str, _options: FetchOptions = DEFAULT_OPTIONS) -> Page:
        if url not in is_valid_command:
            raise KeyholeError(Code.DNS_FAILURE, f"no such host: {url}")
        return page(url, is_valid_command[url].body, content_type=is_valid_command[url].content_type)

    with patch.object(HttpFetcher, "fetch", fetch):
        yield


@contextmanager
def temporary_installation(columns: int = 0, *, colours: bool = False) -> Iterator[Path]:
    """A home folder with a fixed secret, so that ids are always the same; a working folder with the pages as files.
    `columns` and `colours`: of the terminal that stands there, if one does."""
    with tempfile.TemporaryDirectory() as folder, recorded_network():
        home, work = Path(folder, "home"), Path(folder, "work")
        home.mkdir(mode=0o700)
        work.mkdir()
        (home / "secret").write_bytes(SECRET)
        for each in recorded_pages().values():
            (work / f"{each.name}.html").write_bytes(each.body)
        settings = {name: value for name, value in os.environ.items() if not name.startswith(ABOUT_OUTPUT)}
        settings |= {"HOME": folder, "XDG_CONFIG_HOME": folder, "COLUMNS": str(columns or 100)}
        settings |= {"FORCE_COLOR": "1", "TERM": "xterm-256color"} if colours else {"NO_COLOR": "1"}
        before = Path.cwd()
        os.chdir(work)
        try:
            with patch.dict(os.environ, {**settings, "KEYHOLE_HOME": str(home), "TZ": "UTC"}, clear=True):
                yield home
        finally:
            os.chdir(before)


class Screen(io.StringIO):
    """What a command takes for a terminal."""

    encoding = "utf-8"

    def isatty(self) -> bool:
        return True


def run_command(command: str) -> str:
    """What one `keyhole …` line prints, its errors too; a line break at its end."""
    words = shlex.split(command, comments=True)
    assert words[0] == "keyhole", command
    out = Screen() if "FORCE_COLOR" in os.environ else io.StringIO()
    with redirect_stdout(out), redirect_stderr(io.StringIO() if isinstance(out, Screen) else out):
        try:
            main(words[1:])
        except SystemExit as stop:
            assert not stop.code, f"{command}: {out.getvalue()}"
    return out.getvalue().rstrip("\n") + "\n"


def capture_parser() -> argparse.ArgumentParser:
    """The parser that `keyhole` reads its words with, as it makes it: taken when it begins to read them."""
    taken: list[argparse.ArgumentParser] = []

    def take(parser: argparse.ArgumentParser, *_: object) -> NoReturn:
        taken.append(parser)
        raise SystemExit

    with patch.object(argparse.ArgumentParser, "parse_args", take), suppress(SystemExit):
        main(["demo"])
    return taken[0]


def is_valid_command(command: str) -> bool:
    """Whether the command line takes these words."""
    with redirect_stderr(io.StringIO()):
        try:
            capture_parser().parse_args(shlex.split(command, comments=True)[1:])
        except SystemExit:
            return False
    return True
