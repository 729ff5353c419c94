"""List the probes of visibility: pages with a marker, and whether Chromium shows it.

The client check "visibility" asks Chromium again.
"""

from __future__ import annotations

from collections.abc import Iterator

from tests.extract.html.visibility import probe_documents, probe_inline_styles, probe_sheets, probe_techniques
from tests.extract.html.visibility.scenes import SCENES

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


PROBES = [*list_probes(), *SCENES]
OPENED = frozenset({"select second option", "option", "scene: select option"})
"""Probes whose marker is visible to a reader who opens a list. Chromium draws the closed list."""
