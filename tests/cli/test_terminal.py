"""Output is coloured only on terminals that show colours, and as NO_COLOR, FORCE_COLOR and TERM ask."""

from __future__ import annotations

import pytest

from keyhole.cli.terminal import has_colours


@pytest.mark.parametrize(
    ("environment", "terminal", "colours"),
    [
        ({}, True, True),
        ({}, False, False),
        ({"NO_COLOR": "1"}, True, False),
        ({"NO_COLOR": ""}, True, True),
        ({"NO_COLOR": "1", "FORCE_COLOR": "1"}, True, False),
        ({"FORCE_COLOR": "1"}, False, True),
        ({"FORCE_COLOR": "0"}, True, False),
        ({"FORCE_COLOR": ""}, False, False),
        ({"TERM": "dumb"}, True, False),
        ({"TERM": "dumb", "FORCE_COLOR": "1"}, True, True),
    ],
)
def test_colours_depend_on_the_terminal_and_the_environment(
    environment: dict[str, str], terminal: bool, colours: bool
) -> None:
    assert has_colours(environment, terminal=terminal) is colours
