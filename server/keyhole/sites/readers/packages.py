"""Read packages of PyPI, npm, crates.io and RubyGems: description, versions with dates, dependencies and addresses.

Sources: docs.pypi.org/api/json, github.com/npm/registry (REGISTRY-API), crates.io/data-access, guides.rubygems.org.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from keyhole.sites.document import Form, Part, SiteDocument
from keyhole.sites.readers.base import Answer, FixedReader, Request, get_list, get_text, one_line

MAX_VERSIONS: Final = 100
"""Versions that are listed, the newest ones."""
_END: Final = r"/?(?:[?#].*)?$"
_PYPI = re.compile(rf"https?://(?:www\.)?pypi\.org/project/([\w.-]+)(?:/([\w.+!-]+))?{_END}")
_NPM = re.compile(rf"https?://(?:www\.)?npmjs\.com/package/((?:@[\w.-]+/)?[\w.-]+)(?:/v/([\w.+-]+))?{_END}")
_CRATES = re.compile(rf"https?://(?:www\.)?crates\.io/crates/([\w-]+)(?:/([\w.+-]+))?{_END}")
_GEMS = re.compile(rf"https?://(?:www\.)?rubygems\.org/gems/([\w.-]+){_END}")


def match_package(url: str) -> FixedReader | None:
    """Return the reader of a package, None for any other address."""
    for pattern, make in ((_PYPI, _pypi), (_NPM, _npm), (_CRATES, _crates), (_GEMS, _gems)):
        if match := pattern.match(url):
            return make(*match.groups())
    return None


def _pypi(name: str, version: str | None) -> FixedReader:
    def compose(answers: Sequence[Answer]) -> SiteDocument:
        answer = answers[0].json()
        info = answer["info"]
        releases = answer.get("releases", {}).items()
        versions = [(each, _first_date(files, "upload_time_iso_8601"), _yanked(files)) for each, files in releases]
        files = get_list(answer.get("urls", []))
        form: Form = "markdown" if "markdown" in get_text(info, "description_content_type") else "plain"
        parts = [
            Part(get_text(info, "summary"), "plain"),
            _facts({
                "Version": get_text(info, "version"),
                "Released": _first_date(files, "upload_time_iso_8601"),
                "Requires Python": get_text(info, "requires_python"),
                "Author": get_text(info, "author") or get_text(info, "author_email"),
                "License": (get_text(info, "license_expression") or get_text(info, "license")).splitlines()[:1],
                "Yanked": get_text(info, "yanked_reason") or ("yes" if info.get("yanked") else ""),
                "Links": [f"{label}: {url}" for label, url in (info.get("project_urls") or {}).items()],
            }),
            _section("Dependencies", info.get("requires_dist") or []),
            _section("Files", [f"{get_text(each, 'filename')} ({each.get('size', 0):,} bytes)" for each in files]),
            _versions(versions),
            Part("## Description"),
            Part(get_text(info, "description"), form, 2),
        ]  # fmt: skip
        return _document(f"{info['name']} {info['version']}", parts, "PyPI", get_text(info, "author"))

    api = f"https://pypi.org/pypi/{name}/{f'{version}/' if version else ''}json"
    return FixedReader("pypi", (Request(api),), compose)


def _npm(name: str, version: str | None) -> FixedReader:
    def compose(answers: Sequence[Answer]) -> SiteDocument:
        package = answers[0].json()
        chosen: str = version or package["dist-tags"]["latest"]
        manifest = package["versions"][chosen]
        times = package.get("time", {})
        parts = [
            Part(get_text(manifest, "description"), "plain"),
            _facts({
                "Version": chosen, "Released": get_text(times, chosen)[:10],
                "Tags": [f"{tag} {number}" for tag, number in package["dist-tags"].items()],
                "License": _license(manifest), "Deprecated": get_text(manifest, "deprecated"),
                "Engines": [f"{each} {number}" for each, number in (manifest.get("engines") or {}).items()],
                "Repository": get_text(manifest, "repository", "url") or get_text(manifest, "repository"),
                "Home page": get_text(manifest, "homepage"),
                "Unpacked": f"{manifest.get('dist', {}).get('unpackedSize', 0):,} bytes",
            }),
            *(_section(title, [f"{each} {number}" for each, number in (manifest.get(key) or {}).items()])
              for title, key in (("Dependencies", "dependencies"), ("Peer dependencies", "peerDependencies"))),
            _versions([(each, get_text(times, each)[:10], "deprecated" if one.get("deprecated") else "")
                       for each, one in package["versions"].items()]),
            Part("## README"),
            Part(get_text(package, "readme"), "markdown", 2),
        ]  # fmt: skip
        return _document(f"{package['name']} {chosen}", parts, "npm", get_text(manifest, "author", "name"))

    return FixedReader("npm", (Request(f"https://registry.npmjs.org/{name.replace('/', '%2F')}"),), compose)


def _crates(name: str, version: str | None) -> FixedReader:
    api = f"https://crates.io/api/v1/crates/{name}"

    def compose(answers: Sequence[Answer]) -> SiteDocument:
        answer = answers[0].json()
        crate, versions = answer["crate"], get_list(answer["versions"])
        chosen = version or crate.get("max_stable_version") or crate["newest_version"]
        one = next(each for each in versions if each["num"] == chosen)
        needs = get_list(answers[1].json()["dependencies"]) if len(answers) > 1 and answers[1].found else []
        parts = [
            Part(get_text(crate, "description"), "plain"),
            _facts({
                "Version": chosen, "Released": get_text(one, "created_at")[:10], "License": get_text(one, "license"),
                "Rust": get_text(one, "rust_version"), "Downloads": f"{crate.get('downloads', 0):,}",
                "Repository": get_text(crate, "repository"), "Documentation": get_text(crate, "documentation"),
                "Home page": get_text(crate, "homepage"), "Features": sorted(one.get("features") or ()),
            }),
            _section("Dependencies", [f"{each['crate_id']} {each['req']}{' (optional)' if each.get('optional') else ''}"
                                      for each in needs if each.get("kind") == "normal"]),
            _versions([
                (each["num"], get_text(each, "created_at")[:10], "yanked" if each.get("yanked") else "")
                for each in versions
            ]),
            *([Part("## README"), Part(answers[2].text, "html", 2)] if len(answers) > 2 and answers[2].found else []),
        ]  # fmt: skip
        return _document(f"{crate['name']} {chosen}", parts, "crates.io")

    return _Crate("crates", (Request(api),), compose, api, version)


@dataclass(frozen=True, slots=True)
class _Crate(FixedReader):
    """A crate: dependencies and README of the version that the first answer names."""

    api: str = ""
    version: str | None = None

    def next_requests(self, answers: Sequence[Answer]) -> Sequence[Request]:
        """Return the crate, then what belongs to its version."""
        if len(answers) != 1:
            return self.requests if not answers else ()
        crate = answers[0].json()["crate"]
        base = f"{self.api}/{self.version or crate.get('max_stable_version') or crate['newest_version']}"
        return Request(f"{base}/dependencies", optional=True), Request(f"{base}/readme", optional=True)


def _gems(name: str) -> FixedReader:
    def compose(answers: Sequence[Answer]) -> SiteDocument:
        gem, versions = answers[0].json(), get_list(answers[1].json()) if answers[1].found else []
        parts = [
            Part(get_text(gem, "info"), "plain"),
            _facts({
                "Version": get_text(gem, "version"), "Released": get_text(gem, "version_created_at")[:10],
                "Licenses": gem.get("licenses") or [], "Authors": get_text(gem, "authors"),
                "Source": get_text(gem, "source_code_uri"), "Documentation": get_text(gem, "documentation_uri"),
                "Changelog": get_text(gem, "changelog_uri"), "Home page": get_text(gem, "homepage_uri"),
            }),
            _section("Dependencies", [
                f"{each['name']} {each['requirements']}" for each in gem["dependencies"]["runtime"]
            ]),
            _versions([(each["number"], get_text(each, "created_at")[:10], "") for each in versions]),
        ]  # fmt: skip
        return _document(f"{gem['name']} {gem['version']}", parts, "RubyGems", get_text(gem, "authors"))

    api = "https://rubygems.org/api/v1"
    return FixedReader(
        "rubygems", (Request(f"{api}/gems/{name}.json"), Request(f"{api}/versions/{name}.json", optional=True)), compose
    )


def _document(title: str, parts: Iterable[Part], site: str, author: str = "") -> SiteDocument:
    return SiteDocument(title, tuple(part for part in parts if part.text.strip()), author=author, site=site)


def _facts(facts: Mapping[str, str | Sequence[str]]) -> Part:
    """Return a list of named facts, without empty ones."""
    lines = []
    for name, value in facts.items():
        text = ", ".join(value) if not isinstance(value, str) else value
        if text.strip():
            lines.append(f"- {name}: {' '.join(text.split())}")
    return Part("\n".join(lines))


def _section(title: str, entries: Sequence[str]) -> Part:
    lines = "\n".join(f"- {one_line(each)}" for each in entries)
    return Part(f"## {title}\n\n{lines}" if lines else "")


def _versions(versions: Sequence[tuple[str, str, str]]) -> Part:
    """Return the versions with dates and remarks, the newest first."""
    ordered = sorted(versions, key=lambda each: each[1], reverse=True)
    entries = [" · ".join(part for part in each if part) for each in ordered[:MAX_VERSIONS]]
    more = [f"{len(ordered) - MAX_VERSIONS:,} older versions are not listed."] if len(ordered) > MAX_VERSIONS else []
    return _section("Versions", [*entries, *more])


def _first_date(files: Any, name: str) -> str:
    return min((get_text(each, name)[:10] for each in files or ()), default="")


def _yanked(files: Any) -> str:
    return "yanked" if files and all(each.get("yanked") for each in files) else ""


def _license(manifest: Mapping[str, Any]) -> str:
    stated = manifest.get("license")
    return get_text(stated, "type") if isinstance(stated, Mapping) else str(stated or "")
