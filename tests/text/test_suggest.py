"""A name that is not known ends its error with the nearest that is, and nothing is loaded for it before."""

from __future__ import annotations

import subprocess
import sys

from keyhole.text.suggest import meant


def test_the_nearest_is_named_where_one_is_near() -> None:
    assert meant("timeot", {"timeout": 1, "home": 2}) == "; did you mean timeout?"
    assert meant("zzz", ["timeout", "home"]) == ""
    assert meant("fet", ["fetch-all"], cutoff=0.5) and not meant("fet", ["fetch-all"])


def test_a_command_line_that_is_right_loads_nothing_that_compares_words() -> None:
    program = "import sys; from keyhole import cli; cli.parser(); print('difflib' in sys.modules)"
    run = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True, timeout=60)
    assert run.stdout.strip() == "False"
