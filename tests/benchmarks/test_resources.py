"""A small run of the benchmark of stored pages as resources, in both eras."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from benchmarks.server import resources
from tests.benchmarks.test_rows import VALUES


def test_clients_that_list_complete_and_read_are_timed(capsys: pytest.CaptureFixture[str]) -> None:
    assert resources.main(["--count", "60"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert sum("| completion/complete | 120 |" in line for line in lines) == 2
    assert sum("pages of 60" in line for line in lines) == 2


def test_a_resource_with_any_uri_or_none_is_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "rows.jsonl"
    cases = [{"rpc": "resources/read"}, *({"rpc": "resources/read", "uri": uri} for uri in VALUES), {"rpc": "ping"}]
    file.write_text("".join(json.dumps({"case": case}) + "\n" for case in cases))
    assert resources.main(["--rows", str(file)]) == 0
    assert capsys.readouterr().out.count(f": {len(VALUES) + 1} rows, 0 faults") == 2
