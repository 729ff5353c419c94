"""Build pages that show whether cost is linear in size: real pages grown by repetition, and hostile pages. No I/O."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

SIZES: Final = {"100 KB": 100_000, "1 MB": 1_000_000, "10 MB": 10_000_000}
MANY: Final = 100_000
"""Elements of a hostile page: so many that a quadratic step takes over a minute."""

_BODY: Final = re.compile(r"<body[^>]*>", re.IGNORECASE)


def grow(html: str, size: int) -> str:
    """Return the page with the content of its body repeated, or truncated, to `size` characters."""
    opened = _BODY.search(html)
    start = opened.end() if opened else 0
    end = html.lower().rfind("</body")
    end = end if end > start else len(html)
    head, body, tail = html[:start], html[start:end], html[end:]
    room = max(1, size - len(head) - len(tail))
    return head + (body * (room // max(1, len(body)) + 1))[:room] + tail


def _page(body: str) -> str:
    return f"<!doctype html><html><head><title>A page</title></head><body>{body}</body></html>"


def _sentence(length: int) -> str:
    sentence = "The road follows the river, and the mail is sorted by hand at every station. "
    return (sentence * (length // len(sentence) + 1))[:length]


def _deep_lists(depth: int) -> str:
    return "".join(f"<ul><li>Step {n} of the way down, which goes on" for n in range(depth)) + "</li></ul>" * depth


def _table(rows: int, columns: int) -> str:
    cells = "".join(f"<td>cell {column}</td>" for column in range(columns))
    return f"<table>{f'<tr>{cells}</tr>' * rows}</table>"


def _inlined_image(length: int) -> str:
    data = "iVBORw0KGgo" * (length // 11)
    return f'<p>{_sentence(500)}</p><img alt="a" src="data:image/png;base64,{data}"><p>End.</p>'


@dataclass(frozen=True, slots=True)
class Hostile:
    """A hostile page of `full` repetitions. `body` returns the HTML of the body for a number of repetitions."""

    full: int
    body: Callable[[int], str]

    def html(self, share: int = 1) -> str:
        """Return the page with `full / share` repetitions. A quarter of the page shows how the cost grows."""
        return _page(self.body(self.full // share))


HOSTILE: Final[dict[str, Hostile]] = {
    "100,000 nested div": Hostile(MANY, lambda n: "<div>" * n + "the end" + "</div>" * n),
    "100,000 nested div, words in each": Hostile(MANY, lambda n: "<div>a word " * n + "</div>" * n),
    "100,000 unclosed font": Hostile(MANY, lambda n: "".join(f"<font size={i % 7}>word " for i in range(n))),
    "100,000 unclosed b and p": Hostile(MANY, lambda n: "<p><b>word " * n),
    "100,000 sibling span": Hostile(MANY, lambda n: "<span>word</span> " * n),
    "100,000 sibling p": Hostile(MANY, lambda n: "<p>A short paragraph of words.</p>" * n),
    "100,000 sibling p, no closing tag": Hostile(MANY, lambda n: "<p>A short paragraph of words." * n),
    "100,000 li": Hostile(MANY, lambda n: f"<ul>{'<li>an entry' * n}</ul>"),
    "100,000 tr": Hostile(MANY, lambda n: f"<table>{'<tr><td>a</td><td>b</td></tr>' * n}</table>"),
    "100,000 links": Hostile(MANY, lambda n: "".join(f'<a href="/to/{i}">link {i}</a> ' for i in range(n))),
    "100,000 headings": Hostile(MANY, lambda n: "".join(f"<h2>Part {i}</h2>" for i in range(n))),
    "100,000 br": Hostile(MANY, lambda n: f"<p>{'line<br>' * n}</p>"),
    "100,000 comments": Hostile(MANY, lambda n: "<p>word</p><!-- a note -->" * n),
    "1 MB attribute": Hostile(1_000_000, lambda n: f'<p title="{_sentence(n)}">Text.</p>{_table(5, 5)}'),
    "1 MB class attribute": Hostile(111_111, lambda n: f'<div class="{"ad menu- " * n}"><p>{_sentence(500)}</p></div>'),
    "10 MB line in one p": Hostile(10_000_000, lambda n: f"<p>{_sentence(n)}</p>"),
    "10 MB of one letter": Hostile(10_000_000, lambda n: f"<p>{'a' * n}</p>"),
    "10 MB line in one pre": Hostile(10_000_000, lambda n: f"<pre>{_sentence(n)}</pre>"),
    "5 MB of base64 in an image": Hostile(5_000_000, _inlined_image),
    "60 lists 300 deep": Hostile(60, lambda n: _deep_lists(300) * n),
    "table of 20,000 rows of 10": Hostile(20_000, lambda n: _table(n, 10)),
    "table with a span of 1,000 x 1,000": Hostile(
        20_000,
        lambda n: f'<table><tr><td colspan="1000" rowspan="1000">a</td></tr>{"<tr><td>b</td></tr>" * n}</table>',
    ),
    "1 MB of <": Hostile(1_000_000, lambda n: "<" * n),
    "1 MB of &amp": Hostile(250_000, lambda n: "&amp" * n),
    "1 MB of spaces": Hostile(1_000_000, lambda n: f"<p>a{' ' * n}b</p>"),
    "1 MB of *_[]` in text": Hostile(200_000, lambda n: f"<p>{'*_[]`' * n}</p>"),
    "1 MB of unclosed tags": Hostile(111_111, lambda n: "<p <a <b " * n),
    "1 MB in a comment that never ends": Hostile(125_000, lambda n: f"<p>Text.</p><!-- {'word -- ' * n}"),
    "1 MB of script": Hostile(71_429, lambda n: f"<p>Text.</p><script>{'if (a < b) {} ' * n}</script>"),
}
