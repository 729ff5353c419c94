"""The text of a bounded output."""

from __future__ import annotations

from keyhole.outputs.output import Shown
from keyhole.outputs.render import OutputHead, bounded_text

SHOWN = Shown(9_000, ((0, 3),), "abc\n[…3:9000]\n")
HEAD = OutputHead("test", 9_000, 120, 2_571, "pytest -q\nrm -rf /")


def test_the_first_line_names_the_command_the_kind_and_the_sizes() -> None:
    first = bounded_text(HEAD, SHOWN, b"", "id1", {"offset": 3, "limit": 8_000}).splitlines()[0]
    assert first == (
        "Output of `pytest -q rm -rf /` (test run): 9,000 characters in 120 lines, about 2,571 tokens; 3 shown."
    )


def test_the_call_that_reads_on_is_named_only_with_an_id() -> None:
    following = {"offset": 3, "limit": 8_000}
    assert bounded_text(HEAD, SHOWN, b"", "id1", following).endswith(
        '\nNext: read_artifact(id="id1", offset=3, limit=8000)\n[end]'
    )
    assert "Next:" not in bounded_text(HEAD, SHOWN, b"", "", following)


def test_a_reader_in_a_shell_is_given_the_command_too() -> None:
    following = {"offset": 3, "limit": 8_000}
    assert bounded_text(HEAD, SHOWN, b"", "id1", following, names_command=True).endswith(
        "limit=8000)\nIn a shell: keyhole read id1 --offset 3 --limit 8000\n[end]"
    )
    assert "keyhole read" not in bounded_text(HEAD, SHOWN, b"", "", following, names_command=True)


def test_the_boundary_encloses_the_text() -> None:
    lines = bounded_text(HEAD, SHOWN, b"key", "", None).splitlines()
    assert lines[1].startswith("--- untrusted text ")
    assert lines[-2] == lines[1].replace("untrusted text", "end")
