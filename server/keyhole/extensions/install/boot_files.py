"""Write the small programs that clients register: they start Keyhole faster than its installed scripts.

They run Python without its `site` module and without the environment's Python settings (-I -S). They stay in the home
folder when the installation is removed or its Python is replaced. A hook then succeeds without a word, so that the
client goes on; a server says what is missing.
"""

from __future__ import annotations

import os
import shlex
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Final

import keyhole
from keyhole.config.folders import home_folder
from keyhole.extensions.install.entries import PROGRAM, SCRIPT
from keyhole.store.private_files import make_private_folder

FOLDER: Final = "bin"
"""The folder of the programs, in the home folder."""
FUNCTIONS: Final = {PROGRAM: "start", SCRIPT: "start_reader"}
"""The function of `keyhole.__main__` that each program runs."""
MODE: Final = 0o700

# A shell script and a Python program in one: for Python, the lines of the shell are a string. So the path of the
# interpreter may be long and have spaces, unlike in the first line, and may be missing.
_TEXT: Final = """\
#!/bin/sh
# Written by `keyhole install`.
''''[ -x {python} ] && exec {python} -I -S "$0" "$@"
[ "$1" = hook ] && exit 0
echo {name}: {python} is missing\\; install keyhole-reader again and run: keyhole install >&2
exit 127 #'''
import sys
sys.path.append({folder!r})
try:
    from keyhole.__main__ import {function}
except ImportError:
    import site
    site.main()
    try:
        from keyhole.__main__ import {function}
    except ImportError:
        if sys.argv[1:2] == ["hook"]:
            sys.exit()
        sys.exit("{name}: Keyhole is missing; install keyhole-reader again and run: keyhole install")
{function}()
"""


def boot_folder(environment: Mapping[str, str]) -> Path | None:
    """Return the folder of the programs, None on a system without POSIX shells."""
    return Path(home_folder(environment)).absolute() / FOLDER if os.name == "posix" else None


def boot_text(name: str, python: str) -> str:
    """Return the text of a program that runs this installation with an interpreter."""
    folder = str(Path(keyhole.__file__).resolve().parents[1])
    return _TEXT.format(name=name, python=shlex.quote(python), folder=folder, function=FUNCTIONS[name])


def write_boot_files(folder: Path, python: str) -> None:
    """Write both programs, unless they are there. Raises OSError."""
    make_private_folder(folder)
    for name in FUNCTIONS:
        path, text = folder / name, boot_text(name, python)
        if _read(path) != text or not os.access(path, os.X_OK):
            temporary = path.with_name(f".{name}-{os.getpid()}")
            temporary.write_text(text, encoding="utf-8")
            with suppress(OSError):  # a file system without modes, where all files can be executed
                temporary.chmod(MODE)
            temporary.replace(path)


def is_written(folder: Path, python: str) -> bool:
    """Return whether both programs are there and run this installation."""
    return all(_read(folder / name) == boot_text(name, python) for name in FUNCTIONS)


def _read(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8")
    except (OSError, ValueError):
        return ""
