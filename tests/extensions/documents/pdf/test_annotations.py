"""What lies on PDF pages: values of forms, links, notes. What a reader does not see of them is not shown."""

from __future__ import annotations

import pytest

from tests.extensions.documents.pdf.test_pdf_reader import make_pdf, read

LINE = b"BT /F 12 Tf 50 700 Td (%s) Tj ET\n"


def annotate(text: str, *annotations: str) -> str:
    """Return the text of a page with a line at 700 points and with annotations."""
    entries = f"/Annots[{''.join(f'<</Type/Annot{each}>>' for each in annotations)}]"
    return read(make_pdf(LINE % text.encode(), entries=entries.encode())).text.strip()


def link(left: int, right: int, address: str) -> str:
    return f"/Subtype/Link/Rect[{left} 697 {right} 712]/A<</S/URI/URI({address})>>"


def test_the_words_of_a_link_have_its_address() -> None:
    text = annotate("See the harbour map, or ask.", link(75, 163, "https://a.example/map"))
    assert text == "See [the harbour map](https://a.example/map), or ask."


def test_links_beside_each_other_and_over_a_rectangle_turned_round_are_read() -> None:
    turned = "/Subtype/Link/Rect[50 712 72 697]/A<</S/URI/URI(https://a.example/1)>>"
    text = annotate("One two three", turned, link(75, 96, "https://a.example/2"))
    assert text == "[One](https://a.example/1) [two](https://a.example/2) three"


def test_an_address_that_is_its_own_text_is_written_once() -> None:
    assert annotate("https://a.example/", link(50, 160, "https://a.example/")) == "https://a.example/"


@pytest.mark.parametrize("address", ["javascript:alert\\(1\\)", "data:text/html,x", "file:///etc/passwd", "../a.pdf"])
def test_a_link_that_is_no_address_of_the_web_is_text(address: str) -> None:
    assert annotate("Click here", link(50, 110, address)) == "Click here"


def test_a_link_over_two_lines_is_one_link() -> None:
    content = LINE % b"Read the rules of the quay and of the moles" + b"BT /F 12 Tf 50 686 Td (beside the wall.) Tj ET"
    boxes = "/QuadPoints[100 712 290 712 100 697 290 697 50 698 130 698 50 683 130 683]"
    entry = f"/Annots[<</Subtype/Link/Rect[50 683 290 712]{boxes}/A<</S/URI/URI(https://a.example/r)>>>>]"
    text = read(make_pdf(content, entries=entry.encode())).text
    assert text == "Read the [rules of the quay and of the moles beside the wall](https://a.example/r).\n"


FIELD = "/Subtype/Widget/Rect[150 695 250 715]/T(f)"


def test_a_field_has_its_value_behind_its_label() -> None:
    assert annotate("Owner:", f"{FIELD}/FT/Tx/V(Ada Example)") == "Owner: Ada Example"


def test_a_box_is_checked_or_not() -> None:
    box = "/Subtype/Widget/FT/Btn/Rect[30 698 44 712]/AS/"
    assert annotate("Insured", f"{box}Yes") == "[x] Insured"
    assert annotate("Insured", f"{box}Off") == "[ ] Insured"


def test_a_hidden_field_and_a_password_are_not_shown() -> None:
    assert annotate("Owner:", f"{FIELD}/FT/Tx/V(Ada Example)/F 2") == "Owner:"
    assert annotate("Code:", f"{FIELD}/FT/Tx/V(1234)/Ff 8192") == "Code:"


def test_notes_of_readers_are_named_as_notes() -> None:
    note = "/Subtype/Text/Rect[300 700 320 720]/Contents(The fee is wrong.)"
    assert annotate("The fee is 5.", f"{note}/T(Reviewer)") == "The fee is 5.\n\n(Note by Reviewer: The fee is wrong.)"
    assert annotate("The fee is 5.", note) == "The fee is 5.\n\n(Note: The fee is wrong.)"
    assert annotate("The fee is 5.", f"{note}/F 2") == "The fee is 5."


def test_text_beside_the_page_is_not_shown() -> None:
    assert read(make_pdf(LINE % b"Seen" + b"BT /F 12 Tf 700 700 Td (unseen words) Tj ET")).text == "Seen\n"
