"""Run `keyhole models`: list the local models, install, verify or remove one."""

from __future__ import annotations

import argparse
import asyncio
import sys
import time
from dataclasses import asdict, replace
from pathlib import Path

from keyhole.cli.table import Column, format_size, print_json, print_table
from keyhole.config.config import Config, build_user_agent
from keyhole.errors import Code, KeyholeError
from keyhole.extensions.models.catalogue import CATALOGUE, find_model
from keyhole.extensions.models.download import download_model
from keyhole.extensions.models.folder import ModelsFolder
from keyhole.extensions.models.inference import Inference
from keyhole.extensions.models.manifest import Manifest
from keyhole.store.home import home_folder, open_home

OK, FAILED = 0, 1
_COLUMNS = (
    Column("model", unshortened=True),
    Column("kind"),
    Column("size", right=True),
    Column("licence"),
    Column("state"),
)


def run(config: Config, arguments: argparse.Namespace) -> int:
    """Run one action; return 1 if a model is damaged."""
    home = home_folder(config.home)
    models = ModelsFolder(home)
    if arguments.action == "list":
        return _list(models, config, as_json=arguments.json)
    if arguments.action == "verify":
        return _verify(models, arguments.name)
    if not arguments.name:
        raise KeyholeError(Code.INVALID_ARGUMENT, f"`keyhole models {arguments.action}` needs the name of a model")
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
    speed = f", {manifest.passage_ms:.0f} ms a passage" if manifest.passage_ms else ""
    return f"{'used' if is_used else 'installed'}{speed}"


def _verify(models: ModelsFolder, name: str | None) -> int:
    """Check the digests of one model, or of all; return 1 if a file is not as it was installed."""
    chosen = [models.find(name)] if name else models.list()
    code = OK
    for manifest in chosen:
        faults = models.verify(manifest)
        print(f"{manifest.name}: {'; '.join(faults) if faults else 'all files have their SHA-256'}")
        code = FAILED if faults else code
    if not chosen:
        print("No model is installed; `keyhole models` lists those that can be.")
    return code


def _copy(models: ModelsFolder, arguments: argparse.Namespace) -> Manifest:
    from keyhole.extensions.models.hub_folder import Choices, read_hub_folder

    choices = Choices(arguments.kind or "", arguments.weights or "", arguments.query_prefix, arguments.text_prefix)
    folder = Path(arguments.source).expanduser()
    manifest, paths = read_hub_folder(folder, arguments.name, choices)
    return models.add(manifest, paths, time.time())


async def _download(models: ModelsFolder, config: Config, name: str) -> Manifest:
    from keyhole.fetch.client import HttpFetcher

    manifest = find_model(name)
    print(f"{name}: {format_size(manifest.size)}, {manifest.licence}, {manifest.source}", file=sys.stderr)
    # A person asked for this file by name, so robots.txt, which is for crawlers, does not apply.
    async with HttpFetcher(replace(config, robots="off"), build_user_agent(config)) as fetcher:
        return await download_model(manifest, models, fetcher, config.model_hub, time.time(), _show_progress)


def _show_progress(file: str, received: int, size: int) -> None:
    """Show how much of a file is there, on a terminal only."""
    if sys.stderr.isatty():
        end = "\n" if received == size else ""
        print(f"\r{file}: {format_size(received)} of {format_size(size)} ", end=end, file=sys.stderr, flush=True)


def _report_installed(models: ModelsFolder, manifest: Manifest, *, as_json: bool) -> int:
    """Try the model, keep its speed, and say whether it works; return 1 if it does not."""
    try:
        inference = Inference(models.folder_of(manifest.name), manifest)
        manifest = models.record_speed(manifest, inference.measure_speed())
        code, message = OK, f"{manifest.passage_ms:.0f} ms a passage; used from the next start of a server on"
    except KeyholeError as error:
        code, message = FAILED, f"but {error.message}"
    if as_json:
        print_json({**asdict(manifest), "works": code == OK})
    else:
        print(f"{manifest.name} is installed, {message}.")
    return code
