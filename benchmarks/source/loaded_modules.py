"""Record which modules of the package one `keyhole fetch` loads, in the command's process and in its worker."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Final, NamedTuple

from benchmarks.source.imports import ROOT
from keyhole.cli.demo_site import recorded_pages, serve

PATIENCE: Final = 60.0
"""Maximum seconds of the command."""
PAGE: Final = "sqlite-wal"

RECORDER: Final = '''\
import os, sys
from importlib.machinery import PathFinder

class Recorder:
    """Write each module of keyhole that is found to a file named like the process."""

    @staticmethod
    def find_spec(name, path=None, target=None):
        if name.partition(".")[0] != "keyhole":
            return None
        spec = PathFinder.find_spec(name, [SERVER] if path is None else path)
        if spec is not None:
            with open(os.path.join(FOLDER, str(os.getpid())), "a") as file:
                print(name, file=file)
        return spec

sys.meta_path.insert(0, Recorder)
del sys.modules["keyhole"]
import keyhole
'''
"""A module `keyhole` that is imported before the package, records all later imports and replaces itself by the package.

A worker inherits Python's path but no environment variables, and is killed at its end, so that only a module on the
path that writes each name at once records both processes.
"""


class LoadedModules(NamedTuple):
    """The names of the modules that each process loaded."""

    command: frozenset[str]
    worker: frozenset[str]


def record_fetch() -> LoadedModules:
    """Return the modules that `keyhole fetch` of a page on loopback loads. The store is new and has no settings."""
    with serve(recorded_pages()) as port, tempfile.TemporaryDirectory() as scratch:
        recorder, names = Path(scratch, "recorder"), Path(scratch, "names")
        for folder in (recorder / "keyhole", names):
            folder.mkdir(parents=True)
        facts = f"SERVER, FOLDER = {str(ROOT / 'server')!r}, {str(names)!r}\n"
        (recorder / "keyhole" / "__init__.py").write_text(facts + RECORDER, encoding="utf-8")
        environment = {
            **{name: value for name, value in os.environ.items() if not name.startswith("KEYHOLE_")},
            "PYTHONPATH": str(recorder),
            "KEYHOLE_CONFIG": "off",
            "KEYHOLE_HOME": str(Path(scratch, "home")),
            "KEYHOLE_ALLOW_PRIVATE": f"127.0.0.1:{port}",
        }
        command = [sys.executable, "-P", "-m", "keyhole", "fetch", f"http://127.0.0.1:{port}/{PAGE}", "--json"]
        run = subprocess.run(command, env=environment, cwd=scratch, capture_output=True, timeout=PATIENCE)
        if run.returncode:
            raise RuntimeError(f"the fetch failed: {run.stderr[-1_000:]!r}")
        processes = [frozenset(file.read_text("utf-8").split()) for file in names.iterdir()]
        worker, own = sorted(processes, key=lambda modules: "keyhole.__main__" in modules)
        return LoadedModules(own, worker)
