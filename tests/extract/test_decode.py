"""Bytes to text: the charset by BOM, header, meta or guess, and no characters that are not text."""

from __future__ import annotations

import codecs
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from keyhole.extract.decode import decode, looks_binary, tidy

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
def test_a_byte_order_mark_decides_against_the_header_and_is_not_text(bom: bytes, charset: str) -> None:
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
def test_the_headers_charset_is_used_however_it_is_written(content_type: str, charset: str) -> None:
    assert decode(TEXT.encode(charset), content_type) == TEXT


@pytest.mark.parametrize(
    "meta",
    ['<meta charset="koi8-r">', "<META CHARSET=koi8-r>", '<meta http-equiv=x content="text/html; charset=koi8-r">'],
)
def test_a_meta_charset_is_used_when_the_header_names_none(meta: str) -> None:
    body = f"<html><head>{meta}</head>Привет".encode("koi8-r")
    assert decode(body, "text/html").endswith("Привет")
    assert not decode(body, "text/html; charset=utf-8").endswith("Привет")


def test_a_meta_charset_beyond_the_first_kilobytes_is_not_looked_for() -> None:
    body = b" " * 5_000 + b"<meta charset=koi8-r>" + "größe".encode()
    assert decode(body, "text/html").endswith("größe")


@pytest.mark.parametrize("charset", ["utf-16", "utf-16le", "utf-16be"])
def test_a_meta_tag_that_claims_utf_16_and_could_be_read_as_ascii_is_wrong_about_it(charset: str) -> None:
    """The HTML standard, "determining the character encoding": then the page is UTF-8."""
    body = f"<meta charset={charset}><p>größe".encode()
    assert decode(body, "text/html").endswith("<p>größe")


def test_without_a_name_utf_8_is_tried_and_windows_1252_taken_when_it_does_not_fit() -> None:
    assert decode(TEXT.encode(), "text/html") == TEXT
    assert decode("“Größe” costs 5 €.".encode("cp1252"), "text/html") == "“Größe” costs 5 €."


def test_utf_8_that_was_cut_in_the_middle_of_a_character_is_still_utf_8() -> None:
    assert decode("größer 😀".encode()[:-2], "text/plain") == "größer \ufffd"


@pytest.mark.parametrize("text", ["café au lait, café\n", "été", "ü.", "à é"])
def test_a_short_text_in_windows_1252_is_read_as_such(text: str) -> None:
    assert decode(text.encode("cp1252"), "text/plain") == text


@pytest.mark.parametrize("label", ["iso-8859-1", "ISO-8859-1", "latin1", "us-ascii", "iso8859-1", "iso_8859-1", "l1"])
def test_every_name_of_latin_1_means_windows_1252_as_in_browsers(label: str) -> None:
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
def test_a_label_means_what_browsers_take_it_for(label: str, charset: str, text: str) -> None:
    """The WHATWG Encoding standard, section 4.2: servers that say one mean the wider other."""
    assert decode(text.encode(charset), f"text/html; charset={label}") == text


@pytest.mark.parametrize("label", ["nonsense", "hex", "base64", "rot13", "mbcs", "aliases", "..", "ütf"])
def test_a_charset_that_does_not_exist_is_passed_over(label: str) -> None:
    assert decode(TEXT.encode(), f"text/html; charset={label}") == TEXT


@pytest.mark.parametrize("label", ["idna", "punycode", "undefined", "unicode_escape", "raw_unicode_escape", "utf-7"])
def test_a_codec_of_python_that_no_browser_knows_is_passed_over(label: str) -> None:
    body = (TEXT + " \\x41 +AGE- \\d").encode()
    assert decode(body, f"text/html; charset={label}") == body.decode()


def test_a_stray_byte_does_not_lose_the_page() -> None:
    assert decode(b"gr\xc3\xb6\xff\xc3\x9fe", "text/html; charset=utf-8") == "grö\ufffdße"


@given(st.binary(max_size=200), st.builds("text/html; charset={}".format, CHARSETS) | st.text(max_size=40))
def test_any_body_under_any_header_is_decoded_without_failing(body: bytes, content_type: str) -> None:
    assert decode(body, content_type) == decode(body, content_type)


@pytest.mark.parametrize("label", ["utf-8", "punycode", "idna", "utf-7", "unicode_escape", "hz"])
def test_no_charset_is_slow(label: str) -> None:
    started = time.process_time()
    decode(b"abcdefgh" * 50_000, f"text/html; charset={label}")
    assert time.process_time() - started < 0.5


def test_line_breaks_become_one_kind() -> None:
    assert tidy("a\r\nb\rc\nd\r\r\n") == "a\nb\nc\nd\n\n"


def test_control_characters_and_lone_surrogates_are_dropped_and_tabs_kept() -> None:
    assert tidy("a\x00\x08\t\x0b\x0c\x1b[0m\x7f\x85\x9f\ud800\udfffb\u200d\u202e😀") == "a\t\nb😀"


@given(st.text())
def test_tidied_text_can_be_encoded_and_tidying_again_changes_nothing(text: str) -> None:
    tidied = tidy(text)
    tidied.encode("utf-8")
    assert "\r" not in tidied
    assert tidy(tidied) == tidied


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


def test_a_riff_is_binary_only_as_a_file_of_that_format() -> None:
    assert looks_binary(b"RIFF\x24\x08\x00\x00WAVEfmt ")
    assert not looks_binary(b"RIFF is a container format, and this is a text about it.")


def test_a_stray_nul_in_a_long_text_is_not_binary() -> None:
    assert not looks_binary(b"word " * 100 + b"\0" + b"word " * 100)
