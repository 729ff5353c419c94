"""Divide a question of several parts, such as "how do I set X, and what happens without it?". Pure."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import replace
from functools import partial
from typing import Final

from keyhole.passages.light_words import light_stems
from keyhole.passages.query import MAX_QUERY_CHARS, Query, Term, extract_terms
from keyhole.text.letters import lower

MIN_PART_TERMS: Final = 2
"""Minimum own terms of a part, at least one of them no light word. With fewer it belongs to the part before it."""

MAX_PARTS: Final = 4
"""Parts that get a share of the room; what follows belongs to the last of them."""

OTHER_PART_WEIGHT: Final = 0.3
"""Weight of a term of another part: it tells the subject of the question, but has an answer of its own."""

_AND: Final = "and|und|et|y|e|i|oraz|и|och|og|en|ja|és|ve|và|și|και|та"
"""The word "and" in languages that put a space before it. Czech "a" is left out: it is an article or "to" elsewhere."""

_ASKING: Final = (
    r"what|which|how|when|where|who|whom|whose|why"
    r"|was|welche[rsnm]?|wie|wann|wo|wer|wem|warum|wieso"
    r"|quel(?:le)?s?|comment|quand|où|qui|pourquoi|combien|quoi"
    r"|qué|cuál(?:es)?|cómo|cuándo|dónde|quién(?:es)?|cuánt[oa]s?"
    r"|que|qual|quais|quando|onde|quem|quant[oae]s?|cosa|quale|quali|dove|chi|perché"
    r"|jak|jaki\w*|któr\w+|czym|kiedy|gdzie|kto|dlaczego|ile"
    r"|как(?:ой|ая|ое|ие|ую|им|их)?|что|чем|когда|где|кто|почему|зачем|сколько"
    r"|vad|vilke[nt]|vilka|hur|när|vem|varför|hvad|hvilke[nt]?|hvordan|hvornår|hvem|hvorfor"
    r"|wat|welke?|hoe|wanneer|waar|wie|waarom|mikä|mitä|miten|milloin|missä|kuka|miksi"
    r"|hangi|nasıl|neden|nerede|kim|kaç"
)
"""Words that begin a question. They follow "and", or "and" and a preposition."""

_VERBS: Final = "do|does|did|is|are|can|should|must|will"
"""English verbs that begin a question. They follow "and"."""

MAX_PREPOSITION_CHARS: Final = 5
"""Letters of a preposition, at most: a longer word between "and" and a question word is a noun."""

_UNSPACED_QUESTION: Final = re.compile("什么|什麼|哪|谁|誰|多少|几|怎么|怎麼|怎样|怎樣|如何|何")
_QUESTION_END: Final = r"[?？؟]+(?=[^?？؟]*[?？؟])|\n+|(?<![;；])[;；]++(?:\s|$)"
"""The end of a question that another one follows, of a line, or of a part."""
_BREAK: Final = re.compile(
    rf"{_QUESTION_END}|,?\s{{1,9}}(?:{_AND})\s{{1,9}}"
    rf"(?=(?:(?:[^\W\d_]{{1,{MAX_PREPOSITION_CHARS}}}\s+)?(?:{_ASKING})|{_VERBS})\b)"
)
_SUBJECT_BREAK: Final = re.compile(rf"{_BREAK.pattern}|,\s{{1,9}}(?:{_AND})\s{{1,9}}")
"""The break between parts if the question begins with its subject and a colon. Then ", and" is enough."""

_LINK: Final = rf"(?:{_AND}|or|oder|ou|vs\.?)\s{{1,9}}"
_LISTED: Final = re.compile(
    rf"(?<!\w)(\w++)(?:,\s{{1,9}}(?:{_LINK})?|\s{{1,9}}{_LINK}|\s?[&/+]\s?)(?=([\w.-]++(?:\s\w++)?))", re.IGNORECASE
)
"""Neighbours in a list: "X, Y", "X and Y", "X or the Y", "X vs. Y", "X/Y". The second has two words."""


def listed_terms(query: Query) -> frozenset[str]:
    """Return the needles of the terms that the question lists beside each other."""
    pairs = (map(partial(_terms_of, query), pair) for pair in _LISTED.findall(query.text[:MAX_QUERY_CHARS]))
    return frozenset().union(*(one | other for one, other in pairs if one and other))


def divide_query(query: Query) -> tuple[Query, ...]:
    """Return the parts of a question, each with all terms, of which those of the other parts weigh little.

    Returns no parts for a question that is one. Terms before a colon and in several parts belong to every part.
    """
    subject, colon, rest = query.text[:MAX_QUERY_CHARS].rpartition(": ")
    pieces = list(_split_unspaced((_SUBJECT_BREAK if colon else _BREAK).split(rest)))
    if len(pieces) < 2:
        return ()
    parts = _join_short(query, [_terms_of(query, piece) for piece in pieces])
    if len(parts) < 2:
        return ()
    shared = _terms_of(query, subject)
    return tuple(_weigh_part(query, part | shared) for part in parts)


def _split_unspaced(pieces: Iterable[str]) -> Iterator[str]:
    """Yield the pieces; divide them at the comma of Chinese that stands between two question words."""
    for piece in pieces:
        before, _, after = piece.partition("，")
        is_double = _UNSPACED_QUESTION.search(before) and _UNSPACED_QUESTION.search(after)
        yield from (before, after) if is_double else (piece,)


def _terms_of(query: Query, text: str) -> frozenset[str]:
    """Return the needles of the query's terms that stand in a piece of it."""
    found = extract_terms(lower(text), query.language)
    needles = {term.needle for term in found} | {term.surface for term in found}
    return frozenset(term.needle for term in query.terms if {term.needle, term.surface} & needles)


def _join_short(query: Query, pieces: list[frozenset[str]]) -> list[frozenset[str]]:
    """Join the pieces that have too few terms of their own, or are too many, with the piece before or after."""
    light = light_stems(query.language)
    heavy = {term.needle for term in query.terms if term.stem not in light}
    parts: list[frozenset[str]] = []
    for piece in pieces:
        seen = frozenset[str]().union(*parts)
        own = piece - seen
        is_short = len(own) < MIN_PART_TERMS or not own & heavy
        if parts and (is_short or len(parts) == MAX_PARTS or not parts[-1] & heavy):
            parts[-1] |= piece
        else:
            parts.append(piece)
    return parts


def _weigh_part(query: Query, part: frozenset[str]) -> Query:
    def weigh(term: Term) -> Term:
        return term if term.needle in part else replace(term, weight=term.weight * OTHER_PART_WEIGHT)

    return replace(query, terms=tuple(map(weigh, query.terms)))
