"""Ask a question about each page whose answer is a sentence or a row that a person sees there."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final

from benchmarks.browser.pages.catalogue import Page

_FACT: Final = re.compile(r"The \w+ (\w+) of ([A-Z][a-z]+ \d{3}) \w+ the \w+ (\w+) for \d+ weeks a year\.")
"""A sentence of `Texts.sentence`."""
_GERMAN: Final = re.compile(r"An der Südmole liegen \d+ Liegeplätze für Gäste")
_PLACE: Final = 2 / 3
"""Where the answer stands among all facts of the page: not among the first, which any excerpt shows."""


@dataclass(frozen=True, slots=True)
class Question:
    """A query in words of the page, and the text that answers it."""

    query: str
    answer: str


def ask(page: Page) -> Question:
    """Return the question about a page."""
    questions = list(_about_rows(page)) or list(_about_sentences(page))
    return questions[int(len(questions) * _PLACE)]


def _about_rows(page: Page) -> list[Question]:
    rows = page.data.get("rows", [])
    return [Question(f"How many tonnes did {row[0]} have, and at which basin?", " ".join(row)) for row in rows]


def _about_sentences(page: Page) -> list[Question]:
    facts = [
        Question(f"For how many weeks a year does the {noun} of {name} serve the {place}?", fact[0])
        for fact in _FACT.finditer(page.visible)
        for noun, name, place in [fact.groups()]
    ]
    german = [Question("Wie viele Liegeplätze für Gäste gibt es?", fact[0]) for fact in _GERMAN.finditer(page.visible)]
    return facts + german
