"""Find the running program, the clients on this machine, and their entries and hooks. Nothing is changed."""

from __future__ import annotations

import os
import shutil
import sys
import sysconfig
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path

from keyhole._version import __version__
from keyhole.errors import KeyholeError
from keyhole.extensions.install import edit, files
from keyhole.extensions.install.clients import (
    CLIENTS,
    PROGRAM,
    SCRIPT,
    Machine,
    McpClient,
    Server,
    is_keyhole,
    parse_entry,
)
from keyhole.extensions.install.files import boot_folder, is_written, write_boot_files
from keyhole.extensions.install.hooks import HOOK_CLIENTS, Hook, HookClient, find_hooks
from keyhole.extensions.install.wrap import Wrapped, find_wrapped
from keyhole.runtime.installation import install_source, is_temporary


@dataclass(frozen=True, slots=True)
class Registration:
    """A client and its entry for Keyhole.

    `found`: True if the client is on this machine. `state`: "-" (not registered), "registered", "other copy" (of
    Keyhole), "address" (a server with a URL), "name taken" (by another server), "unreadable" or "by hand" (Keyhole
    cannot edit the file).
    """

    client: McpClient
    path: Path
    found: bool
    state: str
    server: Server | None = None
    fault: str = ""


@dataclass(frozen=True, slots=True)
class Proxied:
    """A server in a client's file that runs behind the proxy."""

    client: McpClient
    path: Path
    name: str
    server: Server
    wrapped: Wrapped


@dataclass(frozen=True, slots=True)
class HookFile:
    """A client's file of hooks, with the hooks of Keyhole in it. `found`: True if the client is on this machine.

    `scope`: "user" or "project".
    """

    hooks: HookClient
    path: Path
    found: bool
    ours: tuple[Hook, ...] = ()
    text: str = ""
    fault: str = ""
    scope: str = "user"

    def state(self, programs: Sequence[Sequence[str]], platform: str) -> str:
        """Return "-", "registered", "other copy" or "unreadable". `programs`: see `these_programs`."""
        if self.fault or not self.ours:
            return "unreadable" if self.fault else "-"
        ours = {self.hooks.line(words, platform).program for words in programs}
        return "registered" if all(hook.line.program in ours for hook in self.ours) else "other copy"


def this_machine() -> Machine:
    """Return the machine that this process runs on."""
    return Machine(sys.platform, Path.home(), Path.cwd(), os.environ)


def this_installation(*, boots: bool | None = None) -> Installation:
    """Return the installation that this process runs from.

    `boots`: True for the programs of `write_boot_files`, False for the scripts, None for the former if they exist.
    """
    suffix = ".exe" if os.name == "nt" else ""
    uv = os.environ.get("UV", "")  # uvx passes its own path to the programs that it starts
    beside_uv = str(Path(uv).with_name("uvx" + suffix)) if uv else None
    uvx = shutil.which("uvx") or (beside_uv and shutil.which(beside_uv)) or ""
    script, program = _find_script(SCRIPT + suffix), _find_script(PROGRAM + suffix)
    installed = Installation(sys.executable, script, sys.prefix, __version__, install_source(), uvx, program)
    folder = boot_folder(os.environ)
    if boots is None:
        boots = folder is not None and is_written(folder, sys.executable)
    return _with_boot_files(installed, folder) if boots else installed


def _with_boot_files(installation: Installation, folder: Path | None) -> Installation:
    """Return the installation with the programs of `write_boot_files`, unless this system has none."""
    if folder is None:
        return installation
    return replace(installation, script=str(folder / SCRIPT), program=str(folder / PROGRAM))


def _these_installations() -> tuple[Installation, Installation]:
    """Return this installation with the programs registered now, and with those that earlier versions registered."""
    installed = this_installation(boots=False)
    return _with_boot_files(installed, boot_folder(os.environ)), installed


def prepare_programs() -> None:
    """Write the programs that clients run, unless uvx started this process for one run. Raises OSError."""
    folder = boot_folder(os.environ)
    if folder and not is_temporary(sys.prefix):
        write_boot_files(folder, sys.executable)


def these_servers() -> list[Server]:
    """Return the commands that start this installation's server: the one registered now, and earlier forms."""
    return [this_server(each) for each in _these_installations()]


def these_programs() -> list[tuple[str, ...]]:
    """Return the command lines that start this installation: the one registered now, and earlier forms."""
    return [this_program(each) for each in _these_installations()]


def _find_script(name: str) -> str:
    """Return the path of a script of this installation, or ""."""
    paths = [Path(sys.executable).with_name(name), Path(sysconfig.get_path("scripts")) / name]
    return next((str(path) for path in paths if os.access(path, os.X_OK)), "")


def config_path(client: McpClient, machine: Machine, scope: str = "user") -> Path | None:
    """Return the client's configuration file; None if the scope is "project" and the client has no such file."""
    if scope == "project":
        return machine.project / client.project if client.project else None
    paths = client.user_paths(machine)
    return next((path for path in paths if _try_test(path.exists)), paths[0])


def find_registrations(machine: Machine, name: str) -> list[Registration]:
    """Return the registration of every client in the table, in its order. `name`: name of the entry."""
    these = these_servers()
    return [_find_registration(client, machine, name, these) for client in CLIENTS.values()]


