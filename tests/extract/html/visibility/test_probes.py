"""The extraction keeps what a reader sees, by the verdicts of Chromium in tables; a test asks it again."""

from __future__ import annotations

import time
from collections.abc import Iterator

import pytest

from keyhole.extract.html.prune import prune
from keyhole.extract.html.tree import parse_html
from tests.extract.html.visibility import probe_documents, probe_inline_styles, probe_sheets, probe_techniques
from tests.extract.html.visibility.judge import MARKER, is_visible, open_page
from tests.support.chromium import MISSING, Chromium, find_chromium

_MANY = ".x{display:none}"
LARGE = {
    "sixty selectors": f"{','.join(f'.c{number}' for number in range(60))},{_MANY}",
    "six thousand rules": "".join(f".c{number}{{color:red}}" for number in range(6_000)) + _MANY,
    "four hundred declarations": f".x{{{''.join(f'--v{number}:{number};' for number in range(400))}display:none}}",
    "a declaration of 3,000 characters": f".x{{--z:{'a' * 3_000};display:none}}",
}
"""Style sheets that hide the marker after much else."""


def build_page(body: str) -> str:
    head = "<!DOCTYPE html><html><head><meta charset=utf-8><title>Page</title></head>"
    return f"{head}<body><p>First words.</p>{body}</body></html>"


def list_probes() -> Iterator[tuple[str, str, bool]]:
    """Yield each probe as its name, its page and whether the marker is visible."""
    for tables, pattern in (
        (probe_inline_styles, '<div style="{}">MARKER</div>'),
        (probe_sheets, "<style>{}</style><p class=x id=y>MARKER</p>"),
        (probe_documents, "{}"),
        (probe_techniques, "{}"),
    ):
        for table, visible in ((tables.HIDDEN, False), (tables.VISIBLE, True)):
            for name, text in table.items():
                yield name, build_page(pattern.replace("{}", text)), visible
    for name, css in LARGE.items():
        yield name, build_page(f"<style>{css}</style><p class=x>MARKER</p>"), False


PROBES = list(list_probes())


@pytest.mark.parametrize(("html", "visible"), [probe[1:] for probe in PROBES], ids=[probe[0] for probe in PROBES])
def test_text_is_kept_if_and_only_if_a_reader_sees_it(html: str, visible: bool) -> None:
    root = parse_html(html)
    prune(root)
    assert (MARKER in "".join(root.itertext())) is visible


def test_the_tables_hold_many_probes_of_both_verdicts() -> None:
    verdicts = [visible for _, _, visible in PROBES]
    assert len({name for name, _, _ in PROBES}) == len(PROBES) > 450
    assert min(verdicts.count(True), verdicts.count(False)) > 150


@pytest.mark.parametrize("body", probe_techniques.UNREADABLE.values(), ids=probe_techniques.UNREADABLE)
def test_text_that_is_too_small_to_read_is_left_out(body: str) -> None:
    root = parse_html(build_page(body))
    prune(root)
    assert MARKER not in "".join(root.itertext())


@pytest.mark.skipif(find_chromium() is None, reason=MISSING)
def test_chromium_agrees_with_the_verdict_of_each_probe() -> None:
    with Chromium() as browser, open_page(browser) as page:
        wrong = [name for name, html, visible in PROBES if is_visible(page, html) is not visible]
    assert not wrong


@pytest.mark.parametrize("style", ["opacity:0", "position:relative;color:#fffe"])
def test_the_time_does_not_grow_with_the_square_of_the_number_of_styled_elements(style: str) -> None:
    root = parse_html(build_page(f'<p style="{style}">word</p>' * 10_000))
    start = time.process_time()
    prune(root)
    assert time.process_time() - start < 10  # a comparison of all pairs takes longer than a minute
