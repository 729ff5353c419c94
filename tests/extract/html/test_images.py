"""An image is written by its description, unless this says nothing."""

from __future__ import annotations

import pytest

from keyhole.extract.html.converter import to_markdown
from keyhole.extract.html.link_resolver import LinkResolver
from keyhole.extract.html.tree import parse_html

URL = "https://example.org/docs/page.html"


def markdown(html: str) -> str:
    return to_markdown(parse_html(html), LinkResolver(URL))


@pytest.mark.parametrize(
    "html",
    [
        '<img src="/p.gif" alt="x" width=1 height=1>',
        '<img src="/x.png" alt="">',
        '<img src="/x.png" alt="Logo">',
        '<a href="/"><img src="/x.png" alt="Company logo"></a>',
        '<img src="/x.png" alt="IMG_0001">',
        '<img src="/x.png" alt="photo-1.jpg">',
        '<img src="/x.png" alt="Chart" role="presentation">',
    ],
)
def test_a_decoration_is_left_out(html: str) -> None:
    assert markdown(f"{html}<p>Text") == "Text\n"


@pytest.mark.parametrize(
    ("html", "address"),
    [
        ('<figure><div><img src="/a.png" alt="A"></div></figure>', "(https://example.org/a.png)"),
        ('<figure><img src="/wait.gif" data-src="a.png" alt="A"></figure>', "(https://example.org/docs/a.png)"),
        ('<p><img src="/a.png" alt="A">', "(https://example.org/a.png)"),
        ('<div><img src="/a.png" alt="A"></div>', ""),
        ('<figure><img src="data:image/png;base64,x" alt="A"></figure>', ""),
        (f'<figure><img src="/{"a" * 400}.png" alt="A"></figure>', ""),
    ],
)
def test_an_image_of_a_figure_or_alone_in_a_paragraph_has_its_address(html: str, address: str) -> None:
    assert markdown(html) == f"[Image: A]{address}\n"


def test_an_image_in_a_link_has_the_address_of_the_link() -> None:
    text = markdown('<figure><a href="/big"><img src="/a.png" alt="A"></a>Boat</figure>')
    assert text == "[A](https://example.org/big) Boat\n"


@pytest.mark.parametrize(
    ("html", "text"),
    [
        ('<img src="data:x" data-src="/lazy.png" alt="a">', "[Image: a]"),
        ('one <img alt="No address"> two', "one No address two"),
        ('<img srcset="/one.png 1x, /two.png 2x" alt="a">', "[Image: a]"),
        ('<img class="emoji" src="/e.png" alt=":+1:">', ":+1:"),
        ('<a href="/x"><img src="/x.png" alt="Orders"></a>', "[Orders](https://example.org/x)"),
        ('<a href="/x"><img src="/x.png" alt="Orders"><b>Orders</b></a>', "[**Orders**](https://example.org/x)"),
        ('Press <img src="/s.png" alt="Save" width=16 height=16>to end', "Press Save to end"),
        ('<a href="/x"><img src="/s.png" alt="bag" width=16 height=16>Cart</a>', "[Cart](https://example.org/x)"),
        ('one<img src="/s.png" alt="">two', "one two"),
        ('A tall ship.<img src="/a.png" alt="Tall ship">', "A tall ship."),
        ('<img src="/a.png" alt="Tall"> <img src="/b.png" alt="tall">talls', "[Image: Tall] talls"),
        ('<img src="/a.png" alt="A"><ruby>x<rt>y</rt></ruby>', "[Image: A]x(y)"),
        ('<img src="/a.png" alt="A">text<br>line<img src="/b.png"><br>end', "[Image: A]text\nline\nend"),
    ],
)
def test_other_descriptions_are_words_or_say_what_a_picture_shows(html: str, text: str) -> None:
    assert markdown(html) == f"{text}\n"
