"""Run `keyhole models`: list the local models, install, verify or remove one. Check the model for `keyhole doctor`."""

from __future__ import annotations

import argparse
import asyncio
import os
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict, replace
from pathlib import Path
from typing import Final

from keyhole.cli.terminal import Finding, Level, TableColumn, format_size, print_json, print_table
from keyhole.config.config import Config, build_user_agent
from keyhole.config.parsers import http_url
from keyhole.errors import Code, KeyholeError
from keyhole.extensions.models.folder import ModelsFolder
from keyhole.extensions.models.local import load_model
from keyhole.extensions.models.manifest import CATALOGUE, DEFAULT_NAME, Manifest, ModelFile, find_model
from keyhole.fetch.base import Fetcher, FetchOptions
from keyhole.fetch.permission import ANY
from keyhole.runtime.installation import install_command
from keyhole.store.home import has_models, home_folder, open_home
from keyhole.store.sqlite.file import lock_folder

OK, FAILED = 0, 1
_COLUMNS = (
    TableColumn("model", unshortened=True),
    TableColumn("kind"),
    TableColumn("size", right=True),
    TableColumn("licence"),
    TableColumn("state"),
)


def run(config: Config, arguments: argparse.Namespace) -> int:
    """Run one action; return 1 if a model is damaged."""
    home = home_folder(config.home)
    models = ModelsFolder(home)
    if arguments.action == "list":
        return _list(models, config, as_json=arguments.json)
    if arguments.action == "verify":
        return _verify(models, arguments.name, as_json=arguments.json)
    if not arguments.name:
        raise KeyholeError(Code.INVALID_ARGUMENT, f"{arguments.action} needs a name that `keyhole models` lists")
    if arguments.action == "rm":
        models.remove(arguments.name)
        print(f"{arguments.name} was removed.")
        return OK
    open_home(home)
    manifest = _copy(models, arguments) if arguments.source else asyncio.run(_download(models, config, arguments.name))
    return _report_installed(models, manifest, as_json=arguments.json)


def _list(models: ModelsFolder, config: Config, *, as_json: bool) -> int:
    """Print the installed models and those that can be installed by name."""
    installed = {manifest.name: manifest for manifest in models.list()}
    used = _used(models, config)
    known = {**installed, **{name: model for name, model in CATALOGUE.items() if name not in installed}}
    states = {name: _state(manifest, name == used) for name, manifest in known.items()}
    if as_json:
        print_json([{**asdict(each), "state": states[each.name]} for each in known.values()])
        return OK
    rows = [(each.name, each.kind, format_size(each.size), each.licence, states[each.name]) for each in known.values()]
    print_table(_COLUMNS, rows)
    return OK


def _used(models: ModelsFolder, config: Config) -> str:
    try:
        chosen = models.choose(config.model)
    except KeyholeError:
        return ""
    return chosen.name if chosen else ""


def _state(manifest: Manifest, is_used: bool) -> str:
    if not manifest.installed_at:
        return f"keyhole models get {manifest.name}"
    speed = f", {manifest.passage_ms:.3g} ms a passage" if manifest.passage_ms else ""
    return f"{'used' if is_used else 'installed'}{speed}"


def _verify(models: ModelsFolder, name: str | None, *, as_json: bool) -> int:
    """Check the digests of one model, or of all; return 1 if a file is not as it was installed."""
    chosen = [models.find(name)] if name else models.list()
    faults = {manifest.name: list(models.verify(manifest)) for manifest in chosen}
    if as_json:
        print_json([{"name": each, "faults": found} for each, found in faults.items()])
    elif not faults:
        print("No model is installed; `keyhole models` lists those that can be.")
    else:
        for each, found in faults.items():
            print(f"{each}: {'; '.join(found) if found else 'all files have their SHA-256'}")
    return FAILED if any(faults.values()) else OK


