"""Read gems of RubyGems (guides.rubygems.org/rubygems-org-api)."""

from __future__ import annotations

import re
from collections.abc import Sequence

from keyhole.sites.document import Part, SiteDocument
from keyhole.sites.readers.base import Answer, FixedReader, Request, SiteReader, get_list, get_text
from keyhole.sites.readers.package_parts import URL_END, facts_part, list_part, package_document, versions_part

_GEMS = re.compile(rf"https?://(?:www\.)?rubygems\.org/gems/([\w.-]+){URL_END}")


def match_gem(url: str) -> SiteReader | None:
    """Return the reader of a gem, None for any other address."""
    match = _GEMS.match(url)
    return _gems(*match.groups()) if match else None


def _gems(name: str) -> FixedReader:
    def compose(answers: Sequence[Answer]) -> SiteDocument:
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
            Request(f"{api}/gems/{name}.json"),
            Request(f"{api}/versions/{name}.json", optional=True, label="the versions"),
        ),
        compose,
    )
