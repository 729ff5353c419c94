"""Put the characters of a drawn line with Arabic or Hebrew words in the order in which they are read. Pure.

Files draw such a line from left to right, each word in pieces and each bracket in its drawn form, and PDFium's order
is not always that of reading. So the order follows from the places of the characters: the Unicode bidirectional
algorithm (UAX 9), run backwards.
"""

from __future__ import annotations

import itertools
import re
import unicodedata
from bisect import bisect_left
from collections.abc import Iterator, Sequence
from functools import lru_cache
from typing import Final, NamedTuple

from keyhole.extensions.documents.pdf.page_parts import GAP, RTL_LETTER, WORD_GAP, PdfRule, is_rtl

FOUND_GAP: Final = 0.08
"""Smallest gap between the letters of two words where PDFium has found a space, in sizes of the font."""
BARE_GAP: Final = 0.4
"""The same where PDFium has found no space. Letters of an Arabic word that do not join are up to 0.2 apart."""
ACCENT_GAP: Final = 0.34
"""The same beside an accented letter, whose box may be that of its accent alone."""
SIGN_GAP: Final = 0.22
"""The same beside a sign. Brackets are up to 0.17 from their word, and spaces have 0.27."""
MAX_KNOWN: Final = 1_000
"""Number of characters whose kind is remembered."""
NEAR: Final = 0.1
"""Largest difference of two widths that are equal, in points."""

_JOINERS: Final = "\u200c\u200d"
_ARABIC = re.compile(r"[\u0600-\u0659\u066e-\u06ef\u06fa-\u08ff\ufb50-\ufdff\ufe70-\ufefc]")
_ARABIC_DIGIT = re.compile(r"[\u0660-\u0669]")
_REVERSED_LIGATURE = re.compile(r"[\u0622\u0623\u0625\u0627\u0671]+\u0644|\u0647\u0644")
"""The letters of a ligature in reverse. An alef never joins the lam after it; the other one is that of "Allah"."""
_NUMBER = re.compile(r"[EA]+(?:[.,:/\u066b\u066c][EA]+)*[%\u2030\u066a]*")
_HEBREW_NUMBER = re.compile(
    r"[#$%\u00a3\u00b0\u20aa\u20ac]{0,2}[EA]+(?:[.,:/+\u2212-][EA]+)*[#$%\u00a3\u00b0\u2030\u20aa\u20ac]*"
)
_LATIN = re.compile(r"L(?:[^R]*[LE])?")
_INNER = re.compile(r"R(?:[^L]*R)?")
_OPENING, _CLOSING = "([{\u00ab\u2039", ")]}\u00bb\u203a"
_TO_OPENING, _TO_CLOSING = str.maketrans(_CLOSING, _OPENING), str.maketrans(_OPENING, _CLOSING)
_TO_OTHER = str.maketrans(_OPENING + _CLOSING, _CLOSING + _OPENING)
_EMPTY = re.compile(r"\)\(|\]\[|\}\{")
_LONE_NUMBER = re.compile(r"[.):]+[EA]+")


class Glyph(NamedTuple):
    """A drawn character. `part`: the number of its word in PDFium's text. `number`: its own in that text."""

    text: str
    left: float
    top: float
    right: float
    bottom: float
    part: int
    number: int

    @property
    def box(self) -> tuple[float, float, float, float]:
        """Its left, top, right and bottom."""
        return self.left, self.top, self.right, self.bottom

    @property
    def middle(self) -> float:
        """The middle between its left and right side."""
        return (self.left + self.right) / 2


class ReadWord(NamedTuple):
    """A word as it is read, and its characters in that order."""

    text: str
    glyphs: tuple[Glyph, ...]

    @property
    def box(self) -> tuple[float, float, float, float]:
        """The box of its letters and digits. Its brackets may stand at the other side of another word."""
        glyphs = [glyph for glyph in self.glyphs if glyph.text.isalnum()] or self.glyphs
        lefts, tops, rights, bottoms = zip(*(glyph.box for glyph in glyphs), strict=True)
        return min(lefts), min(tops), max(rights), max(bottoms)


class _Atom(NamedTuple):
    """Characters that stay together: joined letters from right to left, or another character with its accents."""

    kind: str
    """R and L for letters, E and A for European and Arabic digits, otherwise the character itself."""
    glyphs: list[Glyph]
    left: float = 0.0
    right: float = 0.0


_SPACE: Final = _Atom(" ", [])