@contextmanager
def _installing(models: ModelsFolder, name: str) -> Iterator[None]:
    """Hold the lock of a model's folder. Raises KeyholeError if another process is installing the model."""
    try:
        with lock_folder(models.begin(name), 0.0, exclusive=True):
            yield
    except TimeoutError:
        message = f"another `keyhole models get {name}` is running"
        raise KeyholeError(Code.INVALID_ARGUMENT, message) from None


def _copy(models: ModelsFolder, arguments: argparse.Namespace) -> Manifest:
    from keyhole.extensions.models.folder import Choices, read_hub_folder

    choices = Choices(arguments.kind or "", arguments.weights or "", arguments.query_prefix, arguments.text_prefix)
    folder = Path(arguments.source).expanduser()
    manifest, paths = read_hub_folder(folder, arguments.name, choices)
    with _installing(models, manifest.name):
        return models.add(manifest, paths, time.time())


async def _download(models: ModelsFolder, config: Config, name: str) -> Manifest:
    from keyhole.fetch.client import HttpFetcher

    manifest = find_model(name)
    print(f"{name}: {format_size(manifest.size)}, {manifest.licence}, {manifest.source}", file=sys.stderr)
    # A person asked for this file by name, so robots.txt, which is for crawlers, does not apply.
    fetcher = HttpFetcher(replace(config, robots="off"), build_user_agent(config))
    with _installing(models, name):
        try:
            async with fetcher:
                return await download_model(
                    manifest, models, fetcher, find_hub(os.environ), time.time(), _show_progress
                )
        finally:  # a finished download leaves nothing there
            if received := models.received(manifest):
                had = f"{format_size(received)} of {format_size(manifest.size)}"
                print(f"{had} are here; the same command continues the download.", file=sys.stderr)


def _show_progress(file: str, received: int, size: int) -> None:
    """Show how much of a file is there, on a terminal only."""
    if sys.stderr.isatty():
        end = "\n" if received == size else ""
        print(f"\r{file}: {format_size(received)} of {format_size(size)} ", end=end, file=sys.stderr, flush=True)


def _report_installed(models: ModelsFolder, manifest: Manifest, *, as_json: bool) -> int:
    """Try the model, keep its speed, and say whether it works; return 1 if it does not."""
    try:
        speed = load_model(models.folder_of(manifest.name), manifest).measure_speed()
        manifest = models.record_speed(manifest, speed)
        code, message = OK, f"{manifest.passage_ms:.3g} ms a passage; used from the next start of a server on"
    except KeyholeError as error:
        code, message = FAILED, f"but {error.message}"
    if as_json:
        print_json({**asdict(manifest), "works": code == OK})
    else:
        print(f"{manifest.name} is installed, {message}.")
    return code


# The download of a model in parts, so that an interrupted download continues where it ended. Each part is a fetch of
# its own: it passes the address rules at every hop, and its size and time are limited like those of a page. The
# digests of the manifest tell in the end whether the file is right, wherever it came from.

HUB: Final = "https://huggingface.co"
HUB_VARIABLE: Final = "HF_ENDPOINT"
"""The variable in which the programs of Hugging Face take the address of a mirror."""
PART_BYTES: Final = 8_000_000
"""Bytes of a part: below the default limit of a response (KEYHOLE_MAX_BYTES), and a second on a fast line."""
MAX_FAILURES: Final = 5
"""Failures in a row after which a download ends. The next call continues it."""
PARTIAL_CONTENT: Final = 206

ReportProgress = Callable[[str, int, int], None]
"""Called with the name of a file, the bytes that it has, and its size."""


def find_hub(environment: Mapping[str, str]) -> str:
    """Return the address of Hugging Face, or of the mirror that `HF_ENDPOINT` names.

    Raises KeyholeError (invalid_argument) for a variable that is not a URL.
    """
    address = environment.get(HUB_VARIABLE, "").strip()
    try:
        return http_url(address) if address else HUB
    except ValueError as error:
        raise KeyholeError(Code.INVALID_ARGUMENT, f"{HUB_VARIABLE}={address!r}: {error}") from error


