"""Decoding of bodies by BOM, header, meta tag or guess, and recognition of binary data."""

from __future__ import annotations

import codecs
import random
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from keyhole.extract.body import decode, looks_binary
from keyhole.text.clean import clean
from tests.support.machine import allowed

TEXT = "Größe – naïve 数据库 Ж"
CHARSETS = st.sampled_from(
    ["utf-8", "latin1", "cp1252", "utf-16", "utf-7", "idna", "punycode", "undefined", "unicode_escape", "hex", "rot13",
     "mbcs", "oem", "zlib", "base64", "..", "aliases", "ütf", "x-user-defined", "gb2312", "shift_jis", "", "'", '"x"']
)  # fmt: skip


@pytest.mark.parametrize(
    ("bom", "charset"),
    [
        (codecs.BOM_UTF8, "utf-8"),
        (codecs.BOM_UTF16_LE, "utf-16-le"),
        (codecs.BOM_UTF16_BE, "utf-16-be"),
        (codecs.BOM_UTF32_LE, "utf-32-le"),
        (codecs.BOM_UTF32_BE, "utf-32-be"),
    ],
)
def test_a_byte_order_mark_overrides_the_header_and_is_removed(bom: bytes, charset: str) -> None:
    body = bom + TEXT.encode(charset)
    assert decode(body, "text/html; charset=iso-8859-1") == TEXT
    assert not looks_binary(body)


@pytest.mark.parametrize(
    ("content_type", "charset"),
    [
        ("text/html; charset=utf-8", "utf-8"),
        ('text/html; charset="UTF-8"', "utf-8"),
        ("text/html;charset='utf8'", "utf-8"),
        ("text/html; Charset = UTF-8; boundary=x", "utf-8"),
        ("text/html; charset=gb18030", "gb18030"),
        ("text/html; charset=utf-16le", "utf-16-le"),
    ],
)
def test_the_charset_of_the_header_is_used_in_any_spelling(content_type: str, charset: str) -> None:
    assert decode(TEXT.encode(charset), content_type) == TEXT


@pytest.mark.parametrize(
    "meta",
    ['<meta charset="koi8-r">', "<META CHARSET=koi8-r>", '<meta http-equiv=x content="text/html; charset=koi8-r">'],
)
def test_a_meta_charset_is_used_if_the_header_has_none(meta: str) -> None:
    body = f"<html><head>{meta}</head>Привет".encode("koi8-r")
    assert decode(body, "text/html").endswith("Привет")
    assert not decode(body, "text/html; charset=windows-1251").endswith("Привет")


def test_a_meta_charset_beyond_the_first_kilobytes_is_ignored() -> None:
    body = b" " * 5_000 + b"<meta charset=koi8-r>" + "größe".encode()
    assert decode(body, "text/html").endswith("größe")


@pytest.mark.parametrize("charset", ["utf-16", "utf-16le", "utf-16be"])
def test_a_meta_tag_readable_as_ascii_cannot_declare_utf_16(charset: str) -> None:
    """The HTML standard, "determining the character encoding": such a page is UTF-8."""
    body = f"<meta charset={charset}><p>größe".encode()
    assert decode(body, "text/html").endswith("<p>größe")
    legacy = f"<meta charset={charset}><p>{RUSSIAN}"
    assert decode(legacy.encode("cp1251"), "text/html") == legacy


def test_without_a_declaration_utf_8_is_tried_before_windows_1252() -> None:
    assert decode(TEXT.encode(), "text/html") == TEXT
    assert decode("“Größe” costs 5 €.".encode("cp1252"), "text/html") == "“Größe” costs 5 €."


def test_utf_8_truncated_inside_a_character_is_still_utf_8() -> None:
    assert decode("größer 😀".encode()[:-2], "text/plain") == "größer \ufffd"


@pytest.mark.parametrize("text", ["café au lait, café\n", "été", "ü.", "à é"])
def test_a_short_text_in_windows_1252_is_detected(text: str) -> None:
    assert decode(text.encode("cp1252"), "text/plain") == text


