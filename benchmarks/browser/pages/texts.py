"""Make texts for pages: sentences about harbours, the same for the same seed, and words that mark hidden text."""

from __future__ import annotations

import random
from typing import Final

HIDDEN_PREFIX: Final = "unseen"
"""Every word of a hidden text begins with this, and no other word does."""
_SYLLABLES: Final = (
    "ba", "ce", "do", "fi", "gu", "ha", "ke", "lo", "mi", "nu", "pa", "re", "so", "ti", "va", "wo", "ya", "ze",
)  # fmt: skip
_ADJECTIVES: Final = (
    "narrow", "tidal", "southern", "sheltered", "busy", "quiet", "modern", "wooden", "deep", "shallow",
    "northern", "repaired",
)  # fmt: skip
_NOUNS: Final = (
    "quay", "lighthouse", "breakwater", "ferry", "slipway", "crane", "pilot", "boat", "chandlery", "dredger",
    "berth", "sluice", "customs",
)  # fmt: skip
_VERBS: Final = (
    "serves", "replaces", "overlooks", "guides", "reaches", "supplies", "borders", "shortens", "connects",
    "protects",
)  # fmt: skip
_PLACES: Final = (
    "channel", "estuary", "village", "market", "railway", "warehouse", "shipyard", "lagoon", "sandbank",
    "fairway",
)  # fmt: skip
_GERMAN: Final = (
    "Der Fährhafen öffnet täglich um {} Uhr",
    "Größere Schiffe müssen den Lotsen {} Stunden vorher bestellen",
    "An der Südmole liegen {} Liegeplätze für Gäste",
    "Die Straße zur Schleuse wird bis zum {}. Mai überholt",
)


class Texts:
    """The texts of one page."""

    def __init__(self, seed: str) -> None:
        self._random = random.Random(seed)

    def name(self) -> str:
        """Return an invented name of three syllables and a number."""
        return f"{''.join(self._random.choices(_SYLLABLES, k=3)).capitalize()} {self._random.randint(100, 999)}"

    def sentence(self) -> str:
        """Return a sentence of about fourteen words."""
        adjective, noun, verb, place = (self._random.choice(words) for words in (_ADJECTIVES, _NOUNS, _VERBS, _PLACES))
        return (
            f"The {adjective} {noun} of {self.name()} {verb} the {self._random.choice(_ADJECTIVES)} {place} "
            f"for {self._random.randint(2, 90)} weeks a year."
        )

    def paragraph(self, sentences: int = 3) -> str:
        """Return a paragraph."""
        return " ".join(self.sentence() for _ in range(sentences))

    def sections(self, count: int = 4) -> list[dict[str, str]]:
        """Return sections with a heading and a text."""
        return [{"heading": f"Approach to {self.name()}", "text": self.paragraph()} for _ in range(count)]

    def items(self, count: int = 8) -> list[dict[str, str]]:
        """Return items with a name, a text and a price."""
        return [{"name": self.name(), "text": self.sentence()} for _ in range(count)]

    def goods(self, count: int = 8) -> list[dict[str, str]]:
        """Return items that also have a price."""
        return [item | {"price": f"{self._random.randint(5, 900)} euros"} for item in self.items(count)]

    def rows(self, count: int = 15) -> list[list[str]]:
        """Return rows of a table with five columns."""
        return [
            [self.name(), *(str(self._random.randint(10, 9_999)) for _ in range(3)), self._random.choice(_PLACES)]
            for _ in range(count)
        ]

    def german(self, count: int = 8) -> list[str]:
        """Return paragraphs in German."""
        return [
            " ".join(f"{sentence.format(self._random.randint(2, 30))}." for sentence in _GERMAN) for _ in range(count)
        ]

    def hidden(self, count: int = 3) -> list[str]:
        """Return texts that a page hides."""
        return [
            " ".join(HIDDEN_PREFIX + "".join(self._random.choices(_SYLLABLES, k=3)) for _ in range(6))
            for _ in range(count)
        ]
