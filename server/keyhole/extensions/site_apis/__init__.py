"""Read objects of single sites, and find files and packages near a dead address, through the APIs of the sites."""

from __future__ import annotations

from keyhole.runtime.extensions import Extension

EXTENSION = Extension(port="keyhole.extensions.site_apis.matchers:SiteApis")
