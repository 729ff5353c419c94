"""Generate the steps of a conversation in no format: for Hypothesis, and from a seed."""

from __future__ import annotations

import random
from dataclasses import dataclass, replace

from hypothesis import strategies as st

from tests.support.conversations.texts import IMITATIONS, large_text, random_text

TEXTS = st.one_of(
    st.just(""),
    st.text(max_size=40),
    st.integers(1, 400).map(lambda n: "E   assert left == right\n" * n),
)
IDS = st.integers(0, 6).map(lambda number: f"call_{number}")
"""Few ids, so that some are used twice."""
KINDS = ("calls", "calls", "calls", "user", "model", "system", "orphan", "image", "file", "unknown")
"""The kinds of the steps of `events`."""
CALL_VARIANTS = ("", "", "custom", "local_shell", "shell", "apply_patch", "computer")
SHAPES = ("text", "text", "parts", "image", "screenshot", "document", "search_result", "reference", "browser")
"""How a result holds its text. A format that lacks a shape writes a text."""
HOSTED_VARIANTS = ("web_search", "web_fetch", "code", "bash", "editor", "tool_search", "advisor", "mcp", "image")
RICH_KINDS = (
    *("calls",) * 8, *("user",) * 3, *("model",) * 2, "image", "file", "system", "hosted", "hosted", "paused", "mixed",
    "program", "program", "approval", "search", "state", "imitation",
)  # fmt: skip
"""The kinds of the steps of `random_events`, of which a format leaves out those that it lacks."""
UNKNOWN_KINDS = ("unknown", "unknown_role", "unknown_block", "unknown_block")
RESULTS_KINDS = ("calls", "program", "mixed")


@dataclass(frozen=True)
class Event:
    """One step of a conversation in no format. `calls` and `results` are pairs of an id and a text."""

    kind: str
    text: str = ""
    calls: tuple[str, ...] = ()
    results: tuple[tuple[str, str], ...] = ()
    is_marked: bool = False
    """True for calls after reasoning (Responses), and for results with a text of the user (Anthropic)."""
    is_interleaved: bool = False
    """True for parallel calls of which each is followed by its result (Responses)."""
    variant: str = ""
    """The type of the calls, or the tool of the provider."""
    shape: str = "text"
    """How the results hold their texts."""
    is_open: bool = False
    """True if the tool of the provider has not answered yet."""
    style: int = 0
    """Bits that are the same in a whole conversation: 1 for thoughts of the model, 2 for snake_case (Gemini) and
    for texts of the model as parts (Anthropic), 4 for calls without ids (Gemini)."""


@st.composite
def events(draw: st.DrawFn) -> list[Event]:
    """Return the events of a conversation. Some calls lack their result, and some results their call."""
    found = [Event("user", draw(TEXTS))]
    for number in range(draw(st.integers(0, 12))):
        kind = draw(st.sampled_from(KINDS))
        if kind == "calls":
            unique = draw(st.booleans())
            ids = [f"call_{number}_{each}" if unique else draw(IDS) for each in range(draw(st.integers(1, 3)))]
            answered = draw(st.sampled_from([ids, ids, ids, ids[:-1], ids[::-1]]))
            results = tuple((each, draw(TEXTS)) for each in answered)
            found.append(Event(kind, "", tuple(ids), results, draw(st.booleans()), draw(st.booleans())))
        elif kind == "orphan":
            found.append(Event(kind, results=((draw(IDS), draw(TEXTS)),), is_marked=draw(st.booleans())))
        else:
            found.append(Event(kind, draw(TEXTS)))
    return found


def rich_events() -> st.SearchStrategy[list[Event]]:
    """Return events of all kinds, for Hypothesis."""
    return st.randoms(use_true_random=False).map(random_events)


def random_events(rng: random.Random) -> list[Event]:
    """Return the events of a conversation of all kinds.

    Some conversations are faulty: calls without results, results without calls, repeated ids. Some have items that no
    client understands.
    """
    is_faulty, has_unknown = rng.random() < 0.3, rng.random() < 0.3
    kinds = (*RICH_KINDS, *(("orphan",) * 3 if is_faulty else ()), *(UNKNOWN_KINDS if has_unknown else ()))
    first = Event("imitation" if rng.random() < 0.1 else "user", _user_text(rng, is_first=True))
    found = [first, *(_event(rng, number, rng.choice(kinds), is_faulty) for number in range(rng.randint(0, 14)))]
    if rng.random() < 0.4:
        found.append(_last_results(rng))
    style = rng.randrange(8)
    return [replace(step, style=style) for step in found]


def _event(rng: random.Random, number: int, kind: str, is_faulty: bool) -> Event:
    if kind == "orphan":
        return Event(kind, results=((f"call_{rng.randrange(7)}", random_text(rng)),), is_marked=rng.random() < 0.5)
    if kind in RESULTS_KINDS:
        return _calls(rng, number, kind, is_faulty)
    if kind in ("hosted", "paused"):
        return Event(kind, random_text(rng), (f"srv_{number}",), variant=rng.choice(HOSTED_VARIANTS))
    if kind in ("approval", "search"):
        variant = rng.choice(("server", "client") if kind == "search" else ("approved", "refused"))
        return Event(kind, random_text(rng), (f"{kind}_{number}",), variant=variant)
    text = random_text(rng) if kind == "model" else _user_text(rng)
    return Event(kind, text, (f"item_{number}",), is_marked=rng.random() < 0.3)


def _calls(rng: random.Random, number: int, kind: str, is_faulty: bool) -> Event:
    is_repeated = is_faulty and rng.random() < 0.3
    count = rng.choice((1, 1, 1, 2, 3, 5))
    ids = [f"call_{rng.randrange(7)}" if is_repeated else f"call_{number}_{each}" for each in range(count)]
    answered = rng.choice((ids[:-1], ids[::-1], ids)) if is_faulty else ids
    results = tuple((id, random_text(rng)) for id in answered)
    variant = rng.choice(CALL_VARIANTS) if kind == "calls" else rng.choice(HOSTED_VARIANTS[:2])
    shape = rng.choice(SHAPES)
    marked, interleaved = rng.random() < 0.4, rng.random() < 0.3
    return Event(kind, random_text(rng), tuple(ids), results, marked and kind == "calls", interleaved, variant, shape)


def _last_results(rng: random.Random) -> Event:
    """Return calls at the end whose results are large, lack, or are not all there yet."""
    ids = tuple(f"last_{each}" for each in range(rng.choice((1, 1, 2, 3))))
    answered = rng.choice((ids, ids, ids, ids[:-1], ()))
    results = tuple((id, rng.choice((large_text, random_text))(rng)) for id in answered)
    return Event("calls", "", ids, results, variant=rng.choice(CALL_VARIANTS), shape=rng.choice(SHAPES))


def _user_text(rng: random.Random, *, is_first: bool = False) -> str:
    if rng.random() < 0.15:
        return rng.choice(IMITATIONS)
    return "Find out why the build fails." if is_first else rng.choice(("Go on.", "", "Why?", random_text(rng)))
