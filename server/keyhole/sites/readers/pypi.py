"""Read packages of PyPI (docs.pypi.org/api/json and /api/feeds)."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from email.utils import parsedate_to_datetime
from typing import Any

from keyhole.sites.document import Form, Part, SiteDocument
from keyhole.sites.readers.base import Answer, Request, SiteReader, get_list, get_text
from keyhole.sites.readers.package_parts import URL_END, facts_part, list_part, package_document, versions_part
from keyhole.text.invalid_characters import unescape

_FIELD = re.compile(r"<(title|description|author|pubDate)>([^<]{0,2000})</")
PYPI = re.compile(rf"https?://(?:www\.)?pypi\.org/project/([\w.-]+)(?:/([\w.+!-]+))?{URL_END}")


def match_pypi(url: str) -> SiteReader | None:
    """Return the reader of a package, None for any other address."""
    match = PYPI.match(url)
    # A name is normalised as PEP 503 says.
    return PypiReader(re.sub(r"[-_.]+", "-", match[1]).lower(), match[2]) if match else None


@dataclass(frozen=True, slots=True)
class PypiReader:
    """A package or one version of it.

    robots.txt keeps crawlers from the JSON API, but not from the feed of releases, which is read where the API is not.
    """

    package: str
    version: str | None
    name: str = "pypi"

    def next_requests(self, answers: Sequence[Answer]) -> Sequence[Request]:
        """Return the package, and the feed of its releases if there is no answer."""
        if not answers:
            version = f"{self.version}/" if self.version else ""
            label = "description, dependencies and files"
            return (Request(f"https://pypi.org/pypi/{self.package}/{version}json", optional=True, label=label),)
        is_complete = len(answers) > 1 or answers[0].found
        return () if is_complete else (Request(f"https://pypi.org/rss/project/{self.package}/releases.xml"),)

    def document(self, answers: Sequence[Answer]) -> SiteDocument:
        """Compose the package."""
        return _from_json(answers[0].json()) if answers[0].found else _from_feed(self.package, answers[1].text)


def _from_json(answer: Mapping[str, Any]) -> SiteDocument:
    info = answer["info"]
    releases = answer.get("releases", {}).items()
    versions = [(each, _first_date(files, "upload_time_iso_8601"), _yanked(files)) for each, files in releases]
    files = get_list(answer.get("urls", []))
    form: Form = "markdown" if "markdown" in get_text(info, "description_content_type") else "plain"
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
