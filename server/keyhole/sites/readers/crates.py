"""Read crates of crates.io (crates.io/data-access)."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from keyhole.sites.document import Part, SiteDocument
from keyhole.sites.readers.base import Answer, Request, SiteReader, get_list, get_text
from keyhole.sites.readers.package_parts import URL_END, facts_part, list_part, package_document, versions_part

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

    def next_requests(self, answers: Sequence[Answer]) -> Sequence[Request]:
        """Return the crate, then what belongs to the chosen version."""
        api = f"https://crates.io/api/v1/crates/{self.crate}"
        if not answers:
            return (Request(api),)
        base = f"{api}/{self._chosen(answers[0].json()['crate'])}"
        parts = (
            Request(f"{base}/dependencies", optional=True, label="the dependencies"),
            Request(f"{base}/readme", optional=True),
        )
        return parts if len(answers) == 1 else ()

    def _chosen(self, crate: Mapping[str, Any]) -> str:
        return str(self.version or crate.get("max_stable_version") or crate["newest_version"])

    def document(self, answers: Sequence[Answer]) -> SiteDocument:
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
