"""Whether a page is a shell: an empty place, and scripts that would fill it. Decides on the markup; runs nothing."""

from __future__ import annotations

import re
from itertools import islice
from typing import Final

from lxml import etree
from lxml.html import HtmlElement

MAX_SHELL_TEXT: Final = 250
"""Characters that a shell may show: a loading line, a name, a line of the footer. Pages have more."""
MAX_MOUNT_TEXT: Final = 40
"""Characters inside a mount node that was left for scripts to fill."""
MAX_NODES: Final = 5_000
"""Elements, of a kind, that are looked at; shells have some 30 in all."""

MIN_PROGRAM: Final = 2_000
"""Characters of a script in the page that may be a program: those that only load or measure something are shorter."""

# The ids that frameworks' own templates and their tutorials give the node which they fill.
_MOUNT_IDS = frozenset({
    "root", "app", "__next", "__nuxt", "__layout", "___gatsby", "gatsby-focus-wrapper", "main-app", "app-root",
    "react-root", "reactroot", "react-app", "vue-app", "svelte", "ember-app", "redwood-app", "swagger-ui", "redoc",
    "storybook-root", "application", "app-container", "root-container", "mount", "spa", "app-mount", "q-app",
    "flutter_target", "blazor-app", "page-root", "site-root", "elm", "outlet",
})  # fmt: skip
_MOUNT_ATTRIBUTES = ("ng-app", "data-ng-app", "data-reactroot", "data-v-app", "data-page")
_MOUNTS = etree.XPath(
    "descendant::*[@id or @ng-app or @data-ng-app or @data-reactroot or @data-v-app or @data-page"
    " or contains(name(), '-')]"
)
_MOUNT_NAME = re.compile(r"(?i)^(?:app|my|main|root|shell)-[a-z]|-(?:app|root|shell|main)$")
_PICTURES = ("img", "picture", "video", "iframe", "frame", "object", "embed")
_UNSEEN = frozenset({"script", "style", "noscript", "template", "svg", "title", "head"})

# What is loaded beside a page and writes none of its text.
_BESIDE = re.compile(
    r"(?i)google-?(?:analytics|tagmanager|syndication|adservices|-?ads)|gtag|gtm\.js|analytics|doubleclick|hotjar|clarity\.ms"
    r"|segment\.(?:com|io)|matomo|piwik|plausible|umami|fathom|goatcounter|cloudflareinsights|beacon|newrelic|nreum|nr-data|sentry"
    r"|facebook\.net|fbevents|twitter\.com|linkedin|pinterest|tiktok|bat\.bing|hs-scripts|hubspot|intercom|zendesk|drift"
    r"|crisp\.chat|tawk|onetrust|cookie|consent|didomi|quantcast|adsby|disqus|addthis|sharethis|recaptcha|hcaptcha|stripe\.com"
    r"|jquery|bootstrap(?:\.bundle)?(?:\.min)?\.js|fontawesome|typekit|webfont|polyfill|modernizr|html5shiv|mathjax|katex|prism"
    r"|highlight|statcounter|counter|yandex|metrika|livereload|email-decode|speculation|turnstile|unpkg\.com/htmx|alpine"
)

# "Enable JavaScript" in the languages that most pages are written in: the name of the thing, and a word for asking.
_JAVASCRIPT = re.compile(r"(?i)java\s?-?script|джава\s?скрипт|자바\s?스크립트|جافا\s?سكر[ي]?بت|ג'אווה\s?סקריפט|\bJS\b")
_ASKING = re.compile(
    r"(?i)enabl|turn(?:ed)? (?:it )?on|requir|need|must|disabled|without|not support|unsupported|activ|aktiv|habilit|"
    r"necesit|precis|requi[eè]r|nécessi|benötig|erforderlich|deaktiv|désactiv|desactiv|disabilit|abilit|attiv|richied|"
    r"inschakel|ingeschakeld|vereist|nodig|włącz|wymaga|obsług|povol|zapn|vyžad|bekapcsol|engedélyez|szükség|"
    r"включ|отключ|требу|необходим|увімкн|вімкн|потріб|etkin|gerek|açık|aktiver|slå på|slå til|krev|kræv|kräv|"
    r"ota käyttöön|käytössä|vaatii|ενεργοπο|απαιτ|επιτρέ|activează|activați|necesar|включете|omogući|uključi|"
    r"有効|必要|オン|無効|启用|啟用|开启|開啟|打开|需要|禁用|支持|支援|활성|필요|사용|켜|kích hoạt|yêu cầu|aktifkan|"
    r"bật|diaktifkan|memerlukan|เปิด|ต้อง|सक्षम|चालू|تفعيل|تمكين|يتطلب|להפעיל|נדרש|מופעל|فعال"
)
_PART_ONLY = re.compile(
    r"(?i)comment|disqus|kommentar|comentari|reaction|e-?mail|video|map\b|chat|form\b|captcha|slide|carousel|gallery|"
    r"best experience|some features|full functionality|all features|toggle|search"
)
_LOADING = re.compile(
    r"(?i)(?:page is |app is |please wait|one moment|just a moment|hang on|now )?(?:loading|wird geladen|lädt|laden|"
    r"chargement|cargando|carregando|caricamento|загрузка|завантаження|ładowanie|načítání|yükleniyor|読み込み中|加载中|"
    r"載入中|로딩|đang tải|memuat|جار[يٍ]? التحميل|טוען|please wait|one moment)[^.!?\n]{0,60}"
)
_LINKS = re.compile(r"!?\[([^\[\]]{0,500})\]\([^()\s]{0,2000}\)")
_SENTENCE = re.compile(r"[^.!?。！？\n]{1,2000}[.!?。！？\n]?")
_SPACE = re.compile(r"[\s#*_>|`•·–—-]+")


