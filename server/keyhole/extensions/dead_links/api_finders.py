"""Find addresses near a dead one through the API of a forge or a registry."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, Final
from urllib.parse import quote, unquote

from keyhole.extensions.dead_links.similarity import CandidateSource, CandidateUrl, Reply, State
from keyhole.fetch.permission import WebPlace, place_of
from keyhole.fetch.urls import api_address
from keyhole.text.parse_json import parse_json

# Repositories: files in the tree of the named branch, else in that of the default branch.
#
# Sources: docs.github.com/rest/git/trees, docs.gitlab.com/api/repositories, and the API of Gitea (codeberg.org/api).

MAX_FILES: Final = 20_000
"""Files of a tree that are compared. GitHub returns at most 100,000."""

_NAME: Final = r"(?P<owner>[^/?#]+)/(?P<repo>[^/?#]+)"
_RAW = re.compile(rf"https?://raw\.githubusercontent\.com/{_NAME}/(?:refs/(?:heads|tags)/)?(?P<ref>[^/?#]+)/")
_GITHUB = re.compile(rf"https?://(?:www\.)?github\.com/{_NAME}/(?P<view>blob|tree|raw|blame|edit)/(?P<ref>[^/?#]+)")
_GITLAB = re.compile(r"\A(?P<site>https?://[^/?#]+)/(?P<project>[^?#]+?)/-/(?P<view>blob|tree|raw)/(?P<ref>[^/?#]+)")
_GITEA = re.compile(
    rf"(?P<site>https?://[^/?#]+)/{_NAME}/(?P<view>src|raw)/(?P<kind>branch|tag|commit)/(?P<ref>[^/?#]+)"
)
_DEFAULT: Final = "HEAD"
"""The name of the default branch in addresses of all these sites but Gitea's."""


@dataclass(frozen=True, slots=True)
class RepositoryFinder:
    """Finds files of one repository."""

    ref: str
    place: WebPlace
    """The place of the repository in the API."""
    tree: Callable[[str], str]
    """Returns the address of the API for the tree of a branch, tag or commit."""
    file: Callable[[str, str], str]
    """Returns the address of a file in the form of the dead one, from its branch and path."""

    @property
    def places(self) -> tuple[WebPlace, ...]:
        """Return the place of the repository in the API."""
        return (self.place,)

    def next_request(self, state: State) -> str:
        """Return the tree of the named branch, then that of the default branch if the named one has no tree."""
        requested = {each.request for each in state.requested}
        trees = (self.tree(self.ref), self.tree(_DEFAULT))
        return (
            ""
            if any(each.found for each in state.requested)
            else next((each for each in trees if each not in requested), "")
        )

    def read(self, reply: Reply) -> tuple[CandidateUrl, ...]:
        """Return the files of a tree."""
        is_named = reply.request == self.tree(self.ref)
        ref, source = (self.ref, CandidateSource.BRANCH) if is_named else (_DEFAULT, CandidateSource.DEFAULT_BRANCH)
        return tuple(CandidateUrl(self.file(ref, quote(path)), "", source) for path in _read_paths(reply.body))


def find_repository(url: str) -> RepositoryFinder | None:
    """Return the finder for an address of a file or folder in a repository, else None."""
    for pattern, make in ((_RAW, _raw), (_GITHUB, _github), (_GITLAB, _gitlab), (_GITEA, _gitea)):
        if match := pattern.match(url):
            with suppress(ValueError):  # parts of the address could lead to another repository
                return make(match)
    return None


def _raw(match: re.Match[str]) -> RepositoryFinder:
    name = f"{match['owner']}/{match['repo']}"
    return _of_github(match, f"https://raw.githubusercontent.com/{name}")


def _github(match: re.Match[str]) -> RepositoryFinder:
    view = "blob" if match["view"] == "tree" else match["view"]
    return _of_github(match, f"https://github.com/{match['owner']}/{match['repo']}/{view}")


def _of_github(match: re.Match[str], base: str) -> RepositoryFinder:
    api = api_address("https://api.github.com/repos", match["owner"], match["repo"])
    return _finder(
        match["ref"], api, 3, lambda ref: api_address(f"{api}/git/trees", ref, recursive=1),
        lambda ref, path: f"{base}/{ref}/{path}",
    )  # fmt: skip


def _gitlab(match: re.Match[str]) -> RepositoryFinder:
    site, project = match["site"], match["project"]
    view = "blob" if match["view"] == "tree" else match["view"]
    api = api_address(f"{site}/api/v4/projects", project)
    return _finder(
        match["ref"], api, 4,
        lambda ref: api_address(f"{api}/repository/tree", recursive="true", per_page=100, ref=unquote(ref)),
        lambda ref, path: f"{site}/{project}/-/{view}/{ref}/{path}",
    )  # fmt: skip


def _gitea(match: re.Match[str]) -> RepositoryFinder:
    site, base = match["site"], f"{match['site']}/{match['owner']}/{match['repo']}/{match['view']}"
    api = api_address(f"{site}/api/v1/repos", match["owner"], match["repo"])
    return _finder(
        match["ref"], api, 5, lambda ref: api_address(f"{api}/git/trees", ref, recursive="true"),
        lambda ref, path: f"{base}/{path}" if ref == _DEFAULT else f"{base}/{match['kind']}/{ref}/{path}",
    )  # fmt: skip


