r"""Mask values that look like secrets in a command line or a title.

The shapes are those of the vendors, and of options, assignments, headers and URLs that carry a secret. A shape names
the texts that occur in each of its matches, so that its pattern is compiled only for a text that may contain one: a
program that starts for one command compiles few or none of them.
"""

from __future__ import annotations

import re
from functools import cache, lru_cache
from typing import Final, NamedTuple

MASK: Final = "***"
"""What is shown in place of a secret, as in the logs of GitHub Actions."""


class Shape(NamedTuple):
    """The shape of a secret. The group `secret` of the pattern is masked, or the whole match without such a group."""

    signs: tuple[str, ...]
    """Texts in lower case, one of which occurs in each match in any case."""
    pattern: str
    source: str


_KEYS: Final = (
    "api", "auth", "private", "signing", "encryption", "access", "account", "master", "deploy", "session", "service",
)  # fmt: skip
_NAME: Final = (
    r"(?:(?:pass(?:word|wd|phrase|code)|secret(?:[_-]?access)?(?:[_-]?key)?|token)"
    r"(?:[_-]?(?:v?[0-9]{1,2}|base|hash|string|value))?"
    rf"|(?:{'|'.join(_KEYS)})[_-]?key(?:[_-]?secret)?|credentials?|(?<![a-z0-9])_auth|(?<=rediscli_)auth"
    r"|(?:(?<![a-z0-9])|store|require|key)pass|(?<![a-z])pwd(?!\W{1,6}[/~.]))"
)
"""The end of the name of an option or a variable whose value is a secret. A path is no password, as in `PWD=/home`."""
_NAME_SIGNS: Final = (
    "pass", "pwd", "secret", "token", "credential", "_auth",
    *(f"{kind}{joint}key" for kind in _KEYS for joint in ("", "_", "-")),
)  # fmt: skip
_ORDINARY: Final = (
    r"(?!(?:true|false|none|null|yes|no|on|off|env|auto|prompt|required|id|[0-9]{1,2})(?![\w./+-])|\*\*\*|[=@$%<{\s-])"
)
"""Values of such names that are no secrets: switches, small numbers, the start of a comparison, a file, a variable, a
placeholder, what follows the end of a quotation."""
_VALUE: Final = (
    rf"""(?:"{_ORDINARY}(?P<quoted>[^"\n]++)"|'{_ORDINARY}(?P<single>[^'\n]++(?:'(?:\\'|"[^"\n]*+")'[^'\n]*+)*+)'"""
    rf"""|{_ORDINARY}(?P<plain>[^\s"'`&;|<>(){{}}\[\],$]++(?:'(?:\\'|"'")'[^\s'"]*+)*+)(?![(\[]))"""
)
"""A value with or without quotation marks. Without them, a call or an index is code, such as `token=load(path)`."""
_WORD: Final = r"""(?:"(?P<quoted>[^"$\n]++)"|'(?P<single>[^'\n]++)'|(?P<plain>[^\s"'$<{-][^\s"']*+))"""
"""A word that is not an option or a variable. A masked one matches too, so that no word after it is masked later."""
_REST: Final = r"\b(?:(?!&&)[^|;\n]){0,300}?\s"
"""The arguments between the name of a program and an option."""
_USER: Final = (
    r"""(?:"[^":\n]{0,200}:(?!//)(?P<quoted>[^"$\n]+)"|'[^':\n]{0,200}:(?!//)(?P<single>[^'\n]+)'"""
    r"""|[^\s:"']{0,200}:(?!//)(?P<plain>[^\s"'$]+))"""
)
"""A name and a password, or no name, with a colon between them."""
_PREFIXES: Final = (
    "AGE-SECRET-KEY-1", "ATATT3", "CFPAT-", "EAACEdEose0cBA", "HRKU-", "NRAK-", "PMAK-", "bkua_", "dckr_oat_",
    "dckr_pat_", "doo_v1_", "dop_v1_", "dor_v1_", "dp.pt.", "dp.st.", "figd_", "fm2_", "glc_", "glsa_", "gsk_",
    "hvb.", "hvp.", "hvs.", "lin_api_", "lsv2_pt_", "lsv2_sk_", "nfp_", "ntn_", "ops_", "pplx-", "pscale_pw_",
    "pscale_tkn_", "pul-", "rubygems_", "sbp_", "shpat_", "shpca_", "shppa_", "shpss_", "sntrys_", "sntryu_",
    "sq0atp-", "sq0csp-", "tskey-", "tvly-", "xai-", "xkeysib-",
)  # fmt: skip
"""How the keys of vendors begin, each followed by 20 or more letters and digits."""

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
        r"(?<!\w)(?:xox[a-z](?:\.xox[a-z])?-|xapp-)[A-Za-z0-9-]{10,}"
        r"|hooks\.slack\.com/(?:services|workflows|triggers)/(?P<secret>[\w/]{20,})",
        "Slack: token types; sending messages using incoming webhooks",
    ),
    Shape(
        ("webhooks/", "webhookb2/"), r"/(?:webhooks/[0-9]{10,25}|webhookb2)/(?P<secret>[\w@/-]{30,})",
        "Discord: webhook resource; Microsoft Teams: incoming webhooks",
    ),
    Shape(
        ("sk_live_", "rk_live_", "sk_test_", "rk_test_", "whsec_"),
        r"(?<!\w)(?:[rs]k_(?:live|test)|whsec)_[A-Za-z0-9+/=]{10,}",
        "Stripe: API keys; webhook signatures",
    ),
    Shape(
        ("sk-",),
        r"(?<![A-Za-z0-9])sk-(?:(?=[A-Za-z_-]{0,40}[0-9])(?=[a-z0-9_-]{0,60}[A-Z])[\w-]{20,}|(?:[a-z0-9]+-){0,2}[0-9a-f]{32,})",
        "OpenAI, Anthropic: keys begin with sk- or sk-ant-, and have digits and capitals. Others are hexadecimal",
    ),
    Shape(
        ("aiza", "gocspx-", "ya29."), r"(?<![A-Za-z0-9])(?:AIza[\w-]{35}|GOCSPX-[\w-]{28}|ya29\.[\w-]{20,})",
        "Google Cloud: API keys, OAuth client secrets, access tokens; the lengths are those that gitleaks detects",
    ),
    Shape(("npm_",), r"(?<!\w)npm_[A-Za-z0-9]{36}(?!\w)", "npm: the format of access tokens, announced in 2021"),
    Shape(("pypi-ag",), r"(?<![A-Za-z0-9])pypi-Ag[\w-]{50,}", "PyPI: API tokens, which are macaroons of version 2"),
    Shape(("hf_",), r"(?<!\w)hf_[A-Za-z0-9]{34}(?!\w)", "Hugging Face: user access tokens"),
    Shape(("kh_",), r"(?<!\w)kh_[\w-]{40,}", "Keyhole: `keyhole tokens new`, serve/http/auth/token_file.py"),
    Shape(
        tuple(prefix.lower() for prefix in _PREFIXES),
        rf"(?<![A-Za-z0-9])(?:{'|'.join(map(re.escape, _PREFIXES))})"
        r"(?=[\w-]{0,60}[0-9A-Z])[\w=-]{20,}(?:\.[\w-]{20,})*",
        "the keys of about forty other vendors; the prefixes are those that gitleaks and their documentation list",
    ),
    Shape(
        ("sg.", "key-", "dapi", "cio", "r8_", "secret_", "jina_", ":aa", "q~"),
        r"(?<![A-Za-z0-9~])(?:SG\.[\w-]{22}\.[\w-]{43}|dapi[0-9a-f]{32}|(?<![\w-])key-[0-9a-f]{32}|cio[A-Za-z0-9]{32}|r8_[A-Za-z0-9]{37}"
        r"|(?:secret|jina)_[A-Za-z0-9]{43,}|(?:bot)?[0-9]{8,10}:AA[\w-]{33}|[\w.~-]{3}[78]Q~[\w.~-]{31,34})(?![\w~])",
        "SendGrid, Mailgun, Databricks, crates.io, Replicate, Notion, Jina, Telegram and Azure: keys of a fixed length",
    ),
    Shape(
        ("eyj",), r"(?<![A-Za-z0-9])eyJ[\w-]{8,}\.eyJ[\w-]{8,}\.[\w-]*",
        "RFC 7519: three parts in base64url, the first two of which are JSON objects",
    ),
    Shape(
        ("authorization",),
        r"(?i:\bauthorization[\"']?(?:\\?\s){0,3}[:=](?:\\?\s){0,3}[\"']?(?:[a-z][\w-]{0,20}\\? +)?+"
        r"(?P<secret>[^\s\"'`,$<{]+))",
        "RFC 9110, section 11.6.2",
    ),
    Shape(("bearer ",), r"(?i:\bbearer +(?P<secret>[\w.~+/=-]{8,}))", "RFC 6750, section 2.1"),
    Shape(
        ("key:", "token:", "cookie:"),
        r"(?i:(?:\b(?:x-[a-z-]{0,20}(?:key|token)|(?:[a-z]{1,20}-){0,4}(?:api|subscription)-key|private-token|job-token"
        r"|(?:set-)?cookie)|[\"']api_?key): *(?P<secret>[^\s\"'`$<{][^\n\"'`]*))",
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
        rf"(?i:(?:(?<![\w-])--?(?:[a-z0-9]{{1,20}}[-_]){{0,4}}{_NAME}[\"']?(?:[=:]|[ \t]+)|(?<!\S)/{_NAME}:){_VALUE})",
        "options of command lines, such as `--password secret`; on Windows also `/password:secret`",
    ),
    Shape(_NAME_SIGNS, rf"(?i:{_NAME}={_VALUE})", "assignments of shells, URLs and settings, such as `API_KEY=secret`"),
    Shape(
        ("set ", "setx ", "config "),
        rf"(?i:\b(?:setx?|config) +(?:[^\s|;&=]{{1,40}}[ \t]+){{0,3}}?[^\s|;&=]{{0,80}}"
        rf"{_NAME}[\"']?[ \t]+{_VALUE})",
        "settings of programs, such as `npm config set _authToken secret`; on Windows `setx API_KEY secret`",
    ),
    Shape(
        (": ",),
        rf"(?im:^[ \t]*[\w.-]{{0,60}}{_NAME}:[ \t]+{_VALUE}[ \t]*$)",
        "lines of YAML, such as `token: secret`",
    ),
    Shape(
        _NAME_SIGNS,
        rf"""(?i:{_NAME}(?:\\{{0,3}}["'])?\]?\s{{0,3}}(?:=>|:=|[:=])\s{{0,3}}(?P<mark>\\{{0,3}}["']){_ORDINARY}"""
        r"""(?P<secret>[^"'\\\n]{4,}+)(?P=mark))""",
        "assignments of JSON, YAML and source, such as `\"token\": \"secret\"`",
    ),
    Shape(
        ("key", "pat=", "salt="),
        r"(?i:(?<![a-z0-9])(?:(?:key|pat|salt)=|--?(?:[a-z0-9]{1,20}[-_]){0,4}key[ \t]+)[\"']?"
        r"(?P<secret>(?=[a-z+_-]{0,60}[0-9])(?=[0-9+_-]{0,60}[a-z])[a-z0-9+_-]{20,}+={0,2})(?![\w./~-]))",
        "values of 20 and more letters and digits, of a name that ends with `key`",
    ),
    Shape(
        ("curl", "wget", "http ", "https ", "xh "),
        rf"(?:\bcurl{_REST}(?:-[a-zA-Z]{{0,6}}[uU]|--user|--proxy-user)|\b(?:wget|https?|xh){_REST}(?:-u|-a|--user|--auth))"
        rf"[ =]?{_USER}",
        "curl: the option `--user name:password`; HTTPie: the option `--auth`",
    ),
    Shape(
        (" -b", "--cookie"),
        rf"\bcurl{_REST}(?:-b|--cookie)[ =]?(?:\"[^\s=\"]{{1,100}}=(?P<quoted>[^\"$]+)\""
        r"|'[^\s=']{1,100}=(?P<single>[^']+)'"
        r"|[^\s=\"']{1,100}=(?P<plain>[^\s\"'$]+))",
        "curl: the option `--cookie name=value`",
    ),
    Shape(
        ("mysql", "mariadb", "sshpass", "7z"),
        rf"\b(?:(?:mysql|mariadb)[a-z]{{0,12}}{_REST}-p|sshpass\s+-p ?|7z[ar]?{_REST}-p)[\"']?"
        r"(?P<secret>[^\s\"'$-]\S*)",
        "MySQL, 7-Zip: the option `-p` directly before a password; sshpass: the option `-p`",
    ),
    Shape(
        ("twine", "login", "mongo", "cypher-shell", "cqlsh", "redis-cli", "sqlcmd", "zip -p", "ldap"),
        rf"\b(?:(?:twine|(?:docker|podman|az)\s+login|mongo[a-z]{{0,7}}|cypher-shell|cqlsh){_REST}-p|redis-cli{_REST}-a"
        rf"|(?:sqlcmd|zip|unzip){_REST}-P|ldap[a-z]{{1,12}}{_REST}-w) ?{_WORD}",
        "the options of these programs for a password",
    ),
    Shape(
        ("--from-literal", "secret set", "secrets set"),
        rf"(?:--from-literal[= ][\"']?|\bsecrets?\s+set\s+)[\w.-]{{1,100}}(?:=|\s+(?:-b|--body)[ =]){_VALUE}",
        "kubectl create secret, gh secret set, fly secrets set",
    ),
    Shape(
        ("pass:",), r"(?<![\w/])pass:(?P<secret>[^\s\"'$]+)", "OpenSSL: pass phrase arguments",
    ),
    Shape(
        ("sudo ", "--password-stdin", "--with-token", "--stdin", "chpasswd"),
        rf"\b(?:echo|printf)\s+(?:-[a-z]+\s+|[\"']?%s(?:\\n)?[\"']?\s+)*{_VALUE}\s*\|[^|;\n]{{0,200}}?"
        r"(?:\bsudo\s[^|;\n]{0,80}?-S\b|--password-stdin|--with-token|--stdin\b|\bchpasswd\b)",
        "passwords that a program reads from a pipe, as `sudo -S` does",
    ),
    Shape(
        ("auth", "securestring"),
        r"""(?i:\b(?:auth=|HTTP(?:Basic|Digest)Auth)\(\s{0,3}["'][^"'\n]*["'],\s{0,3}["'](?P<secret>[^"'\n]+)"""
        r"""|ConvertTo-SecureString\s+(?:-String\s+)?["'](?P<string>[^"'$\n]+))""",
        "Requests: basic authentication; PowerShell: ConvertTo-SecureString",
    ),
)  # fmt: skip


@lru_cache(maxsize=8)  # the title, the notes and the record of an output have the same command
def mask_secrets(text: str) -> str:
    """Return the text with a mask in place of each value that looks like a secret. Masking it again changes nothing."""
    before = None
    while text != before:  # with a mask in its place, a secret no longer hides the beginning of another one
        before, lowered = text, text.lower()
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
