"""Text that is already readable: plain text, Markdown, source code, data formats. Nothing is reformatted."""

from __future__ import annotations

import re

from keyhole.extract.decode import tidy

# An image's target has no spaces, so the scan of one that is never closed ends at the first.
_DATA_IMAGE = re.compile(r"!\[([^\[\]\n]{0,300})\]\([ \t]?<?data:[^)\s]*+(?:[ \t][^)\n]{0,300})?\)?")
_FIRST_HEADING = re.compile(r"^#{1,2}[ \t]++(\S[^\n]*)$", re.MULTILINE)


def plain_to_text(text: str) -> tuple[str, str]:
    """Title (the first Markdown heading near the top, if any) and text, inlined images replaced."""
    tidied = _DATA_IMAGE.sub(lambda match: f"[IMAGE: {match[1]}]", tidy(text))
    heading = _FIRST_HEADING.search(tidied[:2_000])
    return (heading[1].rstrip("# \t") if heading else ""), tidied
