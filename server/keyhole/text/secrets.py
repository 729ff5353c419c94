r"""Mask values that look like secrets in a command line or a title.

The shapes are those of the vendors, and of options, assignments, headers and URLs that carry a secret. A shape names
the texts that occur in each of its matches, so that its pattern is compiled only for a text that may contain one: a
program that starts for one command compiles few or none of them.
"""

from __future__ import annotations

import re
from functools import cache
from typing import Final, NamedTuple

MASK: Final = "***"
"""What is shown in place of a secret, as in the logs of GitHub Actions."""


class Shape(NamedTuple):
    """The shape of a secret. The group `secret` of the pattern is masked, or the whole match without such a group."""

    signs: tuple[str, ...]
    """Texts in lower case, one of which occurs in each match in any case."""
    pattern: str
    source: str


_NAME: Final = (
    r"(?:pass(?:word|wd|phrase)|secret(?:[_-]?access)?(?:[_-]?key)?|(?:api|auth|private|signing|encryption)[_-]?key"
    r"|access[_-]?key(?:[_-]?secret)?|token|credentials?)"
)
"""The end of the name of an option or a variable whose value is a secret."""
_KEYS: Final = ("api", "auth", "private", "signing", "encryption", "access")
_NAME_SIGNS: Final = (
    "password", "passwd", "passphrase", "secret", "token", "credential",
    *(f"{kind}{joint}key" for kind in _KEYS for joint in ("", "_", "-")),
)  # fmt: skip
_ORDINARY: Final = r"(?!(?:true|false|none|null|yes|no|on|off|env|auto|prompt|required|id)\b|\*\*\*|[=@$%<{-])"
"""Values of such names that are no secrets: switches, the start of a comparison, a file, a variable, a placeholder."""
_VALUE: Final = (
    rf"""(?:"{_ORDINARY}(?P<quoted>[^"\n]++)"|'{_ORDINARY}(?P<single>[^'\n]++)'"""
    rf"""|{_ORDINARY}(?P<plain>[^\s"'`&;|<>(){{}}\[\],$]++)(?![(\[]))"""
)
"""A value with or without quotation marks. Without them, a call or an index is code, such as `token=load(path)`."""

