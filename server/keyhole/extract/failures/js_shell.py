"""Detect JavaScript shells, which are pages without text until their scripts run. No script is run here."""

from __future__ import annotations

import re
from itertools import islice
from typing import Final

from lxml import etree
from lxml.html import HtmlElement

MAX_SHELL_TEXT: Final = 250
"""Largest length of a shell's text, in characters: a loading message, a name, a footer line."""
MAX_MOUNT_TEXT: Final = 40
"""Largest length of the text in an empty mount node, in characters."""
MAX_NODES: Final = 5_000
"""Largest number of scripts and of mount nodes examined. Shells have some 30 elements in total."""

MIN_PROGRAM_CHARS: Final = 2_000
"""Least length of an inline script that may be an application. Loaders and analytics snippets are shorter."""

# Ids of the mount node in the templates and tutorials of frameworks.
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
_MEDIA_TAGS = ("img", "picture", "video", "iframe", "frame", "object", "embed")
_INVISIBLE_TAGS = frozenset({"script", "style", "noscript", "template", "svg", "title", "head"})

# Third-party scripts, which do not write the page's text.
_THIRD_PARTY = re.compile(
    r"(?i)google-?(?:analytics|tagmanager|syndication|adservices|-?ads)|gtag|gtm\.js|analytics|doubleclick|hotjar|clarity\.ms"
    r"|segment\.(?:com|io)|matomo|piwik|plausible|umami|fathom|goatcounter|cloudflareinsights|beacon|newrelic|nreum|nr-data|sentry"
    r"|facebook\.net|fbevents|twitter\.com|linkedin|pinterest|tiktok|bat\.bing|hs-scripts|hubspot|intercom|zendesk|drift"
    r"|crisp\.chat|tawk|onetrust|cookie|consent|didomi|quantcast|adsby|disqus|addthis|sharethis|recaptcha|hcaptcha|stripe\.com"
    r"|jquery|bootstrap(?:\.bundle)?(?:\.min)?\.js|fontawesome|typekit|webfont|polyfill|modernizr|html5shiv|mathjax|katex|prism"
    r"|highlight|statcounter|counter|yandex|metrika|livereload|email-decode|speculation|turnstile|unpkg\.com/htmx|alpine"
)

# "Enable JavaScript" in the most common languages: the name of JavaScript, and a word that requests it.
_JAVASCRIPT = re.compile(r"(?i)java\s?-?script|джава\s?скрипт|자바\s?스크립트|جافا\s?سكر[ي]?بت|ג'אווה\s?סקריפט|\bJS\b")
_REQUEST = re.compile(
    r"(?i)enabl|turn(?:ed)? (?:it )?on|requir|need|must|disabled|without|not support|unsupported|activ|aktiv|habilit|"
    r"necesit|precis|requi[eè]r|nécessi|benötig|erforderlich|deaktiv|désactiv|desactiv|disabilit|abilit|attiv|richied|"
    r"inschakel|ingeschakeld|vereist|nodig|włącz|wymaga|obsług|povol|zapn|vyžad|bekapcsol|engedélyez|szükség|"
    r"включ|отключ|требу|необходим|увімкн|вімкн|потріб|etkin|gerek|açık|aktiver|slå på|slå til|krev|kræv|kräv|"
    r"ota käyttöön|käytössä|vaatii|ενεργοπο|απαιτ|επιτρέ|activează|activați|necesar|включете|omogući|uključi|"
    r"有効|必要|オン|無効|启用|啟用|开启|開啟|打开|需要|禁用|支持|支援|활성|필요|사용|켜|kích hoạt|yêu cầu|aktifkan|"
    r"bật|diaktifkan|memerlukan|เปิด|ต้อง|सक्षम|चालू|تفعيل|تمكين|يتطلب|להפעיל|נדרש|מופעל|فعال"
)
_PARTIAL_FEATURE = re.compile(
    r"(?i)comment|disqus|kommentar|comentari|reaction|e-?mail|video|map\b|chat|form\b|captcha|slide|carousel|gallery|"
    r"best experience|some features|full functionality|all features|toggle|search"
)
_LOADING = re.compile(
    r"(?i)(?:page is |app is |please wait|one moment|just a moment|hang on|now )?(?:loading|wird geladen|lädt|laden|"
    r"chargement|cargando|carregando|caricamento|загрузка|завантаження|ładowanie|načítání|yükleniyor|読み込み中|加载中|"
    r"載入中|로딩|đang tải|memuat|جار[يٍ]? التحميل|טוען|please wait|one moment)[^.!?\n]{0,60}"
)
_STATEMENT = re.compile(r"(?i)javascript is disabled (?:on|in) your browser\W*")
"""A notice that asks for nothing, as on every page of Java's documentation, which is complete without scripts."""
_LINKS = re.compile(r"!?\[([^\[\]]{0,500})\]\([^()\s]{0,2000}\)")
_SENTENCE = re.compile(r"[^.!?。！？\n]{1,2000}[.!?。！？\n]?")
_SPACE = re.compile(r"[\s#*_>|`•·–—-]+")


