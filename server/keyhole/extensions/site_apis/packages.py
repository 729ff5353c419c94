"""Read packages of registries: PyPI, npm, crates.io, Maven Central and RubyGems."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from email.utils import parsedate_to_datetime
from typing import Any, Final

from keyhole.extensions.site_apis.answer_text import URL_END, facts_part, get_list, get_text, list_part
from keyhole.extensions.site_apis.site_readers import FixedReader, SiteAnswer, SiteReader, SiteRequest
from keyhole.sites.document import Part, PartForm, SiteDocument
from keyhole.text.invalid_characters import unescape

# Versions with dates, which packages of all registries have.

MAX_VERSIONS: Final = 5_000
"""Versions that are listed, the newest ones; few packages have 3,000."""


def package_document(title: str, parts: Iterable[Part], site: str, author: str = "") -> SiteDocument:
    return SiteDocument(title, tuple(part for part in parts if part.text.strip()), author=author, site=site)


def versions_part(versions: Sequence[tuple[str, str, str]]) -> Part:
    """Return the versions with dates and remarks, the newest first."""
    ordered = sorted(versions, key=lambda each: each[1], reverse=True)
    entries = [" · ".join(part for part in each if part) for each in ordered[:MAX_VERSIONS]]
    more = [f"{len(ordered) - MAX_VERSIONS:,} older versions are not listed."] if len(ordered) > MAX_VERSIONS else []
    return list_part("Versions", [*entries, *more])


# PyPI: packages (docs.pypi.org/api/json and /api/feeds).

_FIELD = re.compile(r"<(title|description|author|pubDate)>([^<]{0,2000})</")
_PYPI = re.compile(rf"https?://(?:www\.)?pypi\.org/project/([\w.-]+)(?:/([\w.+!-]+))?{URL_END}")


def match_pypi(url: str) -> SiteReader | None:
    """Return the reader of a package, None for any other address."""
    match = _PYPI.match(url)
    # A name is normalised as PEP 503 says.
    return PypiReader(re.sub(r"[-_.]+", "-", match[1]).lower(), match[2]) if match else None


@dataclass(frozen=True, slots=True)
class PypiReader:
    """A package or one version of it.

    robots.txt disallows the JSON API, but not the feed of releases, which is read instead.
    """

    package: str
    version: str | None
    name: str = "pypi"

    def next_requests(self, answers: Sequence[SiteAnswer]) -> Sequence[SiteRequest]:
        """Return the package, and the feed of its releases if there is no answer."""
        if not answers:
            version = f"{self.version}/" if self.version else ""
            label = "description, dependencies and files"
            return (SiteRequest(f"https://pypi.org/pypi/{self.package}/{version}json", optional=True, label=label),)
        is_complete = len(answers) > 1 or answers[0].found
        return () if is_complete else (SiteRequest(f"https://pypi.org/rss/project/{self.package}/releases.xml"),)

    def document(self, answers: Sequence[SiteAnswer]) -> SiteDocument:
        """Compose the package."""
        return _from_json(answers[0].json()) if answers[0].found else _from_feed(self.package, answers[1].text)


def _from_json(answer: Mapping[str, Any]) -> SiteDocument:
    info = answer["info"]
    releases = answer.get("releases", {}).items()
    versions = [(each, _first_date(files, "upload_time_iso_8601"), _yanked(files)) for each, files in releases]
    files = get_list(answer.get("urls", []))
    form: PartForm = "markdown" if "markdown" in get_text(info, "description_content_type") else "plain"
    parts = [
        Part(get_text(info, "summary"), "plain"),
        facts_part({
            "Version": get_text(info, "version"),
            "Released": _first_date(files, "upload_time_iso_8601"),
            "Requires Python": get_text(info, "requires_python"),
            "Author": get_text(info, "author") or get_text(info, "author_email"),
            "License": (get_text(info, "license_expression") or get_text(info, "license")).splitlines()[:1],
            "Yanked": get_text(info, "yanked_reason") or ("yes" if info.get("yanked") else ""),
            "Links": [f"{label}: {url}" for label, url in (info.get("project_urls") or {}).items()],
        }),
        list_part("Dependencies", info.get("requires_dist") or []),
        list_part("Files", [f"{get_text(each, 'filename')} ({each.get('size', 0):,} bytes)" for each in files]),
        versions_part(versions),
        Part("## Description"),
        Part(get_text(info, "description"), form, 2),
    ]  # fmt: skip
    return package_document(f"{info['name']} {info['version']}", parts, "PyPI", get_text(info, "author"))


def _from_feed(name: str, feed: str) -> SiteDocument:
    """Compose a package from the feed of its 40 newest releases, in which each has its summary and date."""
    items = [dict(_FIELD.findall(item)) for item in feed.split("<item>")[1:]]
    versions = [(unescape(item["title"]), _day(item.get("pubDate", "")), "") for item in items]
    latest = items[0]
    parts = [
        Part(unescape(latest.get("description", "")), "plain"),
        facts_part({"Version": latest["title"], "Released": versions[0][1], "Author": latest.get("author", "")}),
        versions_part(versions),
    ]
    return package_document(f"{name} {latest['title']}", parts, "PyPI", latest.get("author", ""))


def _day(date: str) -> str:
    return parsedate_to_datetime(date).date().isoformat() if date else ""


def _first_date(files: Any, name: str) -> str:
    return min((get_text(each, name)[:10] for each in files or ()), default="")


def _yanked(files: Any) -> str:
    return "yanked" if files and all(each.get("yanked") for each in files) else ""


# npm: packages (github.com/npm/registry, docs/REGISTRY-API.md).

_NPM = re.compile(rf"https?://(?:www\.)?npmjs\.com/package/((?:@[\w.-]+/)?[\w.-]+)(?:/v/([\w.+-]+))?{URL_END}")


def match_npm(url: str) -> SiteReader | None:
    """Return the reader of a package, None for any other address."""
    match = _NPM.match(url)
    return _npm(*match.groups()) if match else None


def _npm(name: str, version: str | None) -> FixedReader:
    def compose(answers: Sequence[SiteAnswer]) -> SiteDocument:
        manifest = answers[0].json()
        package = answers[1].json() if answers[1].found else {}
        chosen, times, readme = manifest["version"], package.get("time", {}), get_text(package, "readme")
        versions = [
            (each, get_text(times, each)[:10], "deprecated" if one.get("deprecated") else "")
            for each, one in package.get("versions", {}).items()
        ]
        parts = [
            Part(get_text(manifest, "description"), "plain"),
            facts_part({
                "Version": chosen, "Released": get_text(times, chosen)[:10],
                "Tags": [f"{tag} {number}" for tag, number in package.get("dist-tags", {}).items()],
                "License": _license(manifest), "Deprecated": get_text(manifest, "deprecated"),
                "Engines": [f"{each} {number}" for each, number in (manifest.get("engines") or {}).items()],
                "Repository": get_text(manifest, "repository", "url") or get_text(manifest, "repository"),
                "Home page": get_text(manifest, "homepage"),
                "Unpacked": f"{manifest.get('dist', {}).get('unpackedSize', 0):,} bytes",
            }),
            *(list_part(title, [f"{each} {number}" for each, number in (manifest.get(key) or {}).items()])
              for title, key in (("Dependencies", "dependencies"), ("Peer dependencies", "peerDependencies"))),
            versions_part(versions),
            *([Part("## README"), Part(readme, "markdown", 2)] if readme else []),
        ]  # fmt: skip
        return package_document(f"{manifest['name']} {chosen}", parts, "npm", get_text(manifest, "author", "name"))

    registry = f"https://registry.npmjs.org/{name.replace('/', '%2F')}"
    # All versions together may be larger than any answer that is read.
    everything = SiteRequest(registry, optional=True, label="the other versions and the README")
    return FixedReader("npm", (SiteRequest(f"{registry}/{version or 'latest'}"), everything), compose)


def _license(manifest: Mapping[str, Any]) -> str:
    stated = manifest.get("license")
    return get_text(stated, "type") if isinstance(stated, Mapping) else str(stated or "")


# crates.io: crates (crates.io/data-access).

_CRATES = re.compile(rf"https?://(?:www\.)?crates\.io/crates/([\w-]+)(?:/([\w.+-]+))?{URL_END}")


def match_crates(url: str) -> SiteReader | None:
    """Return the reader of a crate, None for any other address."""
    match = _CRATES.match(url)
    return CrateReader(match[1], match[2]) if match else None


@dataclass(frozen=True, slots=True)
class CrateReader:
    """A crate, with dependencies and README of one version."""

    crate: str
    version: str | None
    name: str = "crates"

    def next_requests(self, answers: Sequence[SiteAnswer]) -> Sequence[SiteRequest]:
        """Return the crate, then the dependencies and the README of the chosen version."""
        api = f"https://crates.io/api/v1/crates/{self.crate}"
        if not answers:
            return (SiteRequest(api),)
        base = f"{api}/{self._chosen(answers[0].json()['crate'])}"
        parts = (
            SiteRequest(f"{base}/dependencies", optional=True, label="the dependencies"),
            SiteRequest(f"{base}/readme", optional=True),
        )
        return parts if len(answers) == 1 else ()

    def _chosen(self, crate: Mapping[str, Any]) -> str:
        return str(self.version or crate.get("max_stable_version") or crate["newest_version"])

    def document(self, answers: Sequence[SiteAnswer]) -> SiteDocument:
        """Compose the crate."""
        about, needs, readme = answers
        crate, versions = about.json()["crate"], get_list(about.json()["versions"])
        chosen = self._chosen(crate)
        one = next(each for each in versions if each["num"] == chosen)
        dependencies = get_list(needs.json()["dependencies"]) if needs.found else []
        parts = [
            Part(get_text(crate, "description"), "plain"),
            facts_part({
                "Version": chosen, "Released": get_text(one, "created_at")[:10], "License": get_text(one, "license"),
                "Rust": get_text(one, "rust_version"), "Downloads": f"{crate.get('downloads', 0):,}",
                "Repository": get_text(crate, "repository"), "Documentation": get_text(crate, "documentation"),
                "Home page": get_text(crate, "homepage"), "Features": sorted(one.get("features") or ()),
            }),
            list_part("Dependencies", [
                f"{each['crate_id']} {each['req']}{' (optional)' if each.get('optional') else ''}"
                for each in dependencies if each.get("kind") == "normal"
            ]),
            versions_part([
                (each["num"], get_text(each, "created_at")[:10], "yanked" if each.get("yanked") else "")
                for each in versions
            ]),
            *([Part("## README"), Part(readme.text, "html", 2)] if readme.found else []),
        ]  # fmt: skip
        return package_document(f"{crate['name']} {chosen}", parts, "crates.io")


# Maven Central: artifacts, from their files (maven.apache.org/repositories/layout.html).

_MAVEN = re.compile(
    rf"https?://(?:central\.sonatype\.com/artifact|(?:www\.)?mvnrepository\.com/artifact|search\.maven\.org/artifact)"
    rf"/([\w.-]+)/([\w.-]+)(?:/([\w.+-]+))?{URL_END}"
)
_DEPENDENCY = re.compile(r"<dependency>((?:(?!<dependency>).){0,4000}?)</dependency>", re.DOTALL)
_TAG = re.compile(r"<([\w.-]{1,60})>\s*+([^<]{0,2000}?[^<\s])\s*</\1>")


def match_maven(url: str) -> SiteReader | None:
    """Return the reader of an artifact, None for any other address."""
    match = _MAVEN.match(url)
    return MavenReader(*match.groups()) if match else None


@dataclass(frozen=True, slots=True)
class MavenReader:
    """An artifact of Maven Central: the list of its versions, and the POM of one."""

    group: str
    artifact: str
    version: str | None
    name: str = "maven"

    def next_requests(self, answers: Sequence[SiteAnswer]) -> Sequence[SiteRequest]:
        """Return the list of versions, then the POM of the chosen one."""
        base = f"https://repo1.maven.org/maven2/{self.group.replace('.', '/')}/{self.artifact}"
        if not answers:
            return (SiteRequest(f"{base}/maven-metadata.xml"),)
        version = self._chosen(answers[0])
        return (SiteRequest(f"{base}/{version}/{self.artifact}-{version}.pom"),) if len(answers) == 1 else ()

    def _chosen(self, answer: SiteAnswer) -> str:
        return self.version or (_tags(answer.text, "release") or _tags(answer.text, "latest"))[0]

    def document(self, answers: Sequence[SiteAnswer]) -> SiteDocument:
        """Compose the artifact from the elements of both files, whose form is fixed."""
        versions, pom = _tags(answers[0].text, "version"), answers[1].text
        if not versions:
            raise ValueError("no versions")
        parts = [
            Part((_tags(pom, "description") or [""])[0], "plain"),
            facts_part({
                "Version": self._chosen(answers[0]),
                "Last update": [day[:8] for day in _tags(answers[0].text, "lastUpdated")[:1]],
                "Home page": _tags(pom, "url")[:1],
                "License": _tags(pom.partition("</license>")[0], "name")[-1:],
                "Coordinates": f"{self.group}:{self.artifact}:{self._chosen(answers[0])}",
            }),
            list_part("Dependencies", [_describe_dependency(each) for each in _DEPENDENCY.findall(pom)]),
            versions_part([(each, "", "") for each in reversed(versions)]),
        ]  # fmt: skip
        return package_document(f"{self.group}:{self.artifact} {self._chosen(answers[0])}", parts, "Maven Central")


def _describe_dependency(element: str) -> str:
    names = [value for tag in ("groupId", "artifactId", "version") for value in _tags(element, tag)[:1]]
    scope = _tags(element, "scope")[:1]
    return ":".join(names) + (f" ({scope[0]})" if scope else "")


def _tags(xml: str, name: str) -> list[str]:
    """Return the texts of the elements of this name that contain only text."""
    return [unescape(text) for tag, text in _TAG.findall(xml) if tag == name]


# RubyGems: gems (guides.rubygems.org/rubygems-org-api).

_GEMS = re.compile(rf"https?://(?:www\.)?rubygems\.org/gems/([\w.-]+){URL_END}")


def match_gem(url: str) -> SiteReader | None:
    """Return the reader of a gem, None for any other address."""
    match = _GEMS.match(url)
    return _gems(*match.groups()) if match else None


def _gems(name: str) -> FixedReader:
    def compose(answers: Sequence[SiteAnswer]) -> SiteDocument:
        gem, versions = answers[0].json(), get_list(answers[1].json()) if answers[1].found else []
        parts = [
            Part(get_text(gem, "info"), "plain"),
            facts_part({
                "Version": get_text(gem, "version"), "Released": get_text(gem, "version_created_at")[:10],
                "Licenses": gem.get("licenses") or [], "Authors": get_text(gem, "authors"),
                "Source": get_text(gem, "source_code_uri"), "Documentation": get_text(gem, "documentation_uri"),
                "Changelog": get_text(gem, "changelog_uri"), "Home page": get_text(gem, "homepage_uri"),
            }),
            list_part("Dependencies", [
                f"{each['name']} {each['requirements']}" for each in gem["dependencies"]["runtime"]
            ]),
            versions_part([(each["number"], get_text(each, "created_at")[:10], "") for each in versions]),
        ]  # fmt: skip
        return package_document(f"{gem['name']} {gem['version']}", parts, "RubyGems", get_text(gem, "authors"))

    api = "https://rubygems.org/api/v1"
    return FixedReader(
        "rubygems",
        (
            SiteRequest(f"{api}/gems/{name}.json"),
            SiteRequest(f"{api}/versions/{name}.json", optional=True, label="the versions"),
        ),
        compose,
    )
