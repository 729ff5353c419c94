"""The repeated elements of XML, their names, and the elements that say that something failed."""

from __future__ import annotations

import re
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from keyhole.outputs.bound import bound
from keyhole.outputs.kinds import recognise
from keyhole.outputs.records import find_failures, is_xml, read_xml
from tests.support.machine import allowed

CASES = "".join(f'<testcase classname="pump" name="test_{number}" time="0.1" />' for number in range(300))
REPORT = f'<?xml version="1.0"?><testsuites><testsuite name="all">{CASES}</testsuite></testsuites>\n'
FAILED = REPORT.replace(
    'name="test_77" time="0.1" />', 'name="test_77" time="0.1"><failure message="3 != 4">in pump</failure></testcase>'
)
POM = (
    "<project>\n  <dependencies>\n"
    + "".join(
        f"    <dependency>\n      <groupId>org.pump</groupId>\n      <artifactId>part-{number}</artifactId>\n"
        f"      <version>1.{number}</version>\n    </dependency>\n"
        for number in range(200)
    )
    + "  </dependencies>\n</project>\n"
)


def test_elements_that_repeat_are_records_with_the_attribute_or_the_child_that_names_them() -> None:
    records, values, parts, about = read_xml(REPORT)
    assert values[7] == {"classname": "pump", "name": "test_7", "time": "0.1"}
    assert len(records) == 300
    assert REPORT[slice(*records[7])] == '<testcase classname="pump" name="test_7" time="0.1" />'
    assert parts[7].name == "name=test_7"
    assert about == ("<testsuites> of 300 testcase", "<testsuites>")
    assert "artifactId=part-7" in [part.name for part in read_xml(POM).parts]


def test_the_tags_in_comments_and_in_cdata_are_not_elements() -> None:
    text = "<list>" + "<!-- <item>a</item> -->" * 5 + "<![CDATA[<item>b</item>]]>" * 5 + "<item>c</item></list>"
    assert read_xml(text) == ((), (), (), ("<list>", "<list>"))


@pytest.mark.parametrize("text", [REPORT, POM, "<a>\n<b/>\n</a>", " <svg:svg xmlns:svg='x'><g></g></svg:svg> "])
def test_xml_is_recognised(text: str) -> None:
    assert is_xml(text)
    assert recognise(text) == "xml"


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("<!DOCTYPE html><html><body></body></html>", "page"),
        ("<xml is not here", "text"),
        ("<1> first footnote </1>", "text"),
        ('<?xml version="1.0"?><!DOCTYPE html><html></html>', "page"),
    ],
)
def test_other_texts_are_not_xml(text: str, kind: str) -> None:
    assert recognise(text) == kind


def test_the_failed_case_of_a_report_on_one_line_is_shown_whole() -> None:
    bounded = bound(FAILED, budget=1_500)
    assert '<testcase classname="pump" name="test_77" time="0.1"><failure message="3 != 4">in pump</failure>' in (
        bounded.text
    )
    assert [FAILED[start:end] for start, end in find_failures(FAILED)] == ['<failure message="3 != 4">in pump']


def test_a_question_is_answered_with_the_name_of_the_record() -> None:
    bounded = bound(POM, query="version 1.123", budget=600)
    assert "<version>1.123</version>" in bounded.text
    assert "part-123" in bounded.text


@given(st.lists(st.sampled_from(["<a>", "</a>", "<b x='1'>", "</b>", "<c/>", "<!--", "-->", "text", "<", "]]>"])))
def test_any_text_is_read(pieces: list[str]) -> None:
    text = "".join(pieces)
    records, _, parts, _ = read_xml(text)
    assert all(text[start] == "<" and text[end - 1] == ">" for start, end in records)
    assert [part.start for part in parts] == sorted(part.start for part in parts)


@pytest.mark.parametrize(
    "text", ["<!--" * 250_000, "<a>" * 300_000 + "</b>" * 20_000, "<a " * 300_000, "<" * 1_000_000, "<error " * 150_000]
)
def test_a_megabyte_of_tags_is_read_in_a_second(text: str) -> None:
    started = time.process_time()
    read_xml(text)
    list(find_failures(text))
    assert time.process_time() - started < allowed(1)


def test_the_failure_of_a_report_is_named_by_its_own_case() -> None:
    cases = [f'  <testcase name="berth{n}">\n    <system-out>ok</system-out>\n  </testcase>\n' for n in range(40)]
    steps = "".join(f"step {n} of the crane {n * 7 % 13}\n" for n in range(80))
    cases[23] = (
        f'  <testcase name="berth23">\n    <system-out><![CDATA[\n{steps}]]></system-out>\n'
        '    <failure message="expected:&lt;41&gt;">AssertionError: expected 41\n</failure>\n  </testcase>\n'
    )
    shown = bound(f'<testsuite name="Quay">\n{"".join(cases)}</testsuite>\n', budget=1_000).text
    assert re.findall(r"^\[….*", shown.split("<failure")[0], re.MULTILINE)[-1].endswith("] name=berth23")


def test_the_line_about_a_text_counts_no_elements_of_prose() -> None:
    prose = "<p>The <em>quay</em> is <b>old</b> and <a href='#s'>wet</a>.</p>"
    sections = "".join(f"<section id='s{n}'><title>Part {n}</title>{prose}</section>" for n in range(9))
    text = f"<article>{sections}</article>"
    assert read_xml(text).about[0] == "<article> of 9 title, 9 section"