def _find_registration(client: McpClient, machine: Machine, name: str, these: Sequence[Server]) -> Registration:
    path = config_path(client, machine)
    assert path is not None  # noqa: S101 - for the type checker; every client has a file of the user
    found = _is_found(client, machine, path)
    if client.format == "yaml":
        return Registration(client, path, found, "by hand")
    try:
        content = files.read(path)
        entry = edit.find_entry(client, content.decode("utf-8"), name) if content else None
    except (OSError, ValueError, KeyholeError) as error:
        return Registration(client, path, found, "unreadable", fault=_reason(error))
    if entry is None:
        return Registration(client, path, found, "-")
    server = parse_entry(client.shape, entry)
    return Registration(client, path, found, _entry_state(server, these), server)


def find_proxied(machine: Machine) -> list[Proxied]:
    """Return the servers in the user's files that run behind the proxy. Files that cannot be read are skipped."""
    found = []
    for client in CLIENTS.values():
        path = config_path(client, machine)
        if client.format != "yaml" and path is not None:
            with suppress(OSError, ValueError, KeyholeError):
                text = (files.read(path) or b"").decode("utf-8")
                found += [
                    Proxied(client, path, name, server, wrapped)
                    for name in edit.list_entries(client, text)
                    if (server := parse_entry(client.shape, edit.find_entry(client, text, name) or {}))
                    and (wrapped := find_wrapped(server))
                ]
    return found


def find_hook_files(machine: Machine) -> list[HookFile]:
    """Return the user's file of hooks for each client that runs hooks, in the order of the table."""
    return [_find_hook_file(hooks, machine) for hooks in HOOK_CLIENTS.values()]


def find_project_hook_files(machine: Machine) -> list[HookFile]:
    """Return the files of the current folder with hooks of Keyhole, in the order of the table."""
    found = [_find_hook_file(hooks, machine, "project") for hooks in HOOK_CLIENTS.values()]
    return [file for file in found if file.ours and file.path != config_path(file.hooks.client, machine)]


def _find_hook_file(hooks: HookClient, machine: Machine, scope: str = "user") -> HookFile:
    path = config_path(hooks.client, machine, scope)
    server_path = config_path(CLIENTS[hooks.client.name], machine)
    assert path is not None and server_path is not None  # noqa: S101 - for the type checker; hooks have both
    found = _is_found(hooks.client, machine, path) or _is_found(hooks.client, machine, server_path)
    try:
        content = files.read(path)
        text = content.decode("utf-8") if content else ""
        return HookFile(hooks, path, found, tuple(find_hooks(hooks, text)), text, scope=scope)
    except (OSError, ValueError, KeyholeError) as error:
        return HookFile(hooks, path, found, fault=_reason(error), scope=scope)


def _reason(error: OSError | ValueError | KeyholeError) -> str:
    """Return why a file cannot be read."""
    if isinstance(error, KeyholeError):
        return error.message
    return (isinstance(error, OSError) and error.strerror) or str(error)


def _is_found(client: McpClient, machine: Machine, path: Path) -> bool:
    """Return True if the file, its folder or the client's program exists. The user's home folder always exists."""
    has_folder = path.parent not in (machine.home, machine.home.parent) and _try_test(path.parent.is_dir)
    return _try_test(path.exists) or has_folder or bool(client.program and shutil.which(client.program))


def _try_test(test: Callable[[], bool]) -> bool:
    """Return the result of a test such as `path.exists`; False if the path is not accessible or not valid."""
    try:
        return test()
    except (OSError, ValueError):
        return False


def _entry_state(server: Server, these: Sequence[Server]) -> str:
    if server.url:
        return "address"
    if any((server.command, server.args) == (this.command, this.args) for this in these):
        return "registered"
    return "other copy" if is_keyhole(server) else "name taken"


# The commands to register, of the server and of hooks. They must start this installation. The absolute path of the
# installed script is registered. A bare `keyhole-reader` needs the PATH of a shell, which clients do not read. `uvx
# keyhole-reader` starts the version on the package index.


@dataclass(frozen=True, slots=True)
class Installation:
    """The installation that this process runs from.

    `python`: the interpreter; `script`: the path of keyhole-reader, or ""; `prefix`: the environment's folder;
    `source`: the folder, file or repository that the package was installed from, or "" for a package index;
    `uvx`: the path of uvx, or ""; `program`: the path of keyhole, or "".
    """

    python: str
    script: str
    prefix: str
    version: str
    source: str = ""
    uvx: str = ""
    program: str = ""


def this_server(installation: Installation) -> Server:
    """Return the command that starts this installation, without settings."""
    if is_temporary(installation.prefix):
        package = (
            ("--from", installation.source, SCRIPT) if installation.source else (f"{SCRIPT}@{installation.version}",)
        )
        return Server(installation.uvx or "uvx", package)
    if installation.script:
        return Server(installation.script)
    return Server(installation.python, ("-P", "-m", "keyhole", "serve"))


def this_program(installation: Installation) -> tuple[str, ...]:
    """Return the words that start `keyhole` of this installation; the name of a command follows them."""
    if is_temporary(installation.prefix):
        package = installation.source or f"{SCRIPT}@{installation.version}"
        return installation.uvx or "uvx", "--from", package, PROGRAM
    return (installation.program,) if installation.program else (installation.python, "-P", "-m", PROGRAM)
