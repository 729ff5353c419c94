"""Read objects of single sites, such as issues, packages and questions, through the APIs of the sites."""

from __future__ import annotations

from keyhole.runtime.extensions import Extension

EXTENSION = Extension(port="keyhole.extensions.site_apis.site_pages:SitePages")