@pytest.mark.parametrize("label", ["iso-8859-1", "ISO-8859-1", "latin1", "us-ascii", "iso8859-1", "iso_8859-1", "l1"])
def test_every_label_of_latin_1_is_decoded_as_windows_1252_as_in_browsers(label: str) -> None:
    assert decode(b"\x93quoted\x94 \x80", f"text/html; charset={label}") == "“quoted” €"


@pytest.mark.parametrize(
    ("label", "charset", "text"),
    [
        ("gb2312", "gbk", "镕基"),
        ("shift_jis", "cp932", "①髙"),
        ("x-sjis", "cp932", "日本"),
        ("euc-kr", "cp949", "똠방"),
        ("ks_c_5601-1987", "cp949", "똠방"),
        ("windows-874", "cp874", "ภาษา"),
        ("iso-8859-9", "cp1254", "“ğ”"),
        ("windows-1251", "cp1251", "Привет"),
        ("big5", "big5hkscs", "嘅資料"),
    ],
)
def test_a_label_selects_the_same_charset_as_in_browsers(label: str, charset: str, text: str) -> None:
    """The WHATWG Encoding standard, section 4.2, maps labels to supersets."""
    assert decode(text.encode(charset), f"text/html; charset={label}") == text


@pytest.mark.parametrize("label", ["nonsense", "hex", "base64", "rot13", "mbcs", "aliases", "..", "ütf"])
def test_an_unknown_charset_is_ignored(label: str) -> None:
    assert decode(TEXT.encode(), f"text/html; charset={label}") == TEXT


@pytest.mark.parametrize("label", ["idna", "punycode", "undefined", "unicode_escape", "raw_unicode_escape", "utf-7"])
def test_a_python_codec_that_browsers_do_not_support_is_ignored(label: str) -> None:
    body = (TEXT + " \\x41 +AGE- \\d").encode()
    assert decode(body, f"text/html; charset={label}") == body.decode()


def test_a_stray_byte_does_not_change_the_charset() -> None:
    assert decode(b"gr\xc3\xb6\xff\xc3\x9fe", "text/html; charset=utf-8") == "grö\ufffdße"


@given(st.binary(max_size=200), st.builds("text/html; charset={}".format, CHARSETS) | st.text(max_size=40))
def test_any_body_under_any_header_is_decoded_without_failing(body: bytes, content_type: str) -> None:
    assert decode(body, content_type) == decode(body, content_type)


@pytest.mark.parametrize("label", ["utf-8", "punycode", "idna", "utf-7", "unicode_escape", "hz"])
def test_no_charset_is_slow(label: str) -> None:
    started = time.process_time()
    decode(b"abcdefgh" * 50_000, f"text/html; charset={label}")
    assert time.process_time() - started < allowed(0.5)


RUSSIAN = "Сегодня утром открылась выставка старых карт, и вход на неё свободный."
JAPANESE = "今朝、市立図書館で古い地図の展覧会が始まりました。入場は無料です。"
WESTERN = "Der Eintritt ist frei, aber am Wochenende kommt man besser früher: „Größe“ – für 2 €."


@pytest.mark.parametrize(
    ("charset", "text"),
    [
        *((charset, RUSSIAN) for charset in ("cp1251", "koi8_r", "iso8859_5", "cp866")),
        *((charset, JAPANESE) for charset in ("cp932", "euc_jp", "iso2022_jp")),
        ("gb18030", "今天早上，市图书馆的旧地图展览开幕了，入场免费。"),
        ("big5hkscs", "今天早上，市立圖書館的舊地圖展覽開幕了，入場免費。"),
        ("cp949", "오늘 아침 시립 도서관에서 옛 지도 전시회가 열렸습니다."),
        ("cp1253", "Σήμερα το πρωί άνοιξε μια έκθεση με παλιούς χάρτες."),
        ("cp1255", "הבוקר נפתחה בספרייה העירונית תערוכה של מפות ישנות."),
        ("cp1256", "افتتح صباح اليوم في مكتبة المدينة معرض للخرائط القديمة."),
        ("cp874", "เช้าวันนี้หอสมุดเมืองเปิดนิทรรศการแผนที่เก่า"),
        ("cp1250", "Dziś rano w bibliotece otwarto wystawę starych map, wstęp jest wolny, więc przyjdź wcześniej."),
        ("iso8859_2", "Dnes ráno byla v městské knihovně otevřena výstava starých map, přijďte dříve."),
        ("cp1254", "Bu sabah şehir kütüphanesinde eski haritalar sergisi açıldı, giriş ücretsiz."),
        ("cp1257", "Šįryt miesto bibliotekoje atidaryta senų žemėlapių paroda, įėjimas nemokamas."),
        ("cp1252", WESTERN),
    ],
)
@pytest.mark.parametrize(
    "tags", ["{}", "<!doctype html><title>A page</title><p class=x><a href=/y>{}</a>\n" + "<p>" * 3_000]
)
def test_an_undeclared_legacy_charset_is_detected(charset: str, text: str, tags: str) -> None:
    page = tags.format(text)
    assert decode(page.encode(charset), "text/html") == page


