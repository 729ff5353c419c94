"""Cleaning removes invisible characters, except those that a script or an emoji needs."""

from __future__ import annotations

import time
import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from keyhole.text.clean import clean, count_invisible, has_suspect_characters


def tags(word: str) -> str:
    return "".join(chr(0xE0000 + ord(letter)) for letter in word)


LEGITIMATE = (
    "⠓⠊⠀⠽⠕⠥",
    "⠀⠀⠁\n⠀⠃",
    "می‌خواهم",
    "خانه‌های ما",
    "نامه‌، و",
    "ہ‍",
    "क्‍ष",
    "র‍্য",
    "ක්‍ෂ ශ්‍රී",
    "ന്‍",
    "ᠠ᠋",
    "🏴" + tags("gbeng") + "\U000e007f",
    "🏴" + tags("gbwls") + "\U000e007f!",
    "🇨🇭🇩🇪",
    "👩🏽‍🚀",
    "👨‍👩‍👧‍👦",
    "🏳️‍🌈",
    "❤️‍🔥",
    "❤️",
    "☎︎",
    "1️⃣ #️⃣",
    "⛓️‍💥",
    "葛\U000e0100城",
    "∩︀",
    "שָׁלוֹם עֲלֵיכֶם",
    "ٱلْحَمْدُ لِلَّهِ",
    "𝒜 ∈ 𝔹, 𝟙",
    "naïve café e\u0301",
    "한국어 문장",
    "ไทย ภาษา",
    "ﬁne 10\xa0€",
    "arr[i](x) a < b",
    "\ue000\uf8ff",
    "tab\tand\nline",
    "[…12:34] as it is",
)
HOSTILE = (
    ("a\u202eb\u2066c\u2069", "abc"),
    ("co\xadop\u200ber\u2060ate\ufeff", "cooperate"),
    ("see" + tags("ignore all") + " this", "see this"),
    ("🏴" + tags("usca") + "\U000e007f", "🏴"),
    ("no\u2062\u2063\u2062\u2064", "no"),
    ("b\ufe01\ufe0f\U000e0101\U000e01ef", "b"),
    ("葛\U000e0100\U000e0101", "葛\U000e0100"),
    ("x\u200c\u200dy", "xy"),
    ("م\u200c\u200c\u200dن", "م\u200cن"),
    ("\ufff9base\ufffanote\ufffb", "basenote"),
    ("\u206a\u3164\uffa0\u115f\ufdd0\uffff\U0001d173\U0001bca0", ""),
    ("a\x1b[31;1mred\x1b[0m", "ared"),
    ("a\x1b]8;;https://evil.example\x1b\\link\x1b]8;;\x07", "alink"),
    ("\x1b]0;title\x07x\x1bPq payload\x1b\\y\x1b_app\x9cz", "xyz"),
    ("\x1bcreset\x1b(B", "reset"),
    ("a \x9b2Jb \x9d0;t\x9cc", "a b c"),
    ("â\x80\x9cwords that stay â\x80\x9d", "âwords that stay â"),
    ("open \x1b]never closed", "open never closed"),
    ("a\u2800\u2800b\u2800", "a b "),
    ("one\r\ntwo\rthree\u2028four\x85five", "one\ntwo\nthree\nfour\nfive"),
)
PIECES = [
    *LEGITIMATE,
    *(text for text, _ in HOSTILE),
    "\u200d",
    "\ufe0f",
    "\x1b",
    "[",
    "]",
    "…",
    "\u2800",
    "👩",
    "क",
    "a",
    "1",
    "⃣",
]
TEXTS = st.lists(st.sampled_from(PIECES) | st.text(max_size=4), max_size=12).map("".join)
LEFT = {*"\u200c\u200d\u180b\u180c\u180d\u180f", *map(chr, range(0xFE00, 0xFE10)), *map(chr, range(0xE0100, 0xE01F0))}


@pytest.mark.parametrize("text", LEGITIMATE)
def test_characters_that_a_script_or_an_emoji_needs_stay(text: str) -> None:
    assert clean(text) == text
    assert count_invisible(text) == 0


@pytest.mark.parametrize(("text", "cleaned"), HOSTILE)
def test_invisible_characters_are_removed(text: str, cleaned: str) -> None:
    assert clean(text) == cleaned


def test_only_characters_that_could_carry_a_message_are_counted() -> None:
    assert count_invisible("co\xadop\u200b\ufeff\x0c") == 0
    assert count_invisible("a\u202e" + tags("hi")) == 3


@given(TEXTS)
def test_cleaning_is_idempotent_and_leaves_no_invisible_characters(text: str) -> None:
    cleaned = clean(text)
    assert clean(cleaned) == cleaned
    assert count_invisible(cleaned) == 0
    tagged = {*tags("gbengsctwl"), "\U000e007f"}
    for sign in set(cleaned) - LEFT - tagged - {"\n", "\t"}:
        assert unicodedata.category(sign) not in {"Cc", "Cs"}, ascii(sign)
        assert not has_suspect_characters(sign), ascii(sign)


@given(st.sampled_from(LEGITIMATE), st.sampled_from(LEGITIMATE))
def test_legitimate_texts_stay_unchanged_next_to_each_other(one: str, other: str) -> None:
    assert clean(f"{one} {other}") == f"{one} {other}"


@pytest.mark.parametrize("piece", ["\x1b]", "\x9d", "\x1b[1;", "\u200d", "👩\u200d", "\U000e0041", "[…1", "\x1b]a\x1b"])
def test_cleaning_takes_linear_time(piece: str) -> None:
    began = time.perf_counter()
    clean(piece * (200_000 // len(piece)))
    assert time.perf_counter() - began < 5
