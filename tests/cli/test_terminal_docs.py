"""The plot in docs/reference/terminal.md is the command's output; the file in docs/reference/settings.md is valid."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from keyhole.cli.demo_site import fixtures_folder
from keyhole.cli.main import main
from keyhole.config.parse import parse_settings
from keyhole.config.toml_file import parse_settings_file

DOCS = Path(__file__).resolve().parents[2] / "docs"


def test_the_plot_is_the_output_of_the_command(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "wal.html").write_bytes((fixtures_folder() / "sqlite-wal" / "body").read_bytes())
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "92")
    text = (DOCS / "reference" / "terminal.md").read_text(encoding="utf-8")
    (shown,) = re.findall(r"<!-- begin:plot -->\n```text\n\$ (.*?)\n(.*?)```", text, re.DOTALL)
    assert shown[0].startswith("keyhole select wal.html")
    words = ["select", "wal.html", "--query", "checkpoint starvation", "--budget", "1600", "--explain"]
    assert main(words) == 0
    assert capsys.readouterr().out == shown[1]


def test_the_settings_file_is_valid() -> None:
    (file,) = re.findall(
        r"```toml\n(.*?)```", (DOCS / "reference" / "settings.md").read_text(encoding="utf-8"), re.DOTALL
    )
    given, faults = parse_settings_file(file.replace("…", "a-real-key"), "config.toml")
    assert faults == []
    config, faults = parse_settings({}, given)
    assert faults == []
    assert len(config.origins) == file.count(" = ")
