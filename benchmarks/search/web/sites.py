"""The sites of the loopback web: the address, template and delay of each page. No I/O.

Each manual has its own site. A third of the pages have a copy at a syndicating site with another template; some are
listed with tracking parameters or as an AMP variant. All of this depends on the page's id alone, so that every run has
the same web.
"""

from __future__ import annotations

import html
import zlib
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Final, Literal

from benchmarks.search.web.corpus import CorpusPage

Pace = Literal["late", "drips", "endless"]

HOSTS: Final = {
    "postgresql": "127.0.0.11", "sqlite": "127.0.0.12", "python": "127.0.0.13", "handbook-en": "127.0.0.14",
    "handbook-de": "127.0.0.15", "handbook-fr": "127.0.0.16", "handbook-es": "127.0.0.17", "handbook-pt-br": "127.0.0.18",
    "handbook-ru": "127.0.0.19", "handbook-ja": "127.0.0.20", "handbook-zh": "127.0.0.21",
}  # fmt: skip
NAMES: Final = {
    "postgresql": "PostgreSQL 15 Documentation", "sqlite": "SQLite", "python": "Python 3.11 Documentation",
    "handbook": "Debian Handbook",
}  # fmt: skip
COPIES: Final = ("127.0.0.31", "127.0.0.32")
"""Sites that republish pages of other sites."""
TROUBLE: Final = "127.0.0.41"
"""The site of missing, broken and hostile pages."""
CLOSED: Final = "127.0.0.51"
"""An address on which nothing listens."""
SEARCH: Final = "127.0.0.61"
"""The search API; Keyhole may not fetch pages from it."""
NO_NAME: Final = "http://manuals.keyhole-benchmark.invalid/"
"""A name that can never exist (RFC 6761)."""
DELAY: Final = (0.02, 0.3)
"""Seconds before a page answers in normal mode."""
SLOW: Final = (2.0, 8.0)
"""Seconds that a slow page takes in slow mode."""


@dataclass(frozen=True, slots=True)
class Place:
    """An address of the web and the page that it serves."""

    host: str
    path: str
    page: CorpusPage
    copy: bool = False
    amp: bool = False

    @property
    def title(self) -> str:
        """The page's title with the name of the site."""
        return f"{self.page.title} - {NAMES[self.page.manual]}"

    @property
    def key(self) -> str:
        """Host and path, from which the properties of the address are derived."""
        return self.host + self.path

    @property
    def delay(self) -> float:
        """Seconds before the page answers in normal mode."""
        return _between(DELAY, "delay" + self.key)

    @property
    def slow_delay(self) -> float:
        """Seconds that the page takes in slow mode if it is slow."""
        return _between(SLOW, "slow" + self.key)


def seeded_fraction(key: str) -> float:
    """Return a pseudo-random number in [0, 1) that depends only on the key."""
    return zlib.crc32(key.encode()) / 2**32


def _between(bounds: tuple[float, float], key: str) -> float:
    return bounds[0] + (bounds[1] - bounds[0]) * seeded_fraction(key)


def build_places(pages: Iterable[CorpusPage]) -> dict[str, Place]:
    """Return every address that serves a page, by host and path."""
    places = []
    for page in pages:
        manual, name = page.id.split("/", 1)
        places.append(Place(HOSTS[manual], f"/docs/{name}.html", page))
        if seeded_fraction("copy" + page.id) < 1 / 3:
            host = COPIES[seeded_fraction("site" + page.id) < 0.5]
            places.append(Place(host, f"/library/{manual}/{name.replace('/', '-')}", page, copy=True))
        if seeded_fraction("amp" + page.id) < 1 / 6:
            places.append(Place(HOSTS[manual], f"/amp/docs/{name}.html", page, copy=True, amp=True))
    return {place.key: place for place in places}


def choose_pace(place: Place, answering: frozenset[str]) -> Pace | None:
    """Return how a page is slow in slow mode; None for the two thirds of the pages that are fast.

    `answering`: ids of the pages that questions need. Only copies of these may be endless, as an endless page cannot
    be read.
    """
    if seeded_fraction("third" + place.key) >= 1 / 3:
        return None
    kind = seeded_fraction("kind" + place.key)
    if kind < 0.15 and (place.copy or place.page.id not in answering):
        return "endless"
    return "drips" if kind < 0.3 else "late"


def listed_path(place: Place) -> str:
    """Return the path under which engines list a place; 15 % have tracking parameters."""
    campaign = seeded_fraction("campaign" + place.key)
    return place.path + ("?utm_source=newsletter&utm_medium=email&gclid=Cj0K" if campaign < 0.15 else "")


# Page templates.

