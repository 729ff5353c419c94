"""What is published names the owner, and a release is refused while anything is missing."""

from __future__ import annotations

import json
import re
import shutil
import tomllib
from pathlib import Path

import pytest

import publish
from keyhole import __version__
from tests.packaging.test_packaging import ROOT, build

OWNER = publish.Owner("some-one", "keyhole")
NAMING = re.compile(r"OWNER|some-one|github\.com/(?:someone|OWNER)")


def checkout(folder: Path, account: str = "some-one", contact: str = "security@some-one.example") -> Path:
    """Return a copy of the files that a release reads and changes, with an owner and a contact."""
    for name in ("CHANGELOG.md", "SECURITY.md", "README.md", "pyproject.toml", "LICENSE"):
        shutil.copy(ROOT / name, folder)
    for name in ("server", "fixtures", "packaging"):
        shutil.copytree(ROOT / name, folder / name, ignore=shutil.ignore_patterns("__pycache__"))
    owner, security = folder / "packaging" / "owner.toml", folder / "SECURITY.md"
    owner.write_text(re.sub(r'account = ".*"', f'account = "{account}"', owner.read_text()))
    security.write_text(re.sub(r"write\s+to\s+`[^`]*`", f"write to `{contact}`", security.read_text()))
    return folder


def test_a_release_with_an_owner_a_contact_and_a_dated_changelog_has_no_faults(tmp_path: Path) -> None:
    assert publish.find_faults(checkout(tmp_path), f"v{__version__}") == []


def test_the_tree_is_refused_until_the_owner_and_the_contact_are_put_in() -> None:
    faults = publish.find_faults(ROOT)
    assert ("owner.toml" in " ".join(faults)) == (publish.read_owner().account == publish.PLACEHOLDER)
    assert ("SECURITY.md" in " ".join(faults)) == (
        publish.CONTACT_PLACEHOLDER in (ROOT / "SECURITY.md").read_text("utf-8")
    )


@pytest.mark.parametrize(
    ("account", "contact", "tag", "fault"),
    [
        (publish.PLACEHOLDER, "a@b.example", "", "the placeholder OWNER"),
        ("no account!", "a@b.example", "", "is no name of an account"),
        ("some-one", publish.CONTACT_PLACEHOLDER, "", "the contact is the placeholder"),
        ("some-one", "a@b.example", "v99.0.0", "is not v"),
    ],
)
def test_each_fault_is_named(tmp_path: Path, account: str, contact: str, tag: str, fault: str) -> None:
    (found,) = publish.find_faults(checkout(tmp_path, account, contact), tag)
    assert fault in found


def test_changes_without_a_date_are_a_fault(tmp_path: Path) -> None:
    changes = checkout(tmp_path) / "CHANGELOG.md"
    changes.write_text(re.sub(rf"(## \[{re.escape(__version__)}\]) - .*", r"\1", changes.read_text()))
    assert "CHANGELOG.md" in publish.find_faults(tmp_path)[0]


def test_the_published_wheel_is_verified_by_the_registry_and_its_links_are_full(tmp_path: Path) -> None:
    folder = tmp_path / "tree"
    folder.mkdir()
    publish.prepare(checkout(folder))
    entry = json.loads((folder / "server.json").read_text("utf-8"))
    assert entry["name"] == "io.github.some-one/keyhole-reader"
    metadata = build(folder, tmp_path / "out", "sdist")
    assert metadata.exists()
    readme = (folder / "README.md").read_text("utf-8")
    assert readme.startswith(f"<!-- mcp-name: {entry['name']} -->")
    relative = re.findall(r"\]\((?!https?:|#)([^)]+)\)|srcset=\"(?!https?:)", readme)
    assert relative == []
    project = tomllib.loads((folder / "pyproject.toml").read_text("utf-8"))["project"]
    assert project["urls"]["Homepage"] == "https://github.com/some-one/keyhole"


def test_nothing_else_in_the_tree_names_the_owner() -> None:
    texts = [
        path
        for folder in ("server", "docs", "deploy", ".github", "plugins", ".claude-plugin", ".agents", ".cursor-plugin")
        for path in (ROOT / folder).rglob("*")
        if path.suffix in {".md", ".json", ".toml", ".py", ".yml", ".yaml"}
    ]
    naming = [path for path in (*ROOT.glob("*.md"), *texts) if "github.com/OWNER" in path.read_text("utf-8")]
    assert naming == []
