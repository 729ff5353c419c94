"""Run `keyhole uninstall`: remove Keyhole from one client, or list and remove everything that it wrote.

Files that Keyhole did not write stay. So do the settings file, which is the user's, and the program itself.
"""

from __future__ import annotations

import argparse
import os
import shutil
import sys
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from keyhole.cli.commands import build_parser
from keyhole.cli.server_command import stop_servers
from keyhole.cli.terminal import format_size
from keyhole.config.config import Config
from keyhole.config.folders import settings_file
from keyhole.config.load import load_config
from keyhole.errors import Code, KeyholeError
from keyhole.extensions.install import commands, discover, files
from keyhole.extensions.install.clients import CLIENTS, Machine
from keyhole.runtime.installation import removal_command
from keyhole.serve.shared.address import shared_folder
from keyhole.store.home import MODELS_FOLDER, foreign_files, home_folder


@dataclass(frozen=True, slots=True)
class Removal:
    """Something to remove from `path`. `remove` does it, and returns why it could not, or ""."""

    path: Path
    name: str
    remove: Callable[[], str]


def run(config: Config, arguments: argparse.Namespace) -> int:
    """Remove Keyhole from a client, or everything; return 1 if a part stays or the person declines."""
    flags = [*(["--dry-run"] if arguments.dry_run else []), *(["--yes"] if arguments.yes else [])]
    if arguments.client:
        return commands.run(config, _install_arguments(arguments.client, "--uninstall", *flags))
    if not arguments.all:
        raise KeyholeError(Code.INVALID_ARGUMENT, "name a client, or give --all")
    removals = list(find_removals(discover.this_machine(), _home()))
    for each in removals:
        print(f"{each.name}: {each.path}")
    if not removals:
        print("Keyhole has written nothing here.")
    elif not arguments.dry_run and not (arguments.yes or _confirm()):
        print("keyhole: nothing was removed", file=sys.stderr)
        return commands.FAILED
    is_failed = bool(removals) and not arguments.dry_run and not _remove_all(removals)
    if (settings := settings_file(os.environ)) and Path(settings).exists():
        print(f"Your settings file stays: {settings}")
    print(f"The program stays; this command removes it: {removal_command()}")
    return commands.FAILED if is_failed else commands.OK


def find_removals(machine: Machine, home: Path) -> Iterator[Removal]:
    """Yield what Keyhole has written for a user, in the order in which it can be removed."""
    for each in discover.find_proxied(machine):
        yield Removal(
            each.path,
            f"proxy before {each.name}, {each.client.title}",
            partial(_change, each.client.name, "--unwrap", each.name),
        )
    for client in CLIENTS.values():
        edits = [] if client.format == "yaml" else commands.find_edits(client, machine, _install_arguments(client.name))
        for path in sorted({edit.path for edit in edits if edit.path}):
            if any(_is_needed(edit) for edit in edits if edit.path == path):
                yield Removal(path, f"entry or hook, {client.title}", partial(_change, client.name, "--uninstall"))
            elif not files.list_backups(path):
                continue
            yield Removal(path, f"backups, {client.title}", partial(_remove_backups, path))
    if home.is_dir() and (names := foreign_files(home)):
        fault = f"it has files that Keyhole did not write, so nothing in it is removed: {', '.join(names[:5])}"
        yield Removal(home, "data folder", lambda: fault)
    elif home.is_dir():
        models = home / MODELS_FOLDER
        models_size = f", of which models {format_size(_size(models))}" if models.is_dir() else ""
        name = f"data folder with the stored pages, outputs and calls, {format_size(_size(home))}{models_size}"
        yield Removal(home, name, lambda: _remove_home(home))


def _remove_all(removals: list[Removal]) -> bool:
    """Remove everything, and return whether it succeeded. After a fault, the rest of the same path stays."""
    stop_servers(shared_folder(os.environ))
    faults: dict[Path, str] = {}
    for each in removals:
        if each.path in faults:
            continue
        try:
            fault = each.remove()
        except OSError as error:
            fault = error.strerror or str(error)
        if fault:
            faults[each.path] = fault
            print(f"keyhole: {each.path}: {fault}", file=sys.stderr)
        else:
            print(f"removed: {each.name}")
    return not faults


def _install_arguments(*words: str) -> argparse.Namespace:
    """Return the arguments of `keyhole install`."""
    arguments: argparse.Namespace = build_parser().parse_args(["install", *words])
    return arguments


def _change(*words: str) -> str:
    """Change the files of a client as `keyhole install` does, and return the faults."""
    changes = commands.change_files(_install_arguments(*words, "--json"))
    return "; ".join(change.message for change in changes if change.state == "refused")


def _is_needed(edit: commands.FileEdit) -> bool:
    arguments = _install_arguments(edit.client.name, "--uninstall", "--dry-run", "--json")
    return commands.try_change(edit, arguments).state != "unchanged"


def _remove_backups(path: Path) -> str:
    files.remove_backups(files.list_backups(path))
    return "a backup could not be deleted" if files.list_backups(path) else ""


def _remove_home(home: Path) -> str:
    for path in home.iterdir():
        if path.is_dir() and not path.is_symlink():
            shutil.rmtree(path)
        else:
            path.unlink()
    home.rmdir()
    return ""


def _home() -> Path:
    with suppress(KeyholeError):  # a wrong setting
        return home_folder(load_config(os.environ).home)
    return home_folder(None)


def _size(folder: Path) -> int:
    return sum(path.lstat().st_size for path in folder.rglob("*") if not path.is_dir())


def _confirm() -> bool:
    """Ask at the terminal. Raises KeyholeError (invalid_argument) if there is none."""
    if not sys.stdin.isatty():
        raise KeyholeError(Code.INVALID_ARGUMENT, "nothing was removed; add --yes to confirm")
    return input("Remove all of this? [y/N] ").strip().lower() in {"y", "yes"}
