"""Prepare a checkout for publishing: `python packaging/publish.py [--tag vX.Y.Z]`.

Writes the owner's name into the published files: `server.json`, the entry in the MCP registry; the comment in README.md
by which the registry verifies the package, and full addresses in place of its relative links, which PyPI cannot
resolve; the addresses in pyproject.toml. If a fault stops the release, prints every fault, writes nothing and exits
with 1.
"""

from __future__ import annotations

import argparse
import re
import sys
import tomllib
from dataclasses import dataclass
from pathlib import Path
from typing import Final

ROOT: Final = Path(__file__).resolve().parents[1]
sys.path[:0] = [str(ROOT / "packaging"), str(ROOT / "server")]

import listings  # noqa: E402 - found through the line above
from keyhole import __version__  # noqa: E402

PLACEHOLDER: Final = "OWNER"
CONTACT_PLACEHOLDER: Final = "security@owner.example"
"""The address in SECURITY.md until the owner has put in one that is read."""
ACCOUNT: Final = re.compile(r"[A-Za-z0-9](?:[A-Za-z0-9-]{0,37}[A-Za-z0-9])?")
"""The name of an account of the code host."""
_LINK: Final = re.compile(r'(?P<before>!?\[(?:[^\[\]]|\[[^\]]*\])*\]\(|srcset=")(?P<path>(?!https?:|#)[^)"\s]+)')
_PICTURE: Final = re.compile(r"\.(?:svg|png)$")


@dataclass(frozen=True, slots=True)
class Owner:
    """The account that publishes Keyhole, and its repository."""

    account: str
    repository: str

    @property
    def home_page(self) -> str:
        """Return the address of the repository."""
        return f"https://github.com/{self.account}/{self.repository}"

    @property
    def server_name(self) -> str:
        """Return the name of the server in the MCP registry, which only this account may publish."""
        return f"io.github.{self.account}/{listings.DISTRIBUTION}"


def read_owner(root: Path = ROOT) -> Owner:
    """Return the owner that packaging/owner.toml names."""
    named = tomllib.loads((root / "packaging" / "owner.toml").read_text("utf-8"))
    return Owner(named["account"], named["repository"])


def find_faults(root: Path, tag: str = "") -> list[str]:
    """Return the faults that stop a release, each with its file. `tag`: that of the release, "" before it has one."""
    owner, version = read_owner(root), re.escape(__version__)
    changes, security = ((root / name).read_text("utf-8") for name in ("CHANGELOG.md", "SECURITY.md"))
    dated = re.search(rf"^## \[{version}\] - \d{{4}}-\d\d-\d\d\n(.*?)(?=^## |\Z)", changes, re.MULTILINE | re.DOTALL)
    faults = {
        f"packaging/owner.toml: account is the placeholder {PLACEHOLDER}": owner.account == PLACEHOLDER,
        f"packaging/owner.toml: {owner.account!r} is no name of an account": not ACCOUNT.fullmatch(owner.account),
        f"SECURITY.md: the contact is the placeholder {CONTACT_PLACEHOLDER}": CONTACT_PLACEHOLDER in security,
        f"CHANGELOG.md: no changes under [{__version__}] with a date": not (dated and dated[1].strip()),
        f"the tag {tag} is not v{__version__}, the version of the package": tag not in ("", f"v{__version__}"),
    }
    return [fault for fault, is_found in faults.items() if is_found]


def prepare(root: Path) -> None:
    """Write the owner's name into the published files of a checkout."""
    owner = read_owner(root)
    entry = {**listings.registry(owner.server_name), "repository": {"url": owner.home_page, "source": "github"}}
    (root / "server.json").write_text(listings.to_json(entry), encoding="utf-8")
    readme, project = root / "README.md", root / "pyproject.toml"
    readme.write_text(published_readme(readme.read_text("utf-8"), owner), encoding="utf-8")
    project.write_text(with_addresses(project.read_text("utf-8"), owner), encoding="utf-8")


def published_readme(text: str, owner: Owner) -> str:
    """Return the README with the name of the server, and with full addresses in place of relative links."""
    version = f"v{__version__}"

    def expand(link: re.Match[str]) -> str:
        path = link["path"]
        raw = f"https://raw.githubusercontent.com/{owner.account}/{owner.repository}/{version}/{path}"
        return link["before"] + (raw if _PICTURE.search(path) else f"{owner.home_page}/blob/{version}/{path}")

    return f"<!-- mcp-name: {owner.server_name} -->\n\n{_LINK.sub(expand, text)}"


def with_addresses(project: str, owner: Owner) -> str:
    """Return pyproject.toml with the table of addresses that PyPI shows."""
    home = owner.home_page
    addresses = {
        "Homepage": home,
        "Documentation": f"{home}/tree/main/docs",
        "Changelog": f"{home}/blob/main/CHANGELOG.md",
        "Issues": f"{home}/issues",
    }
    rows = "".join(f'{name} = "{address}"\n' for name, address in addresses.items())
    return project.replace("[project.scripts]\n", f"[project.urls]\n{rows}\n[project.scripts]\n", 1)


def main() -> int:
    """Prepare this checkout; return the exit status."""
    parser = argparse.ArgumentParser(description="Prepare this checkout for publishing.")
    parser.add_argument("--tag", default="", help="the tag of the release, which must be that of the version")
    faults = find_faults(ROOT, parser.parse_args().tag)
    for fault in faults:
        print(fault, file=sys.stderr)
    if not faults:
        prepare(ROOT)
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
