"""Render pages that scripts write, in a Chromium of this machine."""

from __future__ import annotations

from keyhole.runtime.extensions import Extension

EXTENSION = Extension(
    checks={"Browser": "keyhole.extensions.browser.check:check"},
    port="keyhole.extensions.browser.render:open_renderer",
)