SHAPES: Final = (
    Shape(
        ("private key",),
        r"-----BEGIN [A-Z0-9 ]{0,30}PRIVATE KEY(?: BLOCK)?-----(?s:.*?)(?:-----END [^-]{0,50}-----|\Z)",
        "RFC 7468, sections 10 and 11; RFC 4880, section 6.2",
    ),
    Shape(
        ("akia", "asia", "abia", "acca"), r"(?<![A-Za-z0-9])(?:AKIA|ASIA|ABIA|ACCA)[A-Z2-7]{16}(?![A-Za-z0-9])",
        "AWS: IAM identifiers, unique identifiers; the characters are those of base32",
    ),
    Shape(
        ("ghp_", "gho_", "ghu_", "ghs_", "ghr_", "github_pat_"),
        r"(?:gh[opsur]_[A-Za-z0-9]{36,255}|github_pat_\w{22,255})",
        "GitHub: about authentication to GitHub, token formats",
    ),
    Shape(
        ("glpat-", "gloas-", "gldt-", "glrt-", "glcbt-", "glptt-", "glft-", "glimt-", "glagent-", "glsoat-", "glffct-"),
        r"(?<!\w)gl(?:pat|oas|dt|rt|cbt|ptt|ft|imt|agent|soat|ffct)-[\w.-]{20,}",
        "GitLab: token overview, token prefixes",
    ),
    Shape(
        ("xox", "xapp-", "hooks.slack.com"),
        r"(?<!\w)(?:xox[a-z](?:\.xox[a-z])?-|xapp-)[A-Za-z0-9-]{10,}|hooks\.slack\.com/services/(?P<secret>[\w/]{20,})",
        "Slack: token types; sending messages using incoming webhooks",
    ),
    Shape(
        ("sk_live_", "rk_live_", "sk_test_", "rk_test_", "whsec_"),
        r"(?<!\w)(?:[rs]k_(?:live|test)|whsec)_[A-Za-z0-9+/=]{10,}",
        "Stripe: API keys; webhook signatures",
    ),
    Shape(
        ("sk-",), r"(?<![\w-])sk-(?=[A-Za-z_-]{0,40}[0-9])(?=[a-z0-9_-]{0,60}[A-Z])[\w-]{20,}",
        "OpenAI and Anthropic: keys begin with sk- or sk-ant-, and have digits and capital letters",
    ),
    Shape(
        ("aiza", "gocspx-", "ya29."), r"(?<![\w-])(?:AIza[\w-]{35}|GOCSPX-[\w-]{28}|ya29\.[\w-]{20,})",
        "Google Cloud: API keys, OAuth client secrets, access tokens; the lengths are those that gitleaks detects",
    ),
    Shape(("npm_",), r"(?<!\w)npm_[A-Za-z0-9]{36}(?!\w)", "npm: the format of access tokens, announced in 2021"),
    Shape(("pypi-ag",), r"(?<![\w-])pypi-Ag[\w-]{50,}", "PyPI: API tokens, which are macaroons of version 2"),
    Shape(("hf_",), r"(?<!\w)hf_[A-Za-z]{34}(?!\w)", "Hugging Face: user access tokens"),
    Shape(("kh_",), r"(?<!\w)kh_[\w-]{40,}", "Keyhole: `keyhole tokens new`, serve/http/auth/token_file.py"),
    Shape(
        ("eyj",), r"(?<![\w-])eyJ[\w-]{8,}\.eyJ[\w-]{8,}\.[\w-]*",
        "RFC 7519: three parts in base64url, the first two of which are JSON objects",
    ),
    Shape(
        ("authorization",),
        r"(?i:\bauthorization[\"']?\s{0,3}[:=]\s{0,3}[\"']?(?:[a-z][\w-]{0,20} +)?+"
        r"(?P<secret>[^\s\"'`,$<{]+))",
        "RFC 9110, section 11.6.2",
    ),
    Shape(("bearer ",), r"(?i:\bbearer +(?P<secret>[\w.~+/=-]{8,}))", "RFC 6750, section 2.1"),
    Shape(
        ("key:", "token:", "cookie:"),
        r"(?i:\b(?:x-[a-z-]{0,20}(?:key|token)|api-key|private-token|job-token|(?:set-)?cookie): *"
        r"(?P<secret>[^\s\"'`$<{][^\n\"'`]*))",
        "headers that carry a key: RFC 6265, GitLab's REST API, API gateways",
    ),
    Shape(
        ("://",), r"(?<=://)[^\s/?#@:\"'$]{0,200}:(?P<secret>[^\s/?#@\"'$]{1,400})@|(?<=://)(?P<user>[^\s/?#@:\"'$]{20,400})@",
        "RFC 3986, section 3.2.1: a password, or a token in place of the user, before the host",
    ),
    Shape(
        ("sig=", "signature="), r"(?i:[?&;](?:sig|(?:x-(?:amz|goog)-)?signature)=(?P<secret>[^\s&\"'#]+))",
        "Azure: shared access signatures; Amazon S3 and Google Cloud Storage: signed URLs",
    ),
    Shape(
        _NAME_SIGNS,
        rf"(?i:(?<![\w-])--?(?:[a-z0-9]{{1,20}}[-_]){{0,4}}{_NAME}(?:=|[ \t]+){_VALUE})",
        "options of command lines, such as `--password secret`",
    ),
    Shape(_NAME_SIGNS, rf"(?i:{_NAME}={_VALUE})", "assignments of shells, URLs and settings, such as `API_KEY=secret`"),
    Shape(
        _NAME_SIGNS, rf"""(?i:{_NAME}["']?\s{{0,3}}[:=]\s{{0,3}}(["']){_ORDINARY}(?P<secret>[^"'\n]{{4,}}+)\1)""",
        "assignments of JSON, YAML and source, such as `\"token\": \"secret\"`",
    ),
    Shape(
        ("-u", "--user", "--proxy-user"),
        r"\b(?:curl|wget|https?|xh)\b[^|;\n]{0,300}?\s(?:-u|--user|--proxy-user)[ =]?[\"']?"
        r"[^\s:\"'$]{1,200}:(?P<secret>[^\s\"'$]+)",
        "curl: the option `--user name:password`",
    ),
    Shape(
        ("mysql", "mariadb", "sshpass"),
        r"\b(?:(?:mysql|mariadb)[a-z]{0,12}\b[^|;\n]{0,300}?\s-p|sshpass\s+-p ?)[\"']?"
        r"(?P<secret>[^\s\"'$-]\S*)",
        "MySQL: the option `-p` directly before a password; sshpass: the option `-p`",
    ),
)  # fmt: skip


def mask_secrets(text: str) -> str:
    """Return the text with a mask in place of each value that looks like a secret. Linear time, idempotent."""
    lowered = text.lower()
    for shape in SHAPES:
        if any(sign in lowered for sign in shape.signs):
            text = _compile(shape.pattern).sub(_mask, text)
    return text


@cache
def _compile(pattern: str) -> re.Pattern[str]:
    return re.compile(pattern)


def _mask(match: re.Match[str]) -> str:
    """Return a match in which its secret is masked."""
    group = match.lastgroup
    if group is None:
        return MASK
    start, end = (place - match.start() for place in match.span(group))
    return match[0][:start] + MASK + match[0][end:]
