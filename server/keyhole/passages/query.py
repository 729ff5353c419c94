"""Parse a query into weighted terms to search for."""

from __future__ import annotations

import re
from dataclasses import dataclass
from enum import Enum
from typing import Final

from keyhole.passages.languages import FUNCTION_WORDS, VIETNAMESE, guess_language, snowball_stem
from keyhole.passages.words import HAN, HANGUL, KANA, THAI_LIKE, UNSPACED, WORD, fold, fold_word
from keyhole.text.letters import lower

MAX_QUERY_CHARS: Final = 2_000
"""Characters read of a query: a longer query is a pasted text, and the rest would only cost time."""

MAX_TERMS: Final = 48
"""Terms searched for; a longer query is a pasted paragraph, and its first words are enough."""

SHORT_WORD_CHARS: Final = 2
"""Words of at most this length match exactly: too many words begin with the same two letters."""

MIN_NEEDLE_CHARS: Final = 3
"""The shortest prefix that is searched for."""

UNIGRAM_WEIGHT: Final = 0.3
"""Weight of a single Han character, relative to a bigram: it finds abbreviations, but is ambiguous."""

SYLLABLE_WEIGHT: Final = 0.5
"""Weight of a Korean syllable pair, relative to the spaced word (eojeol), which includes particles."""

THAI_GRAM: Final = 3
"""Letters of a gram in Thai-like scripts, about a syllable. In other unspaced scripts a gram has two characters."""

_IDENTIFIER = re.compile(r"(?<![^\W_])[^\W_]++(?:[._/:\-][^\W_]++)+")
_SIGNED_LETTER = re.compile(r"(?<![\w%$@#-])[%$@#-]\w(?!\w)")
"""An option, a variable or a placeholder of one letter: `-H`, `$1`, `%E`. The letter alone is everywhere."""


_QUESTION_WORDS: Final = {
    "han": """
        为什么 什么 甚么 哪些 哪个 哪里 哪儿 哪 谁 多少 何时 如何 怎么
        怎样 几 何 吗 呢 的 了 是 在 和 与 被 于 為什麼 什麼 哪個 哪裡 誰 嗎
    """,
    "kana": """
        でしょうか ましたか ですか ますか どのような
        どんな どの どこ だれ いつ いくつ いくら
        なぜ なに なん どう する した され れた いる ある こと もの 何 誰
        は が を に の で と も へ た
    """,
    "thai": """
        เมื่อไหร่ เมื่อใด ที่ไหน ทำไม อย่างไร เท่าไหร่ เท่าไร เท่าใด อะไร ใคร กี่ ใด ไหน คือ เป็น ของ
        ที่ และ ใน มี ได้ จาก ให้ ถูก
    """,
}
"""Question words and particles of unspaced scripts, longer before their parts; they are removed from the query."""


class Match(Enum):
    """The way in which a term is compared with the text."""

    STEM = "stem"
    EXACT = "exact"
    GRAM = "gram"


@dataclass(frozen=True, slots=True)
class Term:
    """A term to search for: `needle` is the string that is searched, `stem` decides the weight of a hit."""

    surface: str
    needle: str
    stem: str
    match: Match
    weight: float = 1.0


@dataclass(frozen=True, slots=True)
class Query:
    """The distinct terms of a query in order, and their language."""

    text: str
    language: str
    terms: tuple[Term, ...]

    @property
    def folded(self) -> bool:
        """True if accents are ignored; in Vietnamese they distinguish words."""
        return self.language != VIETNAMESE


def parse_query(query: str, page_languages: dict[str, int], page_words: int) -> Query:
    """Parse a query in the most likely language of query and page. Drop function words, unless it has no other words.

    `page_languages` and `page_words`: the function words by language, and all words, in a sample of the page.
    """
    lowered = lower(query[:MAX_QUERY_CHARS])
    language = guess_language(page_languages, page_words, WORD.findall(lowered))
    distinct: dict[tuple[str, str], Term] = {}
    for term in extract_terms(lowered, language):
        distinct.setdefault((term.needle, term.match.value), term)
    content = [term for term in distinct.values() if not _is_function_word(term, language)]
    return Query(query, language, tuple(content or distinct.values())[:MAX_TERMS])


def _is_function_word(term: Term, language: str) -> bool:
    return term.match is not Match.GRAM and term.surface in FUNCTION_WORDS.get(language, ())


def extract_terms(query: str, language: str) -> list[Term]:
    terms: list[Term] = []
    for word in WORD.findall(query):
        if HANGUL.search(word):
            terms.append(_exact_term(word, language))
            terms += _gram_terms(word, 2, SYLLABLE_WEIGHT)
        elif UNSPACED.search(word):
            terms += _unspaced_terms(word, "kana" if KANA.search(query) else "han")
            terms += [_word_term(rest, language) for rest in UNSPACED.sub(" ", word).split()]
        else:
            terms.append(_word_term(word, language))
    for name in _IDENTIFIER.findall(query):
        if any(char.isdigit() for char in name) or "_" in name:
            terms.append(_exact_term(name, language))
    return terms + [_exact_term(name, language) for name in _SIGNED_LETTER.findall(query)]


def _word_term(word: str, language: str) -> Term:
    """Return a spaced word's term: matched by stem, or exactly if it is short, has digits or is Vietnamese."""
    has_digit = not word.isalpha() and any(char.isdigit() for char in word)
    if len(word) <= SHORT_WORD_CHARS or language == VIETNAMESE or has_digit:
        return _exact_term(word, language)
    stem = stem_word(word, language)
    return Term(word, _needle(fold(word), stem), stem, Match.STEM)


def _exact_term(word: str, language: str) -> Term:
    plain = word if language == VIETNAMESE else fold(word)
    return Term(word, plain, plain, Match.EXACT)


def stem_word(word: str, language: str) -> str:
    """Return the stem of a lower-case word, without accents."""
    return fold_word(snowball_stem(language, word))


def _needle(word: str, stem: str) -> str:
    """Return the prefix shared by a word's inflections: the common prefix of word and stem, without a final vowel."""
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
        is_thai = THAI_LIKE.search(run) is not None
        for question_word in _QUESTION_WORDS["thai" if is_thai else script].split():
            run = run.replace(question_word, " ")
        for piece in run.split():
            if is_thai:
                terms += _gram_terms(piece, THAI_GRAM, 1.0)
            else:
                terms += _gram_terms(piece, 2, 1.0)
                terms += [_gram_term(char, UNIGRAM_WEIGHT) for char in piece if HAN.match(char)]
    return terms


def _gram_terms(piece: str, size: int, weight: float) -> list[Term]:
    last = len(piece) - size + 1
    if last < 1 and size > 2:
        return [_gram_term(piece, weight)]
    return [_gram_term(piece[i : i + size], weight) for i in range(last)]


def _gram_term(gram: str, weight: float) -> Term:
    plain = fold(gram)
    return Term(gram, plain, plain, Match.GRAM, weight)
