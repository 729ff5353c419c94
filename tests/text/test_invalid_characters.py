"""Characters that XML does not allow are replaced before a text is parsed, raw or as references."""

from __future__ import annotations

import re
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st
from lxml import etree

from keyhole.text.invalid_characters import DELETE, INVALID, replace_invalid, replace_references, unescape
from tests.support.documentation import ROOT
from tests.support.machine import allowed

INVALID_CODES = [*range(9), 0x0B, *range(0x0E, 0x20), 0xFFFE, 0xFFFF]


@pytest.mark.parametrize("code", INVALID_CODES)
@pytest.mark.parametrize(
    "form", ["{char}", "&#{code};", "&#{code}", "&#00{code};", "&#x{code:x};", "&#X{code:X}", "&#x000{code:X};"]
)
def test_an_invalid_character_is_replaced_in_every_form(code: int, form: str) -> None:
    assert replace_invalid(f"a{form.format(char=chr(code), code=code)} z") == f"a{DELETE} z"


@pytest.mark.parametrize("form", ["\f", "&#12;", "&#xC;", "&#x0c"])
def test_a_form_feed_is_white_space(form: str) -> None:
    assert replace_invalid(f"<p{form}x>") == "<p x>"


@pytest.mark.parametrize(
    "valid",
    ["&#9;&#10;&#13;", "&#x9;&#xA;&#xd;", "&#32;&#39;&#x27;&#x22;", "&#127;&#128;&#x9f;", "&#55295;&#xD7FF;&#57344;",
     "&#xE000;&#65533;&#xfffd;", "&#1114111;", "&amp;#11;", "&#;&#x;&#g;", "& #11;", "&#110;",
     "&#xB0;&#x110;&#x1F600;&#128512;", "a\tb\nc\rd \x7f\x80\x9f\ufffd\U0001fffe😀"],
)  # fmt: skip
def test_valid_characters_and_references_stay(valid: str) -> None:
    assert replace_invalid(valid) == valid


@pytest.mark.parametrize(
    "pair",
    ["&#55357;&#56832;", "&#xD83D;&#xDE00;", "&#xd83d&#xde00", "&#055357;&#x0DE00;", "\ud83d\ude00", "\ud83d&#56832;"],
)
def test_a_pair_of_surrogates_becomes_one_character(pair: str) -> None:
    assert replace_references(f"a{pair}z") == "a😀z"


@pytest.mark.parametrize(
    ("lone", "replaced"),
    [("&#55357;", "�"), ("&#56832;&#55357;", "��"), ("&#xDE00", "�"), ("\udfff", "�"),
     ("&#55357;&#55357;&#56832;", "�😀"), ("&#55357; &#56832;", "� �")],
)  # fmt: skip
def test_a_lone_surrogate_becomes_the_replacement_character(lone: str, replaced: str) -> None:
    assert replace_references(f"a{lone}z") == f"a{replaced}z"


@pytest.mark.parametrize("reference", ["&#1114112;", "&#x110000;", "&#xFFFFFFFFFFF;", f"&#{'9' * 10_000};"])
def test_a_reference_beyond_the_last_code_point_becomes_the_replacement_character(reference: str) -> None:
    assert replace_references(f"a{reference}z") == "a�z"


def test_a_valid_reference_that_might_be_too_large_is_shortened() -> None:
    assert replace_references("&#x10FFFF;&#x00000041") == "&#1114111;&#65;"
    assert replace_references(f"&#{'0' * 10_000}65;&#x{'0' * 10_000}3C;") == "&#65;&#60;"


def test_no_markup_and_no_reference_is_formed_by_a_replacement() -> None:
    assert "<script>" not in replace_invalid("<scr\x0bipt>&#60&#11;script>")
    assert not INVALID.search(replace_invalid("&#1\x0b1;&#&#11;11;"))
    assert "&#11;" not in replace_invalid("&#1\x0b1;&#&#11;11;")


@given(
    st.lists(
        st.sampled_from(["&#", "x", "0", "1", "b", "55357", "56832", ";", "\x0b", "\ud83d", "\ude00", "\uffff", "a"])
    ).map("".join)
)
def test_any_text_is_accepted_by_a_tree_afterwards(text: str) -> None:
    etree.Element("p").text = replace_invalid(text)


@pytest.mark.parametrize(
    "piece", ["words ", "&#x1F600;", "&#2472;", "&#11;", "&#55357;", "&#", "&#x", "0", "&#x0", "\x0b", "\ud800"]
)
def test_a_text_of_a_megabyte_is_read_in_linear_time(piece: str) -> None:
    for prefix in ("", "&#", "&#x"):
        start = time.process_time()
        replace_invalid(prefix + piece * (1_000_000 // len(piece)))
        assert time.process_time() - start < allowed(3)  # seconds; quadratic time takes minutes


@pytest.mark.parametrize("digits", ["9" * 5_000, "0" * 5_000 + "65", "x" + "f" * 5_000, "x" + "0" * 5_000 + "41"])
def test_a_reference_of_any_length_is_decoded(digits: str) -> None:
    assert unescape(f"a&amp;&#{digits};z") == f"a&{'A' if digits.startswith(('0', 'x0')) else '�'}z"


def test_only_this_module_decodes_references() -> None:
    package = ROOT / "server" / "keyhole"
    calling = [
        path.relative_to(package).as_posix()
        for path in package.rglob("*.py")
        if re.search(r"\bhtml\.unescape\(|from html import.*\bunescape\b", path.read_text(encoding="utf-8"))
    ]
    assert calling == ["text/invalid_characters.py"]
