"""The known name nearest to a misspelt one is suggested; difflib is imported only for that."""

from __future__ import annotations

import subprocess
import sys

from keyhole.text.suggest import suggest_name


def test_the_nearest_name_is_suggested_if_it_is_similar_enough() -> None:
    assert suggest_name("timeot", {"timeout": 1, "home": 2}) == "; did you mean timeout?"
    assert suggest_name("zzz", ["timeout", "home"]) == ""
    assert suggest_name("fet", ["fetch-all"], cutoff=0.5) and not suggest_name("fet", ["fetch-all"])


def test_a_valid_command_line_does_not_import_difflib() -> None:
    program = (
        "import sys; from keyhole.cli.commands import build_parser; build_parser(); print('difflib' in sys.modules)"
    )
    run = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True, timeout=60)
    assert run.stdout.strip() == "False"
