"""Tell which part of the web belongs to the owner of an address: a host, or a folder of a host that owners share.

On a forge, a package registry or a host of users' pages, the pages of one owner say nothing about those of another.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final
from urllib.parse import unquote

_SHARED_HOSTS: Final = {
    "github.com": 1, "raw.githubusercontent.com": 1, "gist.github.com": 1, "gist.githubusercontent.com": 1,
    "gitlab.com": 1, "codeberg.org": 1, "bitbucket.org": 1, "gitee.com": 1, "git.sr.ht": 1, "launchpad.net": 1,
    "sourceforge.net": 2, "api.github.com": 3, "huggingface.co": 1, "kaggle.com": 2, "npmjs.com": 2, "unpkg.com": 1,
    "cdn.jsdelivr.net": 2, "pypi.org": 2, "crates.io": 2, "docs.rs": 1, "rubygems.org": 2, "packagist.org": 2,
    "pkg.go.dev": 2, "hub.docker.com": 2, "medium.com": 1, "dev.to": 1, "reddit.com": 2, "old.reddit.com": 2,
    "sites.google.com": 2, "docs.google.com": 3, "drive.google.com": 3, "storage.googleapis.com": 1,
    "s3.amazonaws.com": 1, "archive.org": 2, "codepen.io": 1, "hackmd.io": 1,
}  # fmt: skip
"""How many segments of a path name the owner, by host without `www.`: github.com/ANN, pypi.org/project/NAME."""
_SCOPED_PACKAGES: Final = frozenset({"npmjs.com", "unpkg.com", "cdn.jsdelivr.net"})
"""Hosts of npm's packages. The name of a package with a scope, `@scope/name`, has two segments."""
_PERSONAL: Final = ("~", "@")
"""How the first segment of a user's pages begins on hosts of any program, as in /~ann/ and /@ann/."""
_GITLAB: Final = "-"
"""The segment after the project in addresses of GitLab on any host, whose first segment names a user or a group."""
_APIS: Final[dict[tuple[str, ...], int]] = {("api", "v4", "projects"): 4, ("api", "v1", "repos"): 5}
"""How many segments name a project in the API of GitLab, and a repository in that of Gitea, on any host."""
_DEFAULT_PORT = re.compile(r":(?:80|443)$")
_MAX_DECODINGS: Final = 3
"""Times that an address is decoded to find hidden segments. Servers decode once, and proxies before them once more."""


@dataclass(frozen=True, slots=True)
class Place:
    """A folder of a site and all that is in it. `site`: host and port, without `www.` and the usual ports."""

    site: str
    folder: tuple[str, ...] = ()
    """The segments of the path in lower case; none for the whole site."""

    def contains(self, url: str) -> bool:
        """Return True if an absolute address, under http or https, is in this place."""
        return self.includes(Place(*_split(url))) and not hides_segments(url)

    def includes(self, other: Place) -> bool:
        """Return True if another place is this one or a folder in it."""
        return other.site == self.site and other.folder[: len(self.folder)] == self.folder


def place_of(url: str, segments: int = 0) -> Place:
    """Return the place of the first `segments` segments of an absolute address."""
    site, folder = _split(url)
    return Place(site, folder[:segments])


def owner_of(url: str) -> Place:
    """Return the place that belongs to the owner of an absolute address."""
    site, folder = _split(url)
    segments = _APIS.get(folder[:3], 0) or _SHARED_HOSTS.get(site, 0)
    if not segments and (_GITLAB in folder[1:] or any(each.startswith(_PERSONAL) for each in folder[:1])):
        segments = 1
    if site in _SCOPED_PACKAGES and any(each.startswith("@") for each in folder[segments - 1 : segments]):
        segments += 1
    return Place(site, folder[:segments])


def hides_segments(url: str) -> bool:
    """Return True if a server that decodes the path of an address would find dot segments in it."""
    path = url.partition("://")[2].partition("?")[0].partition("#")[0]
    for _ in range(_MAX_DECODINGS):
        path, decoded = unquote(path), path
        if not {".", ".."}.isdisjoint(re.split(r"[/\\]", path)):
            return True
        if path == decoded:
            return False
    return "%" in path


def _split(url: str) -> tuple[str, tuple[str, ...]]:
    """Return site and segments of an absolute address, in lower case."""
    authority, _, path = url.partition("://")[2].partition("?")[0].partition("#")[0].lower().partition("/")
    return _DEFAULT_PORT.sub("", authority).removeprefix("www."), tuple(each for each in path.split("/") if each)
