"""Terms are found in inflections, compounds, other accents and misspellings, and nowhere else."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from keyhole.passages.find import MAX_HITS, Hits, find_hits, find_places, is_one_edit_apart
from keyhole.passages.index import Index
from keyhole.passages.query import parse_query

GERMAN = "Der Statthalter der Stadt war in der Halle und es ist nicht bekannt, dass die anderen auch da waren. "
ENGLISH = "The governor of the town was in the hall and it is not known that the others were there. "
RUSSIAN = "Губернатор города был в зале, и те, кто был с ним, не знают, что он ушёл. "
VIETNAMESE = "Thành phố này là của những người đã được sống trong các làng và không có gì. "


def hits(text: str, query: str) -> list[Hits]:
    index = Index(text)
    parsed = parse_query(query, *index.sample)
    return [find_hits(index, term, parsed.language, parsed.folded) for term in parsed.terms]


def count(text: str, word: str) -> int:
    """Count the hits of the first term."""
    return hits(text, word)[0].count


@pytest.mark.parametrize(
    ("text", "query"),
    [
        (ENGLISH + "They surrendered.", "surrendering"),
        (ENGLISH + "Three cities fell.", "city"),
        (ENGLISH + "A house of the 1980s.", "1980"),
        (GERMAN + "Die Häuser brannten.", "Hauses"),
        (GERMAN + "Das Haustürschloss klemmt.", "Haustür"),
        (GERMAN + "Das Haustürschloss klemmt.", "Schloss"),
        (RUSSIAN + "Он купил чайники.", "чайник"),
        (ENGLISH + "The café in Québec.", "cafe"),
        (ENGLISH + "The cafe in Quebec.", "Québec"),
        (ENGLISH + "The e\u0301cole is closed.", "e\u0301cole"),
        ("मॉन्ट्रियल का पानी", "मॉन्ट्रियल"),
        ("استسلمت المدينة", "مدينة"),
        ("เมืองยอมจำนนแล้ว", "จำนน"),
        ("蒙特利尔投降了", "投降"),
        ("モントリオールは降伏した", "降伏"),
        ("몬트리올은 가을에", "몬트리올은"),
        (VIETNAMESE + "Quân đội đầu hàng.", "đầu"),
        (ENGLISH + "İstanbul is far.", "istanbul"),
        ("この文書はXMLデータを読む", "XML"),
        ("次にAPI仕様を示す", "api"),
        ("יש לו הAPI הזה", "api"),
        ("ملف بصيغةXML", "xml"),
        ("JSON은 문자열이다", "JSON"),
        ("설정은json에 있다", "JSON"),
        (RUSSIAN + "Укажите IPадрес сервера.", "ip"),
        (RUSSIAN + "Укажите IPадрес сервера.", "адреса"),
        ("ใช้คำสั่งcurlเพื่อดู", "curl"),
        ("电压为220V时", "220V"),
    ],
)
def test_a_form_of_a_word_is_found(text: str, query: str) -> None:
    assert count(text, query) > 0


@pytest.mark.parametrize(
    ("text", "query"),
    [
        (ENGLISH + "In 19450 and 11945 it rained.", "1945"),
        (ENGLISH + "The cats ran.", "ca"),
        (ENGLISH + "It ran for 1980sec.", "1980"),
        (ENGLISH + "A carpet and a carp.", "car"),
        (ENGLISH + "The unsurrendered one.", "surrender"),
        (RUSSIAN + "Он купил чаиник.", "чай"),
        (VIETNAMESE + "Quân đội dau hang.", "đầu"),
        ("蒙特利尔降投了", "投降"),
        ("この文書はXMLSデータを読む", "XML"),
    ],
)
def test_another_word_is_not_found(text: str, query: str) -> None:
    assert count(text, query) == 0


def test_an_identifier_is_found_as_a_whole_word() -> None:
    *_, whole = hits(ENGLISH + "Set max_wal_size1 and max_wal_size12, not xmax_wal_size1.", "max_wal_size1")
    assert (whole.term.surface, whole.count) == ("max_wal_size1", 1)


def test_a_korean_word_is_found_with_other_particles() -> None:
    whole, *pairs = hits("몬트리올은 가을에 항복했다.", "몬트리올이")
    assert whole.count == 0
    assert [pair.count for pair in pairs] == [1, 1, 1, 0]


def test_a_misspelt_term_finds_the_word_one_letter_away() -> None:
    text = ENGLISH + "Montreal fell. The montreals are many. Portugal stood."
    for misspelt in ("mantreal", "montral", "montreall", "motnreal", "nontreal", "montreap"):
        assert (misspelt, count(text, misspelt) > 0) == (misspelt, True)


def test_a_misspelling_weighs_less_than_the_word() -> None:
    (right,), (wrong,) = hits(ENGLISH + "Montreal.", "montreal"), hits(ENGLISH + "Montreal.", "mantreal")
    assert right.windows[0] > wrong.windows[0] > 0


def test_a_term_with_hits_is_not_searched_for_misspellings() -> None:
    assert count(ENGLISH + "The horse and the house.", "horse") == 1


@pytest.mark.parametrize(
    ("form", "word", "is_close"),
    [
        ("montreal", "montreal", True),
        ("mantreal", "montreal", True),
        ("ontreal", "montreal", True),
        ("montreall", "montreal", True),
        ("motnreal", "montreal", True),
        ("mantroal", "montreal", False),
        ("treal", "montreal", False),
        ("abcd", "badc", False),
        ("", "a", True),
        ("aaa", "aaaa", True),
    ],
)
def test_one_edit_is_an_inserted_deleted_replaced_or_swapped_letter(form: str, word: str, is_close: bool) -> None:
    assert is_one_edit_apart(form, word) is is_close
    assert is_one_edit_apart(word, form) is is_close


def test_an_exact_form_weighs_more_than_a_compound() -> None:
    (exact,) = hits(GERMAN + "Das Schloss klemmt.", "Schloss")
    (inner,) = hits(GERMAN + "Das Haustürschloss klemmt.", "Schloss")
    assert exact.windows[0] > inner.windows[0] > 0


def test_hits_are_mapped_to_their_windows_and_headings() -> None:
    text = "# Montreal\n\n" + ENGLISH * 20 + "\n\n## Quebec\n\n" + ENGLISH * 20 + "Montreal."
    (found,) = hits(text, "Montreal")
    assert found.count == 2
    assert sorted(found.windows) == [0, Index(text).size - 1]
    assert list(found.headings) == [0]


def test_hits_beyond_the_maximum_are_still_counted() -> None:
    times = MAX_HITS + 5_000
    (found,) = hits("montreal " * times, "montreal")
    assert found.count == times
    assert len(found.windows) == Index("montreal " * times).size


def test_windows_with_a_word_are_listed_once_and_cached() -> None:
    index = Index(ENGLISH * 40)
    assert index.windows_with("governor", True) == list(range(index.size))
    assert index.windows_with("overnor", True) == []
    assert index.windows_with("governor", True) is index.windows_with("governor", True)


def places(text: str, query: str, start: int = 0, end: int | None = None) -> list[str]:
    """Return the words at the places of the first term."""
    index = Index(text)
    parsed = parse_query(query, *index.sample)
    found = find_places(index, parsed.terms[0], parsed, [(start, len(text) if end is None else end)])
    return [text[begin:after] for begin, after in found]


def test_the_places_of_a_term_are_whole_words_and_grams() -> None:
    assert places(ENGLISH + "They surrendered.", "surrender") == ["surrendered"]
    assert places(GERMAN + "Das Haustürschloss klemmt.", "Schloss") == ["schloss"]
    assert places(ENGLISH + "The governer left.", "govenor") == ["governor"]
    assert places("蒙特利尔投降了", "投降") == ["投降"]


def test_a_word_near_a_term_is_no_place_if_the_term_itself_is_elsewhere_in_the_text() -> None:
    text = ENGLISH + "A governer left."
    assert places(text, "governor", len(ENGLISH)) == []


@given(st.text("abé 中İ", max_size=60), st.text("abé 中", min_size=1, max_size=6), st.integers(0, 60))
def test_a_text_in_two_ranges_has_the_places_of_all_hits(text: str, query: str, cut: int) -> None:
    index, cut = Index(text), min(cut, len(text))
    parsed = parse_query(query, *index.sample)
    for term in parsed.terms:
        found = list(find_places(index, term, parsed, ((0, cut), (cut, len(text)))))
        assert len(found) == find_hits(index, term, parsed.language, parsed.folded).count
        assert all(0 <= start < end <= len(text) for start, end in found)
