"""Find the records of data that a question asks for: by words, numbers, or the largest and smallest. Pure."""

from __future__ import annotations

from bisect import bisect_right
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from functools import cache
from itertools import islice
from typing import Final

from keyhole.outputs.fields import Data, is_part_of_number, line_at
from keyhole.outputs.values import Telling, find_extremes, rank_numbers
from keyhole.passages.find import find_occurrences
from keyhole.passages.gaps import Span
from keyhole.passages.query import Match, Query, Term, parse_query
from keyhole.passages.rank import rarity
from keyhole.passages.words import UNSPACED, WORD, fold
from keyhole.text.data_file import read_sections
from keyhole.text.letters import lower

MAX_ASKED: Final = 12
"""Records that are shown before any other line. If more of them match equally well, their words distinguish none."""
ASKED_SHARE: Final = 0.8
"""A record is one of them if it has at least this share of the best record's weight."""
LEAST_SHARE: Final = 0.3
"""Smallest weight of the best record, as a share of the weight of all words of the question that the text has."""
MAX_PLACES: Final = 4_000
"""A word at more places is not looked for: it distinguishes few records."""
MAX_RECORD: Final = 400
"""Characters of a record that is shown whole. Of a longer one, only its lines with words of the question are shown."""
MAX_LONG: Final = 4
"""Long records whose lines with words of the question are shown."""
LONGEST_RECORD: Final = 6_000
"""Characters of a record in which the words of the question are looked for. A longer one has many subjects."""
NAME_WEIGHT: Final = 1.3
"""Factor of a word in the name of a record."""
MAX_TERMS: Final = 6
"""Words of the question, the rarest ones, whose places in a long record are compared."""
MAX_OCCURRENCES: Final = 12
"""Places of a word in a long record that are compared."""
MAX_PIECES: Final = 3
"""Lines of a long record that are shown."""
OPENED_LINES: Final = 2
"""Further lines shown after each of these lines: the first values of the object that it opens."""
MIN_ABBREVIATION: Final = 3
"""Letters of a word that may name a field."""
EXTREMES: Final = 3
"""Records with the largest numbers that are shown of a field."""
ORDER_WEIGHT: Final = 0.01
"""What a record gains if it has the numbers of the question in their order: it only decides between equal ones."""


@cache
def _extremes() -> dict[str, frozenset[str]]:
    """Return the words that ask for the largest or the smallest number, in lower case."""
    return {name: frozenset(words.split()) for name, words in read_sections(__file__, "extremes.txt").items()}


def _asks(low: str, name: str) -> bool:
    """Return whether a question has one of the words, or contains one of those in scripts without spaces."""
    words = _extremes()[name]
    return bool(words & set(WORD.findall(low))) or any(word in low for word in words if UNSPACED.search(word))


def question_words(question: str) -> list[str]:
    """Return the words of a question in lower case."""
    return [fold(word) for word in WORD.findall(lower(question)) if len(word) > 1]


def find_asked(text: str, question: str, data: Data) -> tuple[Telling | Span, ...]:
    """Return the records that a question asks for: those of an extreme, then those with most of its words."""
    query = parse_query(question, Counter(), 0)
    return (*_asked_extremes(lower(question), query, data), *_matching_records(text, query, data))


def _asked_extremes(low: str, query: Query, data: Data) -> list[Telling]:
    """Return the records with the extremes that a question asks for, of the field that it names or the most uneven."""
    is_smallest = _asks(low, "smallest")
    if not is_smallest and not _asks(low, "largest"):
        return []
    names = rank_numbers(data.fields)
    named = [name for name in names if any(_names(fold(lower(name)), term) for term in query.terms)]
    chosen = (named or names)[: 1 if named else 2]
    return [each for name in chosen for each in find_extremes(name, data.fields[name], EXTREMES, smallest=is_smallest)]


def _names(field: str, term: Term) -> bool:
    """Return whether a term names a field: a word of the field begins with it, or abbreviates it, as in %MEM."""
    words = [word for word in WORD.findall(field) if len(word) >= MIN_ABBREVIATION]
    return any(word.startswith(term.needle) or fold(term.surface).startswith(word) for word in words)


