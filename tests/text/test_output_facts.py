"""The facts that are stored with an output."""

from __future__ import annotations

from keyhole.text.output_facts import MAX_COMMAND, is_output, output_kind, output_notes, output_title, output_url


def test_only_known_facts_become_notes() -> None:
    assert output_notes("make", 0, "/src") == (("command", "make"), ("exit", "0"), ("folder", "/src"))
    assert output_notes("", None, "") == ()


def test_the_url_of_an_output_names_its_kind_and_that_of_a_page_names_none() -> None:
    assert output_kind(output_url("log")) == "log"
    assert output_kind("https://example.org/output:log") == ""
    assert is_output("output:test")


def test_secrets_are_masked_in_titles_and_notes() -> None:
    command = "curl -u me:hunter2 \\\n  https://example.org"
    assert output_title(command, "a.log") == "curl -u me:*** \\ https://example.org"
    assert output_notes(command, None, "") == (("command", "curl -u me:*** \\\n  https://example.org"),)


def test_a_file_gives_its_name_as_the_title_and_a_long_command_is_cut() -> None:
    assert output_title("", "a.log") == "a.log"
    assert len(output_title("x" * MAX_COMMAND + "y", "")) == MAX_COMMAND