def read_rtl_line(
    glyphs: Sequence[Glyph], size: float, borders: Sequence[PdfRule], *, is_page_rtl: bool
) -> list[ReadWord]:
    """Return the words of a line in reading order. `glyphs`: in PDFium's order. `size`: that of the font.

    The pieces between wide gaps or `borders` of cells are read one after the other, from right to left. `is_page_rtl`:
    True if most of the page is read from right to left; a line with few letters of such a script then is, too.
    """
    glyphs = list(_join_replaced(glyphs))
    letters = [glyph for glyph in glyphs if not _is_accent(glyph.text)]
    if not letters:
        return [ReadWord("".join(glyph.text for glyph in glyphs), tuple(glyphs))]
    accents = _place_accents(glyphs, letters)
    atoms = [_place(atom, accents) for atom in _make_atoms(letters, size)]
    middle = (letters[0].top + letters[0].bottom) / 2
    crossing = sorted(rule.left for rule in borders if rule.top < middle < rule.bottom)
    pieces = list(_split(sorted(atoms, key=lambda atom: atom.left + atom.right), size, crossing))
    ordered = [_to_reading_order(piece, is_page_rtl=is_page_rtl) for piece in pieces]
    return [word for piece in reversed(ordered) for word in _read_words(piece)]


def _place(atom: _Atom, accents: dict[int, list[Glyph]]) -> _Atom:
    """Return an atom with its accents and its sides."""
    glyphs = [each for glyph in atom.glyphs for each in (glyph, *accents.get(glyph.number, ()))]
    return _Atom(atom.kind, glyphs, min(glyph.left for glyph in glyphs), max(glyph.right for glyph in glyphs))


@lru_cache(MAX_KNOWN)
def _is_accent(character: str) -> bool:
    return character in _JOINERS or unicodedata.category(character) == "Mn"


def _join_replaced(glyphs: Sequence[Glyph]) -> Iterator[Glyph]:
    """Yield the characters, with one box for the accented letters that PDFium spreads over the box of a replaced glyph.

    It spreads them from the left or from the right, and no accent is the first of them.
    """
    for _, group in itertools.groupby(glyphs, key=lambda glyph: (glyph.top, glyph.bottom, glyph.text.isspace())):
        spread = sorted(group, key=lambda glyph: glyph.left)
        width = spread[-1].right - spread[0].left
        is_even = all(abs(glyph.right - glyph.left - width / len(spread)) < NEAR for glyph in spread)
        if len(spread) == 1 or not is_even or not any(unicodedata.combining(glyph.text) for glyph in spread):
            yield from sorted(spread, key=lambda glyph: glyph.number)
            continue
        for glyph in spread[::-1] if _is_accent(spread[0].text) else spread:
            yield glyph._replace(left=spread[0].left, right=spread[-1].right)


def _place_accents(glyphs: Sequence[Glyph], letters: Sequence[Glyph]) -> dict[int, list[Glyph]]:
    """Return the accents of each letter by its index: those in its width, or those that follow no other letter."""
    by_place = sorted((letter for letter in letters if not letter.text.isspace()), key=lambda letter: letter.left)
    lefts = [letter.left for letter in by_place]
    accents: dict[int, list[Glyph]] = {}
    last = letters[0]
    for glyph in glyphs:
        if not _is_accent(glyph.text):
            last = last if glyph.text.isspace() else glyph
            continue
        at = glyph.middle + (NEAR if glyph.text in _JOINERS else 0.0)  # a joiner stands at the left of its letter
        near = by_place[max(0, bisect_left(lefts, at) - 1)] if by_place else last
        holder = near if near.left <= at <= near.right else last
        accents.setdefault(holder.number, []).append(glyph)
    return accents


def _make_atoms(glyphs: Sequence[Glyph], size: float) -> Iterator[_Atom]:
    atoms: list[_Atom] = []
    for glyph in glyphs:
        kind = _find_kind(glyph.text)
        last = atoms[-1] if atoms else None
        if last is not None and kind == last.kind == "R" and _joins(last.glyphs[-1], glyph, size):
            last.glyphs.append(glyph)
        else:
            atoms.append(_Atom(kind, [glyph]))
    return (_Atom("R", _order_letters(atom.glyphs)) if atom.kind == "R" else atom for atom in atoms)


@lru_cache(MAX_KNOWN)
def _find_kind(character: str) -> str:
    if character.isdecimal():
        return "A" if _ARABIC_DIGIT.match(character) else "E"
    if character.isalpha():
        return "R" if RTL_LETTER.match(character) else "L"
    return " " if character.isspace() else character


def _joins(last: Glyph, glyph: Glyph, size: float) -> bool:
    gap = max(last.left, glyph.left) - min(last.right, glyph.right)
    return last.part == glyph.part and gap < BARE_GAP * size


def _order_letters(glyphs: list[Glyph]) -> list[Glyph]:
    """Return joined letters from right to left."""
    steps = [second.middle - first.middle for first, second in itertools.pairwise(glyphs)]
    if any(step > 0 for step in steps):
        is_turned = all(step >= 0 for step in steps)
        glyphs = glyphs[::-1] if is_turned else sorted(glyphs, key=lambda glyph: -glyph.middle)
    ordered: list[Glyph] = []
    for _, group in itertools.groupby(glyphs, key=lambda glyph: (glyph.left, glyph.right)):
        ligature = list(group)
        is_reversed = _REVERSED_LIGATURE.match("".join(glyph.text for glyph in ligature))
        ordered += ligature[::-1] if is_reversed else ligature
    return ordered


