"""Links to the next and the previous page are in the rest of a page, whatever language names them."""

from __future__ import annotations

import pytest

from keyhole.extract import extract

PROSE = "<p>The pump moves water from the well, and it needs oil once a year, as its maker says.</p>" * 25
DOCBOOK = (
    '<div class="navheader"><table width="100%"><tr><th colspan="3">Capitolo 5. Pompe</th></tr>'
    '<tr><td><a accesskey="p" href="a.html"><img src="p.png" alt="Indietro"></a></td><th> </th>'
    '<td><a accesskey="n" href="b.html">Avanti</a></td></tr></table><hr></div>'
)
LATEX2HTML = (
    '<div><a href="b.html"><img alt="next" src="n.png"></a> <a href="u.html"><img alt="up" src="u.png"></a> '
    '<a href="a.html"><img alt="previous" src="p.png"></a><br><b>Next:</b> <a href="b.html">Wells of stone</a> '
    '<b>Up:</b> <a href="u.html">Parts</a> <b>Previous:</b> <a href="a.html">Handles</a></div>'
)
SPHINX = (
    '<div class="rel"><a href="i.html" accesskey="C">Contents</a> | <a href="a.html" accesskey="P">previous</a> | '
    '<a href="b.html" accesskey="N">next</a></div>'
)
HEAD = '<link rel="next" href="b.html"><link rel="prev" href="a.html">'


def read(body: str) -> tuple[str, str]:
    """Return the main part and the rest of a page."""
    html = f"<html><head><title>Pumps</title>{HEAD}</head><body>{body}</body></html>"
    document = extract(html.encode(), url="https://manual.example/c/5.html", content_type="text/html")
    return document.main, document.text[len(document.main) :]


@pytest.mark.parametrize(
    ("line", "words"),
    [
        (DOCBOOK, "Indietro"),
        (LATEX2HTML, "Wells of stone"),
        (SPHINX, "previous"),
        ("<p><a href=b.html>Weiter</a></p>", "Weiter"),
    ],
)
def test_a_line_of_links_to_the_pages_around_is_in_the_rest(line: str, words: str) -> None:
    main, rest = read(f"{line}<h1>5. Pumps</h1>{PROSE}")
    assert main.startswith("# 5. Pumps\n")
    assert words in rest


@pytest.mark.parametrize(
    "text",
    [
        "<p>Read about <a href=b.html>wells of stone</a> before you build a pump of your own.</p>",
        "<p><a href=other.html>Weiter</a></p>",
        "<table><tr><th>Part</th><th>Page</th></tr><tr><td>barrel</td><td><a href=x.html>3</a></td></tr></table>",
    ],
)
def test_other_links_stay_in_their_text(text: str) -> None:
    main, _ = read(f"<h1>5. Pumps</h1>{PROSE}{text}{PROSE}")
    assert ("wells of stone" in main) or ("Weiter" in main) or ("barrel" in main)


def test_a_line_drawn_below_the_links_is_omitted() -> None:
    main, _ = read(f"<p><a href=b.html>Next</a> Previous</p><hr><h1>5. Pumps</h1>{PROSE}<hr><p>End of it.</p>")
    assert main.startswith("# 5. Pumps\n")
    assert "\n---\n" in main
