"""Find out how Keyhole was installed, and which command installs it again, with an extra, or removes it.

Every message that names such a command or an extra takes it from here: the name on the package index may belong to
somebody else, while the installation knows where it came from (direct_url.json, PEP 610).
"""

from __future__ import annotations

import json
import os
import shlex
import sys
from collections.abc import Mapping, Sequence
from importlib.util import find_spec
from pathlib import Path
from types import MappingProxyType
from typing import Any, Final
from urllib.parse import unquote, urlsplit

from keyhole.errors import Code, KeyholeError

PACKAGE: Final = "keyhole-reader"
EXTRAS: Final[Mapping[str, tuple[str, ...]]] = MappingProxyType(
    {
        "office": ("mammoth", "pptx", "openpyxl", "striprtf"),
        "images": ("PIL",),
        "hosted": ("psycopg", "psycopg_pool", "prometheus_client", "opentelemetry.sdk"),
        "semantic": ("onnxruntime", "tokenizers", "numpy"),
    }
)
"""The modules that each extra installs."""

_TEMPORARY_FOLDERS: Final = ("/archive-v0/", "/builds-v0/", "/environments-v2/")
"""Folders of uv's cache in which uvx installs programs for one run; pruning the cache removes them."""


# The extras.


def missing_modules(extra: str) -> list[str]:
    """Return the modules of an extra that are not installed."""
    return [module for module in EXTRAS[extra] if not _is_installed(module)]


def check_extra(extra: str, *, user: str) -> None:
    """Raise KeyholeError (invalid_argument) with the command to run if a module of an extra is not installed.

    `user`: what needs the extra, at the beginning of the message.
    """
    if missing_modules(extra):
        raise KeyholeError(
            Code.INVALID_ARGUMENT, f"{user} needs {name_extra(extra)}", fault=f"the extra [{extra}] is missing"
        )


def name_extra(extra: str) -> str:
    """Return the name of an extra with the command that installs it."""
    return f"Keyhole's extra [{extra}]: {install_command(extra)}"


def _is_installed(module: str) -> bool:
    try:
        return find_spec(module) is not None
    except ModuleNotFoundError:  # without the package around it
        return False


# The commands.


def install_command(extra: str = "") -> str:
    """Return the command that installs this version again, with an extra and those that are installed already.

    `uv tool install` removes the extras that it is not given.
    """
    extras = {name for name in EXTRAS if not missing_modules(name)} | ({extra} if extra else set())
    named = f"[{','.join(sorted(extras))}]" if extras else ""
    source, is_editable = _find_source()
    if is_editable:
        return _join([*_installer("install"), "-e", _folder_of(source) + named])
    return _join([*_installer("install"), f"{PACKAGE}{named}{f' @ {source}' if source else ''}"])


def removal_command() -> str:
    """Return the command that removes the program, and nothing that it has stored."""
    return _join([*_installer("uninstall"), PACKAGE])


def is_temporary(prefix: str) -> bool:
    """Return whether uvx installed the program for one run. `prefix`: the folder of its environment."""
    return any(folder in prefix.replace("\\", "/") + "/" for folder in _TEMPORARY_FOLDERS)


def _installer(verb: str) -> tuple[str, ...]:
    """Return the words of a command of the program that installed this one."""
    prefix = Path(sys.prefix)
    if (prefix / "pipx_metadata.json").exists():
        return "pipx", verb, *(["--force"] if verb == "install" else [])
    if (prefix / "uv-receipt.toml").exists() or is_temporary(sys.prefix):
        return "uv", "tool", verb
    if find_spec("pip"):
        return sys.executable, "-P", "-m", "pip", verb
    return "uv", "pip", verb, "--python", sys.executable


def _join(words: Sequence[str]) -> str:
    if os.name != "nt":
        return shlex.join(words)
    from subprocess import list2cmdline

    return list2cmdline(words)


# The source.


def install_source() -> str:
    """Return the folder, file or repository that the package was installed from, "" for a package index."""
    return _find_source()[0]


def _find_source() -> tuple[str, bool]:
    """Return the source, and whether the program runs from the files of that folder."""
    from importlib.metadata import PackageNotFoundError, distribution  # takes 30 ms

    try:
        origin: Any = json.loads(distribution(PACKAGE).read_text("direct_url.json") or "{}")
    except PackageNotFoundError:
        return Path(__file__).resolve().parents[3].as_uri(), True  # run from a source tree
    except ValueError:
        return "", False
    url = str(origin.get("url", ""))
    if "vcs_info" in origin:
        return f"{origin['vcs_info']['vcs']}+{url}@{origin['vcs_info']['commit_id']}", False
    return url, bool(origin.get("dir_info", {}).get("editable"))


def _folder_of(url: str) -> str:
    path = unquote(urlsplit(url).path)
    return path.removeprefix("/") if os.name == "nt" else path
