"""A query as terms: what to look for in a text, how exactly, and how much each term counts."""

from __future__ import annotations

import re
from dataclasses import dataclass
from enum import Enum
from typing import Final

from keyhole.passages.languages import FUNCTION_WORDS, VIETNAMESE, guess_language, snowball_stem
from keyhole.passages.words import HAN, HANGUL, KANA, THAI_LIKE, UNSPACED, WORD, fold, fold_word, lower

MAX_QUERY_CHARS: Final = 2_000
"""Read of a query: what is longer is a pasted text, and costs time for nothing."""

MAX_TERMS: Final = 48
"""Terms looked for; a longer query is a pasted paragraph, its first words say enough."""

SHORT_WORD_CHARS: Final = 2
"""Words this short match only as they are: a prefix of two letters begins everything."""

MIN_NEEDLE_CHARS: Final = 3
"""The shortest prefix searched for a longer word."""

UNIGRAM_WEIGHT: Final = 0.3
"""A single Han character beside its bigrams: it finds abbreviations, but is ambiguous."""

SYLLABLE_WEIGHT: Final = 0.5
"""Korean syllable pairs beside the spaced word (eojeol), which carries particles."""

THAI_GRAM: Final = 3
"""Letters of one gram in Thai-like scripts: about a syllable, as two Han are about a word."""

_IDENTIFIER = re.compile(r"[^\W_]+(?:[._/:\-][^\W_]+)+")


def _runs(block: str) -> tuple[str, ...]:
    return tuple(block.split())


_ASKING: Final = {
    "han": _runs(
        """
        为什么 什么 甚么 哪些 哪个 哪里 哪儿 哪 谁 多少 何时 如何 怎么
        怎样 几 何 吗 呢 的 了 是 在 和 与 被 于 為什麼 什麼 哪個 哪裡 誰 嗎
        """
    ),
    "kana": _runs(
        """
        でしょうか ましたか ですか ますか どのような
        どんな どの どこ だれ いつ いくつ いくら
        なぜ なに なん どう する した され れた いる ある こと もの 何 誰
        は が を に の で と も へ た
        """
    ),
    "thai": _runs(
        """
        เมื่อไหร่ เมื่อใด ที่ไหน ทำไม อย่างไร เท่าไหร่ เท่าไร เท่าใด อะไร ใคร กี่ ใด ไหน คือ เป็น ของ
        ที่ และ ใน มี ได้ จาก ให้ ถูก
        """
    ),
}
"""Question words and particles of the unspaced scripts, longest first: cut out of the run."""


class Match(Enum):
    """How a term is compared with the text."""

    STEM = "stem"
    EXACT = "exact"
    GRAM = "gram"


@dataclass(frozen=True, slots=True)
class Term:
    """One thing to look for. `needle` is searched, `stem` decides how good the hit is."""

    surface: str
    needle: str
    stem: str
    match: Match
    weight: float = 1.0


@dataclass(frozen=True, slots=True)
class Query:
    """The terms of a query, without repetition, in its order, and the language they are in."""

    text: str
    language: str
    terms: tuple[Term, ...]

    @property
    def folded(self) -> bool:
        """Whether accents are ignored; in Vietnamese they make different words."""
        return self.language != VIETNAMESE


def parse(query: str, page_languages: dict[str, int], page_words: int) -> Query:
    """The query's terms, in the language that query and page together suggest."""
    asked = lower(query[:MAX_QUERY_CHARS])
    language = guess_language(page_languages, page_words, WORD.findall(asked))
    found: dict[tuple[str, str], Term] = {}
    for term in _all_terms(asked, language):
        found.setdefault((term.needle, term.match.value), term)
    kept = [term for term in found.values() if not _is_function_word(term, language)]
    return Query(query, language, tuple(kept or found.values())[:MAX_TERMS])


def _is_function_word(term: Term, language: str) -> bool:
    return term.match is not Match.GRAM and term.surface in FUNCTION_WORDS.get(language, ())


def _all_terms(asked: str, language: str) -> list[Term]:
    terms: list[Term] = []
    for word in WORD.findall(asked):
        if HANGUL.search(word):
            terms.append(_exact(word, language))
            terms += _grams(word, 2, SYLLABLE_WEIGHT)
        elif UNSPACED.search(word):
            terms += _unspaced_terms(word, "kana" if KANA.search(asked) else "han")
            terms += [_word_term(rest, language) for rest in UNSPACED.sub(" ", word).split()]
        else:
            terms.append(_word_term(word, language))
    for name in _IDENTIFIER.findall(asked):
        if any(char.isdigit() for char in name) or "_" in name:
            terms.append(_exact(name, language))
    return terms


def _word_term(word: str, language: str) -> Term:
    """A spaced word: by stem, unless it is short, has digits, or its language is not stemmed."""
    if (
        len(word) <= SHORT_WORD_CHARS
        or language == VIETNAMESE
        or (not word.isalpha() and any(char.isdigit() for char in word))
    ):
        return _exact(word, language)
    stem = stem_of(word, language)
    return Term(word, _needle(fold(word), stem), stem, Match.STEM)


def _exact(word: str, language: str) -> Term:
    plain = word if language == VIETNAMESE else fold(word)
    return Term(word, plain, plain, Match.EXACT)


def stem_of(word: str, language: str) -> str:
    """The stem of a lower-case word, without accents."""
    return fold_word(snowball_stem(language, word))


def _needle(word: str, stem: str) -> str:
    """What every inflection of the word begins with: what word and stem share, less a vowel."""
    same = 0
    while same < min(len(word), len(stem)) and word[same] == stem[same]:
        same += 1
    needle = word[:same]
    if len(needle) > MIN_NEEDLE_CHARS + 1 and needle[-1] in "iyeаеияыао":
        needle = needle[:-1]
    return needle if len(needle) >= min(MIN_NEEDLE_CHARS, len(word)) else word[:MIN_NEEDLE_CHARS]


def _unspaced_terms(word: str, script: str) -> list[Term]:
    terms: list[Term] = []
    for run in UNSPACED.findall(word):
        thai = THAI_LIKE.search(run) is not None
        for asking in _ASKING["thai" if thai else script]:
            run = run.replace(asking, " ")
        for piece in run.split():
            if thai:
                terms += _grams(piece, THAI_GRAM, 1.0)
            else:
                terms += _grams(piece, 2, 1.0)
                terms += [_gram(char, UNIGRAM_WEIGHT) for char in piece if HAN.match(char)]
    return terms


def _grams(piece: str, size: int, weight: float) -> list[Term]:
    last = len(piece) - size + 1
    if last < 1 and size > 2:
        return [_gram(piece, weight)]
    return [_gram(piece[i : i + size], weight) for i in range(last)]


def _gram(gram: str, weight: float) -> Term:
    plain = fold(gram)
    return Term(gram, plain, plain, Match.GRAM, weight)
