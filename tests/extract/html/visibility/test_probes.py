"""The extraction keeps what a reader sees, by the verdicts of Chromium in tables."""

from __future__ import annotations

import time

import pytest

from keyhole.extract.extraction import extract
from keyhole.extract.html.prune import prune
from keyhole.extract.html.tree import parse_html
from tests.extract.html.visibility import probe_techniques
from tests.extract.html.visibility.judge import MARKER
from tests.extract.html.visibility.probes import PROBES, build_page
from tests.extract.html.visibility.scenes import LONG_SCENES, SCENES
from tests.support.machine import allowed


@pytest.mark.parametrize(("html", "visible"), [probe[1:] for probe in PROBES], ids=[probe[0] for probe in PROBES])
def test_text_is_kept_if_and_only_if_a_reader_sees_it(html: str, visible: bool) -> None:
    root = parse_html(html)
    prune(root)
    assert (MARKER in "".join(root.itertext())) is visible


@pytest.mark.parametrize(("html", "visible"), [scene[1:] for scene in LONG_SCENES], ids=[scene[0] for scene in SCENES])
def test_an_artifact_has_the_text_if_and_only_if_a_reader_sees_it(html: str, visible: bool) -> None:
    document = extract(html.encode(), url="https://pump.example/", content_type="text/html")
    assert (MARKER in document.text) is visible


def test_the_tables_hold_many_probes_of_both_verdicts() -> None:
    verdicts = [visible for _, _, visible in PROBES]
    assert len({name for name, _, _ in PROBES}) == len(PROBES) > 450
    assert min(verdicts.count(True), verdicts.count(False)) > 150


@pytest.mark.parametrize("body", probe_techniques.UNREADABLE.values(), ids=probe_techniques.UNREADABLE)
def test_text_that_is_too_small_to_read_is_left_out(body: str) -> None:
    root = parse_html(build_page(body))
    prune(root)
    assert MARKER not in "".join(root.itertext())


@pytest.mark.parametrize("style", ["opacity:0", "position:relative;color:#fffe"])
def test_the_time_does_not_grow_with_the_square_of_the_number_of_styled_elements(style: str) -> None:
    root = parse_html(build_page(f'<p style="{style}">word</p>' * 10_000))
    start = time.process_time()
    prune(root)
    assert time.process_time() - start < allowed(10)  # a comparison of all pairs takes longer than a minute


def test_a_box_over_most_of_a_page_is_expected_to_go_away() -> None:
    box = '<div style="position:absolute;inset:0;background:#fff">Loading</div>'
    root = parse_html(build_page(f'<div style="position:relative">{"<p>words of the page</p>" * 30}{box}</div>'))
    prune(root)
    assert "words of the page" in root.text_content()


def test_boxes_within_one_another_that_cover_text_take_bounded_time() -> None:
    box = '<div style="position:relative"><b style="position:absolute;inset:0;background:#fff"></b>'
    root = parse_html(build_page(box * 300 + "<p>word</p>" * 10_000))
    start = time.process_time()
    prune(root)
    assert time.process_time() - start < allowed(10)


def test_a_grid_that_folds_below_a_button_is_shown() -> None:
    part = "<h3><button>More</button></h3><div class=g><div class=x>words in it</div></div>"
    sheet = "<style>.g{display:grid;grid-template-rows:0fr}.x{overflow:hidden;min-height:0}</style>"
    root = parse_html(build_page(sheet + part))
    prune(root)
    assert "words in it" in root.text_content()
