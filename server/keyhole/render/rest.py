"""Render what a result says about the rest of a page, which follows the main part of its text.

The kinds of parts come from a closed list, so the lines contain no text of the page.
"""

from __future__ import annotations

from keyhole.records import REST, WORDLESS, Artifact
from keyhole.text.page_structure import find_rest_lines


def _rest_line(artifact: Artifact) -> str:
    """Return the line after the end of a main part: what the rest holds, and the call that reads it.

    A result that shows less of the main part does not mention the rest: reading on leads to this line.
    """
    kinds = f": {kinds}" if (kinds := artifact.note(REST)) else ""
    call = f'read_artifact(id="{artifact.id}", offset={artifact.main_end})'
    return f"Rest of the page, not shown{kinds}. To read it: {call}"


def end_lines(artifact: Artifact, *, is_main: bool) -> str:
    """Return the lines after the end of a page: its elements without text, and the rest after its main part."""
    is_end = is_main or artifact.main_end is None
    wordless = f"Not text: {kinds}." if is_end and (kinds := artifact.note(WORDLESS)) else ""
    return "\n".join(line for line in (wordless, _rest_line(artifact) if is_main else "") if line)


def main_size(artifact: Artifact) -> dict[str, object]:
    """Return the length of the main part as a fact for programs, no fact for a page without a rest."""
    return {} if artifact.main_end is None else {"main_chars": artifact.main_end}


def describe_place(artifact: Artifact, offset: int) -> str:
    """Return the words for an offset in the rest of a page: `, in the rest of the page (footer)`; "" in the main part.

    `artifact` has its whole text.
    """
    if artifact.main_end is None or offset < artifact.main_end:
        return ""
    kinds = [line.kind for line in find_rest_lines(artifact.text, artifact.main_end) if line.start <= offset]
    return f", in the rest of the page{f' ({kinds[-1]})' if kinds else ''}"


def characters_of(total: int, *, is_main: bool) -> str:
    """Return the number of characters of which a result shows some: of the whole text, or of its main part."""
    return f"{total:,} characters{' in the main part' if is_main else ''}"
