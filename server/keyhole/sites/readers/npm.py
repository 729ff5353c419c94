"""Read packages of npm (github.com/npm/registry, docs/REGISTRY-API.md)."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

from keyhole.sites.document import Part, SiteDocument
from keyhole.sites.readers.base import Answer, FixedReader, Request, SiteReader, get_text
from keyhole.sites.readers.package_parts import URL_END, facts_part, list_part, package_document, versions_part

NPM = re.compile(rf"https?://(?:www\.)?npmjs\.com/package/((?:@[\w.-]+/)?[\w.-]+)(?:/v/([\w.+-]+))?{URL_END}")


def match_npm(url: str) -> SiteReader | None:
    """Return the reader of a package, None for any other address."""
    match = NPM.match(url)
    return _npm(*match.groups()) if match else None


def _npm(name: str, version: str | None) -> FixedReader:
    def compose(answers: Sequence[Answer]) -> SiteDocument:
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
    everything = Request(registry, optional=True, label="the other versions and the README")
    return FixedReader("npm", (Request(f"{registry}/{version or 'latest'}"), everything), compose)


def _license(manifest: Mapping[str, Any]) -> str:
    stated = manifest.get("license")
    return get_text(stated, "type") if isinstance(stated, Mapping) else str(stated or "")