def _finder(
    ref: str, api: str, segments: int, tree: Callable[[str], str], file: Callable[[str, str], str]
) -> RepositoryFinder:
    """Return the finder of a repository. `segments`: of the path of its API. Raises ValueError as `api_address`."""
    tree(ref)
    return RepositoryFinder(ref, place_of(api, segments), tree, file)


def _read_paths(body: bytes) -> Iterator[str]:
    """Yield the paths of the files in the answer of an API: GitLab sends a list, other forges an object that
    contains the list."""
    with suppress(ValueError):
        answer: Any = parse_json(body)
        entries = answer.get("tree") if isinstance(answer, Mapping) else answer
        for entry in entries[:MAX_FILES] if isinstance(entries, list) else ():
            if isinstance(entry, Mapping) and entry.get("type") == "blob" and isinstance(entry.get("path"), str):
                yield entry["path"]


# Packages: versions and files of PyPI, npm, unpkg and jsDelivr.
#
# Sources: docs.pypi.org/api/feeds, the dist-tags of registry.npmjs.org, unpkg.com (`?meta`) and the API of jsDelivr.

MAX_ENTRIES: Final = 20_000

_FEED_LINK = re.compile(r"<link>\s*(https://pypi\.org/project/[\w.-]+/[\w.+!-]+/)\s*</link>")
_VERSION = re.compile(r"\d[\w.+-]*$")
_NAMED: Final = r"(?P<name>(?:@[\w.-]+/)?[\w.-]+)(?:@(?P<version>[\w.^~+-]+))?"
_END: Final = r"/?(?:[?#].*)?$"
_PYPI = re.compile(rf"https?://(?:www\.)?pypi\.org/project/([\w.-]+)/[\w.+!-]+{_END}")
_NPM = re.compile(rf"https?://(?:www\.)?npmjs\.com/package/((?:@[\w.-]+/)?[\w.-]+)/v/[\w.+-]+{_END}")
_UNPKG = re.compile(rf"https?://unpkg\.com/{_NAMED}/(?P<path>[^?#]*)")
_JSDELIVR = re.compile(rf"https?://cdn\.jsdelivr\.net/npm/{_NAMED}/(?P<path>[^?#]*)")


@dataclass(frozen=True, slots=True)
class PackageFinder:
    """Finds versions or files of one package from one answer of its registry."""

    request: str
    source: CandidateSource
    entries: Callable[[bytes], Iterator[str]]
    """Yields the addresses that the body of an answer names."""

    @property
    def places(self) -> tuple[WebPlace, ...]:
        """Return the registry, which may lead a tag to the list of its version."""
        return (place_of(self.request),)

    def next_request(self, state: State) -> str:
        """Return the list of the registry."""
        return "" if state.requested else self.request

    def read(self, reply: Reply) -> tuple[CandidateUrl, ...]:
        """Return the versions or files of the package."""
        with suppress(ValueError, TypeError, KeyError, AttributeError):  # an answer of another form names nothing
            entries = list(self.entries(reply.body))
            return tuple(CandidateUrl(url, "", self.source) for url in entries[:MAX_ENTRIES])
        return ()


def find_package(url: str) -> PackageFinder | None:
    """Return the finder for an address of a version or file of a package, else None."""
    if match := _PYPI.match(url):
        # Its feed of releases, since robots.txt keeps crawlers from the JSON API.
        feed = f"https://pypi.org/rss/project/{match[1]}/releases.xml"
        return PackageFinder(feed, CandidateSource.PYPI, lambda body: iter(_FEED_LINK.findall(_text(body))))
    if match := _NPM.match(url):
        name = match[1]
        page = f"https://www.npmjs.com/package/{name}/v/"
        return PackageFinder(
            f"https://registry.npmjs.org/-/package/{name}/dist-tags", CandidateSource.NPM,
            lambda body: (f"{page}{each}" for each in parse_json(body).values() if _VERSION.match(each)),
        )  # fmt: skip
    if match := _UNPKG.match(url):
        base = f"https://unpkg.com/{_named(match)}"
        return PackageFinder(
            f"{base}/?meta",
            CandidateSource.PACKAGE,
            lambda body: (f"{base}{each['path']}" for each in parse_json(body)["files"]),
        )
    if match := _JSDELIVR.match(url):
        named = _named(match)
        return PackageFinder(
            f"https://data.jsdelivr.com/v1/packages/npm/{named}?structure=flat", CandidateSource.PACKAGE,
            lambda body: (f"https://cdn.jsdelivr.net/npm/{named}{each['name']}" for each in parse_json(body)["files"]),
        )  # fmt: skip
    return None


def _text(body: bytes) -> str:
    return body.decode("utf-8", "replace")


def _named(match: re.Match[str]) -> str:
    return f"{match['name']}@{match['version']}" if match["version"] else match["name"]