def needs_javascript(root: HtmlElement, text: str) -> bool:
    """Return whether a page is a shell. `root` is its unpruned tree, `text` its extracted text.

    A shell shows little text and has an application script. It also has an empty mount node, asks to enable scripts,
    or shows no text at all.
    """
    shown = _content_text(text)
    if len(shown) > MAX_SHELL_TEXT:
        return False
    notices = [" ".join(islice(tag.itertext(), 50))[:1_000] for tag in islice(root.iter("noscript"), 50)]
    is_requested = any(
        asks_for_scripts(notice) and not _PARTIAL_FEATURE.search(notice) and not _STATEMENT.fullmatch(notice.strip())
        for notice in (*notices, text[:2_000])
    )
    if not _has_program(root):
        # A challenge page shows no text and asks to enable scripts. Its small inline script loads the rest.
        return (
            is_requested
            and not shown
            and any((script.text or "").strip() for script in islice(root.iter("script"), 50))
        )
    if not shown and next(root.iter(*_MEDIA_TAGS), None) is None:
        return True
    mounts = _mount_texts(root)
    # The server may have rendered menus and footers around an empty mount node.
    return any(len(mount) <= MAX_MOUNT_TEXT for mount in mounts) or (is_requested and len(shown) <= MAX_SHELL_TEXT // 2)


def asks_for_scripts(text: str) -> bool:
    """Return whether a text asks to enable JavaScript, or says that the page needs it."""
    return any(
        _JAVASCRIPT.search(sentence) is not None and _REQUEST.search(sentence) is not None
        for sentence in (*_SENTENCE.findall(text[:2_000])[:20], text[:300])
    )


def _content_text(text: str) -> str:
    """Return a Markdown text without the URLs of links, Markdown signs, and notices about scripts or loading."""
    words = _LINKS.sub(r"\1", text[: 20 * MAX_SHELL_TEXT])
    if len(words) > 8 * MAX_SHELL_TEXT:
        return words
    sentences = [sentence for sentence in _SENTENCE.findall(words) if not _is_notice(sentence)]
    return _SPACE.sub(" ", " ".join(sentences)).strip()


def _is_notice(sentence: str) -> bool:
    plain = _SPACE.sub(" ", sentence).strip(" .…!")
    return asks_for_scripts(sentence) or _LOADING.fullmatch(plain) is not None or not plain


def _has_program(root: HtmlElement) -> bool:
    """Return whether the page has an application script, linked or inline, that is not a known third-party script."""
    for script in islice(root.iter("script"), MAX_NODES):
        kind = script.get("type", "")[:100].lower()
        if kind and kind != "module" and not kind.endswith("javascript"):
            continue
        source = script.get("src", "")[:500]
        code = "" if source else (script.text or "")[: 2 * MIN_PROGRAM_CHARS]
        is_program = bool(source) or len(code) >= MIN_PROGRAM_CHARS or (kind == "module" and "import" in code)
        if is_program and not _THIRD_PARTY.search(source or code):
            return True
    return False


def _mount_texts(root: HtmlElement) -> list[str]:
    """Return the visible text of each mount node, an element with a known id, attribute or name that scripts fill."""
    texts: list[str] = []
    for element in _MOUNTS(root)[:MAX_NODES]:
        is_known = element.get("id", "")[:60].lower() in _MOUNT_IDS or any(
            name in element.attrib for name in _MOUNT_ATTRIBUTES
        )
        parent = element.getparent()
        is_custom = parent is not None and parent.tag == "body" and _MOUNT_NAME.search(str(element.tag)) is not None
        if is_known or is_custom:
            texts.append(_content_text(_visible_text(element)))
            if len(texts) >= 20:
                break
    return texts


def _visible_text(element: HtmlElement) -> str:
    """Return the visible text inside an element, truncated after some 2,000 characters."""
    words: list[str] = []
    length = 0
    for node in element.iter():
        if isinstance(node.tag, str) and node.tag not in _INVISIBLE_TAGS and (text := (node.text or "").strip()):
            words.append(text[:500])
        if node is not element and (text := (node.tail or "").strip()):
            words.append(text[:500])
        length = sum(map(len, words[-2:])) + length
        if length > 2_000:
            break
    return " ".join(words)
