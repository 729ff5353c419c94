"""Read packages of PyPI (docs.pypi.org/api/json)."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

from keyhole.sites.document import Form, Part, SiteDocument
from keyhole.sites.readers.base import Answer, FixedReader, Request, SiteReader, get_list, get_text
from keyhole.sites.readers.package_parts import URL_END, facts_part, list_part, package_document, versions_part

_PYPI = re.compile(rf"https?://(?:www\.)?pypi\.org/project/([\w.-]+)(?:/([\w.+!-]+))?{URL_END}")


def match_pypi(url: str) -> SiteReader | None:
    """Return the reader of a package, None for any other address."""
    match = _PYPI.match(url)
    return _pypi(*match.groups()) if match else None


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

    name = re.sub(r"[-_.]+", "-", name).lower()  # as PEP 503 normalises it
    api = f"https://pypi.org/pypi/{name}/{f'{version}/' if version else ''}json"
    return FixedReader("pypi", (Request(api),), compose)


def _first_date(files: Any, name: str) -> str:
    return min((get_text(each, name)[:10] for each in files or ()), default="")


def _yanked(files: Any) -> str:
    return "yanked" if files and all(each.get("yanked") for each in files) else ""
