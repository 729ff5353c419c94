"""Find secrets by their shape: keys of vendors, private keys, passwords in URLs, headers and SQL.

A shape names texts one of which occurs in each of its matches, so that its pattern is compiled only for a text that may
contain one: a program that starts for one command compiles few or none of them.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache
from typing import Final, NamedTuple

from keyhole.text.data_file import read_lines
from keyhole.text.lazy_pattern import lazy_pattern

Span = tuple[int, int]

NAME_SIGNS: Final = ("pass", "pw", "secret", "token", "credential", "auth", "key", "otp", "psk")
"""Texts in lower case. The name of each secret contains one of them."""


class SecretShape(NamedTuple):
    """The shape of a secret, which is the last group of the pattern that matched, or the whole match without groups."""

    signs: tuple[str, ...]
    """Texts in lower case, one of which occurs in each match in any case."""
    pattern: str
    source: str


SHAPES: Final = (
    SecretShape(
        ("private key",),
        r"-----BEGIN [A-Z0-9 ]{0,30}PRIVATE KEY(?: BLOCK)?-----(?s:.*?)(?:-----END [^-]{0,50}-----|\Z)",
        "RFC 7468, sections 10 and 11; RFC 4880, section 6.2",
    ),
    SecretShape(
        ("hooks.slack.com", "webhooks/", "webhookb2/"),
        r"(?:hooks\.slack\.com/(?:services|workflows|triggers)/|/webhooks/[0-9]{10,25}/|/webhookb2/)([\w@/-]{20,})",
        "Slack, Discord, Microsoft Teams: the secret part of the URLs of webhooks",
    ),
    SecretShape(
        ("sk-", "whsec_", "kh_", "tskey-", "tvly-", "nfp_", "dp.st.", "cio", "hf_"),
        r"(?<![A-Za-z0-9])(?:sk-(?:(?=[A-Za-z_-]{0,40}[0-9])(?=[a-z0-9_-]{0,60}[A-Z])[\w-]{20,}"
        r"|(?:[a-z0-9]+-){0,2}[0-9a-f]{32,})|(?:whsec_|kh_|tskey-|tvly-|nfp_|dp\.st\.)(?=[A-Za-z_-]{0,40}[0-9])"
        r"[\w+/=.-]{20,}|cio[A-Za-z0-9]{32}|hf_[A-Za-z0-9]{34})",
        "OpenAI and its imitators; Stripe, Tailscale, Tavily, Netlify, Doppler, crates.io, Hugging Face; Keyhole",
    ),
    SecretShape(
        ("key-", "secret_", "jina_", ":aa", "gocspx-", "ya29."),
        r"(?<![A-Za-z0-9~])(?:(?<![\w-])key-[0-9a-f]{32}|(?:secret|jina)_[A-Za-z0-9]{43,}|(?:bot)?[0-9]{8,10}:AA[\w-]{33}"
        r"|GOCSPX-[\w-]{28}|ya29\.[\w-]{20,})(?![\w~])",
        "Mailgun, Notion, Jina, Telegram, Google OAuth: keys that the maintained rules know by a name beside them only",
    ),
    SecretShape(
        ("eyj",), r"(?<![A-Za-z0-9])eyJ[\w-]{8,2000}\.eyJ[\w-]{8,}\.[\w-]*",
        "RFC 7519: three parts in base64url, the first two of which are JSON objects",
    ),
    SecretShape(
        ("authorization",),
        r"(?i:\bauthorization[\"']?(?:\\?\s){0,3}[:=](?:\\?\s){0,3}[\"']?(?:[a-z][\w-]{0,20}\\? +)?+"
        r"(?!(?:bearer|basic|digest|token|str|string|bytes|[fbr])\b)([^\s\"'`,$<{…]+))",
        "RFC 9110, section 11.6.2",
    ),
    SecretShape(("bearer ",), r"(?i:\bbearer +([\w.~+/=-]{8,}))", "RFC 6750, section 2.1"),
    SecretShape(("cookie",), r"(?i:\bcookie[\"']?: *[\"']?([\w.-]{1,100}=[^\n\"'`$<{]+))", "RFC 6265"),
    SecretShape(
        ("://",), r"(?<=://)(?:[^\s/?#@:\"'$]{0,200}:([^\s/?#@\"'$]{1,400})|([^\s/?#@:\"'$]{20,400}))@",
        "RFC 3986, section 3.2.1: a password, or a token in place of the user, before the host",
    ),
    SecretShape(
        ("signature=", "sig="), r"(?i:[?&;](?:sig|(?:x-(?:amz|goog)-)?signature)=([^\s&\"'#]+))",
        "Azure: shared access signatures; Amazon S3 and Google Cloud Storage: signed URLs",
    ),
    SecretShape(
        ("password for", "password is generated"),
        r"(?i:\bpassword (?:is generated )?for \S{1,100}: +(\S+))",
        "MySQL: the password of a new installation, in its log",
    ),
    SecretShape(
        ("identified", "password"),
        r"(?i:\b(?:identified\s(?:with\s\S+\s)?(?:by|as)|password(?:\s+for\s\S+)?)(?:\s*=\s*|\s*\(\s*|\s+)\\?'(?!\s)([^'\\\n]+))",
        "SQL: CREATE USER, ALTER USER, SET PASSWORD",
    ),
    SecretShape(
        ("auth", "securestring", "setenvironmentvariable"),
        r"(?i:\b(?:auth=|HTTP(?:Basic|Digest)Auth)\(\s{0,3}[\"'][^\"'\n]*[\"'],\s{0,3}[\"']([^\"'\n]+)"
        r"|ConvertTo-SecureString\s+(?:-String\s+)?[\"']([^\"'$\n]+)"
        r"|SetEnvironmentVariable\([\"'](?=[^\"'\n]*(?:pass|token|secret|key))[^\"'\n]*+[\"'],\s*[\"']([^\"'\n]+))",
        "Requests: basic authentication; PowerShell: ConvertTo-SecureString, environment variables",
    ),
    SecretShape(
        (":",), r"(?m:^[^\s:/\\]{1,200}:(?:[0-9]{2,5}|\*):[^\s:]{1,100}:[^\s:]{1,100}:((?:[^\s:\\]|\\.)+)$)",
        "PostgreSQL: the password file, host:port:database:user:password",
    ),
)  # fmt: skip

VENDOR_RULES: Final = tuple(
    (sign, pattern) for sign, _, pattern in (line.partition("\t") for line in read_lines(__file__, "vendor_rules.txt"))
)
"""The keys of vendors: a text in lower case that each match contains, and a pattern."""
VENDOR_START: Final = "(?<![A-Za-z0-9])"
"""What is before each pattern of `VENDOR_RULES`."""
_RANDOM: Final = lazy_pattern(
    r"[A-Z2-7]{16}|(?=[A-Za-z]{0,40}[0-9])[A-Za-z0-9]{8}|(?=[A-Z]{0,40}[a-z])(?=[a-z]{0,40}[A-Z])[A-Za-z]{20}"
)
"""Random characters. Each key of a vendor has them after its beginning, but few names of programs and files do."""


def find_shapes(text: str, lowered: str) -> Iterator[Span]:
    """Yield the places of texts with the shape of a secret. `lowered`: the text in lower case."""
    for sign, pattern in VENDOR_RULES:
        if sign in lowered:
            for match in _compile(f"{VENDOR_START}(?:{pattern})").finditer(text):
                if _RANDOM.search(text, match.start() + len(sign), match.end()):
                    yield match.span()
    for shape in SHAPES:
        if any(sign in lowered for sign in shape.signs):
            for match in _compile(shape.pattern).finditer(text):
                yield match.span(match.lastindex or 0)


@cache
def _compile(pattern: str) -> re.Pattern[str]:
    return re.compile(pattern)
