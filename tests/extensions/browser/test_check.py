"""What the doctor says about the browser. A real one renders a page, where this machine has one."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from keyhole.cli.terminal import Level
from keyhole.config.config import Config
from keyhole.extensions.browser import check as browser
from keyhole.extensions.browser.chromium import find_browser

AUTO = Config(render="auto")


def test_without_rendering_the_doctor_notes_whether_a_browser_is_there(monkeypatch: pytest.MonkeyPatch) -> None:
    (finding,) = browser.check(Config(), "/opt/chromium")
    assert (finding.level, finding.message) == (Level.NOTE, "off; /opt/chromium was found")
    assert finding.fix.endswith("set KEYHOLE_RENDER=auto.")
    monkeypatch.setenv("PATH", "/nowhere")
    (finding,) = browser.check(Config())
    assert finding.message == "off; no Chromium was found"
    assert "chromium-headless-shell" in finding.fix


def test_a_missing_browser_is_a_failure(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "/nowhere")
    (finding,) = browser.check(AUTO)
    assert (finding.level, finding.message) == (Level.FAIL, "a Chromium was not found")
    (finding,) = browser.check(Config(render="auto", browser=Path("/gone/chrome")))
    assert finding.message == "/gone/chrome was not found"


def test_a_program_that_is_no_browser_is_a_failure() -> None:
    finding = browser.check(AUTO, "/bin/true")[0]
    assert finding.level is Level.FAIL
    assert finding.message.startswith("/bin/true: ")


@pytest.mark.skipif(find_browser() is None, reason="no Chromium on this machine")
def test_a_real_browser_renders_the_doctor_s_page() -> None:
    finding, *sandbox = browser.check(AUTO)
    assert finding.level is Level.OK, finding
    assert "rendered a page in" in finding.message
    if os.geteuid() == 0:
        assert [each.level for each in sandbox] == [Level.WARN]
