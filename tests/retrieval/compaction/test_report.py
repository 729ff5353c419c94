"""A report is kept as JSON between two calls."""

from __future__ import annotations

import pytest

from keyhole.errors import Code, KeyholeError
from keyhole.retrieval.compaction.notices import Amount
from keyhole.retrieval.compaction.report import Report

REPORT = Report("anthropic", 900, 500, ((3, None), (5, 1)), (1, 2), Amount(2, 1, 40, 10), ("abc",), "d1")


def test_a_report_is_read_back_from_its_json() -> None:
    assert Report.from_json(REPORT.to_json()) == REPORT


@pytest.mark.parametrize("text", ["", "[]", "{}", "null", '{"stubs": 3}', REPORT.to_json().replace("dropped", "gone")])
def test_what_is_no_report_is_refused(text: str) -> None:
    with pytest.raises(KeyholeError) as refused:
        Report.from_json(text)
    assert refused.value.code is Code.INVALID_ARGUMENT