def _matching_records(text: str, query: Query, data: Data) -> Iterator[Span]:
    """Yield the records with most of the query's words, weighted by how few records have them; none if many have.

    Of a long record, its head and the lines with the rarest of the words are yielded.
    """
    low = lower(text)
    low = fold(low) if query.folded else low
    starts = [start for start, _ in data.records]
    names = [fold(lower(name)) for name in data.names]
    fields = fold(lower(" ".join(data.fields)))
    matches: list[tuple[Term, dict[int, float]]] = []
    weights: dict[int, float] = defaultdict(float)
    possible = 0.0
    for term in query.terms:
        if low.count(term.needle) > MAX_PLACES:
            continue
        found = _records_with(low, term, query.language, starts, data.records)
        own = rarity(len(found), len(starts)) * term.weight
        if found or (term.needle in low and term.needle not in fields):
            possible += own
        for number in found:
            found[number] *= own * (_name_factor(names[number], term) if names else 1.0)
            weights[number] += found[number]
        matches.append((term, found))
    if max(weights.values(), default=0.0) < LEAST_SHARE * possible:
        return
    chosen = _best(low, query, data.records, weights)
    long = [number for number in chosen if data.records[number][1] - starts[number] > MAX_RECORD]
    for number in chosen:
        if number not in long:
            yield data.records[number]
        elif number in long[:MAX_LONG]:
            if data.heads:
                yield starts[number], data.heads[number]
            terms = [(found[number], term) for term, found in matches if number in found]
            yield from _pieces(text, low, query, data.records[number], terms)


def _pieces(text: str, low: str, query: Query, record: Span, weighted: Sequence[tuple[float, Term]]) -> Iterator[Span]:
    """Yield the first line of a long record with its rarest word, and those with most of the words that it lacks."""
    part = low[record[0] : min(record[1], record[0] + LONGEST_RECORD)]
    places = [
        (record[0] + offset, weight, term.needle)
        for weight, term in sorted(weighted, key=lambda each: -each[0])[:MAX_TERMS]
        for offset, _ in islice(find_occurrences(part, term, query.language), MAX_OCCURRENCES)
    ]
    shown: set[str] = set()
    rarest = max(weighted, key=lambda each: each[0])[1].needle
    candidates = sorted(place for place, _, word in places if word == rarest)[:1]
    for _ in range(MAX_PIECES):
        best: tuple[float, int, Span, frozenset[str]] = (0.0, 0, record, frozenset())
        for place in candidates:
            start, end = line_at(text, record, place, OPENED_LINES)
            words = {word: weight for offset, weight, word in places if start <= offset < end and word not in shown}
            if (sum(words.values()), -place) > best[:2]:
                best = sum(words.values()), -place, (start, end), frozenset(words)
        if not best[3]:
            return
        shown |= best[3]
        yield best[2]
        candidates = sorted(place for place, *_ in places)


def _name_factor(name: str, term: Term) -> float:
    """Return the factor for a term in the name of a record: the more of the name it is, the larger."""
    return NAME_WEIGHT + len(term.needle) / len(name) / 2 if term.needle in name else 1.0


def _best(low: str, query: Query, records: Sequence[Span], weights: dict[int, float]) -> list[int]:
    """Return the numbers of the records with the largest weights, none if too many are equal."""
    best = max(weights.values(), default=0.0)
    chosen = [number for number, weight in weights.items() if weight >= ASKED_SHARE * best]
    numbers = [term.surface for term in query.terms if term.surface.isdigit()]
    if len(numbers) > 1:
        for number in chosen:
            weights[number] += ORDER_WEIGHT * _has_in_order(low[slice(*records[number])], numbers)
    chosen.sort(key=lambda number: (-weights[number], number))
    equal = sum(weights[number] == weights[chosen[0]] for number in chosen)
    return chosen[:MAX_ASKED] if equal <= max(MAX_ASKED, len(records) // MAX_ASKED) else []


def _records_with(
    low: str, term: Term, language: str, starts: Sequence[int], records: Sequence[Span]
) -> dict[int, float]:
    """Return the numbers of the records with a term, each with the weight of its best form."""
    found: dict[int, float] = {}
    for offset, weight in find_occurrences(low, term, language):
        if term.match is Match.EXACT and is_part_of_number(low, offset, offset + len(term.needle)):
            continue
        number = bisect_right(starts, offset) - 1
        if number >= 0 and offset < min(records[number][1], starts[number] + LONGEST_RECORD):
            found[number] = max(weight, found.get(number, 0.0))
    return found


def _has_in_order(low: str, numbers: Sequence[str]) -> bool:
    """Return whether a record has numbers in this order, as words."""
    words = iter(WORD.findall(low))
    return all(any(word == number for word in words) for number in numbers)
