"""Judge how one call under a fault ended. Pure."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final

from benchmarks.fetch.faults.cases import Case
from benchmarks.fetch.faults.pages import LAST, MARKERS
from keyhole.errors import Code

PARTIAL: Final = "Partial: "
"""The beginning of the sentence with which an answer says that the rest of the page was not received."""

_BOUNDARY: Final = re.compile(r"^--- (?:untrusted text|end) .*$", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Outcome:
    """The end of one call: its text, or the exception that it raised, which is a violation."""

    case: Case
    path: str
    text: str
    is_error: bool
    seconds: float
    timeout: float
    forbidden: tuple[str, ...] = ()
    """Refused addresses that were connected to."""

    @property
    def result(self) -> str:
        """`page`, `partial`, or the code of the error."""
        if self.is_error:
            return self.text.partition(":")[0]
        return "partial" if PARTIAL in self.text else "page"

    @property
    def is_late(self) -> bool:
        """True if the call ended after its deadline; a second is allowed for a busy machine."""
        return self.seconds > self.timeout + 1.0


def find_violations(outcome: Outcome) -> list[str]:
    """Return what is wrong with the end of a call; an empty list if nothing is."""
    found = [f"connected to {address}" for address in outcome.forbidden]
    own = MARKERS.get(outcome.path, MARKERS["/page"])  # other paths redirect to it
    found += [f"shows the text {marker}" for marker in MARKERS.values() if marker != own and marker in outcome.text]
    if outcome.is_error:
        if outcome.result not in set(Code) - {Code.INTERNAL_ERROR}:
            found.append(f"no named error: {outcome.text[:100]!r}")
        if own in outcome.text:
            found.append("the error has text of the page")
    else:
        body = "".join(_BOUNDARY.split(outcome.text)[1:2])
        if not body.strip():
            found.append("an empty success")
        if LAST not in body and outcome.result != "partial" and not outcome.case.is_unnoticeable:
            found.append("a cut page without a word of it")
    if outcome.path in outcome.case.must_succeed and outcome.result != "page":
        found.append(f"should be a page: {outcome.text[:100]!r}")
    return found