async def download_model(
    manifest: Manifest, models: ModelsFolder, fetcher: Fetcher, hub: str, now: float, report: ReportProgress
) -> Manifest:
    """Download and install a model of the catalogue, and return its manifest with the time.

    `hub`: the scheme and host of Hugging Face or of a mirror. Raises KeyholeError for failures of the network, and
    invalid_argument if a file is not the one that the manifest names.
    """
    part = models.begin(manifest.name)
    for file in manifest.files:
        await _download_file(file, part / file.name, fetcher, f"{hub.rstrip('/')}/{file.url}", report)
    return models.finish(manifest, now)


async def _download_file(file: ModelFile, path: Path, fetcher: Fetcher, url: str, report: ReportProgress) -> None:
    """Append what is missing to a file. Raises the last error after `MAX_FAILURES` in a row."""
    failures = 0
    received = await asyncio.to_thread(_received_bytes, path, file.size)
    while received < file.size:
        report(file.name, received, file.size)
        try:
            body = await _fetch_part(fetcher, url, received, min(received + PART_BYTES, file.size))
        except KeyholeError as error:
            failures += 1
            if failures == MAX_FAILURES or not error.rule.retry:
                raise
            continue
        failures = 0
        await asyncio.to_thread(_append, path, body)
        received += len(body)
    report(file.name, received, file.size)


def _received_bytes(path: Path, size: int) -> int:
    """Return the bytes of a file that an earlier download left. Remove a file that is too long."""
    received = path.stat().st_size if path.exists() else 0
    if received > size:
        path.unlink()
        return 0
    return received


def _append(path: Path, body: bytes) -> None:
    with path.open("ab") as file:
        file.write(body)


async def _fetch_part(fetcher: Fetcher, url: str, start: int, end: int) -> bytes:
    """Return the bytes from `start` up to `end`, or fewer if the connection ended early."""
    page = await fetcher.fetch(url, FetchOptions(ANY, part=(start, end)))
    is_whole = page.status != PARTIAL_CONTENT
    if is_whole and (start or page.cut):
        raise KeyholeError(Code.HTTP_STATUS, "the server does not send parts of a file", url=url)
    if not page.body:
        raise KeyholeError(Code.PROTOCOL_ERROR, "the server sent no bytes", url=url)
    return page.body[: end - start]


# The check of `keyhole doctor`: which model is used, whether its files are whole, and how fast it is.

AREA: Final = "Model"


def check_model(config: Config) -> list[Finding]:
    """Return findings on the local model: its name and speed, or why none is used."""
    home = home_folder(config.home)
    if config.model == "auto" and not has_models(home):
        return [Finding(AREA, "model", Level.NOTE, "none is installed; passages are ranked by their words", _advice())]
    if config.model == "off":
        return [Finding(AREA, "model", Level.NOTE, "off; passages are ranked by their words")]
    models = ModelsFolder(home)
    try:
        manifest = models.choose(config.model)
        if manifest is None:
            return [Finding(AREA, "model", Level.NOTE, "none is installed completely", _advice())]
        if faults := models.verify(manifest):
            fix = f"Install it again: keyhole models get {manifest.name}."
            return [Finding(AREA, "model", Level.FAIL, f"{manifest.name}: {'; '.join(faults)}", fix)]
        speed = load_model(models.folder_of(manifest.name), manifest).measure_speed()
    except KeyholeError as error:
        return [Finding(AREA, "model", Level.FAIL, error.message, "Set KEYHOLE_MODEL=off to do without it.")]
    return [Finding(AREA, "model", Level.OK, f"{manifest.name}, {speed:.3g} ms a passage")]


def _advice() -> str:
    return f"To rank by meaning too: {install_command('semantic')}, then keyhole models get {DEFAULT_NAME}."