_WORDS: Final = {
    "en": ("Home", "Documentation", "Community", "Search", "We use cookies to improve this site.", "Accept", "Next",
           "Was this page helpful?", "Subscribe to our newsletter", "All rights reserved where the law has them."),
    "de": ("Startseite", "Dokumentation", "Gemeinschaft", "Suche", "Wir verwenden Cookies, um diese Seite zu verbessern.",
           "Annehmen", "Weiter", "War diese Seite hilfreich?", "Newsletter abonnieren", "Impressum und Datenschutz"),
    "fr": ("Accueil", "Documentation", "Communauté", "Rechercher", "Nous utilisons des cookies pour améliorer ce site.",
           "Accepter", "Suivant", "Cette page vous a-t-elle aidé ?", "Abonnez-vous à la lettre", "Mentions légales"),
    "es": ("Inicio", "Documentación", "Comunidad", "Buscar", "Usamos cookies para mejorar este sitio.", "Aceptar",
           "Siguiente", "¿Le ha sido útil esta página?", "Suscríbase al boletín", "Aviso legal"),
    "pt-br": ("Início", "Documentação", "Comunidade", "Buscar", "Usamos cookies para melhorar este site.", "Aceitar",
              "Próximo", "Esta página foi útil?", "Assine o boletim", "Aviso legal"),
    "ru": ("Главная", "Документация", "Сообщество", "Поиск", "Мы используем файлы cookie.", "Принять", "Далее",
           "Была ли эта страница полезной?", "Подпишитесь на рассылку", "Правовая информация"),
    "ja": ("ホーム", "文書", "コミュニティ", "検索", "当サイトではクッキーを使用しています。", "同意する", "次へ",
           "このページは役に立ちましたか?", "ニュースレターを購読する", "利用規約"),
    "zh": ("首页", "文档", "社区", "搜索", "本网站使用 Cookie 改善体验。", "接受", "下一页", "本页对您有帮助吗?", "订阅电子报", "法律声明"),
}  # fmt: skip


def render_page(place: Place, neighbours: Iterable[Place]) -> str:
    """Return the page in its site's template, with links to its neighbours on the site."""
    links = [(near.path, near.page.title) for near in neighbours]
    if place.amp:
        return _amp(place)
    return (_magazine if place.copy else _TEMPLATES[sum(place.host.encode()) % len(_TEMPLATES)])(place, links)


def _head(place: Place, site: str) -> str:
    title = html.escape(place.title)
    return (
        f'<!DOCTYPE html><html lang="{place.page.language}"><head><meta charset="utf-8"><title>{title} - {site}</title>'
        '<meta name="viewport" content="width=device-width"><link rel="stylesheet" href="/static/site.css">'
        "<script>window.dataLayer=window.dataLayer||[];function gtag(){dataLayer.push(arguments)}</script></head>"
    )


def _nav(links: list[tuple[str, str]]) -> str:
    return "".join(f'<li><a href="{path}">{html.escape(title)}</a></li>' for path, title in links)


def _manual(place: Place, links: list[tuple[str, str]]) -> str:
    words = _WORDS[place.page.language]
    return f"""{_head(place, "Manuals")}<body><div class="cookie-banner" role="dialog"><p>{words[4]}</p>
<button>{words[5]}</button></div><header class="site-header"><nav><ul><li><a href="/">{words[0]}</a></li>
<li><a href="/docs/">{words[1]}</a></li><li><a href="/community/">{words[2]}</a></li></ul>
<form action="/search"><input name="q" placeholder="{words[3]}"></form></nav></header>
<div class="layout"><aside class="sidebar"><ul>{_nav(links)}</ul></aside><main id="content">{place.page.html}</main></div>
<div class="feedback"><p>{words[7]}</p></div><footer class="footer"><p>{words[9]}</p></footer></body></html>"""


def _portal(place: Place, links: list[tuple[str, str]]) -> str:
    words = _WORDS[place.page.language]
    return f"""{_head(place, "The Portal")}<body class="docs"><div id="top"><a href="/">{words[0]}</a> ›
<a href="/docs/">{words[1]}</a> › {html.escape(place.page.title)}</div><table class="page"><tr>
<td class="menu"><ul>{_nav(links)}</ul></td><td class="text"><div class="article">{place.page.html}</div>
<p class="next"><a href="{links[0][0] if links else "/"}">{words[6]} »</a></p></td></tr></table>
<div class="newsletter"><h4>{words[8]}</h4><form><input type="email"></form></div>
<div id="bottom">{words[9]}</div></body></html>"""


def _magazine(place: Place, links: list[tuple[str, str]]) -> str:
    words = _WORDS[place.page.language]
    return f"""{_head(place, "The Reading Room")}<body><div class="consent-overlay">{words[4]} <a href="#">{words[5]}</a></div>
<header><div class="logo">The Reading Room</div><nav class="menu"><a href="/">{words[0]}</a> <a href="/new">{words[1]}</a>
<a href="/top">{words[2]}</a></nav></header><article class="post"><h1>{html.escape(place.page.title)}</h1>
<div class="share"><a href="#">Share</a> <a href="#">Save</a></div><div class="entry-content">{place.page.html}</div>
</article><section class="related"><h3>{words[6]}</h3><ul>{_nav(links[:6])}</ul></section>
<section class="subscribe"><p>{words[8]}</p></section><footer>{words[9]}</footer></body></html>"""


def _amp(place: Place) -> str:
    return f"{_head(place, 'AMP')}<body><article>{place.page.html}</article></body></html>"


_TEMPLATES: Final[tuple[Callable[[Place, list[tuple[str, str]]], str], ...]] = (_manual, _portal)