def _split(atoms: Sequence[_Atom], size: float, borders: Sequence[float]) -> Iterator[list[_Atom]]:
    """Yield the pieces between wide gaps and borders, from left to right, with a space between two words."""
    piece: list[_Atom] = []
    is_apart = False
    for atom in atoms:
        if atom.kind == " ":
            is_apart = is_apart or atom.right > atom.left  # those without a width are PDFium's
            continue
        if piece:
            end, left = piece[-1].right, atom.left
            if left - end >= GAP * size or bisect_left(borders, end - 1) < bisect_left(borders, left + 1):
                yield piece
                piece = []
            elif is_apart or _is_gap(piece[-1], atom, size):
                piece.append(_SPACE)
        piece.append(atom)
        is_apart = False
    if piece:
        yield piece


def _is_gap(last: _Atom, atom: _Atom, size: float) -> bool:
    is_one = atom.glyphs[0].part in {glyph.part for glyph in last.glyphs}
    edges = last.glyphs[0], last.glyphs[-1], atom.glyphs[-1]
    if not (last.kind.isalpha() and atom.kind.isalpha()):
        smallest = SIGN_GAP
    elif not last.kind == atom.kind == "R":
        smallest = WORD_GAP if is_one else FOUND_GAP
    elif is_one:
        smallest = BARE_GAP
    else:
        smallest = ACCENT_GAP if any(_is_accent(glyph.text) for glyph in edges) else FOUND_GAP
    return atom.left - last.right > smallest * size


def _to_reading_order(piece: list[_Atom], *, is_page_rtl: bool) -> list[_Atom]:
    """Return a piece, given from left to right, in reading order."""
    kinds = "".join(atom.kind for atom in piece)
    text = "".join(glyph.text for atom in piece for glyph in atom.glyphs)
    if is_page_rtl or is_rtl(text) if "R" in kinds else _LONE_NUMBER.fullmatch(kinds):
        return _reverse(piece, kinds, is_arabic=_ARABIC.search(text) is not None)
    ordered: list[_Atom] = []
    at = 0
    for run in _INNER.finditer(kinds):
        ordered += piece[at : run.start()]
        ordered += _reverse(piece[run.start() : run.end()], run[0], is_arabic=_ARABIC.search(text) is not None)
        at = run.end()
    return ordered + piece[at:]


def _reverse(piece: list[_Atom], kinds: str, *, is_arabic: bool) -> list[_Atom]:
    """Return atoms from right to left, but numbers and Latin words as they stand."""
    runs: list[list[_Atom]] = []
    at = 0
    while at < len(kinds):
        number = (_NUMBER if is_arabic else _HEBREW_NUMBER).match(kinds, at)
        start = number.end() if number else at
        run = _LATIN.match(kinds, start + (number is not None and kinds[start : start + 1] == " ")) or number
        end = run.end() if run else at + 1
        brackets = sum(kind in _OPENING + _CLOSING for kind in kinds[at:end])
        if run and brackets % 2 and kinds[end : end + 1] in [*_OPENING, *_CLOSING]:
            end += 1
        runs.append(piece[at:end])
        at = end
    return [atom for run in reversed(runs) for atom in run]


def _read_words(atoms: Sequence[_Atom]) -> Iterator[ReadWord]:
    for is_space, group in itertools.groupby(atoms, key=lambda atom: atom is _SPACE):
        if not is_space:
            glyphs = tuple(glyph for atom in group for glyph in atom.glyphs)
            yield ReadWord(_turn_brackets("".join(glyph.text for glyph in glyphs)), glyphs)


def _turn_brackets(word: str) -> str:
    """Return a word whose brackets open before its letters and close behind them.

    A file gives a bracket that is read from right to left as it is drawn or as it is meant.
    """
    places = [place for place, character in enumerate(word) if character.isalnum()]
    if not places:
        return word
    before, letters, behind = word[: places[0]], word[places[0] : places[-1] + 1], word[places[-1] + 1 :]
    inner = [character for character in letters if character in _OPENING + _CLOSING]
    if not before and inner and inner[0] in _CLOSING and (len(inner) > 1 or behind):
        letters = letters.translate(_TO_OTHER)
    if len(behind) == 2 and (_EMPTY.fullmatch(behind) or _EMPTY.fullmatch(behind[::-1])):
        return before.translate(_TO_OPENING) + letters + "".join(sorted(behind))
    return before.translate(_TO_OPENING) + letters + behind.translate(_TO_CLOSING)
