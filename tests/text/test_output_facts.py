"""The facts that are stored with an output."""

from __future__ import annotations

from keyhole.text.output_facts import is_output, output_kind, output_notes, output_url


def test_only_known_facts_become_notes() -> None:
    assert output_notes("make", 0, "/src") == (("command", "make"), ("exit", "0"), ("folder", "/src"))
    assert output_notes("", None, "") == ()


def test_the_url_of_an_output_names_its_kind_and_that_of_a_page_names_none() -> None:
    assert output_kind(output_url("log")) == "log"
    assert output_kind("https://example.org/output:log") == ""
    assert is_output("output:test")