def needs_javascript(root: HtmlElement, text: str) -> bool:
    """Whether scripts would write this page: `root` is the unpruned tree, `text` what was made of it.

    A page counts as a shell when it shows little, loads or holds a program of its own, and either left a mount node
    empty, or asks for scripts to be switched on, or shows nothing at all.
    """
    shown = _content(text)
    if len(shown) > MAX_SHELL_TEXT:
        return False
    notices = [" ".join(islice(tag.itertext(), 50))[:1_000] for tag in islice(root.iter("noscript"), 50)]
    asked = any(asks_for_scripts(notice) and not _PART_ONLY.search(notice) for notice in (*notices, text[:2_000]))
    if not _has_program(root):
        # A challenge before the page: it shows nothing, asks for scripts, and loads its own only once it runs.
        return asked and not shown and any((script.text or "").strip() for script in islice(root.iter("script"), 50))
    if not shown and next(root.iter(*_PICTURES), None) is None:
        return True
    mounts = _mount_texts(root)
    # Scripts write what is missing even where the frame around it came from the server.
    return any(len(mount) <= MAX_MOUNT_TEXT for mount in mounts) or (asked and len(shown) <= MAX_SHELL_TEXT // 2)


def asks_for_scripts(text: str) -> bool:
    """Whether a text asks to switch scripts on, or says that nothing works without them."""
    return any(
        _JAVASCRIPT.search(sentence) is not None and _ASKING.search(sentence) is not None
        for sentence in (*_SENTENCE.findall(text[:2_000])[:20], text[:300])
    )


def _content(text: str) -> str:
    """What a text tells: links as their words, without sentences on scripts or loading, and without marks."""
    words = _LINKS.sub(r"\1", text[: 20 * MAX_SHELL_TEXT])
    if len(words) > 8 * MAX_SHELL_TEXT:
        return words
    kept = [sentence for sentence in _SENTENCE.findall(words) if not _is_notice(sentence)]
    return _SPACE.sub(" ", " ".join(kept)).strip()


def _is_notice(sentence: str) -> bool:
    plain = _SPACE.sub(" ", sentence).strip(" .…!")
    return asks_for_scripts(sentence) or _LOADING.fullmatch(plain) is not None or not plain


def _has_program(root: HtmlElement) -> bool:
    """Whether a script of the page's own is loaded, or stands in the page whole."""
    for script in islice(root.iter("script"), MAX_NODES):
        kind = script.get("type", "")[:100].lower()
        if kind and kind != "module" and not kind.endswith("javascript"):
            continue
        source = script.get("src", "")[:500]
        code = "" if source else (script.text or "")[: 2 * MIN_PROGRAM]
        own = bool(source) or len(code) >= MIN_PROGRAM or (kind == "module" and "import" in code)
        if own and not _BESIDE.search(source or code):
            return True
    return False


def _mount_texts(root: HtmlElement) -> list[str]:
    """What each mount node shows, as far as it matters: elements that frameworks fill, by id, attribute or name."""
    found: list[str] = []
    for element in _MOUNTS(root)[:MAX_NODES]:
        named = element.get("id", "")[:60].lower() in _MOUNT_IDS or any(
            name in element.attrib for name in _MOUNT_ATTRIBUTES
        )
        parent = element.getparent()
        custom = parent is not None and parent.tag == "body" and _MOUNT_NAME.search(str(element.tag)) is not None
        if named or custom:
            found.append(_content(_shown(element)))
            if len(found) >= 20:
                break
    return found


def _shown(element: HtmlElement) -> str:
    """The text inside an element that a browser would show, as far as a mount node may have any."""
    words: list[str] = []
    length = 0
    for node in element.iter():
        if isinstance(node.tag, str) and node.tag not in _UNSEEN and (text := (node.text or "").strip()):
            words.append(text[:500])
        if node is not element and (text := (node.tail or "").strip()):
            words.append(text[:500])
        length = sum(map(len, words[-2:])) + length
        if length > 2_000:
            break
    return " ".join(words)
