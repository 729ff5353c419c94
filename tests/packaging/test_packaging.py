"""The wheel, the sdist, the bundle and the registry entry match the code and contain the right files."""

from __future__ import annotations

import hashlib
import json
import os
import re
import subprocess
import sys
import tarfile
import tomllib
import zipfile
from pathlib import Path
from typing import Any

import pytest

sys.path.append(str(Path(__file__).resolve().parents[2] / "packaging"))

import bundle
import listings
from keyhole import __version__
from keyhole.config.config import SETTINGS
from keyhole.config.load import parse_config
from keyhole.serve.tools import tool_list

ROOT = Path(__file__).resolve().parents[2]
PROJECT: dict[str, Any] = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
SECRETS = {setting.variable for setting in SETTINGS if setting.secret}


def build(source: Path, out: Path, target: str, seed: str = "0") -> Path:
    """Build a wheel or an sdist as for a release, with the installed build backend."""
    env = {**os.environ, "SOURCE_DATE_EPOCH": "1577836800", "PYTHONHASHSEED": seed}
    command = [sys.executable, "-m", "hatchling", "build", "--target", target, "--directory", str(out)]
    subprocess.run(command, cwd=source, env=env, check=True, capture_output=True, timeout=120)
    (made,) = out.glob("*.whl" if target == "wheel" else "*.tar.gz")
    return made


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return build(ROOT, tmp_path_factory.mktemp("wheel"), "wheel")


