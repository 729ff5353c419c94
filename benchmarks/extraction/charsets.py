"""Compare detectors of undeclared charsets: `python -m benchmarks.extraction.charsets [NAME …]`.

The texts are written for this benchmark, in thirty languages, each in the charsets in which sites of that language are
or were served. A detector is right if the text decoded with its charset equals the original, whatever the charset's
name. Lengths are in characters; longer texts repeat the sentences in random order. With `tags`, a text is inside a page
of ASCII markup. NAME limits the run to these detectors; detectors that are not installed are skipped.
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
"""A function from bytes to decoded text."""


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


def build_cases() -> Iterator[Case]:
    """Yield the cases of every language, charset, length and variant; the same in every run."""
    for language, (charsets, whole) in TEXTS.items():
        for charset in charsets.split():
            draw = random.Random(f"{language} {charset}")
            for length in LENGTHS:
                for variant in range(VARIANTS):
                    text = _draw_text(whole, length, draw)
                    yield Case(
                        language, charset, length, bool(variant % 2), _wrap_in_page(text) if variant % 2 else text
                    )


def _draw_text(whole: str, length: int, draw: random.Random) -> str:
    mark = "。" if "。" in whole else ". "
    sentences = whole.split(mark)
    out = ""
    while len(out) < length:
        draw.shuffle(sentences)
        out += mark.join(sentences) + mark
    return out[:length]


def _wrap_in_page(text: str) -> str:
    """Return a page with the text in ASCII markup about three times as long."""
    head = '<!DOCTYPE html>\n<html><head><title>{}</title>\n<link rel="stylesheet" href="/static/site.css">\n'
    head += "<script>window.dataLayer = window.dataLayer || []; var page = {{id: 17}};</script></head>\n<body>\n"
    pieces = [text[start : start + 80] for start in range(0, len(text), 80)]
    rows = (
        f'<div class="row"><p class="body-text"><a href="/page/{n}">{p}</a></p></div>\n' for n, p in enumerate(pieces)
    )
    return head.format(text[:30]) + "".join(rows) + "</body></html>"


def keyhole() -> Detector:
    """Return Keyhole's own decoder."""
    from keyhole.extract.body import decode

    return lambda body: decode(body, "text/html")


def charset_normalizer() -> Detector:
    """Return a decoder that uses the best match of charset-normalizer."""
    from charset_normalizer import from_bytes

    def read(body: bytes) -> str:
        best = from_bytes(body).best()
        return body.decode(best.encoding if best else "cp1252", "replace")

    return read


def chardet() -> Detector:
    """Return a decoder that uses chardet with all its charsets."""
    from chardet import detect

    return lambda body: body.decode(detect(body, prefer_superset=False)["encoding"] or "cp1252", "replace")


def cchardet() -> Detector:
    """Return a decoder that uses uchardet, Mozilla's first universal detector."""
    from cchardet import detect

    return lambda body: _decode_as(body, detect(body)["encoding"])


def chardetng() -> Detector:
    """Return a decoder that uses chardetng, Firefox's detector."""
    from chardetng_py import detect

    return lambda body: _decode_as(body, detect(body, allow_utf8=True))


def _decode_as(body: bytes, name: str | None) -> str:
    """Decode a body by the name of a charset, by the web's list of names or else by Python's."""
    import webencodings

    found = webencodings.lookup(name or "windows-1252")
    return body.decode(found.codec_info.name if found else str(name), "replace")


def main() -> int:
    """Measure the installed detectors and print the tables."""
    makers: tuple[Callable[[], Detector], ...] = (keyhole, charset_normalizer, chardet, cchardet, chardetng)
    names = set(sys.argv[1:])
    all_cases = list(build_cases())
    results: dict[str, dict[Case, tuple[bool, float]]] = {}
    for make in makers:
        if names and make.__name__ not in names:
            continue
        try:
            detector = make()
        except ImportError:
            continue
        results[make.__name__] = {case: measure(detector, case) for case in all_cases}
    print_report(all_cases, results)
    return 0


def measure(detector: Detector, case: Case) -> tuple[bool, float]:
    """Return whether the detector decoded the text correctly, and its time in seconds."""
    body = case.body
    started = time.perf_counter()
    try:
        text = detector(body)
    except (LookupError, UnicodeError):
        text = ""
    return text == case.text, time.perf_counter() - started


def print_report(all_cases: list[Case], results: dict[str, dict[Case, tuple[bool, float]]]) -> None:
    """Print the percentage of texts decoded exactly, and the time in milliseconds."""
    print(f"{len(all_cases)} texts\n")
    print(f"| | {' | '.join(results)} |")
    print(f"|---|{'---:|' * len(results)}")
    for length in LENGTHS:
        for tags in (False, True):
            rows = [case for case in all_cases if (case.length, case.tags) == (length, tags)]
            _print_row(f"{length:,} characters{', tags' if tags else ''}", rows, results)
    for charset in dict.fromkeys(case.charset for case in all_cases):
        _print_row(charset, [case for case in all_cases if case.charset == charset], results)
    _print_row("all", all_cases, results)
    longest = [case for case in all_cases if case.length == LENGTHS[-1]]
    speeds = [
        statistics.median(by_case[case][1] / len(case.body) * 100_000 * 1_000 for case in longest)
        for by_case in results.values()
    ]
    print(f"| ms per 100 KB (median, longest texts) | {' | '.join(f'{speed:.1f}' for speed in speeds)} |")


def _print_row(name: str, rows: list[Case], results: dict[str, dict[Case, tuple[bool, float]]]) -> None:
    shares = [100 * statistics.mean(by_case[case][0] for case in rows) for by_case in results.values()]
    print(f"| {name} | {' | '.join(f'{share:.1f}' for share in shares)} |")


if __name__ == "__main__":
    sys.exit(main())
