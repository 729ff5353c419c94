"""The settings file in docs/reference/settings.md is valid."""

from __future__ import annotations

import re
from pathlib import Path

from keyhole.config.load import parse_settings
from keyhole.config.toml_file import parse_settings_file

DOCS = Path(__file__).resolve().parents[2] / "docs"


def test_the_settings_file_is_valid() -> None:
    (file,) = re.findall(
        r"```toml\n(.*?)```", (DOCS / "reference" / "settings.md").read_text(encoding="utf-8"), re.DOTALL
    )
    given, faults = parse_settings_file(file.replace("…", "a-real-key"), "config.toml")
    assert faults == []
    config, faults = parse_settings({}, given)
    assert faults == []
    assert len(config.origins) == file.count(" = ")
