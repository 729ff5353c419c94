"""Provide the documents that are damaged: this project's own files of each format, and generated pages. Reads files."""

from __future__ import annotations

from pathlib import Path
from random import Random
from typing import Final, NamedTuple

FOLDER: Final = Path(__file__).resolve().parents[3] / "fixtures" / "formats"


class Seed(NamedTuple):
    """A document: its format, its name in a URL, the Content-Type header, and its bytes."""

    format: str
    name: str
    content_type: str
    body: bytes


TYPES: Final = {
    ".html": ("HTML", "text/html; charset=utf-8"),
    ".xhtml": ("XHTML", "application/xhtml+xml"),
    ".xml": ("XML", "application/xml"),
    ".rss": ("feed", "application/rss+xml"),
    ".atom": ("feed", "application/atom+xml"),
    ".json": ("JSON", "application/json"),
    ".jsonl": ("JSON", "application/jsonl"),
    ".csv": ("CSV", "text/csv"),
    ".tsv": ("CSV", "text/tab-separated-values"),
    ".md": ("text", "text/markdown"),
    ".txt": ("text", "text/plain"),
    ".svg": ("SVG", "image/svg+xml"),
    ".pdf": ("PDF", "application/pdf"),
    ".epub": ("EPUB", "application/epub+zip"),
    ".docx": ("Office", "application/vnd.openxmlformats-officedocument.wordprocessingml.document"),
    ".pptx": ("Office", "application/vnd.openxmlformats-officedocument.presentationml.presentation"),
    ".xlsx": ("Office", "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet"),
    ".png": ("image", "image/png"),
    ".jpg": ("image", "image/jpeg"),
    ".gif": ("image", "image/gif"),
    ".webp": ("image", "image/webp"),
    ".avif": ("image", "image/avif"),
    ".bmp": ("image", "image/bmp"),
    ".ico": ("image", "image/x-icon"),
}
"""Format and media type by the ending of a name."""
SHARES: Final = {
    "HTML": 40, "XHTML": 6, "XML": 6, "feed": 10, "JSON": 6, "CSV": 4, "text": 6, "SVG": 4, "image": 4,
    "EPUB": 3, "Office": 5,
}  # fmt: skip
"""Weights of the formats. Most pages are HTML; Office files take long. PDF, which native code reads, is in `pdf.py`."""
DAMAGED: Final = ("corrupted", "cut", "encrypted", "headless", "open-quote", "password", "scanned", "wrong")
"""Beginnings of the names of files that are damaged already or have no text."""
MAX_SEED_BYTES: Final = 40_000
"""Size in bytes of the largest file that is damaged, so that many can be read in a minute."""

PAGE: Final = """<!doctype html><html lang="en"><head><meta charset="utf-8"><title>The road &amp; the river</title>
<meta name="description" content="Stations of a road"><link rel="canonical" href="/road">
<style>.hidden{display:none} #menu > .item {color:red} @media (min-width:1px){p{margin:0}}</style>
<script type="application/ld+json">{"@type":"Article","headline":"The road","author":{"name":"A. Keeper"}}</script>
</head><body class="page"><header><nav id="menu"><ul><li class="item"><a href="/">Home</a><li><a href="/map">Map</a>
</ul></nav></header><main><article><h1>The road &#55357;&#56832; the river</h1><p>At each station the road follows the
river, and <a href="/keeper?a=1&amp;b=2">the keeper</a> waits<sup><a href="#fn1" id="r1">1</a></sup>.</p>
<p class="hidden">Nobody reads this.</p><div style="display:none">Nor this.</div><h2>Distances</h2><table><caption>Miles
</caption><thead><tr><th colspan="2">From<th>To</thead><tbody><tr><td rowspan=2>One<td>Two<td>3</tr><tr><td>Four<td>5
</tbody></table><pre><code class="language-python">def walk(miles):\n    return miles &lt; 5\n</code></pre>
<ol start="3"><li>Pack<ul><li>water<li>bread</ul><li value="9">Walk</ol><dl><dt>Mile<dd>A distance</dl>
<math><mi>x</mi><mo>=</mo><mn>1</mn><annotation encoding="application/x-tex">x=1</annotation></math>
<details><summary>More</summary><p>Hidden at first.</details><ruby>山<rp>(</rp><rt>yama</rt><rp>)</rp></ruby>
<blockquote><p>Quoted &#8212; twice&#11;</blockquote><img src="data:image/png;base64,AAAA" alt="A map"><svg><title>No
</title><text>drawn</text></svg><form><select><option>1<option selected>2</select><textarea>3</textarea></form>
<template><p>never</template><noscript><p>Enable scripts</noscript><p id="fn1">A note.</p></article></main>
<aside><h2>Related</h2><ul><li><a href="/a">One</a><li><a href="/b">Two</a></ul></aside><footer>© Keepers</footer>
<script>window.__DATA__ = {"text": "</p>"};</script></body></html>"""
"""A page with every kind of content that the converter treats in its own way."""
TEXT: Final = """---\ntitle: The road\n---\n# The road\n\nAt each station [the keeper](/keeper "A title") waits.\n
| a | b |\n|---|---|\n| 1 | ![x](data:image/png;base64,AAAA) |\n\n```python
print("x")
```\n\n> quoted\n\n- one\n  1. two\n"""


def read_seeds() -> dict[str, list[Seed]]:
    """Return the seeds of each format."""
    bodies = [
        (path.name, path.read_bytes())
        for path in sorted(FOLDER.iterdir())
        if path.suffix in TYPES and not path.name.startswith((*DAMAGED, "README"))
    ]
    bodies += [("page.html", PAGE.encode()), ("page.xhtml", make_xhtml().encode())]
    bodies += [("page.md", TEXT.encode()), ("page.txt", TEXT.encode())]
    seeds: dict[str, list[Seed]] = {}
    for name, body in bodies:
        form, content_type = TYPES[name[name.rindex(".") :]]
        if len(body) <= MAX_SEED_BYTES:
            seeds.setdefault(form, []).append(Seed(form, name, content_type, body))
    return seeds


def make_xhtml() -> str:
    """Return a page in XHTML."""
    return (
        '<?xml version="1.0" encoding="utf-8"?>\n<html xmlns="http://www.w3.org/1999/xhtml" xml:lang="en"><head>'
        "<title>The road</title><style><![CDATA[p { color: red }]]></style></head><body><h1>The road</h1>"
        '<p>At each station<br/> the road follows the river.</p><p hidden="hidden"/><script src="x"/>'
        '<svg xmlns="http://www.w3.org/2000/svg"><text>drawn</text></svg><p>The keeper waits &#xE9;.</p></body></html>'
    )


def choose_seed(seeds: dict[str, list[Seed]], rng: Random) -> Seed:
    """Return a random seed of a random format."""
    (form,) = rng.choices(list(SHARES), list(SHARES.values()))
    return rng.choice(seeds[form])
