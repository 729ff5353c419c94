"""Phrases and marks of login, error, consent, paywall and challenge pages.

No phrase and no mark is enough by itself: detect.py combines them with other evidence.
"""

from __future__ import annotations

from typing import Final

from keyhole.text.data_file import read_sections

# Marks in markup and URLs. Sources are the vendors' public documentation of their consent and paywall pages
# (Sourcepoint, OneTrust, Didomi, Usercentrics, Quantcast, Cookiebot, Piano, Ghost) and public detectors of such pages.
# The marks of bot protection systems are in text/challenges.py.

MAX_HINT_CHARS: Final = 150_000
"""Characters of markup searched for a paywall hint."""

CONSENT_MARKS: Final = (
    "onetrust", "cdn.cookielaw.org", "sp_message_container", "privacy-mgmt.com", "qc-cmp2", "quantcast",
    "usercentrics", "didomi", "privacy-center.org", "cookiebot", "trustarc", "consent.google", "consent.youtube",
    "consent-form", "collectconsent", "iubenda", "cookiefirst", "axeptio", "consentmanager.net", "contentpass",
    "cookie-wall", "cookiewall", "fundingchoices", "klaro", "cmpbox", "tcfapi", "cookieyes", "complianz", "borlabs",
)  # fmt: skip
"""Lower-case strings of consent platforms. Most occur on ordinary pages too."""
PAYWALL_MARKS: Final = (
    "paywall", "pay-wall", "regwall", "tinypass.com", "tp-container", "piano.io", "poool", "pelcro", "zephr",
    "gh-post-upgrade-cta",
    "post-upgrade-cta", "subscriber-only", "subscription-wall", "meteredcontent", "subscribers-only",
    "pmpro_content_message",
    "premium-wall", "article__premium", "is-premium", "content-gate", "article-gate", "reader-revenue", "swg-basic",
    "members-only", "amp-subscriptions",
)  # fmt: skip
"""Lower-case strings of paywalls, and class names that themes use for them."""
PAYWALL_HINTS: Final = (
    "paywall",
    "regwall",
    "tinypass",
    "piano.io",
    "poool",
    "pelcro",
    "zephr",
    "upgrade-cta",
    "subscriber",
    "premium",
)
"""Substrings of most paywall marks. A page of medium length that contains one of them is examined."""

LOGIN_SEGMENTS: Final = frozenset({
    "login", "log-in", "signin", "sign-in", "sign_in", "logon", "auth", "authenticate", "sso", "login.php",
    "login.aspx",
    "login.html", "login.jsp", "wp-login.php", "signin.html", "anmelden", "anmeldung", "einloggen", "connexion",
    "se-connecter", "identification", "iniciar-sesion", "inicio-sesion", "acceder", "entrar", "accedi", "inloggen",
    "aanmelden", "logga-in", "logg-inn", "kirjaudu", "logowanie", "zaloguj", "prihlaseni", "bejelentkezes", "giris",
    "vhod", "denglu", "authwall", "checkpoint", "openid-connect", "saml2", "oauth2", "useraccount", "account-login",
})  # fmt: skip
LOGIN_HOSTS: Final = frozenset(
    {"login", "signin", "auth", "sso", "accounts", "idp", "id", "identity", "cas", "adfs", "passport"}
)
CONSENT_SEGMENTS: Final = frozenset({
    "consent", "collectconsent", "cookie-wall", "cookiewall", "cookie-consent", "privacy-gate", "privacywall",
    "zustimmung",
    "consentement", "consentimiento", "consenso", "gdpr", "gdpr-consent", "cmp", "cookies-consent", "toestemming",
    "samtycke",
})  # fmt: skip
CONSENT_HOSTS: Final = frozenset({"consent", "guce", "myprivacy", "privacygate", "cmp", "cookiewall"})
NOT_FOUND_SEGMENTS: Final = frozenset({
    "404", "404.html", "404.php", "404.aspx", "404.htm", "error404", "error-404", "404-error", "erreur-404",
    "not-found", "not_found",
    "notfound", "page-not-found", "pagenotfound", "notfound.html", "pagenotfound.aspx", "errorpage",
    "seite-nicht-gefunden", "pagina-no-encontrada",
    "introuvable", "page-introuvable", "pagina-non-trovata", "pagina-niet-gevonden", "notfound.aspx", "404-page",
    "404-not-found", "fehler-404",
})  # fmt: skip
HOME_SEGMENTS: Final = frozenset({
    "", "home", "index", "index.html", "index.htm", "index.php", "index.jsp", "index.asp", "index.aspx", "default.aspx",
    "default.asp", "default.htm", "home.html", "main", "start", "welcome", "homepage", "home.aspx", "startseite",
    "accueil", "inicio",
})  # fmt: skip


# Phrases in some thirty languages, case-folded, with straight apostrophes and single spaces. Those in `…_TITLES` are
# compared with the sections of titles and headings; most others are searched for in the text of a short page. Sources
# are the default texts of the systems above and of WordPress, Drupal, TYPO3, phpBB, MediaWiki, Moodle, Keycloak and
# Shopify.

_SECTIONS: Final = read_sections(__file__, "phrases.txt")


def _phrases(section: str) -> tuple[str, ...]:
    text = _SECTIONS[section].replace("\n", "|")
    return tuple(dict.fromkeys(phrase.strip().casefold() for phrase in text.split("|") if phrase.strip()))


LOGIN_TITLES: Final = frozenset(_phrases("login_titles"))
LOGIN_OPENINGS: Final = _phrases("login_openings")
"""Beginnings of titles and headings of login pages."""
LOGIN_GATES: Final = _phrases("login_gates")

NOT_FOUND_TITLES: Final = frozenset(_phrases("not_found_titles"))
NOT_FOUND: Final = _phrases("not_found")
NOT_FOUND_ENDINGS: Final = _phrases("not_found_endings")
"""Endings of short titles and headings that report a missing page or item."""
NOT_FOUND_READER_PHRASES: Final = _phrases("not_found_reader_phrases")
"""Phrases with which an error page addresses its reader."""
STANDARD_WORDS: Final = frozenset(_SECTIONS["standard_words"].split())
"""Words of the standard phrases of errors and of the names of servers, which say no more than the status."""
HTTP_JARGON: Final = _phrases("http_jargon")
"""Terms of pages that write about HTTP."""

CONSENT_TITLES: Final = _phrases("consent_titles")
CONSENT: Final = _phrases("consent")
CONSENT_GATES: Final = _phrases("consent_gates")

PAYWALL_GATES: Final = _phrases("paywall_gates")

CHALLENGE_TITLES: Final = frozenset(_phrases("challenge_titles"))
CHALLENGE: Final = _phrases("challenge")
