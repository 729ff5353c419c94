"""Check a release, all but the uploads, without a network: `make release-check [OWNER=…] [CONTACT=…] [TAG=vX.Y.Z]`.

Works on a copy of the tree, in which OWNER and CONTACT take the places of what is not put in yet. Builds what is
published as the release workflow does, and installs it into a clean environment. Prints each check, then the steps
left to a person, and exits with 1 if a check failed, or if TAG is given while something is left.
"""

from __future__ import annotations

import os
import re
import shutil
import sys
import tempfile
import venv
import zipfile
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Final

ROOT: Final = Path(__file__).resolve().parents[1]
sys.path[:0] = [str(ROOT / "packaging"), str(ROOT / "server"), str(ROOT)]

import listings  # noqa: E402 - found through the line above
import publish  # noqa: E402
from keyhole import __version__  # noqa: E402
from tests.clients.distributions import build_alike, environment, run, single_file  # noqa: E402
from tests.clients.npm import cache_folder  # noqa: E402
from tests.clients.steps import Steps  # noqa: E402
from tests.clients.wheel_install import run_printed_command  # noqa: E402

STAND_IN: Final = "security@stand-in.example"
"""A contact with which the other checks can run while there is none."""


def copy_tree(folder: Path, account: str, contact: str) -> list[str]:
    """Copy the files that git tracks, put owner and contact in, and return the faults of the tree itself."""
    names = run(["git", "ls-files", "-z"], ROOT)
    for name in filter(None, names.split("\0")):
        if (ROOT / name).is_file():
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(ROOT / name, folder / name)
    left = publish.find_faults(ROOT)
    owner, security = folder / "packaging" / "owner.toml", folder / "SECURITY.md"
    if account:
        owner.write_text(re.sub(r'(?m)^account = ".*"', f'account = "{account}"', owner.read_text("utf-8")), "utf-8")
    security.write_text(security.read_text("utf-8").replace(publish.CONTACT_PLACEHOLDER, contact or STAND_IN), "utf-8")
    return left


def build(tree: Path, folder: Path) -> Path:
    """Build sdist and wheel with the locked backend, as the workflow does; return their folder."""
    hatchling = [sys.executable, "-m", "hatchling", "build", "--directory"]
    return build_alike(tree, folder, hatchling, hatchling, ["--target", "wheel"])


def check_metadata(built: Path, owner: publish.Owner) -> None:
    """Check what the registry reads on PyPI: the version, and the name of the server in the README."""
    wheel = zipfile.ZipFile(single_file(built, "*.whl"))
    metadata = wheel.read(next(name for name in wheel.namelist() if name.endswith("/METADATA"))).decode()
    assert f"mcp-name: {owner.server_name}" in metadata, "the README has no mcp-name"
    assert f"\nVersion: {__version__}\n" in metadata, metadata[:200]
    assert f"Project-URL: Homepage, {owner.home_page}" in metadata, metadata[:500]


def install(built: Path, folder: Path) -> None:
    """Install the wheel into a clean environment, with the dependencies of this one; run its commands and a client."""
    venv.create(folder, with_pip=True)
    python = folder / "bin" / "python"
    # No index is reachable, so the environment sees the locked dependencies of this one, but not its own Keyhole.
    (site,) = (folder / "lib").glob("python*/site-packages")
    (own,) = (Path(sys.prefix) / "lib").glob("python*/site-packages")
    (site / "locked.pth").write_text(f"{own}\n", "utf-8")
    quiet = ["--quiet", "--disable-pip-version-check", "--no-index", "--no-deps"]
    run([python, "-m", "pip", "install", *quiet, single_file(built, "*.whl")], folder)
    env = environment(KEYHOLE_HOME=str(folder / "home"), KEYHOLE_CONFIG="off", HOME=str(folder))
    keyhole = folder / "bin" / "keyhole"
    assert __version__ in run([keyhole, "--version"], folder, env)
    assert "[end]" in run([keyhole, "demo"], folder, env)
    run([keyhole, "doctor", "--offline"], folder, env)
    run_printed_command(python, folder, {**env, "PIP_NO_INDEX": "1"})


def find_program(name: str) -> Path | None:
    """Return a program of the cache of clients, None if it is not there."""
    return next(iter(sorted(cache_folder().glob(f"*/node_modules/.bin/{name}"))), None)


def pack_bundle(program: Path, tree: Path) -> None:
    """Write the bundle, and pack it."""
    bundle = tree / "build" / "bundle"
    run([sys.executable, tree / "packaging" / "bundle.py", bundle], tree)
    run([program, "validate", bundle / "manifest.json"], tree)
    run([program, "pack", bundle, tree / "build" / "keyhole.mcpb"], tree)


def check_plugins(program: Path, tree: Path) -> None:
    """Validate the marketplace and the plugin."""
    for path in (tree, tree / "plugins" / "keyhole"):
        run([program, "plugin", "validate", "--strict", path], tree)


def check_files(tree: Path) -> None:
    """Run the tests of what is published: listings, plugins, workflows, Containerfile, compose and Kubernetes files."""
    run([sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "tests/packaging"], tree)


def main() -> int:
    """Run all checks, print what is left, and return the exit status."""
    account, contact, tag = (os.environ.get(name, "").strip() for name in ("OWNER", "CONTACT", "TAG"))
    steps = Steps()
    with tempfile.TemporaryDirectory(prefix="keyhole-release-") as name:
        folder, tree = Path(name), Path(name) / "tree"
        left = copy_tree(tree, account, contact)
        faults = publish.find_faults(tree, tag)
        steps.run("owner, contact, version, tag and changelog", lambda: _none(faults))
        steps.run("files that are published, by their tests", lambda: check_files(tree))
        if not faults:
            owner = publish.read_owner(tree)
            steps.run("the owner is written into what is published", lambda: publish.prepare(tree))
            built = steps.run("sdist and wheel: two builds have the same bytes", lambda: build(tree, folder))
            if built:
                steps.run("the registry can verify the package", lambda: check_metadata(built, owner))
                steps.run("the wheel works in a clean environment", lambda: install(built, folder / "clean"))
        for title, program, check in (("bundle", "mcpb", pack_bundle), ("plugins", "claude", check_plugins)):
            if found := find_program(program):
                steps.run(f"{title}: valid for the clients' own program", partial(check, found, tree))
            else:
                steps.skip(title, f"{program} is not on this machine; `python -m tests.clients.release` installs it")
    status = steps.finish()
    print_left(left, account)
    return 1 if status or (tag and left) else 0


def _none(faults: Sequence[str]) -> None:
    assert not faults, "; ".join(faults)


def print_left(left: Sequence[str], account: str) -> None:
    """Print the steps that only a person can take."""
    repository = publish.Owner(account or publish.PLACEHOLDER, publish.read_owner().repository)
    tasks = [
        *(f"in the tree: {fault}" for fault in left),
        f"once, on PyPI: trust {repository.home_page}, workflow release.yml, environment release",
        "once, at the repository: the environment release, with the people who approve a release",
        f"then: git tag v{__version__} && git push origin v{__version__}",
    ]
    print("\nLeft to do:")
    for task in tasks:
        print(f"- {task}")
    print(f"The workflow then publishes {listings.DISTRIBUTION}, the image, the bundle and the registry's entry.")


if __name__ == "__main__":
    sys.exit(main())
