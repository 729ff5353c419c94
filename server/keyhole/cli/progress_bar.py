"""A progress bar on stderr for a person who waits. Nothing of it is drawn where stderr is no terminal."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager

from keyhole.retrieval.progress import Progress, silent


@contextmanager
def bar(what: str) -> Iterator[Progress]:
    """A listener that draws, and leaves nothing behind; it says `what` until the call says more."""
    if not sys.stderr.isatty():
        yield silent
        return
    from rich.console import Console
    from rich.progress import BarColumn, SpinnerColumn, TextColumn, TimeElapsedColumn
    from rich.progress import Progress as Display

    columns = (SpinnerColumn(), BarColumn(bar_width=24), TimeElapsedColumn(), TextColumn("{task.description}"))
    with Display(*columns, console=Console(stderr=True), transient=True) as display:
        task = display.add_task(what, total=None)

        async def draw(done: float, total: float, what: str) -> None:
            # What is said may hold a host's name: it must not be taken for markup.
            display.update(task, completed=done, total=total, description=what.replace("[", r"\["))

        yield draw