@pytest.fixture(scope="module")
def sdist(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return build(ROOT, tmp_path_factory.mktemp("sdist"), "sdist")


def digest(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()


def test_the_wheel_contains_the_package_its_licence_and_the_demo_pages(wheel: Path) -> None:
    names = set(zipfile.ZipFile(wheel).namelist())
    modules = {path.relative_to(ROOT / "server").as_posix() for path in (ROOT / "server").rglob("*.py")}
    demo_pages = {name for name in names if name.startswith("keyhole/fixtures/")}
    dist_info = f"keyhole_reader-{__version__}.dist-info"
    metadata = {
        f"{dist_info}/{name}" for name in ("METADATA", "WHEEL", "RECORD", "entry_points.txt", "licenses/LICENSE")
    }
    data = {
        "keyhole/py.typed",
        "keyhole/extensions/install/opencode_plugin.js", "keyhole/extensions/browser/quiet.js",
        "keyhole/extensions/browser/visible.js", "keyhole/serve/shared/replies.json",
    }  # fmt: skip
    tables = {path.relative_to(ROOT / "server").as_posix() for path in (ROOT / "server").rglob("*.txt")}
    pages = {  # the page that shows what agents read, and the view of a call
        path.relative_to(ROOT / "server").as_posix()
        for path in (ROOT / "server" / "keyhole" / "extensions" / "look").rglob("*")
        if path.suffix in {".html", ".css", ".js", ".svg"}
    }
    manual = {f"keyhole_reader-{__version__}.data/data/share/man/man1/keyhole.1"}
    assert names == modules | demo_pages | metadata | data | tables | pages | manual
    assert {name.split("/")[2] for name in demo_pages} == {
        "inlined-images", "release-notes", "routine-vacuuming", "rust-ownership", "sqlite-wal",
    }  # fmt: skip
    assert "Requires-Python: >=3.11" in zipfile.ZipFile(wheel).read(f"{dist_info}/METADATA").decode()


def test_the_sdist_contains_the_source_without_tests_and_benchmarks(sdist: Path) -> None:
    with tarfile.open(sdist) as archive:
        names = {name.split("/", 1)[1] for name in archive.getnames()}
    assert {name.split("/")[0] for name in names} == {
        "server", "fixtures", "README.md", "CHANGELOG.md", "LICENSE", "pyproject.toml", "PKG-INFO", ".gitignore",
    }  # fmt: skip
    assert not [name for name in names if "__pycache__" in name]
    assert {name.split("/")[1] for name in names if name.startswith("server/")} == {"keyhole", "keyhole.1"}


def test_builds_are_reproducible(wheel: Path, sdist: Path, tmp_path: Path) -> None:
    for target, first in (("wheel", wheel), ("sdist", sdist)):
        assert digest(build(ROOT, tmp_path / target, target, seed="7")) == digest(first)


def test_the_sdist_builds_the_same_wheel_without_the_checkout(wheel: Path, sdist: Path, tmp_path: Path) -> None:
    with tarfile.open(sdist) as archive:
        archive.extractall(tmp_path, filter="data")
    (tree,) = tmp_path.iterdir()
    assert digest(build(tree, tmp_path / "out", "wheel")) == digest(wheel)


def test_the_package_has_both_entry_points() -> None:
    assert PROJECT["scripts"] == {"keyhole": "keyhole.__main__:start", "keyhole-reader": "keyhole.__main__:read"}


def test_every_dependency_has_an_upper_bound() -> None:
    calendar = {"certifi"}  # its versions are dates
    extras = PROJECT["optional-dependencies"]
    wanted = [*PROJECT["dependencies"], *extras["office"], *extras["images"], *extras["hosted"], *extras["semantic"]]
    assert not [need for need in wanted if "<" not in need and re.split(r"[^\w-]", need)[0] not in calendar]


def test_every_extra_that_a_message_names_exists() -> None:
    code = "".join(path.read_text("utf-8") for path in (ROOT / "server").rglob("*.py"))
    groups = re.findall(r"extra \[([\w,]+)\]|(?:check_extra|install_command|name_extra)\(['\"](\w+)['\"]", code)
    named = {extra for group in groups for extra in "".join(group).split(",")}
    assert {"office", "images", "hosted", "semantic"} <= named <= set(PROJECT["optional-dependencies"])


@pytest.mark.parametrize("path", listings.FILES, ids=lambda path: path.name)
def test_a_listing_is_up_to_date(path: Path) -> None:
    assert path.read_text("utf-8") == listings.to_json(listings.FILES[path]()), "run: python packaging/listings.py"


def test_the_registry_entry_is_valid() -> None:
    entry = listings.registry("io.github.someone/keyhole-reader")
    assert len(entry["description"]) <= 100
    assert re.fullmatch(r"[a-zA-Z0-9.-]+/[a-zA-Z0-9._-]+", entry["name"])
    (package,) = entry["packages"]
    assert package["identifier"] == PROJECT["name"]
    assert package["version"] == entry["version"] == __version__
    listed = {variable["name"]: variable for variable in package["environmentVariables"]}
    assert {name for name, variable in listed.items() if variable.get("isSecret")} == SECRETS & set(listed)
    assert len(SECRETS & set(listed)) == 5


def test_the_bundle_asks_for_existing_settings_and_hides_secrets() -> None:
    manifest = listings.manifest()
    env = manifest["server"]["mcp_config"]["env"]
    settings = {f"KEYHOLE_{field.upper()}": setting for field, setting in manifest["user_config"].items()}
    assert env == {name: f"${{user_config.{name.removeprefix('KEYHOLE_').lower()}}}" for name in settings}
    assert {name for name, setting in settings.items() if setting.get("sensitive")} == SECRETS & set(settings)
    defaults = {name: setting["default"] for name, setting in settings.items()}
    assert parse_config(defaults).origins == {}  # an empty value leaves a setting unset


def test_the_bundle_lists_the_tools() -> None:
    manifest = json.loads((ROOT / "packaging" / "mcpb" / "manifest.json").read_text("utf-8"))
    assert manifest["tools"] == [{"name": tool.name, "description": tool.description} for tool in tool_list()]
    assert manifest["manifest_version"] == "0.4"
    assert manifest["server"]["type"] == "uv"


def test_the_bundle_contains_the_source_and_depends_on_everything_but_keyhole(tmp_path: Path) -> None:
    bundle.write_bundle(tmp_path)
    assert {path.name for path in tmp_path.iterdir()} == {
        "manifest.json", "pyproject.toml", "icon.png", "LICENSE", "README.md", "server",
    }  # fmt: skip
    project = tomllib.loads((tmp_path / "pyproject.toml").read_text("utf-8"))
    assert project["project"]["version"] == __version__
    assert set(PROJECT["dependencies"]) < set(project["project"]["dependencies"])
    assert not [need for need in project["project"]["dependencies"] if need.startswith("keyhole")]
    assert not list(tmp_path.rglob("__pycache__"))
    run = [sys.executable, str(tmp_path / "server" / "main.py"), "--help"]
    assert "serve" in subprocess.run(run, cwd=tmp_path, capture_output=True, text=True, check=True, timeout=60).stdout
