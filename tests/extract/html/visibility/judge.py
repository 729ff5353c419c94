"""Judge with headless Chromium whether a reader sees the marker on a page: by its pixels.

The marker is replaced by broad letters and then by spaces of the same width. The layout stays the same, so every pixel
that differs between the two pictures belongs to the marker. Clipping, colours, opacity and positions need no model.
"""

from __future__ import annotations

import io
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

from PIL import Image, ImageChops

from tests.support.chromium import Chromium, Page

MARKER: Final = "MARKER"
MIN_DIFFERENCE: Final = 13
"""Smallest difference of a channel, out of 255, that the eye can see. The extraction uses the same limit."""
MIN_PIXELS: Final = 10
"""Number of pixels that must differ: six letters of a font of 1 pixel have fewer."""
_PREPARE: Final = """(() => {
  document.getAnimations().forEach(a => { try { a.finish() } catch { a.pause(); a.currentTime = 0 } });
  if (document.querySelector('template[shadowrootmode]')) document.body.setHTMLUnsafe(document.body.innerHTML);
  const roots = [document];
  window.texts = [];
  for (const root of roots) {
    root.querySelectorAll('*').forEach(e => {
      const inner = e.shadowRoot || e.contentDocument;
      if (inner) roots.push(inner);
    });
    const walker = (root.ownerDocument || root).createTreeWalker(root, NodeFilter.SHOW_TEXT);
    while (walker.nextNode()) {
      const text = walker.currentNode;
      const unpainted = text.parentElement?.closest('style, script, title');
      if (text.data.includes('MARKER') && (!unpainted || unpainted.closest('svg'))) texts.push(text);
    }
  }
  window.fields = [...document.querySelectorAll('input')].filter(f => f.value === 'MARKER');
})()"""
_REPLACE: Final = """(() => {
  texts.forEach(t => { t.data = t.data.replace(window.last || 'MARKER', %r) });
  fields.forEach(f => { f.value = %r });
  window.last = %r;
})()"""


_FAMILIES: Final = ("standard", "fixed", "serif", "sansSerif", "cursive", "fantasy", "math")


@contextmanager
def open_page(browser: Chromium) -> Iterator[Page]:
    """Yield a page in which many probes can be judged, one after the other."""
    with browser.page("", scripts=True) as page:
        page.command("Page.setFontFamilies", fontFamilies=dict.fromkeys(_FAMILIES, "DejaVu Sans Mono"))
        yield page


def is_visible(page: Page, html: str) -> bool:
    """Return whether the marker can be seen in the window. Probes are short, so text further away was moved there."""
    page.browser.load(page, html)
    page.evaluate(_PREPARE)
    pictures = [_photograph(page, len(MARKER) * sign) for sign in ("M", "\u00a0")]
    if pictures[0] == pictures[1]:
        return False
    difference = ImageChops.difference(*(Image.open(io.BytesIO(picture)).convert("RGB") for picture in pictures))
    strongest = difference.getchannel(0)
    for channel in (1, 2):
        strongest = ImageChops.lighter(strongest, difference.getchannel(channel))
    return sum(strongest.histogram()[MIN_DIFFERENCE:]) >= MIN_PIXELS


def _photograph(page: Page, word: str) -> bytes:
    page.evaluate(_REPLACE % (word, word, word))
    return page.screenshot()
