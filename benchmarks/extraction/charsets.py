"""Which detector finds the charset of a text that does not name it: `python -m benchmarks.extraction.charsets`.

The texts are our own, in thirty languages, each in the charsets in which its sites were, and in some cases still are,
served. A detector is right when the text decoded as it says is the text, character for character; which of two names
it gives to the same bytes is no matter. Lengths are in characters; the longer texts are the sentences in a shuffled
order. `tags` puts them into a page of ASCII markup, as they arrive. Peers that are not installed are left out.
"""

from __future__ import annotations

import random
import statistics
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from benchmarks.extraction.charset_texts import TEXTS

LENGTHS = (100, 300, 1_000, 4_000, 20_000)
VARIANTS = 4
"""Different texts of each length."""
Detector = Callable[[bytes], str]
"""From bytes to the text they are taken for."""


@dataclass(frozen=True, slots=True)
class Case:
    """One text in one charset."""

    language: str
    charset: str
    length: int
    tags: bool
    text: str

    @property
    def body(self) -> bytes:
        return self.text.encode(self.charset)


def cases() -> Iterator[Case]:
    """Every language, charset, length and kind, the same ones every time."""
    for language, (charsets, whole) in TEXTS.items():
        for charset in charsets.split():
            draw = random.Random(f"{language} {charset}")
            for length in LENGTHS:
                for variant in range(VARIANTS):
                    text = _drawn(whole, length, draw)
                    yield Case(language, charset, length, bool(variant % 2), _page(text) if variant % 2 else text)


def _drawn(whole: str, length: int, draw: random.Random) -> str:
    mark = "。" if "。" in whole else ". "
    sentences = whole.split(mark)
    out = ""
    while len(out) < length:
        draw.shuffle(sentences)
        out += mark.join(sentences) + mark
    return out[:length]


def _page(text: str) -> str:
    """The text among ASCII markup three times its length, at least that of a small page's head."""
    head = '<!DOCTYPE html>\n<html><head><title>{}</title>\n<link rel="stylesheet" href="/static/site.css">\n'
    head += "<script>window.dataLayer = window.dataLayer || []; var page = {{id: 17}};</script></head>\n<body>\n"
    pieces = [text[start : start + 80] for start in range(0, len(text), 80)]
    rows = (
        f'<div class="row"><p class="body-text"><a href="/page/{n}">{p}</a></p></div>\n' for n, p in enumerate(pieces)
    )
    return head.format(text[:30]) + "".join(rows) + "</body></html>"


def keyhole() -> Detector:
    """What Keyhole makes of a body whose header and markup name no charset."""
    from keyhole.extract.decode import decode

    return lambda body: decode(body, "text/html")


def charset_normalizer() -> Detector:
    """Its best match."""
    from charset_normalizer import from_bytes

    def read(body: bytes) -> str:
        best = from_bytes(body).best()
        return body.decode(best.encoding if best else "cp1252", "replace")

    return read


def chardet() -> Detector:
    """As it comes, with every charset it knows."""
    from chardet import detect

    return lambda body: body.decode(detect(body, prefer_superset=False)["encoding"] or "cp1252", "replace")


def cchardet() -> Detector:
    """Mozilla's first universal detector (uchardet)."""
    from cchardet import detect

    return lambda body: _python(body, detect(body)["encoding"])


def chardetng() -> Detector:
    """Firefox's detector."""
    from chardetng_py import detect

    return lambda body: _python(body, detect(body, allow_utf8=True))


def _python(body: bytes, name: str | None) -> str:
    """Decoded as Python or, where it does not know the name, as the web means it."""
    import webencodings

    found = webencodings.lookup(name or "windows-1252")
    return body.decode(found.codec_info.name if found else str(name), "replace")


def main() -> int:
    """Measure every detector that is installed, and print the tables."""
    makers: tuple[Callable[[], Detector], ...] = (keyhole, charset_normalizer, chardet, cchardet, chardetng)
    wanted = set(sys.argv[1:])
    tried = list(cases())
    results: dict[str, dict[Case, tuple[bool, float]]] = {}
    for make in makers:
        if wanted and make.__name__ not in wanted:
            continue
        try:
            detector = make()
        except ImportError:
            continue
        results[make.__name__] = {case: measured(detector, case) for case in tried}
    report(tried, results)
    return 0


def measured(detector: Detector, case: Case) -> tuple[bool, float]:
    """Whether it read the text, and the seconds it took."""
    body = case.body
    started = time.perf_counter()
    try:
        text = detector(body)
    except (LookupError, UnicodeError):
        text = ""
    return text == case.text, time.perf_counter() - started


def report(tried: list[Case], results: dict[str, dict[Case, tuple[bool, float]]]) -> None:
    """Percent of texts read exactly, and milliseconds."""
    print(f"{len(tried)} texts\n")
    print(f"| | {' | '.join(results)} |")
    print(f"|---|{'---:|' * len(results)}")
    for length in LENGTHS:
        for tags in (False, True):
            rows = [case for case in tried if (case.length, case.tags) == (length, tags)]
            _row(f"{length:,} characters{', tags' if tags else ''}", rows, results)
    for charset in dict.fromkeys(case.charset for case in tried):
        _row(charset, [case for case in tried if case.charset == charset], results)
    _row("all", tried, results)
    longest = [case for case in tried if case.length == LENGTHS[-1]]
    speeds = [
        statistics.median(by_case[case][1] / len(case.body) * 100_000 * 1_000 for case in longest)
        for by_case in results.values()
    ]
    print(f"| ms per 100 KB (median, longest texts) | {' | '.join(f'{speed:.1f}' for speed in speeds)} |")


def _row(name: str, rows: list[Case], results: dict[str, dict[Case, tuple[bool, float]]]) -> None:
    shares = [100 * statistics.mean(by_case[case][0] for case in rows) for by_case in results.values()]
    print(f"| {name} | {' | '.join(f'{share:.1f}' for share in shares)} |")


if __name__ == "__main__":
    sys.exit(main())
