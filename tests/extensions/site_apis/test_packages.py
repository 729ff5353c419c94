"""Packages of PyPI, npm, crates.io and RubyGems. The answers are written from the documentation of the registries."""

from __future__ import annotations

from typing import Any

import pytest

from keyhole.extensions.site_apis.packages import MAX_VERSIONS
from tests.extensions.site_apis.reading import read

PYPI: dict[str, Any] = {
    "info": {
        "name": "valve", "version": "2.0", "summary": "Opens *valves*", "author": "Ann", "license": "MIT\nlong text",
        "requires_python": ">=3.9", "requires_dist": ["pipe>=1", "seal; extra == 'all'"],
        "description": "# Valve\n\nUse it.",
        "description_content_type": "text/markdown", "project_urls": {"Source": "https://example.org/valve"},
        "yanked": False, "yanked_reason": None,
    },
    "urls": [{"filename": "valve-2.0.tar.gz", "size": 1234, "upload_time_iso_8601": "2024-05-01T00:00:00Z"}],
    "releases": {
        "1.0": [{"upload_time_iso_8601": "2023-01-01T00:00:00Z", "yanked": True}], "0.9": [],
        "2.0": [{"upload_time_iso_8601": "2024-05-01T00:00:00Z", "yanked": False}],
    },
}  # fmt: skip


def test_a_package_of_pypi_has_versions_dependencies_and_description() -> None:
    document, requests = read("https://pypi.org/project/valve/", {"https://pypi.org/pypi/valve/json": PYPI})
    assert requests == ["https://pypi.org/pypi/valve/json"]
    assert document.title == "valve 2.0"
    lines = document.text.splitlines()
    assert "- Version: 2.0" in lines
    assert "- Released: 2024-05-01" in lines
    assert "- License: MIT" in lines
    assert "- Links: Source: https://example.org/valve" in lines
    assert "- pipe>=1" in lines
    assert "- valve-2.0.tar.gz (1,234 bytes)" in lines
    versions = document.text.split("## Versions\n\n")[1].split("\n\n")[0].splitlines()
    assert versions == ["- 2.0 · 2024-05-01", "- 1.0 · 2023-01-01 · yanked", "- 0.9"]
    assert document.text.endswith("### Valve\n\nUse it.\n")


FEED = """<rss><channel><title>PyPI recent updates for valve</title><link>https://pypi.org/project/valve/</link>
<item><title>2.0</title><link>https://pypi.org/project/valve/2.0/</link><description>Opens &amp; closes</description>
<author>ann@example.org</author><pubDate>Wed, 01 May 2024 10:00:00 GMT</pubDate></item>
<item><title>1.0</title><pubDate>Sun, 01 Jan 2023 10:00:00 GMT</pubDate></item></channel></rss>"""


def test_a_package_whose_api_is_refused_is_read_from_the_feed_of_its_releases() -> None:
    feed = "https://pypi.org/rss/project/valve/releases.xml"
    document, requests = read("https://pypi.org/project/valve/", {feed: FEED})
    assert requests == ["https://pypi.org/pypi/valve/json", feed]
    assert document.title == "valve 2.0"
    assert "Opens & closes" in document.text
    assert "## Versions\n\n- 2.0 · 2024-05-01\n- 1.0 · 2023-01-01" in document.text
    assert document.text.endswith("refused or failed: description, dependencies and files.\n")


def test_the_name_of_a_package_is_normalised() -> None:
    assert read("https://pypi.org/project/My_Valve.x/", {"https://pypi.org/pypi/my-valve-x/json": PYPI})[0].title


def test_a_version_of_a_package_is_read_alone() -> None:
    answer = {key: value for key, value in PYPI.items() if key != "releases"}
    document, _ = read("https://pypi.org/project/valve/2.0/", {"https://pypi.org/pypi/valve/2.0/json": answer})
    assert "## Versions" not in document.text


NPM = "https://registry.npmjs.org/@a%2Fvalve"
MANIFEST = {
    "name": "@a/valve", "version": "2.0.0", "description": "Opens", "license": "MIT",
    "dependencies": {"pipe": "^1.0.0"}, "repository": {"url": "git+https://example.org/valve.git"},
    "engines": {"node": ">=18"}, "dist": {"unpackedSize": 2048},
}  # fmt: skip
OLD = {"name": "@a/valve", "version": "1.0.0", "deprecated": "use 2", "license": {"type": "MIT"}}
PACKAGE = {
    "name": "@a/valve", "dist-tags": {"latest": "2.0.0"}, "versions": {"1.0.0": OLD, "2.0.0": MANIFEST},
    "readme": "# valve\n\nTurn it.", "time": {"1.0.0": "2023-01-01T00:00:00Z", "2.0.0": "2024-01-01T00:00:00Z"},
}  # fmt: skip