@pytest.mark.parametrize(
    "text",
    ["It’s late.", "© 2010 Company", "déjà vu, résumé, façade", "25 °C ± 3", "½ cup, ¾ cup, ¼ spoon", "§ 5, § 6, § 7",
     "soupe à l’oignon", "Menü öffnen, Menü schließen", "• One\n• Two\n• Three\n• Four", "“Quoted” – twice “here”"],
)  # fmt: skip
def test_a_few_western_letters_and_signs_are_not_detected_as_another_alphabet(text: str) -> None:
    assert decode(text.encode("cp1252"), "text/html") == text


def test_detection_skips_a_long_ascii_head() -> None:
    page = "<script>" + "var a = 1;\n" * 100_000 + f"</script><p>{RUSSIAN}</p>"
    assert decode(page.encode("cp1251"), "text/html") == page


@pytest.mark.parametrize("meta", ["", "<meta charset=utf-8>"])
@pytest.mark.parametrize(("charset", "text"), [("cp1251", RUSSIAN), ("cp932", JAPANESE), ("cp1252", WESTERN)])
def test_declared_utf_8_is_ignored_if_the_bytes_contradict_it(charset: str, text: str, meta: str) -> None:
    page = f"{meta}<p>{text}"
    assert decode(page.encode(charset), "text/html; charset=utf-8") == page


def test_the_meta_tag_decides_if_the_bytes_contradict_the_header() -> None:
    page = "<meta charset=koi8-r><p>Привет"
    assert decode(page.encode("koi8-r"), "text/html; charset=utf-8") == page


@pytest.mark.parametrize("broken", [b"\xff", b"\xe9t\xe9", b"\xed\xa0\x80\xed\xb0\x80", b"\xef\xbf\xbd" * 20])
def test_utf_8_with_a_few_broken_bytes_is_still_utf_8(broken: bytes) -> None:
    for text in (RUSSIAN, JAPANESE):
        body = text.encode() + broken + text.encode()
        decoded = decode(body, "text/html; charset=utf-8")
        assert decoded.startswith(text)
        assert decoded.endswith(text)
        assert "\ufffd" in decoded


@pytest.mark.parametrize(
    "label", ["iso-8859-1", "windows-1252", "us-ascii", "windows-1251", "gb2312", "shift_jis", "utf-16"]
)
@pytest.mark.parametrize("text", [RUSSIAN, JAPANESE, "été, Größe, naïve, señor – “quoted”"])
def test_utf_8_declared_as_another_charset_is_read_as_utf_8(label: str, text: str) -> None:
    assert decode(text.encode(), f"text/html; charset={label}") == text
    page = f"<meta charset={label}>{text}"
    assert decode(page.encode(), "text/html") == page


@pytest.mark.parametrize("text", ["© 2010", "It’s late", "5 €", "café"])
def test_one_western_sign_in_utf_8_overrides_declared_latin_1(text: str) -> None:
    assert decode(text.encode(), "text/html; charset=iso-8859-1") == text


@pytest.mark.parametrize(
    ("charset", "text"), [("gbk", "镕基"), ("cp1252", "»Spaß«"), ("cp1251", "Ж©"), ("cp1252", "“É»")]
)
def test_a_short_text_that_is_utf_8_by_chance_has_its_declared_charset(charset: str, text: str) -> None:
    assert decode(text.encode(charset), f"text/html; charset={charset}") == text


