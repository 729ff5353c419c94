"""Recognise the purpose of boxes by the words of their names, and of short texts by words in several languages."""

from __future__ import annotations

from functools import lru_cache
from typing import Final

_BOX_STEMS: Final = {
    "nav": "nav menu crumb toolbar skip masthead drawer dropdown",
    "foot": "foot copyright legal bottom disclaim",
    "share": "share sharing social follow like vote button btn action control",
    "promo": "promo advert _ad_ _ads_ sponsor newsletter subscri signup cookie consent popup modal overlay banner "
    "notice alert",
    "meta": "meta byline date time tag categor info label badge avatar user profile stat",
    "author": "author _bio contribut reviewer signature",
    "comment": "comment reply replies respond disqus discussion",
    "review": "review rating testimonial",
    "fold": "faq accordion collaps _tab expand",
    "related": "relat recommend popular trending _more similar latest recent upsell crosssell _cross _next _prev",
    "side": "side widget _rail",
    "slides": "carousel slider slick swiper slide gallery ticker playlist",
    "card": "card teaser tile grid item excerpt listing",
    "content": "content entry article body prose markdown rich _rte editor _post_ story text",
    "filter": "filter facet sort refine pagina pager search",
    "product": "product pdp price cart sku spec variant swatch shipping deliver",
    "caption": "caption credit figure image media photo",
    "heading": "title headline heading hero intro lead summary description",
    "quote": "quote signature onebox embed",
}
"""Parts of names by purpose; `_` is the edge of a word. Sites of all languages write class and id in English."""

_TEXT_WORDS: Final = {
    "related": "related recommended recommendations more also popular trending latest recent next similar sponsored "
    "stories explore featured read weitere ähnliche auch mehr meistgelesen empfehlungen lire aussi aimerez "
    "relacionados relacionadas más leídas también correlati leggi anche potrebbe lidas leia veja gerelateerd ook meer "
    "читайте похожие",
    "comment": "comment comments reply replies response responses discussion kommentar kommentare commentaire "
    "commentaires comentario comentarios commenti reacties комментарии",
    "promo": "newsletter subscribe subscription sign signup login log join follow share register download contact "
    "abonnieren anmelden teilen folgen inscrire inscription partager suscríbete suscribirse compartir iscriviti "
    "condividi assine inschrijven подписаться поделиться",
    "about": "author authors written reviewed about über propos sobre categories tags archives archive links company "
    "service legal privacy cookie cookies impressum menu navigation disclaimer",
    "credit": "© copyright rights reserved getty reuters photo photos photograph image credit credits courtesy foto "
    "crédit quelle advertisement",
    "shop": "add buy cart stock sold quantity shipping delivery return returns wishlist compare review reviews rating "
    "ratings star stars sort filter filters show view see all results warenkorb panier carrito",
    "time": "ago min minutes read hours hour day days january february march april may june july august september "
    "october november december jan feb mar apr jun jul aug sep sept oct nov dec",
}
"""Words of headings and labels by purpose."""

LANDMARKS: Final = ("nav", "header", "footer", "aside", "main", "article", "dialog", "section")
_ROLES: Final = {
    "navigation": "nav", "menu": "nav", "menubar": "nav", "banner": "header", "contentinfo": "footer",
    "complementary": "aside", "main": "main", "article": "article", "dialog": "dialog",
}  # fmt: skip
"""The landmark by a word of the names, which include the role."""

BOX_KINDS: Final = tuple(_BOX_STEMS)
TEXT_KINDS: Final = tuple(_TEXT_WORDS)
_STEMS: Final = [
    (stem.replace("_", " "), 1 << number) for number, stems in enumerate(_BOX_STEMS.values()) for stem in stems.split()
]
_START: Final = 3
"""Characters of the shortest stem, with its edges."""
_STEMS_BY_START: Final = {
    start: [(stem, kind) for stem, kind in _STEMS if stem.startswith(start)]
    for start in {stem[:_START] for stem, _ in _STEMS}
}
_WORDS: Final = {word: 1 << number for number, words in enumerate(_TEXT_WORDS.values()) for word in words.split()}
_SEPARATORS: Final = str.maketrans("-_:/[]", "      ")
_MARKS: Final = ".,:;!?|·•()\"'"
_WORDS_READ: Final = 12
"""Words at the beginning of a text that are looked up."""


@lru_cache(maxsize=4_096)
def match_names(names: str) -> tuple[int, int]:
    """Return the kinds and the landmarks of a box with these names, as bits."""
    kinds = landmarks = 0
    for word in names.translate(_SEPARATORS).split():
        more, landmark = _match_word(word)
        kinds |= more
        landmarks |= landmark
    return kinds, landmarks


@lru_cache(maxsize=16_384)
def _match_word(word: str) -> tuple[int, int]:
    kinds = 0
    padded = f" {word} "
    for place in range(len(padded) - _START + 1):
        for stem, kind in _STEMS_BY_START.get(padded[place : place + _START], ()):
            if padded.startswith(stem, place):
                kinds |= kind
    role = _ROLES.get(word)
    return kinds, 1 << LANDMARKS.index(role) if role else 0


def match_text_kinds(text: str) -> int:
    """Return the kinds of a text by its first words, as bits."""
    found = 0
    for word in text.lower().split(None, _WORDS_READ)[:_WORDS_READ]:
        found |= _WORDS.get(word, 0) or _WORDS.get(word.strip(_MARKS), 0)
    return found
