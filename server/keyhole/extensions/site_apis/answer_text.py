"""Read values of an API's JSON, and write them as text: the head line of a post, counts and facts."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

from keyhole.sites.document import Part, PartForm
from keyhole.text.escape import escape_markdown

PER_PAGE: Final = 100
"""Entries in one answer of most APIs, which allow no more."""
URL_END: Final = r"/?(?:[?#].*)?$"
"""A pattern for the end of an address whose query and fragment do not matter."""


def post(
    author: str, date: str, text: str, *facts: str, form: PartForm = "markdown", levels: int = 2
) -> tuple[Part, ...]:
    """Return a post as parts: a line with author, date and further facts, then its text."""
    head = " · ".join(part for part in (f"**{one_line(author) or 'unknown'}**", date[:10], *facts) if part)
    body = Part(text, form, levels)
    return (Part(head), body) if text.strip() else (Part(head),)


def one_line(text: object) -> str:
    """Return a text as one line in which signs of Markdown are escaped; "" for None."""
    return "" if text is None else escape_markdown(" ".join(str(text).split()))


def get_text(value: object, *names: str) -> str:
    """Return the text at a path of names in nested objects, "" if it is missing or null."""
    for name in names:
        value = value.get(name) if isinstance(value, Mapping) else None
    return "" if value is None else str(value)


def get_list(value: object) -> list[Mapping[str, Any]]:
    """Return a list of objects. Raises TypeError for any other value."""
    if not isinstance(value, list):
        raise TypeError("the answer is not a list")
    return [each for each in value if isinstance(each, Mapping)]


def count_words(number: int, word: str) -> str:
    """Return a number with a word, in the plural if necessary."""
    return f"{number:,} {word}{'' if number == 1 else 's'}"


def points(score: object) -> str:
    """Return a score with the word for it."""
    return count_words(int(str(score)), "point")


def reply_level(depth: int) -> str:
    """Return the level of a reply below the first text, "" for a direct reply."""
    return f"reply, level {depth}" if depth else ""


def facts_part(facts: Mapping[str, str | Sequence[str]]) -> Part:
    """Return a list of named facts, without empty ones."""
    lines = []
    for name, value in facts.items():
        text = ", ".join(value) if not isinstance(value, str) else value
        if text.strip():
            lines.append(f"- {name}: {' '.join(text.split())}")
    return Part("\n".join(lines))


def list_part(title: str, entries: Sequence[str]) -> Part:
    lines = "\n".join(f"- {one_line(each)}" for each in entries)
    return Part(f"## {title}\n\n{lines}" if lines else "")