def test_a_package_of_npm_has_the_chosen_version_and_all_dates() -> None:
    text = read("https://www.npmjs.com/package/@a/valve", {f"{NPM}/latest": MANIFEST, NPM: PACKAGE})[0].text
    assert "# @a/valve 2.0.0" in text
    assert "- pipe ^1.0.0" in text
    assert "- 1.0.0 · 2023-01-01 · deprecated" in text
    assert "Turn it." in text
    old = read("https://www.npmjs.com/package/@a/valve/v/1.0.0", {f"{NPM}/1.0.0": OLD, NPM: PACKAGE})[0]
    assert old.title == "@a/valve 1.0.0"
    assert "- Deprecated: use 2" in old.text


def test_a_package_of_npm_that_is_too_large_is_read_in_its_latest_version() -> None:
    document, _ = read("https://www.npmjs.com/package/@a/valve", {f"{NPM}/latest": MANIFEST})
    assert "- pipe ^1.0.0" in document.text
    assert "refused or failed: the other versions and the README." in document.text


def test_a_crate_has_the_dependencies_and_readme_of_its_version() -> None:
    api = "https://crates.io/api/v1/crates/valve"
    answers = {
        api: {
            "crate": {"name": "valve", "newest_version": "2.0.0", "max_stable_version": "1.1.0"},
            "versions": [{"num": "1.1.0", "created_at": "2024-01-01T00:00:00Z", "features": {"std": []}}],
        },
        f"{api}/1.1.0/dependencies": {"dependencies": [
            {"crate_id": "pipe", "req": "^1", "kind": "normal", "optional": True},
            {"crate_id": "bench", "req": "^1", "kind": "dev"},
        ]},
        f"{api}/1.1.0/readme": "<h1>Valve</h1><p>Turn <code>it</code>.</p>",
    }  # fmt: skip
    document, requests = read("https://crates.io/crates/valve", answers)
    assert requests == [api, f"{api}/1.1.0/dependencies", f"{api}/1.1.0/readme"]
    assert document.title == "valve 1.1.0"
    assert "- pipe ^1 (optional)" in document.text
    assert "bench" not in document.text
    assert document.text.endswith("### Valve\n\nTurn `it`.\n")


@pytest.mark.parametrize("url", ["central.sonatype.com/artifact", "mvnrepository.com/artifact"])
def test_an_artifact_of_maven_has_the_dependencies_of_its_version(url: str) -> None:
    base = "https://repo1.maven.org/maven2/org/example/valve"
    metadata = (
        "<metadata><versioning><release>2.0</release><versions><version>1.0</version><version>2.0</version></versions>"
        "<lastUpdated>20240102030405</lastUpdated></versioning></metadata>"
    )
    pom = (
        "<project><description>Opens &amp; closes</description><url>https://example.org</url><licenses><license>"
        "<name>MIT</name></license></licenses><dependencies><dependency><groupId>org.pipe</groupId>"
        "<artifactId>pipe</artifactId><version>1.1</version><scope>test</scope></dependency></dependencies></project>"
    )
    document, _ = read(
        f"https://{url}/org.example/valve", {f"{base}/maven-metadata.xml": metadata, f"{base}/2.0/valve-2.0.pom": pom}
    )
    assert document.title == "org.example:valve 2.0"
    assert "Opens & closes" in document.text
    assert "- org.pipe:pipe:1.1 (test)" in document.text
    assert "## Versions\n\n- 2.0\n- 1.0" in document.text


def test_a_gem_has_its_versions() -> None:
    api = "https://rubygems.org/api/v1"
    gem = {
        "name": "valve", "version": "2.0", "info": "Opens", "authors": "Ann", "licenses": ["MIT"],
        "dependencies": {"runtime": [{"name": "pipe", "requirements": "~> 1"}]},
    }  # fmt: skip
    versions = [{"number": f"1.{n}", "created_at": "2024-01-01T00:00:00Z"} for n in range(MAX_VERSIONS + 5)]
    text = read(
        "https://rubygems.org/gems/valve", {f"{api}/gems/valve.json": gem, f"{api}/versions/valve.json": versions}
    )[0].text
    assert "- pipe ~> 1" in text
    assert "- 5 older versions are not listed." in text