def test_ascii_contradicts_no_declared_charset() -> None:
    for label in ("iso-8859-1", "shift_jis", "koi8-r", "utf-16", "utf-8"):
        assert decode(b"plain words", f"text/html; charset={label}") == "plain words"


@given(st.binary(max_size=400) | st.text(max_size=100).map(lambda text: text.encode("utf-8", "surrogatepass")))
def test_any_bytes_are_decoded_deterministically(body: bytes) -> None:
    assert decode(body, "") == decode(bytes(body), "")
    clean(decode(body, "")).encode()


@pytest.mark.parametrize(
    "body",
    [b"\xe9 <p>" * 400_000, b"<" * 2_000_000 + b"\xe9" * 9, b"\xed\xa0\x80" * 600_000, b"\xc3\xa9" * 1_000_000,
     b"\x1b$" * 1_000_000, b"a" * 2_000_000 + b"\xe9" * 9],
    ids=["runs", "tags", "surrogates", "letters", "escapes", "ascii"],
)  # fmt: skip
@pytest.mark.parametrize("label", ["", "utf-8", "iso-8859-1", "gb18030"])
def test_no_body_is_slow(body: bytes, label: str) -> None:
    started = time.process_time()
    decode(body, f"text/html; charset={label}")
    assert time.process_time() - started < allowed(1.0)


def test_all_line_breaks_become_line_feeds() -> None:
    assert clean("a\r\nb\rc\nd\r\r\n") == "a\nb\nc\nd\n\n"


def test_control_characters_and_lone_surrogates_are_dropped_and_tabs_kept() -> None:
    assert clean("a\x00\x08\t\x0b\x0c\x1b[0m\x7f\x85\x9f\ud800\udfffb\u200d\u202e😀") == "a\t\nb😀"


@given(st.text())
def test_cleaned_text_can_be_encoded_and_cleaning_is_idempotent(text: str) -> None:
    cleaned = clean(text)
    cleaned.encode("utf-8")
    assert "\r" not in cleaned
    assert clean(cleaned) == cleaned


@pytest.mark.parametrize(
    "body",
    [
        b"%PDF-1.7\n",
        b"\x89PNG\r\n",
        b"\xff\xd8\xff\xe0",
        b"GIF89a",
        b"PK\x03\x04",
        b"\x1f\x8b\x08",
        b"\x7fELF",
        bytes(9),
    ],
)
def test_file_signatures_and_nul_bytes_are_binary(body: bytes) -> None:
    assert looks_binary(body + b"rest")


@pytest.mark.parametrize("body", [b"", b"text", b"PK is short for pack", b"{}", "größe".encode(), b"\xff\xfea\0b\0"])
def test_text_is_not_binary(body: bytes) -> None:
    assert not looks_binary(body)


@pytest.mark.parametrize("size", [400, 8_192, 100_000])
def test_compressed_and_encrypted_data_without_a_signature_are_binary(size: int) -> None:
    noise = random.Random(size).randbytes(size).replace(b"\0", b"")
    assert looks_binary(noise)
    assert looks_binary(b"BZh9" + noise)


@pytest.mark.parametrize(
    "body",
    [JAPANESE.encode("iso2022_jp"), b"\x1b[31mred\x1b[0m\n" * 50, b"N\x08NA\x08AM\x08ME\x08E\n" * 50, b"a\x0cb\n" * 50,
     *(RUSSIAN.encode(charset) for charset in ("cp1251", "koi8_r", "cp866", "utf-8"))],
)  # fmt: skip
def test_text_with_escapes_backspaces_and_form_feeds_is_not_binary(body: bytes) -> None:
    assert not looks_binary(body)


def test_riff_is_binary_only_with_a_known_format() -> None:
    assert looks_binary(b"RIFF\x24\x08\x00\x00WAVEfmt ")
    assert not looks_binary(b"RIFF is a container format, and this is a text about it.")


def test_a_stray_nul_in_a_long_text_is_not_binary() -> None:
    assert not looks_binary(b"word " * 100 + b"\0" + b"word " * 100)
